//===- FuseBody.cpp - ops on whole tensors as ops of one token ----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "FuseBody.h"

#include "linattn/Utils/IndexForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

//===----------------------------------------------------------------------------------------------===//
// RecurrenceEditor
//===----------------------------------------------------------------------------------------------===//

RecurrenceEditor::RecurrenceEditor(RecurrenceOp op)
    : op(op), body(op.getBody().front()), ins(op.getIns()), outs(op.getOuts()),
      states(op.getStates()), inMaps(op.getMaps(op.getInsMutable())),
      outMaps(op.getMaps(op.getOutsMutable())), stateMaps(op.getMaps(op.getStatesMutable())) {}

bool RecurrenceEditor::keepsExtents(RecurrenceOp op, unsigned without, ArrayRef<AffineMap> added) {
  SmallVector<AffineMap> maps(added);
  for (auto [index, map] : llvm::enumerate(op.getMaps(op.getInsMutable())))
    if (index != without)
      maps.push_back(map);
  for (MutableOperandRange group : {op.getOutsMutable(), op.getStatesMutable()})
    llvm::append_range(maps, op.getMaps(group));
  return llvm::all_of(llvm::seq<unsigned>(0, op.getNumIterators()), [&](unsigned dim) {
    return op.getIteratorKind(dim) == IteratorKind::segment ||
           llvm::any_of(maps, [&](AffineMap map) {
             return map.getResultPosition(getAffineDimExpr(dim, op.getContext())).has_value();
           });
  });
}

Value RecurrenceEditor::addInput(Value value, AffineMap map, Type slice) {
  for (auto [index, other, otherMap] : llvm::enumerate(ins, inMaps))
    if (other == value && otherMap == map && body.getArgument(index).getType() == slice)
      return body.getArgument(index);
  ins.push_back(value);
  inMaps.push_back(map);
  return body.insertArgument(ins.size() - 1, slice, value.getLoc());
}

void RecurrenceEditor::eraseInput(Value arg) {
  unsigned index = cast<BlockArgument>(arg).getArgNumber();
  ins.erase(ins.begin() + index);
  inMaps.erase(inMaps.begin() + index);
  body.eraseArgument(index);
}

Value RecurrenceEditor::addState(Value init, AffineMap map, Type slice) {
  states.push_back(init);
  stateMaps.push_back(map);
  return body.addArgument(slice, init.getLoc());
}

void RecurrenceEditor::addOut(Value init, AffineMap map, Value yielded) {
  outs.push_back(init);
  outMaps.push_back(map);
  newOuts.push_back(yielded);
}

RecurrenceOp RecurrenceEditor::finish(RewriterBase &rewriter) {
  SmallVector<IteratorKind> iterators;
  for (unsigned dim = 0; dim < op.getNumIterators(); ++dim)
    iterators.push_back(op.getIteratorKind(dim));
  SmallVector<AffineMap> maps(inMaps);
  llvm::append_range(maps, op.getMaps(op.getPositionOffsetMutable()));
  llvm::append_range(maps, outMaps);
  llvm::append_range(maps, stateMaps);
  llvm::append_range(maps, op.getMaps(op.getCheckpointsMutable()));
  rewriter.setInsertionPoint(op);
  auto edited =
      RecurrenceOp::create(rewriter, op.getLoc(), ins, op.getSegments(), op.getPositionOffset(),
                           outs, states, op.getCheckpoints(), iterators, maps, op.getReverse(),
                           op.getStep(), op.getCheckpointInterval());
  edited->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  edited.setPlanAttr(op.getPlanAttr());
  SmallVector<Value> yielded(op.getYieldedOuts());
  llvm::append_range(yielded, newOuts);
  llvm::append_range(yielded, op.getYieldedStates());
  llvm::append_range(yielded, newStates);
  YieldOp yield = op.getYield();
  rewriter.modifyOpInPlace(yield, [&] { yield.getValuesMutable().assign(yielded); });
  SmallVector<Value> results(edited.getOutResults().take_front(op.getOuts().size()));
  llvm::append_range(results, edited.getStateResults().take_front(op.getStates().size()));
  llvm::append_range(results, edited.getCheckpointResults());
  rewriter.inlineRegionBefore(op.getBody(), edited.getBody(), edited.getBody().end());
  rewriter.replaceOp(op, results);
  return edited;
}

