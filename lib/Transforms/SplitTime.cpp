//===- SplitTime.cpp - parts of time that run in parallel ---------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// If a state changes by decays and writes that depend on no state, then a part of time maps it from
// S to D S + U: U is the state that the part leaves when it starts from zero, D the product of its
// decays. Parts are segments of packed sequences, so that all that works on those works on parts.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/SplitTime.h"

#include "PassFrame.h"

#include "linattn/Analysis/StateGraph.h"
#include "linattn/Transforms/Passes.h"
#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_SPLITTIMEPASS
#include "linattn/Transforms/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

static remark::RemarkOpts getRemark() {
  return remark::RemarkOpts::name("split-time").category("linattn-split-time");
}

namespace {

/// All decays of a state along the same axes; their product over a part is a state that starts at 1
/// and only decays. Without axes it is a tensor of one number.
struct DecayProduct {
  unsigned state;
  ArrayRef<int64_t> axes;
  RankedTensorType type;
  SmallVector<DecayOp> decays;

  SmallVector<int64_t> getOwnAxes() const {
    return llvm::to_vector(llvm::seq<int64_t>(axes.size()));
  }
};

/// The operands of a recurrence that is being built.
struct Operands {
  SmallVector<Value> ins, outs, states;
  SmallVector<AffineMap> inMaps, offsetMaps, outMaps, stateMaps;
  SmallVector<IteratorKind> iterators;

  void addIn(Value value, AffineMap map) {
    ins.push_back(value);
    inMaps.push_back(map);
  }
  void addOut(Value value, AffineMap map) {
    outs.push_back(value);
    outMaps.push_back(map);
  }
  void addState(Value value, AffineMap map) {
    states.push_back(value);
    stateMaps.push_back(map);
  }
};

class TimeSplitter {
public:
  TimeSplitter(RewriterBase &rewriter, RecurrenceOp op, int64_t parts)
      : rewriter(rewriter), op(op), loc(op.getLoc()), parts(parts),
        numIterators(op.getNumIterators()) {}
  TimeParts split(int64_t chunk);

private:
  void collectProducts();
  void createOffsets(int64_t chunk);
  AffineExpr dim(unsigned position) { return rewriter.getAffineDimExpr(position); }
  AffineMap shiftSlices(AffineMap map);
  AffineMap getPartMap(AffineMap map) {
    return shiftSlices(map).insertResult(dim(numIterators), 0);
  }
  AffineMap getProductMap(const DecayProduct &product, unsigned partDim, bool isState);
  SmallVector<OpFoldResult> getPartSizes(Value state);
  Operands getOperandsOfParts();
  void giveExtents(Operands &operands, int64_t steps);
  PlanAttr getPlanOfPart();
  RecurrenceOp create(const Operands &operands, PlanAttr plan);
  IRMapping cloneBody(RecurrenceOp part);
  RecurrenceOp buildSums();
  RecurrenceOp buildStarts(RecurrenceOp sums);
  RecurrenceOp buildOutputs(RecurrenceOp starts);

  RewriterBase &rewriter;
  RecurrenceOp op;
  Location loc;
  int64_t parts;
  unsigned numIterators;
  Value offsets;      ///< of the parts
  Value tokensBefore; ///< a part; null if the body does not ask
  SmallVector<DecayProduct> products;
};

} // namespace

//===----------------------------------------------------------------------------------------------===//
// What all parts have in common
//===----------------------------------------------------------------------------------------------===//

void TimeSplitter::collectProducts() {
  for (auto [index, arg, yielded] : llvm::enumerate(op.getStateArgs(), op.getYieldedStates())) {
    auto type = cast<RankedTensorType>(arg.getType());
    size_t first = products.size();
    for (Value value = yielded; value != arg; value = value.getDefiningOp()->getOperand(0)) {
      auto decay = value.getDefiningOp<DecayOp>();
      if (!decay)
        continue;
      auto same =
          std::find_if(products.begin() + first, products.end(), [&](const DecayProduct &product) {
            return product.axes == decay.getAxes();
          });
      if (same == products.end()) {
        SmallVector<int64_t> shape = llvm::map_to_vector(
            decay.getAxes(), [&](int64_t axis) { return type.getDimSize(axis); });
        if (shape.empty())
          shape.push_back(1);
        products.push_back({unsigned(index), decay.getAxes(), type.clone(shape), {}});
        same = std::prev(products.end());
      }
      same->decays.push_back(decay);
    }
  }
}

