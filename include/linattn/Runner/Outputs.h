//===- Outputs.h - what becomes of results ------------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_OUTPUTS_H
#define LINATTN_RUNNER_OUTPUTS_H

#include "linattn/Runner/Compare.h"
#include "linattn/Runner/HostArray.h"

namespace mlir::linattn {

/// Files and bounds for the results of a function, as on the command line.
struct OutputOptions {
  /// Result I goes to `<prefix>I.npy`; empty: nowhere.
  std::string prefix;
  /// `[I=]FILE.npy`; without `I`, the position in this list.
  llvm::ArrayRef<std::string> expectations;
  Tolerance tolerance;
};

/// One expectation per result; missing where none is given.
using Expectations = llvm::SmallVector<std::optional<HostArray>>;

/// Reads the expectations, so that a bad file is reported before anything runs.
llvm::Expected<Expectations> readExpectations(const OutputOptions &options, unsigned numResults);

/// Writes and compares the results and prints a line for each. False if one does not match.
llvm::Expected<bool> reportResults(llvm::ArrayRef<HostArray> results, llvm::ArrayRef<Type> types,
                                   const Expectations &expectations, const OutputOptions &options,
                                   llvm::raw_ostream &os);

/// Prints the median, minimum and spread of some times in milliseconds.
void reportTimes(llvm::ArrayRef<double> times, llvm::raw_ostream &os);

} // namespace mlir::linattn

#endif // LINATTN_RUNNER_OUTPUTS_H
