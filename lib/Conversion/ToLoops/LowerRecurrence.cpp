//===- LowerRecurrence.cpp - loops around the body of a recurrence ------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Every init (out, state, checkpoint output) is cut into one *slot* per point of the parallel dims:
// the box of elements that the point owns. Points are independent, so slots become the shared outs
// of one scf.forall, and inside it the time loop works on slots only. An init whose slots are not
// strided boxes makes the parallel dims a nest of scf.for that carries the whole tensors;
// everything else is the same, because the access to a slot is again a set of index forms.
//
//===----------------------------------------------------------------------------------------------===//

#include "OperandAccess.h"

#include "linattn/Conversion/ToLoops.h"
#include "linattn/IR/LinAttn.h"
#include "linattn/Transforms/DeferWrites.h"
#include "linattn/Transforms/InPlace.h"
#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::linattn;

namespace {

/// The box of an init that belongs to one point of the parallel dims.
struct Slot {
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

enum class InitKind { out, state, checkpoint };

struct Init {
  Value tensor;
  InitKind kind;
  Type slice;
  SmallVector<IndexForm> forms;
  unsigned numSliceDims;
};

class LoopBuilder {
public:
  LoopBuilder(RewriterBase &rewriter, RecurrenceOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()) {}
  SmallVector<Value> build();
  scf::ForOp getTimeLoop() { return timeLoop; }

private:
  /// The tokens of one point: rows `base .. base + length - 1` of time.
  struct Sequence {
    OpFoldResult base, length;
  };

  void collectInits();
  bool isParallel(const IndexTerm &term);
  bool isPacked(const Init &init, const IndexForm &form);
  bool isWhole(const IndexForm &form);
  bool hasSlots(const Init &init);
  SmallVector<IndexForm> getSlotForms(const Init &init);
  Slot getSlot(const Init &init, ArrayRef<OpFoldResult> ivs, const Sequence &sequence);
  Sequence getSequence(ArrayRef<OpFoldResult> ivs);
  SmallVector<Value> buildForall();
  SmallVector<Value> buildNest(unsigned dim, SmallVector<OpFoldResult> ivs, ValueRange tensors);
  SmallVector<Value> buildPoint(ArrayRef<OpFoldResult> ivs, const Sequence &sequence,
                                ValueRange tensors, ArrayRef<OperandAccess> accesses, bool isSlot);
  SmallVector<Value> buildStep(const StepPoint &local, const Sequence &sequence, ValueRange tensors,
                               ValueRange states, ArrayRef<OperandAccess> accesses, bool isSlot,
                               Value positionOffset);
  void inlineShared(const StepPoint &start);
  SmallVector<Value> inlineBody(const StepPoint &local, const StepPoint &packed, ValueRange states,
                                Value positionOffset);
  void storeCheckpoints(const StepPoint &local, const Sequence &sequence,
                        MutableArrayRef<Value> tensors, ValueRange states,
                        ArrayRef<OperandAccess> accesses);

  OperandAccess getAccess(AffineMap map) {
    return OperandAccess(*getIndexForms(map), op.getTimeDim(), op.getNumIterators(),
                         op.getNumSliceDims(map));
  }
  OpFoldResult index(int64_t value) { return rewriter.getIndexAttr(value); }
  AffineExpr dim(unsigned position) { return rewriter.getAffineDimExpr(position); }
  OpFoldResult apply(AffineExpr expr, ArrayRef<OpFoldResult> values) {
    return applyExpr(rewriter, loc, expr, values);
  }
  Value asValue(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, value);
  }

  RewriterBase &rewriter;
  RecurrenceOp op;
  Location loc;
  SmallVector<OpFoldResult> extents;
  SmallVector<Init> inits;
  scf::ForOp timeLoop;
  IRMapping shared; ///< what is the same for all tokens of a point
};

} // namespace

//===----------------------------------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------------------------------===//

