//===- Scan.cpp - an exponential per entry, beside the loop one would write ---------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// h' = e^(dt A) h + (dt x) B^T;  y = h' C + d x. The loop in C++ is compiled with -O3
// -march=native; its calls of expf keep the compiler from vectorising it.
//
//===----------------------------------------------------------------------------------------------===//

#include "Arrays.h"
#include "Report.h"

#include <benchmark/benchmark.h>
#include <cmath>

namespace {

constexpr int64_t T = 2048, D = 2048, N = 16;

struct ScanResult {
  MemRef<2> out, state;
};

struct Operands {
  Array x{T * D, 1}, dt{T * D, 0.1f}, a{D * N, -8}, b{T * N, 1}, c{T * N, 1}, d{D, 1},
      out{T * D, 0}, state{D * N, 0};
};

} // namespace

extern "C" void _mlir_ciface_scan(ScanResult *result, MemRef<2> *x, MemRef<2> *dt, MemRef<2> *a,
                                  MemRef<2> *b, MemRef<2> *c, MemRef<1> *d, MemRef<2> *out,
                                  MemRef<2> *state);

static void scan(benchmark::State &bench) {
  Operands o;
  auto x = o.x.view(T, D), dt = o.dt.view(T, D), a = o.a.view(D, N), b = o.b.view(T, N),
       c = o.c.view(T, N), out = o.out.view(T, D), state = o.state.view(D, N);
  auto d = o.d.view(D);
  ScanResult result;
  for (auto _ : bench) {
    _mlir_ciface_scan(&result, &x, &dt, &a, &b, &c, &d, &out, &state);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(scan)->Unit(benchmark::kMillisecond)->UseRealTime();

static void runLoop(const float *__restrict x, const float *__restrict dt,
                    const float *__restrict a, const float *__restrict b, const float *__restrict c,
                    const float *__restrict d, float *__restrict out, float *__restrict state) {
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < D; ++i) {
      float step = dt[t * D + i], value = step * x[t * D + i], sum = 0;
      for (int64_t n = 0; n < N; ++n) {
        float &h = state[i * N + n];
        h = expf(step * a[i * N + n]) * h + value * b[t * N + n];
        sum += h * c[t * N + n];
      }
      out[t * D + i] = sum + d[i] * x[t * D + i];
    }
}

static void scanLoop(benchmark::State &bench) {
  Operands o;
  for (auto _ : bench) {
    runLoop(o.x.data(), o.dt.data(), o.a.data(), o.b.data(), o.c.data(), o.d.data(), o.out.data(),
            o.state.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(scanLoop)->Unit(benchmark::kMillisecond)->UseRealTime();

[[maybe_unused]] static const bool comparison =
    (compareMedians("diagonal scan, T 2048, 2048 channels, 16 entries, f32, one thread", "scanLoop",
                    "scan"),
     true);
