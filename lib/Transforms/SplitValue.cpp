//===- SplitValue.cpp - value columns as a parallel dim -----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/SplitValue.h"

#include "PassFrame.h"

#include "linattn/Analysis/ValueAxes.h"
#include "linattn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_SPLITVALUEPASS
#include "linattn/Transforms/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

static remark::RemarkOpts getRemark() {
  return remark::RemarkOpts::name("split-value").category("linattn-split-value");
}

namespace {

/// Builds the recurrence over `count` tiles of `tile` of its columns, from column `begin` on.
class ValueSplitter {
public:
  ValueSplitter(RewriterBase &rewriter, RecurrenceOp op, const ValueAxes &axes, int64_t begin,
                int64_t tile, int64_t count)
      : rewriter(rewriter), op(op), axes(axes), begin(begin), tile(tile), count(count),
        numIterators(op.getNumIterators()) {}
  /// `inits`: outs, states and checkpoints as they are before; one per result.
  RecurrenceOp build(ArrayRef<Value> inits);

private:
  Type getTileType(Value value);
  AffineMap getMap(OpOperand &operand, Value slice);
  Value repeat(Value state);
  void buildBody(RecurrenceOp split);
  Operation *cloneForTile(Operation *nested, IRMapping &mapping);

  RewriterBase &rewriter;
  RecurrenceOp op;
  const ValueAxes &axes;
  int64_t begin, tile, count;
  unsigned numIterators;
};

} // namespace

/// The type of a value of the body, with one tile instead of all columns.
Type ValueSplitter::getTileType(Value value) {
  std::optional<unsigned> axis = axes.getAxis(value);
  if (!axis)
    return value.getType();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[*axis] = tile;
  return type.clone(shape);
}

/// An operand's map with the new iteration dim; column v of tile j is `begin + j * tile + v`.
AffineMap ValueSplitter::getMap(OpOperand &operand, Value slice) {
  AffineMap map = op.getMap(operand);
  std::optional<unsigned> axis = axes.getAxis(slice);
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
    dims.push_back(rewriter.getAffineDimExpr(dim < numIterators ? dim : dim + 1));
  if (axis) {
    // With a step, axis 0 of what uses time is the tokens.
    unsigned lead = cast<RankedTensorType>(slice.getType()).getRank() - op.getNumSliceDims(map);
    AffineExpr &column = dims[numIterators + *axis - lead];
    column = rewriter.getAffineDimExpr(numIterators) * tile + column + begin;
  }
  return map.replaceDimsAndSymbols(dims, {}, map.getNumDims() + 1, 0);
}

/// A copy of a state for every tile, along a new first dim.
Value ValueSplitter::repeat(Value state) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(state.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, state);
  sizes.insert(sizes.begin(), rewriter.getIndexAttr(count));
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  return linalg::BroadcastOp::create(rewriter, loc, state, empty, ArrayRef<int64_t>{0})
      ->getResult(0);
}

