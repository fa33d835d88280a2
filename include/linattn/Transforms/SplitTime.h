//===- SplitTime.h - parts of time that run in parallel -----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_SPLITTIME_H
#define LINATTN_TRANSFORMS_SPLITTIME_H

#include "linattn/IR/LinAttn.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::linattn {

struct SplitTimeOptions {
  int64_t parts = 2;  ///< how many run in parallel
  int64_t chunk = 32; ///< borders are multiples of this many tokens
};

/// The recurrences that a split one becomes.
struct TimeParts {
  RecurrenceOp sums;    ///< what each part adds to the states, and the product of its decays
  RecurrenceOp starts;  ///< over the parts: the state that each of them starts from
  RecurrenceOp outputs; ///< the recurrence itself, with the parts as segments
};

/// Cuts the time of a recurrence into parts and replaces it by three recurrences. A plan on the op
/// wins over `options`. Fails if there is only one part, and, with a remark, unless all states come
/// from their old values by decays and writes that depend on no state.
FailureOr<TimeParts> splitTime(RewriterBase &rewriter, RecurrenceOp op,
                               const SplitTimeOptions &options);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_SPLITTIME_H
