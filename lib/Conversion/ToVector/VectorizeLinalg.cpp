//===- VectorizeLinalg.cpp - rows of vectors for linalg ops on buffers -------------------*- C++
//-*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/ToVector.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Hoisting.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_VECTORIZELINALGPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

/// Entries of a vector register: as many as the widest element that the op computes with has room
/// for.
static int64_t getLanes(linalg::LinalgOp op, int64_t vectorBits) {
  unsigned bits = 8;
  op.getBlock()->walk([&](Operation *nested) {
    for (Type type : nested->getOperandTypes())
      if (type.isIntOrFloat())
        bits = std::max(bits, type.getIntOrFloatBitWidth());
  });
  return std::max<int64_t>(vectorBits / bits, 1);
}

LogicalResult mlir::linattn::vectorizeLinalgOp(RewriterBase &rewriter, linalg::LinalgOp op,
                                               const VectorizeOptions &options) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0)
    return rewriter.notifyMatchFailure(op, "not an op on buffers with a loop");
  // Rows lie along the innermost dim, where operands are contiguous.
  unsigned rowDim = op.getNumLoops() - 1;
  int64_t extent = op.getStaticLoopRanges()[rowDim];
  int64_t tile = getLanes(op, options.vectorBits) * options.unroll;
  if (ShapedType::isStatic(extent))
    tile = std::min<int64_t>(tile, llvm::PowerOf2Ceil(std::max<int64_t>(extent, 1)));
  // Accumulators of a row stay in registers if the loops that reduce into it are inside.
  SmallVector<int64_t> sizes(op.getNumLoops(), 1);
  sizes[rowDim] = tile;
  SmallVector<unsigned> order;
  for (bool reduction : {false, true})
    for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
      if ((iterator == utils::IteratorType::reduction) == reduction)
        order.push_back(dim);
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::TiledLinalgOp> tiled = linalg::tileLinalgOp(
      rewriter, op,
      linalg::LinalgTilingOptions().setTileSizes(sizes).setInterchange(order).setLoopType(
          linalg::LinalgTilingLoopType::Loops));
  if (failed(tiled))
    return rewriter.notifyMatchFailure(op, "cannot be tiled");
  FailureOr<linalg::VectorizationResult> vectors = linalg::vectorize(rewriter, tiled->op, sizes);
  if (failed(vectors)) {
    if (tiled->loops.empty())
      rewriter.eraseOp(tiled->op);
    else
      rewriter.eraseOp(tiled->loops.front());
    return rewriter.notifyMatchFailure(op, "has no vector form");
  }
  rewriter.eraseOp(tiled->op);
  rewriter.eraseOp(op);
  return success();
}

namespace {
struct VectorizeLinalg : linattn::impl::VectorizeLinalgPassBase<VectorizeLinalg> {
  using VectorizeLinalgPassBase::VectorizeLinalgPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (vectorBits < 128 || !llvm::isPowerOf2_64(vectorBits))
      return emitError(UnknownLoc::get(context))
             << "vector-bits must be a power of two of at least 128, got " << vectorBits;
    if (unroll < 1 || !llvm::isPowerOf2_64(unroll))
      return emitError(UnknownLoc::get(context)) << "unroll must be a power of two, got " << unroll;
    return success();
  }

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      (void)vectorizeLinalgOp(rewriter, op, {vectorBits, unroll});

    // Rows of one vector each: no unit dims, no reductions over them.
    RewritePatternSet patterns(&getContext());
    vector::populateVectorMaskLoweringPatternsForSideEffectingOps(patterns);
    vector::populateVectorMultiReductionLoweringPatterns(
        patterns, vector::VectorMultiReductionLowering::InnerParallel);
    vector::populateCastAwayVectorLeadingOneDimPatterns(patterns);
    vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation()->walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
    linalg::hoistRedundantVectorTransfers(getOperation());
  }
};
} // namespace
