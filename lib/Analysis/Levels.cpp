//===- Levels.cpp - states that are mixed with each other ---------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Levels are states of which each begins a token as a sum of the old ones, with numbers of the
// token, and then goes through decays and writes. If these are the same for all of them, apart from
// writes that depend on no read, there is one state of which the levels are parts: the numbers
// commute with all that happens to it.
//
//===----------------------------------------------------------------------------------------------===//

#include "Levels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::linattn;

static Value getSplatInput(Value tensor) {
  auto splat = tensor.getDefiningOp<tensor::SplatOp>();
  return splat ? splat.getInput() : Value();
}

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()); }

namespace {

/// How one state is made: decays and writes behind a sum of states.
struct Level {
  unsigned state;
  Value mix;
  SmallVector<Operation *> steps;
  SetVector<unsigned> from; ///< the states in the sum; none: it is 0
  SetVector<Value> sums;    ///< the values that make it
};

class LevelFinder {
public:
  LevelFinder(RecurrenceOp op, ArrayRef<StateInfo> states) : op(op), states(states) {}
  std::vector<StateLevels> run();

private:
  std::optional<Level> follow(unsigned state);
  bool followSum(Value value, Level &level);
  bool isSame(Value value, Value other);
  bool isSame(Operation *step, Operation *other);
  bool align(const Level &level, unsigned number, ArrayRef<Operation *> common, StateLevels &group);
  bool checkUses(ArrayRef<Level> members, const StateLevels &group);
  std::optional<StateLevels> join(ArrayRef<Level> members);

  RecurrenceOp op;
  ArrayRef<StateInfo> states;
  llvm::DenseSet<Value> chain, dependent;    ///< values of levels, and what is read from them
  llvm::DenseMap<Value, Value> counterparts; ///< of a level's values in the first level
};

} // namespace

bool LevelFinder::followSum(Value value, Level &level) {
  if (!level.sums.insert(value) || isZero(value))
    return true;
  auto args = op.getStateArgs();
  if (auto arg = llvm::find(args, value); arg != args.end()) {
    level.from.insert(arg - args.begin());
    return true;
  }
  Operation *def = value.getDefiningOp();
  if (isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::NegFOp>(def))
    return llvm::all_of(def->getOperands(), [&](Value v) { return followSum(v, level); });
  if (auto select = dyn_cast_or_null<arith::SelectOp>(def))
    return select.getCondition().getType().isInteger(1) &&
           followSum(select.getTrueValue(), level) && followSum(select.getFalseValue(), level);
  if (isa_and_nonnull<arith::MulFOp>(def)) {
    bool isFirst = bool(getSplatInput(def->getOperand(0)));
    return (isFirst || getSplatInput(def->getOperand(1))) &&
           followSum(def->getOperand(isFirst ? 1 : 0), level);
  }
  return false;
}

