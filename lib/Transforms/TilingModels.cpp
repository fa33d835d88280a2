//===- TilingModels.cpp - tiling recurrences along parallel dims --------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"
#include "linattn/Transforms/ExternalModels.h"
#include "linattn/Utils/IndexForm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::linattn;

namespace {

/// A tile of a recurrence: an offset and a size for every iteration dim.
struct Tile {
  SmallVector<OpFoldResult> offsets, sizes;
};

/// The part of one operand that a tile uses, and the map from the tile's dims into it.
struct OperandTile {
  SmallVector<OpFoldResult> offsets, sizes;
  AffineMap map;
};

class Tiler {
public:
  Tiler(OpBuilder &builder, RecurrenceOp op) : builder(builder), op(op), loc(op.getLoc()) {}

  Tile getTile(ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes);
  LogicalResult verifyTile(const Tile &tile);
  FailureOr<OperandTile> getOperandTile(OpOperand &operand, const Tile &tile);
  FailureOr<TilingResult> tileOp(const Tile &tile);

private:
  SmallVector<int64_t> getDivisors(unsigned dim);
  OpFoldResult apply(AffineExpr expr, ArrayRef<OpFoldResult> values) {
    return affine::makeComposedFoldedAffineApply(builder, loc,
                                                 AffineMap::get(values.size(), 0, expr), values);
  }
  OpFoldResult getDigitCount(const IndexDigit &digit, OpFoldResult count);
  OpFoldResult getSliceExtent(OpOperand &operand, unsigned operandDim, unsigned sliceDim);
  void shiftIndices(RecurrenceOp tiled, const Tile &tile, unsigned firstOffset);

  OpBuilder &builder;
  RecurrenceOp op;
  Location loc;
};

} // namespace

