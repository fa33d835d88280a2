//===- IndexFormTest.cpp - index forms against brute force --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Utils/IndexForm.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace mlir;
using namespace mlir::linattn;

namespace {

constexpr unsigned kNumDims = 3;
using Point = std::array<int64_t, kNumDims>;

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0)); }

/// What an expression means, without index forms.
int64_t evaluate(AffineExpr expr, const Point &point) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return point[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = evaluate(binary.getLHS(), point), rhs = evaluate(binary.getRHS(), point);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return floorDiv(lhs, rhs);
  case AffineExprKind::Mod:
    return lhs - rhs * floorDiv(lhs, rhs);
  default:
    ADD_FAILURE() << "no such expression is made here";
    return 0;
  }
}

std::vector<Point> getPoints(ArrayRef<int64_t> extents) {
  std::vector<Point> points;
  for (int64_t a = 0; a < extents[0]; ++a)
    for (int64_t b = 0; b < extents[1]; ++b)
      for (int64_t c = 0; c < extents[2]; ++c)
        points.push_back({a, b, c});
  return points;
}

/// True if no two points with different values of `dims` share an index.
bool isInjective(ArrayRef<AffineExpr> exprs, ArrayRef<int64_t> extents, ArrayRef<unsigned> dims) {
  std::map<std::vector<int64_t>, std::vector<int64_t>> seen;
  for (const Point &point : getPoints(extents)) {
    std::vector<int64_t> index, key;
    for (AffineExpr expr : exprs)
      index.push_back(evaluate(expr, point));
    for (unsigned dim : dims)
      key.push_back(point[dim]);
    if (seen.try_emplace(index, key).first->second != key)
      return false;
  }
  return true;
}