void LoopBuilder::collectInits() {
  auto add = [&](MutableOperandRange group, InitKind kind, TypeRange slices) {
    for (auto [operand, slice] : llvm::zip_equal(group, slices)) {
      AffineMap map = op.getMap(operand);
      inits.push_back({operand.get(), kind, slice, *getIndexForms(map), op.getNumSliceDims(map)});
    }
  };
  SmallVector<Type> outs(op.getYieldedOuts().getTypes()), states(op.getYieldedStates().getTypes());
  add(op.getOutsMutable(), InitKind::out, outs);
  add(op.getStatesMutable(), InitKind::state, states);
  if (!op.getCheckpoints().empty())
    add(op.getCheckpointsMutable(), InitKind::checkpoint, states);
}

/// True if the term is the same for all steps of one point.
bool LoopBuilder::isParallel(const IndexTerm &term) {
  return term.digit.dim != op.getTimeDim() && term.digit.dim < op.getNumIterators();
}

/// The rows of a segment are a part of the out's rows; all else in a slot is indexed from 0.
bool LoopBuilder::isPacked(const Init &init, const IndexForm &form) {
  return op.getSegments() && init.kind == InitKind::out && form.usesDim(op.getTimeDim());
}

/// True if a slot spans the whole operand dim: nothing in the form depends on the parallel dims, so
/// the form is the same inside the slot.
bool LoopBuilder::isWhole(const IndexForm &form) {
  return !form.terms.empty() &&
         llvm::none_of(form.terms, [&](const IndexTerm &term) { return isParallel(term); });
}

/// A slot is a strided box if in each dim at most one term varies inside it.
bool LoopBuilder::hasSlots(const Init &init) {
  return llvm::all_of(init.forms, [&](const IndexForm &form) {
    SmallVector<IndexTerm> varying;
    llvm::copy_if(form.terms, std::back_inserter(varying),
                  [&](const IndexTerm &term) { return !isParallel(term); });
    if (varying.size() > 1)
      return isWhole(form) && !isPacked(init, form);
    if (varying.empty() || (isWhole(form) && !isPacked(init, form)))
      return true;
    // The rows of one segment lie in one range only if time itself is the index.
    return varying[0].coefficient >= 1 && (!isPacked(init, form) || varying[0].digit.isWholeDim());
  });
}

SmallVector<IndexForm> LoopBuilder::getSlotForms(const Init &init) {
  SmallVector<IndexForm> forms;
  for (const IndexForm &form : init.forms) {
    if (isWhole(form) && !isPacked(init, form)) {
      forms.push_back(form);
      continue;
    }
    IndexForm local;
    for (const IndexTerm &term : form.terms)
      if (!isParallel(term))
        local.terms.push_back({term.digit, 1});
    forms.push_back(local);
  }
  return forms;
}

Slot LoopBuilder::getSlot(const Init &init, ArrayRef<OpFoldResult> ivs, const Sequence &sequence) {
  unsigned timeDim = op.getTimeDim(), numIterators = op.getNumIterators();
  // Offsets: the form with its varying terms at 0. The rows of a segment start at its base.
  SmallVector<OpFoldResult> origin(ivs);
  origin[timeDim] = init.kind == InitKind::out ? sequence.base : index(0);
  origin.append(init.numSliceDims, index(0));
  OpFoldResult count = sequence.length;
  if (init.kind == InitKind::checkpoint)
    count = apply(dim(0).floorDiv(*op.getCheckpointInterval()), {sequence.length});

  Slot slot;
  for (auto [position, form] : llvm::enumerate(init.forms)) {
    if (isWhole(form) && !isPacked(init, form)) {
      slot.offsets.push_back(index(0));
      slot.sizes.push_back(tensor::getMixedSize(rewriter, loc, init.tensor, position));
      slot.strides.push_back(index(1));
      continue;
    }
    slot.offsets.push_back(apply(form.getExpr(op.getContext()), origin));
    slot.sizes.push_back(index(1));
    slot.strides.push_back(index(1));
    for (const IndexTerm &term : form.terms) {
      if (isParallel(term))
        continue;
      slot.strides.back() = index(term.coefficient);
      if (term.digit.dim == timeDim) {
        // The values of a digit: ceildiv(count, low), at most high / low.
        AffineExpr values = dim(0).ceilDiv(term.digit.low);
        SmallVector<AffineExpr> bounds{values};
        if (term.digit.high)
          bounds.push_back(rewriter.getAffineConstantExpr(term.digit.high / term.digit.low));
        slot.sizes.back() = affine::makeComposedFoldedAffineMin(
            rewriter, loc, AffineMap::get(1, 0, bounds, op.getContext()), {count});
      } else {
        auto type = cast<RankedTensorType>(init.slice);
        int64_t rankOffset = type.getRank() - init.numSliceDims;
        int64_t extent = type.getDimSize(rankOffset + term.digit.dim - numIterators);
        // A slice dim of dynamic extent is bare, and then the slot is whole.
        slot.sizes.back() = index(extent);
      }
    }
  }
  return slot;
}