RecurrenceOp ValueSplitter::build(ArrayRef<Value> inits) {
  size_t numOuts = op.getOuts().size(), numStates = op.getStates().size();
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps;
  SmallVector<Value> ins(op.getIns()), states;
  for (auto [operand, arg] : llvm::zip_equal(op.getInsMutable(), op.getInArgs()))
    maps.push_back(getMap(operand, arg));
  // No map has the new dim alone, as the extent of a dim must be given.
  auto tiles =
      tensor::EmptyOp::create(rewriter, loc, ArrayRef<int64_t>{count}, rewriter.getI1Type());
  AffineExpr number = rewriter.getAffineDimExpr(numIterators);
  ins.push_back(tiles);
  maps.push_back(AffineMap::get(numIterators + 1, 0, number));
  for (OpOperand &offset : op.getPositionOffsetMutable())
    maps.push_back(getMap(offset, Value()));
  for (auto [operand, value] : llvm::zip_equal(op.getOutsMutable(), op.getYieldedOuts()))
    maps.push_back(getMap(operand, value));
  for (auto [operand, arg, init] :
       llvm::zip_equal(op.getStatesMutable(), op.getStateArgs(), inits.slice(numOuts, numStates))) {
    AffineMap map = getMap(operand, arg);
    bool hasColumns = axes.getAxis(arg).has_value();
    states.push_back(hasColumns ? init : repeat(init));
    maps.push_back(hasColumns ? map : map.insertResult(number, 0));
  }
  for (auto [operand, arg] : llvm::zip(op.getCheckpointsMutable(), op.getStateArgs()))
    maps.push_back(getMap(operand, arg));

  SmallVector<IteratorKind> iterators;
  for (unsigned dim = 0; dim < numIterators; ++dim)
    iterators.push_back(op.getIteratorKind(dim));
  iterators.push_back(IteratorKind::parallel);
  auto split = RecurrenceOp::create(rewriter, loc, ins, op.getSegments(), op.getPositionOffset(),
                                    inits.take_front(numOuts), states,
                                    inits.drop_front(numOuts + numStates), iterators, maps,
                                    op.getReverse(), op.getStep(), op.getCheckpointInterval());
  split->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  split.setPlanAttr(op.getPlanAttr());
  buildBody(split);
  return split;
}

void ValueSplitter::buildBody(RecurrenceOp split) {
  OpBuilder::InsertionGuard guard(rewriter);
  Block &block = split.getBody().emplaceBlock();
  IRMapping mapping;
  unsigned firstState = op.getBody().getNumArguments() - op.getStates().size();
  for (BlockArgument arg : op.getBody().getArguments()) {
    if (arg.getArgNumber() == firstState)
      block.addArgument(rewriter.getI1Type(), op.getLoc());
    mapping.map(arg, block.addArgument(getTileType(arg), arg.getLoc()));
  }
  rewriter.setInsertionPointToEnd(&block);
  for (Operation &nested : op.getBody().front())
    cloneForTile(&nested, mapping);
}

/// Types of results follow from the analysis; some ops also say a size in an attribute.
Operation *ValueSplitter::cloneForTile(Operation *nested, IRMapping &mapping) {
  Operation *copy = rewriter.clone(*nested, mapping);
  for (auto [before, after] : llvm::zip_equal(nested->getResults(), copy->getResults())) {
    std::optional<unsigned> axis = axes.getAxis(before);
    if (!axis)
      continue;
    after.setType(getTileType(before));
    if (auto constant = dyn_cast<arith::ConstantOp>(copy)) {
      auto fill = cast<DenseElementsAttr>(constant.getValue());
      constant.setValueAttr(fill.resizeSplat(cast<ShapedType>(after.getType())));
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(copy)) {
      SmallVector<int64_t> sizes(slice.getStaticSizes());
      std::optional<unsigned> axisOfSource =
          axes.getAxis(cast<tensor::ExtractSliceOp>(nested).getSource());
      sizes[*axisOfSource] = tile;
      slice.setStaticSizes(sizes);
    }
  }
  return copy;
}

/// Why the op cannot be split, and the op that is in the way; none if it can.
static std::optional<std::pair<Operation *, std::string>>
findObstacle(RecurrenceOp op, const ValueAxes &axes, const SplitValueOptions &options,
             int64_t tile) {
  auto obstacle = [](Operation *culprit, const Twine &reason) {
    return std::make_pair(culprit, reason.str());
  };
  if (!axes.getExtent()) {
    StringRef reason = "no state has columns that are independent of each other";
    if (Operation *mixer = axes.getMixer())
      return obstacle(mixer, reason + ": '" + mixer->getName().getStringRef() + "' mixes them");
    return obstacle(op, reason);
  }
  for (auto [index, value] : llvm::enumerate(op.getYieldedOuts()))
    if (!axes.getAxis(value))
      return obstacle(value.getDefiningOp() ? value.getDefiningOp() : op,
                      "out #" + Twine(index) +
                          " has no value columns, so every tile would write all of it");
  for (auto [index, arg] : llvm::enumerate(op.getStateArgs())) {
    bool isUsed = !op.getStateResults()[index].use_empty() || !op.getCheckpoints().empty();
    if (!axes.getAxis(arg) && isUsed)
      return obstacle(op,
                      "state #" + Twine(index) +
                          " has no value columns, and its final value or checkpoints are results");
  }
  if (!options.allowRest && *axes.getExtent() % tile != 0)
    return obstacle(op, "the number of value columns, " + Twine(*axes.getExtent()) +
                            ", is no multiple of the tile of " + Twine(tile));
  return std::nullopt;
}

