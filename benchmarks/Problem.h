//===- Problem.h - operands of one row, and what runs on them -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_PROBLEM_H
#define LINATTN_BENCHMARKS_PROBLEM_H

#include "Arrays.h"
#include "Head.h"
#include "Rows.h"

class Problem {
public:
  explicit Problem(const Row &row);

  /// Runs everything once from the same state and compares with the token loop. Returns what is
  /// wrong, or nothing.
  std::string check();

  void runCompiled();
  void run(Kernel kernel);

  /// What the recurrence needs at least, in any form.
  double minimalOperations() const;
  /// The state, read once and written once.
  double minimalBytes() const { return 2.0 * sizeof(float) * double(state.size()); }

  const Kernel tokenLoop, chunkLoop, handOnePass, handChunks;
  /// Of the state's size, for measuring bandwidth.
  Array<float> scratch;

private:
  void fill();
  void describe();
  void resetState();
  /// The largest difference from `expected` over its largest value; infinity if not finite.
  static double difference(const Array<float> &values, const std::vector<float> &expected);

  Row row;
  const Program *program;
  bool channelDecay;
  Array<float> q, k, v, a, b, g, beta, out, state, initialState;
  /// What the program takes instead of the arrays above if its dtype is bf16: upper halves of f32.
  std::vector<Array<uint16_t>> halves;
  Array<uint16_t> halfOut;
  Array<int32_t> offsets;
  std::vector<std::vector<int64_t>> descriptors;
};

#endif // LINATTN_BENCHMARKS_PROBLEM_H
