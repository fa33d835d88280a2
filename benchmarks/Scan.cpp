//===- Scan.cpp - the diagonal scan, beside the loop one would write ----------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// An exponential per entry of the state and token: h = e^(dt A) h + (dt x) B^T, y = h C + d x. The
// state has V channels with K entries each.
//
//===----------------------------------------------------------------------------------------------===//

#include "Problem.h"

#include <cmath>

namespace {

class ScanProblem : public Problem {
public:
  explicit ScanProblem(const Row &row);

private:
  template <int64_t N> void runLoop();

  Array<float> x, dt, a, b, c, d;
};

} // namespace

ScanProblem::ScanProblem(const Row &row)
    : Problem(row), x(row.T * row.V), dt(row.T * row.V), a(row.V * row.K), b(row.T * row.K),
      c(row.T * row.K), d(row.V) {
  for (Array<float> *array : {&x, &b, &c, &d})
    for (float &value : *array)
      value = 2 * random() - 1;
  for (float &step : dt)
    step = 0.1f * random();
  for (float &rate : a)
    rate = -float(row.K) * random();

  // In the order of program.py.
  std::vector<int64_t> channels{row.T, row.V}, entries{row.T, row.K}, stateSizes{row.V, row.K};
  descriptors = {descriptor(x.data(), channels),   descriptor(dt.data(), channels),
                 descriptor(a.data(), stateSizes), descriptor(b.data(), entries),
                 descriptor(c.data(), entries),    descriptor(d.data(), {row.V}),
                 descriptor(out.data(), channels), descriptor(state.data(), stateSizes)};
  operationsPerEntry = 6;
  if (row.K == 16)
    tokenLoop = [this] { runLoop<16>(); };
}

/// Calls of expf stay calls: the compiler vectorises only what is around them.
template <int64_t N> void ScanProblem::runLoop() {
  const float *__restrict X = x.data(), *__restrict steps = dt.data(), *__restrict A = a.data(),
                          *__restrict B = b.data(), *__restrict C = c.data(),
                          *__restrict D = d.data();
  float *__restrict y = out.data(), *__restrict h = state.data();
  for (int64_t t = 0; t < row.T; ++t)
    for (int64_t i = 0; i < row.V; ++i) {
      float step = steps[t * row.V + i], input = X[t * row.V + i], sum = 0;
      for (int64_t n = 0; n < N; ++n) {
        float &entry = h[i * N + n];
        entry = expf(step * A[i * N + n]) * entry + step * input * B[t * N + n];
        sum += entry * C[t * N + n];
      }
      y[t * row.V + i] = sum + D[i] * input;
    }
}

std::unique_ptr<Problem> makeScanProblem(const Row &row) {
  return std::make_unique<ScanProblem>(row);
}
