//===- ApproximateMath.cpp - polynomials for functions of vectors -------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

namespace {
struct ApproximateMath : linattn::impl::ApproximateMathPassBase<ApproximateMath> {
  void runOnOperation() override {
    // Those whose polynomials are as accurate as the numerics contract needs, to a few units in the
    // last place of f32. Scalars stay calls: one call costs less than one vector polynomial.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<math::ExpOp, math::LogOp, math::Log1pOp, math::TanhOp>(op) &&
          isa<VectorType>(op->getResult(0).getType()))
        ops.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef) { return true; });
    (void)applyOpPatternsGreedily(
        ops, std::move(patterns),
        GreedyRewriteConfig().setStrictness(GreedyRewriteStrictness::ExistingAndNewOps));
  }
};
} // namespace
