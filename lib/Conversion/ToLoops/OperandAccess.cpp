//===- OperandAccess.cpp - the slices of a recurrence's operands --------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "OperandAccess.h"

#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::linattn;

OpFoldResult mlir::linattn::applyExpr(OpBuilder &builder, Location loc, AffineExpr expr,
                                      ArrayRef<OpFoldResult> values) {
  return affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(values.size(), 0, expr),
                                               values);
}

static SmallVector<Value> getValues(OpBuilder &builder, Location loc,
                                    ArrayRef<OpFoldResult> values) {
  return getValueOrCreateConstantIndexOp(builder, loc, values);
}

/// `tensor` with its dims rearranged, in `into` if given: result dim i is dim `permutation[i]` of
/// `tensor`.
static Value transpose(OpBuilder &builder, Location loc, Value tensor,
                       ArrayRef<int64_t> permutation, Value into = nullptr) {
  if (llvm::is_sorted(permutation))
    return tensor;
  if (!into) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor), permuted;
    for (int64_t dim : permutation)
      permuted.push_back(sizes[dim]);
    into = tensor::EmptyOp::create(builder, loc, permuted,
                                   cast<RankedTensorType>(tensor.getType()).getElementType());
  }
  return linalg::TransposeOp::create(builder, loc, tensor, into, permutation)->getResult(0);
}

/// The permutation that sorts `order`: domain order from operand order.
static SmallVector<int64_t> sortingPermutation(ArrayRef<unsigned> order) {
  auto positions = llvm::seq<int64_t>(0, order.size());
  SmallVector<int64_t> permutation(positions.begin(), positions.end());
  llvm::sort(permutation, [&](int64_t a, int64_t b) { return order[a] < order[b]; });
  return permutation;
}

bool OperandAccess::usesTime() const {
  return llvm::any_of(forms, [&](const IndexForm &form) { return form.usesDim(timeDim); });
}

std::optional<unsigned> OperandAccess::getRowDim() const {
  std::optional<unsigned> rowDim;
  for (auto [index, form] : llvm::enumerate(forms)) {
    if (!form.usesDim(timeDim))
      continue;
    if (rowDim)
      return std::nullopt;
    rowDim = index;
    for (const IndexTerm &term : form.terms)
      if (term.digit.dim >= numIterators ||
          (term.digit.dim == timeDim && (!term.digit.isWholeDim() || term.coefficient < 1)))
        return std::nullopt;
  }
  return rowDim;
}

OperandAccess::Box OperandAccess::getBox(OpBuilder &builder, Location loc, Value tensor,
                                         const StepPoint &point, Type slice,
                                         std::optional<unsigned> rowDim) const {
  auto sliceType = dyn_cast<RankedTensorType>(slice);
  SmallVector<OpFoldResult> values(point.ivs);
  values.append(numSliceDims, builder.getIndexAttr(0));
  Box box;
  for (auto [index, form] : llvm::enumerate(forms)) {
    box.offsets.push_back(applyExpr(builder, loc, form.getExpr(builder.getContext()), values));
    box.sizes.push_back(builder.getIndexAttr(1));
    box.strides.push_back(builder.getIndexAttr(1));
    if (rowDim && *rowDim == index) {
      box.sizes.back() = point.live;
      for (const IndexTerm &term : form.terms)
        if (term.digit.dim == timeDim)
          box.strides.back() = builder.getIndexAttr(term.coefficient);
      box.order.push_back(timeDim);
    }
    for (const IndexTerm &term : form.terms) {
      if (term.digit.dim < numIterators)
        continue;
      // The slice dims are the last dims of the slice.
      int64_t position = sliceType.getRank() - numSliceDims + (term.digit.dim - numIterators);
      box.sizes.back() = sliceType.isDynamicDim(position)
                             ? tensor::getMixedSize(builder, loc, tensor, index)
                             : builder.getIndexAttr(sliceType.getDimSize(position));
      box.order.push_back(term.digit.dim);
    }
  }
  return box;
}

