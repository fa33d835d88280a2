//===- Problem.h - operands of one row, and what runs on them -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_PROBLEM_H
#define LINATTN_BENCHMARKS_PROBLEM_H

#include "Arrays.h"
#include "Rows.h"

#include <functional>

/// The program of a row, with operands, and baselines on the same operands.
class Problem {
public:
  virtual ~Problem() = default;

  /// Runs everything once from the same state and compares with the token loop. Returns what is
  /// wrong, or nothing.
  std::string check();

  void runCompiled();
  /// Null where there is none.
  std::function<void()> tokenLoop, chunkLoop, handOnePass, handChunks;

  /// What the recurrence needs at least, in any form.
  double minimalOperations() const {
    return operationsPerEntry * double(row.T) * double(state.size());
  }
  /// The state, read once and written once.
  double minimalBytes() const { return 2.0 * sizeof(float) * double(state.size()); }

  /// Of the state's size, for measuring bandwidth.
  Array<float> scratch;

protected:
  explicit Problem(const Row &row);

  /// In [0, 1).
  float random();

  const Row row;
  /// Of the state, per token.
  double operationsPerEntry = 0;
  Array<float> out, state;
  /// What the program writes instead of `out` if its dtype is bf16.
  Array<uint16_t> halfOut;
  /// The program's arguments, in the order of program.py.
  std::vector<std::vector<int64_t>> descriptors;

private:
  void resetState();
  /// The largest difference from `expected` over its largest value; infinity if not finite.
  static double difference(const Array<float> &values, const std::vector<float> &expected);

  const Program *program;
  Array<float> initialState;
  uint32_t seed = 1;
};

float toFloat(uint16_t half);

/// The problem of the row's operator.
std::unique_ptr<Problem> makeProblem(const Row &row);

std::unique_ptr<Problem> makeBlockProblem(const Row &row);
std::unique_ptr<Problem> makeHeadsProblem(const Row &row);
std::unique_ptr<Problem> makeScanProblem(const Row &row);

#endif // LINATTN_BENCHMARKS_PROBLEM_H
