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
// A state follows that of the head before in memory. The last step of a head asks for the next
// one's, so that few tokens per head, as in decoding, do not wait for one state after the other.
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
#include "llvm/ADT/bit.h"
#include <numeric>

namespace mlir::linattn {
#define GEN_PASS_DEF_PREFETCHROWSPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

static constexpr int64_t lineBytes = 64;

namespace {

/// What a step takes from a buffer, in cache lines.
struct Rows {
  memref::SubViewOp view;
  SmallVector<OpFoldResult> next; ///< offsets of what is fetched
  std::optional<unsigned> rowDim; ///< of the buffer; none: a single row
  int64_t rows = 1, linesPerRow = 1, lineElements = 1;
  bool isWritten = false;
  int64_t getNumLines() const { return rows * linesPerRow; }
};

/// Nested loops in whose iterations lines are fetched: those from number `first` on.
struct Slots {
  SmallVector<scf::ForOp> loops; ///< from the outermost one inside the step on
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

/// The rows of a view: a line, or lines at one stride.
static std::optional<Rows> getRows(memref::SubViewOp view) {
  MemRefType type = view.getSourceType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!view.getSizes().empty() || !type.getElementType().isIntOrFloat() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  Rows rows{view, view.getMixedOffsets(), std::nullopt};
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

/// True if the view moves with the induction variable of `time`, and with nothing else inside.
static bool movesWith(scf::ForOp time, memref::SubViewOp view) {
  bool moves = false;
  for (Value offset : view.getOffsets()) {
    auto apply = offset.getDefiningOp<affine::AffineApplyOp>();
    for (Value operand : apply && !time.isDefinedOutsideOfLoop(offset) ? apply.getMapOperands()
                                                                       : ValueRange(offset)) {
      moves |= operand == time.getInductionVar();
      if (operand != time.getInductionVar() && !time.isDefinedOutsideOfLoop(operand))
        return false;
    }
  }
  return moves && time.isDefinedOutsideOfLoop(view.getSource());
}

/// In a step, a block: the innermost loops that take long enough to hide a fetch, or the loops
/// around these.
static SmallVector<Slots> getSlots(Block *step, bool innermost) {
  SmallVector<Slots> slots;
  step->walk([&](scf::ForOp inner) {
    bool isInnermost =
        !inner.getBody()->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!isInnermost || getTripCount(inner).value_or(0) < 8)
      return;
    Slots candidate{{}, 0, 1};
    for (Operation *outer = innermost ? inner : inner->getParentOp();
         outer->getBlock() != step->getParentOp()->getBlock(); outer = outer->getParentOp()) {
      auto loop = dyn_cast<scf::ForOp>(outer);
      std::optional<int64_t> count = loop ? getTripCount(loop) : std::nullopt;
      if (!count)
        return;
      candidate.loops.insert(candidate.loops.begin(), loop);
      candidate.count *= *count;
    }
    if (candidate.loops.empty() ||
        (!slots.empty() && slots.back().loops.back() == candidate.loops.back()))
      return;
    candidate.first = slots.empty() ? 0 : slots.back().first + slots.back().count;
    slots.push_back(candidate);
  });
  return slots;
}

static int64_t countSlots(ArrayRef<Slots> slots) {
  return slots.empty() ? 0 : slots.back().first + slots.back().count;
}

/// Index arithmetic on counts, which are not negative.
template <typename OpTy>
static Value createCount(RewriterBase &rewriter, Location loc, Value count, int64_t constant) {
  return rewriter.createOrFold<OpTy>(loc, count,
                                     arith::ConstantIndexOp::create(rewriter, loc, constant));
}

/// Lines that follow one another in a row, from number `line` on.
static void prefetchLines(RewriterBase &rewriter, Rows rows, Value line, int64_t count) {
  Location loc = rows.view.getLoc();
  SmallVector<Value> offsets = getValueOrCreateConstantIndexOp(rewriter, loc, rows.next);
  auto advance = [&](Value &offset, Value by) {
    offset = rewriter.createOrFold<arith::AddIOp>(loc, offset, by);
  };
  if (rows.rowDim) {
    Value row = createCount<arith::DivUIOp>(rewriter, loc, line, rows.linesPerRow);
    advance(
        offsets[*rows.rowDim],
        createCount<arith::MulIOp>(rewriter, loc, row, rows.view.getStaticStrides()[*rows.rowDim]));
    line = createCount<arith::RemUIOp>(rewriter, loc, line, rows.linesPerRow);
  }
  if (rows.linesPerRow > 1)
    advance(offsets.back(), createCount<arith::MulIOp>(rewriter, loc, line, rows.lineElements));
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0)
      offsets.back() = createCount<arith::AddIOp>(rewriter, loc, offsets.back(), rows.lineElements);
    memref::PrefetchOp::create(rewriter, loc, rows.view.getSource(), offsets, rows.isWritten,
                               /*localityHint=*/2, /*isDataCache=*/true);
  }
}

/// The number of a slot among all of them.
static Value getNumber(RewriterBase &rewriter, Location loc, const Slots &slots) {
  Value number = arith::ConstantIndexOp::create(rewriter, loc, slots.first);
  int64_t inside = slots.count;
  for (scf::ForOp loop : slots.loops) {
    inside /= *getTripCount(loop);
    Value count = createCount<arith::SubIOp>(rewriter, loc, loop.getInductionVar(),
                                             *getConstantIntValue(loop.getLowerBound()));
    count = createCount<arith::DivUIOp>(rewriter, loc, count, *getConstantIntValue(loop.getStep()));
    number = rewriter.createOrFold<arith::AddIOp>(
        loc, number, createCount<arith::MulIOp>(rewriter, loc, count, inside));
  }
  return number;
}

/// An equal share of the lines in each slot. `condition`, if there is one: only where it holds.
static void prefetchInSlots(RewriterBase &rewriter, Location loc, ArrayRef<Rows> all,
                            ArrayRef<Slots> slots, Value condition) {
  OpBuilder::InsertionGuard guard(rewriter);
  for (const Slots &slot : slots) {
    rewriter.setInsertionPointToStart(scf::ForOp(slot.loops.back()).getBody());
    if (condition) {
      auto branch = scf::IfOp::create(rewriter, loc, condition, /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
    }
    Value number = getNumber(rewriter, loc, slot);
    for (const Rows &rows : all) {
      // Neighbours in a row share the arithmetic of their addresses, which may round a share up.
      int64_t lines = llvm::divideCeil(rows.getNumLines(), countSlots(slots));
      int64_t neighbours =
          std::max(std::gcd(rows.linesPerRow, lines),
                   std::gcd(rows.linesPerRow, int64_t(llvm::bit_floor<uint64_t>((lines + 1) / 2))));
      int64_t groups = rows.getNumLines() / neighbours;
      int64_t count = llvm::divideCeil(groups, countSlots(slots));
      Value first = createCount<arith::MulIOp>(rewriter, loc, number, count);
      for (int64_t i = 0; i < count; ++i) {
        Value group = createCount<arith::AddIOp>(rewriter, loc, first, i);
        if (countSlots(slots) * count > groups)
          group = createCount<arith::MinUIOp>(rewriter, loc, group, groups - 1);
        prefetchLines(rewriter, rows, createCount<arith::MulIOp>(rewriter, loc, group, neighbours),
                      neighbours);
      }
    }
  }
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

/// The rows that the step after `time`'s takes, which starts at `next`.
static SmallVector<Rows> getNextRows(RewriterBase &rewriter, scf::ForOp time, Value next) {
  SmallVector<Rows> all;
  for (auto view : time.getBody()->getOps<memref::SubViewOp>()) {
    std::optional<Rows> rows = getRows(view);
    bool isKnown = llvm::any_of(all, [&](Rows other) {
      return other.view.getSource() == view.getSource() &&
             other.view.getMixedOffsets() == view.getMixedOffsets();
    });
    if (!rows || isKnown || !movesWith(time, view))
      continue;
    rows->isWritten = isWritten(view);
    all.push_back(*rows);
  }
  IRMapping mapping;
  mapping.map(time.getInductionVar(), next);
  for (Rows &rows : all)
    for (OpFoldResult &offset : rows.next) {
      auto value = dyn_cast<Value>(offset);
      if (!value || time.isDefinedOutsideOfLoop(value))
        continue;
      Operation *apply = value.getDefiningOp();
      offset = apply ? rewriter.clone(*apply, mapping)->getResult(0) : next;
    }
  return all;
}

/// A value that is true in the last iteration.
static Value isLastIteration(RewriterBase &rewriter, scf::ForOp loop, Value next) {
  return arith::CmpIOp::create(rewriter, loop.getLoc(), arith::CmpIPredicate::sge, next,
                               loop.getUpperBound());
}

LogicalResult mlir::linattn::prefetchRows(RewriterBase &rewriter, scf::ForOp time) {
  SmallVector<Slots> slots = getSlots(time.getBody(), /*innermost=*/false);
  if (slots.empty())
    return rewriter.notifyMatchFailure(time, "no loop inside");
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = time.getLoc();
  rewriter.setInsertionPointToStart(time.getBody());
  // Of the last step, those of the step itself again.
  Value next = arith::AddIOp::create(rewriter, loc, time.getInductionVar(), time.getStep());
  next = arith::SelectOp::create(rewriter, loc, isLastIteration(rewriter, time, next),
                                 time.getInductionVar(), next);
  prefetchInSlots(rewriter, loc, getNextRows(rewriter, time, next), slots, Value());
  return success();
}

/// A view as it lies behind the one that this head has: the last of the dims with a single entry,
/// the head, is one further.
static std::optional<Rows> getNextState(RewriterBase &rewriter, memref::SubViewOp view) {
  constexpr int64_t pageLines = 4096 / lineBytes; // hardware fetches what is shorter ahead
  std::optional<Rows> rows = getRows(view);
  if (!rows || rows->getNumLines() < pageLines || !isWritten(view))
    return std::nullopt;
  for (auto [size, offset] : llvm::reverse(llvm::zip_equal(view.getStaticSizes(), rows->next))) {
    auto value = dyn_cast<Value>(offset);
    if (!value || size != 1)
      continue;
    rewriter.setInsertionPointAfter(view);
    Value one = arith::ConstantIndexOp::create(rewriter, view.getLoc(), 1);
    offset = arith::AddIOp::create(rewriter, view.getLoc(), value, one).getResult();
    return rows; // into the second cache, which a request to write would pass by
  }
  return std::nullopt;
}

/// Fetches the states of the next head in the last step of this one: in the last iteration of
/// every loop over time in the block, or, if there is none, in the loops of the block.
static void prefetchStates(RewriterBase &rewriter, Block *block) {
  SmallVector<Rows> states;
  for (auto view : llvm::to_vector(block->getOps<memref::SubViewOp>()))
    if (std::optional<Rows> state = getNextState(rewriter, view))
      states.push_back(*state);
  if (states.empty())
    return;
  auto prefetch = [&](Block *step, Value condition) {
    SmallVector<Slots> around = getSlots(step, /*innermost=*/false),
                       innermost = getSlots(step, /*innermost=*/true);
    if (innermost.size() < 2) // one pass over a state: hardware fetches ahead
      return;
    prefetchInSlots(rewriter, states[0].view.getLoc(), states,
                    countSlots(around) < 32 ? innermost : around, condition);
  };
  auto isTime = [](scf::ForOp loop) {
    return llvm::any_of(loop.getBody()->getOps<memref::SubViewOp>(), [&](memref::SubViewOp view) {
      Operation *source = view.getSource().getDefiningOp();
      return movesWith(loop, view) && !isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(source);
    });
  };
  SmallVector<scf::ForOp> times;
  auto addTimes = [&](Block *loops) {
    llvm::copy_if(loops->getOps<scf::ForOp>(), std::back_inserter(times), isTime);
  };
  addTimes(block);
  for (auto branch : block->getOps<scf::IfOp>()) // if there are steps at all
    addTimes(branch.thenBlock());
  for (scf::ForOp time : times) {
    rewriter.setInsertionPointToStart(time.getBody());
    Value next =
        arith::AddIOp::create(rewriter, time.getLoc(), time.getInductionVar(), time.getStep());
    prefetch(time.getBody(), isLastIteration(rewriter, time, next));
  }
  if (times.empty())
    prefetch(block, Value());
}

namespace {
struct PrefetchRows : linattn::impl::PrefetchRowsPassBase<PrefetchRows> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ForOp> loops;
    SetVector<Block *> heads;
    getOperation()->walk([&](scf::ForOp loop) {
      // One row, as a token takes, comes with those of the tokens before.
      if (getConstantIntValue(loop.getStep()).value_or(1) > 1)
        loops.push_back(loop);
      auto branch = dyn_cast<scf::IfOp>(loop->getParentOp());
      if (!loop->getParentOfType<scf::ForOp>())
        heads.insert(branch ? branch->getBlock() : loop->getBlock());
    });
    for (scf::ForOp loop : loops)
      (void)prefetchRows(rewriter, loop);
    for (Block *head : heads)
      prefetchStates(rewriter, head);
  }
};
} // namespace
