//===- PassFrame.h - what passes over recurrences have in common --------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_LIB_TRANSFORMS_PASSFRAME_H
#define LINATTN_LIB_TRANSFORMS_PASSFRAME_H

#include "linattn/IR/LinAttn.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::linattn {

/// Calls `rewrite` on every recurrence inside of `root`, but not on those that it makes.
inline void rewriteRecurrences(Operation *root,
                               function_ref<void(RewriterBase &, RecurrenceOp)> rewrite) {
  SmallVector<RecurrenceOp> ops;
  root->walk([&](RecurrenceOp op) { ops.push_back(op); });
  IRRewriter rewriter(root->getContext());
  for (RecurrenceOp op : ops)
    rewrite(rewriter, op);
}

/// Fails, with an error, if an option of a pass is not positive.
inline LogicalResult expectPositive(MLIRContext *context,
                                    ArrayRef<std::pair<StringRef, int64_t>> options) {
  for (auto [name, value] : options)
    if (value < 1)
      return emitError(UnknownLoc::get(context)) << name << " must be positive, got " << value;
  return success();
}

} // namespace mlir::linattn

#endif // LINATTN_LIB_TRANSFORMS_PASSFRAME_H