//===----------------------------------------------------------------------------------------------===//
// Loops over the parallel dims
//===----------------------------------------------------------------------------------------------===//

LoopBuilder::Sequence LoopBuilder::getSequence(ArrayRef<OpFoldResult> ivs) {
  std::optional<unsigned> segment = op.getSegmentDim();
  if (!segment)
    return {index(0), extents[op.getTimeDim()]};
  auto load = [&](OpFoldResult position) {
    Value offset = tensor::ExtractOp::create(rewriter, loc, op.getSegments(), asValue(position));
    return arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), offset).getResult();
  };
  Value begin = load(ivs[*segment]), end = load(apply(dim(0) + 1, {ivs[*segment]}));
  return {begin, apply(dim(1) - dim(0), {begin, end})};
}

SmallVector<Value> LoopBuilder::build() {
  for (unsigned iterator = 0; iterator < op.getNumIterators(); ++iterator)
    extents.push_back(op.getExtent(rewriter, iterator));
  collectInits();
  if (op.getNumIterators() > 1 &&
      llvm::all_of(inits, [&](const Init &init) { return hasSlots(init); }))
    return buildForall();
  SmallVector<Value> tensors =
      llvm::map_to_vector(inits, [](const Init &init) { return init.tensor; });
  return buildNest(0, SmallVector<OpFoldResult>(op.getNumIterators(), index(0)), tensors);
}

SmallVector<Value> LoopBuilder::buildForall() {
  SmallVector<OpFoldResult> upperBounds;
  SmallVector<unsigned> dims;
  for (unsigned iterator = 0; iterator < op.getNumIterators(); ++iterator)
    if (iterator != op.getTimeDim()) {
      dims.push_back(iterator);
      upperBounds.push_back(extents[iterator]);
    }
  SmallVector<Value> outputs =
      llvm::map_to_vector(inits, [](const Init &init) { return init.tensor; });
  SmallVector<OperandAccess> accesses;
  for (const Init &init : inits)
    accesses.emplace_back(getSlotForms(init), op.getTimeDim(), op.getNumIterators(),
                          init.numSliceDims);

  auto forall = scf::ForallOp::create(
      rewriter, loc, upperBounds, outputs, /*mapping=*/std::nullopt,
      [&](OpBuilder &builder, Location, ValueRange args) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
        SmallVector<OpFoldResult> ivs(op.getNumIterators(), index(0));
        for (auto [position, iterator] : llvm::enumerate(dims))
          ivs[iterator] = args[position];
        ValueRange shared = args.drop_front(dims.size());
        Sequence sequence = getSequence(ivs);
        SmallVector<Slot> slots;
        SmallVector<Value> tensors;
        for (auto [init, tensor] : llvm::zip_equal(inits, shared)) {
          Slot slot = getSlot(init, ivs, sequence);
          tensors.push_back(tensor::ExtractSliceOp::create(rewriter, loc, tensor, slot.offsets,
                                                           slot.sizes, slot.strides));
          slots.push_back(slot);
        }
        SmallVector<Value> results = buildPoint(ivs, sequence, tensors, accesses, /*isSlot=*/true);
        auto inParallel = scf::InParallelOp::create(rewriter, loc);
        rewriter.setInsertionPointToStart(&inParallel.getRegion().front());
        for (auto [result, tensor, slot] : llvm::zip_equal(results, shared, slots))
          tensor::ParallelInsertSliceOp::create(rewriter, loc, result, tensor, slot.offsets,
                                                slot.sizes, slot.strides);
      });
  return SmallVector<Value>(forall.getResults());
}

