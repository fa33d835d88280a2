//===- IndexForm.cpp - what one result of an indexing map computes ------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Utils/IndexForm.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::linattn;

int64_t IndexDigit::getExtent(int64_t extent) const {
  int64_t bound = high ? high / low : ShapedType::kDynamic;
  if (ShapedType::isDynamic(extent))
    return ShapedType::kDynamic;
  int64_t values = llvm::divideCeil(extent, low);
  return high ? std::min(values, bound) : values;
}

int64_t IndexDigit::getValue(int64_t index) const {
  return high ? index / low % (high / low) : index / low;
}

AffineExpr IndexDigit::getExpr(MLIRContext *context) const {
  AffineExpr expr = getAffineDimExpr(dim, context);
  if (low != 1)
    expr = expr.floorDiv(low);
  return high ? expr % (high / low) : expr;
}

/// Matches a dim, or nested floordiv and mod of one dim by positive constants.
static FailureOr<IndexDigit> getDigit(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return IndexDigit{dim.getPosition()};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  FailureOr<IndexDigit> digit = getDigit(binary.getLHS());
  if (failed(digit) || !divisor || divisor.getValue() <= 0)
    return failure();
  int64_t by = divisor.getValue(), low = digit->low, high = digit->high, place;
  if (llvm::MulOverflow(low, by, place))
    return failure();
  if (expr.getKind() == AffineExprKind::FloorDiv) {
    // (d mod high) floordiv by: a digit only if the new place value still divides the old bound.
    if (high && high % place != 0)
      return failure();
    return IndexDigit{digit->dim, place, high};
  }
  if (expr.getKind() != AffineExprKind::Mod || (high && high % place != 0))
    return failure();
  return IndexDigit{digit->dim, low, place};
}

static LogicalResult collectTerms(AffineExpr expr, int64_t factor, IndexForm &form) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    int64_t product;
    return failure(llvm::MulOverflow(constant.getValue(), factor, product) ||
                   llvm::AddOverflow(form.constant, product, form.constant));
  }
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    if (expr.getKind() == AffineExprKind::Add)
      return success(succeeded(collectTerms(binary.getLHS(), factor, form)) &&
                     succeeded(collectTerms(binary.getRHS(), factor, form)));
    if (expr.getKind() == AffineExprKind::Mul) {
      auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
      int64_t product;
      if (!constant || llvm::MulOverflow(constant.getValue(), factor, product))
        return failure();
      return collectTerms(binary.getLHS(), product, form);
    }
  }
  FailureOr<IndexDigit> digit = getDigit(expr);
  if (failed(digit) || factor == 0)
    return failure();
  form.terms.push_back({*digit, factor});
  return success();
}

FailureOr<IndexForm> IndexForm::get(AffineExpr expr) {
  IndexForm form;
  if (failed(collectTerms(expr, 1, form)))
    return failure();
  return form;
}

FailureOr<SmallVector<IndexForm>> mlir::linattn::getIndexForms(AffineMap map) {
  SmallVector<IndexForm> forms;
  for (AffineExpr expr : map.getResults()) {
    FailureOr<IndexForm> form = IndexForm::get(expr);
    if (failed(form))
      return failure();
    forms.push_back(*form);
  }
  return forms;
}

std::optional<unsigned> IndexForm::getBareDim() const {
  if (constant == 0 && terms.size() == 1 && terms[0].coefficient == 1 &&
      terms[0].digit.isWholeDim())
    return terms[0].digit.dim;
  return std::nullopt;
}

bool IndexForm::usesDim(unsigned dim) const {
  return llvm::any_of(terms, [&](const IndexTerm &term) { return term.digit.dim == dim; });
}

static constexpr int64_t kMin = std::numeric_limits<int64_t>::min(),
                         kMax = std::numeric_limits<int64_t>::max();

static int64_t addSaturated(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? (a < 0 ? kMin : kMax) : sum;
}

static int64_t mulSaturated(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? ((a < 0) != (b < 0) ? kMin : kMax) : product;
}