/// Only the last part has a chunk that is not full.
void TimeSplitter::createOffsets(int64_t chunk) {
  OpFoldResult tokens = op.getExtent(rewriter, op.getTimeDim());
  AffineExpr chunks = dim(0).ceilDiv(parts * chunk);
  SmallVector<Value> values;
  for (int64_t part = 0; part <= parts; ++part) {
    OpFoldResult border = tokens;
    if (part == 0)
      border = rewriter.getIndexAttr(0);
    else if (part < parts)
      border = affine::makeComposedFoldedAffineMin(
          rewriter, loc,
          AffineMap::get(1, 0, {chunks * (part * chunk), dim(0)}, rewriter.getContext()), {tokens});
    values.push_back(rewriter.createOrFold<arith::IndexCastOp>(
        loc, rewriter.getI64Type(), getValueOrCreateConstantIndexOp(rewriter, loc, border)));
  }
  offsets = tensor::FromElementsOp::create(rewriter, loc, values);
  bool usesTime = op.getBody()
                      .walk([&](IndexOp index) {
                        return unsigned(index.getDim()) == op.getTimeDim() ? WalkResult::interrupt()
                                                                           : WalkResult::advance();
                      })
                      .wasInterrupted();
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  if (usesTime)
    tokensBefore = tensor::ExtractSliceOp::create(
        rewriter, loc, offsets, ArrayRef{zero},
        ArrayRef<OpFoldResult>{rewriter.getIndexAttr(parts)}, ArrayRef{one});
}

/// The map with the parts as a last iteration dim.
AffineMap TimeSplitter::shiftSlices(AffineMap map) {
  SmallVector<AffineExpr> dims;
  for (unsigned position = 0; position < map.getNumDims(); ++position)
    dims.push_back(dim(position < numIterators ? position : position + 1));
  return map.replaceDimsAndSymbols(dims, {}, map.getNumDims() + 1, 0);
}

/// Products lie by part, then by the parallel dims. Unless it is a state, a product of one number
/// is a number.
AffineMap TimeSplitter::getProductMap(const DecayProduct &product, unsigned partDim, bool isState) {
  unsigned firstSlice = std::max(numIterators, partDim + 1);
  SmallVector<AffineExpr> results{dim(partDim)};
  for (unsigned parallel : op.getParallelDims())
    results.push_back(dim(parallel));
  bool isNumber = product.axes.empty() && !isState;
  unsigned numSlices = isNumber ? 0 : product.type.getRank();
  for (unsigned slice = 0; slice < numSlices; ++slice)
    results.push_back(dim(firstSlice + slice));
  if (isNumber)
    results.push_back(rewriter.getAffineConstantExpr(0));
  return AffineMap::get(firstSlice + numSlices, 0, results, rewriter.getContext());
}

SmallVector<OpFoldResult> TimeSplitter::getPartSizes(Value state) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, state);
  sizes.insert(sizes.begin(), rewriter.getIndexAttr(parts));
  return sizes;
}

/// Inputs and position offset, for a recurrence whose segments are the parts.
Operands TimeSplitter::getOperandsOfParts() {
  Operands operands;
  for (OpOperand &operand : op.getInsMutable())
    operands.addIn(operand.get(), shiftSlices(op.getMap(operand)));
  if (tokensBefore)
    operands.addIn(tokensBefore, AffineMap::get(numIterators + 1, 0, dim(numIterators)));
  for (OpOperand &operand : op.getPositionOffsetMutable())
    operands.offsetMaps.push_back(shiftSlices(op.getMap(operand)));
  for (unsigned position = 0; position < numIterators; ++position)
    operands.iterators.push_back(op.getIteratorKind(position));
  operands.iterators.push_back(IteratorKind::segment);
  return operands;
}