/// The shape of a box without the dims of size 1 that are neither slice dims nor rows.
static RankedTensorType getReducedType(ArrayRef<IndexForm> forms, ArrayRef<OpFoldResult> sizes,
                                       unsigned numIterators, std::optional<unsigned> rowDim,
                                       Type element) {
  SmallVector<int64_t> shape;
  for (auto [index, form, size] : llvm::enumerate(forms, sizes)) {
    bool isSlice = llvm::any_of(
        form.terms, [&](const IndexTerm &term) { return term.digit.dim >= numIterators; });
    if (isSlice || (rowDim && *rowDim == index))
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  }
  return RankedTensorType::get(shape, element);
}

Value OperandAccess::loadRow(OpBuilder &builder, Location loc, Value tensor, const StepPoint &point,
                             Type slice) const {
  if (!isa<RankedTensorType>(tensor.getType()))
    return tensor;
  Box box = getBox(builder, loc, tensor, point, slice, std::nullopt);
  auto type = dyn_cast<RankedTensorType>(slice);
  if (!type)
    return tensor::ExtractOp::create(builder, loc, tensor, getValues(builder, loc, box.offsets));
  RankedTensorType reduced =
      getReducedType(forms, box.sizes, numIterators, std::nullopt, type.getElementType());
  Value row = tensor::ExtractSliceOp::create(builder, loc, reduced, tensor, box.offsets, box.sizes,
                                             box.strides);
  row = transpose(builder, loc, row, sortingPermutation(box.order));
  return row.getType() == type ? row : tensor::CastOp::create(builder, loc, type, row);
}

Value OperandAccess::storeRow(OpBuilder &builder, Location loc, Value slice, Value tensor,
                              const StepPoint &point) const {
  Box box = getBox(builder, loc, tensor, point, slice.getType(), std::nullopt);
  if (!isa<RankedTensorType>(slice.getType()))
    return tensor::InsertOp::create(builder, loc, slice, tensor,
                                    getValues(builder, loc, box.offsets));
  SmallVector<int64_t> permutation = invertPermutationVector(sortingPermutation(box.order));
  Value row = slice;
  if (!llvm::is_sorted(permutation)) {
    // In the place where it stays, also if that is all of the tensor.
    RankedTensorType reduced = getReducedType(forms, box.sizes, numIterators, std::nullopt,
                                              getElementTypeOrSelf(slice.getType()));
    Value place = tensor::ExtractSliceOp::create(builder, loc, reduced, tensor, box.offsets,
                                                 box.sizes, box.strides);
    row = transpose(builder, loc, slice, permutation, place);
  }
  return tensor::InsertSliceOp::create(builder, loc, row, tensor, box.offsets, box.sizes,
                                       box.strides);
}

StepPoint OperandAccess::advance(OpBuilder &builder, Location loc, const StepPoint &point,
                                 Value row) const {
  StepPoint next = point;
  AffineExpr d0, d1;
  bindDims(builder.getContext(), d0, d1);
  next.ivs[timeDim] = applyExpr(builder, loc, d0 + d1, {point.ivs[timeDim], row});
  return next;
}

/// Calls `body(builder, row, accumulator)` for each live row and returns the last accumulator.
static Value forEachRow(OpBuilder &builder, Location loc, OpFoldResult live, Value init,
                        function_ref<Value(OpBuilder &, Value, Value)> body) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value end = getValueOrCreateConstantIndexOp(builder, loc, live);
  return scf::ForOp::create(builder, loc, zero, end, one, init,
                            [&](OpBuilder &b, Location l, Value row, ValueRange args) {
                              scf::YieldOp::create(b, l, body(b, row, args[0]));
                            })
      .getResult(0);
}

/// What a row of the slice type is: the slice without its leading dim.
static Type getRowType(Type slice) {
  auto type = cast<RankedTensorType>(slice);
  if (type.getRank() == 1)
    return type.getElementType();
  return RankedTensorType::get(type.getShape().drop_front(), type.getElementType());
}

