//===- Main.cpp - measures rows beside their baselines ------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Every row is a benchmark of Google Benchmark, with one round per repetition: the machine's peak
// and bandwidth, the compiled program, the baselines. So all are measured in turns, because the
// speed of a shared machine drifts. docs/Benchmarks.md explains the columns.
//
//===----------------------------------------------------------------------------------------------===//

#include "Machine.h"
#include "Problem.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <thread>

extern "C" void kmp_set_blocktime(int);

namespace {

constexpr int spinMilliseconds = 1;

struct Options {
  bool quick = false, cpuTime = false;
  std::string csv, filter;
};

/// Times and rates of the rounds of one row.
struct Samples {
  std::vector<double> compiled, tokenLoop, chunkLoop, handOnePass, handChunks, fmaPeak, bf16Peak,
      bandwidth;
};

struct Measured {
  Row row;
  Samples samples;
  double operations = 0, bytes = 0;
  std::string error;
};

/// The value below which `part` of the values lie.
double quantile(std::vector<double> values, double part) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  return values[size_t(part * double(values.size() - 1) + 0.5)];
}
double median(const std::vector<double> &values) { return quantile(values, 0.5); }

/// Seconds of one call: of a few, where one is too short for the clock.
template <typename Run> double timeOf(bool cpuTime, const Run &run) {
  double start = now(cpuTime), seconds = 0;
  for (int calls = 1;; ++calls) {
    run();
    seconds = now(cpuTime) - start;
    if (seconds > 1e-3)
      return seconds / calls;
  }
}

void measureRound(Measured &measured, bool cpuTime, benchmark::State &bench) {
  // Repetitions of a row follow each other.
  static std::unique_ptr<Problem> problem;
  static const Measured *current = nullptr;
  if (current != &measured) {
    current = &measured;
    problem.reset(); // before the next one takes its memory
    problem = makeProblem(measured.row);
    measured.error = problem->check();
    measured.operations = problem->minimalOperations();
    measured.bytes = problem->minimalBytes();
  }
  if (!measured.error.empty()) {
    bench.SkipWithError(measured.error.c_str());
    return;
  }
  int threads = measured.row.threads;
  bool cpu = cpuTime && threads == 1; // other threads have clocks of their own
  Samples &samples = measured.samples;
  for (auto _ : bench) {
    samples.fmaPeak.push_back(measureFmaPeak(threads, cpu));
    samples.bf16Peak.push_back(measureBf16Peak(threads, cpu));
    samples.bandwidth.push_back(
        measureInPlaceBandwidth(problem->scratch.data(), problem->scratch.size(), threads, cpu));
    if (threads > 1) // wakes OpenMP's threads, as the layer before does in a model
      problem->runCompiled();
    samples.compiled.push_back(timeOf(cpu, [&] { problem->runCompiled(); }));
    if (threads > 1) // OpenMP's threads spin for a while after their work
      std::this_thread::sleep_for(std::chrono::milliseconds(2 * spinMilliseconds));
    auto measure = [&](const std::function<void()> &baseline, std::vector<double> &times) {
      if (baseline)
        times.push_back(timeOf(cpu, baseline));
    };
    measure(problem->tokenLoop, samples.tokenLoop);
    measure(problem->chunkLoop, samples.chunkLoop);
    measure(problem->handOnePass, samples.handOnePass);
    measure(problem->handChunks, samples.handChunks);
    bench.SetIterationTime(samples.compiled.back());
  }
}

/// Prints one line per row as soon as it is measured, and writes the CSV file.
class TableReporter : public benchmark::BenchmarkReporter {
public:
  TableReporter(std::map<std::string, Measured> &rows, const Options &options)
      : rows(rows), csv(options.csv) {
    if (csv.is_open())
      csv << "operator,dtype,B,H,T,K,V,threads,plan,time_ms,spread,tokens_per_s,efficiency,pct_"
             "peak,"
             "speedup_onepass,speedup_hand\n";
  }