/// An input of its own for each dim of `op` whose extent no other operand says.
void TimeSplitter::giveExtents(Operands &operands, int64_t steps) {
  SmallVector<int64_t> extents = op.getStaticExtents();
  extents[op.getTimeDim()] = steps;
  BitVector isKnown(numIterators);
  auto visit = [&](ArrayRef<Value> values, ArrayRef<AffineMap> maps) {
    for (auto [value, map] : llvm::zip_equal(values, maps))
      for (auto [position, expr] : llvm::enumerate(map.getResults()))
        if (auto bare = dyn_cast<AffineDimExpr>(expr);
            bare && bare.getPosition() < numIterators &&
            cast<RankedTensorType>(value.getType()).getDimSize(position) ==
                extents[bare.getPosition()])
          isKnown.set(bare.getPosition());
  };
  visit(operands.ins, operands.inMaps);
  visit(operands.outs, operands.outMaps);
  visit(operands.states, operands.stateMaps);
  isKnown.flip();
  for (unsigned position : isKnown.set_bits()) {
    Value points = tensor::EmptyOp::create(rewriter, loc,
                                           ArrayRef<OpFoldResult>{op.getExtent(rewriter, position)},
                                           rewriter.getI1Type());
    operands.addIn(points, AffineMap::get(operands.iterators.size(), 0, dim(position)));
  }
}

/// Without a body.
RecurrenceOp TimeSplitter::create(const Operands &operands, PlanAttr plan) {
  bool isPacked = operands.iterators.size() > numIterators;
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineMap> group :
       {operands.inMaps, operands.offsetMaps, operands.outMaps, operands.stateMaps})
    maps.append(group.begin(), group.end());
  auto created = RecurrenceOp::create(
      rewriter, loc, operands.ins, isPacked ? offsets : Value(),
      isPacked ? op.getPositionOffset() : Value(), operands.outs, operands.states,
      /*checkpoints=*/ValueRange(), operands.iterators, maps, op.getReverse(),
      /*step=*/std::nullopt, /*checkpointInterval=*/std::nullopt);
  created->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  created.setPlanAttr(plan);
  return created;
}

//===----------------------------------------------------------------------------------------------===//
// The three recurrences
//===----------------------------------------------------------------------------------------------===//

/// What is left of the plan.
PlanAttr TimeSplitter::getPlanOfPart() {
  PlanAttr plan = op.getPlanAttr();
  return plan ? PlanAttr::get(op.getContext(), plan.getStrategy(), plan.getChunk(),
                              plan.getSubchunk(), plan.getValueTile(), /*split=*/1,
                              plan.getOperandPrecision(), plan.getSource())
              : plan;
}

/// The body of `op` in a recurrence over its parts, with time still counted from the first one.
IRMapping TimeSplitter::cloneBody(RecurrenceOp part) {
  IRMapping mapping;
  op.getBody().cloneInto(&part.getBody(), mapping);
  Block &body = part.getBody().front();
  unsigned numIns = op.getIns().size();
  for (unsigned input = numIns; input < part.getIns().size(); ++input)
    body.insertArgument(input, getElementTypeOrSelf(part.getIns()[input].getType()), loc);
  part.getBody().walk([&](IndexOp index) {
    if (unsigned(index.getDim()) != op.getTimeDim())
      return;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointAfter(index);
    Value before = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(),
                                              body.getArgument(numIns));
    auto sum = arith::AddIOp::create(rewriter, loc, index, before);
    rewriter.replaceAllUsesExcept(index, sum, sum);
  });
  return mapping;
}

RecurrenceOp TimeSplitter::buildSums() {
  Operands operands = getOperandsOfParts();
  for (OpOperand &operand : op.getStatesMutable()) {
    Type element = getElementTypeOrSelf(operand.get().getType());
    operands.addState(createZeros(rewriter, loc, element, getPartSizes(operand.get())),
                      getPartMap(op.getMap(operand)));
  }
  for (const DecayProduct &product : products) {
    Type element = product.type.getElementType();
    SmallVector<OpFoldResult> sizes{rewriter.getIndexAttr(parts)};
    for (unsigned parallel : op.getParallelDims())
      sizes.push_back(op.getExtent(rewriter, parallel));
    for (int64_t size : product.type.getShape())
      sizes.push_back(rewriter.getIndexAttr(size));
    Value one = arith::ConstantOp::create(rewriter, loc, rewriter.getFloatAttr(element, 1.0));
    Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, element);
    operands.addState(linalg::FillOp::create(rewriter, loc, one, empty).getResult(0),
                      getProductMap(product, numIterators, /*isState=*/true));
  }
  giveExtents(operands, op.getStaticExtents()[op.getTimeDim()]);
  RecurrenceOp sums = create(operands, getPlanOfPart());
  IRMapping mapping = cloneBody(sums);

  OpBuilder::InsertionGuard guard(rewriter);
  Block &body = sums.getBody().front();
  YieldOp yield = sums.getYield();
  rewriter.setInsertionPoint(yield);
  SmallVector<Value> yielded(yield.getValues().drop_front(op.getOuts().size()));
  for (const DecayProduct &product : products) {
    Value value = body.addArgument(product.type, loc);
    for (DecayOp decay : llvm::reverse(product.decays))
      value = DecayOp::create(rewriter, loc, value, mapping.lookup(decay.getBy()),
                              product.getOwnAxes(), decay.getLinear());
    yielded.push_back(value);
  }
  yield.getValuesMutable().assign(yielded);
  // Outs are gone, and with them the reads.
  for (Operation &nested : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&nested))
      rewriter.eraseOp(&nested);
  return sums;
}