/// The live rows of `rows`, then zeros: `numRows` along dim `rowPosition`.
static Value fillTile(OpBuilder &builder, Location loc, Value rows, OpFoldResult live,
                      unsigned rowPosition, int64_t numRows) {
  Type element = cast<RankedTensorType>(rows.getType()).getElementType();
  SmallVector<OpFoldResult> liveSizes = tensor::getMixedSizes(builder, loc, rows),
                            tileSizes = liveSizes, deadSizes = liveSizes;
  tileSizes[rowPosition] = builder.getIndexAttr(numRows);
  deadSizes[rowPosition] = applyExpr(builder, loc, numRows - builder.getAffineDimExpr(0), {live});
  SmallVector<OpFoldResult> origin(liveSizes.size(), builder.getIndexAttr(0)), behind(origin),
      unit(liveSizes.size(), builder.getIndexAttr(1));
  behind[rowPosition] = live;
  Value tile = tensor::EmptyOp::create(builder, loc, tileSizes, element);
  tile = tensor::InsertSliceOp::create(builder, loc, rows, tile, origin, liveSizes, unit);
  Value dead = tensor::ExtractSliceOp::create(builder, loc, tile, behind, deadSizes, unit);
  dead = linalg::FillOp::create(builder, loc, createZero(builder, loc, element), dead).getResult(0);
  return tensor::InsertSliceOp::create(builder, loc, dead, tile, behind, deadSizes, unit);
}

Value OperandAccess::load(OpBuilder &builder, Location loc, Value tensor, const StepPoint &point,
                          Type slice) const {
  if (!point.live || !usesTime())
    return loadRow(builder, loc, tensor, point, slice);
  auto type = cast<RankedTensorType>(slice);
  std::optional<unsigned> rowDim = getRowDim();
  Box box = getBox(builder, loc, tensor, point, slice, rowDim);
  SmallVector<int64_t> permutation = sortingPermutation(box.order);
  if (rowDim) {
    // In the order of the operand's dims.
    RankedTensorType reduced =
        getReducedType(forms, box.sizes, numIterators, rowDim, type.getElementType());
    Value rows = tensor::ExtractSliceOp::create(builder, loc, reduced, tensor, box.offsets,
                                                box.sizes, box.strides);
    Value tile = rows;
    if (getConstantIntValue(point.live) != type.getDimSize(0))
      tile = fillTile(builder, loc, rows, point.live,
                      llvm::find(box.order, timeDim) - box.order.begin(), type.getDimSize(0));
    tile = transpose(builder, loc, tile, permutation);
    return tile.getType() == type ? tile : tensor::CastOp::create(builder, loc, type, tile);
  }
  SmallVector<OpFoldResult> sizes{builder.getIndexAttr(type.getDimSize(0))};
  for (int64_t position : permutation)
    for (auto [index, form] : llvm::enumerate(forms))
      if (form.usesDim(box.order[position]) && box.order[position] >= numIterators)
        sizes.push_back(box.sizes[index]);
  return forEachRow(
      builder, loc, point.live, createZeros(builder, loc, type.getElementType(), sizes),
      [&](OpBuilder &b, Value row, Value rows) {
        Value value = loadRow(b, loc, tensor, advance(b, loc, point, row), getRowType(slice));
        return insertRow(b, loc, value, rows, row);
      });
}

Value OperandAccess::store(OpBuilder &builder, Location loc, Value slice, Value tensor,
                           const StepPoint &point) const {
  if (!point.live || !usesTime())
    return storeRow(builder, loc, slice, tensor, point);
  std::optional<unsigned> rowDim = getRowDim();
  if (!rowDim)
    return forEachRow(builder, loc, point.live, tensor, [&](OpBuilder &b, Value row, Value into) {
      return storeRow(b, loc, extractRow(b, loc, slice, row, getRowType(slice.getType())), into,
                      advance(b, loc, point, row));
    });
  Box box = getBox(builder, loc, tensor, point, slice.getType(), rowDim);
  Value tile =
      transpose(builder, loc, slice, invertPermutationVector(sortingPermutation(box.order)));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tile);
  unsigned rowPosition = llvm::find(box.order, timeDim) - box.order.begin();
  sizes[rowPosition] = point.live;
  SmallVector<OpFoldResult> origin(sizes.size(), builder.getIndexAttr(0)),
      unit(sizes.size(), builder.getIndexAttr(1));
  Value rows = tensor::ExtractSliceOp::create(builder, loc, tile, origin, sizes, unit);
  return tensor::InsertSliceOp::create(builder, loc, rows, tensor, box.offsets, box.sizes,
                                       box.strides);
}
