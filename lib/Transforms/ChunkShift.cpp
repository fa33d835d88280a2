//===- ChunkShift.cpp - states that keep what the last tokens brought ---------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// What every token of a chunk finds in such a state is a view of one line of rows: those of the
// state before the chunk, and behind them those that the chunk's tokens bring. The new state is the
// end of that line.
//
//===----------------------------------------------------------------------------------------------===//

#include "ChunkBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

namespace {

/// A list of rows, each of the same shape.
struct Line {
  OpBuilder &builder;
  Location loc;
  SmallVector<int64_t> rowShape;
  Type element;
  Value rows;

  /// Offsets, sizes and strides of `count` rows from `first` on.
  void getBox(OpFoldResult first, int64_t count, SmallVector<OpFoldResult> &offsets,
              SmallVector<OpFoldResult> &sizes, SmallVector<OpFoldResult> &strides) {
    offsets.assign(rowShape.size() + 1, builder.getIndexAttr(0));
    strides.assign(rowShape.size() + 1, builder.getIndexAttr(1));
    sizes = getAsIndexOpFoldResult(builder.getContext(), rowShape);
    offsets[0] = first;
    sizes.insert(sizes.begin(), builder.getIndexAttr(count));
  }
  void insert(Value part, OpFoldResult first, int64_t count) {
    if (!isa<RankedTensorType>(part.getType())) {
      Value position = getValueOrCreateConstantIndexOp(builder, loc, first);
      rows = tensor::InsertOp::create(builder, loc, part, rows, position);
      return;
    }
    SmallVector<OpFoldResult> offsets, sizes, strides;
    getBox(first, count, offsets, sizes, strides);
    rows = tensor::InsertSliceOp::create(builder, loc, part, rows, offsets, sizes, strides);
  }
  Value extract(Type type, OpFoldResult first, int64_t count) {
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (!tensorType)
      return tensor::ExtractOp::create(builder, loc, rows,
                                       getValueOrCreateConstantIndexOp(builder, loc, first));
    SmallVector<OpFoldResult> offsets, sizes, strides;
    getBox(first, count, offsets, sizes, strides);
    return tensor::ExtractSliceOp::create(builder, loc, tensorType, rows, offsets, sizes, strides);
  }
  /// `count` windows of `width` rows, from row 0, 1, ... on.
  Value windows(int64_t count, int64_t width) {
    SmallVector<int64_t> shape{count, width};
    llvm::append_range(shape, rowShape);
    SmallVector<AffineExpr> from{builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1)};
    for (unsigned dim = 2; dim < shape.size(); ++dim)
      from.push_back(builder.getAffineDimExpr(dim));
    Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
    return linalg::GenericOp::create(
               builder, loc, TypeRange{empty.getType()}, rows, empty,
               ArrayRef<AffineMap>{AffineMap::get(shape.size(), 0, from, builder.getContext()),
                                   builder.getMultiDimIdentityMap(shape.size())},
               SmallVector<IteratorType>(shape.size(), IteratorType::parallel),
               [](OpBuilder &b, Location l, ValueRange args) {
                 linalg::YieldOp::create(b, l, args[0]);
               })
        .getResult(0);
  }
};

} // namespace

/// The row of a window that an op takes, if that is all it does.
static std::optional<int64_t> getRow(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op); extract && extract.getIndices().size() == 1)
    return getConstantIntValue(extract.getIndices()[0]);
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice || slice.getType() != RankedTensorType::Builder(slice.getSourceType()).dropDim(0) ||
      !slice.hasUnitStride())
    return std::nullopt;
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  for (OpFoldResult offset : llvm::drop_begin(offsets))
    if (!isConstantIntValue(offset, 0))
      return std::nullopt;
  return getConstantIntValue(offsets[0]);
}

LogicalResult ChunkBody::shift(Solved &solved) {
  if (solved.isReady)
    return success();
  const StateInfo &info = *solved.info;
  if (failed(get(info.entering)))
    return failure();
  Value entering = getChunk(info.entering);
  Type stateType = solved.state.getType();
  Line line{builder, loc, {}, getElementTypeOrSelf(stateType), {}};
  if (auto type = dyn_cast<RankedTensorType>(stateType))
    line.rowShape.assign(type.getShape().begin() + info.isWindow, type.getShape().end());
  int64_t width = info.isWindow ? cast<RankedTensorType>(stateType).getDimSize(0) : 1;
  if (info.isWindow) { // one row per token, of which the type has an own dim
    SmallVector<ReassociationIndices> groups{{0, 1}};
    for (int64_t dim = 2; dim < cast<RankedTensorType>(entering.getType()).getRank(); ++dim)
      groups.push_back({dim});
    entering = tensor::CollapseShapeOp::create(builder, loc, entering, groups);
  }
  SmallVector<int64_t> shape(line.rowShape);
  shape.insert(shape.begin(), width + rows);
  line.rows = tensor::EmptyOp::create(builder, loc, shape, line.element);
  // Reversed tiles begin with the rows that are no tokens: the old state takes their place.
  OpFoldResult first = builder.getIndexAttr(0), last = OpFoldResult(chunk.getLiveArg());
  if (token.getReverse()) {
    Value count = arith::ConstantIndexOp::create(builder, loc, rows);
    first = arith::SubIOp::create(builder, loc, count, chunk.getLiveArg()).getResult();
    last = builder.getIndexAttr(rows);
  }
  line.insert(entering, builder.getIndexAttr(width), rows);
  line.insert(solved.state, first, width);
  Value found = info.isWindow
                    ? line.windows(rows, width)
                    : line.extract(lifting.getLiftedType(stateType), builder.getIndexAttr(0), rows);
  lifting.setLifted(token.getStateArgs()[info.index], found);
  // Who reads one row of the window finds those of all tokens as they lie in the line.
  if (info.isWindow)
    for (Operation *user : token.getStateArgs()[info.index].getUsers())
      if (std::optional<int64_t> row = getRow(user))
        lifting.setLifted(user->getResult(0),
                          line.extract(lifting.getLiftedType(user->getResult(0).getType()),
                                       builder.getIndexAttr(*row), rows));
  solved.after = line.extract(stateType, last, width);
  solved.isReady = true;
  return success();
}
