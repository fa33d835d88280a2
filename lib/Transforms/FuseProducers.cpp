//===- FuseProducers.cpp - what inputs are computed from ----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/Fuse.h"

#include "FuseAccess.h"
#include "FuseBody.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

/// How many points of the parallel dims see the same slice; kDynamic if that is unknown.
static int64_t countSharing(RecurrenceOp op, const Access &access) {
  FailureOr<SmallVector<IndexForm>> forms = getIndexForms(access.map);
  int64_t count = 1;
  for (unsigned dim : op.getParallelDims()) {
    int64_t extent = access.extents[dim], sharing = extent;
    for (const IndexForm &form : *forms)
      for (const IndexTerm &term : form.terms) {
        const IndexDigit &digit = term.digit;
        if (digit.dim != dim)
          continue;
        if (!digit.high) // all that is above a place
          sharing = ShapedType::isDynamic(sharing) ? digit.low : std::min(sharing, digit.low);
        else if (ShapedType::isStatic(extent))
          sharing = std::min(sharing, std::max<int64_t>(1, extent / digit.getExtent(extent)));
      }
    if (ShapedType::isDynamic(sharing))
      return sharing;
    count *= sharing;
  }
  return count;
}

/// True if all that needs `op` are inputs of the recurrence.
static bool isUsedOnlyBy(Operation *op, RecurrenceOp recurrence) {
  return llvm::all_of(op->getUses(), [&](OpOperand &use) {
    return use.getOwner() == recurrence && use.getOperandNumber() < recurrence.getIns().size();
  });
}

/// Replaces an input by what it is a copy of.
static FailureOr<RecurrenceOp> replaceCopy(RewriterBase &rewriter, RecurrenceOp op, unsigned input,
                                           const Access &source) {
  Value arg = op.getInArgs()[input];
  SmallVector<unsigned> loops;
  FailureOr<AffineMap> map = getOperandMap(op, source.map, loops);
  if (failed(map) || !llvm::is_sorted(loops) ||
      loops.size() != op.getNumSliceDims(op.getMap(op.getInsMutable()[input])))
    return failure(); // another order of the entries of a slice
  RecurrenceEditor editor(op);
  Value slice = editor.addInput(source.value, *map, arg.getType());
  rewriter.replaceAllUsesWith(arg, slice);
  editor.eraseInput(arg);
  return editor.finish(rewriter);
}

FailureOr<RecurrenceOp> linattn::fuseProducer(RewriterBase &rewriter, RecurrenceOp op,
                                              unsigned input, const FuseOptions &options,
                                              StringRef &obstacle) {
  OpOperand &operand = op.getInsMutable()[input];
  Operation *def = operand.get().getDefiningOp();
  Value arg = op.getInArgs()[input];
  AffineMap before = op.getMap(operand);
  obstacle = "";
  // What no token changes is computed once, outside.
  if (!def || op.getStep() || !op.usesTime(before) || matchPattern(def, m_Constant()) ||
      isa<RecurrenceOp>(def) || History::get(operand.get()))
    return failure();
  Access access = Access::get(op, operand, arg.getType());
  auto getObstacle = [&](const Access &source) -> StringRef {
    if (readsOwnToken(op, source, before))
      return "";
    std::optional<HistoryRead> history = HistoryRead::get(op, source);
    return history ? history->getObstacle(op) : "it reads other tokens";
  };
  if (FailureOr<Access> source = lookThroughCopy(access);
      succeeded(source) && RecurrenceEditor::keepsExtents(op, input, source->map)) {
    obstacle = getObstacle(*source);
    if (!obstacle.empty())
      return failure();
    if (auto replaced = replaceCopy(rewriter, op, input, *source); succeeded(replaced))
      return replaced;
  }
  FailureOr<TokenOp> token = TokenOp::get(def, obstacle);
  if (failed(token))
    return failure();
  if (def->getBlock() != op->getBlock()) {
    obstacle = "it is outside of the region of the recurrence";
    return failure();
  }

  // The indices of the result give those of its loops; sums stay in the body.
  unsigned numIterators = op.getNumIterators(), numSliceDims = op.getNumSliceDims(before);
  token->indices.resize(token->iterators.size());
  token->loops.resize(numSliceDims);
  token->loopExtents.assign(access.extents.begin() + numIterators, access.extents.end());
  for (auto [dim, expr] : llvm::enumerate(token->resultMap.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    token->indices[loop] = before.getResult(dim);
    for (unsigned slice = 0; slice < numSliceDims; ++slice)
      if (before.getResult(dim).isFunctionOfDim(numIterators + slice))
        token->loops[slice] = loop;
  }
  for (auto [loop, index] : llvm::enumerate(token->indices)) {
    if (index)
      continue;
    index = rewriter.getAffineDimExpr(numIterators + token->loopExtents.size());
    token->loops.push_back(loop);
    token->loopExtents.push_back(token->extents[loop]);
  }

  SmallVector<AffineMap> wholeMaps, maps;
  SmallVector<SmallVector<unsigned>> sliceLoops;
  SmallVector<int64_t> extents(access.extents.begin(), access.extents.begin() + numIterators);
  llvm::append_range(extents, token->loopExtents);
  auto resultLoops = llvm::to_vector(llvm::seq<unsigned>(0, numSliceDims));
  for (auto [tokenInput, map] : llvm::zip_equal(token->inputs, token->inputMaps)) {
    Access source{tokenInput->get(), token->getMap(op, map), extents};
    wholeMaps.push_back(source.map);
    obstacle = "it reads entries that are no slice of a token";
    FailureOr<AffineMap> sliceMap = getOperandMap(op, source.map, sliceLoops.emplace_back());
    if (failed(sliceMap) || (tokenInput == token->init && sliceLoops.back() != resultLoops))
      return failure();
    obstacle = getObstacle(source);
    if (!obstacle.empty())
      return failure();
    maps.push_back(*sliceMap);
  }
  obstacle = token->getObstacle(op, wholeMaps);
  if (!obstacle.empty())
    return failure();
  if (!RecurrenceEditor::keepsExtents(op, input, maps)) {
    obstacle = "only its result tells how often the recurrence runs";
    return failure();
  }
  if (token->readsTensors()) {
    obstacle = "it is used elsewhere, too";
    if (!isUsedOnlyBy(def, op))
      return failure();
    obstacle = "too many points of the parallel dims share it, each of which would compute it";
    int64_t sharing = countSharing(op, access);
    if (options.maxRecompute > 0 &&
        (ShapedType::isDynamic(sharing) || sharing > options.maxRecompute))
      return failure();
  }
  obstacle = "";

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&op.getBody().front());
  RecurrenceEditor editor(op);
  SmallVector<TokenOp::Slice> slices;
  for (auto [tokenInput, map, list] : llvm::zip_equal(token->inputs, maps, sliceLoops)) {
    Type type = tokenInput->get().getType();
    slices.push_back(
        {editor.addInput(tokenInput->get(), map, token->getSliceType(type, list)), list});
  }
  rewriter.replaceAllUsesWith(arg, token->create(rewriter, editor, op, slices, resultLoops));
  editor.eraseInput(arg);
  RecurrenceOp fused = editor.finish(rewriter);
  if (def->use_empty())
    rewriter.eraseOp(def);
  return fused;
}
