//===- SplitTail.cpp - the last tokens of a recurrence apart ------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/SplitTail.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::linattn;

namespace {

/// Tokens `[begin, begin + count)`.
struct Range {
  OpFoldResult begin, count;
};

class TailSplitter {
public:
  TailSplitter(RewriterBase &rewriter, RecurrenceOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()) {}
  LogicalResult canSplit();
  SplitRecurrence split(int64_t multiple);

private:
  std::optional<unsigned> getTimePosition(OpOperand &operand);
  void getSlice(Value tensor, unsigned position, const Range &range,
                SmallVector<OpFoldResult> &offsets, SmallVector<OpFoldResult> &sizes,
                SmallVector<OpFoldResult> &strides);
  Value slice(OpOperand &operand, Value tensor, const Range &range);
  Value getPositionOffset(const Range &range);
  RecurrenceOp run(const Range &range, SmallVector<Value> &outs, SmallVector<Value> &states);

  RewriterBase &rewriter;
  RecurrenceOp op;
  Location loc;
};

} // namespace

/// The dim of the operand that time indexes; none if none does.
std::optional<unsigned> TailSplitter::getTimePosition(OpOperand &operand) {
  return op.getMap(operand).getResultPosition(rewriter.getAffineDimExpr(op.getTimeDim()));
}

LogicalResult TailSplitter::canSplit() {
  if (op.getSegments() || !op.getCheckpoints().empty() || op.getStep())
    return failure();
  for (auto operands : {op.getInsMutable(), op.getOutsMutable()})
    for (OpOperand &operand : operands) {
      AffineMap map = op.getMap(operand);
      unsigned uses = llvm::count_if(
          map.getResults(), [&](AffineExpr expr) { return expr.isFunctionOfDim(op.getTimeDim()); });
      if (uses > 1 || (uses == 1 && !getTimePosition(operand)))
        return failure();
    }
  return success();
}

void TailSplitter::getSlice(Value tensor, unsigned position, const Range &range,
                            SmallVector<OpFoldResult> &offsets, SmallVector<OpFoldResult> &sizes,
                            SmallVector<OpFoldResult> &strides) {
  sizes = tensor::getMixedSizes(rewriter, loc, tensor);
  offsets.assign(sizes.size(), rewriter.getIndexAttr(0));
  strides.assign(sizes.size(), rewriter.getIndexAttr(1));
  offsets[position] = range.begin;
  sizes[position] = range.count;
}

Value TailSplitter::slice(OpOperand &operand, Value tensor, const Range &range) {
  std::optional<unsigned> position = getTimePosition(operand);
  if (!position)
    return tensor;
  SmallVector<OpFoldResult> offsets, sizes, strides;
  getSlice(tensor, *position, range, offsets, sizes, strides);
  return tensor::ExtractSliceOp::create(rewriter, loc, tensor, offsets, sizes, strides);
}

