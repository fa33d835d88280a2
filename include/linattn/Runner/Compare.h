//===- Compare.h - results against expectations -------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_COMPARE_H
#define LINATTN_RUNNER_COMPARE_H

#include "linattn/Runner/HostArray.h"

namespace mlir::linattn {

/// Bounds on the difference of a result from its expectation. An unset one has a default that
/// depends on the result's element type.
struct Tolerance {
  /// Each element: |got - expected| <= atol + rtol * |expected|.
  std::optional<double> rtol, atol;
  /// If set, instead: max|got - expected| <= norm * max|expected|.
  std::optional<double> norm;
};

struct Comparison {
  bool matches = false;
  /// One line about the worst element, or why the arrays cannot be compared.
  std::string text;
};

/// Compares in double (integers exactly). The expectation must have the result's shape; a float
/// result takes any float expectation, an integer one an integer one. Infinities of one sign are
/// equal, a NaN equals nothing.
Comparison compareArrays(const HostArray &got, const HostArray &expected,
                         const Tolerance &tolerance);

/// Says what an array holds: its values if there are at most four, else their range, and how many
/// are not finite.
std::string summarize(const HostArray &array);

} // namespace mlir::linattn

#endif // LINATTN_RUNNER_COMPARE_H
