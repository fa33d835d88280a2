//===- RecurrenceCanonicalize.cpp - smaller recurrences with the same meaning -------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::linattn;

/// The ops of the body that a state reaches, and whether it reaches a yielded value other than
/// `ownOperand`.
static bool findUsers(RecurrenceOp op, unsigned state, SetVector<Operation *> &users) {
  unsigned ownOperand = op.getOuts().size() + state;
  bool reachesOthers = false;
  SmallVector<Value> worklist{op.getStateArgs()[state]};
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      // Uses inside nested regions count as uses by the op in the body that holds the region.
      Operation *user = op.getBody().findAncestorOpInRegion(*use.getOwner());
      if (isa<YieldOp>(user))
        reachesOthers |= use.getOperandNumber() != ownOperand;
      else if (users.insert(user))
        worklist.append(user->result_begin(), user->result_end());
    }
  return reachesOthers;
}

/// The op without the operands (and their maps, block arguments, results and yielded values) that
/// the bit vectors name. States keep their checkpoints: both go or neither.
static void eraseOperands(RecurrenceOp op, PatternRewriter &rewriter, const BitVector &ins,
                          const BitVector &outs, const BitVector &states) {
  SmallVector<Value> keptIns, keptOuts, keptStates, keptCheckpoints;
  SmallVector<AffineMap> maps;
  auto keep = [&](MutableOperandRange group, const BitVector &erased,
                  SmallVectorImpl<Value> &kept) {
    for (auto [index, operand] : llvm::enumerate(group))
      if (erased.empty() || !erased[index]) {
        kept.push_back(operand.get());
        maps.push_back(op.getMap(operand));
      }
  };
  keep(op.getInsMutable(), ins, keptIns);
  if (op.getPositionOffset())
    maps.push_back(op.getMap(*op.getPositionOffsetMutable().begin()));
  keep(op.getOutsMutable(), outs, keptOuts);
  keep(op.getStatesMutable(), states, keptStates);
  keep(op.getCheckpointsMutable(), states, keptCheckpoints);

  SmallVector<IteratorKind> iterators;
  for (unsigned dim = 0; dim < op.getNumIterators(); ++dim)
    iterators.push_back(op.getIteratorKind(dim));
  std::optional<int64_t> interval = op.getCheckpointInterval();
  auto smaller =
      RecurrenceOp::create(rewriter, op.getLoc(), keptIns, op.getSegments(), op.getPositionOffset(),
                           keptOuts, keptStates, keptCheckpoints, iterators, maps, op.getReverse(),
                           op.getStep(), keptCheckpoints.empty() ? std::nullopt : interval);
  smaller->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  smaller.setPlanAttr(op.getPlanAttr());

  YieldOp yield = op.getYield();
  SetVector<Operation *> users;
  for (unsigned state : states.set_bits())
    findUsers(op, state, users);
  SmallVector<Value> values, results;
  unsigned numOuts = op.getOuts().size(), numStates = op.getStates().size(), next = 0;
  auto isErased = [&](unsigned result) {
    return result < numOuts ? outs[result] : states[(result - numOuts) % std::max(numStates, 1u)];
  };
  for (auto [index, value] : llvm::enumerate(yield.getValues()))
    if (!isErased(index))
      values.push_back(value);
  rewriter.modifyOpInPlace(yield, [&] { yield.getValuesMutable().assign(values); });
  // Later ops use earlier ones.
  SmallVector<Operation *> ordered(users.getArrayRef());
  llvm::sort(ordered, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *user : ordered)
    rewriter.eraseOp(user);
  rewriter.inlineRegionBefore(op.getBody(), smaller.getBody(), smaller.getBody().end());
  unsigned lead = op.getStep() ? 1 : 0;
  BitVector erasedArgs(lead + ins.size() + states.size());
  for (unsigned index : ins.set_bits())
    erasedArgs.set(lead + index);
  for (unsigned index : states.set_bits())
    erasedArgs.set(lead + ins.size() + index);
  smaller.getBody().front().eraseArguments(erasedArgs);
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    results.push_back(isErased(result) ? Value(op->getOperand(op->getNumOperands() -
                                                              op->getNumResults() + result))
                                       : smaller->getResult(next++));
  rewriter.replaceOp(op, results);
}

