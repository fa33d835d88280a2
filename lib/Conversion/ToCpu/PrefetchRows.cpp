//===- PrefetchRows.cpp - fetch the rows of the next step ahead ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// The rows of one head lie a whole token apart in memory, often more than a page, where hardware
// does not fetch ahead. Each iteration of a loop around an innermost loop, a *slot*, asks for a few
// of the next step's cache lines, so that the requests are spread over the step: all at once they
// would wait for each other, and in the innermost loops they cost more than they save (measured).
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/ToCpu.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_PREFETCHROWSPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

static constexpr int64_t lineBytes = 64;

namespace {

/// What one step takes from a buffer, in cache lines.
struct Rows {
  memref::SubViewOp view;
  std::optional<unsigned> rowDim; ///< of the buffer; none: a single row
  int64_t rows = 1, linesPerRow = 1, lineElements = 1;
  bool isWritten = false;
  int64_t getNumLines() const { return rows * linesPerRow; }
};

/// A loop in whose iterations lines are fetched: those from number `first` on.
struct Slots {
  scf::ForOp loop;
  SmallVector<scf::ForOp> loops; ///< from the outermost one inside the step to `loop`
  int64_t first, count;
};

} // namespace

/// The number of iterations of a loop with constant bounds.
static std::optional<int64_t> getTripCount(scf::ForOp loop) {
  if (!getConstantIntValue(loop.getLowerBound()))
    return std::nullopt;
  std::optional<APInt> count = loop.getStaticTripCount();
  return count ? std::optional(count->getSExtValue()) : std::nullopt;
}

/// The rows that `view` takes in each step of `time`, if they move with it.
static std::optional<Rows> getRows(scf::ForOp time, memref::SubViewOp view) {
  bool moves = false;
  for (Value offset : view.getOffsets()) {
    if (offset == time.getInductionVar()) {
      moves = true;
    } else if (time.isDefinedOutsideOfLoop(offset)) {
      continue;
    } else if (auto apply = offset.getDefiningOp<affine::AffineApplyOp>()) {
      for (Value operand : apply.getMapOperands()) {
        moves |= operand == time.getInductionVar();
        if (operand != time.getInductionVar() && !time.isDefinedOutsideOfLoop(operand))
          return std::nullopt;
      }
    } else {
      return std::nullopt;
    }
  }
  MemRefType type = view.getSourceType();
  if (!moves || !time.isDefinedOutsideOfLoop(view.getSource()) || !view.getSizes().empty() ||
      !type.getElementType().isIntOrFloat())
    return std::nullopt;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  Rows rows{view, std::nullopt};
  unsigned last = type.getRank() - 1;
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (auto [dim, size] : llvm::enumerate(view.getStaticSizes())) {
    if (size == 1)
      continue;
    if (dim == last && strides[last] == 1 && view.getStaticStrides()[last] == 1) {
      rows.linesPerRow = llvm::divideCeil(size * bytes, lineBytes);
      rows.lineElements = std::max<int64_t>(lineBytes / bytes, 1);
    } else if (!rows.rowDim) {
      rows.rowDim = dim;
      rows.rows = size;
    } else {
      return std::nullopt;
    }
  }
  return rows;
}

/// The loops around the innermost loops of a step that take long enough to hide a fetch.
static SmallVector<Slots> getSlots(scf::ForOp time) {
  SmallVector<Slots> slots;
  time.getBody()->walk([&](scf::ForOp inner) {
    bool isInnermost =
        !inner.getBody()->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
    auto loop = inner->getParentOfType<scf::ForOp>();
    if (!isInnermost || loop == time || getTripCount(inner).value_or(0) < 8 ||
        (!slots.empty() && slots.back().loop == loop))
      return;
    Slots candidate{loop, {}, 0, 1};
    for (scf::ForOp outer = loop; outer != time; outer = outer->getParentOfType<scf::ForOp>()) {
      std::optional<int64_t> count = getTripCount(outer);
      if (!count)
        return;
      candidate.loops.insert(candidate.loops.begin(), outer);
      candidate.count *= *count;
    }
    candidate.first = slots.empty() ? 0 : slots.back().first + slots.back().count;
    slots.push_back(candidate);
  });
  return slots;
}

