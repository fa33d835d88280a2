//===- RecurrenceOp.cpp - building and asking a recurrence --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"
#include "linattn/Utils/IndexForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::linattn;

#define GET_OP_CLASSES
#include "linattn/IR/LinAttnOps.cpp.inc"

//===----------------------------------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------------------------------===//

void RecurrenceOp::build(OpBuilder &builder, OperationState &state, ValueRange ins, Value segments,
                         Value positionOffset, ValueRange outs, ValueRange states,
                         ValueRange checkpoints, ArrayRef<IteratorKind> iterators,
                         ArrayRef<AffineMap> indexingMaps, bool reverse,
                         std::optional<int64_t> step, std::optional<int64_t> checkpointInterval) {
  state.addOperands(ins);
  if (segments)
    state.addOperands(segments);
  if (positionOffset)
    state.addOperands(positionOffset);
  state.addOperands(outs);
  state.addOperands(states);
  state.addOperands(checkpoints);
  Properties &properties = state.getOrAddProperties<Properties>();
  int32_t sizes[] = {int32_t(ins.size()),  segments ? 1 : 0,       positionOffset ? 1 : 0,
                     int32_t(outs.size()), int32_t(states.size()), int32_t(checkpoints.size())};
  llvm::copy(sizes, properties.operandSegmentSizes.begin());
  properties.iterators =
      builder.getArrayAttr(llvm::map_to_vector(iterators, [&](IteratorKind kind) -> Attribute {
        return IteratorKindAttr::get(builder.getContext(), kind);
      }));
  properties.indexing_maps = builder.getAffineMapArrayAttr(indexingMaps);
  if (reverse)
    properties.reverse = builder.getUnitAttr();
  if (step)
    properties.step = builder.getI64IntegerAttr(*step);
  if (checkpointInterval)
    properties.checkpoint_interval = builder.getI64IntegerAttr(*checkpointInterval);
  for (ValueRange inits : {outs, states, checkpoints})
    state.addTypes(inits.getTypes());
  state.addRegion();
}

//===----------------------------------------------------------------------------------------------===//
// Iteration space
//===----------------------------------------------------------------------------------------------===//

static std::optional<unsigned> findIterator(RecurrenceOp op, IteratorKind kind) {
  for (unsigned dim = 0, e = op.getNumIterators(); dim < e; ++dim)
    if (op.getIteratorKind(dim) == kind)
      return dim;
  return std::nullopt;
}

unsigned RecurrenceOp::getTimeDim() { return *findIterator(*this, IteratorKind::time); }

std::optional<unsigned> RecurrenceOp::getSegmentDim() {
  return findIterator(*this, IteratorKind::segment);
}

SmallVector<unsigned> RecurrenceOp::getParallelDims() {
  SmallVector<unsigned> dims;
  for (unsigned dim = 0, e = getNumIterators(); dim < e; ++dim)
    if (getIteratorKind(dim) == IteratorKind::parallel)
      dims.push_back(dim);
  return dims;
}

/// Calls `visit(operand, operand dim, iteration dim)` wherever an iteration dim occurs bare. In the
/// maps of checkpoints the time dim counts something else, so it does not count there.
static void visitBareDims(RecurrenceOp op,
                          function_ref<void(OpOperand &, unsigned, unsigned)> visit) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (op.getSegments() &&
        operand.getOperandNumber() == op.getSegmentsMutable().begin()->getOperandNumber())
      continue;
    bool isCheckpoint =
        operand.getOperandNumber() >= op->getNumOperands() - op.getCheckpoints().size();
    for (auto [operandDim, expr] : llvm::enumerate(op.getMap(operand).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || dim.getPosition() >= op.getNumIterators() ||
          (isCheckpoint && dim.getPosition() == op.getTimeDim()))
        continue;
      visit(operand, operandDim, dim.getPosition());
    }
  }
}

SmallVector<int64_t> RecurrenceOp::getStaticExtents() {
  SmallVector<int64_t> extents(getNumIterators(), ShapedType::kDynamic);
  visitBareDims(*this, [&](OpOperand &operand, unsigned operandDim, unsigned dim) {
    int64_t size = cast<RankedTensorType>(operand.get().getType()).getDimSize(operandDim);
    if (ShapedType::isDynamic(extents[dim]))
      extents[dim] = size;
  });
  if (std::optional<unsigned> segment = getSegmentDim()) {
    int64_t offsets = cast<RankedTensorType>(getSegments().getType()).getDimSize(0);
    if (ShapedType::isStatic(offsets))
      extents[*segment] = offsets - 1;
  }
  return extents;
}

OpFoldResult RecurrenceOp::getExtent(OpBuilder &builder, unsigned dim) {
  if (int64_t extent = getStaticExtents()[dim]; ShapedType::isStatic(extent))
    return builder.getIndexAttr(extent);
  Location loc = getLoc();
  if (dim == getSegmentDim()) {
    Value offsets = tensor::DimOp::create(builder, loc, getSegments(), 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    return arith::SubIOp::create(builder, loc, offsets, one).getResult();
  }
  OpFoldResult extent;
  visitBareDims(*this, [&](OpOperand &operand, unsigned operandDim, unsigned bareDim) {
    if (!extent && bareDim == dim)
      extent = tensor::getMixedSize(builder, loc, operand.get(), operandDim);
  });
  return extent;
}

//===----------------------------------------------------------------------------------------------===//
// Operands and body
//===----------------------------------------------------------------------------------------------===//

unsigned RecurrenceOp::getMapIndex(OpOperand &operand) {
  // The offsets of the segments have no map and follow the ins.
  unsigned number = operand.getOperandNumber();
  return getSegments() && number > getIns().size() ? number - 1 : number;
}

AffineMap RecurrenceOp::getMap(OpOperand &operand) {
  return cast<AffineMapAttr>(getIndexingMaps()[getMapIndex(operand)]).getValue();
}

SmallVector<AffineMap> RecurrenceOp::getMaps(MutableOperandRange group) {
  return llvm::map_to_vector(group, [&](OpOperand &operand) { return getMap(operand); });
}

MutableOperandRange RecurrenceOp::getDpsInitsMutable() {
  unsigned count = getOuts().size() + getStates().size() + getCheckpoints().size();
  return MutableOperandRange(getOperation(), getNumOperands() - count, count);
}

YieldOp RecurrenceOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

BlockArgument RecurrenceOp::getLiveArg() {
  return getStep() ? getBody().getArgument(0) : BlockArgument();
}

ArrayRef<BlockArgument> RecurrenceOp::getInArgs() {
  return getBody().getArguments().drop_front(getStep() ? 1 : 0).take_front(getIns().size());
}

ArrayRef<BlockArgument> RecurrenceOp::getStateArgs() {
  return getBody().getArguments().take_back(getStates().size());
}

OperandRange RecurrenceOp::getYieldedOuts() {
  return getYield().getValues().take_front(getOuts().size());
}

OperandRange RecurrenceOp::getYieldedStates() {
  return getYield().getValues().drop_front(getOuts().size());
}

LogicalResult RecurrenceOp::reifyResultShapes(OpBuilder &builder,
                                              ReifiedRankedShapedTypeDims &shapes) {
  for (OpOperand &init : getDpsInitsMutable())
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), init.get()));
  return success();
}