/// True if every iteration dim still has an operand that gives its extent, and gives it statically
/// if it was static, once `ins`, `outs` and `states` are gone.
static bool keepsExtents(RecurrenceOp op, const BitVector &ins, const BitVector &outs,
                         const BitVector &states) {
  SmallVector<int64_t> extents = op.getStaticExtents();
  BitVector bare(op.getNumIterators());
  if (std::optional<unsigned> segment = op.getSegmentDim())
    bare.set(*segment);
  auto visit = [&](MutableOperandRange group, const BitVector &erased) {
    for (auto [index, operand] : llvm::enumerate(group))
      if (erased.empty() || !erased[index])
        for (auto [operandDim, expr] : llvm::enumerate(op.getMap(operand).getResults()))
          if (auto dim = dyn_cast<AffineDimExpr>(expr);
              dim && dim.getPosition() < bare.size() &&
              cast<RankedTensorType>(operand.get().getType()).getDimSize(operandDim) ==
                  extents[dim.getPosition()])
            bare.set(dim.getPosition());
  };
  visit(op.getInsMutable(), ins);
  visit(op.getPositionOffsetMutable(), {});
  visit(op.getOutsMutable(), outs);
  visit(op.getStatesMutable(), states);
  return bare.all();
}

namespace {

/// Drops inputs that the body does not use, outs whose result nobody uses, and states that
/// influence nothing but themselves.
struct DropUnused : OpRewritePattern<RecurrenceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RecurrenceOp op, PatternRewriter &rewriter) const override {
    BitVector ins(op.getIns().size()), outs(op.getOuts().size()), states(op.getStates().size());
    // One at a time: an operand may be there only to give an extent.
    auto drop = [&](BitVector &group, unsigned index) {
      group.set(index);
      if (!keepsExtents(op, ins, outs, states))
        group.reset(index);
    };
    for (auto [index, arg] : llvm::enumerate(op.getInArgs()))
      if (arg.use_empty())
        drop(ins, index);
    for (auto [index, result] : llvm::enumerate(op.getOutResults()))
      if (result.use_empty())
        drop(outs, index);
    for (unsigned index = 0; index < states.size(); ++index)
      if (isDead(op, index))
        drop(states, index);
    if (ins.none() && outs.none() && states.none())
      return rewriter.notifyMatchFailure(op, "every operand is used");
    eraseOperands(op, rewriter, ins, outs, states);
    return success();
  }

private:
  /// A state is dead if its results are unused and its block argument feeds only its own new value.
  static bool isDead(RecurrenceOp op, unsigned state) {
    if (!op.getStateResults()[state].use_empty() ||
        (!op.getCheckpoints().empty() && !op.getCheckpointResults()[state].use_empty()))
      return false;
    SetVector<Operation *> users;
    return !findUsers(op, state, users);
  }
};

/// A constant that fills its operand is a constant in the body.
struct SinkConstantInputs : OpRewritePattern<RecurrenceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RecurrenceOp op, PatternRewriter &rewriter) const override {
    bool changed = false;
    rewriter.setInsertionPointToStart(&op.getBody().front());
    for (auto [input, arg] : llvm::zip_equal(op.getInsMutable(), op.getInArgs())) {
      Attribute attribute;
      // The dead rows of a step read as 0, not as the constant.
      bool hasDeadRows = op.getStep() && op.usesTime(op.getMap(input));
      if (arg.use_empty() || hasDeadRows || !matchPattern(input.get(), m_Constant(&attribute)))
        continue;
      if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
        attribute = splat.getSplatValue<Attribute>();
      auto number = dyn_cast<TypedAttr>(attribute);
      if (!number || isa<ElementsAttr>(attribute) ||
          number.getType() != getElementTypeOrSelf(arg.getType()))
        continue;
      if (auto tensor = dyn_cast<RankedTensorType>(arg.getType())) {
        if (!tensor.hasStaticShape())
          continue;
        number = DenseElementsAttr::get(tensor, attribute);
      }
      rewriter.replaceAllUsesWith(
          arg, arith::ConstantOp::create(rewriter, op.getLoc(), number).getResult());
      changed = true;
    }
    return success(changed);
  }
};

} // namespace

void RecurrenceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnused, SinkConstantInputs>(context);
}