//===----------------------------------------------------------------------------------------------===//
// Loops of whole tensors
//===----------------------------------------------------------------------------------------------===//

static bool isElementwise(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         OpTrait::hasElementwiseMappableTraits(op) && isMemoryEffectFree(op);
}

FailureOr<TokenOp> TokenOp::get(Operation *op, StringRef &obstacle) {
  TokenOp token;
  token.op = op;
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                       : RankedTensorType();
  obstacle = "it is no elementwise or linalg op with one result";
  if (!type)
    return failure();
  if (isElementwise(op) || isa<tensor::SplatOp>(op)) {
    token.iterators.assign(type.getRank(), IteratorType::parallel);
    llvm::append_range(token.extents, type.getShape());
    token.resultMap = AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext());
    for (OpOperand &operand : op->getOpOperands()) {
      if (isa<tensor::SplatOp>(op) && operand.getOperandNumber() > 0)
        break;
      token.inputs.push_back(&operand);
      token.inputMaps.push_back(isa<RankedTensorType>(operand.get().getType())
                                    ? token.resultMap
                                    : AffineMap::get(type.getRank(), 0, op->getContext()));
    }
    return token;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() || linalgOp.getNumDpsInits() != 1)
    return failure();
  token.iterators = linalgOp.getIteratorTypesArray();
  token.extents = linalgOp.getStaticLoopRanges();
  for (OpOperand *input : linalgOp.getDpsInputOperands()) {
    token.inputs.push_back(input);
    token.inputMaps.push_back(linalgOp.getMatchingIndexingMap(input));
  }
  OpOperand *init = linalgOp.getDpsInitOperand(0);
  token.resultMap = linalgOp.getMatchingIndexingMap(init);
  if (!linalgOp.getMatchingBlockArgument(init).use_empty()) {
    token.init = init;
    token.inputs.push_back(init);
    token.inputMaps.push_back(token.resultMap);
  }
  if (!token.resultMap.isProjectedPermutation())
    return failure();
  obstacle = "its region uses tensors";
  SetVector<Value> captures;
  getUsedValuesDefinedAbove(op->getRegions(), captures);
  if (llvm::any_of(captures, [](Value v) { return isa<ShapedType>(v.getType()); }))
    return failure();
  obstacle = "its region has side effects";
  if (!llvm::all_of(linalgOp.getBlock()->without_terminator(),
                    [](Operation &nested) { return isMemoryEffectFree(&nested); }))
    return failure();
  return token;
}

bool TokenOp::readsTensors() const {
  return llvm::any_of(
      inputs, [](OpOperand *input) { return isa<RankedTensorType>(input->get().getType()); });
}

