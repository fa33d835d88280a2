//===- WindowsInPlace.cpp - rows of earlier steps where they lie in memory ----------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// A step that needs a few rows before its own, as a convolution over time does, puts the rows that
// the step before kept and its own into one line:
//
//   for %t:  copy %kept -> %line[0, w);  copy %x[%t, %t + n) -> %line[w, w + n)
//            .. reads of %line ..
//            copy %line[n, n + w) -> %kept
//
// From the second step on, the line lies in memory already: it is %x[%t - w, %t + n).
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/ToCpu.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_WINDOWSINPLACEPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

namespace {

/// A copy from one buffer to another, by whichever op.
struct Copy {
  Operation *op = nullptr;
  Value from, to;

  static Copy get(Operation *op) {
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      return {op, copy.getSource(), copy.getTarget()};
    if (auto copy = dyn_cast<linalg::CopyOp>(op); copy && copy.hasPureBufferSemantics())
      return {op, copy.getInputs()[0], copy.getOutputs()[0]};
    return {};
  }
};

/// A line, how it is put together, and what is kept of it.
struct Line {
  memref::AllocOp alloc;
  int64_t width = 0, step = 0; ///< rows that are kept, and those of a step
  memref::SubViewOp own;       ///< the rows of the step, in what all steps take theirs from
  unsigned stepDim = 0;        ///< of that
  Copy ownCopy, keptCopy, back;
  MemRefType type; ///< of a view of either buffer
};

} // namespace

static Value getRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// The first of the rows of `line` that a view of whole rows takes, and their number.
static std::pair<int64_t, int64_t> getRows(Value view, Value line) {
  auto slice = view.getDefiningOp<memref::SubViewOp>();
  if (!slice || slice.getSource() != line || slice->getNumOperands() != 1 ||
      !slice.hasUnitStride() ||
      slice.getStaticSizes().drop_front() != slice.getSourceType().getShape().drop_front())
    return {-1, -1};
  return {slice.getStaticOffsets()[0], slice.getStaticSizes()[0]};
}

/// The dim of its source along which a view moves with the loop, one step at a time, if it moves
/// along no other.
static std::optional<unsigned> getStepDim(scf::ForOp loop, memref::SubViewOp view, int64_t step) {
  std::optional<unsigned> found;
  if (!loop.isDefinedOutsideOfLoop(view.getSource()) || !view.hasUnitStride())
    return std::nullopt;
  for (auto [dim, offset] : llvm::enumerate(view.getMixedOffsets())) {
    auto value = dyn_cast<Value>(offset);
    if (value == loop.getInductionVar() && !found && view.getStaticSizes()[dim] == step)
      found = dim;
    else if (value && !loop.isDefinedOutsideOfLoop(value))
      return std::nullopt;
  }
  return found;
}

/// The type of both the line and the rows where they lie, if they differ only in what lies between
/// two rows; else null.
static MemRefType getCommonType(MemRefType line, MemRefType rows) {
  SmallVector<int64_t> strides, otherStrides;
  int64_t offset;
  if (line.getRank() != rows.getRank() ||
      line.getShape().drop_front() != rows.getShape().drop_front() ||
      failed(line.getStridesAndOffset(strides, offset)) ||
      failed(rows.getStridesAndOffset(otherStrides, offset)) ||
      ArrayRef(strides).drop_front() != ArrayRef(otherStrides).drop_front())
    return {};
  strides[0] = ShapedType::kDynamic;
  return MemRefType::get(line.getShape(), line.getElementType(),
                         StridedLayoutAttr::get(line.getContext(), ShapedType::kDynamic, strides),
                         line.getMemorySpace());
}