RecurrenceOp TimeSplitter::buildStarts(RecurrenceOp sums) {
  Operands operands;
  for (unsigned position = 0; position < numIterators; ++position)
    operands.iterators.push_back(op.getIteratorKind(position));
  auto [added, decayed] = std::make_pair(sums.getStateResults().take_front(op.getStates().size()),
                                         sums.getStateResults().take_back(products.size()));
  for (auto [operand, sum] : llvm::zip_equal(op.getStatesMutable(), added)) {
    AffineMap map = op.getMap(operand), partMap = map.insertResult(dim(op.getTimeDim()), 0);
    operands.addIn(sum, partMap);
    operands.addOut(tensor::EmptyOp::create(rewriter, loc, getPartSizes(operand.get()),
                                            getElementTypeOrSelf(sum.getType())),
                    partMap);
    operands.addState(operand.get(), map);
  }
  for (auto [product, factor] : llvm::zip_equal(products, decayed))
    operands.addIn(factor, getProductMap(product, op.getTimeDim(), /*isState=*/false));
  giveExtents(operands, parts);
  RecurrenceOp starts =
      create(operands, PlanAttr::get(op.getContext(), Strategy::token, /*chunk=*/1, /*subchunk=*/1,
                                     /*value_tile=*/0, /*split=*/1, OperandPrecision::f32,
                                     PlanSource::constant));

  OpBuilder::InsertionGuard guard(rewriter);
  Block &body = starts.getBody().emplaceBlock();
  rewriter.setInsertionPointToStart(&body);
  size_t numStates = op.getStates().size();
  for (BlockArgument state : op.getStateArgs())
    body.addArgument(state.getType(), loc);
  for (const DecayProduct &product : products)
    body.addArgument(product.axes.empty() ? product.type.getElementType() : Type(product.type),
                     loc);
  for (Value points : ValueRange(starts.getIns()).drop_front(numStates + products.size()))
    body.addArgument(getElementTypeOrSelf(points.getType()), loc);
  SmallVector<Value> before, after;
  for (BlockArgument state : op.getStateArgs())
    before.push_back(after.emplace_back(body.addArgument(state.getType(), loc)));
  for (auto [index, product] : llvm::enumerate(products)) {
    Value &state = after[product.state];
    state = DecayOp::create(rewriter, loc, state, body.getArgument(numStates + index), product.axes,
                            /*linear=*/true);
  }
  for (auto [index, state] : llvm::enumerate(after))
    state = arith::AddFOp::create(rewriter, loc, state, body.getArgument(index));
  llvm::append_range(before, after);
  YieldOp::create(rewriter, loc, before);
  return starts;
}

RecurrenceOp TimeSplitter::buildOutputs(RecurrenceOp starts) {
  Operands operands = getOperandsOfParts();
  for (OpOperand &operand : op.getOutsMutable())
    operands.addOut(operand.get(), shiftSlices(op.getMap(operand)));
  for (auto [operand, start] : llvm::zip_equal(op.getStatesMutable(), starts.getOutResults()))
    operands.addState(start, getPartMap(op.getMap(operand)));
  RecurrenceOp outputs = create(operands, getPlanOfPart());
  cloneBody(outputs);
  return outputs;
}

TimeParts TimeSplitter::split(int64_t chunk) {
  collectProducts();
  createOffsets(chunk);
  RecurrenceOp sums = buildSums(), starts = buildStarts(sums), outputs = buildOutputs(starts);
  SmallVector<Value> results(outputs.getOutResults());
  llvm::append_range(results, starts.getStateResults());
  rewriter.replaceOp(op, results);
  return {sums, starts, outputs};
}

