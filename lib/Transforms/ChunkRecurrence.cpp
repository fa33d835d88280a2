//===- ChunkRecurrence.cpp - recurrences over chunks of tokens ----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "ChunkBody.h"
#include "ExpandRows.h"
#include "PassFrame.h"

#include "linattn/Analysis/MatmulShare.h"
#include "linattn/Transforms/Chunk.h"
#include "linattn/Transforms/Passes.h"
#include "linattn/Transforms/SplitTail.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_CHUNKPASS
#include "linattn/Transforms/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

static remark::RemarkOpts getRemark() {
  return remark::RemarkOpts::name("chunk").category("linattn-chunk");
}

/// The chunk that plan, options and checkpoints agree on.
static ChunkOptions getEffectiveOptions(RecurrenceOp op, const ChunkOptions &options) {
  ChunkOptions effective = options;
  PlanAttr plan = op.getPlanAttr();
  if (plan) {
    effective.chunk = plan.getChunk();
    effective.subchunk = plan.getSubchunk();
  }
  // Checkpoints lie between chunks.
  if (std::optional<int64_t> interval = op.getCheckpointInterval())
    while (*interval % effective.chunk != 0)
      --effective.chunk;
  effective.subchunk = std::min(effective.subchunk, effective.chunk);
  if (plan) {
    effective.strategy = plan.getStrategy();
    effective.precision = plan.getOperandPrecision();
  }
  return effective;
}

/// How fewer tokens than a chunk run: in a chunk of 4, and what is left of these one by one.
static ChunkOptions getTailOptions(const ChunkOptions &options) {
  constexpr int64_t chunk = 4;
  ChunkOptions tail = options;
  bool isChunk = options.chunk > chunk;
  tail.strategy = isChunk ? options.strategy : Strategy::token;
  tail.chunk = isChunk ? chunk : 1;
  tail.subchunk = std::min(options.subchunk, tail.chunk);
  if (!isChunk)
    tail.precision = OperandPrecision::f32;
  return tail;
}

static PlanAttr getPlan(MLIRContext *context, const ChunkOptions &options) {
  return PlanAttr::get(context, options.strategy, options.chunk, options.subchunk, /*value_tile=*/0,
                       /*split=*/1, options.precision, PlanSource::constant);
}

/// The recurrence over tiles of `rows` tokens, with its block arguments and no ops in its body.
static RecurrenceOp createChunkOp(RewriterBase &rewriter, RecurrenceOp op, int64_t rows) {
  SmallVector<IteratorKind> iterators;
  for (unsigned dim = 0; dim < op.getNumIterators(); ++dim)
    iterators.push_back(op.getIteratorKind(dim));
  SmallVector<AffineMap> maps;
  for (Attribute map : op.getIndexingMaps())
    maps.push_back(cast<AffineMapAttr>(map).getValue());
  auto chunk = RecurrenceOp::create(rewriter, op.getLoc(), op.getIns(), op.getSegments(),
                                    op.getPositionOffset(), op.getOuts(), op.getStates(),
                                    op.getCheckpoints(), iterators, maps, op.getReverse(), rows,
                                    op.getCheckpointInterval());
  chunk->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  chunk.setPlanAttr(op.getPlanAttr());
  Lifting lifting(rows);
  Block &block = chunk.getBody().emplaceBlock();
  block.addArgument(rewriter.getIndexType(), op.getLoc());
  for (auto [operand, arg] : llvm::zip_equal(op.getInsMutable(), op.getInArgs()))
    block.addArgument(op.usesTime(op.getMap(operand)) ? lifting.getLiftedType(arg.getType())
                                                      : arg.getType(),
                      arg.getLoc());
  for (BlockArgument state : op.getStateArgs())
    block.addArgument(state.getType(), state.getLoc());
  return chunk;
}