/// One cache line of the rows of the next step.
static void prefetchLine(RewriterBase &rewriter, scf::ForOp time, Rows rows, Value next,
                         OpFoldResult line) {
  Location loc = rows.view.getLoc();
  IRMapping mapping;
  mapping.map(time.getInductionVar(), next);
  SmallVector<OpFoldResult> offsets = rows.view.getMixedOffsets();
  for (OpFoldResult &offset : offsets) {
    auto value = dyn_cast<Value>(offset);
    if (!value || time.isDefinedOutsideOfLoop(value))
      continue;
    if (Operation *apply = value.getDefiningOp())
      offset = rewriter.clone(*apply, mapping)->getResult(0);
    else
      offset = next;
  }
  AffineExpr d0, d1;
  bindDims(rewriter.getContext(), d0, d1);
  auto apply = [&](AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(
        rewriter, loc, AffineMap::get(operands.size(), 0, expr), operands);
  };
  if (rows.rowDim)
    offsets[*rows.rowDim] =
        apply(d0 + d1.floorDiv(rows.linesPerRow) * rows.view.getStaticStrides()[*rows.rowDim],
              {offsets[*rows.rowDim], line});
  if (rows.linesPerRow > 1)
    offsets.back() =
        apply(d0 + (d1 % rows.linesPerRow) * rows.lineElements, {offsets.back(), line});
  memref::PrefetchOp::create(rewriter, loc, rows.view.getSource(),
                             getValueOrCreateConstantIndexOp(rewriter, loc, offsets),
                             rows.isWritten, /*localityHint=*/2, /*isDataCache=*/true);
}

/// True if something stores to the view.
static bool isWritten(Value view) {
  return llvm::any_of(view.getUsers(), [&](Operation *user) {
    if (auto nested = dyn_cast<ViewLikeOpInterface>(user))
      return llvm::any_of(nested->getResults(), isWritten);
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    return effects && effects.getEffectOnValue<MemoryEffects::Write>(view).has_value();
  });
}

LogicalResult mlir::linattn::prefetchRows(RewriterBase &rewriter, scf::ForOp time) {
  SmallVector<Rows> all;
  for (auto view : time.getBody()->getOps<memref::SubViewOp>())
    if (std::optional<Rows> rows = getRows(time, view)) {
      bool isKnown = llvm::any_of(all, [&](Rows other) {
        return other.view.getSource() == view.getSource() &&
               other.view.getMixedOffsets() == view.getMixedOffsets();
      });
      rows->isWritten = isWritten(view);
      if (!isKnown)
        all.push_back(*rows);
    }
  SmallVector<Slots> slots = getSlots(time);
  if (all.empty() || slots.empty())
    return rewriter.notifyMatchFailure(time, "no rows that move with the loop, or no loop inside");
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(time.getBody());
  Location loc = time.getLoc();
  // Of the last step, those of the step itself again.
  Value next = arith::AddIOp::create(rewriter, loc, time.getInductionVar(), time.getStep());
  Value isLast =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sge, next, time.getUpperBound());
  next = arith::SelectOp::create(rewriter, loc, isLast, time.getInductionVar(), next);
  int64_t numSlots = slots.back().first + slots.back().count;
  AffineExpr d0, d1;
  bindDims(rewriter.getContext(), d0, d1);
  for (Slots &slot : slots) {
    rewriter.setInsertionPointToStart(slot.loop.getBody());
    OpFoldResult number = rewriter.getIndexAttr(slot.first);
    int64_t inside = slot.count;
    for (scf::ForOp loop : slot.loops) {
      inside /= *getTripCount(loop);
      int64_t step = *getConstantIntValue(loop.getStep()),
              low = *getConstantIntValue(loop.getLowerBound());
      number = affine::makeComposedFoldedAffineApply(
          rewriter, loc, AffineMap::get(2, 0, d0 + (d1 - low).floorDiv(step) * inside),
          {number, loop.getInductionVar()});
    }
    for (Rows &rows : all) {
      int64_t count = llvm::divideCeil(rows.getNumLines(), numSlots);
      for (int64_t i = 0; i < count; ++i) {
        OpFoldResult line = affine::makeComposedFoldedAffineMin(
            rewriter, loc,
            AffineMap::get(1, 0,
                           {d0 * count + i, rewriter.getAffineConstantExpr(rows.getNumLines() - 1)},
                           rewriter.getContext()),
            {number});
        prefetchLine(rewriter, time, rows, next, line);
      }
    }
  }
  return success();
}

namespace {
struct PrefetchRows : linattn::impl::PrefetchRowsPassBase<PrefetchRows> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (getConstantIntValue(loop.getStep()).value_or(1) > 1)
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      (void)prefetchRows(rewriter, loop);
  }
};
} // namespace
