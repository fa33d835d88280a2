//===- LowerSteps.cpp - decay, read and write as linalg -----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/ToLoops.h"
#include "linattn/IR/LinAttn.h"
#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

//===----------------------------------------------------------------------------------------------===//
// Arithmetic in the state's element type
//===----------------------------------------------------------------------------------------------===//

/// A number, or a tensor of numbers, extended to the element type `element`.
static Value extend(OpBuilder &builder, Location loc, Value value, Type element) {
  Type type = getElementTypeOrSelf(value);
  if (type == element)
    return value;
  auto target = dyn_cast<ComplexType>(element);
  if (!target) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return arith::ExtFOp::create(builder, loc, tensor ? Type(tensor.clone(element)) : element,
                                 value);
  }
  Type part = target.getElementType();
  if (isa<FloatType>(type)) {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(part));
    return complex::CreateOp::create(builder, loc, element, extend(builder, loc, value, part),
                                     zero);
  }
  Type sourcePart = cast<ComplexType>(type).getElementType();
  Value re = complex::ReOp::create(builder, loc, sourcePart, value);
  Value im = complex::ImOp::create(builder, loc, sourcePart, value);
  return complex::CreateOp::create(builder, loc, element, extend(builder, loc, re, part),
                                   extend(builder, loc, im, part));
}

/// Products may fuse into multiply-adds: one rounding fewer.
static arith::FastMathFlagsAttr contract(OpBuilder &builder) {
  return arith::FastMathFlagsAttr::get(builder.getContext(), arith::FastMathFlags::contract);
}

static Value multiply(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<ComplexType>(a.getType()))
    return complex::MulOp::create(builder, loc, a, b);
  return arith::MulFOp::create(builder, loc, a, b, contract(builder));
}

static Value add(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<ComplexType>(a.getType()))
    return complex::AddOp::create(builder, loc, a, b);
  return arith::AddFOp::create(builder, loc, a, b, contract(builder));
}

static Value exponential(OpBuilder &builder, Location loc, Value value) {
  if (isa<ComplexType>(value.getType()))
    return complex::ExpOp::create(builder, loc, value);
  return math::ExpOp::create(builder, loc, value);
}

namespace {

/// The iteration space of a read or write, and where state, address and value use it.
struct StepSpace {
  SmallVector<IteratorType> iterators;
  SmallVector<AffineExpr> state, address, value;

  /// Dims in loop order: the rows of a matrix address first, then the axes of the state in memory
  /// order, so that the innermost loop runs along contiguous entries.
  template <typename OpTy> StepSpace(OpTy op, IteratorType rows, IteratorType contracted) {
    MLIRContext *context = op.getContext();
    if (op.hasManyRows()) {
      AffineExpr row = getAffineDimExpr(0, context);
      iterators.push_back(rows);
      address.push_back(row);
      value.push_back(row);
    }
    for (int64_t axis = 0; axis < op.getState().getType().getRank(); ++axis) {
      AffineExpr dim = getAffineDimExpr(iterators.size(), context);
      bool isAddressed = axis == int64_t(op.getAxis());
      iterators.push_back(isAddressed ? contracted : IteratorType::parallel);
      state.push_back(dim);
      (isAddressed ? address : value).push_back(dim);
    }
  }