/// The line that `ownCopy` puts the step's rows into.
static FailureOr<Line> getLine(scf::ForOp loop, Copy ownCopy) {
  Line line;
  line.ownCopy = ownCopy;
  line.alloc = dyn_cast_or_null<memref::AllocOp>(getRoot(ownCopy.to).getDefiningOp());
  line.own = ownCopy.from.getDefiningOp<memref::SubViewOp>();
  line.step = getConstantIntValue(loop.getStep()).value_or(0);
  if (!line.alloc || !line.own || line.alloc.getType().getRank() < 2)
    return failure();
  int64_t rows;
  std::tie(line.width, rows) = getRows(ownCopy.to, line.alloc);
  std::optional<unsigned> stepDim = getStepDim(loop, line.own, line.step);
  if (!stepDim || line.width <= 0 || line.width > line.step || rows != line.step ||
      line.alloc.getType().getDimSize(0) != line.width + line.step)
    return failure();
  // The first dim of the view is the one that moves.
  line.stepDim = *stepDim;
  llvm::SmallBitVector dropped = line.own.getDroppedDims();
  for (unsigned dim = 0; dim <= *stepDim; ++dim)
    if (dropped.test(dim) != (dim < *stepDim))
      return failure();
  line.type = getCommonType(line.alloc.getType(), line.own.getType());
  if (!line.type)
    return failure();
  for (Operation &op : *loop.getBody()) {
    Copy copy = Copy::get(&op);
    if (!copy.op)
      continue;
    if (getRows(copy.to, line.alloc) == std::pair<int64_t, int64_t>(0, line.width))
      line.keptCopy = copy;
    if (line.keptCopy.op && copy.to == line.keptCopy.from &&
        getRows(copy.from, line.alloc) == std::pair(line.step, line.width))
      line.back = copy;
  }
  if (!line.keptCopy.op || !line.back.op || !loop.isDefinedOutsideOfLoop(line.keptCopy.from))
    return failure();
  return line;
}

/// True if, in the loop, nothing but the three copies knows of what is kept, writes to the line, or
/// writes to what the rows come from; and if the line is only read behind the copies. Different
/// arguments of a function are different buffers, as bufferisation has it.
static bool isOnlyUse(scf::ForOp loop, Line &line) {
  Value kept = getRoot(line.keptCopy.from), rows = getRoot(line.own);
  Block *body = loop.getBody();
  auto isLate = [&](Operation *op) {
    Operation *ancestor = body->findAncestorOpInBlock(*op);
    return ancestor && line.ownCopy.op->isBeforeInBlock(ancestor) &&
           line.keptCopy.op->isBeforeInBlock(ancestor);
  };
  WalkResult result = body->walk([&](Operation *op) {
    if (op == line.ownCopy.op || op == line.keptCopy.op || op == line.back.op ||
        isMemoryEffectFree(op))
      return WalkResult::advance();
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects && op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance(); // those of what is inside
    SmallVector<MemoryEffects::EffectInstance> instances;
    if (effects)
      effects.getEffects(instances);
    bool isHarmless = effects && llvm::all_of(instances, [&](MemoryEffects::EffectInstance effect) {
                        Value root = effect.getValue() ? getRoot(effect.getValue()) : Value();
                        bool isWrite = isa<MemoryEffects::Write>(effect.getEffect());
                        return root && root != kept &&
                               (!isWrite || (root != rows && root != line.alloc.getResult()));
                      });
    return isHarmless ? WalkResult::advance() : WalkResult::interrupt();
  });
  auto isRead = [&](Operation *user) {
    return isLate(user) && isa<linalg::LinalgOp, memref::CopyOp, memref::LoadOp>(user);
  };
  return !result.wasInterrupted() && kept != rows &&
         line.keptCopy.op->isBeforeInBlock(line.back.op) &&
         llvm::all_of(line.alloc->getUsers(), [&](Operation *user) {
           auto view = dyn_cast<memref::SubViewOp>(user);
           if (!view)
             return isa<memref::DeallocOp>(user) || isRead(user);
           return view->getNumOperands() == 1 && llvm::all_of(view->getUsers(), [&](Operation *op) {
                    return op == line.ownCopy.op || op == line.keptCopy.op || isRead(op);
                  });
         });
}