//===----------------------------------------------------------------------------------------------===//
// Which recurrences can be split
//===----------------------------------------------------------------------------------------------===//

namespace {

/// Why a recurrence stays whole, and the op that is in the way.
struct Obstacle {
  Operation *culprit;
  std::string reason;
};

} // namespace

/// What else there is for too few tasks.
static constexpr StringLiteral useColumns =
    "; tiles of value columns may run in parallel instead (linattn-split-value)";

static std::optional<Obstacle> findObstacle(RecurrenceOp op, const StateGraph &graph,
                                            unsigned index) {
  std::string state = ("state #" + Twine(index)).str();
  Value start = op.getStateArgs()[index], value = op.getYieldedStates()[index];
  auto type = dyn_cast<RankedTensorType>(start.getType());
  if (!type || !isa<FloatType>(type.getElementType()) || !type.hasStaticShape())
    return Obstacle{op, state + " is no tensor of floats with a static shape"};
  while (value != start) {
    Operation *step = value.getDefiningOp();
    if (!isa_and_nonnull<DecayOp, WriteOp>(step))
      return Obstacle{step ? step : op, "the new value of " + state +
                                            " does not come from the old one by decays and writes" +
                                            useColumns.str()};
    for (Value operand : step->getOperands().drop_front())
      if (graph.getSources(operand).any())
        return Obstacle{step, (isa<WriteOp>(step) ? "a write to " : "a decay of ") + state +
                                  " depends on a state" + useColumns.str()};
    value = step->getOperand(0);
  }
  return std::nullopt;
}

static std::optional<Obstacle> findObstacle(RecurrenceOp op) {
  if (op.getSegments())
    return Obstacle{op, "its sequences are packed, and run in parallel as they are"};
  if (!op.getCheckpoints().empty())
    return Obstacle{op, "it has checkpoints, which are counted from the first token on" +
                            useColumns.str()};
  if (op.getStates().empty())
    return Obstacle{op, "it has no state"};
  StateGraph graph(op);
  for (unsigned index = 0; index < op.getStates().size(); ++index)
    if (std::optional<Obstacle> obstacle = findObstacle(op, graph, index))
      return obstacle;
  for (auto [index, operand] : llvm::enumerate(op.getOutsMutable())) {
    AffineMap map = op.getMap(operand);
    unsigned uses = llvm::count_if(
        map.getResults(), [&](AffineExpr expr) { return expr.isFunctionOfDim(op.getTimeDim()); });
    if (uses != 1 || !map.getResultPosition(getAffineDimExpr(op.getTimeDim(), op.getContext())))
      return Obstacle{op, ("out #" + Twine(index) +
                           " is not cut by parts of time, as time is not the index of one of its "
                           "dims")
                              .str()};
  }
  return std::nullopt;
}

FailureOr<TimeParts> linattn::splitTime(RewriterBase &rewriter, RecurrenceOp op,
                                        const SplitTimeOptions &options) {
  PlanAttr plan = op.getPlanAttr();
  int64_t parts = plan ? plan.getSplit() : options.parts;
  if (parts < 2)
    return rewriter.notifyMatchFailure(op, "its plan keeps time in one part");
  if (op.getStep())
    return rewriter.notifyMatchFailure(op, "steps over more than one token already");
  if (std::optional<Obstacle> obstacle = findObstacle(op)) {
    remark::missed(obstacle->culprit->getLoc(), getRemark()) << obstacle->reason;
    return rewriter.notifyMatchFailure(op, obstacle->reason);
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  remark::passed(op.getLoc(), getRemark()) << (Twine(parts) + " parts of time").str();
  return TimeSplitter(rewriter, op, parts).split(plan ? plan.getChunk() : options.chunk);
}

namespace {

struct SplitTime : linattn::impl::SplitTimePassBase<SplitTime> {
  using SplitTimePassBase::SplitTimePassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (parts < 0)
      return emitError(UnknownLoc::get(context))
             << "parts must not be negative, got " << int64_t(parts);
    return expectPositive(context, {{"chunk", chunk}});
  }

  void runOnOperation() override {
    rewriteRecurrences(getOperation(), [&](RewriterBase &rewriter, RecurrenceOp op) {
      (void)splitTime(rewriter, op, {parts, chunk});
    });
  }
};

} // namespace
