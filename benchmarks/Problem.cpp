//===- Problem.cpp - operands of one row, and what runs on them ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Problem.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

extern "C" void omp_set_num_threads(int);

float toFloat(uint16_t half) {
  uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::unique_ptr<Problem> makeProblem(const Row &row) {
  if (row.op == "scan")
    return makeScanProblem(row);
  return row.op == "gdn-block" ? makeBlockProblem(row) : makeHeadsProblem(row);
}

Problem::Problem(const Row &row)
    : row(row), out(row.B * row.T * row.H * row.V), program(findProgram(row)) {
  for (Array<float> *array : {&state, &initialState, &scratch})
    *array = Array<float>(row.B * row.H * row.K * row.V);
  for (float &x : initialState)
    x = 0.2f * (random() - 0.5f);
}

float Problem::random() {
  seed = seed * 1664525 + 1013904223;
  return float(seed >> 8) / float(1 << 24);
}

template <size_t... index>
static void call(void (*function)(), int64_t *results, std::vector<std::vector<int64_t>> &arguments,
                 std::index_sequence<index...>) {
  using Function = void (*)(int64_t *, decltype((void)index, (int64_t *)nullptr)...);
  reinterpret_cast<Function>(function)(results, arguments[index].data()...);
}

void Problem::runCompiled() {
  // Descriptors of the output and the state, which are those that were passed.
  int64_t results[2 * (3 + 2 * 4)];
  omp_set_num_threads(row.threads);
  switch (descriptors.size()) {
  case 6:
    return call(program->function, results, descriptors, std::make_index_sequence<6>());
  case 7:
    return call(program->function, results, descriptors, std::make_index_sequence<7>());
  case 8:
    return call(program->function, results, descriptors, std::make_index_sequence<8>());
  case 9:
    return call(program->function, results, descriptors, std::make_index_sequence<9>());
  case 14:
    return call(program->function, results, descriptors, std::make_index_sequence<14>());
  default:
    std::abort();
  }
}

void Problem::resetState() {
  std::memcpy(state.data(), initialState.data(), size_t(state.size()) * sizeof(float));
  std::fill(out.begin(), out.end(), std::numeric_limits<float>::quiet_NaN());
  std::fill(halfOut.begin(), halfOut.end(), uint16_t(0x7fc0)); // not a number, either
}

double Problem::difference(const Array<float> &values, const std::vector<float> &expected) {
  float most = 0, largest = 0;
  for (int64_t i = 0; i < values.size(); ++i) {
    float error = std::abs(values[i] - expected[size_t(i)]);
    if (!(error < std::numeric_limits<float>::infinity()))
      return std::numeric_limits<double>::infinity();
    most = std::max(most, error);
    largest = std::max(largest, std::abs(expected[size_t(i)]));
  }
  return double(most) / double(largest);
}

std::string Problem::check() {
  if (!program)
    return "no such program was compiled";
  if (!tokenLoop)
    return "there is no token loop of this size";
  resetState();
  tokenLoop();
  std::vector<float> expectedOut(out.begin(), out.end());
  std::vector<float> expectedState(state.begin(), state.end());

  // A bf16 output is rounded to 8 bits.
  double tolerance = row.dtype == "bf16" ? 8e-3 : 1e-3;
  auto compare = [&](const char *name) -> std::string {
    double error = std::max(difference(out, expectedOut), difference(state, expectedState));
    return error <= tolerance ? "" : std::string(name) + " is off by " + std::to_string(error);
  };
  std::string problems;
  for (const auto &[name, baseline] : {std::pair("the chunk loop", chunkLoop),
                                       {"the hand-written one-pass kernel", handOnePass},
                                       {"the hand-written chunk kernel", handChunks}})
    if (baseline && problems.empty()) {
      resetState();
      baseline();
      problems = compare(name);
    }
  if (!problems.empty())
    return problems;
  resetState();
  runCompiled();
  for (int64_t i = 0; i < halfOut.size(); ++i)
    out[i] = toFloat(halfOut[i]);
  return compare("the compiled program");
}