FailureOr<RecurrenceOp> linattn::chunkRecurrence(RewriterBase &rewriter, RecurrenceOp op,
                                                 const ChunkOptions &options) {
  if (op.getStep())
    return rewriter.notifyMatchFailure(op, "steps over more than one token already");
  ChunkOptions effective = getEffectiveOptions(op, options);
  if (effective.strategy == Strategy::token || effective.chunk < 1)
    return rewriter.notifyMatchFailure(op, "its plan says token by token");
  int64_t tokens = op.getStaticExtents()[op.getTimeDim()];
  auto isTail = [&] {
    return effective.splitTail && ShapedType::isStatic(tokens) && tokens < effective.chunk;
  };
  if (isTail())
    effective = getTailOptions(effective);
  if (effective.strategy == Strategy::token || isTail())
    return rewriter.notifyMatchFailure(op, "has too few tokens");
  OwningOpRef<RecurrenceOp> singleRows = expandRows(op);
  RecurrenceOp token = singleRows ? *singleRows : op;
  StateGraph graph(token);
  if (effective.splitTail && graph.isChunkable())
    if (FailureOr<SplitRecurrence> parts = splitTail(rewriter, op, effective.chunk);
        succeeded(parts) && parts->tail) {
      parts->tail.setPlanAttr(getPlan(op.getContext(), getTailOptions(effective)));
      (void)chunkRecurrence(rewriter, parts->tail, options);
      ChunkOptions whole = options;
      whole.splitTail = false;
      return chunkRecurrence(rewriter, parts->whole, whole);
    }
  std::string reason = "it has no state";
  for (const StateInfo &state : graph.getStates()) {
    if (state.stateClass == StateClass::lowRank || state.stateClass == StateClass::shift)
      continue;
    reason = ("state #" + Twine(state.index) + " is run token by token: " + state.reason).str();
    if (state.stateClass == StateClass::scan)
      reason += (" (" + state.form + " scan)").str();
    remark::missed(state.culprit->getLoc(), getRemark()) << reason;
  }
  if (!graph.isChunkable())
    return rewriter.notifyMatchFailure(op, reason);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  RecurrenceOp chunk = createChunkOp(rewriter, op, effective.chunk);
  if (!op.getPlanAttr() && effective.strategy == Strategy::sweep)
    chunk.setPlanAttr(getPlan(op.getContext(), effective));
  ChunkBody body(rewriter, token, chunk, graph, effective);
  if (failed(body.build())) {
    reason =
        ("the recurrence is run token by token: '" + body.getCulprit()->getName().getStringRef() +
         "' has no form for several tokens at once, and a result of dynamic size")
            .str();
    remark::missed(body.getCulprit()->getLoc(), getRemark()) << reason;
    rewriter.eraseOp(chunk);
    return rewriter.notifyMatchFailure(op, reason);
  }
  for (Operation *single : body.getRowByRow())
    remark::missed(single->getLoc(), getRemark())
        << ("'" + single->getName().getStringRef() +
            "' is run token by token: it has no form for several tokens at once")
               .str();
  remark::passed(op.getLoc(), getRemark())
      << ("chunks of " + Twine(effective.chunk) + " tokens, " +
          Twine(countStateFlops(chunk).getMatmulPercent()) + " % of the state's flops in matmuls")
             .str();
  rewriter.replaceOp(op, chunk->getResults());
  return chunk;
}

namespace {

struct ChunkRecurrence : OpRewritePattern<RecurrenceOp> {
  ChunkRecurrence(MLIRContext *context, const ChunkOptions &options)
      : OpRewritePattern(context), options(options) {}
  LogicalResult matchAndRewrite(RecurrenceOp op, PatternRewriter &rewriter) const override {
    if (options.filter && !options.filter(op))
      return rewriter.notifyMatchFailure(op, "not asked for");
    return success(succeeded(chunkRecurrence(rewriter, op, options)));
  }
  ChunkOptions options;
};

struct Chunk : linattn::impl::ChunkPassBase<Chunk> {
  using ChunkPassBase::ChunkPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (precision != OperandPrecision::f32 && strategy != Strategy::chunk)
      return emitError(UnknownLoc::get(context))
             << "operand-precision '" << stringifyEnum(precision.getValue())
             << "' needs strategy 'chunk', got '" << stringifyEnum(strategy.getValue()) << "'";
    return expectPositive(context, {{"chunk", chunk}, {"subchunk", subchunk}});
  }

  void runOnOperation() override {
    rewriteRecurrences(getOperation(), [&](RewriterBase &rewriter, RecurrenceOp op) {
      (void)chunkRecurrence(rewriter, op,
                            {chunk, subchunk, splitTail, strategy, precision, nullptr});
    });
  }
};

} // namespace

void linattn::populateChunkPatterns(RewritePatternSet &patterns, const ChunkOptions &options) {
  patterns.add<ChunkRecurrence>(patterns.getContext(), options);
}