LogicalResult mlir::linattn::readWindowInPlace(RewriterBase &rewriter, scf::ForOp loop,
                                               Operation *copyOfRows) {
  Copy ownCopy = Copy::get(copyOfRows);
  FailureOr<Line> line = ownCopy.op ? getLine(loop, ownCopy) : FailureOr<Line>();
  if (failed(line))
    return rewriter.notifyMatchFailure(copyOfRows, "no line of rows that are kept and the step's");
  if (!isOnlyUse(loop, *line))
    return rewriter.notifyMatchFailure(copyOfRows, "the rows are used in another way, too");
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = copyOfRows->getLoc();
  SmallVector<Operation *> users(line->alloc->getUsers());
  bool ownIsLast = line->keptCopy.op->isBeforeInBlock(line->ownCopy.op);
  rewriter.setInsertionPointAfter(ownIsLast ? line->ownCopy.op : line->keptCopy.op);
  Value isLater = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                        loop.getInductionVar(), loop.getLowerBound());
  auto choice = scf::IfOp::create(rewriter, loc, line->type, isLater, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inside(rewriter);
    rewriter.setInsertionPointToStart(choice.thenBlock());
    SmallVector<OpFoldResult> offsets = line->own.getMixedOffsets(),
                              sizes = line->own.getMixedSizes();
    offsets[line->stepDim] = affine::makeComposedFoldedAffineApply(
        rewriter, loc, rewriter.getAffineDimExpr(0) - line->width, {offsets[line->stepDim]});
    sizes[line->stepDim] = rewriter.getIndexAttr(line->width + line->step);
    MemRefType type = memref::SubViewOp::inferRankReducedResultType(
        line->type.getShape(), line->own.getSourceType(), offsets, sizes,
        line->own.getMixedStrides());
    Value rows = memref::SubViewOp::create(rewriter, loc, type, line->own.getSource(), offsets,
                                           sizes, line->own.getMixedStrides());
    if (type != line->type)
      rows = memref::CastOp::create(rewriter, loc, line->type, rows);
    scf::YieldOp::create(rewriter, loc, rows);
    rewriter.setInsertionPointToStart(choice.elseBlock());
    Value cast = memref::CastOp::create(rewriter, loc, line->type, line->alloc);
    Operation *yield = scf::YieldOp::create(rewriter, loc, cast);
    for (Operation *copy : {line->ownCopy.op, line->keptCopy.op})
      rewriter.moveOpBefore(copy, yield);
  }
  rewriter.setInsertionPointAfter(choice);
  auto isElsewhere = [&](OpOperand &use) {
    return use.getOwner() != line->ownCopy.op && use.getOwner() != line->keptCopy.op;
  };
  for (Operation *user : users) {
    auto view = dyn_cast<memref::SubViewOp>(user);
    if (!view) {
      if (!isa<memref::DeallocOp>(user))
        user->replaceUsesOfWith(line->alloc, choice.getResult(0));
      continue;
    }
    MemRefType type = memref::SubViewOp::inferRankReducedResultType(
        view.getType().getShape(), line->type, view.getMixedOffsets(), view.getMixedSizes(),
        view.getMixedStrides());
    Value moved =
        memref::SubViewOp::create(rewriter, loc, type, choice.getResult(0), view.getMixedOffsets(),
                                  view.getMixedSizes(), view.getMixedStrides());
    rewriter.replaceUsesWithIf(view.getResult(), moved, isElsewhere);
  }
  // Views of the line stood where the copies did.
  for (Copy copy : {line->ownCopy, line->keptCopy})
    rewriter.moveOpBefore(copy.to.getDefiningOp(), choice);
  rewriter.setInsertionPoint(line->back.op);
  Value next = arith::AddIOp::create(rewriter, loc, loop.getInductionVar(), loop.getStep());
  Value isLast =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sge, next, loop.getUpperBound());
  auto branch = scf::IfOp::create(rewriter, loc, isLast, /*withElseRegion=*/false);
  rewriter.moveOpBefore(line->back.op, branch.thenYield());
  return success();
}

namespace {
struct WindowsInPlace : linattn::impl::WindowsInPlacePassBase<WindowsInPlace> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<std::pair<scf::ForOp, Operation *>> copies;
    getOperation()->walk([&](scf::ForOp loop) {
      for (Operation &op : *loop.getBody())
        if (Copy::get(&op).op)
          copies.push_back({loop, &op});
    });
    for (auto [loop, copy] : copies)
      if (copy->getBlock() == loop.getBody()) // not moved with another one's line
        (void)readWindowInPlace(rewriter, loop, copy);
  }
};
} // namespace
