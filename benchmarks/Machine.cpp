//===- Machine.cpp - what the machine can do at most, and clocks --------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Machine.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <time.h>
#include <vector>

#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

void forEach(int threads, int64_t count, const std::function<void(int64_t)> &work) {
  auto part = [&](int thread) {
    for (int64_t i = count * thread / threads; i < count * (thread + 1) / threads; ++i)
      work(i);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread)
    others.emplace_back(part, thread);
  part(0);
  for (std::thread &other : others)
    other.join();
}

double now(bool cpuTime) {
  if (!cpuTime)
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

#ifdef __AVX512F__
constexpr int width = 16;
#else
constexpr int width = 8;
#endif
typedef float Vector __attribute__((vector_size(width * sizeof(float))));

// Independent sums: enough to hide the latency of two units, few enough for 16 registers.
constexpr int sums = 12;

/// Operations per second of `step`, which does `operations` on each of the sums.
template <typename Step>
static double measurePeak(int threads, bool cpuTime, double operations, Step step) {
  // A third of a millisecond, or long enough not to count the start of threads.
  const int64_t steps = threads == 1 ? 150000 : 1500000;
  double start = now(cpuTime);
  forEach(threads, threads, [&](int64_t) {
    Step local = step; // its operands stay in registers
    Vector x[sums] = {};
    for (int64_t i = 0; i < steps; ++i)
#pragma GCC unroll 12
      for (int j = 0; j < sums; ++j)
        local(x[j]);
  });
  return double(threads) * double(steps) * sums * operations / (now(cpuTime) - start);
}

double measureFmaPeak(int threads, bool cpuTime) {
  Vector a = Vector{} + 0.5f, b = Vector{} + 1e-9f;
  return measurePeak(threads, cpuTime, 2 * width, [a, b](Vector &x) {
    x = a * x + b;
    asm volatile("" : "+v"(x)); // the compiler may not see through the chain
  });
}

double measureBf16Peak([[maybe_unused]] int threads, [[maybe_unused]] bool cpuTime) {
#ifdef __AVX512BF16__
  __m512bh a = __m512bh(_mm512_set1_epi16(0x3f00));
  asm volatile("" : "+v"(a));
  return measurePeak(threads, cpuTime, 4 * width, [a](Vector &x) {
    x = Vector(_mm512_dpbf16_ps(__m512(x), a, a));
    asm volatile("" : "+v"(x));
  });
#else
  return 0;
#endif
}

double measureInPlaceBandwidth(float *data, int64_t count, int threads, bool cpuTime) {
  // As often as takes a millisecond or so where it fits a cache.
  int64_t passes = std::max<int64_t>(1, (int64_t(1) << 23) / count);
  double start = now(cpuTime);
  forEach(threads, threads, [&](int64_t thread) {
    float *begin = data + count * thread / threads, *end = data + count * (thread + 1) / threads;
    for (int64_t pass = 0; pass < passes; ++pass) {
      for (float *x = begin; x < end; ++x)
        *x = *x * 0.9f + 0.1f;
      asm volatile("" : : "r"(data) : "memory");
    }
  });
  return 8.0 * double(count) * double(passes) / (now(cpuTime) - start);
}
