//===- PrintStateGraph.cpp - the pass linattn-print-state-graph ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------------------===//

#include "ExpandRows.h"

#include "linattn/Analysis/StateGraph.h"
#include "linattn/Transforms/Passes.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_PRINTSTATEGRAPHPASS
#include "linattn/Transforms/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

namespace {
struct PrintStateGraph : linattn::impl::PrintStateGraphPassBase<PrintStateGraph> {
  void runOnOperation() override {
    getOperation()->walk([](RecurrenceOp op) {
      llvm::errs() << "recurrence at " << op.getLoc() << "\n";
      OwningOpRef<RecurrenceOp> singleRows = expandRows(op);
      StateGraph(singleRows ? *singleRows : op).print(llvm::errs());
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
