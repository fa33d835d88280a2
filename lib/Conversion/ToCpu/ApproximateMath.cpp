//===- ApproximateMath.cpp - polynomials for functions of vectors -------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

static void applyTo(ArrayRef<Operation *> ops, RewritePatternSet &&patterns) {
  (void)applyOpPatternsGreedily(
      ops, std::move(patterns),
      GreedyRewriteConfig().setStrictness(GreedyRewriteStrictness::ExistingAndNewOps));
}

namespace {
struct ApproximateMath : linattn::impl::ApproximateMathPassBase<ApproximateMath> {
  void runOnOperation() override {
    // Those whose polynomials are as accurate as the numerics contract needs, to a few units in the
    // last place of f32. Scalars stay calls: one call costs less than one vector polynomial.
    // Upstream lowers expm1 and log1p to e^x - 1 and log(1 + x), which near 0 have no digits left:
    // without a polynomial they become calls here.
    SmallVector<Operation *> vectors, calls;
    getOperation()->walk([&](Operation *op) {
      if (!isa<math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp, math::TanhOp>(op))
        return;
      auto type = dyn_cast<VectorType>(op->getResult(0).getType());
      if (type && type.getElementType().isF32())
        vectors.push_back(op);
      else if (isa<math::ExpM1Op, math::Log1pOp>(op))
        calls.push_back(op);
    });
    RewritePatternSet polynomials(&getContext()), library(&getContext());
    populateMathPolynomialApproximationPatterns(polynomials, [](StringRef) { return true; });
    populateMathToLibmConversionPatterns(library);
    applyTo(vectors, std::move(polynomials));
    applyTo(calls, std::move(library));
  }
};
} // namespace
