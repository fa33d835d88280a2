//===- MergeGenerics.cpp - one pass over a tensor instead of several ----------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/ToCpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_MERGEGENERICSPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;
using linalg::GenericOp;
using utils::IteratorType;

/// The result of `producer` that `consumer` uses, if it uses exactly one.
static std::optional<unsigned> getOnlySharedResult(GenericOp producer, GenericOp consumer) {
  std::optional<unsigned> shared;
  for (Value operand : consumer->getOperands()) {
    if (operand.getDefiningOp() != producer)
      continue;
    unsigned number = cast<OpResult>(operand).getResultNumber();
    if (shared && *shared != number)
      return std::nullopt;
    shared = number;
  }
  return shared;
}

/// True if `value`, used in the region of `consumer` or as its operand, is computed from `producer`
/// by ops in between.
static bool dependsOn(Operation *consumer, GenericOp producer) {
  SetVector<Operation *> worklist;
  auto addOperands = [&](Operation *op) {
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Operation *def = operand.getDefiningOp())
          if (def != producer && def->getBlock() == producer->getBlock() &&
              producer->isBeforeInBlock(def))
            worklist.insert(def);
    });
  };
  addOperands(consumer);
  for (unsigned i = 0; i < worklist.size(); ++i) {
    bool uses = false;
    worklist[i]->walk([&](Operation *nested) {
      uses |= llvm::any_of(nested->getOperands(),
                           [&](Value v) { return v.getDefiningOp() == producer; });
    });
    if (uses)
      return true;
    addOperands(worklist[i]);
  }
  return false;
}

LogicalResult mlir::linattn::mergeIntoConsumer(RewriterBase &rewriter, GenericOp producer,
                                               GenericOp consumer) {
  if (producer->getBlock() != consumer->getBlock() || !producer.hasPureTensorSemantics() ||
      !consumer.hasPureTensorSemantics())
    return rewriter.notifyMatchFailure(consumer, "not two ops on tensors in one block");
  std::optional<unsigned> shared = getOnlySharedResult(producer, consumer);
  if (!shared)
    return rewriter.notifyMatchFailure(consumer, "does not use exactly one result of the producer");
  AffineMap sharedMap = producer.getIndexingMapMatchingResult(producer->getResult(*shared));
  // An entry is final as soon as it is yielded only if the producer does not reduce into it.
  if (!sharedMap.isIdentity() || producer.getNumLoops() != consumer.getNumLoops())
    return rewriter.notifyMatchFailure(consumer, "the iteration spaces differ");
  OpOperand *updated = nullptr;
  for (OpOperand &operand : consumer->getOpOperands()) {
    if (operand.get() != producer->getResult(*shared))
      continue;
    if (!consumer.getMatchingIndexingMap(&operand).isIdentity())
      return rewriter.notifyMatchFailure(consumer, "walks over the shared tensor in another order");
    if (consumer.isDpsInit(&operand))
      updated = &operand;
  }
  if (dependsOn(consumer, producer))
    return rewriter.notifyMatchFailure(consumer, "depends on the producer in another way, too");
  for (Operation *user : producer->getUsers()) {
    // Null in a block behind this one. A use in the consumer's region reads more than its own
    // entry.
    Operation *outer = consumer->getBlock()->findAncestorOpInBlock(*user);
    if (user != consumer && outer && !consumer->isBeforeInBlock(outer))
      return rewriter.notifyMatchFailure(consumer, "the producer is needed before");
  }

  // Operands: what both read, then what both write; an update in place continues the producer's
  // init.
  SmallVector<Value> inputs(producer.getInputs()), inits(producer.getOutputs());
  SmallVector<AffineMap> inputMaps, initMaps;
  for (OpOperand *operand : producer.getDpsInputOperands())
    inputMaps.push_back(producer.getMatchingIndexingMap(operand));
  for (OpOperand &operand : producer.getDpsInitsMutable())
    initMaps.push_back(producer.getMatchingIndexingMap(&operand));
  SmallVector<OpOperand *> addedInputs, addedInits;
  for (OpOperand *operand : consumer.getDpsInputOperands())
    if (operand->get() != producer->getResult(*shared)) {
      addedInputs.push_back(operand);
      inputs.push_back(operand->get());
      inputMaps.push_back(consumer.getMatchingIndexingMap(operand));
    }
  for (OpOperand &operand : consumer.getDpsInitsMutable())
    if (&operand != updated) {
      addedInits.push_back(&operand);
      inits.push_back(operand.get());
      initMaps.push_back(consumer.getMatchingIndexingMap(&operand));
    }
  SmallVector<IteratorType> iterators = producer.getIteratorTypesArray();
  for (auto [iterator, other] : llvm::zip_equal(iterators, consumer.getIteratorTypesArray()))
    if (other == IteratorType::reduction)
      iterator = other;
  bool isLost = updated && !producer->getResult(*shared).hasOneUse();
  if (isLost)
    return rewriter.notifyMatchFailure(consumer, "the value before the update is used as well");

  SmallVector<AffineMap> maps(inputMaps);
  llvm::append_range(maps, initMaps);
  rewriter.setInsertionPoint(consumer);
  auto merged = GenericOp::create(
      rewriter, consumer.getLoc(), TypeRange(ValueRange(inits)), inputs, inits, maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        IRMapping mapping;
        auto bind = [&](GenericOp op, OpOperand *operand, Value value) {
          mapping.map(op.getMatchingBlockArgument(operand), value);
        };
        unsigned next = 0;
        for (OpOperand *operand : producer.getDpsInputOperands())
          bind(producer, operand, args[next++]);
        for (OpOperand *operand : addedInputs)
          bind(consumer, operand, args[next++]);
        for (OpOperand &operand : producer.getDpsInitsMutable())
          bind(producer, &operand, args[next++]);
        for (OpOperand *operand : addedInits)
          bind(consumer, operand, args[next++]);
        for (Operation &op : producer.getBody()->without_terminator())
          builder.clone(op, mapping);
        SmallVector<Value> yields =
            llvm::map_to_vector(producer.getBody()->getTerminator()->getOperands(),
                                [&](Value v) { return mapping.lookupOrDefault(v); });
        for (OpOperand &operand : consumer->getOpOperands())
          if (operand.get() == producer->getResult(*shared))
            bind(consumer, &operand, yields[*shared]);
        for (Operation &op : consumer.getBody()->without_terminator())
          builder.clone(op, mapping);
        for (auto [operand, value] :
             llvm::zip_equal(consumer.getDpsInitsMutable(),
                             consumer.getBody()->getTerminator()->getOperands())) {
          Value yielded = mapping.lookupOrDefault(value);
          if (&operand == updated)
            yields[*shared] = yielded;
          else
            yields.push_back(yielded);
        }
        linalg::YieldOp::create(builder, loc, yields);
      });
  unsigned next = producer->getNumResults();
  SmallVector<Value> consumerResults;
  for (OpOperand &operand : consumer.getDpsInitsMutable())
    consumerResults.push_back(merged->getResult(&operand == updated ? *shared : next++));
  rewriter.replaceOp(consumer, consumerResults);
  rewriter.replaceOp(producer, merged->getResults().take_front(producer->getNumResults()));
  return success();
}

