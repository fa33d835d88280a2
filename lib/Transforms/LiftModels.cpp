//===- LiftModels.cpp - LiftableOpInterface of ops of other dialects ----------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"
#include "linattn/Transforms/ExternalModels.h"
#include "linattn/Transforms/Lift.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace mlir::linattn;
using Results = FailureOr<SmallVector<Value>>;

/// Invariant index operands as they are in the chunk; fails if one differs between tokens.
static FailureOr<SmallVector<OpFoldResult>> getInvariant(ArrayRef<OpFoldResult> values,
                                                         Lifting &lifting) {
  SmallVector<OpFoldResult> result;
  for (OpFoldResult value : values) {
    auto dynamic = dyn_cast<Value>(value);
    if (dynamic && lifting.isLifted(dynamic))
      return failure();
    result.push_back(dynamic ? OpFoldResult(lifting.lookup(dynamic)) : value);
  }
  return result;
}

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// `value` in front of `list`: offset, size or stride of the rows.
static SmallVector<OpFoldResult> prepend(OpBuilder &builder, int64_t value,
                                         ArrayRef<OpFoldResult> list) {
  SmallVector<OpFoldResult> result{builder.getIndexAttr(value)};
  llvm::append_range(result, list);
  return result;
}

static SmallVector<ReassociationIndices> prependGroup(ArrayRef<ReassociationIndices> groups) {
  SmallVector<ReassociationIndices> result{{0}};
  for (const ReassociationIndices &group : groups)
    result.push_back(
        llvm::to_vector<2>(llvm::map_range(group, [](int64_t dim) { return dim + 1; })));
  return result;
}