  bool ReportContext(const Context &) override {
    printLoad();
    std::printf("%-52s %10s %6s %10s %5s %6s | times faster than\n%-52s %10s %6s %10s %5s %6s"
                " %7s %7s %7s\n",
                "", "time", "spread", "tokens", "effi-", "of", "operator/dtype/shape/threads/plan",
                "ms", "%", "per s", "ciency", "peak", "onepass", "chunks", "hand");
    return true;
  }

  void ReportRuns(const std::vector<Run> &runs) override {
    const Measured &measured = rows.at(runs.front().run_name.function_name);
    if (runs.front().run_type == Run::RT_Aggregate)
      return;
    const Row &row = measured.row;
    if (!measured.error.empty()) {
      std::printf("%-52s ERROR: %s\n", row.name().c_str(), measured.error.c_str());
      return;
    }
    report(row, measured);
    std::fflush(stdout);
  }

  void Finalize() override {
    printRatios();
    if (!fma.empty())
      std::printf("one thread, medians of all rounds: FMA %.0f GFLOP/s (f32)", median(fma) / 1e9);
    if (median(bf16) > 0)
      std::printf(", bf16 dot products %.0f GFLOP/s", median(bf16) / 1e9);
    constexpr int64_t count = int64_t(1) << 25;
    Array<float> large(count);
    std::vector<double> rates;
    for (int i = 0; i < 7; ++i)
      rates.push_back(measureInPlaceBandwidth(large.data(), count, 1, false));
    std::printf("%s128 MiB read and written in place %.1f GB/s\n", fma.empty() ? "" : ", ",
                median(rates) / 1e9);
    printLoad();
  }

private:
  /// Time per token of neighbouring lengths (growth, tails and packed sequences), and of a block to
  /// that of its recurrence.
  void printRatios() const {
    auto tokensPerSecond = [&](const Row &row) {
      auto measured = rows.find(row.name());
      if (measured == rows.end() || measured->second.samples.compiled.empty())
        return 0.0;
      return double(row.B * row.T) / median(measured->second.samples.compiled);
    };
    for (const auto &[name, measured] : rows) {
      Row other = measured.row;
      if (other.threads > 1 || other.plan != "default")
        continue;
      if (other.op == "gdn-block") {
        other.op = "gdn";
        double rate = tokensPerSecond(measured.row), bareRate = tokensPerSecond(other);
        if (rate > 0 && bareRate > 0)
          std::printf("%s: time per token %.2f of that of the recurrence alone\n", name.c_str(),
                      bareRate / rate);
        continue;
      }
      for (auto [T, base] : {std::pair(65536, 4096), {63, 64}, {65, 64}, {2047, 2048}, {32, 64}}) {
        if (other.T != T)
          continue;
        other.T = base;
        other.B = other.packed ? 2048 / base : other.B;
        double rate = tokensPerSecond(measured.row), baseRate = tokensPerSecond(other);
        if (rate > 0 && baseRate > 0)
          std::printf("%s: time per token %.2f of that of T %d\n", name.c_str(), baseRate / rate,
                      base);
        break;
      }
    }
  }

  static void printLoad() {
    double load[3] = {};
    getloadavg(load, 3);
    std::printf("load average: %.2f %.2f %.2f%s\n", load[0], load[1], load[2],
                load[0] > 1.5 ? " (the machine is busy: figures are unreliable)" : "");
  }