  AffineMap map(ArrayRef<AffineExpr> exprs, MLIRContext *context) const {
    return AffineMap::get(iterators.size(), 0, exprs, context);
  }
};

//===----------------------------------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------------------------------===//

struct LowerDecay : OpRewritePattern<DecayOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DecayOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType state = op.getState().getType();
    Type element = state.getElementType();
    MLIRContext *context = op.getContext();
    Value by = op.getBy();
    bool isScalar = !isa<RankedTensorType>(by.getType());
    // One exponential per entry of the decay, not per entry of the state: in a nest of its own
    // unless the decay is as large as the state.
    bool expFirst = !op.getLinear() && int64_t(op.getAxes().size()) < state.getRank();
    if (isScalar) {
      by = extend(rewriter, loc, by, element);
      if (expFirst)
        by = exponential(rewriter, loc, by);
    } else if (expFirst) {
      auto type = cast<RankedTensorType>(by.getType()).clone(element);
      Value empty =
          tensor::EmptyOp::create(rewriter, loc, tensor::getMixedSizes(rewriter, loc, by), element);
      AffineMap identity = AffineMap::getMultiDimIdentityMap(type.getRank(), context);
      by = linalg::GenericOp::create(
               rewriter, loc, TypeRange{type}, by, empty, ArrayRef<AffineMap>{identity, identity},
               SmallVector<IteratorType>(type.getRank(), IteratorType::parallel),
               [&](OpBuilder &b, Location l, ValueRange args) {
                 Value wide = extend(b, l, args[0], element);
                 linalg::YieldOp::create(b, l, exponential(b, l, wide));
               })
               .getResult(0);
    }
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    if (!isScalar) {
      SmallVector<AffineExpr> exprs;
      for (int64_t axis : op.getAxes())
        exprs.push_back(rewriter.getAffineDimExpr(axis));
      inputs.push_back(by);
      maps.push_back(AffineMap::get(state.getRank(), 0, exprs, context));
    }
    maps.push_back(AffineMap::getMultiDimIdentityMap(state.getRank(), context));
    bool expInside = !op.getLinear() && !expFirst;
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange{state}, inputs, op.getState(), maps,
        SmallVector<IteratorType>(state.getRank(), IteratorType::parallel),
        [&](OpBuilder &b, Location l, ValueRange args) {
          Value factor = isScalar ? by : extend(b, l, args[0], element);
          if (!isScalar && expInside)
            factor = exponential(b, l, factor);
          linalg::YieldOp::create(b, l, multiply(b, l, args.back(), factor));
        });
    return success();
  }
};

struct LowerRead : OpRewritePattern<ReadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReadOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    Type element = op.getState().getType().getElementType();
    StepSpace space(op, /*rows=*/IteratorType::parallel, /*contracted=*/IteratorType::reduction);
    SmallVector<OpFoldResult> sizes;
    if (op.hasManyRows())
      sizes.push_back(tensor::getMixedSize(rewriter, loc, op.getAddress(), 0));
    if (op.getValueRank() == 1)
      sizes.push_back(tensor::getMixedSize(rewriter, loc, op.getState(), 1 - op.getAxis()));
    auto resultType = dyn_cast<RankedTensorType>(op.getResult().getType());
    RankedTensorType type = resultType ? resultType : RankedTensorType::get({}, element);
    Value result =
        linalg::GenericOp::create(
            rewriter, loc, TypeRange{type}, ValueRange{op.getAddress(), op.getState()},
            createZeros(rewriter, loc, element, sizes),
            ArrayRef<AffineMap>{space.map(space.address, context), space.map(space.state, context),
                                space.map(space.value, context)},
            space.iterators,
            [&](OpBuilder &b, Location l, ValueRange args) {
              Value product = multiply(b, l, extend(b, l, args[0], element), args[1]);
              linalg::YieldOp::create(b, l, add(b, l, args[2], product));
            })
            .getResult(0);
    if (resultType)
      rewriter.replaceOp(op, result);
    else
      rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, result, ValueRange());
    return success();
  }
};

struct LowerWrite : OpRewritePattern<WriteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WriteOp op, PatternRewriter &rewriter) const override {
    MLIRContext *context = op.getContext();
    Type element = op.getState().getType().getElementType();
    StepSpace space(op, /*rows=*/IteratorType::reduction, /*contracted=*/IteratorType::parallel);
    bool isScalar = !isa<RankedTensorType>(op.getValue().getType());
    SmallVector<Value> inputs{op.getAddress()};
    SmallVector<AffineMap> maps{space.map(space.address, context)};
    if (!isScalar) {
      inputs.push_back(op.getValue());
      maps.push_back(space.map(space.value, context));
    }
    maps.push_back(space.map(space.state, context));
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange{op.getState().getType()}, inputs, op.getState(), maps, space.iterators,
        [&](OpBuilder &b, Location l, ValueRange args) {
          Value value = extend(b, l, isScalar ? op.getValue() : args[1], element);
          Value product = multiply(b, l, extend(b, l, args[0], element), value);
          linalg::YieldOp::create(b, l, add(b, l, args.back(), product));
        });
    return success();
  }
};

} // namespace

void mlir::linattn::populateStepsToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerDecay, LowerRead, LowerWrite>(patterns.getContext());
}
