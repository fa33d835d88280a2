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
#include "mlir/IR/Matchers.h"
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

/// e^x = 2^n e^r with n = x / ln 2, rounded: to 2 units in the last place, with two thirds of the
/// instructions of upstream's form, which count where every entry of a state has its own decay.
/// Infinity above the largest f32, 0 below 2^-126.5, NaN of NaN.
struct ExpOfVector : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    Location loc = op.getLoc();
    auto constant = [&](float value) -> Value {
      return arith::ConstantOp::create(
          rewriter, loc, DenseElementsAttr::get(type, rewriter.getF32FloatAttr(value)));
    };
    auto fma = [&](Value a, Value b, Value c) -> Value {
      return math::FmaOp::create(rewriter, loc, a, b, c);
    };
    // `limit` where `value` lies beyond it; NaN stays, unlike with minnumf and maxnumf.
    auto clamp = [&](arith::CmpFPredicate isBeyond, Value limit, Value value) -> Value {
      Value beyond = arith::CmpFOp::create(rewriter, loc, isBeyond, limit, value);
      return arith::SelectOp::create(rewriter, loc, beyond, limit, value);
    };
    // The last bits of 1.5 * 2^23 + i are i: adding rounds, and leaves the exponent of 2^n. With n
    // at most 127, r goes up to ln 2 for the largest x; else |r| <= ln 2 / 2.
    constexpr float shift = 0x1.8p23f + 127;
    Value x = clamp(arith::CmpFPredicate::OGT, constant(-88), op.getOperand());
    Value shifted = fma(x, constant(0x1.715476p0f), constant(shift));
    shifted = clamp(arith::CmpFPredicate::OLT, constant(shift + 127), shifted);
    Value n = arith::SubFOp::create(rewriter, loc, shifted, constant(shift));
    // The first part of ln 2 has few digits, so that its products are exact.
    Value r = fma(n, constant(-0.693359375f), x);
    r = fma(n, constant(2.12194440e-4f), r);
    // 1 + r + .., with the least relative error for r from -ln 2 / 2 to 0.7.
    Value sum = constant(0.00160646439f);
    for (float coefficient :
         {0.00833935291f, 0.0416237004f, 0.166668117f, 0.500001967f, 1.0f, 1.0f})
      sum = fma(sum, r, constant(coefficient));
    auto bitsType = VectorType::get(type.getShape(), rewriter.getI32Type());
    Value bits = arith::BitcastOp::create(rewriter, loc, bitsType, shifted);
    Value digits = arith::ConstantOp::create(
        rewriter, loc, DenseElementsAttr::get(bitsType, rewriter.getI32IntegerAttr(23)));
    Value scale = arith::BitcastOp::create(
        rewriter, loc, type, arith::ShLIOp::create(rewriter, loc, bits, digits).getResult());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, sum, scale);
    return success();
  }
};

/// x / (1 + e^y): by way of an estimate of the reciprocal and a Newton step, where the target has
/// one, in a fraction of the time of a division. The step makes NaN of infinity, so the divisor
/// stops before.
struct LogisticOfVector : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    auto divisor = op.getRhs().getDefiningOp<arith::AddFOp>();
    if (!type || !type.getElementType().isF32() || !isLogisticDivisor(divisor))
      return rewriter.notifyMatchFailure(op, "not a logistic function of a vector of f32");
    Location loc = op.getLoc();
    Value limit = arith::ConstantOp::create(
        rewriter, loc, DenseElementsAttr::get(type, rewriter.getF32FloatAttr(0x1p126f)));
    // NaN stays.
    Value beyond = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OLT, limit, divisor);
    Value finite = arith::SelectOp::create(rewriter, loc, beyond, limit, divisor);
    Value one = arith::ConstantOp::create(
        rewriter, loc, DenseElementsAttr::get(type, rewriter.getF32FloatAttr(1)));
    Value reciprocal = arith::DivFOp::create(
        rewriter, loc, one, finite,
        arith::FastMathFlags::arcp | arith::FastMathFlags::ninf | arith::FastMathFlags::contract);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), reciprocal);
    return success();
  }

  /// 1 + e^y, in any order.
  static bool isLogisticDivisor(arith::AddFOp sum) {
    if (!sum)
      return false;
    auto isOne = [](Value value) {
      if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
        value = broadcast.getSource();
      return matchPattern(value, m_OneFloat());
    };
    return (isOne(sum.getLhs()) && sum.getRhs().getDefiningOp<math::ExpOp>()) ||
           (isOne(sum.getRhs()) && sum.getLhs().getDefiningOp<math::ExpOp>());
  }
};

struct ApproximateMath : linattn::impl::ApproximateMathPassBase<ApproximateMath> {
  void runOnOperation() override {
    // Those whose polynomials are as accurate as the numerics contract needs, to a few units in the
    // last place of f32. Scalars stay calls: one call costs less than one vector polynomial.
    // Upstream lowers expm1 and log1p to e^x - 1 and log(1 + x), which near 0 have no digits left:
    // without a polynomial they become calls here.
    SmallVector<Operation *> divisions, vectors, calls;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::DivFOp>(op))
        divisions.push_back(op);
      if (!isa<math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp, math::TanhOp>(op))
        return;
      auto type = dyn_cast<VectorType>(op->getResult(0).getType());
      if (type && type.getElementType().isF32())
        vectors.push_back(op);
      else if (isa<math::ExpM1Op, math::Log1pOp>(op))
        calls.push_back(op);
    });
    RewritePatternSet logistic(&getContext()), polynomials(&getContext()), library(&getContext());
    logistic.add<LogisticOfVector>(&getContext());
    applyTo(divisions, std::move(logistic)); // while exponentials are still to be seen
    polynomials.add<ExpOfVector>(&getContext(), /*benefit=*/2);
    populateMathPolynomialApproximationPatterns(polynomials, [](StringRef) { return true; });
    populateMathToLibmConversionPatterns(library);
    applyTo(vectors, std::move(polynomials));
    applyTo(calls, std::move(library));
  }
};
} // namespace
