//===- DeallocateLocalBuffers.cpp - free buffers where they were made ---------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_DEALLOCATELOCALBUFFERSPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;

namespace {
struct DeallocateLocalBuffers
    : linattn::impl::DeallocateLocalBuffersPassBase<DeallocateLocalBuffers> {
  void runOnOperation() override {
    BufferViewFlowAnalysis aliases(getOperation());
    SmallVector<memref::AllocOp> allocs;
    getOperation()->walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    for (memref::AllocOp alloc : allocs) {
      Operation *terminator = alloc->getBlock()->getTerminator();
      // A buffer is local if no view of it is handed on by the terminator of its block.
      auto buffers = aliases.resolve(alloc.getResult());
      bool leaves = llvm::any_of(terminator->getOperands(),
                                 [&](Value operand) { return buffers.contains(operand); });
      bool isFreed = llvm::any_of(alloc->getUsers(), llvm::IsaPred<memref::DeallocOp>);
      if (leaves || isFreed)
        continue;
      OpBuilder builder(terminator);
      memref::DeallocOp::create(builder, alloc.getLoc(), alloc.getResult());
    }
  }
};
} // namespace
