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

/// What polynomials are made of.
struct VectorMath {
  PatternRewriter &rewriter;
  Location loc;
  VectorType type;

  Value constant(float value) {
    return arith::ConstantOp::create(rewriter, loc,
                                     DenseElementsAttr::get(type, rewriter.getF32FloatAttr(value)));
  }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(rewriter, loc, a, b, c); }
  /// `limit` where `value` lies beyond it; NaN stays, unlike with minnumf and maxnumf.
  Value clamp(arith::CmpFPredicate isBeyond, float limit, Value value) {
    Value beyond = arith::CmpFOp::create(rewriter, loc, isBeyond, constant(limit), value);
    return arith::SelectOp::create(rewriter, loc, beyond, constant(limit), value);
  }
};

/// e^(sign x) = 2^n e^r with n = sign x / ln 2, rounded, for a power above -88. The sign is that of
/// constants, so it costs nothing.
struct Exponential : VectorMath {
  /// The last bits of 1.5 * 2^23 + i are i: adding rounds, and leaves the exponent of 2^n.
  static constexpr float shift = 0x1.8p23f + 127;
  Value x;
  float sign = 1;
  Value shifted = fma(x, constant(sign * 0x1.715476p0f), constant(shift));

  /// e^r, by the coefficients of r^2, r^3, ..., the last ones first.
  Value getFraction(ArrayRef<float> coefficients) {
    Value n = arith::SubFOp::create(rewriter, loc, shifted, constant(shift));
    // The first part of ln 2 has few digits, so that its products are exact. This is sign r.
    Value r = fma(n, constant(-sign * 0.693359375f), x);
    r = fma(n, constant(sign * 2.12194440e-4f), r);
    unsigned degree = coefficients.size() + 1;
    Value sum;
    for (float coefficient : coefficients) {
      Value factor = constant(degree-- % 2 == 0 ? coefficient : sign * coefficient);
      sum = sum ? fma(sum, r, factor) : factor;
    }
    return fma(fma(sum, r, constant(sign)), r, constant(1));
  }
  /// 2^n.
  Value getScale() {
    auto bitsType = VectorType::get(type.getShape(), rewriter.getI32Type());
    Value bits = arith::BitcastOp::create(rewriter, loc, bitsType, shifted);
    Value digits = arith::ConstantOp::create(
        rewriter, loc, DenseElementsAttr::get(bitsType, rewriter.getI32IntegerAttr(23)));
    return arith::BitcastOp::create(rewriter, loc, type,
                                    arith::ShLIOp::create(rewriter, loc, bits, digits).getResult());
  }
};

/// To 2 units in the last place, with two thirds of the instructions of upstream's form, which
/// count where every entry of a state has its own decay. Infinity above the largest f32, 0 below
/// 2^-126.5, NaN of NaN.
struct ExpOfVector : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    VectorMath math{rewriter, op.getLoc(), type};
    Exponential exp{math, math.clamp(arith::CmpFPredicate::OGT, -88, op.getOperand())};
    // With n at most 127, r goes up to ln 2 for the largest x; else |r| <= ln 2 / 2. The least
    // relative error for r from -ln 2 / 2 to 0.7:
    exp.shifted = math.clamp(arith::CmpFPredicate::OLT, Exponential::shift + 127, exp.shifted);
    Value fraction = exp.getFraction(
        {0.00160646439f, 0.00833935291f, 0.0416237004f, 0.166668117f, 0.500001967f});
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, fraction, exp.getScale());
    return success();
  }
};

/// x / (1 + e^y): by way of an estimate of the reciprocal and a Newton step, where the target has
/// one, in a fraction of the time of a division. The step makes NaN of infinity, so y stops before;
/// then the exponential needs neither the range above nor a product of its own.
struct LogisticOfVector : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    math::ExpOp power = getPower(op.getRhs());
    if (!type || !type.getElementType().isF32() || !power)
      return rewriter.notifyMatchFailure(op, "not a logistic function of a vector of f32");
    Location loc = op.getLoc();
    VectorMath math{rewriter, loc, type};
    // Limits for x in y = sign x.
    constexpr float low = -88, high = 87.3365479f; // 126 ln 2
    Value x = power.getOperand();
    float sign = 1;
    if (auto negative = x.getDefiningOp<arith::NegFOp>()) {
      x = negative.getOperand();
      sign = -1;
    }
    x = math.clamp(arith::CmpFPredicate::OGT, sign > 0 ? low : -high, x);
    x = math.clamp(arith::CmpFPredicate::OLT, sign > 0 ? high : -low, x);
    Exponential exp{math, x, sign};
    Value fraction = exp.getFraction({0.0083125012f, 0.0418903306f, 0.166671157f, 0.499992311f});
    Value divisor = math.fma(fraction, exp.getScale(), math.constant(1));
    Value reciprocal = arith::DivFOp::create(
        rewriter, loc, math.constant(1), divisor,
        arith::FastMathFlags::arcp | arith::FastMathFlags::ninf | arith::FastMathFlags::contract);
    Operation *sum = op.getRhs().getDefiningOp();
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), reciprocal);
    for (Operation *unused : {sum, power.getOperation()})
      if (unused->use_empty())
        rewriter.eraseOp(unused);
    return success();
  }

  /// The power in 1 + e^y, in any order.
  static math::ExpOp getPower(Value divisor) {
    auto sum = divisor.getDefiningOp<arith::AddFOp>();
    if (!sum)
      return {};
    auto isOne = [](Value value) {
      if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
        value = broadcast.getSource();
      return matchPattern(value, m_OneFloat());
    };
    for (auto [one, power] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}})
      if (isOne(one))
        return power.getDefiningOp<math::ExpOp>();
    return {};
  }
};

struct ApproximateMath : linattn::impl::ApproximateMathPassBase<ApproximateMath> {
  void runOnOperation() override {
    // Those whose polynomials are as accurate as the numerics contract needs, to a few units in the
    // last place of f32. Scalars stay calls: one call costs less than one vector polynomial.
    // Upstream lowers expm1 and log1p to e^x - 1 and log(1 + x), which near 0 have no digits left:
    // without a polynomial they become calls here.
    SmallVector<Operation *> divisions, vectors, calls;
    getOperation()->walk([&](arith::DivFOp op) { divisions.push_back(op); });
    RewritePatternSet logistic(&getContext()), polynomials(&getContext()), library(&getContext());
    logistic.add<LogisticOfVector>(&getContext());
    applyTo(divisions, std::move(logistic)); // while exponentials are still to be seen
    getOperation()->walk([&](Operation *op) {
      if (!isa<math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp, math::TanhOp>(op))
        return;
      auto type = dyn_cast<VectorType>(op->getResult(0).getType());
      if (type && type.getElementType().isF32())
        vectors.push_back(op);
      else if (isa<math::ExpM1Op, math::Log1pOp>(op))
        calls.push_back(op);
    });
    polynomials.add<ExpOfVector>(&getContext(), /*benefit=*/2);
    populateMathPolynomialApproximationPatterns(polynomials, [](StringRef) { return true; });
    populateMathToLibmConversionPatterns(library);
    applyTo(vectors, std::move(polynomials));
    applyTo(calls, std::move(library));
  }
};
} // namespace