bool TokenOp::isFill() const {
  if (isa<tensor::SplatOp, linalg::FillOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && inputs.empty() && generic.getBody()->without_terminator().empty();
}

AffineMap TokenOp::getMap(RecurrenceOp recurrence, AffineMap map) const {
  return simplifyAffineMap(
      map.replaceDimsAndSymbols(indices, {}, recurrence.getNumIterators() + loopExtents.size(), 0));
}

Type TokenOp::getSliceType(Type type, ArrayRef<unsigned> sliceLoops) const {
  Type element = getElementTypeOrSelf(type);
  if (sliceLoops.empty())
    return element;
  return RankedTensorType::get(
      llvm::map_to_vector(sliceLoops, [&](unsigned loop) { return loopExtents[loop]; }), element);
}

/// True if the op asks for the index of the token, which is not the one in the tensor.
static bool asksForOtherIndex(Operation *op, RecurrenceOp recurrence,
                              ArrayRef<AffineExpr> indices) {
  if (!recurrence.getSegments() && !recurrence.getPositionOffset())
    return false;
  return op
      ->walk([&](linalg::IndexOp index) {
        return indices[index.getDim()].isFunctionOfDim(recurrence.getTimeDim())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

StringRef TokenOp::getObstacle(RecurrenceOp recurrence, ArrayRef<AffineMap> accesses) const {
  if (llvm::any_of(loopExtents, ShapedType::isDynamic))
    return "a dim inside of a token has no static size";
  if (asksForOtherIndex(op, recurrence, indices))
    return "it uses the index of a token, which is another one inside of a sequence";
  // A sum is over what the token has; a product with a matrix reads the matrix for each token.
  bool reduces = llvm::is_contained(iterators, IteratorType::reduction);
  bool hasAll = llvm::any_of(accesses, [&](AffineMap map) {
    return recurrence.usesTime(map) &&
           llvm::all_of(llvm::seq<unsigned>(0, loopExtents.size()), [&](unsigned loop) {
             return map.isFunctionOfDim(recurrence.getNumIterators() + loop);
           });
  });
  if (reduces && !hasAll)
    return "it is a product with a matrix";
  return "";
}

//===----------------------------------------------------------------------------------------------===//
// In a body
//===----------------------------------------------------------------------------------------------===//

/// The value of a sum of dims: `dims` are the indices of the iteration dims and loops.
static Value createIndex(OpBuilder &builder, Location loc, AffineExpr expr,
                         function_ref<Value(unsigned)> getDim) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getDim(dim.getPosition());
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value left = createIndex(builder, loc, binary.getLHS(), getDim);
  Value right = createIndex(builder, loc, binary.getRHS(), getDim);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, left, right);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, left, right);
  case AffineExprKind::FloorDiv:
    return arith::DivUIOp::create(builder, loc, left, right);
  default:
    return arith::RemUIOp::create(builder, loc, left, right);
  }
}

/// The indices of the iteration dims that the op asks for, null for others: outside of its loops,
/// where a chunk finds one for each token.
SmallVector<Value> TokenOp::createPositions(OpBuilder &builder, RecurrenceOp recurrence) const {
  SmallVector<Value> positions(recurrence.getNumIterators());
  op->walk([&](linalg::IndexOp index) {
    for (auto [dim, position] : llvm::enumerate(positions))
      if (!position && indices[index.getDim()].isFunctionOfDim(dim))
        position = IndexOp::create(builder, op->getLoc(), dim);
  });
  return positions;
}

