//===- ColumnsLast.cpp - states with their value columns along the last axis --------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Vectors run along the last axis of a tensor. If a read contracts that axis, every entry of its
// result ends in a sum over lanes; along the value columns, nothing is summed. Only what is seen in
// the body changes: operands stay where they are, and the lowering transposes what it loads, which
// for states and for what all tokens share is done outside of the loop over time.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/ColumnsLast.h"

#include "PassFrame.h"

#include "linattn/Analysis/StateGraph.h"
#include "linattn/Analysis/ValueAxes.h"
#include "linattn/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_COLUMNSLASTPASS
#include "linattn/Transforms/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;
using linalg::GenericOp;

namespace {

/// Moves the columns of one recurrence.
class ColumnMover {
public:
  ColumnMover(RewriterBase &rewriter, RecurrenceOp op) : rewriter(rewriter), op(op), axes(op) {}

  bool isNeeded();
  /// Why the columns stay where they are; null if they can move.
  const char *getObstacle();
  void move();

private:
  bool isMoved(Value value) const {
    std::optional<unsigned> axis = axes.getAxis(value);
    return axis && *axis + 1 != getRank(value);
  }
  bool touchesMoved(Operation *nested) const {
    auto moved = [&](Value value) { return isMoved(value); };
    return llvm::any_of(nested->getOperands(), moved) || llvm::any_of(nested->getResults(), moved);
  }
  static unsigned getRank(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getRank() : 0;
  }
  SmallVector<int64_t> getOrder(Value value) const;
  unsigned getNewAxis(Value value, unsigned axis) const;
  void setType(Value value);
  AffineMap getMap(OpOperand &operand, Value slice);
  bool isReadAcross(OpOperand &operand, Value slice);

  void moveGeneric(GenericOp generic);
  void moveDecay(DecayOp decay);
  void moveOp(Operation *nested);

  RewriterBase &rewriter;
  RecurrenceOp op;
  ValueAxes axes;
};

} // namespace

//===----------------------------------------------------------------------------------------------===//
// Whether to move
//===----------------------------------------------------------------------------------------------===//

bool ColumnMover::isNeeded() {
  return axes.getExtent() &&
         llvm::any_of(op.getStateArgs(), [&](Value state) { return isMoved(state); });
}

/// True if the rows of an operand lie across the columns: every token would be transposed.
bool ColumnMover::isReadAcross(OpOperand &operand, Value slice) {
  AffineMap map = op.getMap(operand);
  std::optional<unsigned> axis = axes.getAxis(slice);
  if (!axis || !op.usesTime(map) || op.getNumSliceDims(map) < 2)
    return false;
  AffineExpr column = rewriter.getAffineDimExpr(op.getNumIterators() + *axis);
  AffineExpr last = map.getResults().back();
  return !last.isFunctionOfDim(cast<AffineDimExpr>(column).getPosition());
}

const char *ColumnMover::getObstacle() {
  if (op.getStep())
    return "it steps over several tokens";
  if (StateGraph(op).isChunkable())
    return "it is run in chunks";
  for (Value state : op.getStateArgs()) {
    auto type = dyn_cast<RankedTensorType>(state.getType());
    if (isMoved(state) && *axes.getExtent() < type.getShape().back())
      return "its rows are longer than its columns are many";
  }
  for (auto [operand, arg] : llvm::zip_equal(op.getInsMutable(), op.getInArgs()))
    if (isReadAcross(operand, arg))
      return "an input of every token has its rows across the value columns";
  for (auto [operand, value] : llvm::zip_equal(op.getOutsMutable(), op.getYieldedOuts()))
    if (isReadAcross(operand, value))
      return "an out has its rows across the value columns";
  for (Operation &nested : op.getBody().front().without_terminator()) {
    if (!touchesMoved(&nested))
      continue;
    for (ValueRange values : {ValueRange(nested.getOperands()), ValueRange(nested.getResults())})
      for (Value value : values)
        if (isMoved(value) && !cast<RankedTensorType>(value.getType()).hasStaticShape())
          return "a tensor of dynamic shape has value columns";
    if (!isa<DecayOp, ReadOp, WriteOp, linalg::LinalgOp, tensor::EmptyOp, tensor::SplatOp,
             arith::ConstantOp>(nested) &&
        !OpTrait::hasElementwiseMappableTraits(&nested))
      return "an op has no form with its columns last";
  }
  return nullptr;
}

//===----------------------------------------------------------------------------------------------===//
// What moves
//===----------------------------------------------------------------------------------------------===//

/// The old axes in their new order.
SmallVector<int64_t> ColumnMover::getOrder(Value value) const {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, getRank(value)));
  if (std::optional<unsigned> axis = axes.getAxis(value)) {
    order.erase(order.begin() + *axis);
    order.push_back(*axis);
  }
  return order;
}

unsigned ColumnMover::getNewAxis(Value value, unsigned axis) const {
  SmallVector<int64_t> order = getOrder(value);
  return llvm::find(order, int64_t(axis)) - order.begin();
}

void ColumnMover::setType(Value value) {
  if (!isMoved(value))
    return;
  auto type = cast<RankedTensorType>(value.getType());
  value.setType(type.clone(applyPermutation(type.getShape(), getOrder(value))));
}