bool mlir::linattn::addsProducts(GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return false;
  Value sum = op.getRegionOutputArgs()[0];
  while (sum.hasOneUse()) {
    auto add = dyn_cast<arith::AddFOp>(*sum.user_begin());
    if (!add || !arith::bitEnumContainsAll(add.getFastmath(), arith::FastMathFlags::contract))
      break;
    sum = add;
  }
  return sum.getDefiningOp() && sum == op.getBody()->getTerminator()->getOperand(0);
}

LogicalResult mlir::linattn::mergeSums(RewriterBase &rewriter, GenericOp producer,
                                       GenericOp consumer) {
  if (!producer.hasPureTensorSemantics() || !consumer.hasPureTensorSemantics() ||
      !addsProducts(producer) || !addsProducts(consumer) ||
      consumer.getOutputs()[0] != producer->getResult(0) || !producer->hasOneUse())
    return rewriter.notifyMatchFailure(consumer, "not two sums in one place");
  auto getInitMap = [](GenericOp op) {
    return op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]);
  };
  if (producer.getStaticLoopRanges() != consumer.getStaticLoopRanges() ||
      llvm::any_of(producer.getStaticLoopRanges(), ShapedType::isDynamic) ||
      producer.getIteratorTypesArray() != consumer.getIteratorTypesArray() ||
      getInitMap(producer) != getInitMap(consumer))
    return rewriter.notifyMatchFailure(consumer, "the iteration spaces differ");
  if (dependsOn(consumer, producer))
    return rewriter.notifyMatchFailure(consumer, "depends on the producer in another way, too");
  SmallVector<Value> inputs(producer.getInputs());
  llvm::append_range(inputs, consumer.getInputs());
  SmallVector<AffineMap> maps;
  for (GenericOp op : {producer, consumer})
    for (OpOperand *input : op.getDpsInputOperands())
      maps.push_back(op.getMatchingIndexingMap(input));
  maps.push_back(getInitMap(producer));
  rewriter.setInsertionPoint(consumer);
  rewriter.replaceOpWithNewOp<GenericOp>(
      consumer, consumer->getResultTypes(), inputs, producer.getOutputs(), maps,
      producer.getIteratorTypesArray(), [&](OpBuilder &builder, Location loc, ValueRange args) {
        Value sum = args.back();
        args = args.drop_back();
        for (GenericOp op : {producer, consumer}) {
          IRMapping mapping;
          mapping.map(op.getRegionInputArgs(), args.take_front(op.getNumDpsInputs()));
          mapping.map(op.getRegionOutputArgs()[0], sum);
          args = args.drop_front(op.getNumDpsInputs());
          for (Operation &nested : op.getBody()->without_terminator())
            builder.clone(nested, mapping);
          sum = mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
        }
        linalg::YieldOp::create(builder, loc, sum);
      });
  rewriter.eraseOp(producer);
  return success();
}

