//===- FuseAccess.cpp - where a recurrence finds an operand -------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "FuseAccess.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::linattn;

Access Access::get(RecurrenceOp op, OpOperand &input, Type slice) {
  Access access{input.get(), op.getMap(input), op.getStaticExtents()};
  if (auto type = dyn_cast<RankedTensorType>(slice))
    access.extents.append(type.getShape().begin(), type.getShape().end());
  return access;
}

//===----------------------------------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------------------------------===//

/// The number of entries that one step in each dim of a row-major shape passes.
static FailureOr<SmallVector<int64_t>> getPlaces(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> places(sizes.size(), 1);
  for (unsigned dim = sizes.size(); dim-- > 1;) {
    if (ShapedType::isDynamic(sizes[dim]) || sizes[dim] < 1)
      return failure();
    places[dim - 1] = places[dim] * sizes[dim];
  }
  return places;
}

FailureOr<AffineExpr> linattn::linearize(ArrayRef<AffineExpr> indices, ArrayRef<int64_t> sizes) {
  FailureOr<SmallVector<int64_t>> places = getPlaces(sizes);
  if (failed(places))
    return failure();
  AffineExpr sum = indices.back();
  for (unsigned dim = indices.size() - 1; dim-- > 0;)
    sum = indices[dim] * (*places)[dim] + sum;
  return sum;
}

FailureOr<SmallVector<AffineExpr>> linattn::delinearize(AffineExpr index, ArrayRef<int64_t> sizes,
                                                        ArrayRef<int64_t> extents) {
  FailureOr<IndexForm> form = IndexForm::get(index);
  FailureOr<SmallVector<int64_t>> places = getPlaces(sizes);
  if (failed(form) || failed(places) || form->constant < 0)
    return failure();
  SmallVector<IndexForm> digits(sizes.size());
  int64_t rest = form->constant;
  for (auto [digit, place] : llvm::zip_equal(digits, *places)) {
    digit.constant = rest / place;
    rest %= place;
  }
  for (const IndexTerm &term : form->terms) {
    unsigned dim = 0;
    while (dim < sizes.size() && (term.coefficient < 1 || term.coefficient % (*places)[dim] != 0))
      ++dim;
    if (dim == sizes.size())
      return failure();
    digits[dim].terms.push_back({term.digit, term.coefficient / (*places)[dim]});
  }
  // Nothing is carried from one dim to the next.
  for (auto [digit, size] : llvm::drop_begin(llvm::zip_equal(digits, sizes)))
    if (auto range = digit.getRange(extents);
        !digit.terms.empty() && (!range || range->first < 0 || range->second >= size))
      return failure();
  return llvm::map_to_vector(
      digits, [&](const IndexForm &digit) { return digit.getExpr(index.getContext()); });
}

static FailureOr<Access> throughCollapse(const Access &access, tensor::CollapseShapeOp op) {
  Access source{op.getSrc(), {}, access.extents};
  SmallVector<AffineExpr> exprs;
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    auto sizes = llvm::map_to_vector(group, [&](int64_t d) { return source.getShape()[d]; });
    auto indices = delinearize(access.map.getResult(dim), sizes, access.extents);
    if (failed(indices))
      return failure();
    exprs.append(*indices);
  }
  source.map = AffineMap::get(access.map.getNumDims(), 0, exprs, op.getContext());
  return source;
}

static FailureOr<Access> throughExpand(const Access &access, tensor::ExpandShapeOp op) {
  Access source{op.getSrc(), {}, access.extents};
  SmallVector<AffineExpr> exprs;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    auto sizes = llvm::map_to_vector(group, [&](int64_t d) { return access.getShape()[d]; });
    auto indices = llvm::map_to_vector(group, [&](int64_t d) { return access.map.getResult(d); });
    FailureOr<AffineExpr> index = linearize(indices, sizes);
    if (failed(index))
      return failure();
    exprs.push_back(*index);
  }
  source.map = AffineMap::get(access.map.getNumDims(), 0, exprs, op.getContext());
  return source;
}

static FailureOr<Access> throughSlice(const Access &access, tensor::ExtractSliceOp op) {
  ArrayRef<int64_t> offsets = op.getStaticOffsets();
  if (ShapedType::isDynamicShape(offsets) || !op.hasUnitStride())
    return failure();
  SmallVector<AffineExpr> exprs;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  unsigned next = 0;
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    AffineExpr index = getAffineConstantExpr(0, op.getContext());
    if (!dropped.test(dim))
      index = access.map.getResult(next++);
    exprs.push_back(index + offset);
  }
  return Access{op.getSource(), AffineMap::get(access.map.getNumDims(), 0, exprs, op.getContext()),
                access.extents};
}

