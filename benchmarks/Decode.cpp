//===- Decode.cpp - one token against a pass over the same state --------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Arrays.h"
#include "Report.h"

#include <benchmark/benchmark.h>

namespace {

constexpr int64_t B = 8, H = 16, D = 128;

struct DecodeResult {
  MemRef<4> out, state;
};

} // namespace

extern "C" void _mlir_ciface_decode(DecodeResult *result, MemRef<4> *q, MemRef<4> *k, MemRef<4> *v,
                                    MemRef<3> *g, MemRef<4> *out, MemRef<4> *state);

static void decodeScalarDecay(benchmark::State &bench) {
  Array q(B * H * D, 0.1f), k(B * H * D, 0.1f), v(B * H * D, 1), g(B * H, -0.1f), out(B * H * D, 0);
  Array state(B * H * D * D, 1);
  auto qRef = q.view(B, 1, H, D), kRef = k.view(B, 1, H, D), vRef = v.view(B, 1, H, D),
       outRef = out.view(B, 1, H, D);
  auto gRef = g.view(B, 1, H);
  auto stateRef = state.view(B, H, D, D);
  DecodeResult result;
  for (auto _ : bench) {
    _mlir_ciface_decode(&result, &qRef, &kRef, &vRef, &gRef, &outRef, &stateRef);
    benchmark::ClobberMemory();
  }
  bench.SetBytesProcessed(bench.iterations() * 2 * B * H * D * D * sizeof(float));
}
BENCHMARK(decodeScalarDecay)->Unit(benchmark::kMicrosecond)->UseRealTime();

/// The least that any decode step does: every entry of the state read, changed and written.
static void inPlacePass(benchmark::State &bench) {
  Array state(B * H * D * D, 1);
  float *data = state.data();
  for (auto _ : bench) {
    for (int64_t i = 0; i < B * H * D * D; ++i)
      data[i] = data[i] * 0.9f + 0.1f;
    benchmark::ClobberMemory();
  }
  bench.SetBytesProcessed(bench.iterations() * 2 * B * H * D * D * sizeof(float));
}
BENCHMARK(inPlacePass)->Unit(benchmark::kMicrosecond)->UseRealTime();

[[maybe_unused]] static const bool comparison =
    (compareMedians("decode, T 1, B 8, H 16, D 128, f32, one thread", "decodeScalarDecay",
                    "inPlacePass"),
     true);
