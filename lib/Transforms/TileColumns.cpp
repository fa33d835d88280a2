//===- TileColumns.cpp - scans over tiles that stay in the cache --------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/TileColumns.h"

#include "PassFrame.h"

#include "linattn/Analysis/StateGraph.h"
#include "linattn/Analysis/ValueAxes.h"
#include "linattn/Transforms/Passes.h"
#include "linattn/Transforms/SplitValue.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_TILECOLUMNSPASS
#include "linattn/Transforms/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

/// The bytes per column of a value of the body: 0 without columns.
static int64_t getBytesPerColumn(const ValueAxes &axes, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !axes.getAxis(value) || !type.hasStaticShape())
    return 0;
  Type element = type.getElementType();
  int64_t parts = 1;
  if (auto pair = dyn_cast<ComplexType>(element)) {
    element = pair.getElementType();
    parts = 2;
  }
  if (!element.isIntOrFloat())
    return 0;
  int64_t entries = type.getNumElements() / *axes.getExtent();
  return entries * parts * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

LogicalResult linattn::tileColumns(RewriterBase &rewriter, RecurrenceOp op,
                                   const TileColumnsOptions &options) {
  if (op.getStep() || StateGraph(op).isChunkable())
    return rewriter.notifyMatchFailure(op, "it is run in chunks");
  ValueAxes axes(op);
  // What has no columns would be computed again for every tile.
  if (!axes.getExtent() ||
      !llvm::all_of(op.getStateArgs(), [&](Value state) { return axes.getAxis(state); }))
    return rewriter.notifyMatchFailure(op, "a state has no value columns");
  int64_t bytes = 0;
  for (Value state : op.getStateArgs())
    bytes += getBytesPerColumn(axes, state);
  for (auto [operand, arg] : llvm::zip_equal(op.getInsMutable(), op.getInArgs()))
    if (!op.usesTime(op.getMap(operand)))
      bytes += getBytesPerColumn(axes, arg);
  if (*axes.getExtent() * bytes <= options.bytes)
    return rewriter.notifyMatchFailure(op, "all columns fit");
  SplitValueOptions split;
  split.tile = std::max<int64_t>(options.bytes / bytes / options.columns, 1) * options.columns;
  split.allowRest = true;
  return success(succeeded(splitValue(rewriter, op, split)));
}

namespace {
struct TileColumns : linattn::impl::TileColumnsPassBase<TileColumns> {
  using TileColumnsPassBase::TileColumnsPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    return expectPositive(context, {{"bytes", bytes}, {"columns", columns}});
  }

  void runOnOperation() override {
    rewriteRecurrences(getOperation(), [&](RewriterBase &rewriter, RecurrenceOp op) {
      (void)tileColumns(rewriter, op, {bytes, columns});
    });
  }
};
} // namespace
