//===- Main.cpp - runs the benchmarks and compares medians --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Repetitions of all benchmarks are interleaved at random, because the speed of a shared machine
// drifts; figures are medians of one run.
//
//===----------------------------------------------------------------------------------------------===//

#include "Report.h"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <map>
#include <vector>

namespace {

struct Comparison {
  std::string name, a, b;
};

std::vector<Comparison> &getComparisons() {
  static std::vector<Comparison> comparisons;
  return comparisons;
}

/// Prints as usual and keeps the medians.
class MedianReporter : public benchmark::ConsoleReporter {
public:
  void ReportRuns(const std::vector<Run> &runs) override {
    for (const Run &run : runs)
      if (run.aggregate_name == "median")
        medians[run.run_name.function_name] = run.GetAdjustedRealTime();
    benchmark::ConsoleReporter::ReportRuns(runs);
  }

  std::map<std::string, double> medians;
};

} // namespace

void compareMedians(const std::string &name, const std::string &a, const std::string &b) {
  getComparisons().push_back({name, a, b});
}

int main(int argc, char **argv) {
  // Defaults first, so that the command line can change them.
  std::vector<std::string> arguments{
      argv[0], "--benchmark_repetitions=15", "--benchmark_min_time=0.05",
      "--benchmark_enable_random_interleaving=true", "--benchmark_report_aggregates_only=true"};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  int count = pointers.size();
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data()))
    return 1;
  MedianReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  for (const Comparison &comparison : getComparisons())
    if (reporter.medians.count(comparison.a) && reporter.medians.count(comparison.b))
      std::printf("%s: %s / %s = %.2f\n", comparison.name.c_str(), comparison.a.c_str(),
                  comparison.b.c_str(),
                  reporter.medians[comparison.a] / reporter.medians[comparison.b]);
  return 0;
}
