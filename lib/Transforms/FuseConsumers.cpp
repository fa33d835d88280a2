//===- FuseConsumers.cpp - what is computed from outs -------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/Fuse.h"

#include "FuseAccess.h"
#include "FuseBody.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

/// The number of the out that `value` is the result of.
static std::optional<unsigned> getOut(RecurrenceOp op, Value value) {
  if (value.getDefiningOp() != op)
    return std::nullopt;
  unsigned number = cast<OpResult>(value).getResultNumber();
  return number < op.getOuts().size() ? std::optional(number) : std::nullopt;
}

/// The extents of an out's iteration and slice dims.
static Access getAccess(RecurrenceOp op, unsigned out) {
  return Access::get(op, op.getOutsMutable()[out], op.getYieldedOuts()[out].getType());
}

/// True if the recurrence writes every entry of an out.
static bool coversAll(const Access &out) {
  for (auto [expr, size] : llvm::zip_equal(out.map.getResults(), out.getShape())) {
    FailureOr<IndexForm> form = IndexForm::get(expr);
    if (failed(form))
      return false;
    if (form->getBareDim())
      continue;
    // Digits of a number: each place is what all smaller ones reach together.
    SmallVector<IndexTerm> terms(form->terms);
    llvm::sort(terms, [](const IndexTerm &a, const IndexTerm &b) {
      return a.coefficient < b.coefficient;
    });
    int64_t reach = 1;
    for (const IndexTerm &term : terms) {
      int64_t extent = out.extents[term.digit.dim];
      if (!term.digit.isWholeDim() || term.coefficient != reach || ShapedType::isDynamic(extent))
        return false;
      reach *= extent;
    }
    if (form->constant != 0 || reach != size)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------------------------------===//

/// An out in another shape: the same entries at other indices.
template <typename ReshapeOp>
static FailureOr<RecurrenceOp> fuseReshape(RewriterBase &rewriter, RecurrenceOp op,
                                           ReshapeOp reshape, unsigned out) {
  Access access = getAccess(op, out);
  SmallVector<AffineExpr> exprs;
  for (auto [dim, group] : llvm::enumerate(reshape.getReassociationIndices())) {
    ArrayRef<int64_t> shape =
        std::is_same_v<ReshapeOp, tensor::CollapseShapeOp>
            ? access.getShape()
            : cast<RankedTensorType>(reshape.getResult().getType()).getShape();
    auto sizes = llvm::map_to_vector(group, [&](int64_t d) { return shape[d]; });
    if constexpr (std::is_same_v<ReshapeOp, tensor::CollapseShapeOp>) {
      auto indices = llvm::map_to_vector(group, [&](int64_t d) { return access.map.getResult(d); });
      FailureOr<AffineExpr> index = linearize(indices, sizes);
      if (failed(index))
        return failure();
      exprs.push_back(*index);
    } else {
      auto indices = delinearize(access.map.getResult(dim), sizes, access.extents);
      if (failed(indices))
        return failure();
      exprs.append(*indices);
    }
  }
  AffineMap map =
      simplifyAffineMap(AffineMap::get(access.map.getNumDims(), 0, exprs, op.getContext()));
  SmallVector<unsigned> loops;
  if (failed(getOperandMap(op, map, loops)) || !llvm::is_sorted(loops))
    return failure();
  SmallVector<Value> needed;
  for (Value operand : reshape->getOperands())
    if (operand.getDefiningOp() != op)
      needed.push_back(operand);
  if (failed(moveValueDefinitions(rewriter, needed, op)))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  IRMapping mapping;
  mapping.map(reshape.getSrc(), op.getOuts()[out]);
  Value init = rewriter.clone(*reshape.getOperation(), mapping)->getResult(0);
  RecurrenceEditor editor(op);
  editor.addOut(init, map, op.getYieldedOuts()[out]);
  RecurrenceOp fused = editor.finish(rewriter);
  rewriter.replaceOp(reshape, fused.getOutResults().back());
  return fused;
}

//===----------------------------------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------------------------------===//

namespace {

/// One use of outs by an op that is elementwise or linalg.
class ConsumerFuser {
public:
  ConsumerFuser(RewriterBase &rewriter, RecurrenceOp op, TokenOp &token)
      : rewriter(rewriter), op(op), token(token) {}

  StringRef findLoops(unsigned input, unsigned out);
  StringRef findSlices();
  FailureOr<RecurrenceOp> fuse();

private:
  FailureOr<SmallVector<unsigned>> matchOut(AffineMap map, unsigned out);
  Value createInit();

  RewriterBase &rewriter;
  RecurrenceOp op;
  TokenOp &token;
  SmallVector<SmallVector<unsigned>> sliceLoops;
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> resultLoops;
  AffineMap resultMap;
};

} // namespace

/// The loops of the op as iteration dims and loops of a token, from one of the outs that it reads.
StringRef ConsumerFuser::findLoops(unsigned input, unsigned out) {
  Access access = getAccess(op, out);
  if (!coversAll(access))
    return "the recurrence leaves a part of the tensor as it was";
  AffineMap read = token.inputMaps[input];
  if (!read.isProjectedPermutation())
    return "it reads entries that are no slice of a token";
  unsigned numIterators = op.getNumIterators();
  token.indices.resize(token.iterators.size());
  for (unsigned loop = 0; loop < token.iterators.size(); ++loop) {
    AffineExpr left = rewriter.getAffineDimExpr(numIterators + token.loops.size());
    std::optional<unsigned> position = read.getResultPosition(rewriter.getAffineDimExpr(loop));
    AffineExpr index = position ? access.map.getResult(*position) : left;
    bool isParallel = token.iterators[loop] == IteratorType::parallel;
    std::optional<unsigned> slice;
    for (unsigned dim = numIterators; dim < access.map.getNumDims(); ++dim)
      if (position && index.isFunctionOfDim(dim))
        slice = dim;
    bool isWhole = position && isa<AffineDimExpr>(index);
    if (position && !isParallel && !(slice && isWhole))
      return index.isFunctionOfDim(op.getTimeDim())
                 ? "it mixes tokens"
                 : "it mixes points of the parallel dims, as heads are";
    if (slice)
      index = index.replace(rewriter.getAffineDimExpr(*slice), left);
    token.indices[loop] = index;
    if (position && !slice)
      continue;
    token.loops.push_back(loop);
    token.loopExtents.push_back(slice ? access.extents[*slice] : token.extents[loop]);
  }
  return "";
}

/// The loops that the dims of an out's slice are, if `map` is where the recurrence writes it.
FailureOr<SmallVector<unsigned>> ConsumerFuser::matchOut(AffineMap map, unsigned out) {
  AffineMap written = op.getMap(op.getOutsMutable()[out]);
  unsigned numIterators = op.getNumIterators();
  SmallVector<unsigned> loops(op.getNumSliceDims(written));
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < numIterators; ++dim)
    dims.push_back(rewriter.getAffineDimExpr(dim));
  for (unsigned slice = 0; slice < loops.size(); ++slice) {
    for (auto [expr, read] : llvm::zip_equal(written.getResults(), map.getResults()))
      if (expr.isFunctionOfDim(numIterators + slice))
        for (unsigned loop = 0; loop < token.loops.size(); ++loop)
          if (read.isFunctionOfDim(numIterators + loop))
            loops[slice] = loop;
    dims.push_back(rewriter.getAffineDimExpr(numIterators + loops[slice]));
  }
  for (auto [expr, read] : llvm::zip_equal(written.getResults(), map.getResults()))
    if (simplifyAffineExpr(expr.replaceDims(dims), map.getNumDims(), 0) != read)
      return failure();
  return loops;
}

StringRef ConsumerFuser::findSlices() {
  SmallVector<AffineMap> wholeMaps;
  for (auto [input, inputMap] : llvm::zip_equal(token.inputs, token.inputMaps)) {
    AffineMap map = token.getMap(op, inputMap);
    wholeMaps.push_back(map);
    maps.emplace_back();
    if (input->get().getDefiningOp() == op) {
      std::optional<unsigned> out = getOut(op, input->get());
      if (!out)
        return "it needs the state after the last token";
      FailureOr<SmallVector<unsigned>> loops = matchOut(map, *out);
      if (failed(loops) || !coversAll(getAccess(op, *out)))
        return "it mixes tokens or points of the parallel dims";
      sliceLoops.push_back(*loops);
      continue;
    }
    FailureOr<AffineMap> sliceMap = getOperandMap(op, map, sliceLoops.emplace_back());
    if (failed(sliceMap))
      return "it reads entries that are no slice of a token";
    maps.back() = *sliceMap;
    if (!readsOwnToken(op, {input->get(), map, {}}, AffineMap::get(op.getContext())))
      return "it reads other tokens";
  }
  FailureOr<AffineMap> map = getOperandMap(op, token.getMap(op, token.resultMap), resultLoops);
  if (failed(map))
    return "its result has no slices of tokens";
  resultMap = *map;
  for (auto [input, list] : llvm::zip_equal(token.inputs, sliceLoops))
    if (input == token.init && list != resultLoops)
      return "its result has no slices of tokens";
  return token.getObstacle(op, wholeMaps);
}

/// What the new out starts as; all of it is overwritten.
Value ConsumerFuser::createInit() {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(token.op); linalgOp && !token.init)
    return linalgOp.getDpsInits()[0];
  // An elementwise op has the shape of an out that it reads, a sum that of its init.
  Value like;
  for (OpOperand *input : token.init ? ArrayRef(token.init) : ArrayRef(token.inputs)) {
    std::optional<unsigned> out = getOut(op, input->get());
    if (out || token.init)
      like = out ? op.getOuts()[*out] : input->get();
  }
  return tensor::EmptyOp::create(rewriter, op.getLoc(),
                                 tensor::getMixedSizes(rewriter, op.getLoc(), like),
                                 getElementTypeOrSelf(token.op->getResult(0).getType()));
}

