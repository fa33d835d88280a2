//===- StateGraph.cpp - how the states of a recurrence evolve -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Levels.h"
#include "ScanForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

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
  bool check();

private:
  bool fail(Operation *culprit, const Twine &reason) {
    info.stateClass = StateClass::sequential;
    info.culprit = culprit;
    info.reason = reason.str();
    return false;
  }

  bool followTrunk();
  bool followTree();
  bool followRegions(ReadOp read);
  bool isSameForAllTokens(Value value);
  SmallVector<ReadOp> getReads(Value value);
  bool chooseAxis();
  bool checkDecays();
  bool checkWrites();
  bool checkBetween();
  bool checkReads();
  bool isDependent(Value value) { return info.dependent.contains(value); }
  bool collectTerms(Value value, ReadTerm scale, SmallVectorImpl<ReadTerm> &terms,
                    Operation *write);

  RecurrenceOp op;
  StateInfo &info;
  bool hasConstant = false; ///< of the written value that is looked at
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

/// False only for a number that may differ from token to token.
bool StateFollower::isSameForAllTokens(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp()))
      return arg == loop.getInductionVar();
    auto args = op.getInArgs();
    auto position = llvm::find(args, arg);
    return position != args.end() &&
           !op.usesTime(op.getMap(op.getInsMutable()[position - args.begin()]));
  }
  Operation *def = value.getDefiningOp();
  if (auto index = dyn_cast<IndexOp>(def))
    return index.getDim() != op.getTimeDim();
  return def->getNumRegions() == 0 &&
         llvm::all_of(def->getOperands(), [&](Value v) { return isSameForAllTokens(v); });
}

/// A read inside of loops is one of all tokens if the loops go over all of them at once.
bool StateFollower::followRegions(ReadOp read) {
  Operation *outermost = read;
  while (outermost->getBlock() != &op.getBody().front()) {
    outermost = outermost->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(outermost);
    if (!loop)
      return fail(read, "a read inside a region that is no loop");
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!isSameForAllTokens(bound))
        return fail(read, "a read in a loop whose bounds may differ from token to token");
  }
  if (outermost == read)
    return true;
  Operation *obstacle = nullptr;
  outermost->walk<WalkOrder::PreOrder>([&](Operation *nested) {
    bool isLifted =
        isa<scf::ForOp, scf::YieldOp, ReadOp>(nested) ||
        (isSpeculatable(nested) && (OpTrait::hasElementwiseMappableTraits(nested) ||
                                    nested->hasTrait<OpTrait::ConstantLike>() ||
                                    isa<linalg::LinalgOp, LiftableOpInterface>(nested)));
    if (!isLifted)
      obstacle = nested;
    return isa<linalg::LinalgOp>(nested) ? WalkResult::skip()
           : isLifted                    ? WalkResult::advance()
                                         : WalkResult::interrupt();
  });
  return !obstacle ||
         fail(obstacle,
              "a read in a loop with this op, which has no form for several tokens at once");
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
      if (isa<ReadOp>(user))
        continue;
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
  op.getBody().walk([&](ReadOp read) {
    if (info.values.contains(read.getState()))
      info.reads.push_back(read);
  });
  return llvm::all_of(info.reads, [&](ReadOp read) { return followRegions(read); });
}

/// Everything that is computed from reads of this state, other states included.
void linattn::findDependent(RecurrenceOp op, StateInfo &info) {
  for (ReadOp read : info.reads)
    info.dependent.insert(read.getResult());
  for (Operation &nested : op.getBody().front()) {
    bool depends = false;
    nested.walk([&](Operation *inner) {
      depends |=
          llvm::any_of(inner->getOperands(), [&](Value v) { return info.dependent.contains(v); });
    });
    if (depends)
      for (Value result : nested.getResults())
        info.dependent.insert(result);
  }
}

/// The reads of this state that `value` is computed from.
SmallVector<ReadOp> StateFollower::getReads(Value value) {
  SmallVector<ReadOp> reads;
  SetVector<Value> worklist;
  worklist.insert(value);
  for (size_t next = 0; next < worklist.size(); ++next) {
    Operation *def = worklist[next].getDefiningOp();
    if (!def || !isDependent(worklist[next]))
      continue;
    if (auto read = dyn_cast<ReadOp>(def); read && info.values.contains(read.getState()))
      reads.push_back(read);
    else
      def->walk([&](Operation *nested) {
        worklist.insert(nested->operand_begin(), nested->operand_end());
      });
  }
  return reads;
}

