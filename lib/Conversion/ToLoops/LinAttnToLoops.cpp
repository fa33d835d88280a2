//===- LinAttnToLoops.cpp - the pass linattn-to-loops -------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/ToLoops.h"
#include "linattn/IR/LinAttn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_LINATTNTOLOOPSPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

namespace {
struct LinAttnToLoops : linattn::impl::LinAttnToLoopsPassBase<LinAttnToLoops> {
  void runOnOperation() override {
    // Recurrences first: the index ops of a body belong to its recurrence. Inner ones may be
    // nested.
    SmallVector<RecurrenceOp> recurrences;
    getOperation()->walk<WalkOrder::PreOrder>([&](RecurrenceOp op) { recurrences.push_back(op); });
    IRRewriter rewriter(&getContext());
    while (!recurrences.empty()) // innermost first
      lowerRecurrenceToLoops(rewriter, recurrences.pop_back_val());
    // Each set makes ops that the next one lowers.
    for (auto populate : {populateReadBeforeDecayPatterns, populateBlockOpsToLinalgPatterns,
                          populateRunningProductToLinalgPatterns, populateStepsToLinalgPatterns}) {
      RewritePatternSet patterns(&getContext());
      populate(patterns);
      walkAndApplyPatterns(getOperation(), std::move(patterns));
    }
  }
};
} // namespace