/// The offset of the tokens' positions, if the body asks for them.
Value TailSplitter::getPositionOffset(const Range &range) {
  Value offset = op.getPositionOffset();
  if (isConstantIntValue(range.begin, 0))
    return offset;
  bool usesPosition = op.getBody()
                          .walk([&](IndexOp index) {
                            return int64_t(index.getDim()) == int64_t(op.getTimeDim())
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
  if (!usesPosition)
    return offset;
  Type type = offset ? getElementTypeOrSelf(offset.getType()) : rewriter.getI64Type();
  Value begin = getValueOrCreateConstantIndexOp(rewriter, loc, range.begin);
  if (!type.isIndex())
    begin = arith::IndexCastOp::create(rewriter, loc, type, begin);
  if (!offset)
    return begin;
  if (auto tensorType = dyn_cast<RankedTensorType>(offset.getType())) {
    SmallVector<Value> dynamic;
    for (int64_t dim = 0; dim < tensorType.getRank(); ++dim)
      if (tensorType.isDynamicDim(dim))
        dynamic.push_back(tensor::DimOp::create(rewriter, loc, offset, dim));
    begin = tensor::SplatOp::create(rewriter, loc, begin, tensorType, dynamic);
  }
  return arith::AddIOp::create(rewriter, loc, offset, begin);
}

/// The recurrence over some of the tokens; updates the whole outs and the states.
RecurrenceOp TailSplitter::run(const Range &range, SmallVector<Value> &outs,
                               SmallVector<Value> &states) {
  SmallVector<Value> ins, outSlices;
  for (OpOperand &operand : op.getInsMutable())
    ins.push_back(slice(operand, operand.get(), range));
  for (auto [operand, out] : llvm::zip_equal(op.getOutsMutable(), outs))
    outSlices.push_back(slice(operand, out, range));
  SmallVector<IteratorKind> iterators;
  for (unsigned dim = 0; dim < op.getNumIterators(); ++dim)
    iterators.push_back(op.getIteratorKind(dim));
  SmallVector<AffineMap> maps(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  Value offset = getPositionOffset(range);
  if (offset && !op.getPositionOffset())
    maps.insert(maps.begin() + ins.size(),
                AffineMap::get(op.getNumIterators(), 0, rewriter.getContext()));
  auto part = RecurrenceOp::create(rewriter, loc, ins, /*segments=*/Value(), offset, outSlices,
                                   states, /*checkpoints=*/ValueRange(), iterators, maps,
                                   op.getReverse(), op.getStep(), op.getCheckpointInterval());
  part->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  part.setPlanAttr(op.getPlanAttr());
  IRMapping mapping;
  op.getBody().cloneInto(&part.getBody(), mapping);
  for (auto [operand, out, result] :
       llvm::zip_equal(op.getOutsMutable(), outs, part.getOutResults())) {
    std::optional<unsigned> position = getTimePosition(operand);
    if (!position) { // the last token's stays
      out = result;
      continue;
    }
    SmallVector<OpFoldResult> offsets, sizes, strides;
    getSlice(out, *position, range, offsets, sizes, strides);
    out = tensor::InsertSliceOp::create(rewriter, loc, result, out, offsets, sizes, strides);
  }
  states.assign(part.getStateResults().begin(), part.getStateResults().end());
  return part;
}

SplitRecurrence TailSplitter::split(int64_t multiple) {
  OpFoldResult tokens = op.getExtent(rewriter, op.getTimeDim());
  if (std::optional<int64_t> count = getConstantIntValue(tokens); count && *count % multiple == 0)
    return {op, nullptr};
  AffineExpr d0, d1;
  bindDims(rewriter.getContext(), d0, d1);
  OpFoldResult whole = affine::makeComposedFoldedAffineApply(
      rewriter, loc, AffineMap::get(1, 0, d0.floorDiv(multiple) * multiple), {tokens});
  OpFoldResult rest = affine::makeComposedFoldedAffineApply(
      rewriter, loc, AffineMap::get(2, 0, d0 - d1), {tokens, whole});
  SmallVector<Value> outs(op.getOuts()), states(op.getStates());
  RecurrenceOp many, few;
  auto runMany = [&] { many = run({rewriter.getIndexAttr(0), whole}, outs, states); };
  auto runFew = [&] { few = run({whole, rest}, outs, states); };
  if (op.getReverse()) {
    runFew();
    runMany();
  } else {
    runMany();
    runFew();
  }
  SmallVector<Value> results(outs);
  llvm::append_range(results, states);
  rewriter.replaceOp(op, results);
  return {many, few};
}

FailureOr<SplitRecurrence> linattn::splitTail(RewriterBase &rewriter, RecurrenceOp op,
                                              int64_t multiple) {
  TailSplitter splitter(rewriter, op);
  if (failed(splitter.canSplit()))
    return rewriter.notifyMatchFailure(op, "its operands cannot be cut along time");
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  return splitter.split(multiple);
}
