//===- MatmulShare.h - how much of a chunk is matrix products -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_ANALYSIS_MATMULSHARE_H
#define LINATTN_ANALYSIS_MATMULSHARE_H

#include "linattn/IR/LinAttn.h"

namespace mlir::linattn {

/// Floating-point operations of one step of a recurrence that the state costs.
struct StateFlops {
  int64_t matmul = 0; ///< in products of two matrices
  int64_t other = 0;

  /// The share of matmuls in percent, rounded to the nearest integer; 0 without flops.
  int64_t getMatmulPercent() const;
};

/// Counts the flops of step and block ops, of everything that is computed from the state or from
/// their results, and of what makes their operands (unless that is a matmul of its own). Gates,
/// feature maps and projections before that are not the state's. With C rows, sub-chunks of s rows
/// and a K x V state:
///
/// | op | matmul | other |
/// |---|---|---|
/// | read, write with a matrix address | 2 C K V | |
/// | read, write with a vector address | | 2 K V |
/// | decay | | K V, and its exps |
/// | running product | | (C - 1) K |
/// | bracket, one or no multiplier per token | C (C - 1) K | C (C - 1) with multipliers |
/// | bracket, a multiplier per channel: n rows | 2 (n / 2)^2 K | 2 n K, then both halves |
/// | ... n rows, n at most s | | 3 K per pair, n (n - 1) / 2 pairs |
/// | weighted sum: n rows | 2 (n / 2)^2 V | 2.5 n V, then both halves |
/// | ... n rows, n at most s | | 3 V per pair, n (n - 1) / 2 pairs |
/// | solve, per pair of blocks below the diagonal | 2 s^2 V | |
/// | solve, per diagonal block | | s (s - 1) V |
/// | linalg with both rows and columns and a sum | 2 per point | |
/// | other linalg, arith and math | | 1 per point and op |
///
/// Brackets, sums and solves count the pairs below the diagonal, whatever a lowering does with the
/// others. Ops inside a loop count once per iteration. A product with a vector (a state of rank 1)
/// is no matmul.
StateFlops countStateFlops(RecurrenceOp op);

} // namespace mlir::linattn

#endif // LINATTN_ANALYSIS_MATMULSHARE_H
