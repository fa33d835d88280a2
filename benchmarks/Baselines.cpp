//===- Baselines.cpp - loops that are left to the C++ compiler ----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Head.h"

#include <cmath>
#include <cstring>

namespace {

/// exp of a log decay (at most 0) without a call or a branch, so that loops over it are vectorised.
float expOfDecay(float x) {
  x = x < -87 ? -87 : x;
  float n = __builtin_rintf(x * 1.44269504f), r = x - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  for (float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 0.5f})
    p = p * r + c;
  int32_t bits = (int32_t(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return (p * r * r + r + 1) * scale;
}

template <int D, bool channelDecay> void decays(const Head &head, int64_t t, float *d) {
  const float *g = head.g + t * head.gateStride;
  for (int i = 0; i < D; ++i)
    d[i] = expOfDecay(g[channelDecay ? i : 0]);
}

/// Token by token over a state that stays in cache: the recurrence as one would write it down.
template <int D, Write write, bool channelDecay> struct TokenLoop {
  static void run(const Head &head) {
    alignas(64) float S[D * D], u[D], r[D], o[D], d[D];
    std::memcpy(S, head.state, sizeof S);
    for (int64_t t = 0; t < head.tokens; ++t) {
      int64_t row = t * head.stride;
      const float *q = head.q + row, *k = head.k + row, *v = head.v + row;
      decays<D, channelDecay>(head, t, d);
      for (int j = 0; j < D; ++j)
        u[j] = r[j] = o[j] = 0;
      if constexpr (write == Write::Dplr)
        for (int i = 0; i < D; ++i)
          for (int j = 0; j < D; ++j)
            r[j] += head.a[row + i] * S[i * D + j];
      if constexpr (write == Write::Delta)
        for (int i = 0; i < D; ++i)
          for (int j = 0; j < D; ++j)
            u[j] += k[i] * d[i] * S[i * D + j];
      for (int j = 0; j < D; ++j)
        u[j] = write == Write::Delta ? head.beta[t * head.betaStride] * (v[j] - u[j]) : v[j];
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) {
          float s = S[i * D + j] * d[i] + k[i] * u[j];
          if constexpr (write == Write::Dplr)
            s += head.b[row + i] * r[j];
          S[i * D + j] = s;
          o[j] += q[i] * s;
        }
      std::memcpy(head.out + row, o, sizeof o);
    }
    std::memcpy(head.state, S, sizeof S);
  }
};

/// Chunks of 16 tokens with plain loops: pairs of tokens, then products with the state.
template <int D, Write write, bool channelDecay> struct ChunkLoop {
  static constexpr int C = 16;
  using Matrix = float[C][D];

  static float dot(const float *x, const float *y) {
    float sum = 0;
    for (int i = 0; i < D; ++i)
      sum += x[i] * y[i];
    return sum;
  }
  static void add(float *y, float factor, const float *x) {
    for (int j = 0; j < D; ++j)
      y[j] += factor * x[j];
  }
  static void multiply(float *y, const float *x, const float *z) {
    for (int j = 0; j < D; ++j)
      y[j] = x[j] * z[j];
  }

  /// queries[i][j]: token j's write vector `w`, decayed up to token i, times q of i; `reads` the
  /// same for the vectors that tokens read the state with (DPLR: before their own decay).
  static void pairs(const Head &head, int64_t t0, int n, const float *w, const Matrix &d,
                    float (&queries)[C][C], float (&reads)[C][C]) {
    const float *reader = write == Write::Dplr ? head.a : head.k;
    alignas(64) float x[D];
    for (int j = 0; j < n; ++j) {
      std::memcpy(x, w + (t0 + j) * head.stride, sizeof x);
      for (int i = j; i < n; ++i) {
        if (write == Write::Dplr && i > j)
          reads[i][j] = dot(x, reader + (t0 + i) * head.stride);
        if (i > j)
          multiply(x, x, d[i]);
        if (write == Write::Delta && i > j)
          reads[i][j] = dot(x, reader + (t0 + i) * head.stride);
        queries[i][j] = dot(x, head.q + (t0 + i) * head.stride);
      }
    }
  }

  /// y = (x * factor) S, or x S without a factor.
  static void readState(float *y, const float *x, const float *factor, const float *S) {
    std::memset(y, 0, D * sizeof(float));
    for (int i = 0; i < D; ++i)
      add(y, factor ? x[i] * factor[i] : x[i], S + i * D);
  }

  static void run(const Head &head) {
    alignas(64) float S[D * D];
    alignas(64) Matrix d, before, after, u, r;
    float queriesK[C][C], readsK[C][C], queriesB[C][C], readsB[C][C];
    std::memcpy(S, head.state, sizeof S);
    for (int64_t t0 = 0; t0 < head.tokens; t0 += C) {
      int n = head.tokens - t0 < C ? int(head.tokens - t0) : C;
      for (int i = 0; i < n; ++i) {
        decays<D, channelDecay>(head, t0 + i, d[i]);
        for (int c = 0; c < D; ++c)
          before[i][c] = i ? before[i - 1][c] * d[i][c] : d[i][c];
      }
      for (int i = n - 1; i >= 0; --i)
        for (int c = 0; c < D; ++c)
          after[i][c] = i == n - 1 ? 1 : after[i + 1][c] * d[i + 1][c];
      pairs(head, t0, n, head.k, d, queriesK, readsK);
      if constexpr (write == Write::Dplr)
        pairs(head, t0, n, head.b, d, queriesB, readsB);

      for (int i = 0; i < n; ++i) {
        int64_t row = (t0 + i) * head.stride;
        std::memcpy(u[i], head.v + row, sizeof u[i]);
        if constexpr (write == Write::Delta) {
          readState(r[i], head.k + row, before[i], S);
          for (int j = 0; j < i; ++j)
            add(r[i], readsK[i][j], u[j]);
          float beta = head.beta[(t0 + i) * head.betaStride];
          for (int c = 0; c < D; ++c)
            u[i][c] = beta * (u[i][c] - r[i][c]);
        }
        if constexpr (write == Write::Dplr) {
          readState(r[i], head.a + row, i ? before[i - 1] : nullptr, S);
          for (int j = 0; j < i; ++j) {
            add(r[i], readsK[i][j], u[j]);
            add(r[i], readsB[i][j], r[j]);
          }
        }
        alignas(64) float o[D];
        readState(o, head.q + row, before[i], S);
        for (int j = 0; j <= i; ++j) {
          add(o, queriesK[i][j], u[j]);
          if constexpr (write == Write::Dplr)
            add(o, queriesB[i][j], r[j]);
        }
        std::memcpy(head.out + row, o, sizeof o);
      }
      for (int i = 0; i < D; ++i) {
        for (int j = 0; j < D; ++j)
          S[i * D + j] *= before[n - 1][i];
        for (int m = 0; m < n; ++m) {
          int64_t at = (t0 + m) * head.stride + i;
          add(S + i * D, head.k[at] * after[m][i], u[m]);
          if constexpr (write == Write::Dplr)
            add(S + i * D, head.b[at] * after[m][i], r[m]);
        }
      }
    }
    std::memcpy(head.state, S, sizeof S);
  }
};

} // namespace

Kernel findTokenLoop(const std::string &op, int64_t size) { return select<TokenLoop>(op, size); }
Kernel findChunkLoop(const std::string &op, int64_t size) { return select<ChunkLoop>(op, size); }