SmallVector<Value> LoopBuilder::buildNest(unsigned dim, SmallVector<OpFoldResult> ivs,
                                          ValueRange tensors) {
  if (dim == op.getTimeDim())
    return buildNest(dim + 1, ivs, tensors);
  if (dim >= op.getNumIterators()) {
    SmallVector<OperandAccess> accesses;
    for (const Init &init : inits)
      accesses.emplace_back(init.forms, op.getTimeDim(), op.getNumIterators(), init.numSliceDims);
    return buildPoint(ivs, getSequence(ivs), tensors, accesses, /*isSlot=*/false);
  }
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0),
        one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  auto loop = scf::ForOp::create(rewriter, loc, zero, asValue(extents[dim]), one, tensors);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  ivs[dim] = loop.getInductionVar();
  SmallVector<Value> results = buildNest(dim + 1, ivs, loop.getRegionIterArgs());
  // With no results the builder has made the terminator.
  if (!results.empty())
    scf::YieldOp::create(rewriter, loc, results);
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------------------------------===//
// The loop over time
//===----------------------------------------------------------------------------------------------===//

/// True if `value` is known to be a multiple of `factor`.
static bool isMultiple(OpFoldResult value, int64_t factor) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % factor == 0;
  auto apply = cast<Value>(value).getDefiningOp<affine::AffineApplyOp>();
  return apply && apply.getAffineMap().getResult(0).isMultipleOf(factor);
}

/// True if the slices of a state, tiles of value columns, say, are parts of its rows: then their
/// own rows lie far apart, in a part of the sets of a cache, and prefetchers run into the rows of
/// other threads. A few steps are not worth a copy.
static bool needsCopy(Type slice, Value state, OpFoldResult length, int64_t step) {
  auto type = dyn_cast<RankedTensorType>(slice);
  if (!type || type.getRank() < 2 ||
      type.getShape().back() == cast<RankedTensorType>(state.getType()).getShape().back())
    return false;
  FailureOr<int64_t> most = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, length, /*stopCondition=*/nullptr, /*closedUB=*/true);
  return failed(most) || *most > 4 * step;
}

