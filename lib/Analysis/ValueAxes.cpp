//===- ValueAxes.cpp - which axes of a body hold value columns ----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Every op of the body joins axes of its operands and results into groups (entry j depends on entry
// j), or mixes the entries of a group (sums, slices, ops that are not known). A group that nothing
// mixes can be cut into tiles, all its axes together.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Analysis/ValueAxes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace mlir::linattn;

static RankedTensorType getTensor(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}
static unsigned getRank(Value value) {
  RankedTensorType type = getTensor(value);
  return type ? type.getRank() : 0;
}

namespace {

/// The groups of axes that a body joins, and what mixes them.
class AxisGroups {
public:
  explicit AxisGroups(RecurrenceOp op);

  unsigned getGroup(Value value, unsigned axis) const {
    return groups.findLeader(first.lookup(value) + axis);
  }
  /// The op that mixes a group, or null. Ops other than reads come first: a read contracts one axis
  /// of every state.
  Operation *getMixer(unsigned group) const { return mixers.lookup(group); }
  /// True if the axes of the groups have the static extent `extent`, and no value has two of them.
  bool canCut(ArrayRef<unsigned> cut, int64_t extent) const;
  /// The axis of each value that is in one of the groups.
  llvm::DenseMap<Value, unsigned> getAxes(ArrayRef<unsigned> cut) const;

private:
  unsigned addNodes(unsigned count) {
    unsigned node = numNodes;
    groups.grow(numNodes += count);
    return node;
  }
  unsigned getNode(Value value, int64_t axis) {
    auto [entry, isNew] = first.try_emplace(value, 0);
    if (isNew) {
      entry->second = addNodes(getRank(value));
      values.push_back(value);
    }
    return entry->second + axis;
  }
  void join(Value a, int64_t axisOfA, Value b, int64_t axisOfB) {
    groups.join(getNode(a, axisOfA), getNode(b, axisOfB));
  }
  void joinAll(Value a, Value b) {
    for (unsigned axis = 0; axis < std::min(getRank(a), getRank(b)); ++axis)
      join(a, axis, b, axis);
  }
  void mix(unsigned node, Operation *op) { mixed.push_back({node, op}); }
  void mixAll(Value value, Operation *op) {
    for (unsigned axis = 0; axis < getRank(value); ++axis)
      mix(getNode(value, axis), op);
  }
  void mixCaptures(Operation *op) {
    SetVector<Value> captures;
    getUsedValuesDefinedAbove(op->getRegions(), captures);
    for (Value capture : captures)
      mixAll(capture, op);
  }

  void visit(Operation *op);
  void visitDecay(DecayOp op);
  template <typename OpTy> void visitAddress(OpTy op, Value value);
  void visitLinalg(linalg::LinalgOp op);
  void visitSlice(tensor::ExtractSliceOp op);
  void visitSolve(SolveOp op);
  void visitSum(WeightedSumOp op);

  llvm::IntEqClasses groups;
  unsigned numNodes = 0;
  llvm::DenseMap<Value, unsigned> first; // node of axis 0
  SmallVector<Value> values;
  SmallVector<std::pair<unsigned, Operation *>> mixed;
  llvm::DenseMap<unsigned, Operation *> mixers;
};

} // namespace

//===----------------------------------------------------------------------------------------------===//
// What ops do to axes
//===----------------------------------------------------------------------------------------------===//

void AxisGroups::visitDecay(DecayOp op) {
  joinAll(op.getState(), op.getResult());
  for (auto [position, axis] : llvm::enumerate(op.getAxes()))
    join(op.getBy(), position, op.getState(), axis);
}

/// A read or write: `value` is what is read or written.
template <typename OpTy> void AxisGroups::visitAddress(OpTy op, Value value) {
  Value state = op.getState(), address = op.getAddress();
  join(address, op.hasManyRows(), state, op.getAxis());
  if (getRank(state) == 2)
    join(value, op.hasManyRows(), state, 1 - op.getAxis());
  if (op.hasManyRows()) {
    // Rows that are read stay apart, rows that are written are summed.
    join(address, 0, value, 0);
    if (isa<WriteOp>(op))
      mix(getNode(address, 0), op);
  }
}

void AxisGroups::visitLinalg(linalg::LinalgOp op) {
  unsigned loops = addNodes(op.getNumLoops());
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind != utils::IteratorType::parallel)
      mix(loops + dim, op);
  for (OpOperand &operand : op->getOpOperands())
    for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        groups.join(getNode(operand.get(), axis), loops + dim.getPosition());
        continue;
      }
      mix(getNode(operand.get(), axis), op);
      expr.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          mix(loops + dim.getPosition(), op);
      });
    }
  for (auto [init, result] : llvm::zip(op.getDpsInits(), op->getResults()))
    joinAll(init, result);
  op->walk([&](linalg::IndexOp index) { mix(loops + index.getDim(), op); });
  mixCaptures(op);
}

void AxisGroups::visitSlice(tensor::ExtractSliceOp op) {
  Value source = op.getSource(), result = op.getResult();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  unsigned axisOfResult = 0;
  for (unsigned axis = 0; axis < getRank(source); ++axis) {
    bool isWhole = isConstantIntValue(op.getMixedOffsets()[axis], 0) &&
                   isConstantIntValue(op.getMixedStrides()[axis], 1) &&
                   op.getStaticSizes()[axis] == getTensor(source).getDimSize(axis) &&
                   ShapedType::isStatic(op.getStaticSizes()[axis]) && !dropped[axis];
    if (isWhole)
      join(source, axis, result, axisOfResult);
    else {
      mix(getNode(source, axis), op);
      if (!dropped[axis])
        mix(getNode(result, axisOfResult), op);
    }
    axisOfResult += !dropped[axis];
  }
}

