//===- SplitTasks.cpp - enough parallel tasks for the threads -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Value columns first: all that they repeat is what does not depend on the column (brackets,
// gates). Parts of time compute what a state becomes twice.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/SplitTasks.h"

#include "PassFrame.h"

#include "linattn/Analysis/ValueAxes.h"
#include "linattn/Transforms/Passes.h"
#include "linattn/Transforms/SplitTime.h"
#include "linattn/Transforms/SplitValue.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_SPLITTASKSPASS
#include "linattn/Transforms/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

/// The points of the parallel dims that are known to be there.
static int64_t countTasks(RecurrenceOp op) {
  int64_t tasks = 1;
  for (auto [dim, extent] : llvm::enumerate(op.getStaticExtents()))
    if (dim != op.getTimeDim() && ShapedType::isStatic(extent))
      tasks *= extent;
  return tasks;
}

/// The widest tile that makes `count` of `columns`, or else the narrowest of at least `least`; 0 if
/// there is none but the whole.
static int64_t getTile(int64_t columns, int64_t count, int64_t least) {
  int64_t found = 0;
  for (int64_t tile = columns - 1; tile >= least; --tile) {
    if (columns % tile != 0)
      continue;
    found = tile;
    if (columns / tile >= count)
      break;
  }
  return found;
}

void linattn::splitTasks(RewriterBase &rewriter, RecurrenceOp op,
                         const SplitTasksOptions &options) {
  int64_t tasks = countTasks(op);
  if (op.getPlanAttr() || op.getStep() || tasks == 0 || tasks >= options.tasks)
    return;
  int64_t missing = llvm::divideCeil(options.tasks, tasks);
  if (std::optional<int64_t> columns = ValueAxes(op).getExtent())
    if (int64_t tile = getTile(*columns, missing, options.columns))
      if (FailureOr<RecurrenceOp> split = splitValue(rewriter, op, {tile, nullptr});
          succeeded(split)) {
        op = *split;
        missing = llvm::divideCeil(missing, *columns / tile);
      }
  if (missing > 1)
    (void)splitTime(rewriter, op, {missing, options.chunk});
}

namespace {

struct SplitTasks : linattn::impl::SplitTasksPassBase<SplitTasks> {
  using SplitTasksPassBase::SplitTasksPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    return expectPositive(context, {{"tasks", tasks}, {"columns", columns}, {"chunk", chunk}});
  }

  void runOnOperation() override {
    rewriteRecurrences(getOperation(), [&](RewriterBase &rewriter, RecurrenceOp op) {
      splitTasks(rewriter, op, {tasks, columns, chunk});
    });
  }
};

} // namespace
