//===- AnnotateBranches.cpp - annotations of loops reach LLVM -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_ANNOTATEBRANCHESPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;

namespace {
struct AnnotateBranches : linattn::impl::AnnotateBranchesPassBase<AnnotateBranches> {
  void runOnOperation() override {
    getOperation()->walk([](LLVM::BrOp branch) {
      if (Attribute annotation = branch->removeDiscardableAttr("llvm.loop_annotation"))
        branch.setLoopAnnotationAttr(cast<LLVM::LoopAnnotationAttr>(annotation));
    });
  }
};
} // namespace
