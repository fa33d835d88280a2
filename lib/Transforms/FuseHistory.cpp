//===- FuseHistory.cpp - tokens before the current one ------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// A convolution over time, or a token shift, reads the tokens before the current one from a tensor
// with some rows in front. In a recurrence these are a state that keeps the last tokens: a shift,
// which has a chunk form.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/Fuse.h"

#include "FuseAccess.h"
#include "FuseBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

/// The rows before the first token, for each point of the parallel dims: `[points.., rows..]`,
/// where `slice` is the type of the state.
static Value createPast(RewriterBase &rewriter, RecurrenceOp op, const HistoryRead &read,
                        Type slice, AffineMap pastMap) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes;
  for (unsigned dim : op.getParallelDims())
    sizes.push_back(op.getExtent(rewriter, dim));
  if (auto type = dyn_cast<RankedTensorType>(slice))
    llvm::append_range(sizes, getAsIndexOpFoldResult(op.getContext(), type.getShape()));
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, getElementTypeOrSelf(slice));
  if (!read.history.past) {
    Value padding = rewriter.clone(*read.history.padding.getDefiningOp())->getResult(0);
    return linalg::FillOp::create(rewriter, loc, padding, empty).getResult(0);
  }
  return linalg::GenericOp::create(
             rewriter, loc, TypeRange{empty.getType()}, read.history.past, empty,
             ArrayRef<AffineMap>{pastMap, rewriter.getMultiDimIdentityMap(sizes.size())},
             SmallVector<IteratorType>(sizes.size(), IteratorType::parallel),
             [](OpBuilder &b, Location l, ValueRange args) {
               linalg::YieldOp::create(b, l, args[0]);
             })
      .getResult(0);
}

/// One row of a list of rows.
static Value asRow(OpBuilder &builder, Location loc, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return tensor::FromElementsOp::create(builder, loc, value);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<ReassociationIndices> groups{{0, 1}};
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    groups.push_back({dim + 1});
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value, groups);
}

/// Rows `[first, first + count)`; a single one as `type`, without a dim for it, if that has none.
static Value getRows(OpBuilder &builder, Location loc, Value rows, int64_t first, int64_t count,
                     Type type) {
  auto rowsType = cast<RankedTensorType>(rows.getType());
  if (rowsType == type && first == 0)
    return rows;
  if (!isa<RankedTensorType>(type)) {
    Value index = arith::ConstantIndexOp::create(builder, loc, first);
    return tensor::ExtractOp::create(builder, loc, rows, index);
  }
  SmallVector<int64_t> shape(rowsType.getShape());
  shape[0] = count;
  SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)),
      strides(shape.size(), builder.getIndexAttr(1));
  offsets[0] = builder.getIndexAttr(first);
  return tensor::ExtractSliceOp::create(builder, loc, cast<RankedTensorType>(type), rows, offsets,
                                        getAsIndexOpFoldResult(builder.getContext(), shape),
                                        strides);
}

/// What reads one row of a window takes it from where it is: from the state or from the token.
static void replaceRows(RewriterBase &rewriter, Value window, bool hasRows, int64_t lag,
                        Value state, Value current) {
  for (Operation *user : llvm::make_early_inc_range(window.getUsers())) {
    if (!hasRows)
      return;
    auto type = cast<RankedTensorType>(window.getType());
    std::optional<int64_t> row;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
        slice && slice.getType() == RankedTensorType::Builder(type).dropDim(0))
      row = getConstantIntValue(slice.getMixedOffsets()[0]);
    else if (auto extract = dyn_cast<tensor::ExtractOp>(user); extract && type.getRank() == 1)
      row = getConstantIntValue(extract.getIndices()[0]);
    if (!row)
      continue;
    rewriter.setInsertionPoint(user);
    Type slice = user->getResult(0).getType();
    rewriter.replaceOp(
        user, *row == lag ? current : getRows(rewriter, user->getLoc(), state, *row, 1, slice));
  }
}

