//===- Outputs.cpp - what becomes of results ----------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/Outputs.h"
#include "linattn/Runner/Arguments.h"
#include "linattn/Runner/NumpyFile.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::linattn;

llvm::Expected<Expectations> linattn::readExpectations(const OutputOptions &options,
                                                       unsigned numResults) {
  Expectations expectations(numResults);
  for (auto [index, item] : llvm::enumerate(options.expectations)) {
    auto [given, path] = splitPosition(item);
    unsigned position = given.value_or(index);
    if (position >= numResults)
      return llvm::createStringError("--expect: '" + item + "' is for result " + Twine(position) +
                                     ", but the function has " + Twine(numResults) + " results");
    if (expectations[position])
      return llvm::createStringError("--expect: result " + Twine(position) + " is given twice");
    auto array = readNumpyFile(path);
    if (!array)
      return array.takeError();
    expectations[position] = std::move(*array);
  }
  return std::move(expectations);
}

/// The type with the sizes that the result turned out to have.
static Type refineType(Type type, ArrayRef<int64_t> shape) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.clone(shape) : type;
}

llvm::Expected<bool> linattn::reportResults(ArrayRef<HostArray> results, ArrayRef<Type> types,
                                            const Expectations &expectations,
                                            const OutputOptions &options, llvm::raw_ostream &os) {
  bool allMatch = true;
  for (auto [position, result] : llvm::enumerate(results)) {
    if (!options.prefix.empty())
      if (llvm::Error error =
              writeNumpyFile(options.prefix + std::to_string(position) + ".npy", result))
        return error;
    os << "result " << position << ": " << refineType(types[position], result.getShape()) << ' ';
    if (!expectations[position]) {
      os << summarize(result) << '\n';
      continue;
    }
    HostArray &expected = const_cast<HostArray &>(*expectations[position]);
    // Raw 16-bit data stands for bf16 if the result is one.
    if (result.getElement() == Element::BF16 && expected.getElement() == Element::U16)
      expected.reinterpretAs(Element::BF16);
    Comparison comparison = compareArrays(result, expected, options.tolerance);
    os << comparison.text << '\n';
    allMatch &= comparison.matches;
  }
  return allMatch;
}

void linattn::reportTimes(ArrayRef<double> times, llvm::raw_ostream &os) {
  SmallVector<double> sorted(times);
  llvm::sort(sorted);
  size_t half = sorted.size() / 2;
  double median = sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  os << llvm::format("repeat: median %.6g ms, min %.6g ms, spread %.1f %% of %zu runs\n", median,
                     sorted.front(), 100 * (sorted.back() - sorted.front()) / median,
                     sorted.size());
}
