//===- InPlace.cpp - bodies whose states are updated in place -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/InPlace.h"

#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::linattn;

SmallVector<Operation *> linattn::orderForUpdatesInPlace(ArrayRef<Operation *> ops) {
  SmallVector<Operation *> pending(ops), order;
  DenseSet<Operation *> waiting(ops.begin(), ops.end());
  auto isReady = [&](Operation *op) {
    bool ready = true;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp())
          ready &= !waiting.contains(def);
    });
    return ready;
  };
  while (!pending.empty()) {
    auto next = llvm::find_if(
        pending, [&](Operation *op) { return !isa<DecayOp, WriteOp>(op) && isReady(op); });
    if (next == pending.end())
      next = llvm::find_if(pending, isReady);
    waiting.erase(*next);
    order.push_back(*next);
    pending.erase(next);
  }
  return order;
}

/// True if a value of the body may be, as a view or a choice, the old value of a state other than
/// `own`. Ops with a destination compute a new value.
static bool isOtherState(Value value, BlockArgument own) {
  Operation *def = value.getDefiningOp();
  if (!def) {
    auto op = cast<RecurrenceOp>(value.getParentBlock()->getParentOp());
    return value != own && llvm::is_contained(op.getStateArgs(), value);
  }
  if (isa<DestinationStyleOpInterface, DecayOp, ReadOp, WriteOp>(def) ||
      (def->hasTrait<OpTrait::Elementwise>() && !isa<arith::SelectOp>(def)))
    return false;
  // A loop that computes what it carries has one buffer for it.
  if (auto loop = dyn_cast<scf::ForOp>(def)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (loop.getYieldedValues()[number].getDefiningOp<DestinationStyleOpInterface>())
      return isOtherState(loop.getInitArgs()[number], own);
  }
  bool found = false;
  def->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (!def->isAncestor(operand.getParentBlock()->getParentOp()))
        found |= isOtherState(operand, own);
  });
  return found;
}

static Value copyTensor(OpBuilder &builder, Location loc, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value;
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, value),
                                        type.getElementType());
  return linalg::CopyOp::create(builder, loc, value, empty).getResult(0);
}

void linattn::carryStates(OpBuilder &builder, Location loc, RecurrenceOp op,
                          ArrayRef<unsigned> states, MutableArrayRef<Value> values,
                          ValueRange carried) {
  for (auto [state, value] : llvm::zip_equal(states, values))
    if (isOtherState(op.getYieldedStates()[state], op.getStateArgs()[state]))
      value = copyTensor(builder, loc, value);
  for (auto [value, old] : llvm::zip_equal(values, carried))
    value = carry(builder, loc, value, old);
}