namespace {

struct LiftIndex : LiftableOpInterface::ExternalModel<LiftIndex, IndexOp> {
  Results lift(Operation *op, OpBuilder &builder, Lifting &lifting) const {
    Location loc = op->getLoc();
    Value empty =
        tensor::EmptyOp::create(builder, loc, {lifting.getRows()}, builder.getIndexType());
    auto generic = linalg::GenericOp::create(
        builder, loc, TypeRange{empty.getType()}, ValueRange(), empty,
        AffineMap::getMultiDimIdentityMap(1, op->getContext()), {utils::IteratorType::parallel},
        [&](OpBuilder &b, Location l, ValueRange) {
          Value row = linalg::IndexOp::create(b, l, 0);
          linalg::YieldOp::create(b, l, lifting.getToken(b, l, row));
        });
    return SmallVector<Value>(generic->getResults());
  }
};

struct LiftSplat : LiftableOpInterface::ExternalModel<LiftSplat, tensor::SplatOp> {
  Results lift(Operation *op, OpBuilder &builder, Lifting &lifting) const {
    auto splat = cast<tensor::SplatOp>(op);
    if (!splat.getType().hasStaticShape())
      return failure();
    return SmallVector<Value>{
        getLifted(builder, op->getLoc(), splat.getInput(), lifting, splat.getType().getShape())};
  }
};

struct LiftExtract : LiftableOpInterface::ExternalModel<LiftExtract, tensor::ExtractOp> {
  Results lift(Operation *op, OpBuilder &builder, Lifting &lifting) const {
    auto extract = cast<tensor::ExtractOp>(op);
    auto indices = getInvariant(getAsOpFoldResult(extract.getIndices()), lifting);
    if (failed(indices))
      return failure();
    SmallVector<OpFoldResult> sizes(indices->size(), builder.getIndexAttr(1));
    auto type = lifting.getLiftedType(op->getResult(0).getType());
    return SmallVector<Value>{tensor::ExtractSliceOp::create(
        builder, op->getLoc(), type, lifting.lookup(extract.getTensor()),
        prepend(builder, 0, *indices), prepend(builder, lifting.getRows(), sizes),
        prepend(builder, 1, sizes))};
  }
};

struct LiftInsert : LiftableOpInterface::ExternalModel<LiftInsert, tensor::InsertOp> {
  Results lift(Operation *op, OpBuilder &builder, Lifting &lifting) const {
    auto insert = cast<tensor::InsertOp>(op);
    auto indices = getInvariant(getAsOpFoldResult(insert.getIndices()), lifting);
    if (failed(indices) || !insert.getDest().getType().hasStaticShape())
      return failure();
    Location loc = op->getLoc();
    Value scalar = getLifted(builder, loc, insert.getScalar(), lifting, {});
    Value dest = getLifted(builder, loc, insert.getDest(), lifting, getShape(insert.getDest()));
    SmallVector<OpFoldResult> sizes(indices->size(), builder.getIndexAttr(1));
    return SmallVector<Value>{tensor::InsertSliceOp::create(
        builder, loc, scalar, dest, prepend(builder, 0, *indices),
        prepend(builder, lifting.getRows(), sizes), prepend(builder, 1, sizes))};
  }
};

struct LiftExtractSlice
    : LiftableOpInterface::ExternalModel<LiftExtractSlice, tensor::ExtractSliceOp> {
  Results lift(Operation *op, OpBuilder &builder, Lifting &lifting) const {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    auto offsets = getInvariant(slice.getMixedOffsets(), lifting),
         sizes = getInvariant(slice.getMixedSizes(), lifting),
         strides = getInvariant(slice.getMixedStrides(), lifting);
    if (failed(offsets) || failed(sizes) || failed(strides) || !slice.getType().hasStaticShape())
      return failure();
    return SmallVector<Value>{tensor::ExtractSliceOp::create(
        builder, op->getLoc(), lifting.getLiftedType(slice.getType()),
        lifting.lookup(slice.getSource()), prepend(builder, 0, *offsets),
        prepend(builder, lifting.getRows(), *sizes), prepend(builder, 1, *strides))};
  }
};

struct LiftInsertSlice
    : LiftableOpInterface::ExternalModel<LiftInsertSlice, tensor::InsertSliceOp> {
  Results lift(Operation *op, OpBuilder &builder, Lifting &lifting) const {
    auto slice = cast<tensor::InsertSliceOp>(op);
    auto offsets = getInvariant(slice.getMixedOffsets(), lifting),
         sizes = getInvariant(slice.getMixedSizes(), lifting),
         strides = getInvariant(slice.getMixedStrides(), lifting);
    if (failed(offsets) || failed(sizes) || failed(strides) ||
        !slice.getSourceType().hasStaticShape() || !slice.getDestType().hasStaticShape())
      return failure();
    Location loc = op->getLoc();
    Value source = getLifted(builder, loc, slice.getSource(), lifting, getShape(slice.getSource()));
    Value dest = getLifted(builder, loc, slice.getDest(), lifting, getShape(slice.getDest()));
    return SmallVector<Value>{tensor::InsertSliceOp::create(
        builder, loc, source, dest, prepend(builder, 0, *offsets),
        prepend(builder, lifting.getRows(), *sizes), prepend(builder, 1, *strides))};
  }
};

template <typename OpTy>
struct LiftReshape : LiftableOpInterface::ExternalModel<LiftReshape<OpTy>, OpTy> {
  Results lift(Operation *op, OpBuilder &builder, Lifting &lifting) const {
    auto reshape = cast<OpTy>(op);
    if (!reshape.getResultType().hasStaticShape())
      return failure();
    return SmallVector<Value>{OpTy::create(
        builder, op->getLoc(), lifting.getLiftedType(reshape.getResultType()),
        lifting.lookup(reshape.getSrc()), prependGroup(reshape.getReassociationIndices()))};
  }
};

struct LiftConcat : LiftableOpInterface::ExternalModel<LiftConcat, tensor::ConcatOp> {
  Results lift(Operation *op, OpBuilder &builder, Lifting &lifting) const {
    auto concat = cast<tensor::ConcatOp>(op);
    SmallVector<Value> inputs;
    for (Value input : concat.getInputs()) {
      if (!cast<RankedTensorType>(input.getType()).hasStaticShape())
        return failure();
      inputs.push_back(getLifted(builder, op->getLoc(), input, lifting, getShape(input)));
    }
    return SmallVector<Value>{
        tensor::ConcatOp::create(builder, op->getLoc(), concat.getDim() + 1, inputs)};
  }
};

struct LiftFromElements
    : LiftableOpInterface::ExternalModel<LiftFromElements, tensor::FromElementsOp> {
  Results lift(Operation *op, OpBuilder &builder, Lifting &lifting) const {
    auto elements = cast<tensor::FromElementsOp>(op);
    if (elements.getType().getRank() != 1)
      return failure();
    Location loc = op->getLoc();
    int64_t rows = lifting.getRows();
    Value result =
        tensor::EmptyOp::create(builder, loc, lifting.getLiftedType(elements.getType()).getShape(),
                                elements.getType().getElementType());
    for (auto [index, element] : llvm::enumerate(elements.getElements()))
      result = tensor::InsertSliceOp::create(
          builder, loc, getLifted(builder, loc, element, lifting, {}), result,
          ArrayRef<OpFoldResult>{builder.getIndexAttr(0), builder.getIndexAttr(index)},
          ArrayRef<OpFoldResult>{builder.getIndexAttr(rows), builder.getIndexAttr(1)},
          ArrayRef<OpFoldResult>{builder.getIndexAttr(1), builder.getIndexAttr(1)});
    return SmallVector<Value>{result};
  }
};

/// A loop whose bounds are the same for all tokens goes once over all of them. What it carries has
/// a row per token, except what stays the same for all of them, such as a counter.
struct LiftFor : LiftableOpInterface::ExternalModel<LiftFor, scf::ForOp> {
  Results lift(Operation *op, OpBuilder &builder, Lifting &lifting) const {
    auto loop = cast<scf::ForOp>(op);
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (lifting.isLifted(bound))
        return failure();
    SmallVector<bool> carriesRows =
        llvm::map_to_vector(loop.getInitArgs(), [&](Value init) { return lifting.isLifted(init); });
    // Built again when an iteration turns out to make rows of what had none.
    while (true) {
      FailureOr<scf::ForOp> lifted = liftLoop(loop, carriesRows, builder, lifting);
      if (failed(lifted))
        return failure();
      bool isStable = true;
      for (auto [yielded, hasRows] : llvm::zip_equal(loop.getYieldedValues(), carriesRows))
        if (lifting.isLifted(yielded) && !hasRows) {
          hasRows = true;
          isStable = false;
        }
      if (isStable)
        return finish(loop, *lifted, carriesRows, builder, lifting);
      IRRewriter(builder).eraseOp(*lifted);
    }
  }

