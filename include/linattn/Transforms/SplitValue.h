//===- SplitValue.h - value columns as a parallel dim -------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_SPLITVALUE_H
#define LINATTN_TRANSFORMS_SPLITVALUE_H

#include "mlir/Support/LLVM.h"
#include <functional>

namespace mlir {
class RewritePatternSet;
class RewriterBase;
} // namespace mlir

namespace mlir::linattn {
class RecurrenceOp;

struct SplitValueOptions {
  int64_t tile = 32; ///< value columns per tile
  /// Which recurrences to rewrite; null: all.
  std::function<bool(RecurrenceOp)> filter;
  /// Columns that do not fill a tile become a second recurrence, behind the one that is returned.
  bool allowRest = false;
};

/// Replaces a recurrence by one with a new last parallel dim over tiles of its value columns (see
/// ValueAxes) and returns it. A plan on the op wins over `options`. Fails if the op has no more
/// columns than a tile, and, with a remark, if its columns cannot be computed apart.
FailureOr<RecurrenceOp> splitValue(RewriterBase &rewriter, RecurrenceOp op,
                                   const SplitValueOptions &options);

/// `splitValue` as a pattern.
void populateSplitValuePatterns(RewritePatternSet &patterns, const SplitValueOptions &options);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_SPLITVALUE_H