/// The axis that is contracted by the reads that feed writes; else by the first read; else
/// addressed by writes.
bool StateFollower::chooseAxis() {
  ReadOp feeding;
  for (Operation *step : info.trunk) {
    auto write = dyn_cast<WriteOp>(step);
    if (!write)
      continue;
    info.axis = write.getAxis();
    for (Value operand : {Value(write.getAddress()), Value(write.getValue())})
      for (ReadOp read : getReads(operand)) {
        if (feeding && feeding.getAxis() != read.getAxis())
          return fail(read, "reads that contract different axes feed writes");
        feeding = read;
      }
  }
  if (feeding)
    info.axis = feeding.getAxis();
  else if (!info.reads.empty())
    info.axis = info.reads.front().getAxis();
  return true;
}

bool StateFollower::checkDecays() {
  for (auto &[value, state] : info.values)
    for (Operation *step : state.path)
      if (auto decay = dyn_cast<DecayOp>(step)) {
        if (isDependent(decay.getBy()))
          return fail(step, "the decay depends on what was read from the state");
        if (decay.getAxes().size() > 1)
          return fail(step, "the decay has a multiplier for every entry of the state");
      }
  return true;
}

/// Writes `value` as a sum of reads times uniform coefficients, plus what does not depend on reads.
bool StateFollower::collectTerms(Value value, ReadTerm scale, SmallVectorImpl<ReadTerm> &terms,
                                 Operation *write) {
  if (!isDependent(value)) {
    hasConstant = true;
    return true;
  }
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
      Value address = getVector(write, info.axis), value = getVector(write, 1 - info.axis);
      if (write.hasManyRows())
        return fail(step, "a write of a number of rows that is not static");
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
    StateWrite entry{write, getVector(write, info.axis), getVector(write, 1 - info.axis), {}};
    hasConstant = false;
    if (!collectTerms(entry.value, ReadTerm{}, entry.terms, write))
      return false;
    entry.hasConstant = hasConstant;
    info.writes.push_back(entry);
  }
  return true;
}

/// Between a read and a write that it feeds, decays may only be along the axis of the read: others
/// act on columns, each of which would have a transition of its own.
bool StateFollower::checkBetween() {
  auto isAcross = [&](Operation *step) {
    auto decay = dyn_cast<DecayOp>(step);
    return decay && !decay.getAxes().empty() && decay.getAxes().front() != info.axis;
  };
  bool hasAcross = llvm::any_of(info.trunk, isAcross);
  for (const StateWrite &write : info.writes)
    for (const ReadTerm &term : write.terms) {
      const StateValue &seen = info.values.find(ReadOp(term.read).getState())->second;
      SmallVector<Operation *> between(ArrayRef(seen.path).drop_front(seen.trunkLength));
      bool hasOwn = llvm::any_of(between, llvm::IsaPred<WriteOp>);
      for (Operation *step : ArrayRef(info.trunk).drop_front(seen.trunkLength)) {
        if (step == WriteOp(write.op).getOperation())
          break;
        between.push_back(step);
      }
      if (auto step = llvm::find_if(between, isAcross); step != between.end())
        return fail(*step, "the decay is along another axis than a read before it that feeds a "
                           "write behind it");
      if (hasAcross && hasOwn)
        return fail(term.read, "a read of a branch with writes of its own feeds a write, and there "
                               "are decays along the other axis");
    }
  return true;
}

bool StateFollower::checkReads() {
  DenseSet<Operation *> feeding;
  for (const StateWrite &write : info.writes)
    for (const ReadTerm &term : write.terms)
      feeding.insert(ReadOp(term.read).getOperation());
  for (ReadOp read : info.reads) {
    if (read.hasManyRows())
      return fail(read, "a read of a number of rows that is not static");
    if (feeding.contains(read) && isDependent(read.getAddress()))
      return fail(
          read, "the address of a read that feeds a write depends on what was read from the state");
  }
  return true;
}