class IndexFormTest : public testing::Test {
protected:
  int64_t random(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
  AffineExpr dim(unsigned position) { return getAffineDimExpr(position, &context); }

  /// A sum of up to three dims or digits of dims, and a constant.
  AffineExpr randomExpr() {
    AffineExpr expr = getAffineConstantExpr(random(0, 3) ? 0 : random(-3, 3), &context);
    for (int64_t term = random(1, 3); term > 0; --term) {
      AffineExpr digit = dim(random(0, kNumDims - 1));
      if (random(0, 2) == 0)
        digit = digit.floorDiv(random(1, 4));
      if (random(0, 2) == 0)
        digit = digit % random(1, 6);
      static constexpr int64_t coefficients[] = {1, 1, 1, 2, 3, 4, 6, 8, 12, -1, -2, -4};
      expr = expr + digit * coefficients[random(0, std::size(coefficients) - 1)];
    }
    return expr;
  }

  MLIRContext context;
  std::mt19937 engine{0};
};

FailureOr<SmallVector<IndexForm>> getForms(ArrayRef<AffineExpr> exprs) {
  return getIndexForms(AffineMap::get(kNumDims, 0, exprs, exprs.front().getContext()));
}

TEST_F(IndexFormTest, FormComputesTheExpression) {
  for (int trial = 0; trial < 2000; ++trial) {
    AffineExpr expr = randomExpr();
    FailureOr<IndexForm> form = IndexForm::get(expr);
    if (failed(form)) // nested digits whose places do not divide each other
      continue;
    AffineExpr again = form->getExpr(&context);
    for (const Point &point : getPoints({7, 7, 7})) {
      int64_t want = evaluate(expr, point), sum = form->constant;
      for (const IndexTerm &term : form->terms)
        sum += term.coefficient * term.digit.getValue(point[term.digit.dim]);
      ASSERT_EQ(evaluate(again, point), want);
      ASSERT_EQ(sum, want);
    }
  }
}

TEST_F(IndexFormTest, RangeIsReachedAndNotLeft) {
  for (int trial = 0; trial < 5000; ++trial) {
    AffineExpr expr = randomExpr();
    FailureOr<IndexForm> form = IndexForm::get(expr);
    if (failed(form))
      continue;
    int64_t extents[] = {random(1, 7), random(1, 7), random(1, 7)};
    int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min();
    for (const Point &point : getPoints(extents)) {
      low = std::min(low, evaluate(expr, point));
      high = std::max(high, evaluate(expr, point));
    }
    auto range = form->getRange(extents);
    ASSERT_TRUE(range.has_value());
    std::string text;
    llvm::raw_string_ostream(text)
        << expr << " over " << extents[0] << "x" << extents[1] << "x" << extents[2];
    EXPECT_EQ(range->first, low) << text;
    EXPECT_EQ(range->second, high) << text;
  }
}

TEST_F(IndexFormTest, RangeOfUnknownOrEmptyBoxes) {
  AffineExpr expr = dim(0) + dim(1) * 2;
  IndexForm form = *IndexForm::get(expr);
  EXPECT_FALSE(form.getRange({ShapedType::kDynamic, 4, 4}).has_value());
  EXPECT_FALSE(form.getRange({4, 0, 4}).has_value());
  EXPECT_TRUE(form.getRange({4, 4, ShapedType::kDynamic}).has_value()) << "dim 2 does not matter";
}

TEST_F(IndexFormTest, RangeSaturates) {
  constexpr int64_t min = std::numeric_limits<int64_t>::min(),
                    max = std::numeric_limits<int64_t>::max();
  IndexForm form{{{{0}, int64_t(1) << 62}, {{1}, min}}, 0};
  EXPECT_EQ(*form.getRange({8, 8, 1}), std::make_pair(min, max));
}

TEST_F(IndexFormTest, InjectiveFormsAreInjective) {
  int numInjective = 0, numRecognized = 0;
  for (int trial = 0; trial < 40000; ++trial) {
    SmallVector<AffineExpr> exprs;
    for (int64_t count = random(1, 4); count > 0; --count)
      exprs.push_back(random(0, 2) ? randomExpr() : dim(random(0, kNumDims - 1)));
    FailureOr<SmallVector<IndexForm>> forms = getForms(exprs);
    if (failed(forms))
      continue;
    int64_t extents[] = {random(1, 6), random(1, 6), random(1, 6)};
    SmallVector<unsigned> dims;
    for (unsigned position = 0; position < kNumDims; ++position)
      if (random(0, 3))
        dims.push_back(position);
    bool injective = isInjective(exprs, extents, dims);
    numInjective += injective;
    // What is known of fewer extents holds for all of them.
    SmallVector<int64_t> known(extents, extents + kNumDims);
    if (random(0, 1))
      known[random(0, kNumDims - 1)] = ShapedType::kDynamic;
    if (findUndeterminedDim(*forms, known, dims))
      continue;
    ++numRecognized;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(exprs, stream);
    ASSERT_TRUE(injective) << text << " over " << extents[0] << "x" << extents[1] << "x"
                           << extents[2];
  }
  // The test would pass for a function that rejects everything.
  EXPECT_GT(numRecognized, numInjective / 4);
}

TEST_F(IndexFormTest, RegularLayoutsAreRecognized) {
  AffineExpr t = dim(0), h = dim(1), d = dim(2);
  constexpr int64_t any = ShapedType::kDynamic;
  auto find = [&](ArrayRef<AffineExpr> exprs, ArrayRef<int64_t> extents) {
    return findUndeterminedDim(*getForms(exprs), extents, {0, 1, 2});
  };
  EXPECT_FALSE(find({t, h, d}, {any, any, any}));
  EXPECT_FALSE(find({t, h * 64 + d}, {any, any, 64}));
  EXPECT_FALSE(find({t, h * 64 + d + 192}, {any, any, 48}));
  EXPECT_FALSE(find({t.floorDiv(16), t % 16, h, d}, {any, any, any}));
  EXPECT_FALSE(find({t.floorDiv(16), t.floorDiv(4) % 4, t % 4, h, d}, {any, any, any}));
  EXPECT_FALSE(find({t % 2, t, h, d}, {any, any, any})) << "a digit beside its dim";
  EXPECT_FALSE(find({t % 4, t.floorDiv(2), h, d}, {any, any, any})) << "digits that overlap";
  EXPECT_FALSE(find({h.floorDiv(4), t, (h % 4) * 8 + d}, {any, any, 8}));
  EXPECT_FALSE(find({t, (h % 4) + d * 4, h.floorDiv(4)}, {any, any, any}));
  EXPECT_FALSE(find({t, d, -h}, {any, any, any}));
  EXPECT_EQ(find({t, d}, {any, any, any}), 1u);
  EXPECT_EQ(find({t, h * 64 + d}, {any, any, 65}), 1u);
  EXPECT_EQ(find({t, h * 64 + d}, {any, any, any}), 1u);
  EXPECT_EQ(find({t.floorDiv(2), h, d}, {any, any, any}), 0u);
  EXPECT_EQ(find({t.floorDiv(4), t % 2, h, d}, {any, any, any}), 0u) << "a digit is missing";
  EXPECT_FALSE(find({h, d}, {1, any, any})) << "one token";
}

TEST_F(IndexFormTest, OtherExpressionsAreNotForms) {
  EXPECT_TRUE(failed(IndexForm::get(dim(0).ceilDiv(2))));
  EXPECT_TRUE(failed(IndexForm::get((dim(0) + dim(1)) % 3)));
  EXPECT_TRUE(failed(IndexForm::get(dim(0) * dim(1))));
  EXPECT_TRUE(failed(IndexForm::get((dim(0) % 6).floorDiv(4))));
  EXPECT_TRUE(failed(IndexForm::get(getAffineSymbolExpr(0, &context))));
}

} // namespace
