//===- SplitTail.h - the last tokens of a recurrence apart --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_SPLITTAIL_H
#define LINATTN_TRANSFORMS_SPLITTAIL_H

#include "linattn/IR/LinAttn.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::linattn {

struct SplitRecurrence {
  RecurrenceOp whole; ///< over a multiple of the tokens asked for
  RecurrenceOp tail;  ///< over the others; null if there are none
};

/// Splits the tokens of a recurrence into a multiple of `multiple` and at most `multiple - 1`
/// tokens at the end, in two recurrences that pass the states on. There is no second one if the
/// number of tokens is known to be a multiple. Operands are cut along time, so time must be the
/// bare index of one dim of every operand that uses it. Fails for another map, for packed sequences
/// and with checkpoints.
FailureOr<SplitRecurrence> splitTail(RewriterBase &rewriter, RecurrenceOp op, int64_t multiple);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_SPLITTAIL_H
