//===- OutlineParallelBodies.cpp - a function per parallel body ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_OUTLINEPARALLELBODIESPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;

/// Clones the constants that the region uses into it.
static void sinkConstants(RewriterBase &rewriter, Region &region) {
  SetVector<Value> captures;
  getUsedValuesDefinedAbove(region, captures);
  rewriter.setInsertionPointToStart(&region.front());
  for (Value capture : captures)
    if (Operation *def = capture.getDefiningOp(); def && def->hasTrait<OpTrait::ConstantLike>())
      replaceAllUsesInRegionWith(capture, rewriter.clone(*def)->getResult(0), region);
}

namespace {
struct OutlineParallelBodies : linattn::impl::OutlineParallelBodiesPassBase<OutlineParallelBodies> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<scf::ForallOp> loops;
    getOperation().walk([&](scf::ForallOp loop) {
      if (loop->getNumResults() == 0 && loop->getParentOfType<func::FuncOp>())
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : loops) {
      sinkConstants(rewriter, loop.getRegion());
      std::string name = (loop->getParentOfType<func::FuncOp>().getName() + "_body").str();
      FailureOr<func::FuncOp> body =
          outlineSingleBlockRegion(rewriter, loop.getLoc(), loop.getRegion(), name);
      if (failed(body))
        return signalPassFailure();
      body->setPrivate();
      // Otherwise LLVM inlines small bodies and compiles them once more for callers elsewhere.
      (*body)->setAttr("llvm.linkage",
                       LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal));
      (*body)->setAttr("passthrough", rewriter.getStrArrayAttr({"noinline"}));
      // The symbol table gives the function a name that is not taken.
      auto call = *loop.getBody()->getOps<func::CallOp>().begin();
      body->getOperation()->remove();
      call.setCallee(symbols.insert(*body).getValue());
    }
  }
};
} // namespace
