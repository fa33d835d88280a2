//===- LiftModels.cpp - LiftableOpInterface of ops on tensors and indices -----------*- C++ -*-===//
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
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
    // first token, first token + 1, ...
    Location loc = op->getLoc();
    Value empty =
        tensor::EmptyOp::create(builder, loc, {lifting.getRows()}, builder.getIndexType());
    auto generic = linalg::GenericOp::create(
        builder, loc, TypeRange{empty.getType()}, ValueRange(), empty,
        AffineMap::getMultiDimIdentityMap(1, op->getContext()), {utils::IteratorType::parallel},
        [&](OpBuilder &b, Location l, ValueRange) {
          Value row = linalg::IndexOp::create(b, l, 0);
          linalg::YieldOp::create(b, l,
                                  arith::AddIOp::create(b, l, lifting.firstToken, row).getResult());
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

} // namespace

void linattn::registerLiftableExternalModels(DialectRegistry &registry) {
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
