//===- Chunk.h - recurrences over chunks of tokens ----------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_CHUNK_H
#define LINATTN_TRANSFORMS_CHUNK_H

#include "linattn/IR/LinAttn.h"

#include <functional>

namespace mlir {
class RewritePatternSet;
class RewriterBase;
} // namespace mlir

namespace mlir::linattn {

struct ChunkOptions {
  int64_t chunk = 32;    ///< tokens per chunk
  int64_t subchunk = 16; ///< rows per diagonal block of solves and brackets
  /// The last tokens, which fill no chunk, are a recurrence of their own (see SplitTail.h), with
  /// chunks of 4 tokens and the rest one by one; otherwise, and where they cannot be split off,
  /// they are a part of a chunk.
  bool splitTail = false;
  /// `chunk`, or `sweep`: the writes of a chunk are deferred to the next one (see DeferWrites.h).
  Strategy strategy = Strategy::chunk;
  /// To what the operands of matrix products are rounded: see `operand_precision` of a plan.
  OperandPrecision precision = OperandPrecision::f32;
  /// Which recurrences to rewrite; null: all.
  std::function<bool(RecurrenceOp)> filter;
};

/// Replaces a recurrence over tokens by one over chunks and returns it. A plan on the op wins over
/// `options`; the chunk is made to divide the checkpoint interval. States without a chunk form (see
/// StateGraph) and ops without a lifted one are run token by token inside the chunk, with a remark
/// that names the op that is in the way. Fails if no state has a chunk form.
FailureOr<RecurrenceOp> chunkRecurrence(RewriterBase &rewriter, RecurrenceOp op,
                                        const ChunkOptions &options);

/// `chunkRecurrence` as a pattern.
void populateChunkPatterns(RewritePatternSet &patterns, const ChunkOptions &options);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_CHUNK_H