FailureOr<RecurrenceOp> linattn::fuseHistory(RewriterBase &rewriter, RecurrenceOp op,
                                             unsigned input, StringRef &obstacle) {
  OpOperand &operand = op.getInsMutable()[input];
  Value arg = op.getInArgs()[input];
  obstacle = "";
  if (op.getStep() || !op.usesTime(op.getMap(operand)))
    return failure();
  std::optional<HistoryRead> read = HistoryRead::get(op, Access::get(op, operand, arg.getType()));
  if (!read)
    return failure();
  obstacle = read->getObstacle(op);
  if (!obstacle.empty())
    return failure();

  // The slice of the current token, and the one of the state: rows of it.
  unsigned numIterators = op.getNumIterators();
  SmallVector<unsigned> loops;
  FailureOr<AffineMap> map = read->getTokenMap(op, loops);
  auto shape = llvm::map_to_vector(
      loops, [&](unsigned loop) { return read->access.extents[numIterators + loop]; });
  if (!RecurrenceEditor::keepsExtents(op, input, *map)) {
    obstacle = "only its result tells how often the recurrence runs";
    return failure();
  }
  obstacle = "";
  Type element = getElementTypeOrSelf(arg.getType()), row = element;
  if (!shape.empty())
    row = RankedTensorType::get(shape, element);
  bool keepsRows = read->lag > 1 || read->window; // not only the token before
  Type stateType = row;
  if (keepsRows) {
    SmallVector<int64_t> rows(shape);
    rows.insert(rows.begin(), read->lag);
    stateType = RankedTensorType::get(rows, element);
  }

  // The state has all parallel dims, then its rows, then their entries; in the past, time is a row.
  SmallVector<unsigned> parallel = op.getParallelDims();
  unsigned sliceRank = keepsRows + loops.size(), stateRank = parallel.size() + sliceRank;
  SmallVector<AffineExpr> stateExprs, pastExprs,
      pastDims(read->access.map.getNumDims(), rewriter.getAffineConstantExpr(0));
  for (auto [position, dim] : llvm::enumerate(parallel)) {
    stateExprs.push_back(rewriter.getAffineDimExpr(dim));
    pastDims[dim] = rewriter.getAffineDimExpr(position);
  }
  for (unsigned slice = 0; slice < sliceRank; ++slice)
    stateExprs.push_back(rewriter.getAffineDimExpr(numIterators + slice));
  for (unsigned loop : loops)
    pastDims[numIterators + loop] = rewriter.getAffineDimExpr(stateRank - 1);
  AffineExpr first = rewriter.getAffineConstantExpr(read->history.length - read->lag);
  for (auto [dim, expr] : llvm::enumerate(read->access.map.getResults()))
    pastExprs.push_back(dim != read->history.dim ? expr.replaceDims(pastDims)
                        : keepsRows ? rewriter.getAffineDimExpr(parallel.size()) + first
                                    : first);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value past =
      createPast(rewriter, op, *read, stateType,
                 simplifyAffineMap(AffineMap::get(stateRank, 0, pastExprs, op.getContext())));
  AffineMap stateMap = AffineMap::get(numIterators + sliceRank, 0, stateExprs, op.getContext());

  Location loc = op.getLoc();
  rewriter.setInsertionPointToStart(&op.getBody().front());
  RecurrenceEditor editor(op);
  Value current = editor.addInput(read->history.tokens, *map, row);
  Value state = editor.addState(past, stateMap, stateType);
  if (keepsRows) {
    replaceRows(rewriter, arg, read->window.has_value(), read->lag, state, current);
    Value line = tensor::ConcatOp::create(rewriter, loc, 0,
                                          ValueRange{state, asRow(rewriter, loc, current)});
    if (!arg.use_empty())
      rewriter.replaceAllUsesWith(arg, getRows(rewriter, loc, line, 0, read->width, arg.getType()));
    editor.addStateYield(getRows(rewriter, loc, line, 1, read->lag, stateType));
  } else {
    rewriter.replaceAllUsesWith(arg, state);
    editor.addStateYield(current);
  }
  editor.eraseInput(arg);
  return editor.finish(rewriter);
}