FailureOr<RecurrenceOp> ConsumerFuser::fuse() {
  SmallVector<Value> needed;
  for (Value operand : token.op->getOperands())
    if (operand.getDefiningOp() != op)
      needed.push_back(operand);
  SetVector<Value> captures;
  getUsedValuesDefinedAbove(token.op->getRegions(), captures);
  llvm::append_range(needed, captures);
  if (failed(moveValueDefinitions(rewriter, needed, op)))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value init = createInit();
  if (init.getType() != token.op->getResult(0).getType())
    init = tensor::CastOp::create(rewriter, op.getLoc(), token.op->getResult(0).getType(), init);
  rewriter.setInsertionPoint(op.getYield());
  RecurrenceEditor editor(op);
  SmallVector<TokenOp::Slice> slices;
  for (auto [input, map, list] : llvm::zip_equal(token.inputs, maps, sliceLoops)) {
    Value slice =
        map ? editor.addInput(input->get(), map, token.getSliceType(input->get().getType(), list))
            : op.getYieldedOuts()[*getOut(op, input->get())];
    slices.push_back({slice, list});
  }
  Value result = token.create(rewriter, editor, op, slices, resultLoops);
  editor.addOut(init, resultMap, result);
  Operation *consumer = token.op;
  RecurrenceOp fused = editor.finish(rewriter);
  rewriter.replaceOp(consumer, fused.getOutResults().back());
  return fused;
}