std::optional<Level> LevelFinder::follow(unsigned state) {
  auto type = dyn_cast<RankedTensorType>(op.getStateArgs()[state].getType());
  if (!type || !type.hasStaticShape() || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  Level level;
  level.state = state;
  level.mix = op.getYieldedStates()[state];
  while (isa_and_nonnull<DecayOp, WriteOp>(level.mix.getDefiningOp())) {
    level.steps.push_back(level.mix.getDefiningOp());
    level.mix = level.steps.back()->getOperand(0);
  }
  std::reverse(level.steps.begin(), level.steps.end());
  return followSum(level.mix, level) ? std::optional(level) : std::nullopt;
}

/// True if both are computed alike, from counterparts.
bool LevelFinder::isSame(Value value, Value other) {
  if (chain.contains(value))
    return counterparts.lookup(value) == other;
  if (value == other && !dependent.contains(value))
    return true;
  Operation *def = value.getDefiningOp(), *otherDef = other.getDefiningOp();
  return def && otherDef && def->getNumRegions() == 0 &&
         cast<OpResult>(value).getResultNumber() == cast<OpResult>(other).getResultNumber() &&
         OperationEquivalence::isEquivalentTo(def, otherDef,
                                              OperationEquivalence::ignoreValueEquivalence, nullptr,
                                              OperationEquivalence::IgnoreLocations) &&
         llvm::all_of(llvm::zip_equal(def->getOperands(), otherDef->getOperands()),
                      [&](auto pair) { return isSame(std::get<0>(pair), std::get<1>(pair)); });
}

bool LevelFinder::isSame(Operation *step, Operation *other) {
  return step->getName() == other->getName() &&
         step->getAttrDictionary() == other->getAttrDictionary() &&
         llvm::all_of(
             llvm::zip_equal(step->getOperands().drop_front(), other->getOperands().drop_front()),
             [&](auto pair) { return isSame(std::get<0>(pair), std::get<1>(pair)); });
}

/// True for what happens to all levels: decays, and writes that depend on a level.
static bool isShared(Operation *step, const StateInfo &shared) {
  auto write = dyn_cast<WriteOp>(step);
  return !write || shared.dependent.contains(write.getValue()) ||
         shared.dependent.contains(write.getAddress());
}

/// Compares the shared steps of a level with those of the group, and adds its own writes.
bool LevelFinder::align(const Level &level, unsigned number, ArrayRef<Operation *> common,
                        StateLevels &group) {
  StateInfo &shared = group.shared;
  counterparts.clear();
  auto see = [&](Value value, ArrayRef<Operation *> path) {
    shared.values[value] = {SmallVector<Operation *>(path), path.size()};
    group.levelOf[value] = number;
  };
  auto own = llvm::find_if(level.steps, [&](Operation *step) { return !isShared(step, shared); });
  size_t count = own - level.steps.begin();
  // What two levels go through together is seen as one of them.
  if (llvm::any_of(level.steps,
                   [&](Operation *step) { return group.levelOf.contains(step->getResult(0)); }))
    return false;
  // What is 0 at first may begin late.
  if (count > common.size() || (count < common.size() && !level.from.empty()))
    return false;
  size_t begin = common.size() - count;
  if (!level.from.empty())
    see(level.mix, {});
  for (auto [index, step] : llvm::enumerate(ArrayRef(level.steps).take_front(count))) {
    Operation *counterpart = common[begin + index];
    counterparts[step->getOperand(0)] = counterpart->getOperand(0);
    if (!isSame(step, counterpart))
      return false;
    see(step->getResult(0), common.take_front(begin + index + 1));
    if (isa<WriteOp>(step))
      group.writers[counterpart].push_back(number);
  }
  for (Operation *step : ArrayRef(level.steps).drop_front(count)) {
    if (isShared(step, shared))
      return false;
    shared.trunk.push_back(step);
    group.writers[step].push_back(number);
    see(step->getResult(0), shared.trunk);
  }
  return true;
}

/// Nothing else may see the whole of a level, and no number in a sum what is read.
bool LevelFinder::checkUses(ArrayRef<Level> members, const StateLevels &group) {
  DenseSet<Operation *> known;
  SetVector<Value> seen;
  for (const Level &level : members) {
    known.insert(level.steps.begin(), level.steps.end());
    for (Operation *step : level.steps)
      seen.insert(step->getResult(0));
    for (Value value : level.sums)
      if (!isZero(value)) {
        seen.insert(value);
        if (Operation *def = value.getDefiningOp())
          known.insert(def);
      }
    seen.insert(op.getStateArgs()[level.state]);
  }
  auto isKnown = [&](Value value, OpOperand &use) {
    Operation *user = use.getOwner();
    auto level = group.levelOf.find(value);
    bool isChain = level != group.levelOf.end();
    if (isa<YieldOp>(user))
      return isChain && use.getOperandNumber() == op.getOuts().size() + group.states[level->second];
    if (isa<ReadOp>(user))
      return isChain && use.getOperandNumber() == 0 && user->getBlock() == &op.getBody().front();
    if (isOpTriviallyDead(user))
      return true;
    return known.contains(user) && (!isa<DecayOp, WriteOp>(user) || use.getOperandNumber() == 0);
  };
  for (Value value : seen) {
    if (!llvm::all_of(value.getUses(), [&](OpOperand &use) { return isKnown(value, use); }))
      return false;
    Operation *def = value.getDefiningOp();
    if (!def || isa<DecayOp, WriteOp>(def))
      continue;
    for (Value operand : def->getOperands())
      if (group.shared.dependent.contains(operand))
        return false;
  }
  return true;
}

std::optional<StateLevels> LevelFinder::join(ArrayRef<Level> members) {
  auto first = llvm::find_if(members, [](const Level &level) { return !level.from.empty(); });
  if (first == members.end())
    return std::nullopt;
  Type type = op.getStateArgs()[first->state].getType();
  StateLevels group;
  StateInfo &shared = group.shared;
  shared.index = first->state;
  chain.clear();
  for (const Level &level : members) {
    if (op.getStateArgs()[level.state].getType() != type)
      return std::nullopt;
    group.states.push_back(level.state);
    group.mixes.push_back(level.mix);
    if (!level.from.empty())
      chain.insert(level.mix);
    for (Operation *step : level.steps)
      chain.insert(step->getResult(0));
  }
  op.getBody().walk([&](ReadOp read) {
    if (chain.contains(read.getState()))
      shared.reads.push_back(read);
  });
  findDependent(op, shared);
  dependent = shared.dependent;
  SmallVector<Operation *> common;
  for (Operation *step : first->steps)
    if (isShared(step, shared))
      common.push_back(step);
  shared.trunk.append(common);
  for (auto [number, level] : llvm::enumerate(members))
    if (!align(level, number, common, group))
      return std::nullopt;
  if (shared.trunk.empty())
    return std::nullopt;
  if (!checkUses(members, group) || !checkSteps(op, shared) ||
      llvm::any_of(shared.reads, [&](ReadOp r) { return int64_t(r.getAxis()) != shared.axis; }))
    return std::nullopt;
  for (Operation *step : common)
    if (auto decay = dyn_cast<DecayOp>(step))
      if (llvm::any_of(decay.getAxes(), [&](int64_t axis) { return axis != shared.axis; }))
        return std::nullopt;
  return group;
}

std::vector<StateLevels> LevelFinder::run() {
  SmallVector<Level> found;
  llvm::EquivalenceClasses<unsigned> together;
  for (const StateInfo &info : states) {
    std::optional<Level> level =
        info.stateClass == StateClass::lowRank ? std::nullopt : follow(info.index);
    if (!level)
      continue;
    together.insert(info.index);
    for (unsigned other : level->from)
      together.unionSets(info.index, other);
    found.push_back(*level);
  }
  std::vector<StateLevels> groups;
  for (const Level &first : found) {
    if (together.getLeaderValue(first.state) != first.state)
      continue;
    SmallVector<Level> members;
    for (const Level &level : found)
      if (together.isEquivalent(first.state, level.state))
        members.push_back(level);
    size_t count = llvm::count_if(states, [&](const StateInfo &info) {
      return together.isEquivalent(first.state, info.index);
    });
    if (members.size() != count)
      continue; // one of them cannot be a level
    if (std::optional<StateLevels> group = join(members))
      groups.push_back(*group);
  }
  return groups;
}

std::vector<StateLevels> linattn::findLevels(RecurrenceOp op, ArrayRef<StateInfo> states) {
  return LevelFinder(op, states).run();
}