SmallVector<Value> LoopBuilder::buildPoint(ArrayRef<OpFoldResult> ivs, const Sequence &sequence,
                                           ValueRange tensors, ArrayRef<OperandAccess> accesses,
                                           bool isSlot) {
  size_t numOuts = op.getOuts().size(), numStates = op.getStates().size();
  StepPoint start{SmallVector<OpFoldResult>(ivs), {}};
  start.ivs[op.getTimeDim()] = index(0);

  Value positionOffset;
  if (op.getPositionOffset()) {
    OpOperand &operand = *op.getPositionOffsetMutable().begin();
    OperandAccess access(*getIndexForms(op.getMap(operand)), op.getTimeDim(), op.getNumIterators(),
                         0);
    positionOffset = access.load(rewriter, loc, operand.get(), start,
                                 getElementTypeOrSelf(operand.get().getType()));
    if (!positionOffset.getType().isIndex())
      positionOffset =
          arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), positionOffset);
  }

  inlineShared(start);
  int64_t step = op.getStep().value_or(1);
  // The loop carries outs, checkpoints and the slices of the states; the states' slots wait
  // outside.
  SmallVector<Value> carried;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (inits[i].kind != InitKind::state) {
      carried.push_back(tensors[i]);
      continue;
    }
    Value slice = accesses[i].load(rewriter, loc, tensors[i], start, inits[i].slice);
    if (op.getStep() &&
        needsCopy(slice.getType(), op.getStates()[i - numOuts], sequence.length, step))
      slice = bufferization::AllocTensorOp::create(
          rewriter, loc, cast<RankedTensorType>(slice.getType()), ValueRange(), slice);
    carried.push_back(slice);
  }
  Value stepValue = arith::ConstantIndexOp::create(rewriter, loc, step);
  // Steps of `begin <= iv < end`; `place` says where they are in time and how many rows are live.
  auto buildSteps = [&](OpFoldResult begin, OpFoldResult end,
                        function_ref<void(Value, OpFoldResult &, OpFoldResult &)> place) {
    auto loop = scf::ForOp::create(rewriter, loc, asValue(begin), asValue(end), stepValue, carried);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    StepPoint local = start;
    place(loop.getInductionVar(), local.ivs[op.getTimeDim()], local.live);
    ValueRange args = loop.getRegionIterArgs();
    SmallVector<Value> next = buildStep(local, sequence, args, args.slice(numOuts, numStates),
                                        accesses, isSlot, positionOffset);
    if (!next.empty())
      scf::YieldOp::create(rewriter, loc, next);
    carried.assign(loop.getResults().begin(), loop.getResults().end());
    return loop;
  };
  OpFoldResult length = sequence.length, whole = length;
  bool isWhole = !op.getStep() || isMultiple(length, step);
  if (!isWhole)
    whole = apply(dim(0).floorDiv(step) * step, {length});
  auto buildWhole = [&] {
    timeLoop = buildSteps(index(0), whole, [&](Value iv, OpFoldResult &time, OpFoldResult &live) {
      time = iv;
      if (op.getReverse())
        time = apply(dim(1) - dim(0) - step, {iv, whole});
      if (op.getStep())
        live = index(step);
    });
  };
  auto buildRest = [&] {
    if (!isWhole)
      buildSteps(whole, length, [&](Value iv, OpFoldResult &time, OpFoldResult &live) {
        time = iv;
        live = apply(dim(1) - dim(0), {time, length});
      });
  };
  if (op.getReverse()) {
    buildRest();
    buildWhole();
  } else {
    buildWhole();
    buildRest();
  }
  SmallVector<Value> results(carried);
  for (size_t i = 0; i < results.size(); ++i)
    if (inits[i].kind == InitKind::state)
      results[i] = accesses[i].store(rewriter, loc, results[i], tensors[i], start);
  return results;
}

SmallVector<Value> LoopBuilder::buildStep(const StepPoint &local, const Sequence &sequence,
                                          ValueRange tensors, ValueRange states,
                                          ArrayRef<OperandAccess> accesses, bool isSlot,
                                          Value positionOffset) {
  // Inputs are addressed by the packed row; so are outs, except in a slot, which starts at the
  // segment.
  StepPoint packed = local;
  OpFoldResult &time = packed.ivs[op.getTimeDim()];
  time = apply(dim(0) + dim(1), {time, sequence.base});
  SmallVector<Value> yielded = inlineBody(local, packed, states, positionOffset);
  size_t numOuts = op.getOuts().size();
  SmallVector<Value> next(tensors);
  for (size_t i = 0; i < numOuts; ++i)
    next[i] = accesses[i].store(rewriter, loc, yielded[i], tensors[i], isSlot ? local : packed);
  auto newStates = MutableArrayRef<Value>(yielded).drop_front(numOuts);
  carryStates(rewriter, loc, op, llvm::to_vector(llvm::seq<unsigned>(states.size())), newStates,
              states);
  llvm::copy(newStates, next.begin() + numOuts);
  if (!op.getCheckpoints().empty())
    storeCheckpoints(local, sequence, next, newStates, accesses);
  return next;
}