FailureOr<RecurrenceOp> linattn::fuseConsumer(RewriterBase &rewriter, RecurrenceOp op,
                                              Operation *consumer, StringRef &obstacle) {
  obstacle = "";
  if (op.getStep())
    return failure();
  obstacle = "it is outside of the region of the recurrence";
  if (consumer->getBlock() != op->getBlock())
    return failure();
  auto reads = [&](OpOperand &operand) { return getOut(op, operand.get()).has_value(); };
  if (llvm::none_of(consumer->getOpOperands(), reads)) {
    obstacle = "it needs the state after the last token";
    return failure();
  }
  FailureOr<RecurrenceOp> fused = failure();
  obstacle = "the new shape is no other order of whole slices";
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(consumer))
    return fuseReshape(rewriter, op, collapse, *getOut(op, collapse.getSrc()));
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(consumer))
    return fuseReshape(rewriter, op, expand, *getOut(op, expand.getSrc()));
  FailureOr<TokenOp> token = TokenOp::get(consumer, obstacle);
  if (failed(token))
    return failure();
  ConsumerFuser fuser(rewriter, op, *token);
  obstacle = "it writes into the tensor";
  for (auto [number, input] : llvm::enumerate(token->inputs)) {
    if (!reads(*input))
      continue;
    obstacle = fuser.findLoops(number, *getOut(op, input->get()));
    if (obstacle.empty())
      obstacle = fuser.findSlices();
    break;
  }
  if (!obstacle.empty())
    return failure();
  fused = fuser.fuse();
  if (failed(fused))
    obstacle = "another operand depends on the recurrence, too";
  return fused;
}
