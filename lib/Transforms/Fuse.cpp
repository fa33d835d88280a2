//===- Fuse.cpp - what surrounds a recurrence becomes a part of its body ------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/Fuse.h"

#include "FuseAccess.h"

#include "linattn/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_FUSEPASS
#include "linattn/Transforms/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

namespace {

struct FusePattern : OpRewritePattern<RecurrenceOp> {
  FusePattern(MLIRContext *context, const FuseOptions &options)
      : OpRewritePattern(context), options(options) {}
  LogicalResult matchAndRewrite(RecurrenceOp op, PatternRewriter &rewriter) const override {
    if (options.filter && !options.filter(op))
      return rewriter.notifyMatchFailure(op, "not asked for");
    StringRef obstacle;
    for (unsigned input = 0; input < op.getIns().size(); ++input)
      if (succeeded(fuseHistory(rewriter, op, input, obstacle)) ||
          succeeded(fuseProducer(rewriter, op, input, options, obstacle)))
        return success();
    for (Operation *user : op->getUsers())
      if (!isa<RecurrenceOp>(user) && succeeded(fuseConsumer(rewriter, op, user, obstacle)))
        return success();
    return rewriter.notifyMatchFailure(op, obstacle);
  }
  FuseOptions options;
};

/// The last rows of a sequence with rows in front of it, which the next call takes as those rows:
/// from both, without the whole.
struct SliceOfHistory : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<History> history = History::get(op.getSource());
    if (!history || !op.hasUnitStride() || op->getParentOfType<RecurrenceOp>())
      return rewriter.notifyMatchFailure(op, "not a slice of a sequence with rows in front");
    std::optional<int64_t> size = getConstantIntValue(op.getMixedSizes()[history->dim]);
    if (!size || *size > history->length)
      return rewriter.notifyMatchFailure(op, "not a few rows");
    Location loc = op.getLoc();
    AffineExpr d0, d1;
    bindDims(op.getContext(), d0, d1);
    OpFoldResult offset = op.getMixedOffsets()[history->dim];
    auto clamp = [&](AffineExpr expr, int64_t limit, bool isUpper) {
      AffineMap map =
          AffineMap::get(1, 0, {expr, rewriter.getAffineConstantExpr(limit)}, op.getContext());
      return isUpper ? affine::makeComposedFoldedAffineMin(rewriter, loc, map, {offset})
                     : affine::makeComposedFoldedAffineMax(rewriter, loc, map, {offset});
    };
    auto apply = [&](AffineExpr expr, ArrayRef<OpFoldResult> operands) {
      return affine::makeComposedFoldedAffineApply(rewriter, loc, expr, operands);
    };
    // Rows [offset, offset + size) of the whole are [begin, end) of each part.
    int64_t length = history->length;
    OpFoldResult pastBegin = clamp(d0, length, true), pastEnd = clamp(d0 + *size, length, true),
                 begin = clamp(d0 - length, 0, false), end = clamp(d0 + (*size - length), 0, false);
    SmallVector<Value> parts;
    auto take = [&](Value source, OpFoldResult from, OpFoldResult to) {
      SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedSizes();
      offsets[history->dim] = from;
      sizes[history->dim] = apply(d1 - d0, {from, to});
      parts.push_back(tensor::ExtractSliceOp::create(rewriter, loc, source, offsets, sizes,
                                                     op.getMixedStrides()));
    };
    Value past = history->past;
    if (!past) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, history->tokens);
      sizes[history->dim] = rewriter.getIndexAttr(length);
      Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, op.getType().getElementType());
      past = linalg::FillOp::create(rewriter, loc, history->padding, empty).getResult(0);
    }
    take(past, pastBegin, pastEnd);
    take(history->tokens, begin, end);
    // Neither of two extents is known, but their sum is.
    SmallVector<OpFoldResult> sizes = op.getMixedSizes(),
                              offsets(sizes.size(), rewriter.getIndexAttr(0));
    Value rows = tensor::EmptyOp::create(rewriter, loc, sizes, op.getType().getElementType());
    for (Value part : parts) {
      SmallVector<OpFoldResult> partSizes = tensor::getMixedSizes(rewriter, loc, part);
      rows = tensor::InsertSliceOp::create(rewriter, loc, part, rows, offsets, partSizes,
                                           op.getMixedStrides());
      offsets[history->dim] = partSizes[history->dim];
    }
    if (rows.getType() == op.getType()) {
      rewriter.replaceOp(op, rows);
      return success();
    }
    SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0));
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, op.getType(), rows, zeros, sizes,
                                                        op.getMixedStrides());
    return success();
  }
};

struct Fuse : linattn::impl::FusePassBase<Fuse> {
  using FusePassBase::FusePassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (maxRecompute < 0)
      return emitError(UnknownLoc::get(context))
             << "max-recompute must not be negative, got " << int64_t(maxRecompute);
    return success();
  }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    FuseOptions options{maxRecompute, nullptr};
    RewritePatternSet patterns(context);
    populateFusePatterns(patterns, options);
    // Shapes do not keep what they are the shapes of.
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    RecurrenceOp::getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    SmallVector<RecurrenceOp> ops;
    getOperation()->walk([&](RecurrenceOp op) { ops.push_back(op); });
    for (RecurrenceOp op : ops)
      explain(op, options);
  }

  /// Remarks for what is still outside.
  void explain(RecurrenceOp op, const FuseOptions &options) {
    IRRewriter rewriter(&getContext());
    auto report = [](Operation *culprit, StringRef obstacle) {
      if (!obstacle.empty())
        remark::missed(culprit->getLoc(), remark::RemarkOpts::name("fuse").category("linattn-fuse"))
            << ("'" + culprit->getName().getStringRef() +
                "' stays outside of the recurrence: " + obstacle)
                   .str();
    };
    StringRef obstacle;
    llvm::SmallSetVector<Operation *, 8> producers, users(op->user_begin(), op->user_end());
    for (unsigned input = 0; input < op.getIns().size(); ++input) {
      Operation *def = op.getIns()[input].getDefiningOp();
      if (!def || !producers.insert(def))
        continue;
      (void)fuseHistory(rewriter, op, input, obstacle);
      if (obstacle.empty())
        (void)fuseProducer(rewriter, op, input, options, obstacle);
      report(def, obstacle);
    }
    for (Operation *user : users) {
      if (isa<RecurrenceOp>(user) || user->hasTrait<OpTrait::IsTerminator>())
        continue;
      (void)fuseConsumer(rewriter, op, user, obstacle);
      report(user, obstacle);
    }
  }
};

} // namespace

void linattn::populateFusePatterns(RewritePatternSet &patterns, const FuseOptions &options) {
  patterns.add<FusePattern>(patterns.getContext(), options);
  patterns.add<SliceOfHistory>(patterns.getContext());
}