/// The ops of one entry, at the builder's place; returns what they yield. `args` are those of the
/// region: the inputs.
Value TokenOp::createPayload(OpBuilder &builder, RecurrenceEditor &editor, RecurrenceOp recurrence,
                             ValueRange args, ArrayRef<Value> positions) const {
  Location loc = op->getLoc();
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp) {
    if (isa<tensor::SplatOp>(op))
      return args[0];
    OperationState state(loc, op->getName(), args, getElementTypeOrSelf(op->getResult(0).getType()),
                         op->getAttrs());
    return builder.create(state)->getResult(0);
  }
  IRMapping mapping;
  for (auto [input, arg] : llvm::zip_equal(inputs, args))
    mapping.map(linalgOp.getMatchingBlockArgument(input), arg);
  SetVector<Value> captures;
  getUsedValuesDefinedAbove(op->getRegions(), captures);
  for (Value capture : captures) {
    if (matchPattern(capture, m_Constant())) {
      mapping.map(capture, builder.clone(*capture.getDefiningOp())->getResult(0));
      continue;
    }
    mapping.map(capture,
                editor.addInput(
                    capture, AffineMap::get(recurrence.getNumIterators(), 0, builder.getContext()),
                    capture.getType()));
  }
  for (Operation &nested : linalgOp.getBlock()->without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(nested);
    if (!index) {
      builder.clone(nested, mapping);
      continue;
    }
    auto getDim = [&](unsigned dim) -> Value {
      if (dim < positions.size())
        return positions[dim];
      return linalg::IndexOp::create(builder, loc, dim - positions.size());
    };
    mapping.map(index.getResult(), createIndex(builder, loc, indices[index.getDim()], getDim));
  }
  Value result = mapping.lookupOrDefault(linalgOp.getBlock()->getTerminator()->getOperand(0));
  // The names of products and convolutions say nothing of rounding, as their code may not
  // afterwards.
  bool isNamed = !isa<linalg::GenericOp>(op) && (linalg::isaContractionOpInterface(linalgOp) ||
                                                 linalg::isaConvolutionOpInterface(linalgOp));
  for (Operation &nested : linalgOp.getBlock()->without_terminator()) {
    auto copy =
        nested.getNumResults() == 1 ? mapping.lookupOrDefault(nested.getResult(0)) : Value();
    Operation *def = copy ? copy.getDefiningOp() : nullptr;
    if (auto math = dyn_cast_or_null<arith::ArithFastMathInterface>(def); math && isNamed)
      def->setAttr(
          math.getFastMathAttrName(),
          arith::FastMathFlagsAttr::get(builder.getContext(), arith::FastMathFlags::contract |
                                                                  arith::FastMathFlags::nsz));
  }
  return result;
}

/// A short sum over some tokens, which reads each of them once: as many sums of one. A chunk finds
/// the rows of one token before as they lie, but would have to copy all windows.
std::optional<unsigned> TokenOp::findWindow(RecurrenceOp recurrence) const {
  constexpr int64_t maxWritten = 8;
  bool usesIndex =
      op->walk([](linalg::IndexOp) { return WalkResult::interrupt(); }).wasInterrupted();
  for (auto [position, loop] : llvm::enumerate(loops))
    if (iterators[loop] == IteratorType::reduction && loopExtents[position] <= maxWritten &&
        !usesIndex)
      for (AffineMap map : inputMaps)
        for (AffineExpr expr : getMap(recurrence, map).getResults())
          if (expr.isFunctionOfDim(recurrence.getTimeDim()) &&
              expr.isFunctionOfDim(recurrence.getNumIterators() + position))
            return position;
  return std::nullopt;
}

/// Entry `index` of the dim of a slice that is loop `loop`.
static TokenOp::Slice takeEntry(OpBuilder &builder, Location loc, const TokenOp::Slice &slice,
                                unsigned loop, int64_t index) {
  const auto *place = llvm::find(slice.loops, loop);
  if (place == slice.loops.end())
    return slice;
  unsigned dim = place - slice.loops.begin();
  auto type = cast<RankedTensorType>(slice.value.getType());
  TokenOp::Slice entry{nullptr, slice.loops};
  entry.loops.erase(entry.loops.begin() + dim);
  if (type.getRank() == 1) {
    Value position = arith::ConstantIndexOp::create(builder, loc, index);
    entry.value = tensor::ExtractOp::create(builder, loc, slice.value, position);
    return entry;
  }
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape()),
      strides(type.getRank(), builder.getIndexAttr(1));
  offsets[dim] = builder.getIndexAttr(index);
  sizes[dim] = builder.getIndexAttr(1);
  entry.value =
      tensor::ExtractSliceOp::create(builder, loc, RankedTensorType::Builder(type).dropDim(dim),
                                     slice.value, offsets, sizes, strides);
  return entry;
}