/// Makes the tensors that a loop of the body carries keep their buffers.
static void carryInPlace(RewriterBase &rewriter, scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(yield);
  for (auto [value, carried] : llvm::zip_equal(yield->getOpOperands(), loop.getRegionIterArgs())) {
    auto def = value.get().getDefiningOp<DestinationStyleOpInterface>();
    OpOperand *init = def ? def.getTiedOpOperand(cast<OpResult>(value.get())) : nullptr;
    // A linalg op that does not read its init may be given another one later.
    auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(def ? def.getOperation() : nullptr);
    bool isInPlace =
        init && init->get() == carried && (!linalgOp || linalgOp.payloadUsesValueFromOperand(init));
    if (value.get() != carried && !isInPlace)
      value.set(carry(rewriter, loop.getLoc(), value.get(), carried));
  }
}

/// True if an op may become one that updates an operand in place. Before the loop nothing would
/// keep it from updating an input of the function; inside, later tokens need the old value.
static bool mayUpdate(Operation *op, function_ref<bool(Value)> isConstant) {
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return !llvm::all_of(destination.getDpsInits(), isConstant);
  return op->getNumRegions() > 0 || isa<DecayOp, WriteOp>(op);
}

/// Loads the inputs that do not depend on time, and computes what depends on nothing else, before
/// the loop. Constants alone stay inside, where they are free: a fill would have to be copied.
void LoopBuilder::inlineShared(const StepPoint &start) {
  shared = IRMapping();
  for (auto [operand, arg] : llvm::zip_equal(op.getInsMutable(), op.getInArgs()))
    if (AffineMap map = op.getMap(operand); !op.usesTime(map))
      shared.map(arg, getAccess(map).load(rewriter, loc, operand.get(), start, arg.getType()));
  IRMapping mapping = shared;
  DenseSet<Operation *> constants;
  for (Operation &nested : op.getBody().front().without_terminator()) {
    SetVector<Value> uses(nested.operand_begin(), nested.operand_end());
    getUsedValuesDefinedAbove(nested.getRegions(), uses);
    auto isConstant = [&](Value value) { return constants.contains(value.getDefiningOp()); };
    bool hasIndex = nested.walk([](IndexOp) { return WalkResult::interrupt(); }).wasInterrupted();
    // There may be no token at all.
    if (hasIndex || !isSpeculatable(&nested) || mayUpdate(&nested, isConstant) ||
        !llvm::all_of(uses, [&](Value value) { return mapping.contains(value); }))
      continue;
    rewriter.clone(nested, mapping);
    if (llvm::all_of(uses, isConstant))
      constants.insert(&nested);
    else
      for (Value result : nested.getResults())
        shared.map(result, mapping.lookup(result));
  }
}

