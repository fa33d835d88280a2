//===- Heads.cpp - problems of heads with a state of K x V --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Head.h"
#include "Machine.h"
#include "Problem.h"

#include <cmath>
#include <cstring>

namespace {

/// Rounds the values towards zero to bf16 and returns that form of them.
Array<uint16_t> roundToHalves(Array<float> &values) {
  Array<uint16_t> halves(values.size());
  for (int64_t i = 0; i < values.size(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, &values[i], sizeof bits);
    halves[i] = uint16_t(bits >> 16);
    values[i] = toFloat(halves[i]);
  }
  return halves;
}

class HeadsProblem : public Problem {
public:
  explicit HeadsProblem(const Row &row);

private:
  void fill();
  void describe();
  void run(Kernel kernel);

  bool channelDecay;
  Array<float> q, k, v, a, b, g, beta;
  /// What the program takes instead of the arrays above if its dtype is bf16: upper halves of f32.
  std::vector<Array<uint16_t>> halves;
  Array<int32_t> offsets;
};

} // namespace

HeadsProblem::HeadsProblem(const Row &row)
    : Problem(row), channelDecay(row.op == "gla" || row.op == "kda" || row.op == "rwkv7") {
  int64_t gates = row.B * row.T * row.H, elements = gates * row.K;
  for (Array<float> *array : {&q, &k, &v})
    *array = Array<float>(elements);
  g = Array<float>(channelDecay ? elements : gates);
  if (row.op == "gdn" || row.op == "kda")
    beta = Array<float>(gates);
  if (row.op == "rwkv7") {
    a = Array<float>(elements);
    b = Array<float>(elements);
  }
  fill();
  describe();
  operationsPerEntry = beta.size() ? 6 : a.size() ? 8 : 4;
  auto baseline = [this](Kernel kernel) -> std::function<void()> {
    if (!kernel)
      return nullptr;
    return [this, kernel] { run(kernel); };
  };
  tokenLoop = baseline(findTokenLoop(row.op, row.K));
  chunkLoop = baseline(findChunkLoop(row.op, row.K));
  handOnePass = baseline(findHandOnePass(row.op, row.K));
  handChunks = baseline(findHandChunks(row.op, row.K));
}

void HeadsProblem::fill() {
  auto fillUnitRows = [&](Array<float> &array) {
    for (float *rows = array.begin(); rows != array.end(); rows += row.K) {
      float square = 0;
      for (int64_t i = 0; i < row.K; ++i) {
        rows[i] = random() - 0.5f;
        square += rows[i] * rows[i];
      }
      for (int64_t i = 0; i < row.K; ++i)
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
}

/// In the order of program.py.
void HeadsProblem::describe() {
  bool isHalf = row.dtype == "bf16";
  std::vector<int64_t> gate{row.B, row.T, row.H};
  if (row.packed)
    gate = {row.B * row.T, row.H};
  std::vector<int64_t> token = gate;
  token.push_back(row.K);
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
  descriptors.push_back(descriptor(state.data(), {row.B, row.H, row.K, row.K}));
}

void HeadsProblem::run(Kernel kernel) {
  forEach(row.threads, row.B * row.H, [&](int64_t index) {
    int64_t batch = index / row.H, head = index % row.H, gates = batch * row.T * row.H + head;
    int64_t rows = gates * row.K, channels = channelDecay ? row.K : 1;
    auto at = [](Array<float> &array, int64_t offset) {
      return array.size() ? array.data() + offset : nullptr;
    };
    kernel({at(q, rows), at(k, rows), at(v, rows), at(g, gates * channels), at(beta, gates),
            at(a, rows), at(b, rows), at(out, rows), state.data() + index * row.K * row.K, row.T,
            row.H * row.K, row.H * channels, row.H});
  });
}

std::unique_ptr<Problem> makeHeadsProblem(const Row &row) {
  return std::make_unique<HeadsProblem>(row);
}