Value TokenOp::create(OpBuilder &builder, RecurrenceEditor &editor, RecurrenceOp recurrence,
                      ArrayRef<Slice> slices, ArrayRef<unsigned> resultLoops) const {
  auto left = llvm::to_vector(llvm::seq<unsigned>(0, loops.size()));
  std::optional<unsigned> window = findWindow(recurrence);
  if (!window)
    return createLoops(builder, editor, recurrence, slices, resultLoops, left);
  left.erase(left.begin() + *window);
  Value sum;
  for (int64_t index = 0; index < loopExtents[*window]; ++index) {
    SmallVector<Slice> entries;
    for (auto [input, slice] : llvm::zip_equal(inputs, slices)) {
      entries.push_back(takeEntry(builder, op->getLoc(), slice, *window, index));
      if (input == init && sum)
        entries.back().value = sum;
    }
    sum = createLoops(builder, editor, recurrence, entries, resultLoops, left);
  }
  return sum;
}

/// As `create`, with some of the loops.
Value TokenOp::createLoops(OpBuilder &builder, RecurrenceEditor &editor, RecurrenceOp recurrence,
                           ArrayRef<Slice> slices, ArrayRef<unsigned> resultLoops,
                           ArrayRef<unsigned> left) const {
  Location loc = op->getLoc();
  MLIRContext *context = builder.getContext();
  auto values = llvm::map_to_vector(slices, [](const Slice &slice) { return slice.value; });
  SmallVector<Value> positions = createPositions(builder, recurrence);
  if (left.empty())
    return createPayload(builder, editor, recurrence, values, positions);
  Type type = getSliceType(op->getResult(0).getType(), resultLoops);
  if (isFill() && !values.empty())
    return tensor::SplatOp::create(builder, loc, type, values[0], ValueRange());
  // Elementwise ops stay what they are, if nothing is permuted.
  bool staysElementwise = isElementwise(op);
  for (auto [input, slice] : llvm::zip_equal(inputs, slices))
    staysElementwise &= isa<RankedTensorType>(input->get().getType())
                            ? ArrayRef(slice.loops) == resultLoops
                            : slice.loops.empty();
  if (staysElementwise) {
    OperationState state(loc, op->getName(), values, type, op->getAttrs());
    return builder.create(state)->getResult(0);
  }
  auto getMapOfLoops = [&](ArrayRef<unsigned> list) {
    auto exprs = llvm::map_to_vector(list, [&](unsigned loop) {
      return getAffineDimExpr(llvm::find(left, loop) - left.begin(), context);
    });
    return AffineMap::get(left.size(), 0, exprs, context);
  };
  auto kinds = llvm::map_to_vector(left, [&](unsigned loop) { return iterators[loops[loop]]; });
  bool accumulates = llvm::is_contained(kinds, IteratorType::reduction);
  // Numbers are used inside as they are; the init of a sum has to be a tensor.
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  Value start;
  for (auto [input, slice] : llvm::zip_equal(inputs, slices)) {
    if (input == init && accumulates) {
      start = slice.value;
      if (slice.loops.empty())
        start = tensor::SplatOp::create(builder, loc, RankedTensorType::get({}, start.getType()),
                                        start, ValueRange());
    } else if (!slice.loops.empty()) {
      tensors.push_back(slice.value);
      maps.push_back(getMapOfLoops(slice.loops));
    }
  }
  if (!start) {
    auto tensorType = cast<RankedTensorType>(type);
    start =
        tensor::EmptyOp::create(builder, loc, tensorType.getShape(), tensorType.getElementType());
  }
  maps.push_back(getMapOfLoops(resultLoops));
  auto buildBody = [&](OpBuilder &b, Location l, ValueRange blockArgs) {
    SmallVector<Value> args;
    unsigned next = 0;
    for (auto [input, slice] : llvm::zip_equal(inputs, slices))
      args.push_back(input == init && accumulates ? blockArgs.back()
                     : slice.loops.empty()        ? slice.value
                                                  : blockArgs[next++]);
    linalg::YieldOp::create(b, l, createPayload(b, editor, recurrence, args, positions));
  };
  Value result = linalg::GenericOp::create(builder, loc, TypeRange{start.getType()}, tensors, start,
                                           maps, kinds, buildBody)
                     .getResult(0);
  if (resultLoops.empty())
    result = tensor::ExtractOp::create(builder, loc, result, ValueRange());
  return result;
}