/// Smallest and largest sum of the terms, which are all of one dim.
static std::pair<int64_t, int64_t> getRangeOfOneDim(ArrayRef<IndexTerm> terms, int64_t extent) {
  int64_t low = 0, high = 0;
  constexpr int64_t maxTried = 1 << 20;
  if (terms.size() > 1 && extent <= maxTried) {
    // The digits of one dim need not take their extremes together.
    for (int64_t index = 0; index < extent; ++index) {
      int64_t sum = 0;
      for (const IndexTerm &term : terms)
        sum = addSaturated(sum, mulSaturated(term.coefficient, term.digit.getValue(index)));
      low = index ? std::min(low, sum) : sum;
      high = index ? std::max(high, sum) : sum;
    }
    return {low, high};
  }
  for (const IndexTerm &term : terms) {
    int64_t reach = mulSaturated(term.coefficient, term.digit.getExtent(extent) - 1);
    int64_t &end = reach < 0 ? low : high;
    end = addSaturated(end, reach);
  }
  return {low, high};
}

std::optional<std::pair<int64_t, int64_t>> IndexForm::getRange(ArrayRef<int64_t> extents) const {
  int64_t low = constant, high = constant;
  llvm::SmallDenseMap<unsigned, SmallVector<IndexTerm>> termsOfDim;
  for (const IndexTerm &term : terms)
    termsOfDim[term.digit.dim].push_back(term);
  for (const auto &[dim, ofDim] : termsOfDim) {
    if (ShapedType::isDynamic(extents[dim]) || extents[dim] == 0)
      return std::nullopt;
    auto [least, most] = getRangeOfOneDim(ofDim, extents[dim]);
    low = addSaturated(low, least);
    high = addSaturated(high, most);
  }
  return std::make_pair(low, high);
}

AffineExpr IndexForm::getExpr(MLIRContext *context) const {
  AffineExpr expr = getAffineConstantExpr(constant, context);
  for (const IndexTerm &term : terms)
    expr = expr + term.digit.getExpr(context) * term.coefficient;
  return expr;
}

std::optional<unsigned> mlir::linattn::findUndeterminedDim(ArrayRef<IndexForm> forms,
                                                           ArrayRef<int64_t> extents,
                                                           ArrayRef<unsigned> dims) {
  SmallVector<IndexDigit> determined;
  for (const IndexForm &form : forms) {
    // Mixed radix: each coefficient exceeds what the smaller terms can reach together.
    SmallVector<IndexTerm> terms(form.terms);
    // (the magnitude of the smallest integer has no int64_t)
    auto magnitude = [](const IndexTerm &term) {
      return std::max(term.coefficient, -std::max(term.coefficient, -kMax));
    };
    llvm::sort(terms,
               [&](const IndexTerm &a, const IndexTerm &b) { return magnitude(a) < magnitude(b); });
    int64_t reach = 0;
    bool mixedRadix = true;
    for (const IndexTerm &term : terms) {
      int64_t extent = term.digit.getExtent(extents[term.digit.dim]);
      if (ShapedType::isDynamic(extent) && term.digit.high)
        extent = term.digit.high / term.digit.low; // a bound is enough here
      if (extent == 0 || extent == 1)
        continue;
      mixedRadix &= !ShapedType::isDynamic(reach) && magnitude(term) > reach;
      int64_t span;
      if (ShapedType::isDynamic(extent) || !mixedRadix ||
          llvm::MulOverflow(magnitude(term), extent - 1, span) ||
          llvm::AddOverflow(reach, span, reach))
        reach = ShapedType::kDynamic;
    }
    if (mixedRadix)
      for (const IndexTerm &term : terms)
        determined.push_back(term.digit);
  }
  for (unsigned dim : dims) {
    // `dim mod place` is known, at first for place 1; a digit that joins or overlaps it makes it
    // larger.
    int64_t extent = extents[dim], place = 1;
    while (place && (ShapedType::isDynamic(extent) || place < extent)) {
      const IndexDigit *next = llvm::find_if(determined, [&](const IndexDigit &digit) {
        return digit.dim == dim && place % digit.low == 0 &&
               (digit.high == 0 || digit.high > place);
      });
      if (next == determined.end())
        return dim;
      place = next->high;
    }
  }
  return std::nullopt;
}
