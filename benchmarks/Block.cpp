//===- Block.cpp - a whole token mixer, beside its ops one after the other ----------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Convolutions, gates and norms around the gated delta rule, each as a pass over whole tensors:
// what the compiled program does in one.
//
//===----------------------------------------------------------------------------------------------===//

#include "Head.h"
#include "Problem.h"

#include <cmath>

namespace {

class BlockProblem : public Problem {
public:
  explicit BlockProblem(const Row &row);

private:
  void convolve(const Array<float> &x, const Array<float> &weights, Array<float> &y);
  void normalise(Array<float> &rows);
  void computeGates();
  void finish();
  void runLoops(Kernel kernel);

  Array<float> q, k, v, wq, wk, wv, a, b, rate, bias, z, norm;
  /// What the recurrence takes.
  Array<float> query, key, value, gate, beta;
};

} // namespace

constexpr float epsilon = 1e-5f;
constexpr int64_t width = 4;

static float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

BlockProblem::BlockProblem(const Row &row) : Problem(row) {
  int64_t gates = row.B * row.T * row.H, channels = row.H * row.K;
  for (Array<float> *array : {&q, &k, &v, &z, &query, &key, &value})
    *array = Array<float>(gates * row.K);
  for (Array<float> *array : {&wq, &wk, &wv})
    *array = Array<float>(width * channels);
  for (Array<float> *array : {&a, &b, &gate, &beta})
    *array = Array<float>(gates);
  rate = Array<float>(row.H);
  bias = Array<float>(row.H);
  norm = Array<float>(row.V);
  for (Array<float> *array : {&q, &k, &v, &wq, &wk, &wv, &a, &b, &rate, &z})
    for (float &x : *array)
      x = 2 * random() - 1;
  for (float &x : bias)
    x = random() - 3; // softplus of it is small
  for (float &x : norm)
    x = 0.5f + random();

  // In the order of program.py.
  std::vector<int64_t> perHead{row.B, row.T, row.H}, rows(perHead), weights{width, row.H, row.K};
  rows.push_back(row.K);
  for (Array<float> *array : {&q, &k, &v})
    descriptors.push_back(descriptor(array->data(), rows));
  for (Array<float> *array : {&wq, &wk, &wv})
    descriptors.push_back(descriptor(array->data(), weights));
  for (Array<float> *array : {&a, &b})
    descriptors.push_back(descriptor(array->data(), perHead));
  for (Array<float> *array : {&rate, &bias})
    descriptors.push_back(descriptor(array->data(), {row.H}));
  descriptors.push_back(descriptor(z.data(), rows));
  descriptors.push_back(descriptor(norm.data(), {row.V}));
  descriptors.push_back(descriptor(out.data(), rows));
  descriptors.push_back(descriptor(state.data(), {row.B, row.H, row.K, row.K}));
  operationsPerEntry = 6;
  if (Kernel kernel = findTokenLoop("gdn", row.K))
    tokenLoop = [this, kernel] { runLoops(kernel); };
}

void BlockProblem::convolve(const Array<float> &x, const Array<float> &weights, Array<float> &y) {
  int64_t channels = row.H * row.K;
  for (int64_t n = 0; n < row.B; ++n)
    for (int64_t t = 0; t < row.T; ++t)
      for (int64_t c = 0; c < channels; ++c) {
        float sum = 0;
        for (int64_t w = std::max<int64_t>(0, width - 1 - t); w < width; ++w)
          sum += x[(n * row.T + t + w - width + 1) * channels + c] * weights[w * channels + c];
        y[(n * row.T + t) * channels + c] = sum * sigmoid(sum);
      }
}

void BlockProblem::normalise(Array<float> &rows) {
  for (float *x = rows.begin(); x != rows.end(); x += row.K) {
    float square = 0;
    for (int64_t i = 0; i < row.K; ++i)
      square += x[i] * x[i];
    float scale = 1 / std::sqrt(square + epsilon);
    for (int64_t i = 0; i < row.K; ++i)
      x[i] *= scale;
  }
}

void BlockProblem::computeGates() {
  for (int64_t i = 0; i < a.size(); ++i) {
    float x = a[i] + bias[i % row.H];
    gate[i] = -std::exp(rate[i % row.H]) * (std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x))));
    beta[i] = sigmoid(b[i]);
  }
}

void BlockProblem::finish() {
  for (int64_t first = 0; first < out.size(); first += row.V) {
    float square = 0;
    for (int64_t i = 0; i < row.V; ++i)
      square += out[first + i] * out[first + i];
    float scale = 1 / std::sqrt(square / float(row.V) + epsilon);
    for (int64_t i = 0; i < row.V; ++i)
      out[first + i] *= scale * norm[i] * z[first + i] * sigmoid(z[first + i]);
  }
}

void BlockProblem::runLoops(Kernel kernel) {
  convolve(q, wq, query);
  convolve(k, wk, key);
  convolve(v, wv, value);
  normalise(query);
  normalise(key);
  for (float &x : query)
    x /= std::sqrt(float(row.K));
  computeGates();
  for (int64_t index = 0; index < row.B * row.H; ++index) {
    int64_t gates = index / row.H * row.T * row.H + index % row.H, rows = gates * row.K;
    kernel({query.data() + rows, key.data() + rows, value.data() + rows, gate.data() + gates,
            beta.data() + gates, nullptr, nullptr, out.data() + rows,
            state.data() + index * row.K * row.K, row.T, row.H * row.K, row.H, row.H});
  }
  finish();
}

std::unique_ptr<Problem> makeBlockProblem(const Row &row) {
  return std::make_unique<BlockProblem>(row);
}
