//===- Problem.cpp - operands of one row, and what runs on them ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Problem.h"

#include "Machine.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

extern "C" void omp_set_num_threads(int);

static float toFloat(uint16_t half) {
  uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Rounds the values towards zero to bf16 and returns that form of them.
static Array<uint16_t> roundToHalves(Array<float> &values) {
  Array<uint16_t> halves(values.size());
  for (int64_t i = 0; i < values.size(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, &values[i], sizeof bits);
    halves[i] = uint16_t(bits >> 16);
    values[i] = toFloat(halves[i]);
  }
  return halves;
}

Problem::Problem(const Row &row)
    : tokenLoop(findTokenLoop(row.op, row.size)), chunkLoop(findChunkLoop(row.op, row.size)),
      handOnePass(findHandOnePass(row.op, row.size)), handChunks(findHandChunks(row.op, row.size)),
      row(row), program(findProgram(row)),
      channelDecay(row.op == "gla" || row.op == "kda" || row.op == "rwkv7") {
  int64_t gates = row.B * row.T * row.H, elements = gates * row.size;
  for (Array<float> *array : {&q, &k, &v, &out})
    *array = Array<float>(elements);
  g = Array<float>(channelDecay ? elements : gates);
  if (row.op == "gdn" || row.op == "kda")
    beta = Array<float>(gates);
  if (row.op == "rwkv7") {
    a = Array<float>(elements);
    b = Array<float>(elements);
  }
  for (Array<float> *array : {&state, &initialState, &scratch})
    *array = Array<float>(row.B * row.H * row.size * row.size);
  fill();
  describe();
}

void Problem::fill() {
  uint32_t seed = 1;
  auto random = [&] { // in [0, 1)
    seed = seed * 1664525 + 1013904223;
    return float(seed >> 8) / float(1 << 24);
  };
  auto fillUnitRows = [&](Array<float> &array) {
    for (float *rows = array.begin(); rows != array.end(); rows += row.size) {
      float square = 0;
      for (int64_t i = 0; i < row.size; ++i) {
        rows[i] = random() - 0.5f;
        square += rows[i] * rows[i];
      }
      for (int64_t i = 0; i < row.size; ++i)
        rows[i] /= std::sqrt(square);
    }
  };
  for (Array<float> *array : {&q, &k, &a})
    fillUnitRows(*array);
  for (float &x : v)
    x = 2 * random() - 1;
  for (float &x : g)
    x = -0.2f * random();
  for (float &x : beta)
    x = random();
  for (int64_t i = 0; i < a.size(); ++i) {
    b[i] = a[i] * random(); // erases along a
    a[i] = -a[i];
  }
  for (float &x : initialState)
    x = 0.2f * (random() - 0.5f);
}

/// In the order of program.py.
void Problem::describe() {
  bool isHalf = row.dtype == "bf16";
  std::vector<int64_t> gate{row.B, row.T, row.H};
  if (row.packed)
    gate = {row.B * row.T, row.H};
  std::vector<int64_t> token = gate;
  token.push_back(row.size);
  auto addRows = [&](Array<float> &array) {
    const void *data = array.data();
    if (isHalf) {
      halves.push_back(roundToHalves(array));
      data = halves.back().data();
    }
    descriptors.push_back(descriptor(data, token));
  };
  addRows(q);
  addRows(k);
  addRows(v);
  descriptors.push_back(descriptor(g.data(), channelDecay ? token : gate));
  if (beta.size())
    descriptors.push_back(descriptor(beta.data(), gate));
  if (a.size()) {
    addRows(a);
    addRows(b);
  }
  if (row.packed) {
    offsets = Array<int32_t>(row.B + 1);
    for (int64_t n = 0; n <= row.B; ++n)
      offsets[n] = int32_t(n * row.T);
    descriptors.push_back(descriptor(offsets.data(), {row.B + 1}));
  }
  if (isHalf) {
    halfOut = Array<uint16_t>(out.size());
    descriptors.push_back(descriptor(halfOut.data(), token));
  } else {
    descriptors.push_back(descriptor(out.data(), token));
  }
  descriptors.push_back(descriptor(state.data(), {row.B, row.H, row.size, row.size}));
}

double Problem::minimalOperations() const {
  double perEntry = beta.size() ? 6 : a.size() ? 8 : 4;
  return perEntry * double(row.B * row.T * row.H) * double(row.size * row.size);
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
  default:
    std::abort();
  }
}

void Problem::run(Kernel kernel) {
  forEach(row.threads, row.B * row.H, [&](int64_t index) {
    int64_t batch = index / row.H, head = index % row.H, gates = batch * row.T * row.H + head;
    int64_t rows = gates * row.size, channels = channelDecay ? row.size : 1;
    auto at = [](Array<float> &array, int64_t offset) {
      return array.size() ? array.data() + offset : nullptr;
    };
    kernel({at(q, rows), at(k, rows), at(v, rows), at(g, gates * channels), at(beta, gates),
            at(a, rows), at(b, rows), at(out, rows), state.data() + index * row.size * row.size,
            row.T, row.H * row.size, row.H * channels, row.H});
  });
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
  run(tokenLoop);
  std::vector<float> expectedOut(out.begin(), out.end());
  std::vector<float> expectedState(state.begin(), state.end());

  // A bf16 output is rounded to 8 bits.
  double tolerance = row.dtype == "bf16" ? 8e-3 : 1e-3;
  auto compare = [&](const char *name) -> std::string {
    double error = std::max(difference(out, expectedOut), difference(state, expectedState));
    return error <= tolerance ? "" : std::string(name) + " is off by " + std::to_string(error);
  };
  std::string problems;
  for (auto [name, kernel] : {std::pair("the chunk loop", chunkLoop),
                              {"the hand-written one-pass kernel", handOnePass},
                              {"the hand-written chunk kernel", handChunks}})
    if (kernel && problems.empty()) {
      resetState();
      run(kernel);
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
