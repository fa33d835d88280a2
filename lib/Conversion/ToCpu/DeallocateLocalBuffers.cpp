//===- DeallocateLocalBuffers.cpp - free buffers where they were made ---------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_DEALLOCATELOCALBUFFERSPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;

/// The loop beside the buffer's allocation which alone uses it and may have no iterations; or null.
static scf::ForOp getOnlyLoop(memref::AllocOp alloc) {
  Operation *only = nullptr;
  for (Operation *user : alloc->getUsers()) {
    Operation *ancestor = alloc->getBlock()->findAncestorOpInBlock(*user);
    if (only && ancestor != only)
      return nullptr;
    only = ancestor;
  }
  auto loop = dyn_cast_or_null<scf::ForOp>(only);
  return loop && loop->getNumResults() == 0 && !loop.getStaticTripCount() ? loop : scf::ForOp();
}

/// Buffers that a loop alone uses are made only if it runs.
static void sinkBuffers(Operation *root) {
  llvm::MapVector<Operation *, SmallVector<memref::AllocOp>> buffers;
  root->walk([&](memref::AllocOp alloc) {
    if (scf::ForOp loop = getOnlyLoop(alloc))
      buffers[loop].push_back(alloc);
  });
  for (auto &[op, allocs] : buffers) {
    auto loop = cast<scf::ForOp>(op);
    OpBuilder builder(loop);
    Value runs = arith::CmpIOp::create(builder, loop.getLoc(), arith::CmpIPredicate::slt,
                                       loop.getLowerBound(), loop.getUpperBound());
    auto branch = scf::IfOp::create(builder, loop.getLoc(), runs, /*withElseRegion=*/false);
    for (memref::AllocOp alloc : allocs)
      alloc->moveBefore(branch.thenYield());
    loop->moveBefore(branch.thenYield());
  }
}

namespace {
struct DeallocateLocalBuffers
    : linattn::impl::DeallocateLocalBuffersPassBase<DeallocateLocalBuffers> {
  void runOnOperation() override {
    sinkBuffers(getOperation());
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
