//===- ChunkSequential.cpp - what is run token by token inside a chunk --------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// A component without a chunk form becomes a loop over the rows of the chunk that are tokens. It
// carries the component's states and, for every value that is computed inside and needed outside, a
// tensor with a row per token: from there on the value is lifted like any other. Inside are the ops
// that lead to the new states, and those that would need the rows of a whole state outside. Single
// ops without a lifted form, such as an scf.if, become a loop without states.
//
//===----------------------------------------------------------------------------------------------===//

#include "ChunkBody.h"

#include "linattn/Transforms/InPlace.h"
#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::linattn;
using llvm::SmallBitVector;

static bool isMatrix(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 1;
}

//===----------------------------------------------------------------------------------------------===//
// What is inside
//===----------------------------------------------------------------------------------------------===//

/// Ops that outs or new states need.
static DenseSet<Operation *> getLiveOps(RecurrenceOp op) {
  Block &block = op.getBody().front();
  DenseSet<Operation *> live{block.getTerminator()};
  for (Operation &nested : llvm::reverse(block.without_terminator()))
    for (Operation *user : nested.getUsers())
      if (live.contains(block.findAncestorOpInBlock(*user)))
        live.insert(&nested);
  return live;
}

/// Chooses the ops of the loop of every sequential component.
void ChunkBody::planLoops() {
  live = getLiveOps(token);
  for (const StateComponent &component : graph.getComponents())
    if (component.isRunInOrder)
      planLoop(component);
}

void ChunkBody::planLoop(const StateComponent &component) {
  SmallBitVector members(states.size());
  for (unsigned state : component.states)
    members.set(state);
  auto isOwn = [&](Value value) { return graph.getSources(value).anyCommon(members); };
  // Ops that can be inside: all that they need is known when the loop begins or computed inside.
  DenseSet<Operation *> possible;
  SetVector<Operation *> inside;
  for (Operation &nested : token.getBody().front().without_terminator()) {
    SmallBitVector sources = graph.getSources(&nested);
    if (!sources.anyCommon(members) || !live.contains(&nested))
      continue;
    bool isPossible = !isStepOfChunk(&nested);
    for (unsigned source : sources.set_bits())
      isPossible &= members[source] || !graph.feeds(component.states.front(), source);
    bool usesMatrix = false;
    for (Value used : getUsedValues(&nested)) {
      if (!isOwn(used))
        continue;
      isPossible &= !used.getDefiningOp() || possible.contains(used.getDefiningOp());
      usesMatrix |= isMatrix(used);
    }
    if (!isPossible)
      continue;
    possible.insert(&nested);
    if (usesMatrix || !hasLiftedForm(&nested))
      inside.insert(&nested);
  }
  for (unsigned state : component.states)
    if (Operation *def = token.getYieldedStates()[state].getDefiningOp(); possible.contains(def))
      inside.insert(def);
  for (size_t index = 0; index < inside.size(); ++index)
    for (Value used : getUsedValues(inside[index]))
      if (isOwn(used) && used.getDefiningOp())
        inside.insert(used.getDefiningOp());
  for (Operation *nested : inside)
    loops[nested] = &component;
}