namespace {

struct MergeSums : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp consumer, PatternRewriter &rewriter) const override {
    auto producer = consumer.getNumDpsInits() == 1
                        ? consumer.getOutputs()[0].getDefiningOp<GenericOp>()
                        : GenericOp();
    if (!producer)
      return rewriter.notifyMatchFailure(consumer, "no other sum in the same place");
    return mergeSums(rewriter, producer, consumer);
  }
};

struct MergeIntoConsumer : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp consumer, PatternRewriter &rewriter) const override {
    if (consumer.getNumLoops() < 2)
      return rewriter.notifyMatchFailure(consumer,
                                         "a vector is small enough to walk over it twice");
    for (Value operand : consumer->getOperands())
      if (auto producer = operand.getDefiningOp<GenericOp>())
        if (succeeded(mergeIntoConsumer(rewriter, producer, consumer)))
          return success();
    return rewriter.notifyMatchFailure(consumer, "no producer to merge with");
  }
};

/// A splat is an elementwise op without inputs, which its users can absorb.
struct SplatToGeneric : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::SplatOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    SmallVector<OpFoldResult> sizes;
    auto dynamic = op.getDynamicSizes().begin();
    for (int64_t extent : type.getShape())
      sizes.push_back(ShapedType::isDynamic(extent) ? OpFoldResult(*dynamic++)
                                                    : rewriter.getIndexAttr(extent));
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, type.getElementType());
    rewriter.replaceOpWithNewOp<GenericOp>(
        op, TypeRange{type}, ValueRange(), empty,
        AffineMap::getMultiDimIdentityMap(type.getRank(), op.getContext()),
        SmallVector<IteratorType>(type.getRank(), IteratorType::parallel),
        [&](OpBuilder &builder, Location loc, ValueRange) {
          linalg::YieldOp::create(builder, loc, op.getInput());
        });
    return success();
  }
};

/// What one op computes twice, as what does nothing to a value leaves behind once it is merged.
struct DropEqualResults : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "not an op on tensors");
    ValueRange yields = op.getBody()->getTerminator()->getOperands();
    for (OpResult second : op->getResults())
      for (OpResult first : op->getResults().take_front(second.getResultNumber()))
        if (!second.use_empty() && first.getType() == second.getType() &&
            yields[first.getResultNumber()] == yields[second.getResultNumber()] &&
            op.getIndexingMapMatchingResult(first) == op.getIndexingMapMatchingResult(second)) {
          rewriter.replaceAllUsesWith(second, first);
          return success();
        }
    return rewriter.notifyMatchFailure(op, "no two results are the same");
  }
};

/// As a generic op, so that no larger tensor is made of what its users can read as it is.
struct BroadcastToGeneric : OpRewritePattern<linalg::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::BroadcastOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "not an op on tensors");
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// Comparisons of a loop's index with what no index reaches: the rows of a chunk that has all its
/// tokens are all alive.
struct FoldIndexComparison : OpRewritePattern<arith::CmpIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::CmpIOp op, PatternRewriter &rewriter) const override {
    auto index = op.getLhs().getDefiningOp<linalg::IndexOp>();
    std::optional<int64_t> limit = getConstantIntValue(op.getRhs());
    bool isBelow = op.getPredicate() == arith::CmpIPredicate::slt ||
                   op.getPredicate() == arith::CmpIPredicate::ult;
    if (!index || !limit || !isBelow)
      return rewriter.notifyMatchFailure(op, "not an index below a constant");
    auto loops = cast<linalg::LinalgOp>(index->getParentOp());
    int64_t extent = loops.getStaticLoopRanges()[index.getDim()];
    if (ShapedType::isDynamic(extent) || extent > *limit)
      return rewriter.notifyMatchFailure(op, "some index is not below");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getBoolAttr(true));
    return success();
  }
};

struct MergeGenerics : linattn::impl::MergeGenericsPassBase<MergeGenerics> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMergeGenericsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

void mlir::linattn::populateMergeGenericsPatterns(RewritePatternSet &patterns) {
  patterns.add<BroadcastToGeneric, DropEqualResults, FoldIndexComparison, MergeIntoConsumer,
               MergeSums, SplatToGeneric>(patterns.getContext());
  // Elementwise ops into their consumers, but never into a loop or a larger iteration space, which
  // would compute the exponential of a decay once per token or per entry of the state.
  linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *operand) {
    auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
    auto consumer = cast<linalg::LinalgOp>(operand->getOwner());
    return producer && producer->hasOneUse() && producer->getBlock() == consumer->getBlock() &&
           producer.getNumLoops() == consumer.getNumLoops();
  });
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
}