/// A linalg op that yields an input as it is: a transposition, a broadcast.
static FailureOr<Access> throughLinalg(const Access &access, linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 || op.getNumReductionLoops() != 0)
    return failure();
  AffineMap resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto arg = dyn_cast<BlockArgument>(op.getBlock()->getTerminator()->getOperand(0));
  if (!arg || arg.getOwner() != op.getBlock() || arg.getArgNumber() >= op.getNumDpsInputs() ||
      !resultMap.isPermutation())
    return failure();
  OpOperand *input = op.getDpsInputOperand(arg.getArgNumber());
  if (!isa<RankedTensorType>(input->get().getType()))
    return failure();
  AffineMap map =
      op.getMatchingIndexingMap(input).compose(inversePermutation(resultMap)).compose(access.map);
  return Access{input->get(), map, access.extents};
}

FailureOr<Access> linattn::lookThroughCopy(const Access &access) {
  Operation *def = access.value.getDefiningOp();
  FailureOr<Access> source = failure();
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(def))
    source = throughCollapse(access, collapse);
  else if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(def))
    source = throughExpand(access, expand);
  else if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(def))
    source = throughSlice(access, slice);
  else if (auto cast = dyn_cast_or_null<tensor::CastOp>(def);
           cast && isa<RankedTensorType>(cast.getSource().getType()))
    source = Access{cast.getSource(), access.map, access.extents};
  else if (auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(def))
    source = throughLinalg(access, linalgOp);
  if (succeeded(source))
    source->map = simplifyAffineMap(source->map);
  return source;
}

//===----------------------------------------------------------------------------------------------===//
// History
//===----------------------------------------------------------------------------------------------===//

/// The only dim in which a pad adds rows in front. Rows behind are never read by a token before
/// them, but in other dims there must be none.
static std::optional<unsigned> getDimPaddedInFront(tensor::PadOp pad) {
  std::optional<unsigned> found;
  for (auto [dim, low, high] : llvm::enumerate(pad.getMixedLowPad(), pad.getMixedHighPad())) {
    if (isConstantIntValue(low, 0) && isConstantIntValue(high, 0))
      continue;
    if (found)
      return std::nullopt;
    found = dim;
  }
  return found;
}

/// The parts of a tensor that two insert_slice ops fill, one behind the other in one dim.
static std::optional<History> getInserted(tensor::InsertSliceOp second) {
  auto first = second.getDest().getDefiningOp<tensor::InsertSliceOp>();
  if (!first || !first.hasUnitStride() || !second.hasUnitStride() ||
      first.getSourceType().getRank() != first.getType().getRank() ||
      second.getSourceType().getRank() != second.getType().getRank())
    return std::nullopt;
  std::optional<unsigned> found;
  SmallVector<OpFoldResult> offsets = second.getMixedOffsets();
  for (auto [dim, offset, start] : llvm::enumerate(offsets, first.getMixedOffsets())) {
    if (!isConstantIntValue(start, 0) || (found && !isConstantIntValue(offset, 0)))
      return std::nullopt;
    if (!isConstantIntValue(offset, 0))
      found = dim;
  }
  if (!found || getConstantIntValue(offsets[*found]) != first.getSourceType().getDimSize(*found))
    return std::nullopt;
  // Rows behind the tokens are never read before them; in other dims there must be nothing else.
  using Bounds = ValueBoundsConstraintSet;
  for (unsigned dim = 0; dim < offsets.size(); ++dim)
    for (Value part : {first.getSource(), second.getSource()}) {
      if (dim == *found)
        continue;
      FailureOr<bool> equal =
          Bounds::areEqual(Bounds::Variable(part, dim), Bounds::Variable(second.getResult(), dim));
      if (failed(equal) || !*equal)
        return std::nullopt;
    }
  return History{first.getSource(), nullptr, second.getSource(), *found,
                 first.getSourceType().getDimSize(*found)};
}

std::optional<History> History::get(Value value) {
  if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    return getInserted(insert);
  if (auto pad = value.getDefiningOp<tensor::PadOp>()) {
    Value padding = pad.getConstantPaddingValue();
    std::optional<unsigned> dim = getDimPaddedInFront(pad);
    if (!padding || !matchPattern(padding, m_Constant()) || !dim)
      return std::nullopt;
    std::optional<int64_t> length = getConstantIntValue(pad.getMixedLowPad()[*dim]);
    if (!length || *length < 1)
      return std::nullopt;
    return History{nullptr, padding, pad.getSource(), *dim, *length};
  }
  if (auto concat = value.getDefiningOp<tensor::ConcatOp>()) {
    if (concat.getInputs().size() != 2)
      return std::nullopt;
    unsigned dim = concat.getDim();
    Value past = concat.getInputs()[0];
    int64_t length = cast<RankedTensorType>(past.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(length) || length < 1)
      return std::nullopt;
    return History{past, nullptr, concat.getInputs()[1], dim, length};
  }
  return std::nullopt;
}

