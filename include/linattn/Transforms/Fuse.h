//===- Fuse.h - what surrounds a recurrence becomes a part of its body --------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_FUSE_H
#define LINATTN_TRANSFORMS_FUSE_H

#include "linattn/IR/LinAttn.h"

#include <functional>

namespace mlir {
class RewritePatternSet;
class RewriterBase;
} // namespace mlir

namespace mlir::linattn {

struct FuseOptions {
  /// What several points of the parallel dims share (a key that serves a group of heads) is
  /// computed in the body of each of them; by at most this many. 0: by any number.
  int64_t maxRecompute = 4;
  /// Which recurrences to rewrite; null: all.
  std::function<bool(RecurrenceOp)> filter;
};

/// Makes the op that computes input `input` a part of the body: the recurrence reads what that op
/// reads. Fails, with the reason in `obstacle`, if the op mixes tokens, if somebody else needs what
/// it computes, or if it would be computed much more often than now.
FailureOr<RecurrenceOp> fuseProducer(RewriterBase &rewriter, RecurrenceOp op, unsigned input,
                                     const FuseOptions &options, StringRef &obstacle);

/// Input `input` is the tokens before the current one, read from a sequence with rows in front of
/// it (`tensor.pad`, `tensor.concat`): keeps them in a state instead, which begins with those rows.
FailureOr<RecurrenceOp> fuseHistory(RewriterBase &rewriter, RecurrenceOp op, unsigned input,
                                    StringRef &obstacle);

/// Makes `consumer`, which uses outs of the recurrence, a part of the body: its result is an out.
/// Fails, with the reason in `obstacle`, if it needs more than what one token has computed.
FailureOr<RecurrenceOp> fuseConsumer(RewriterBase &rewriter, RecurrenceOp op, Operation *consumer,
                                     StringRef &obstacle);

/// The three of above as patterns, and one for slices of a sequence with rows in front of it (the
/// state that a convolution hands on), which are then taken from what the sequence is made of.
void populateFusePatterns(RewritePatternSet &patterns, const FuseOptions &options);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_FUSE_H
