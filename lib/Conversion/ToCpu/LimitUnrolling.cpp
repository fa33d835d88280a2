//===- LimitUnrolling.cpp - large loops stay loops ----------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// LLVM unrolls in full what has few iterations. Sums gain by that, and so do short loops, whose
// results then stay in registers; a pass over a matrix does not, but its hundreds of loads and
// stores in one block took a quarter of the compile time (of all examples; 40 % of the largest).
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Target/TargetDescription.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_LIMITUNROLLINGPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

/// Instructions that a loop may become.
static constexpr uint64_t maxInstructions = 96;

/// About how many instructions `op` itself is: one for each register of its widest vector.
static uint64_t countInstructions(Operation *op, int64_t vectorBits) {
  uint64_t count = 1;
  auto visit = [&](Type type) {
    if (auto vector = dyn_cast<VectorType>(type); vector && vector.getElementType().isIntOrFloat())
      count = std::max<uint64_t>(
          count,
          llvm::divideCeil(vector.getNumElements() * vector.getElementTypeBitWidth(), vectorBits));
  };
  llvm::for_each(op->getOperandTypes(), visit);
  llvm::for_each(op->getResultTypes(), visit);
  return count;
}

/// Annotates the loops in a block; returns the number of its instructions with all loops unrolled.
static uint64_t limitUnrolling(Block &block, int64_t vectorBits) {
  uint64_t sum = 0;
  for (Operation &op : block) {
    uint64_t count = 0;
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        count = llvm::SaturatingAdd(count, limitUnrolling(nested, vectorBits));
    auto loop = dyn_cast<scf::ForOp>(op);
    std::optional<APInt> iterations = loop ? loop.getStaticTripCount() : std::nullopt;
    if (iterations)
      count = llvm::SaturatingMultiply(count, iterations->getZExtValue());
    if (iterations && count > maxInstructions && loop.getInitArgs().empty()) {
      MLIRContext *context = op.getContext();
      auto unroll = LLVM::LoopUnrollAttr::get(context, /*disable=*/BoolAttr::get(context, true), {},
                                              {}, {}, {}, {}, {});
      op.setAttr("llvm.loop_annotation",
                 LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {},
                                               {}, {}, {}, {}, {}));
    }
    if (!op.hasTrait<OpTrait::IsTerminator>())
      sum = llvm::SaturatingAdd(sum, op.getNumRegions() > 0 ? count
                                                            : countInstructions(&op, vectorBits));
  }
  return sum;
}

namespace {
struct LimitUnrolling : linattn::impl::LimitUnrollingPassBase<LimitUnrolling> {
  void runOnOperation() override {
    int64_t vectorBits = TargetDescription::get(getOperation()).vectorBits;
    for (Region &region : getOperation()->getRegions())
      for (Block &block : region)
        limitUnrolling(block, vectorBits);
  }
};
} // namespace