SmallVector<Value> LoopBuilder::inlineBody(const StepPoint &local, const StepPoint &packed,
                                           ValueRange states, Value positionOffset) {
  IRMapping mapping = shared;
  if (BlockArgument live = op.getLiveArg())
    mapping.map(live, asValue(local.live));
  for (auto [operand, arg] : llvm::zip_equal(op.getInsMutable(), op.getInArgs())) {
    if (AffineMap map = op.getMap(operand); op.usesTime(map))
      mapping.map(arg, getAccess(map).load(rewriter, loc, operand.get(), packed, arg.getType()));
  }
  mapping.map(op.getStateArgs(), states);
  auto getIndex = [&](IndexOp indexOp) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(indexOp);
    OpFoldResult value = local.ivs[indexOp.getDim()];
    if (indexOp.getDim() == op.getTimeDim() && positionOffset)
      value = apply(dim(0) + dim(1), {value, positionOffset});
    return asValue(value);
  };
  auto ops = op.getBody().front().without_terminator();
  for (Operation *nested : orderForUpdatesInPlace(
           llvm::map_to_vector(ops, [](Operation &nested) { return &nested; }))) {
    if (nested->getNumResults() > 0 && shared.contains(nested->getResult(0)))
      continue;
    Operation *copy = rewriter.clone(*nested, mapping);
    if (auto indexOp = dyn_cast<IndexOp>(copy)) {
      mapping.map(nested->getResult(0), getIndex(indexOp));
      rewriter.eraseOp(copy);
      continue;
    }
    copy->walk([&](IndexOp indexOp) { rewriter.replaceOp(indexOp, getIndex(indexOp)); });
    copy->walk([&](scf::ForOp loop) { carryInPlace(rewriter, loop); });
  }
  return llvm::map_to_vector(op.getYield().getValues(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

void LoopBuilder::storeCheckpoints(const StepPoint &local, const Sequence &sequence,
                                   MutableArrayRef<Value> tensors, ValueRange states,
                                   ArrayRef<OperandAccess> accesses) {
  int64_t interval = *op.getCheckpointInterval();
  unsigned timeDim = op.getTimeDim();
  OpFoldResult time = local.ivs[timeDim];
  // Forward: after tokens N-1, 2N-1, ...; in reverse: after tokens 0, N, ... of the whole
  // intervals.
  OpFoldResult visited =
      op.getReverse() ? time : apply(dim(0) + dim(1), {time, local.live ? local.live : index(1)});
  Value isBorder =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                            asValue(apply(dim(0) % interval, {visited})), asValue(index(0)));
  OpFoldResult number =
      apply(op.getReverse() ? dim(0).floorDiv(interval) : dim(0).floorDiv(interval) - 1, {visited});
  if (op.getReverse()) {
    Value count = asValue(apply(dim(0).floorDiv(interval), {sequence.length}));
    Value isWholeInterval =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, asValue(number), count);
    isBorder = arith::AndIOp::create(rewriter, loc, isBorder, isWholeInterval);
  }
  MutableArrayRef<Value> checkpoints = tensors.take_back(states.size());
  auto branch = scf::IfOp::create(rewriter, loc, TypeRange(ValueRange(checkpoints)), isBorder,
                                  /*addThen=*/true, /*addElse=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  StepPoint point{local.ivs, {}};
  point.ivs[timeDim] = number;
  SmallVector<Value> stored;
  for (auto [checkpoint, state, access] :
       llvm::zip_equal(checkpoints, states, accesses.take_back(states.size())))
    stored.push_back(access.store(rewriter, loc, state, checkpoint, point));
  scf::YieldOp::create(rewriter, loc, stored);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, ValueRange(checkpoints));
  llvm::copy(branch.getResults(), checkpoints.begin());
}

//===----------------------------------------------------------------------------------------------===//
// Doors
//===----------------------------------------------------------------------------------------------===//

void mlir::linattn::lowerRecurrenceToLoops(RewriterBase &rewriter, RecurrenceOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  LoopBuilder builder(rewriter, op);
  SmallVector<Value> results = builder.build();
  PlanAttr plan = op.getPlanAttr();
  bool isSweep = plan && plan.getStrategy() == Strategy::sweep;
  unsigned firstState = op.getOuts().size(), endState = firstState + op.getStates().size();
  rewriter.replaceOp(op, results);
  scf::ForOp loop = builder.getTimeLoop();
  for (unsigned state = firstState; isSweep && state < endState; ++state)
    if (FailureOr<scf::ForOp> deferred = deferWrites(rewriter, loop, state); succeeded(deferred))
      loop = *deferred;
}

namespace {
struct LowerRecurrence : OpRewritePattern<RecurrenceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RecurrenceOp op, PatternRewriter &rewriter) const override {
    lowerRecurrenceToLoops(rewriter, op);
    return success();
  }
};
} // namespace

void mlir::linattn::populateRecurrenceToLoopsPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerRecurrence>(patterns.getContext());
}