Tile Tiler::getTile(ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {
  Tile tile;
  unsigned next = 0;
  for (unsigned dim = 0; dim < op.getNumIterators(); ++dim) {
    bool isTiled = op.getIteratorKind(dim) == IteratorKind::parallel;
    tile.offsets.push_back(isTiled ? offsets[next] : builder.getIndexAttr(0));
    tile.sizes.push_back(isTiled ? sizes[next++] : op.getExtent(builder, dim));
  }
  return tile;
}

/// The constants by which some map divides `dim`.
SmallVector<int64_t> Tiler::getDivisors(unsigned dim) {
  SmallVector<int64_t> divisors;
  for (Attribute attribute : op.getIndexingMaps()) {
    SmallVector<IndexForm> forms = *getIndexForms(cast<AffineMapAttr>(attribute).getValue());
    for (const IndexForm &form : forms)
      for (const IndexTerm &term : form.terms)
        if (term.digit.dim == dim)
          for (int64_t divisor : {term.digit.low, term.digit.high})
            if (divisor > 1 && !llvm::is_contained(divisors, divisor))
              divisors.push_back(divisor);
  }
  llvm::sort(divisors);
  return divisors;
}

LogicalResult Tiler::verifyTile(const Tile &tile) {
  SmallVector<int64_t> extents = op.getStaticExtents();
  for (unsigned dim : op.getParallelDims()) {
    SmallVector<int64_t> divisors = getDivisors(dim);
    std::optional<int64_t> size = getConstantIntValue(tile.sizes[dim]);
    std::optional<int64_t> offset = getConstantIntValue(tile.offsets[dim]);
    bool isWhole = size && *size == extents[dim];
    bool isMultiple = size && llvm::all_of(divisors, [&](int64_t divisor) {
                        return *size % divisor == 0 && (!offset || *offset % divisor == 0);
                      });
    if (divisors.empty() || size == 1 || isWhole || isMultiple)
      continue;
    InFlightDiagnostic diag = op.emitOpError()
                              << "cannot be tiled along iteration dim #" << dim
                              << ": expects tiles of 1, of the whole extent or of a multiple of ";
    llvm::interleaveComma(divisors, diag);
    diag << ", by which maps divide the dim, got ";
    if (size)
      return diag << *size;
    return diag << "a size that is not constant; choose one that divides the extent";
  }
  return success();
}

/// The number of values of a digit if its dim takes `count` consecutive ones, as a legal tile does.
OpFoldResult Tiler::getDigitCount(const IndexDigit &digit, OpFoldResult count) {
  SmallVector<AffineExpr> bounds{builder.getAffineDimExpr(0).ceilDiv(digit.low)};
  if (digit.high)
    bounds.push_back(builder.getAffineConstantExpr(digit.high / digit.low));
  return affine::makeComposedFoldedAffineMin(
      builder, loc, AffineMap::get(1, 0, bounds, op.getContext()), {count});
}

/// The extent of a slice dim: what the body sees, or the whole operand dim if that is dynamic.
OpFoldResult Tiler::getSliceExtent(OpOperand &operand, unsigned operandDim, unsigned sliceDim) {
  unsigned number = operand.getOperandNumber(), numIns = op.getIns().size();
  unsigned result = number - (op->getNumOperands() - op->getNumResults());
  Type slice;
  if (number < numIns)
    slice = op.getInArgs()[number].getType();
  else if (result < op.getYield().getNumOperands())
    slice = op.getYield().getOperand(result).getType();
  else // a checkpoint
    slice = op.getYieldedStates()[result - op.getYield().getNumOperands()].getType();
  auto type = cast<RankedTensorType>(slice);
  unsigned numSliceDims = op.getNumSliceDims(op.getMap(operand));
  int64_t extent = type.getDimSize(type.getRank() - numSliceDims + sliceDim);
  return ShapedType::isDynamic(extent)
             ? tensor::getMixedSize(builder, loc, operand.get(), operandDim)
             : OpFoldResult(builder.getIndexAttr(extent));
}

FailureOr<OperandTile> Tiler::getOperandTile(OpOperand &operand, const Tile &tile) {
  AffineMap map = op.getMap(operand);
  unsigned numIterators = op.getNumIterators();
  SmallVector<OpFoldResult> origin(tile.offsets);
  origin.append(map.getNumDims() - numIterators, builder.getIndexAttr(0));
  OperandTile result;
  SmallVector<AffineExpr> exprs;
  for (auto [position, form] : llvm::enumerate(*getIndexForms(map))) {
    auto isTiled = [&](const IndexTerm &term) {
      return term.digit.dim < numIterators &&
             op.getIteratorKind(term.digit.dim) == IteratorKind::parallel;
    };
    if (llvm::none_of(form.terms, isTiled)) {
      result.offsets.push_back(builder.getIndexAttr(0));
      result.sizes.push_back(tensor::getMixedSize(builder, loc, operand.get(), position));
      exprs.push_back(form.getExpr(op.getContext()));
      continue;
    }
    // From the first index that the tile reaches to the last.
    result.offsets.push_back(apply(form.getExpr(op.getContext()), origin));
    OpFoldResult size = builder.getIndexAttr(1);
    for (const IndexTerm &term : form.terms) {
      if (term.coefficient < 0) {
        op.emitOpError() << "cannot be tiled: the indexing map of operand #"
                         << operand.getOperandNumber()
                         << " runs backwards along a parallel dim; expects positive coefficients";
        return failure();
      }
      unsigned dim = term.digit.dim;
      OpFoldResult count = dim < numIterators
                               ? getDigitCount(term.digit, tile.sizes[dim])
                               : getSliceExtent(operand, position, dim - numIterators);
      AffineExpr d0, d1;
      bindDims(op.getContext(), d0, d1);
      size = apply(d0 + (d1 - 1) * term.coefficient, {size, count});
    }
    result.sizes.push_back(size);
    IndexForm local = form;
    local.constant = 0;
    exprs.push_back(local.getExpr(op.getContext()));
  }
  result.map = AffineMap::get(map.getNumDims(), 0, exprs, op.getContext());
  return result;
}

/// Indices of tiled dims count from the tile's offset, which comes in as a scalar input.
void Tiler::shiftIndices(RecurrenceOp tiled, const Tile &tile, unsigned firstOffset) {
  SmallVector<IndexOp> indices;
  tiled.getBody().walk<WalkOrder::PreOrder>([&](Operation *nested) {
    if (isa<RecurrenceOp>(nested))
      return WalkResult::skip(); // its indices are its own
    if (auto index = dyn_cast<IndexOp>(nested))
      indices.push_back(index);
    return WalkResult::advance();
  });
  SmallVector<unsigned> parallel = tiled.getParallelDims();
  for (IndexOp index : indices) {
    auto position = llvm::find(parallel, index.getDim());
    if (position == parallel.end())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(index);
    Value offset = tiled.getInArgs()[firstOffset + (position - parallel.begin())];
    auto shifted = arith::AddIOp::create(builder, loc, index, offset);
    index.getResult().replaceAllUsesExcept(shifted, shifted);
  }
}

FailureOr<TilingResult> Tiler::tileOp(const Tile &tile) {
  if (failed(verifyTile(tile)))
    return failure();
  SmallVector<Value> ins, outs, states, checkpoints;
  SmallVector<AffineMap> maps;
  SmallVector<Operation *> slices;
  Value positionOffset;
  auto cut = [&](OpOperand &operand) -> FailureOr<Value> {
    if (!isa<RankedTensorType>(operand.get().getType())) {
      maps.push_back(op.getMap(operand));
      return operand.get();
    }
    FailureOr<OperandTile> part = getOperandTile(operand, tile);
    if (failed(part))
      return failure();
    maps.push_back(part->map);
    SmallVector<OpFoldResult> strides(part->sizes.size(), builder.getIndexAttr(1));
    auto slice = tensor::ExtractSliceOp::create(builder, loc, operand.get(), part->offsets,
                                                part->sizes, strides);
    slices.push_back(slice);
    return slice.getResult();
  };
  auto cutAll = [&](MutableOperandRange group, SmallVectorImpl<Value> &values) {
    for (OpOperand &operand : group) {
      FailureOr<Value> value = cut(operand);
      if (failed(value))
        return failure();
      values.push_back(*value);
    }
    return success();
  };
  if (failed(cutAll(op.getInsMutable(), ins)))
    return failure();
  // A program that asks for indices of tiled dims gets the offsets of the tile.
  bool usesIndex = false;
  op.getBody().walk([&](IndexOp index) {
    usesIndex |= op.getIteratorKind(index.getDim()) == IteratorKind::parallel;
  });
  unsigned firstOffset = ins.size();
  if (usesIndex)
    for (unsigned dim : op.getParallelDims()) {
      ins.push_back(getValueOrCreateConstantIndexOp(builder, loc, tile.offsets[dim]));
      maps.push_back(AffineMap::get(op.getNumIterators(), 0, {}, op.getContext()));
    }
  if (op.getPositionOffset()) {
    FailureOr<Value> value = cut(*op.getPositionOffsetMutable().begin());
    if (failed(value))
      return failure();
    positionOffset = *value;
  }
  if (failed(cutAll(op.getOutsMutable(), outs)) || failed(cutAll(op.getStatesMutable(), states)) ||
      failed(cutAll(op.getCheckpointsMutable(), checkpoints)))
    return failure();

  SmallVector<IteratorKind> iterators;
  for (unsigned dim = 0; dim < op.getNumIterators(); ++dim)
    iterators.push_back(op.getIteratorKind(dim));
  auto tiled = RecurrenceOp::create(builder, loc, ins, op.getSegments(), positionOffset, outs,
                                    states, checkpoints, iterators, maps, op.getReverse(),
                                    op.getStep(), op.getCheckpointInterval());
  tiled->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  tiled.setPlanAttr(op.getPlanAttr());
  IRMapping mapping;
  op.getBody().cloneInto(&tiled.getBody(), mapping);
  if (usesIndex) {
    unsigned position = tiled.getBody().getNumArguments() - op.getStates().size();
    for (unsigned added = 0; added < op.getParallelDims().size(); ++added)
      tiled.getBody().insertArgument(position++, builder.getIndexType(), loc);
    shiftIndices(tiled, tile, firstOffset);
  }
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

namespace {
struct RecurrenceTiling : TilingInterface::ExternalModel<RecurrenceTiling, RecurrenceOp> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return SmallVector<utils::IteratorType>(cast<RecurrenceOp>(op).getParallelDims().size(),
                                            utils::IteratorType::parallel);
  }

  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &builder) const {
    auto recurrence = cast<RecurrenceOp>(op);
    return llvm::map_to_vector(recurrence.getParallelDims(), [&](unsigned dim) {
      return Range{builder.getIndexAttr(0), recurrence.getExtent(builder, dim),
                   builder.getIndexAttr(1)};
    });
  }

  FailureOr<TilingResult> getTiledImplementation(Operation *op, OpBuilder &builder,
                                                 ArrayRef<OpFoldResult> offsets,
                                                 ArrayRef<OpFoldResult> sizes) const {
    Tiler tiler(builder, cast<RecurrenceOp>(op));
    return tiler.tileOp(tiler.getTile(offsets, sizes));
  }

  LogicalResult getResultTilePosition(Operation *op, OpBuilder &builder, unsigned result,
                                      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                      SmallVector<OpFoldResult> &resultOffsets,
                                      SmallVector<OpFoldResult> &resultSizes) const {
    auto recurrence = cast<RecurrenceOp>(op);
    Tiler tiler(builder, recurrence);
    FailureOr<OperandTile> part = tiler.getOperandTile(
        *recurrence.getTiedOpOperand(op->getResult(result)), tiler.getTile(offsets, sizes));
    if (failed(part))
      return failure();
    resultOffsets = part->offsets;
    resultSizes = part->sizes;
    return success();
  }
};
} // namespace

void linattn::registerTilingInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LinAttnDialect *) {
    RecurrenceOp::attachInterface<RecurrenceTiling>(*context);
    context->loadDialect<affine::AffineDialect, arith::ArithDialect, tensor::TensorDialect>();
  });
}