void StateFollower::run() {
  if (!followTrunk() || !followTree())
    return;
  findDependent(op, info);
  check();
}

/// In this order: what a decay or write may be depends on the axis, and terms on valid reads.
bool StateFollower::check() {
  return chooseAxis() && checkDecays() && checkWrites() && checkBetween() && checkReads();
}

bool linattn::checkSteps(RecurrenceOp op, StateInfo &info) {
  return StateFollower(op, info).check();
}

StateGraph::StateGraph(RecurrenceOp op) {
  for (unsigned index = 0; index < op.getStates().size(); ++index) {
    StateInfo &info = states.emplace_back();
    info.index = index;
    StateFollower(op, info).run();
    if (info.stateClass == StateClass::sequential)
      classifyByForm(op, info);
  }
  levels = findLevels(op, states);
  joinLevels();
  findSources(op);
  findComponents(op);
}

bool StateInfo::isSolvedAcross() const {
  return llvm::any_of(writes, [](const StateWrite &write) { return !write.terms.empty(); }) &&
         llvm::any_of(trunk, [&](Operation *step) {
           auto decay = dyn_cast<DecayOp>(step);
           return decay && !decay.getAxes().empty() && decay.getAxes().front() != axis;
         });
}

const StateInfo *StateGraph::lookup(Operation *step) const {
  for (const StateInfo &info : states)
    if (info.values.contains(step->getOperand(0)))
      return &info;
  return nullptr;
}

/// Tells the states of levels what they share.
void StateGraph::joinLevels() {
  for (const StateLevels &group : levels)
    for (auto [number, state] : llvm::enumerate(group.states)) {
      const StateInfo &shared = group.shared;
      StateInfo &info = states[state];
      info.stateClass = StateClass::lowRank;
      info.form = "";
      info.reason = "";
      info.axis = shared.axis;
      info.dependent = shared.dependent;
      for (auto &[value, seen] : shared.values)
        if (group.levelOf.lookup(value) == number)
          info.values[value] = seen;
      for (const StateWrite &write : shared.writes)
        if (llvm::is_contained(group.writers.lookup(write.op), number)) {
          info.trunk.push_back(write.op);
          info.writes.push_back(write);
        }
      for (ReadOp read : shared.reads)
        if (info.values.contains(read.getState()))
          info.reads.push_back(read);
    }
}

/// Levels of which one has to be run token by token are no levels. True if there are such.
bool StateGraph::dissolveLevels() {
  auto isLowRank = [&](unsigned state) { return states[state].stateClass == StateClass::lowRank; };
  auto last = std::remove_if(levels.begin(), levels.end(), [&](const StateLevels &group) {
    auto other = llvm::find_if_not(group.states, isLowRank);
    if (other == group.states.end())
      return false;
    for (unsigned state : group.states) {
      StateInfo &info = states[state];
      if (!isLowRank(state))
        continue;
      info.stateClass = StateClass::sequential;
      info.culprit = states[*other].culprit;
      info.reason = states[*other].reason;
    }
    return true;
  });
  bool changed = last != levels.end();
  levels.erase(last, levels.end());
  return changed;
}

const StateLevels *StateGraph::getLevels(unsigned state) const {
  auto group = llvm::find_if(
      levels, [&](const StateLevels &group) { return llvm::is_contained(group.states, state); });
  return group == levels.end() ? nullptr : &*group;
}

bool StateGraph::isChunkable() const {
  return llvm::any_of(states, [](const StateInfo &info) {
    return info.stateClass == StateClass::lowRank && (!info.trunk.empty() || !info.reads.empty());
  });
}

static void printState(raw_ostream &os, const StateInfo &info, const StateLevels *levels) {
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
     << " depend on reads), " << info.reads.size() << " reads";
  if (int64_t others = llvm::count_if(
          info.reads, [&](ReadOp read) { return int64_t(read.getAxis()) != info.axis; }))
    os << " (" << others << " along the other axis)";
  if (levels && levels->states.size() > 1)
    os << ", one of " << levels->states.size() << " levels";
  os << "\n";
}

void StateGraph::print(raw_ostream &os) const {
  for (const StateComponent &component : components)
    for (unsigned state : component.states)
      printState(os, states[state], getLevels(state));
}