  void report(const Row &row, const Measured &measured) {
    const Samples &samples = measured.samples;
    if (row.threads == 1) {
      fma.insert(fma.end(), samples.fmaPeak.begin(), samples.fmaPeak.end());
      bf16.insert(bf16.end(), samples.bf16Peak.begin(), samples.bf16Peak.end());
    }
    double time = median(samples.compiled);
    double spread = (quantile(samples.compiled, 0.75) - quantile(samples.compiled, 0.25)) / time;
    double tokens = double(row.B * row.T) / time;
    double peak = median(samples.fmaPeak);
    if (row.dtype == "bf16")
      peak = std::max(peak, median(samples.bf16Peak));
    double least = std::max(measured.operations / peak, measured.bytes / median(samples.bandwidth));
    double efficiency = least / time, percent = 100 * measured.operations / peak / time;
    std::printf("%-52s %10.4f %6.1f %10.0f %5.2f %6.1f", row.name().c_str(), 1e3 * time,
                100 * spread, tokens, efficiency, percent);
    // The faster of the two.
    double hand = median(samples.handOnePass);
    if (!samples.handChunks.empty())
      hand = std::min(hand, median(samples.handChunks));
    for (double baseline : {median(samples.tokenLoop), median(samples.chunkLoop), hand})
      if (baseline > 0)
        std::printf(" %7.2f", baseline / time);
      else
        std::printf(" %7s", "-");
    std::printf("\n");
    if (!csv.is_open())
      return;
    csv << row.op << (row.packed ? "-packed," : ",") << row.dtype << ',' << row.B << ',' << row.H
        << ',' << row.T << ',' << row.K << ',' << row.V << ',' << row.threads << ',' << row.plan
        << ',' << 1e3 * time << ',' << spread << ',' << tokens << ',' << efficiency << ','
        << percent << ',' << median(samples.tokenLoop) / time << ',';
    if (hand > 0)
      csv << hand / time;
    csv << std::endl;
  }

  std::map<std::string, Measured> &rows;
  std::ofstream csv;
  std::vector<double> fma, bf16;
};

/// Takes our options off the command line; what is left is Google Benchmark's.
Options parseOptions(std::vector<char *> &arguments) {
  Options options;
  std::vector<char *> others{arguments.front()};
  for (size_t i = 1; i < arguments.size(); ++i) {
    std::string argument = arguments[i];
    bool hasValue = argument == "--csv" || argument == "--filter";
    if (hasValue && i + 1 == arguments.size()) {
      std::fprintf(stderr, "linattn-bench: expected a value after %s\n", argument.c_str());
      std::exit(2);
    }
    if (hasValue)
      (argument == "--csv" ? options.csv : options.filter) = arguments[++i];
    else if (argument == "--quick")
      options.quick = true;
    else if (argument == "--cpu-time")
      options.cpuTime = true;
    else if (argument == "--small-pages")
      usesHugePages = false;
    else
      others.push_back(arguments[i]);
  }
  arguments = others;
  return options;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<char *> arguments(argv, argv + argc);
  Options options = parseOptions(arguments);
  // First, so that the command line can change it.
  std::string repetitions =
      options.quick ? "--benchmark_repetitions=7" : "--benchmark_repetitions=15";
  arguments.insert(arguments.begin() + 1, repetitions.data());
  int count = int(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data()))
    return 2;

  std::map<std::string, Measured> rows;
  std::regex filter(options.filter);
  for (const Row &row : makeRows()) {
    std::string name = row.name();
    if ((options.quick && !row.quick) || !std::regex_search(name, filter))
      continue;
    // A row that belongs to two series is measured once.
    auto [place, isNew] = rows.try_emplace(name);
    if (!isNew)
      continue;
    place->second.row = row;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [measured = &place->second, options](benchmark::State &bench) {
                                   measureRound(*measured, options.cpuTime, bench);
                                 })
        ->Iterations(1)
        ->UseManualTime();
  }
  if (rows.empty()) {
    std::fprintf(stderr, "linattn-bench: no row matches '%s'\n", options.filter.c_str());
    return 2;
  }
  kmp_set_blocktime(spinMilliseconds);
  TableReporter reporter(rows, options);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  bool hasFailed = false;
  for (const auto &[name, measured] : rows)
    hasFailed |= !measured.error.empty();
  return hasFailed;
}