/// True for reads, decays and writes of a state that has a chunk form, and for loops with reads.
bool ChunkBody::isStepOfChunk(Operation *op) {
  return op
      ->walk([&](Operation *nested) {
        const StateInfo *info =
            isa<DecayOp, ReadOp, WriteOp>(nested) ? graph.lookup(nested) : nullptr;
        bool isStep = info && info->stateClass == StateClass::lowRank;
        return isStep ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The component in whose loop a value is computed; null if there is none.
const StateComponent *ChunkBody::getLoop(Value value) {
  if (Operation *def = value.getDefiningOp())
    return loops.lookup(def);
  auto stateArgs = token.getStateArgs();
  auto position = llvm::find(stateArgs, value);
  if (position == stateArgs.end())
    return nullptr;
  unsigned state = position - stateArgs.begin();
  return llvm::find_if(graph.getComponents(), [&](const StateComponent &component) {
    return llvm::is_contained(component.states, state);
  });
}

/// True if `value`, which the loop of `component` computes, is used elsewhere.
bool ChunkBody::isNeededOutside(Value value, const StateComponent *component) {
  Block &block = token.getBody().front();
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = block.findAncestorOpInBlock(*use.getOwner());
    if (user != block.getTerminator())
      return live.contains(user) && (!component || loops.lookup(user) != component);
    int64_t state = int64_t(use.getOperandNumber()) - int64_t(token.getOuts().size());
    return state < 0 || !component || !llvm::is_contained(component->states, state);
  });
}

//===----------------------------------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------------------------------===//

/// Runs a component token by token; `states` get their values after the chunk.
LogicalResult ChunkBody::runComponent(const StateComponent &component) {
  SmallVector<Operation *> ops;
  for (Operation &nested : token.getBody().front().without_terminator())
    if (loops.lookup(&nested) == &component)
      ops.push_back(&nested);
  return runRows(&component, ops);
}

/// One op for every row.
LogicalResult ChunkBody::runOp(Operation *op) {
  rowByRow.push_back(op);
  return runRows(nullptr, op);
}

/// The loop of a component, or of an op that depends on no state.
LogicalResult ChunkBody::runRows(const StateComponent *component, ArrayRef<Operation *> ops) {
  ArrayRef<unsigned> members = component ? ArrayRef(component->states) : ArrayRef<unsigned>();
  SmallVector<Value> inner, kept, yielded;
  for (unsigned state : members) {
    inner.push_back(token.getStateArgs()[state]);
    yielded.push_back(token.getYieldedStates()[state]);
  }
  for (Operation *op : ops)
    llvm::append_range(inner, op->getResults());
  for (Value value : inner) {
    if (!isNeededOutside(value, component))
      continue;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type ? !type.hasStaticShape() : !RankedTensorType::isValidElementType(value.getType())) {
      Operation *def = value.getDefiningOp();
      culprit = def ? def : token.getOperation();
      return failure();
    }
    kept.push_back(value);
  }
  SetVector<Value> outer;
  for (Operation *op : ops)
    outer.insert_range(getUsedValues(op));
  outer.insert_range(yielded);
  for (Value value : inner)
    outer.remove(value);
  for (Value value : outer)
    if (failed(get(value)))
      return failure();

  SmallVector<Value> carried =
      llvm::map_to_vector(members, [&](unsigned state) { return states[state].state; });
  for (Value value : kept)
    carried.push_back(
        createZeros(builder, loc, getElementTypeOrSelf(value.getType()),
                    getAsIndexOpFoldResult(builder.getContext(),
                                           lifting.getLiftedType(value.getType()).getShape())));
  Value begin = arith::ConstantIndexOp::create(builder, loc, 0), end = chunk.getLiveArg(),
        one = arith::ConstantIndexOp::create(builder, loc, 1);
  if (token.getReverse()) { // the rows that are no tokens come first
    Value count = arith::ConstantIndexOp::create(builder, loc, rows);
    begin = arith::SubIOp::create(builder, loc, count, end);
    end = count;
  }
  auto loop = scf::ForOp::create(builder, loc, begin, end, one, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  IRMapping mapping;
  for (Value value : outer)
    mapping.map(value, lifting.isLifted(value)
                           ? extractRow(builder, loc, lifting.lookup(value), row, value.getType())
                           : lifting.lookup(value));
  auto stateArgs = loop.getRegionIterArgs().take_front(members.size());
  mapping.map(ArrayRef(inner).take_front(members.size()), stateArgs);
  SmallVector<Value> next(loop.getRegionIterArgs());
  auto keep = [&](ValueRange values) {
    for (Value value : values)
      if (auto position = llvm::find(kept, value); position != kept.end()) {
        Value &tensor = next[members.size() + (position - kept.begin())];
        tensor = insertRow(builder, loc, mapping.lookup(value), tensor, row);
      }
  };
  // At once, before the states change in place.
  keep(ArrayRef(inner).take_front(members.size()));
  for (Operation *op : orderForUpdatesInPlace(ops)) {
    Operation *copy = builder.clone(*op, mapping);
    copy->walk([&](IndexOp index) {
      if (index->getParentOfType<RecurrenceOp>() != chunk || index.getDim() != token.getTimeDim())
        return;
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(index);
      index.replaceAllUsesWith(lifting.getToken(builder, loc, row));
    });
    keep(op->getResults());
  }
  SmallVector<Value> newStates =
      llvm::map_to_vector(yielded, [&](Value value) { return mapping.lookup(value); });
  carryStates(builder, loc, token, members, newStates, stateArgs);
  llvm::copy(newStates, next.begin());
  if (!next.empty())
    scf::YieldOp::create(builder, loc, next);
  for (auto [state, result] : llvm::zip(members, loop.getResults())) {
    states[state].after = result;
    states[state].isReady = true;
  }
  for (auto [value, result] : llvm::zip_equal(kept, loop.getResults().drop_front(members.size()))) {
    lifting.setLifted(value, result);
    zeroOnDeadRows.insert(value);
  }
  return success();
}