  static Value getRows(OpBuilder &builder, Value value, Lifting &lifting) {
    return getLifted(builder, value.getLoc(), value, lifting,
                     isa<RankedTensorType>(value.getType()) ? getShape(value)
                                                            : ArrayRef<int64_t>());
  }

  /// The lifted loop without its yield.
  static FailureOr<scf::ForOp> liftLoop(scf::ForOp loop, ArrayRef<bool> carriesRows,
                                        OpBuilder &builder, Lifting &lifting) {
    SmallVector<Value> inits;
    for (auto [init, hasRows] : llvm::zip_equal(loop.getInitArgs(), carriesRows)) {
      auto type = dyn_cast<RankedTensorType>(init.getType());
      if (hasRows && type && !type.hasStaticShape())
        return failure();
      inits.push_back(hasRows ? getRows(builder, init, lifting) : lifting.lookup(init));
    }
    auto lifted = scf::ForOp::create(builder, loop.getLoc(), lifting.lookup(loop.getLowerBound()),
                                     lifting.lookup(loop.getUpperBound()),
                                     lifting.lookup(loop.getStep()), inits);
    lifting.setInvariant(loop.getInductionVar(), lifted.getInductionVar());
    for (auto [arg, to, hasRows] :
         llvm::zip_equal(loop.getRegionIterArgs(), lifted.getRegionIterArgs(), carriesRows)) {
      if (hasRows)
        lifting.setLifted(arg, to);
      else
        lifting.setInvariant(arg, to);
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(lifted.getBody());
    for (Operation &nested : loop.getBody()->without_terminator())
      if (failed(liftOp(builder, &nested, lifting))) {
        IRRewriter(builder).eraseOp(lifted);
        return failure();
      }
    return lifted;
  }

  static Results finish(scf::ForOp loop, scf::ForOp lifted, ArrayRef<bool> carriesRows,
                        OpBuilder &builder, Lifting &lifting) {
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(lifted.getBody());
      SmallVector<Value> yielded;
      for (auto [value, hasRows] : llvm::zip_equal(loop.getYieldedValues(), carriesRows))
        yielded.push_back(hasRows ? getRows(builder, value, lifting) : lifting.lookup(value));
      if (!yielded.empty())
        scf::YieldOp::create(builder, loop.getLoc(), yielded);
    }
    // What reads make of decays and written values is the same for all iterations.
    moveLoopInvariantCode(cast<LoopLikeOpInterface>(lifted.getOperation()));
    SmallVector<Value> results;
    for (auto [result, to, hasRows] :
         llvm::zip_equal(loop.getResults(), lifted.getResults(), carriesRows)) {
      lifting.setInvariant(result, to);
      results.push_back(hasRows ? to : getRows(builder, result, lifting));
    }
    return results;
  }
};

} // namespace

void linattn::registerLiftableExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LinAttnDialect *, scf::SCFDialect *) {
    scf::ForOp::attachInterface<LiftFor>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, LinAttnDialect *, tensor::TensorDialect *) {
    IndexOp::attachInterface<LiftIndex>(*context);
    tensor::SplatOp::attachInterface<LiftSplat>(*context);
    tensor::ExtractOp::attachInterface<LiftExtract>(*context);
    tensor::InsertOp::attachInterface<LiftInsert>(*context);
    tensor::ExtractSliceOp::attachInterface<LiftExtractSlice>(*context);
    tensor::InsertSliceOp::attachInterface<LiftInsertSlice>(*context);
    tensor::ExpandShapeOp::attachInterface<LiftReshape<tensor::ExpandShapeOp>>(*context);
    tensor::CollapseShapeOp::attachInterface<LiftReshape<tensor::CollapseShapeOp>>(*context);
    tensor::ConcatOp::attachInterface<LiftConcat>(*context);
    tensor::FromElementsOp::attachInterface<LiftFromElements>(*context);
  });
}
