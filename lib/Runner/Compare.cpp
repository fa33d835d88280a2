//===- Compare.cpp - results against expectations -----------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/Compare.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::linattn;

/// About ten units in the last place for the types that hardware rounds coarsely, more room where
/// sums are reordered.
static double getDefaultTolerance(Element element) {
  switch (element) {
  case Element::BF16:
    return 2e-2;
  case Element::F16:
    return 2e-3;
  case Element::F32:
    return 1e-5;
  case Element::F64:
    return 1e-12;
  default:
    return 0;
  }
}

/// Prints enough digits to tell neighbours of the type apart, and never more.
static void printElement(llvm::raw_ostream &os, const HostArray &array, int64_t index) {
  if (isFloat(array.getElement())) {
    int digits = array.getElement() == Element::F64 ? 17 : 9;
    os << llvm::format("%.*g", digits, array.getDouble(index));
    return;
  }
  __int128 value = array.getInteger(index);
  if (value < 0)
    os << static_cast<int64_t>(value);
  else
    os << static_cast<uint64_t>(value);
}

/// The position of element `index` in row-major order.
static SmallVector<int64_t> delinearize(int64_t index, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> position(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    position[dim] = index % shape[dim];
    index /= shape[dim];
  }
  return position;
}

Comparison linattn::compareArrays(const HostArray &got, const HostArray &expected,
                                  const Tolerance &tolerance) {
  if (got.getShape() != expected.getShape() ||
      isFloat(got.getElement()) != isFloat(expected.getElement()))
    return {false, "the expectation holds " + expected.describe() + ", the function returned " +
                       got.describe()};

  double rtol = tolerance.rtol.value_or(getDefaultTolerance(got.getElement()));
  double atol = tolerance.atol.value_or(getDefaultTolerance(got.getElement()));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  int64_t gotNonFinite = 0, expectedNonFinite = 0, mismatches = 0, worst = -1;
  double maxError = 0, maxExpected = 0, worstExcess = -1, worstError = 0;
  for (int64_t i = 0; i < got.getNumElements(); ++i) {
    double x = got.getDouble(i), y = expected.getDouble(i), error = 0;
    gotNonFinite += !std::isfinite(x);
    expectedNonFinite += !std::isfinite(y);
    if (std::isfinite(y))
      maxExpected = std::max(maxExpected, std::fabs(y));
    if (!isFloat(got.getElement()))
      error = std::fabs(static_cast<double>(got.getInteger(i) - expected.getInteger(i)));
    else if (!std::isfinite(x) || !std::isfinite(y))
      error = x == y ? 0 : kInfinity;
    else
      error = std::fabs(x - y);
    maxError = std::max(maxError, error);
    double bound = std::isfinite(y) ? atol + rtol * std::fabs(y) : atol;
    mismatches += !(error <= bound);
    // The worst element is the one that exceeds its own bound most; without bounds, the largest
    // error.
    double excess = tolerance.norm || bound == 0 ? error : error / bound;
    if (excess > worstExcess) {
      worstExcess = excess;
      worstError = error;
      worst = i;
    }
  }
  auto divide = [](double error, double size) { return error == 0 ? 0 : error / size; };
  double normError = divide(maxError, maxExpected);

  Comparison comparison;
  comparison.matches = tolerance.norm ? normError <= *tolerance.norm : mismatches == 0;
  llvm::raw_string_ostream os(comparison.text);
  os << "max error " << llvm::format("%.3g", normError) << " of max";
  if (worst >= 0) {
    double relative = divide(worstError, std::fabs(expected.getDouble(worst)));
    os << llvm::format(" (rel %.3g, abs %.3g) at ", std::isnan(relative) ? kInfinity : relative,
                       worstError)
       << formatShape(delinearize(worst, got.getShape())) << ": got ";
    printElement(os, got, worst);
    os << ", expected ";
    printElement(os, expected, worst);
  }
  os << "; non-finite: " << gotNonFinite << " got, " << expectedNonFinite << " expected: ";
  if (comparison.matches) {
    os << "ok";
  } else if (tolerance.norm) {
    os << "MISMATCH (norm-tol " << llvm::format("%.3g", *tolerance.norm) << ")";
  } else {
    os << "MISMATCH (" << mismatches << " of " << got.getNumElements() << " elements, rtol "
       << llvm::format("%.3g", rtol) << ", atol " << llvm::format("%.3g", atol) << ")";
  }
  return comparison;
}

std::string linattn::summarize(const HostArray &array) {
  std::string text;
  llvm::raw_string_ostream os(text);
  int64_t count = array.getNumElements(), low = -1, high = -1, nonFinite = 0;
  for (int64_t i = 0; i < count; ++i) {
    double value = array.getDouble(i);
    if (!std::isfinite(value)) {
      ++nonFinite;
      continue;
    }
    if (low < 0 || value < array.getDouble(low))
      low = i;
    if (high < 0 || value > array.getDouble(high))
      high = i;
  }
  if (count <= 4) {
    os << "values";
    for (int64_t i = 0; i < count; ++i)
      printElement(os << ' ', array, i);
  } else if (low >= 0) {
    printElement(os << "min ", array, low);
    printElement(os << ", max ", array, high);
  } else {
    os << "no finite values";
  }
  os << "; non-finite: " << nonFinite;
  return text;
}
