//===- Prefill.cpp - many tokens in chunks and token by token -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// The same programs through the same pipeline, with chunks of 8 tokens and without.
// GFLOP/s counts what the recurrence needs: 4 K V per token and head, 6 K V with an erase.
//
//===----------------------------------------------------------------------------------------------===//

#include "Arrays.h"
#include "Report.h"

#include <benchmark/benchmark.h>
#include <string>

namespace {

constexpr int64_t T = 2048, H = 16, D = 128;

struct Result {
  MemRef<4> out, state;
};

using Scalar = void(Result *, MemRef<4> *q, MemRef<4> *k, MemRef<4> *v, MemRef<3> *g,
                    MemRef<4> *out, MemRef<4> *state);
using Delta = void(Result *, MemRef<4> *q, MemRef<4> *k, MemRef<4> *v, MemRef<3> *g,
                   MemRef<3> *beta, MemRef<4> *out, MemRef<4> *state);

} // namespace

extern "C" Scalar _mlir_ciface_scalar_tokens, _mlir_ciface_scalar_chunks;
extern "C" Delta _mlir_ciface_delta_tokens, _mlir_ciface_delta_chunks;

template <typename Function> static void prefill(benchmark::State &bench, Function *function) {
  constexpr bool isDelta = std::is_same_v<Function, Delta>;
  Array q(T * H * D, 0.1f), k(T * H * D, 0.1f), v(T * H * D, 1), g(T * H, -0.1f), beta(T * H, 0.5f),
      out(T * H * D, 0), state(H * D * D, 0);
  auto qRef = q.view(1, T, H, D), kRef = k.view(1, T, H, D), vRef = v.view(1, T, H, D),
       outRef = out.view(1, T, H, D);
  auto gRef = g.view(1, T, H), betaRef = beta.view(1, T, H);
  auto stateRef = state.view(1, H, D, D);
  Result result;
  for (auto _ : bench) {
    if constexpr (isDelta)
      function(&result, &qRef, &kRef, &vRef, &gRef, &betaRef, &outRef, &stateRef);
    else
      function(&result, &qRef, &kRef, &vRef, &gRef, &outRef, &stateRef);
    benchmark::ClobberMemory();
  }
  bench.counters["GFLOP/s"] =
      benchmark::Counter(double(isDelta ? 6 : 4) * T * H * D * D * bench.iterations() * 1e-9,
                         benchmark::Counter::kIsRate);
}

static void scalarTokens(benchmark::State &bench) { prefill(bench, &_mlir_ciface_scalar_tokens); }
static void scalarChunks(benchmark::State &bench) { prefill(bench, &_mlir_ciface_scalar_chunks); }
static void deltaTokens(benchmark::State &bench) { prefill(bench, &_mlir_ciface_delta_tokens); }
static void deltaChunks(benchmark::State &bench) { prefill(bench, &_mlir_ciface_delta_chunks); }
BENCHMARK(scalarTokens)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(scalarChunks)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(deltaTokens)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(deltaChunks)->Unit(benchmark::kMillisecond)->UseRealTime();

[[maybe_unused]] static const bool comparison =
    (compareMedians("scalar decay, T 2048, H 16, D 128, f32, one thread", "scalarTokens",
                    "scalarChunks"),
     compareMedians("gated delta rule, T 2048, H 16, D 128, f32, one thread", "deltaTokens",
                    "deltaChunks"),
     true);
