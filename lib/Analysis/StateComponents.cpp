//===- StateComponents.cpp - which states depend on which ---------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "ScanForms.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::linattn;
using llvm::SmallBitVector;

/// Calls `action` for every value that `op` uses, inside its regions, too.
static void forEachUsed(Operation *op, function_ref<void(Value)> action) {
  op->walk([&](Operation *nested) { llvm::for_each(nested->getOperands(), action); });
}

/// Follows the states through one token.
void StateGraph::findSources(RecurrenceOp op) {
  for (auto [index, state] : llvm::enumerate(op.getStateArgs()))
    sources.try_emplace(state, SmallBitVector(states.size())).first->second.set(index);
  for (Operation &nested : op.getBody().front().without_terminator()) {
    SmallBitVector used = getSources(&nested);
    if (used.any())
      for (Value result : nested.getResults())
        sources[result] = used;
  }
}

SmallBitVector StateGraph::getSources(Operation *op) const {
  SmallBitVector used(states.size());
  forEachUsed(op, [&](Value value) { used |= getSources(value); });
  return used;
}

bool StateGraph::feedsStates(ReadOp read) {
  auto recurrence = read->getParentOfType<RecurrenceOp>();
  Block &body = recurrence.getBody().front();
  SetVector<Operation *> worklist;
  worklist.insert(body.findAncestorOpInBlock(*read));
  for (unsigned i = 0; i < worklist.size(); ++i)
    for (OpOperand &use : worklist[i]->getUses()) {
      Operation *user = body.findAncestorOpInBlock(*use.getOwner());
      if (isa<WriteOp, DecayOp>(user))
        return true;
      if (user != body.getTerminator())
        worklist.insert(user);
      else if (use.getOperandNumber() >= recurrence.getYieldedOuts().size())
        return true;
    }
  return false;
}

/// What a loop over the tokens computes and other states are needed for, token by token: the op may
/// see the whole of another state only if that state is carried by the same loop. Adds the edges
/// that put them there; true if there are new ones.
bool StateGraph::joinWhatLoopsNeed(RecurrenceOp op, const StateComponent &component) {
  SmallBitVector members(states.size());
  for (unsigned state : component.states)
    members.set(state);
  // Back from the new states, as far as ops depend on the component.
  SmallVector<Value> worklist;
  for (unsigned state : component.states)
    worklist.push_back(op.getYieldedStates()[state]);
  DenseSet<Operation *> visited;
  bool changed = false;
  auto join = [&](Operation *user, Value value) {
    bool isMatrix = isa<RankedTensorType>(value.getType()) &&
                    cast<RankedTensorType>(value.getType()).getRank() > 1;
    SmallBitVector seen = getSources(value);
    for (unsigned other : seen.set_bits()) {
      StateInfo &info = states[other];
      if (info.stateClass == StateClass::lowRank) {
        if (!info.values.contains(value))
          continue;
        info.stateClass = StateClass::sequential;
        info.form = "";
        info.culprit = user;
        info.reason = ("state #" + Twine(component.states.front()) +
                       ", which is run token by token, needs it at every token")
                          .str();
      } else {
        // Not needed, but it saves the rows of a matrix: unless a chunk would be lost for it.
        bool isBetween = llvm::any_of(states, [&](const StateInfo &between) {
          return between.stateClass == StateClass::lowRank && feeds(other, between.index) &&
                 feeds(between.index, component.states.front());
        });
        if (!isMatrix || isBetween)
          continue;
      }
      successors[component.states.front()].set(other);
      changed = true;
    }
  };
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (!def || !getSources(def).anyCommon(members) || !visited.insert(def).second)
      continue;
    forEachUsed(def, [&](Value value) {
      if (getSources(value).anyCommon(members))
        worklist.push_back(value);
      else
        join(def, value);
    });
  }
  return changed;
}

/// A loop is lifted only if all states that it reads have a chunk form. True if states are changed.
bool StateGraph::joinWhatLoopsRead(RecurrenceOp op) {
  bool changed = false;
  for (Operation &nested : op.getBody().front()) {
    SmallVector<StateInfo *> chunks;
    ReadOp other;
    if (nested.getNumRegions() != 0)
      nested.walk([&](ReadOp read) {
        auto *info = const_cast<StateInfo *>(lookup(read));
        if (info && info->stateClass == StateClass::lowRank)
          chunks.push_back(info);
        else
          other = read;
      });
    for (StateInfo *info : chunks) {
      if (!other || info->stateClass != StateClass::lowRank)
        continue;
      info->stateClass = StateClass::sequential;
      info->culprit = other;
      info->reason = "a loop that reads it reads a state that is run token by token, too";
      changed = true;
    }
  }
  return changed;
}

void StateGraph::findComponents(RecurrenceOp op) {
  size_t count = states.size();
  successors.assign(count, SmallBitVector(count));
  for (auto [to, value] : llvm::enumerate(op.getYieldedStates())) {
    SmallBitVector seen = getSources(value);
    for (unsigned from : seen.set_bits())
      successors[from].set(to);
  }
  for (const StateLevels &group : levels)
    for (unsigned a : group.states)
      for (unsigned b : group.states)
        successors[a].set(b);
  bool changed = true;
  while (changed) {
    for (size_t via = 0; via < count; ++via)
      for (size_t from = 0; from < count; ++from)
        if (feeds(from, via))
          successors[from] |= successors[via];
    auto isTogether = [&](size_t a, size_t b) { return a == b || (feeds(a, b) && feeds(b, a)); };
    // In an order in which they depend on each other, else in that of the states.
    components.clear();
    SmallBitVector placed(count);
    while (!placed.all()) {
      for (size_t first = 0; first < count; ++first) {
        bool isReady = !placed[first];
        for (size_t other = 0; other < count; ++other)
          isReady &= placed[other] || !feeds(other, first) || isTogether(first, other);
        if (!isReady)
          continue;
        StateComponent &component = components.emplace_back();
        for (size_t other = first; other < count; ++other)
          if (isTogether(first, other))
            component.states.push_back(other);
        break;
      }
      for (unsigned state : components.back().states)
        placed.set(state);
    }
    changed = false;
    for (StateComponent &component : components) {
      const StateLevels *group = getLevels(component.states.front());
      bool isCircle = component.states.size() > 1 && !(group && group->states == component.states);
      bool isJoint = isCircle && isJointScan(op, component.states);
      for (unsigned state : component.states) {
        StateInfo &info = states[state];
        bool isSequential = info.stateClass == StateClass::sequential;
        if (!isCircle || (isSequential && !isJoint))
          continue;
        if (info.reason.empty()) {
          unsigned other = *llvm::find_if(component.states, [&](unsigned s) { return s != state; });
          info.reason = ("states #" + Twine(std::min(state, other)) + " and #" +
                         Twine(std::max(state, other)) + " depend on each other")
                            .str();
          info.culprit = info.trunk.empty() ? op.getOperation() : info.trunk.front();
        }
        info.stateClass = isJoint ? StateClass::scan : StateClass::sequential;
        info.form = isJoint ? "matrix" : "";
      }
      StateClass first = states[component.states.front()].stateClass;
      component.isRunInOrder = first == StateClass::scan || first == StateClass::sequential;
      if (component.isRunInOrder)
        changed |= joinWhatLoopsNeed(op, component);
    }
    changed |= joinWhatLoopsRead(op);
    changed |= dissolveLevels();
  }
}
