//===- PackPairs.cpp - operands of bf16 products as pairs ---------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Pairs.h"

#include "linattn/Conversion/Passes.h"
#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_PACKPAIRSPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;
using linalg::GenericOp;

/// The matrix of bf16 of which `value` is a copy in another type; null if there is none.
static Value getNarrow(Value value) {
  if (auto extended = value.getDefiningOp<arith::ExtFOp>())
    value = extended.getIn();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  bool isMatrix = type && type.hasStaticShape() && type.getRank() == 2;
  return isMatrix && type.getElementType().isBF16() ? value : Value();
}

/// The same with an even number of entries along `dim`; a zero adds nothing to a sum.
static Value pad(OpBuilder &builder, Location loc, Value matrix, int64_t dim) {
  auto type = cast<RankedTensorType>(matrix.getType());
  if (type.getDimSize(dim) % 2 == 0)
    return matrix;
  MLIRContext *context = builder.getContext();
  SmallVector<int64_t> sizes(type.getShape());
  ++sizes[dim];
  Value zeros =
      createZeros(builder, loc, type.getElementType(), getAsIndexOpFoldResult(context, sizes));
  return tensor::InsertSliceOp::create(
      builder, loc, matrix, zeros, getAsIndexOpFoldResult(context, {0, 0}),
      getAsIndexOpFoldResult(context, type.getShape()), getAsIndexOpFoldResult(context, {1, 1}));
}

/// The pairs of neighbours of a matrix along `dim`. What is rounded is rounded here.
static Value pack(OpBuilder &builder, Location loc, Value matrix, int64_t dim) {
  if (auto rounded = matrix.getDefiningOp<arith::TruncFOp>();
      rounded && getElementTypeOrSelf(rounded.getIn()).isF32())
    matrix = rounded.getIn();
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(2));
  for (auto [number, map] : llvm::enumerate(maps)) {
    SmallVector<AffineExpr> exprs(map.getResults());
    exprs[dim] = exprs[dim] * 2 + number;
    map = AffineMap::get(2, 0, exprs, builder.getContext());
  }
  maps.push_back(builder.getMultiDimIdentityMap(2));
  // Another product may have packed it already.
  for (Operation *user : matrix.getUsers())
    if (auto packed = dyn_cast<GenericOp>(user);
        packed && packed->getBlock() == builder.getInsertionBlock() &&
        packed->isBeforeInBlock(&*builder.getInsertionPoint()) &&
        packed.getIndexingMapsArray() == maps && makesPairs(packed))
      return packed.getResult(0);
  matrix = pad(builder, loc, matrix, dim);
  SmallVector<int64_t> shape(cast<RankedTensorType>(matrix.getType()).getShape());
  shape[dim] /= 2;
  Value empty = tensor::EmptyOp::create(builder, loc, shape, builder.getI32Type());
  return GenericOp::create(builder, loc, TypeRange{empty.getType()}, ValueRange{matrix, matrix},
                           empty, maps,
                           SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
                           [](OpBuilder &b, Location l, ValueRange args) {
                             linalg::YieldOp::create(b, l, createPair(b, l, args[0], args[1]));
                           })
      .getResult(0);
}

LogicalResult mlir::linattn::packPairs(RewriterBase &rewriter, linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || !linalg::isaContractionOpInterface(op))
    return rewriter.notifyMatchFailure(op, "not a product of tensors");
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  Value init = op.getDpsInits()[0];
  if (failed(dims) || !dims->batch.empty() || dims->m.size() != 1 || dims->n.size() != 1 ||
      dims->k.size() != 1 || !getElementTypeOrSelf(init).isF32())
    return rewriter.notifyMatchFailure(op, "not a product of two matrices in f32");
  SmallVector<Value> matrices;
  for (Value input : op.getDpsInputs())
    matrices.push_back(getNarrow(input));
  // An extended matrix alone does not ask for it: what is exact in f32 may stay there.
  bool isAsked = llvm::any_of(op.getDpsInputs(),
                              [](Value input) { return getElementTypeOrSelf(input).isBF16(); });
  if (!isAsked || !matrices[0] || !matrices[1])
    return rewriter.notifyMatchFailure(op, "an operand is wider than bf16");

  AffineExpr reduced = rewriter.getAffineDimExpr(dims->k[0]);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineExpr column = maps[2].getResults().back();
  bool isRowByRow =
      maps[0].getResults().back() == reduced && maps[1].getResults().back() == reduced;
  if (!isRowByRow && maps[0].getResults().back() != column && maps[1].getResults().back() != column)
    return rewriter.notifyMatchFailure(op, "no operand is contiguous along the rows of the result");
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto asFast = [&](OpBuilder &b, Location l, ValueRange args) -> Value {
    auto fast = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
    Value left = arith::ExtFOp::create(b, l, b.getF32Type(), args[0]);
    Value right = arith::ExtFOp::create(b, l, b.getF32Type(), args[1]);
    Value product = arith::MulFOp::create(b, l, left, right, fast);
    return arith::AddFOp::create(b, l, args[2], product, fast);
  };
  // Rows of both are contiguous along what is reduced: their entries are pairs as they lie there.
  if (!isRowByRow)
    for (auto [matrix, map] : llvm::zip(matrices, maps))
      matrix = pack(rewriter, loc, matrix, map.getResult(0) == reduced ? 0 : 1);
  // What the sums start from stays right before them, so that it is done in the same pass.
  if (auto first = init.getDefiningOp<linalg::LinalgOp>();
      first && first.getNumReductionLoops() == 0 && first->hasOneUse() &&
      first->getBlock() == op->getBlock())
    rewriter.moveOpBefore(first, op);
  rewriter.replaceOpWithNewOp<GenericOp>(
      op, TypeRange{init.getType()}, matrices, init, maps, op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value sum =
            isRowByRow ? asFast(b, l, args) : createPairProduct(b, l, args[0], args[1], args[2]);
        linalg::YieldOp::create(b, l, sum);
      });
  return success();
}

namespace {
struct PackPairs : linattn::impl::PackPairsPassBase<PackPairs> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops)
      (void)packPairs(rewriter, op);
  }
};
} // namespace
