//===- RecurrenceVerifier.cpp - the rules of a recurrence ---------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// The rules in the order in which they can be checked: what they say about operands first
// (`verify`), then what they say about the body (`verifyRegions`, once the ops inside are known to
// be valid). Each rule has a test in test/IR/invalid.mlir.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"
#include "linattn/Utils/IndexForm.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::linattn;

/// Maps and expressions have no operator<< for diagnostics.
template <typename T> static std::string toString(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

namespace {

/// An operand with a map, as the rules speak of it.
struct MappedOperand {
  std::string name; // "input #0", "state #1", ...
  OpOperand *operand;
  AffineMap map;
  SmallVector<IndexForm> forms;
  SmallVector<int64_t> extents; // of the map's domain; known once the slice is

  Type getType() const { return operand->get().getType(); }
  ArrayRef<int64_t> getShape() const {
    auto tensor = dyn_cast<RankedTensorType>(getType());
    return tensor ? tensor.getShape() : ArrayRef<int64_t>();
  }
};

class RecurrenceVerifier {
public:
  explicit RecurrenceVerifier(RecurrenceOp op) : op(op) {}
  LogicalResult verifyOperands();
  LogicalResult verifyBody();

private:
  LogicalResult verifyIterators();
  LogicalResult verifyClauses();
  LogicalResult collectOperands();
  LogicalResult verifyMap(MappedOperand &operand);
  LogicalResult verifyExtents();
  LogicalResult verifyInjective(const MappedOperand &operand, ArrayRef<unsigned> dims);
  LogicalResult verifySlice(MappedOperand &operand, Type slice);
  LogicalResult verifyStateSlice(MappedOperand &operand, Type slice);
  LogicalResult verifySideEffects();
  SmallVector<int64_t> getExtents(const MappedOperand &operand,
                                  ArrayRef<int64_t> sliceExtents = {});
  bool isCheckpoint(const MappedOperand &operand) {
    return operand.operand->getOperandNumber() >= op->getNumOperands() - op.getCheckpoints().size();
  }
  /// Dims that number the states: all but time.
  SmallVector<unsigned> getStateDims() {
    SmallVector<unsigned> dims;
    for (unsigned dim = 0; dim < op.getNumIterators(); ++dim)
      if (op.getIteratorKind(dim) != IteratorKind::time)
        dims.push_back(dim);
    return dims;
  }

  RecurrenceOp op;
  SmallVector<MappedOperand> ins, offset, outs, states, checkpoints;
};

} // namespace

//===----------------------------------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------------------------------===//

LogicalResult RecurrenceVerifier::verifyIterators() {
  unsigned numTime = 0, numSegment = 0;
  for (unsigned dim = 0, e = op.getNumIterators(); dim < e; ++dim) {
    numTime += op.getIteratorKind(dim) == IteratorKind::time;
    numSegment += op.getIteratorKind(dim) == IteratorKind::segment;
  }
  if (numTime != 1)
    return op.emitOpError() << "expects exactly one 'time' iterator, got " << numTime;
  if (numSegment > 1)
    return op.emitOpError() << "expects at most one 'segment' iterator, got " << numSegment;
  if (numSegment && !op.getSegments())
    return op.emitOpError()
           << "has a 'segment' iterator but no segments; add a segments(...) clause with the "
              "offsets of the packed sequences or make the dim 'parallel'";
  if (!numSegment && op.getSegments())
    return op.emitOpError()
           << "has segments but no 'segment' iterator to number their states; add one";
  return success();
}

LogicalResult RecurrenceVerifier::verifyClauses() {
  if (op.getSegments()) {
    auto type = cast<RankedTensorType>(op.getSegments().getType());
    if (type.getRank() != 1)
      return op.emitOpError() << "expects segments to be offsets of rank 1, got " << type;
    if (type.getDimSize(0) == 0)
      return op.emitOpError()
             << "expects at least one segment offset (number of sequences plus one), got " << type;
  }
  if (std::optional<int64_t> step = op.getStep(); step && *step < 1)
    return op.emitOpError() << "expects a step of at least 1 token, got " << *step;
  std::optional<int64_t> interval = op.getCheckpointInterval();
  if (interval && *interval < 1)
    return op.emitOpError() << "expects checkpoints every 1 or more tokens, got every "
                            << *interval;
  if (interval.has_value() == op.getCheckpoints().empty())
    return op.emitOpError() << "expects checkpoints and their interval together, got "
                            << (interval ? "only the interval" : "no interval");
  if (interval && op.getCheckpoints().size() != op.getStates().size())
    return op.emitOpError() << "expects one checkpoint output per state (" << op.getStates().size()
                            << "), got " << op.getCheckpoints().size();
  if (interval && *interval % op.getStep().value_or(1) != 0)
    return op.emitOpError() << "expects the checkpoint interval to be a multiple of the step of "
                            << *op.getStep() << " tokens, got " << *interval;
  return success();
}

LogicalResult RecurrenceVerifier::collectOperands() {
  size_t numMapped = op->getNumOperands() - (op.getSegments() ? 1 : 0);
  if (op.getIndexingMaps().size() != numMapped)
    return op.emitOpError() << "expects one indexing map per operand except segments (" << numMapped
                            << "), got " << op.getIndexingMaps().size();
  auto collect = [&](StringRef name, MutableOperandRange range,
                     SmallVectorImpl<MappedOperand> &group) {
    for (auto [index, operand] : llvm::enumerate(range)) {
      std::string number = name == "position offset" ? "" : " #" + std::to_string(index);
      group.push_back({name.str() + number, &operand, op.getMap(operand), {}, {}});
    }
  };
  collect("input", op.getInsMutable(), ins);
  collect("position offset", op.getPositionOffsetMutable(), offset);
  collect("out", op.getOutsMutable(), outs);
  collect("state", op.getStatesMutable(), states);
  collect("checkpoint", op.getCheckpointsMutable(), checkpoints);
  return success();
}

/// Rules of one map that need no other operand.
LogicalResult RecurrenceVerifier::verifyMap(MappedOperand &operand) {
  AffineMap map = operand.map;
  unsigned numIterators = op.getNumIterators();
  if (map.getNumSymbols() != 0)
    return op.emitOpError() << operand.name << ": expects an indexing map without symbols, got "
                            << toString(map);
  if (map.getNumDims() < numIterators)
    return op.emitOpError() << operand.name << ": expects an indexing map over the " << numIterators
                            << " iteration dims followed by slice dims, got " << toString(map);
  if (map.getNumResults() != operand.getShape().size())
    return op.emitOpError() << operand.name << ": expects one map result per dim of "
                            << operand.getType() << ", got " << toString(map);
  for (AffineExpr expr : map.getResults()) {
    FailureOr<IndexForm> form = IndexForm::get(expr);
    if (failed(form))
      return op.emitOpError()
             << operand.name
             << ": expects map results that are sums of dims, of 'dim floordiv N' and "
                "'dim mod N', and of constants, got "
             << toString(expr) << " in " << toString(map);
    operand.forms.push_back(*form);
  }
  for (unsigned dim = numIterators; dim < map.getNumDims(); ++dim) {
    unsigned uses = 0;
    bool plain = true;
    for (const IndexForm &form : operand.forms)
      for (const IndexTerm &term : form.terms)
        if (term.digit.dim == dim) {
          ++uses;
          plain &= term.digit.isWholeDim() && term.coefficient == 1;
        }
    if (uses != 1 || !plain)
      return op.emitOpError() << operand.name << ": expects slice dim "
                              << toString(getAffineDimExpr(dim, op.getContext()))
                              << " to occur exactly once and with coefficient 1, got "
                              << toString(map);
  }
  for (const IndexForm &form : operand.forms)
    if (llvm::count_if(form.terms,
                       [&](const IndexTerm &term) { return term.digit.dim >= numIterators; }) > 1)
      return op.emitOpError() << operand.name
                              << ": expects at most one slice dim per map result, got "
                              << toString(map);
  return success();
}

/// Extents of the domain of an operand's map. In the maps of checkpoints time counts checkpoints.
SmallVector<int64_t> RecurrenceVerifier::getExtents(const MappedOperand &operand,
                                                    ArrayRef<int64_t> sliceExtents) {
  SmallVector<int64_t> extents = op.getStaticExtents();
  int64_t &time = extents[op.getTimeDim()];
  if (isCheckpoint(operand))
    time = op.getSegments() || ShapedType::isDynamic(time) ? ShapedType::kDynamic
                                                           : time / *op.getCheckpointInterval();
  extents.append(sliceExtents.begin(), sliceExtents.end());
  extents.resize(operand.map.getNumDims(), ShapedType::kDynamic);
  return extents;
}

LogicalResult RecurrenceVerifier::verifyExtents() {
  SmallVector<int64_t> extents = op.getStaticExtents();
  SmallVector<bool> isBare(extents.size(), false);
  for (SmallVectorImpl<MappedOperand> *group : {&ins, &offset, &outs, &states, &checkpoints})
    for (MappedOperand &operand : *group)
      for (auto [index, form] : llvm::enumerate(operand.forms)) {
        std::optional<unsigned> dim = form.getBareDim();
        if (!dim || *dim >= extents.size() || (isCheckpoint(operand) && *dim == op.getTimeDim()))
          continue;
        isBare[*dim] = true;
        int64_t size = operand.getShape()[index];
        if (ShapedType::isStatic(size) && size != extents[*dim])
          return op.emitOpError() << operand.name << ": expects dim " << index
                                  << " to have the extent " << extents[*dim]
                                  << " of iteration dim #" << *dim << ", got " << operand.getType();
      }
  for (auto [dim, bare] : llvm::enumerate(isBare))
    if (!bare && op.getIteratorKind(dim) != IteratorKind::segment)
      return op.emitOpError()
             << "cannot tell the extent of iteration dim #" << dim
             << ": expects it to occur bare, as a map result of its own, in some operand's map";
  return success();
}

LogicalResult RecurrenceVerifier::verifyInjective(const MappedOperand &operand,
                                                  ArrayRef<unsigned> dims) {
  if (std::optional<unsigned> dim = findUndeterminedDim(operand.forms, operand.extents, dims))
    return op.emitOpError() << operand.name << ": expects an injective map, but "
                            << toString(operand.map) << " does not determine iteration dim #"
                            << *dim << ": several steps would share an element";
  return success();
}

LogicalResult RecurrenceVerifier::verifyOperands() {
  if (failed(verifyIterators()) || failed(verifyClauses()) || failed(collectOperands()))
    return failure();
  for (SmallVectorImpl<MappedOperand> *group : {&ins, &offset, &outs, &states, &checkpoints})
    for (MappedOperand &operand : *group)
      if (failed(verifyMap(operand)))
        return failure();
  for (SmallVectorImpl<MappedOperand> *group : {&states, &offset})
    for (MappedOperand &operand : *group)
      if (op.usesTime(operand.map))
        return op.emitOpError() << operand.name
                                << ": expects a map that does not use the time dim #"
                                << op.getTimeDim() << ", got " << toString(operand.map);
  for (MappedOperand &operand : offset) {
    if (op.getNumSliceDims(operand.map) != 0)
      return op.emitOpError() << operand.name
                              << ": expects one integer per state, got the slice dims of "
                              << toString(operand.map);
    if (!getElementTypeOrSelf(operand.getType()).isIntOrIndex())
      return op.emitOpError() << operand.name << ": expects an integer or index element type, got "
                              << operand.getType();
  }
  return verifyExtents();
}

LogicalResult RecurrenceOp::verify() { return RecurrenceVerifier(*this).verifyOperands(); }

//===----------------------------------------------------------------------------------------------===//
// Body
//===----------------------------------------------------------------------------------------------===//

/// `slice` is what the body sees or yields for one step: checks it against operand and map.
LogicalResult RecurrenceVerifier::verifySlice(MappedOperand &operand, Type slice) {
  std::optional<int64_t> step = op.getStep();
  bool leading = step && op.usesTime(operand.map) && !isCheckpoint(operand);
  int64_t rank = op.getNumSliceDims(operand.map) + leading;
  auto tensor = dyn_cast<RankedTensorType>(slice);
  if ((rank == 0 && tensor) || (rank != 0 && (!tensor || tensor.getRank() != rank)))
    return op.emitOpError() << operand.name << ": expects a slice that is "
                            << (rank == 0 ? std::string("a scalar")
                                          : "a tensor of rank " + std::to_string(rank) +
                                                (leading ? " (the step and the slice dims)" : ""))
                            << ", got " << slice;
  Type element = getElementTypeOrSelf(operand.getType());
  if (getElementTypeOrSelf(slice) != element)
    return op.emitOpError() << operand.name << ": expects a slice of element type " << element
                            << ", got " << slice;
  ArrayRef<int64_t> shape = tensor ? tensor.getShape() : ArrayRef<int64_t>();
  if (leading) {
    if (shape.front() != *step)
      return op.emitOpError() << operand.name << ": expects a slice of " << *step
                              << " rows, one per token of the step, got " << slice;
    shape = shape.drop_front();
  }
  SmallVectorImpl<int64_t> &extents = operand.extents;
  extents = getExtents(operand, shape);
  for (auto [index, form] : llvm::enumerate(operand.forms)) {
    int64_t size = operand.getShape()[index];
    for (const IndexTerm &term : form.terms)
      if (term.digit.dim >= op.getNumIterators() &&
          ShapedType::isDynamic(extents[term.digit.dim])) {
        if (form.terms.size() > 1 || form.constant != 0)
          return op.emitOpError() << operand.name << ": expects a static extent for slice dim "
                                  << toString(term.digit.getExpr(op.getContext())) << " of "
                                  << toString(operand.map) << ", got " << slice;
        extents[term.digit.dim] = size;
      }
    auto range = form.getRange(extents);
    if (range && (range->first < 0 || (ShapedType::isStatic(size) && range->second >= size)))
      return op.emitOpError() << operand.name << ": map result "
                              << toString(form.getExpr(op.getContext())) << " reaches index "
                              << (range->first < 0 ? range->first : range->second)
                              << ", outside of dim " << index << " of " << operand.getType();
  }
  return success();
}

LogicalResult RecurrenceVerifier::verifyStateSlice(MappedOperand &operand, Type slice) {
  if (auto tensor = dyn_cast<RankedTensorType>(slice); tensor && tensor.getRank() > 2)
    return op.emitOpError() << operand.name << ": expects a state of rank 0, 1 or 2, got " << slice;
  return verifySlice(operand, slice);
}

LogicalResult RecurrenceVerifier::verifySideEffects() {
  WalkResult result = op.getBody().walk([&](Operation *nested) -> WalkResult {
    if (isa<YieldOp>(nested) || isMemoryEffectFree(nested) ||
        nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    nested->emitOpError()
        << "is not allowed in the body of a recurrence: expects ops without side effects on memory";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult RecurrenceVerifier::verifyBody() {
  if (failed(collectOperands()))
    return failure();
  for (SmallVectorImpl<MappedOperand> *group : {&ins, &offset, &outs, &states, &checkpoints})
    for (MappedOperand &operand : *group)
      operand.forms = *getIndexForms(operand.map);

  Block &block = op.getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return op.emitOpError() << "expects a body that ends in linattn.yield, got '"
                            << block.getTerminator()->getName() << "'";
  size_t numArgs = (op.getStep() ? 1 : 0) + ins.size() + states.size();
  if (block.getNumArguments() != numArgs)
    return op.emitOpError() << "expects " << numArgs << " block arguments ("
                            << (op.getStep() ? "the number of live rows, " : "")
                            << "one per input and state), got " << block.getNumArguments();
  if (op.getStep() && !op.getLiveArg().getType().isIndex())
    return op.emitOpError() << "expects the number of live rows to be of type index, got "
                            << op.getLiveArg().getType();
  if (yield.getValues().size() != outs.size() + states.size())
    return yield.emitOpError() << "expects one value per out and state ("
                               << outs.size() + states.size() << "), got "
                               << yield.getValues().size();
  for (auto [operand, arg] : llvm::zip_equal(ins, op.getInArgs()))
    if (failed(verifySlice(operand, arg.getType())))
      return failure();
  for (MappedOperand &operand : offset)
    if (failed(verifySlice(operand, getElementTypeOrSelf(operand.getType()))))
      return failure();
  // The segment follows from time, so only states and checkpoints have to determine it.
  SmallVector<unsigned> stateDims = getStateDims(), outDims = op.getParallelDims(),
                        checkpointDims(stateDims);
  outDims.push_back(op.getTimeDim());
  checkpointDims.push_back(op.getTimeDim());
  for (auto [operand, value] : llvm::zip_equal(outs, op.getYieldedOuts()))
    if (failed(verifySlice(operand, value.getType())) || failed(verifyInjective(operand, outDims)))
      return failure();
  for (auto [operand, arg, value] :
       llvm::zip_equal(states, op.getStateArgs(), op.getYieldedStates())) {
    if (failed(verifyStateSlice(operand, arg.getType())) ||
        failed(verifyInjective(operand, stateDims)))
      return failure();
    if (value.getType() != arg.getType())
      return yield.emitOpError() << operand.name << ": expects the new state to have the type "
                                 << arg.getType() << " of the old one, got " << value.getType();
  }
  for (auto [operand, arg] : llvm::zip(checkpoints, op.getStateArgs()))
    if (failed(verifySlice(operand, arg.getType())) ||
        failed(verifyInjective(operand, checkpointDims)))
      return failure();
  return verifySideEffects();
}

LogicalResult RecurrenceOp::verifyRegions() { return RecurrenceVerifier(*this).verifyBody(); }