/// True if the recurrence takes no more tokens than `tokens` has rows.
static bool hasRowPerToken(RecurrenceOp op, Value tokens, unsigned dim) {
  using Bounds = ValueBoundsConstraintSet;
  AffineExpr time = getAffineDimExpr(op.getTimeDim(), op.getContext());
  auto covers = [&](OpOperand &operand) {
    std::optional<unsigned> position = op.getMap(operand).getResultPosition(time);
    if (!position)
      return false;
    if (operand.get() == tokens && *position == dim)
      return true;
    FailureOr<bool> equal =
        Bounds::areEqual(Bounds::Variable(operand.get(), *position), Bounds::Variable(tokens, dim));
    return succeeded(equal) && *equal;
  };
  return llvm::any_of(op.getInsMutable(), covers) || llvm::any_of(op.getOutsMutable(), covers);
}

std::optional<HistoryRead> HistoryRead::get(RecurrenceOp op, const Access &from) {
  Access access = from;
  std::optional<History> history;
  while (!(history = History::get(access.value))) {
    FailureOr<Access> source = lookThroughCopy(access);
    if (failed(source))
      return std::nullopt;
    access = *source;
  }
  unsigned time = op.getTimeDim();
  for (auto [dim, expr] : llvm::enumerate(access.map.getResults()))
    if (dim != history->dim && expr.isFunctionOfDim(time))
      return std::nullopt;
  FailureOr<IndexForm> form = IndexForm::get(access.map.getResult(history->dim));
  if (failed(form) || !form->usesDim(time) || form->terms.size() > 2)
    return std::nullopt;
  HistoryRead read{*history, access, history->length - form->constant, 1, std::nullopt};
  for (const IndexTerm &term : form->terms) {
    if (term.coefficient != 1 || !term.digit.isWholeDim())
      return std::nullopt;
    if (term.digit.dim == time)
      continue;
    if (read.window || term.digit.dim < op.getNumIterators())
      return std::nullopt;
    read.window = term.digit.dim;
    read.width = access.extents[term.digit.dim];
  }
  // Nothing later than the current token. A window that ends there shows that there is one.
  if (form->constant < 0 || ShapedType::isDynamic(read.width) || read.width > read.lag + 1 ||
      (read.width < read.lag + 1 && !hasRowPerToken(op, history->tokens, history->dim)))
    return std::nullopt;
  return read;
}

FailureOr<AffineMap> HistoryRead::getTokenMap(RecurrenceOp op,
                                              SmallVectorImpl<unsigned> &loops) const {
  SmallVector<AffineExpr> exprs(access.map.getResults());
  exprs[history.dim] = getAffineDimExpr(op.getTimeDim(), op.getContext());
  return getOperandMap(op, AffineMap::get(access.map.getNumDims(), 0, exprs, op.getContext()),
                       loops);
}

StringRef HistoryRead::getObstacle(RecurrenceOp op) const {
  if (op.getReverse())
    return "the recurrence runs from the last token to the first";
  if (op.getSegments())
    return "rows in front of packed sequences are not in front of each of them";
  if (!op.getCheckpoints().empty())
    return "checkpoints would need one of the tokens that are kept";
  SmallVector<unsigned> loops;
  if (failed(getTokenMap(op, loops)) || loops.size() > 1)
    return "what it keeps of a token is more than a vector";
  // Slices have their dims in the order of the tensor's.
  for (unsigned dim = 0; dim < history.dim && window; ++dim)
    for (unsigned loop : loops)
      if (access.map.getResult(dim).isFunctionOfDim(op.getNumIterators() + loop))
        return "the tokens that it keeps are not the outermost dim of a slice";
  for (unsigned loop : loops)
    if (ShapedType::isDynamic(access.extents[op.getNumIterators() + loop]))
      return "a dim inside of a token has no static size";
  return "";
}

bool linattn::readsOwnToken(RecurrenceOp op, const Access &access, AffineMap before) {
  AffineExpr time = getAffineDimExpr(op.getTimeDim(), op.getContext());
  return llvm::all_of(access.map.getResults(), [&](AffineExpr expr) {
    return expr == time || !expr.isFunctionOfDim(op.getTimeDim()) ||
           llvm::is_contained(before.getResults(), expr);
  });
}

FailureOr<AffineMap> linattn::getOperandMap(RecurrenceOp op, AffineMap map,
                                            SmallVectorImpl<unsigned> &loops) {
  unsigned numIterators = op.getNumIterators();
  FailureOr<SmallVector<IndexForm>> forms = getIndexForms(map);
  if (failed(forms))
    return failure();
  for (const IndexForm &form : *forms) {
    bool hasSlice = false;
    for (const IndexTerm &term : form.terms) {
      if (term.digit.dim < numIterators)
        continue;
      unsigned loop = term.digit.dim - numIterators;
      if (hasSlice || term.coefficient != 1 || !term.digit.isWholeDim() ||
          llvm::is_contained(loops, loop))
        return failure();
      hasSlice = true;
      loops.push_back(loop);
    }
  }
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim) {
    unsigned position =
        dim < numIterators ? dim : llvm::find(loops, dim - numIterators) - loops.begin();
    dims.push_back(
        getAffineDimExpr(dim < numIterators ? dim : numIterators + position, op.getContext()));
  }
  return map.replaceDimsAndSymbols(dims, {}, numIterators + loops.size(), 0);
}