/// What `split` makes of the inits; a repeated state has another type, and nobody uses it.
static void updateInits(MutableArrayRef<Value> inits, RecurrenceOp split) {
  for (auto [init, result] : llvm::zip_equal(inits, split.getResults()))
    if (init.getType() == result.getType())
      init = result;
}

FailureOr<RecurrenceOp> linattn::splitValue(RewriterBase &rewriter, RecurrenceOp op,
                                            const SplitValueOptions &options) {
  int64_t tile = op.getPlanAttr() ? op.getPlanAttr().getValueTile() : options.tile;
  if (tile < 1)
    return rewriter.notifyMatchFailure(op, "its plan keeps the value columns together");
  ValueAxes axes(op);
  if (axes.getExtent() && *axes.getExtent() <= tile)
    return rewriter.notifyMatchFailure(op, "it has no more value columns than a tile");
  if (auto obstacle = findObstacle(op, axes, options, tile)) {
    remark::missed(obstacle->first->getLoc(), getRemark()) << obstacle->second;
    return rewriter.notifyMatchFailure(op, obstacle->second);
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  int64_t count = *axes.getExtent() / tile, rest = *axes.getExtent() % tile;
  SmallVector<Value> inits = llvm::map_to_vector(
      op->getResults(), [&](OpResult result) { return op.getTiedOpOperand(result)->get(); });
  RecurrenceOp split = ValueSplitter(rewriter, op, axes, 0, tile, count).build(inits);
  updateInits(inits, split);
  if (rest > 0)
    updateInits(inits,
                ValueSplitter(rewriter, op, axes, count * tile, rest, /*count=*/1).build(inits));
  remark::passed(op.getLoc(), getRemark())
      << (Twine(count) + " tiles of " + Twine(tile) + " value columns" +
          (rest > 0 ? Twine(" and one of ") + Twine(rest) : Twine()))
             .str();
  rewriter.replaceOp(op, inits);
  return split;
}

namespace {

struct SplitValuePattern : OpRewritePattern<RecurrenceOp> {
  SplitValuePattern(MLIRContext *context, const SplitValueOptions &options)
      : OpRewritePattern(context), options(options) {}
  LogicalResult matchAndRewrite(RecurrenceOp op, PatternRewriter &rewriter) const override {
    if (options.filter && !options.filter(op))
      return rewriter.notifyMatchFailure(op, "not asked for");
    return success(succeeded(splitValue(rewriter, op, options)));
  }
  SplitValueOptions options;
};

struct SplitValue : linattn::impl::SplitValuePassBase<SplitValue> {
  using SplitValuePassBase::SplitValuePassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (tile < 0)
      return emitError(UnknownLoc::get(context))
             << "tile must not be negative, got " << int64_t(tile);
    return success();
  }

  void runOnOperation() override {
    rewriteRecurrences(getOperation(), [&](RewriterBase &rewriter, RecurrenceOp op) {
      (void)splitValue(rewriter, op, {tile, nullptr});
    });
  }
};

} // namespace

void linattn::populateSplitValuePatterns(RewritePatternSet &patterns,
                                         const SplitValueOptions &options) {
  patterns.add<SplitValuePattern>(patterns.getContext(), options);
}
