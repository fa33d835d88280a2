//===- ReadBeforeDecay.cpp - scale what a read gives, not what it reads -------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// A write that depends on a read of the decayed state ends a pass over the state. In that pass
// nothing has to be stored if the state is read as it is: the multiplier of a decay scales what
// comes out or, if there is one per channel, the address. The decay then joins the pass of the
// write.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/ToLoops.h"
#include "linattn/IR/LinAttn.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::linattn;

/// True if what is read decides what the decayed state takes next.
static bool feedsWrite(ReadOp read, DecayOp decay) {
  BackwardSliceOptions options;
  options.inclusive = true;
  return llvm::any_of(decay->getUsers(), [&](Operation *user) {
    auto write = dyn_cast<WriteOp>(user);
    SetVector<Operation *> slice;
    return write && write.getState() == decay.getResult() &&
           succeeded(getBackwardSlice(write.getValue(), &slice, options)) && slice.contains(read);
  });
}

/// What the decay multiplies entries with, in the state's element type.
static Value getMultiplier(OpBuilder &builder, DecayOp decay) {
  Value by = decay.getBy();
  Location loc = decay.getLoc();
  Type element = decay.getState().getType().getElementType(), type = element;
  if (auto tensorType = dyn_cast<RankedTensorType>(by.getType()))
    type = tensorType.clone(element);
  if (by.getType() != type)
    by = arith::ExtFOp::create(builder, loc, type, by);
  return decay.getLinear() ? by : Value(math::ExpOp::create(builder, loc, by));
}

namespace {

struct ReadBeforeDecay : OpRewritePattern<ReadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReadOp read, PatternRewriter &rewriter) const override {
    auto decay = read.getState().getDefiningOp<DecayOp>();
    if (!decay || !isa<FloatType>(decay.getState().getType().getElementType()))
      return rewriter.notifyMatchFailure(read, "does not read a decayed state of real numbers");
    if (read.hasManyRows() || decay.getAxes().size() > 1)
      return rewriter.notifyMatchFailure(read, "several rows, or a decay per entry");
    if (!feedsWrite(read, decay))
      return rewriter.notifyMatchFailure(read, "decay and read are one pass over the state");
    // The state may change in place only when it has been read.
    if (llvm::any_of(decay->getUsers(), [&](Operation *user) {
          return user != read &&
                 (user->getBlock() != read->getBlock() || user->isBeforeInBlock(read));
        }))
      return rewriter.notifyMatchFailure(read, "the decayed state is used before");
    rewriter.setInsertionPoint(decay);
    Value multiplier = getMultiplier(rewriter, decay);
    rewriter.modifyOpInPlace(decay, [&] {
      decay.getByMutable().assign(multiplier);
      decay.setLinear(true);
    });
    rewriter.setInsertionPoint(read);
    Location loc = read.getLoc();
    Value address = read.getAddress();
    bool isScalar = !isa<RankedTensorType>(multiplier.getType());
    bool scalesAddress = !isScalar && decay.getAxes().front() == int64_t(read.getAxis());
    if (scalesAddress) {
      if (address.getType() != multiplier.getType())
        address = arith::ExtFOp::create(rewriter, loc, multiplier.getType(), address);
      address = arith::MulFOp::create(rewriter, loc, address, multiplier);
    }
    Value result =
        ReadOp::create(rewriter, loc, decay.getState(), address, read.getAxis()).getResult();
    if (!scalesAddress) {
      if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && isScalar)
        multiplier = tensor::SplatOp::create(rewriter, loc, multiplier, type);
      result = arith::MulFOp::create(rewriter, loc, result, multiplier);
    }
    rewriter.moveOpBefore(decay, read);
    rewriter.replaceOp(read, result);
    return success();
  }
};

} // namespace

void mlir::linattn::populateReadBeforeDecayPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadBeforeDecay>(patterns.getContext());
}
