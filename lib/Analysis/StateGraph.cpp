//===- StateGraph.cpp - how the states of a recurrence evolve -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "ScanForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::linattn;

StringRef linattn::stringifyStateClass(StateClass stateClass) {
  switch (stateClass) {
  case StateClass::lowRank:
    return "low-rank";
  case StateClass::shift:
    return "shift";
  case StateClass::scan:
    return "scan";
  case StateClass::sequential:
    return "sequential";
  }
  llvm_unreachable("no such class");
}

namespace {

/// Follows one state through the body.
class StateFollower {
public:
  StateFollower(RecurrenceOp op, StateInfo &info) : op(op), info(info) {}
  void run();

private:
  bool fail(Operation *culprit, const Twine &reason) {
    info.stateClass = StateClass::sequential;
    info.culprit = culprit;
    info.reason = reason.str();
    return false;
  }

  bool followTrunk();
  bool followTree();
  void findDependent();
  bool chooseAxis();
  bool checkDecays();
  bool checkWrites();
  bool checkReads();
  bool isDependent(Value value) { return info.dependent.contains(value); }
  bool collectTerms(Value value, ReadTerm scale, SmallVectorImpl<ReadTerm> &terms,
                    Operation *write);

  RecurrenceOp op;
  StateInfo &info;
};

} // namespace

/// A scalar, or a tensor whose entries are all the same number.
static bool isUniform(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return true;
  Operation *def = value.getDefiningOp();
  if (!def)
    return false;
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.isSplat();
  if (isa<tensor::SplatOp, linalg::FillOp>(def))
    return true;
  return OpTrait::hasElementwiseMappableTraits(def) && llvm::all_of(def->getOperands(), isUniform);
}

/// From the new state back to the old one.
bool StateFollower::followTrunk() {
  Value start = op.getStateArgs()[info.index], value = op.getYieldedStates()[info.index];
  auto type = dyn_cast<RankedTensorType>(start.getType());
  if (!type)
    return fail(op, "it is a scalar, which only scans work on");
  if (!isa<FloatType>(type.getElementType()) || !type.hasStaticShape())
    return fail(op, "chunks need a state of floats with a static shape");
  while (value != start) {
    Operation *def = value.getDefiningOp();
    Value before;
    if (auto decay = dyn_cast_or_null<DecayOp>(def))
      before = decay.getState();
    else if (auto write = dyn_cast_or_null<WriteOp>(def))
      before = write.getState();
    else
      return fail(def ? def : op.getOperation(),
                  "its new value does not come from the old one by decays and writes");
    info.trunk.push_back(def);
    value = before;
  }
  std::reverse(info.trunk.begin(), info.trunk.end());
  return true;
}

/// From the old state forward to every value that comes from it.
bool StateFollower::followTree() {
  SmallVector<Value> worklist{op.getStateArgs()[info.index]};
  info.values[worklist[0]] = {{}, 0};
  unsigned yieldOperand = op.getOuts().size() + info.index;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    StateValue state = info.values[value];
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto read = dyn_cast<ReadOp>(user)) {
        info.reads.push_back(read);
        continue;
      }
      if (isa<YieldOp>(user) && use.getOperandNumber() == yieldOperand)
        continue;
      if (!isa<DecayOp, WriteOp>(user) || use.getOperandNumber() != 0 ||
          user->getBlock() != &op.getBody().front())
        return fail(user,
                    "the state itself is an operand of this op, which is no decay, read or write");
      StateValue next = state;
      bool onTrunk = state.trunkLength == state.path.size() &&
                     state.trunkLength < info.trunk.size() && info.trunk[state.trunkLength] == user;
      next.path.push_back(user);
      next.trunkLength += onTrunk;
      info.values[user->getResult(0)] = next;
      worklist.push_back(user->getResult(0));
    }
  }
  llvm::sort(info.reads, [](ReadOp a, ReadOp b) { return a->isBeforeInBlock(b); });
  return llvm::all_of(info.reads, [&](ReadOp read) {
    return read->getBlock() == &op.getBody().front() ||
           fail(read, "a read inside a region is not followed");
  });
}

/// Everything that is computed from reads of this state, other states included.
void StateFollower::findDependent() {
  for (ReadOp read : info.reads)
    info.dependent.insert(read.getResult());
  for (Operation &nested : op.getBody().front()) {
    bool depends = false;
    nested.walk([&](Operation *inner) {
      depends |= llvm::any_of(inner->getOperands(), [&](Value v) { return isDependent(v); });
    });
    if (depends)
      for (Value result : nested.getResults())
        info.dependent.insert(result);
  }
}

/// All reads contract one axis. A write along the other axis is the same outer product with address
/// and value exchanged.
bool StateFollower::chooseAxis() {
  if (!info.reads.empty())
    info.axis = info.reads.front().getAxis();
  else
    for (Operation *step : info.trunk)
      if (auto write = dyn_cast<WriteOp>(step))
        info.axis = write.getAxis();
  return true;
}

bool StateFollower::checkDecays() {
  for (auto &[value, state] : info.values)
    for (Operation *step : state.path)
      if (auto decay = dyn_cast<DecayOp>(step)) {
        if (isDependent(decay.getBy()))
          return fail(step, "the decay depends on what was read from the state");
        if (!decay.getAxes().empty() && decay.getAxes() != ArrayRef<int64_t>{info.axis})
          return fail(step, "the decay is not along the axis that reads contract");
      }
  return true;
}