/// Columns of the right-hand side are solved apart.
void AxisGroups::visitSolve(SolveOp op) {
  mixAll(op.getMatrix(), op);
  joinAll(op.getRhs(), op.getResult());
  mix(getNode(op.getRhs(), 0), op);
}

/// Columns are summed apart.
void AxisGroups::visitSum(WeightedSumOp op) {
  mixAll(op.getMatrix(), op);
  joinAll(op.getValues(), op.getResult());
  joinAll(op.getDecay(), op.getResult());
  mix(getNode(op.getValues(), 0), op);
}

void AxisGroups::visit(Operation *op) {
  if (auto decay = dyn_cast<DecayOp>(op))
    return visitDecay(decay);
  if (auto read = dyn_cast<ReadOp>(op)) {
    mix(getNode(read.getState(), read.getAxis()), op);
    return visitAddress(read, read.getResult());
  }
  if (auto write = dyn_cast<WriteOp>(op)) {
    joinAll(write.getState(), write.getResult());
    return visitAddress(write, write.getValue());
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return visitLinalg(linalgOp);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return visitSlice(slice);
  if (auto solve = dyn_cast<SolveOp>(op))
    return visitSolve(solve);
  if (auto sum = dyn_cast<WeightedSumOp>(op))
    return visitSum(sum);
  if (auto products = dyn_cast<RunningProductOp>(op)) {
    joinAll(products.getFactors(), products.getResult());
    return mix(getNode(products.getResult(), 0), op);
  }
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    for (Value operand : op->getOperands())
      if (getTensor(operand))
        joinAll(operand, op->getResult(0));
    return;
  }
  DenseElementsAttr constant;
  bool isUniform = matchPattern(op, m_Constant(&constant)) && constant.isSplat();
  if (isUniform || isa<tensor::SplatOp, tensor::EmptyOp>(op))
    return;
  for (Value value : op->getOperands())
    mixAll(value, op);
  for (Value value : op->getResults())
    mixAll(value, op);
  mixCaptures(op);
}

//===----------------------------------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------------------------------===//

AxisGroups::AxisGroups(RecurrenceOp op) {
  Block &body = op.getBody().front();
  for (BlockArgument arg : body.getArguments())
    getNode(arg, 0);
  for (Operation &nested : body.without_terminator()) {
    for (Value result : nested.getResults())
      getNode(result, 0);
    visit(&nested);
  }
  for (auto [state, next] : llvm::zip_equal(op.getStateArgs(), op.getYieldedStates()))
    joinAll(state, next);
  // The rows of a step are tokens.
  if (op.getStep()) {
    auto mixRows = [&](Value value, OpOperand &operand) {
      if (op.usesTime(op.getMap(operand)))
        mix(getNode(value, 0), op);
    };
    for (auto [value, operand] : llvm::zip_equal(op.getInArgs(), op.getInsMutable()))
      mixRows(value, operand);
    for (auto [value, operand] : llvm::zip_equal(op.getYieldedOuts(), op.getOutsMutable()))
      mixRows(value, operand);
  }
  for (auto [node, mixer] : mixed) {
    Operation *&known = mixers[groups.findLeader(node)];
    if (!known || (isa<ReadOp>(known) && !isa<ReadOp>(mixer)))
      known = mixer;
  }
}

bool AxisGroups::canCut(ArrayRef<unsigned> cut, int64_t extent) const {
  return llvm::all_of(values, [&](Value value) {
    unsigned count = 0;
    for (unsigned axis = 0; axis < getRank(value); ++axis)
      if (llvm::is_contained(cut, getGroup(value, axis))) {
        ++count;
        if (getTensor(value).getDimSize(axis) != extent)
          return false;
      }
    return count <= 1;
  });
}

llvm::DenseMap<Value, unsigned> AxisGroups::getAxes(ArrayRef<unsigned> cut) const {
  llvm::DenseMap<Value, unsigned> axes;
  for (Value value : values)
    for (unsigned axis = 0; axis < getRank(value); ++axis)
      if (llvm::is_contained(cut, getGroup(value, axis)))
        axes[value] = axis;
  return axes;
}

ValueAxes::ValueAxes(RecurrenceOp op) {
  AxisGroups groups(op);
  SmallVector<unsigned> cut;
  // Matrices first: a vector has columns only if they are those of the matrices.
  SmallVector<BlockArgument> states(op.getStateArgs());
  llvm::sort(states, [](BlockArgument a, BlockArgument b) {
    return std::pair(getRank(b), a.getArgNumber()) < std::pair(getRank(a), b.getArgNumber());
  });
  bool hasUnmixed = false;
  for (Value state : states)
    for (int64_t axis = int64_t(getRank(state)) - 1; axis >= 0; --axis) {
      unsigned group = groups.getGroup(state, axis);
      if (Operation *op = groups.getMixer(group)) {
        if (!mixer || (isa<ReadOp>(mixer) && !isa<ReadOp>(op)))
          mixer = op;
        continue;
      }
      if (llvm::is_contained(cut, group))
        break;
      hasUnmixed = true;
      cut.push_back(group);
      int64_t size = getTensor(state).getDimSize(axis);
      if (ShapedType::isStatic(size) && groups.canCut(cut, extent.value_or(size))) {
        extent = size;
        break;
      }
      cut.pop_back();
    }
  axes = groups.getAxes(cut);
  if (hasUnmixed)
    mixer = nullptr;
}
