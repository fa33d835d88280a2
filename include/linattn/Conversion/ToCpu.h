//===- ToCpu.h - vector code for linalg ops on states -------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_TOCPU_H
#define LINATTN_CONVERSION_TOCPU_H

#include "linattn/Target/TargetDescription.h"

namespace mlir {
class RewritePatternSet;
class RewriterBase;
namespace linalg {
class GenericOp;
class LinalgOp;
} // namespace linalg
namespace scf {
class ForallOp;
class ForOp;
} // namespace scf
} // namespace mlir

namespace mlir::linattn {

/// Merges `producer` into `consumer`, which uses one of its results, so that both walk over it
/// once. Fails, with the reason as match failure, if the iteration spaces differ, if the consumer
/// needs more of the producer than that result, or if someone needs the producer before.
LogicalResult mergeIntoConsumer(RewriterBase &rewriter, linalg::GenericOp producer,
                                linalg::GenericOp consumer);

/// True if the op adds to its only init, and its additions may be contracted: they are a sum of
/// products (see `linalg::isaContractionOpInterface`) or several, whose order is ours.
bool addsProducts(linalg::GenericOp op);

/// Merges two sums of products into the same entries, one after the other, into one nest. Fails,
/// with the reason as match failure, if the iteration spaces differ or if someone sees the first
/// sum.
LogicalResult mergeSums(RewriterBase &rewriter, linalg::GenericOp producer,
                        linalg::GenericOp consumer);

/// `mergeIntoConsumer` and `mergeSums` for all pairs.
void populateMergeGenericsPatterns(RewritePatternSet &patterns);

/// Fuses two loops on tensors in one block where the second stands, and moves what uses the first
/// behind it. Fails, with the reason as match failure, if they have not the same points, if one
/// depends on the other or reads a tensor that the other one updates, or if an op with side effects
/// between them depends on the first.
FailureOr<scf::ForallOp> fuseParallelLoops(RewriterBase &rewriter, scf::ForallOp first,
                                           scf::ForallOp second);

/// `copyOfRows` puts the rows of a step of `loop` into a line, behind those that the step before
/// kept. Makes all steps but the first read both where the rows lie in memory. Fails if there is no
/// such line, or if something else writes to it, to what is kept or to what the rows come from.
LogicalResult readWindowInPlace(RewriterBase &rewriter, scf::ForOp loop, Operation *copyOfRows);

/// Fetches the rows of buffers that the next step of `time` takes while this one is computed. Fails
/// if no rows move with the loop, or if it has no loops inside between whose iterations to do so.
LogicalResult prefetchRows(RewriterBase &rewriter, scf::ForOp time);

/// Makes pairs along the reduced dim of the operands of a product of two matrices of bf16, and a
/// product of pairs of it. Operands that are both contiguous along that dim stay as they are. Fails
/// and leaves the op alone if it is no such product.
LogicalResult packPairs(RewriterBase &rewriter, linalg::LinalgOp op);

struct VectorizeOptions {
  int64_t unroll = 4; ///< vector registers per row of a tile
  TargetDescription target;
  bool bf16Dot = false; ///< the target multiplies pairs of bf16 numbers
};

/// Tiles a linalg op on memrefs to rows of vectors along its innermost dim and vectorises the tile.
/// Fails and leaves the op alone if it has no vector form.
LogicalResult vectorizeLinalgOp(RewriterBase &rewriter, linalg::LinalgOp op,
                                const VectorizeOptions &options);

/// Products of a matrix and a transposed matrix, with lanes along the rows that are multiplied.
/// Fails and leaves the op alone if it is none.
LogicalResult vectorizeDotProducts(RewriterBase &rewriter, linalg::GenericOp op,
                                   const VectorizeOptions &options);

/// Copies of a matrix to its transpose, in square blocks of vectors. Fails and leaves the op alone
/// if it is none.
LogicalResult vectorizeTransposedCopy(RewriterBase &rewriter, linalg::GenericOp op,
                                      const VectorizeOptions &options);

} // namespace mlir::linattn

#endif // LINATTN_CONVERSION_TOCPU_H
