//===- IndexForm.h - what one result of an indexing map computes --------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Indexing maps of recurrences are sums of dims, of digits of dims (`d floordiv N`, `d mod N`) and
// of a constant. In this form the questions that verifiers and lowerings ask have short answers:
// which indices are reached, are two points ever mapped to one index, is the map strided in one
// dim.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_UTILS_INDEXFORM_H
#define LINATTN_UTILS_INDEXFORM_H

#include "mlir/IR/AffineMap.h"

namespace mlir::linattn {

/// A digit of a dim: `(dim floordiv low) mod (high / low)`, or `dim floordiv low` if `high` is 0.
/// The dim itself is the digit with low = 1 and high = 0. `low` divides `high`.
struct IndexDigit {
  unsigned dim;
  int64_t low = 1;
  int64_t high = 0;

  bool isWholeDim() const { return low == 1 && high == 0; }
  /// Number of values that the digit takes if its dim takes `extent`; kDynamic if that is unknown.
  int64_t getExtent(int64_t extent) const;
  /// The digit of one index of its dim.
  int64_t getValue(int64_t index) const;
  /// The digit as an affine expression.
  AffineExpr getExpr(MLIRContext *context) const;
};

struct IndexTerm {
  IndexDigit digit;
  int64_t coefficient;
};

/// `constant + sum of coefficient * digit`.
struct IndexForm {
  SmallVector<IndexTerm> terms;
  int64_t constant = 0;

  /// Fails on an expression that is not such a sum.
  static FailureOr<IndexForm> get(AffineExpr expr);

  /// The dim if the form is nothing but that dim.
  std::optional<unsigned> getBareDim() const;
  bool usesDim(unsigned dim) const;
  /// Smallest and largest value over a box of the given extents, at most what 64 bits hold; none if
  /// an extent that matters is dynamic or the box is empty. For a dim of more than 2^20 indices
  /// that occurs in several terms these are bounds that may not be reached.
  std::optional<std::pair<int64_t, int64_t>> getRange(ArrayRef<int64_t> extents) const;
  AffineExpr getExpr(MLIRContext *context) const;
};

/// The forms of all results of a map.
FailureOr<SmallVector<IndexForm>> getIndexForms(AffineMap map);

/// The first dim among `dims` that the forms do not determine: two different points of the box
/// would share an index. None if the forms are injective in these dims. The test is exact for sums
/// in mixed radix (`h * 64 + d`) and complete sets of digits; it rejects anything less regular.
std::optional<unsigned> findUndeterminedDim(ArrayRef<IndexForm> forms, ArrayRef<int64_t> extents,
                                            ArrayRef<unsigned> dims);

} // namespace mlir::linattn

#endif // LINATTN_UTILS_INDEXFORM_H
