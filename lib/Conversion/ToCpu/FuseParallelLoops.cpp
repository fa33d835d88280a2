//===- FuseParallelLoops.cpp - one parallel loop for independent ones ---------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/ToCpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_FUSEPARALLELLOOPSPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;

static bool areEqual(OpFoldResult a, OpFoldResult b) {
  FailureOr<bool> isEqual = ValueBoundsConstraintSet::areEqual(a, b);
  return succeeded(isEqual) && *isEqual;
}

static bool haveSamePoints(scf::ForallOp first, scf::ForallOp second) {
  return first.getRank() == second.getRank() &&
         first.getMixedLowerBound() == second.getMixedLowerBound() &&
         first.getMixedStep() == second.getMixedStep() &&
         first.getMapping() == second.getMapping() &&
         llvm::equal(first.getMixedUpperBound(), second.getMixedUpperBound(), areEqual);
}

/// Whether `reader` reads the entries of a tensor that `writer` updates. In one loop the writer
/// would have to update a copy.
static bool readsOutsOf(scf::ForallOp reader, scf::ForallOp writer) {
  return llvm::any_of(writer.getOutputs(), [&](Value out) {
    return llvm::any_of(out.getUsers(), [&](Operation *user) {
      return reader->isProperAncestor(user) && !isa<tensor::DimOp>(user);
    });
  });
}

/// `first` and what depends on it before `second`, in the same block; in order.
static SetVector<Operation *> getDependents(Operation *first, Operation *second) {
  SetVector<Operation *> dependents;
  dependents.insert(first);
  for (Operation *op = first; op != second; op = op->getNextNode())
    if (dependents.contains(op))
      for (Operation *user : op->getUsers())
        dependents.insert(op->getBlock()->findAncestorOpInBlock(*user));
  return dependents;
}

/// Moves `first` right before `second`, and what depends on it behind `second`. Only down: what is
/// checked before `second` stays checked before it.
static LogicalResult moveTogether(RewriterBase &rewriter, Operation *first, Operation *second) {
  if (first->getBlock() != second->getBlock() || !first->isBeforeInBlock(second))
    return rewriter.notifyMatchFailure(second, "not behind the first op in its block");
  SetVector<Operation *> dependents = getDependents(first, second);
  if (dependents.contains(second))
    return rewriter.notifyMatchFailure(second, "depends on the first op");
  SmallVector<Operation *> moved;
  for (Operation *op = first; op != second; op = op->getNextNode())
    if (dependents.contains(op))
      moved.push_back(op);
  if (!llvm::all_of(moved, isMemoryEffectFree))
    return rewriter.notifyMatchFailure(second, "an op with effects depends on the first op");
  rewriter.moveOpBefore(first, second);
  Operation *place = second;
  for (Operation *op : ArrayRef(moved).drop_front()) {
    rewriter.moveOpAfter(op, place);
    place = op;
  }
  return success();
}

FailureOr<scf::ForallOp> linattn::fuseParallelLoops(RewriterBase &rewriter, scf::ForallOp first,
                                                    scf::ForallOp second) {
  if (!haveSamePoints(first, second))
    return rewriter.notifyMatchFailure(second, "not known to have the same points");
  if (readsOutsOf(first, second) || readsOutsOf(second, first))
    return rewriter.notifyMatchFailure(second, "one loop reads what the other one overwrites");
  if (failed(moveTogether(rewriter, first, second)))
    return failure();
  return fuseIndependentSiblingForallLoops(first, second, rewriter);
}

namespace {
struct FuseParallelLoops : linattn::impl::FuseParallelLoopsPassBase<FuseParallelLoops> {
  void runOnOperation() override {
    SmallVector<Block *> blocks; // innermost first
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    IRRewriter rewriter(&getContext());
    for (Block *block : blocks) {
      SmallVector<scf::ForallOp> loops(block->getOps<scf::ForallOp>());
      // The fused loop stands where the second one stood. Last to first: a loop over chunks meets
      // that of the other direction, which comes behind its tail, and not the tail.
      for (size_t first = 0; first < loops.size(); ++first)
        for (size_t second = loops.size() - 1; second > first; --second) {
          if (!loops[second])
            continue;
          auto fused = linattn::fuseParallelLoops(rewriter, loops[first], loops[second]);
          if (failed(fused))
            continue;
          loops[second] = *fused;
          break;
        }
    }
  }
};
} // namespace