/// Writes `value` as a sum of reads times uniform coefficients, plus what does not depend on reads.
bool StateFollower::collectTerms(Value value, ReadTerm scale, SmallVectorImpl<ReadTerm> &terms,
                                 Operation *write) {
  if (!isDependent(value))
    return true;
  Operation *def = value.getDefiningOp();
  if (auto read = dyn_cast_or_null<ReadOp>(def); read && info.values.contains(read.getState())) {
    scale.read = read;
    terms.push_back(scale);
    return true;
  }
  if (isa_and_nonnull<arith::AddFOp, arith::SubFOp>(def)) {
    ReadTerm right = scale;
    right.negative ^= isa<arith::SubFOp>(def);
    return collectTerms(def->getOperand(0), scale, terms, write) &&
           collectTerms(def->getOperand(1), right, terms, write);
  }
  if (isa_and_nonnull<arith::NegFOp>(def)) {
    scale.negative = !scale.negative;
    return collectTerms(def->getOperand(0), scale, terms, write);
  }
  if (isa_and_nonnull<arith::MulFOp>(def)) {
    bool first = isDependent(def->getOperand(0));
    Value factor = def->getOperand(first ? 1 : 0);
    if (isDependent(factor))
      return fail(def, "a written value is a product of values that were read");
    if (!isUniform(factor))
      return fail(def, "what was read is multiplied by a factor that differs along the other axis");
    scale.factors.push_back(factor);
    return collectTerms(def->getOperand(first ? 0 : 1), scale, terms, write);
  }
  if (isa_and_nonnull<arith::DivFOp>(def) && !isDependent(def->getOperand(1))) {
    if (!isUniform(def->getOperand(1)))
      return fail(def, "what was read is divided by values that differ along the other axis");
    scale.divisors.push_back(def->getOperand(1));
    return collectTerms(def->getOperand(0), scale, terms, write);
  }
  return fail(def ? def : write, "a written value is not affine in what was read");
}

bool StateFollower::checkWrites() {
  for (auto &[stateValue, state] : info.values)
    for (auto [position, step] : llvm::enumerate(state.path)) {
      auto write = dyn_cast<WriteOp>(step);
      if (!write)
        continue;
      bool onTrunk = position < state.trunkLength;
      bool swap = write.getAxis() != uint64_t(info.axis);
      Value address = swap ? write.getValue() : write.getAddress(),
            value = swap ? write.getAddress() : write.getValue();
      if (write.hasManyRows())
        return fail(step, "a write of several rows at once");
      if (isDependent(address))
        return fail(step, "the address of a write depends on what was read from the state");
      if (!onTrunk && isDependent(value))
        return fail(step,
                    "a write that only a branch sees depends on what was read from the state");
    }
  for (Operation *step : info.trunk) {
    auto write = dyn_cast<WriteOp>(step);
    if (!write)
      continue;
    bool swap = write.getAxis() != uint64_t(info.axis);
    StateWrite entry{write,
                     swap ? write.getValue() : write.getAddress(),
                     swap ? write.getAddress() : write.getValue(),
                     {}};
    if (!collectTerms(entry.value, ReadTerm{}, entry.terms, write))
      return false;
    info.writes.push_back(entry);
  }
  return true;
}

bool StateFollower::checkReads() {
  DenseSet<Operation *> feeding;
  for (const StateWrite &write : info.writes)
    for (const ReadTerm &term : write.terms)
      feeding.insert(ReadOp(term.read).getOperation());
  for (ReadOp read : info.reads) {
    if (int64_t(read.getAxis()) != info.axis)
      return fail(read, "reads contract both axes of the state");
    if (read.hasManyRows())
      return fail(read, "a read of several rows at once");
    if (feeding.contains(read) && isDependent(read.getAddress()))
      return fail(
          read, "the address of a read that feeds a write depends on what was read from the state");
  }
  return true;
}

void StateFollower::run() {
  if (!followTrunk() || !followTree())
    return;
  findDependent();
  // In this order: what a decay or write may be depends on the axis, and terms on valid reads.
  if (chooseAxis() && checkDecays() && checkWrites())
    checkReads();
}

StateGraph::StateGraph(RecurrenceOp op) {
  for (unsigned index = 0; index < op.getStates().size(); ++index) {
    StateInfo &info = states.emplace_back();
    info.index = index;
    StateFollower(op, info).run();
    if (info.stateClass == StateClass::sequential)
      classifyByForm(op, info);
  }
  findSources(op);
  findComponents(op);
}

const StateInfo *StateGraph::lookup(Operation *step) const {
  for (const StateInfo &info : states)
    if (info.values.contains(step->getOperand(0)))
      return &info;
  return nullptr;
}

bool StateGraph::isChunkable() const {
  return llvm::any_of(states, [](const StateInfo &info) {
    return info.stateClass == StateClass::lowRank && (!info.trunk.empty() || !info.reads.empty());
  });
}

static void printState(raw_ostream &os, const StateInfo &info) {
  os << "  state #" << info.index << ": " << stringifyStateClass(info.stateClass);
  if (!info.form.empty())
    os << " (" << info.form << ")";
  if (info.stateClass != StateClass::lowRank) {
    if (info.stateClass != StateClass::shift)
      os << ", " << info.reason << " (" << info.culprit->getName() << ")";
    os << "\n";
    return;
  }
  unsigned dependentWrites =
      llvm::count_if(info.writes, [](const StateWrite &w) { return !w.terms.empty(); });
  os << " along axis " << info.axis << ", " << info.writes.size() << " writes (" << dependentWrites
     << " depend on reads), " << info.reads.size() << " reads\n";
}

void StateGraph::print(raw_ostream &os) const {
  for (const StateComponent &component : components)
    for (unsigned state : component.states)
      printState(os, states[state]);
}