/// An operand's map, whose slice dims are numbered in the order of the slice's axes.
AffineMap ColumnMover::getMap(OpOperand &operand, Value slice) {
  AffineMap map = op.getMap(operand);
  if (!isMoved(slice))
    return map;
  unsigned numIterators = op.getNumIterators();
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
    dims.push_back(rewriter.getAffineDimExpr(
        dim < numIterators ? dim : numIterators + getNewAxis(slice, dim - numIterators)));
  return map.replaceDimsAndSymbols(dims, {}, map.getNumDims(), 0);
}

/// New maps, and the loop along the columns inside all others.
void ColumnMover::moveGeneric(GenericOp generic) {
  SmallVector<AffineMap> maps;
  std::optional<unsigned> columnLoop;
  for (OpOperand &operand : generic->getOpOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    if (std::optional<unsigned> axis = axes.getAxis(operand.get()))
      columnLoop = map.getDimPosition(*axis);
    SmallVector<AffineExpr> exprs;
    for (int64_t axis : getOrder(operand.get()))
      exprs.push_back(map.getResult(axis));
    maps.push_back(AffineMap::get(map.getNumDims(), 0, exprs, op.getContext()));
  }
  generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  for (Value result : generic->getResults())
    setType(result);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, generic.getNumLoops()));
  order.erase(order.begin() + *columnLoop);
  order.push_back(*columnLoop);
  if (!llvm::is_sorted(order))
    (void)interchangeGenericOp(rewriter, generic, order);
}

/// Axis p of what it decays by belongs to the p-th axis of its list.
void ColumnMover::moveDecay(DecayOp decay) {
  SmallVector<int64_t> list;
  for (int64_t position : getOrder(decay.getBy()))
    list.push_back(getNewAxis(decay.getState(), decay.getAxes()[position]));
  decay.setAxes(list);
  setType(decay.getResult());
}

void ColumnMover::moveOp(Operation *nested) {
  if (auto generic = dyn_cast<GenericOp>(nested))
    return moveGeneric(generic);
  if (auto decay = dyn_cast<DecayOp>(nested))
    return moveDecay(decay);
  if (auto read = dyn_cast<ReadOp>(nested))
    return read.setAxis(getNewAxis(read.getState(), read.getAxis()));
  if (auto write = dyn_cast<WriteOp>(nested))
    write.setAxis(getNewAxis(write.getState(), write.getAxis()));
  for (Value result : nested->getResults())
    setType(result);
  if (auto constant = dyn_cast<arith::ConstantOp>(nested)) {
    auto fill = cast<DenseElementsAttr>(constant.getValue());
    constant.setValueAttr(fill.resizeSplat(cast<ShapedType>(constant.getType())));
  }
}

void ColumnMover::move() {
  OpBuilder::InsertionGuard guard(rewriter);
  Block &body = op.getBody().front();
  // Attributes of named ops speak of axes; loops and maps do not.
  SmallVector<linalg::LinalgOp> named;
  for (auto linalgOp : body.getOps<linalg::LinalgOp>())
    if (!isa<GenericOp>(linalgOp) && touchesMoved(linalgOp))
      named.push_back(linalgOp);
  for (linalg::LinalgOp linalgOp : named) {
    rewriter.setInsertionPoint(linalgOp);
    (void)linalg::generalizeNamedOp(rewriter, linalgOp);
  }
  axes = ValueAxes(op);

  SmallVector<AffineMap> maps;
  for (auto [operand, arg] : llvm::zip_equal(op.getInsMutable(), op.getInArgs()))
    maps.push_back(getMap(operand, arg));
  for (OpOperand &offset : op.getPositionOffsetMutable())
    maps.push_back(op.getMap(offset));
  for (auto [operand, value] : llvm::zip_equal(op.getOutsMutable(), op.getYieldedOuts()))
    maps.push_back(getMap(operand, value));
  for (auto [operand, arg] : llvm::zip_equal(op.getStatesMutable(), op.getStateArgs()))
    maps.push_back(getMap(operand, arg));
  for (auto [operand, arg] : llvm::zip(op.getCheckpointsMutable(), op.getStateArgs()))
    maps.push_back(getMap(operand, arg));

  SmallVector<Operation *> moved;
  for (Operation &nested : body.without_terminator())
    if (touchesMoved(&nested))
      moved.push_back(&nested);
  // The old types say which axes are the columns: arguments last.
  rewriter.modifyOpInPlace(op, [&] {
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    for (Operation *nested : llvm::reverse(moved))
      moveOp(nested);
    for (BlockArgument arg : body.getArguments())
      setType(arg);
  });
}

//===----------------------------------------------------------------------------------------------===//
// Doors
//===----------------------------------------------------------------------------------------------===//

static remark::RemarkOpts getRemark() {
  return remark::RemarkOpts::name("columns-last").category("linattn-columns-last");
}

LogicalResult linattn::putColumnsLast(RewriterBase &rewriter, RecurrenceOp op) {
  ColumnMover mover(rewriter, op);
  if (!mover.isNeeded())
    return rewriter.notifyMatchFailure(op, "its value columns are last");
  if (const char *obstacle = mover.getObstacle()) {
    remark::missed(op.getLoc(), getRemark()) << obstacle;
    return rewriter.notifyMatchFailure(op, obstacle);
  }
  mover.move();
  remark::passed(op.getLoc(), getRemark()) << "value columns are the last axis";
  return success();
}

namespace {
struct ColumnsLast : linattn::impl::ColumnsLastPassBase<ColumnsLast> {
  void runOnOperation() override {
    rewriteRecurrences(getOperation(), [&](RewriterBase &rewriter, RecurrenceOp op) {
      (void)putColumnsLast(rewriter, op);
    });
  }
};
} // namespace
