//===- Chunk8.h - chunks of 8 tokens, solved in registers ---------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Per slab of 32 value columns, with 8 x 32 sums in registers: what the tokens read from the state,
// the triangular system of what they write, their outputs, then the new state. Additive writes and
// delta rules; a decay per head is one that all channels share.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_HAND_CHUNK8_H
#define LINATTN_BENCHMARKS_HAND_CHUNK8_H

#include "OnePass.h"

namespace hand {

/// For a number of tokens that is a multiple of 8.
template <int D, Write write, bool channelDecay> class Chunk8 {
  static constexpr int C = 8, W = 2, slabWidth = 16 * W, slabs = D / slabWidth;
  static constexpr int row = D + 16;
  static constexpr bool readsKeys = write == Write::Delta;
  using Sums = Vector[C][W];

  alignas(64) float queries[C * row], keyReads[C * row], writes[C * row], total[D];
  alignas(64) float pairs[C * 16], beta[C], u[C * slabWidth], S[D * D];
  /// Lines of the next chunk, fetched one per step of the products with the state.
  const float *ahead[C * 5 * (D / 16) + 1];
  int fetched, fetches;

  void planFetches(const Head &head, int64_t t) {
    fetched = fetches = 0;
    for (int64_t n = t; t + C <= head.tokens && n < t + C; ++n)
      for (int c = 0; c < D; c += 16) {
        for (const float *rows : {head.q, head.k, head.v, (const float *)head.out})
          ahead[fetches++] = rows + n * head.stride + c;
        if (channelDecay)
          ahead[fetches++] = head.g + n * head.gateStride + c;
      }
    ahead[fetches] = S;
  }

  ALWAYS_INLINE void prepare(const Head &head, int64_t t) {
    planFetches(head, t + C);
    alignas(64) float d[C * D], shared[16] = {};
    if constexpr (!channelDecay) {
      for (int n = 0; n < C; ++n)
        shared[n] = head.g[(t + n) * head.gateStride];
      store(shared, exp(load(shared)));
    }
    for (int n = 0; readsKeys && n < C; ++n)
      beta[n] = head.beta[(t + n) * head.betaStride];
    for (int c = 0; c < D; c += 16) {
      Vector before = splat(1), after = splat(1), dn[C];
#pragma unroll
      for (int n = 0; n < C; ++n) {
        int64_t at = (t + n) * head.stride + c;
        dn[n] = channelDecay ? exp(load(head.g + (t + n) * head.gateStride + c)) : splat(shared[n]);
        store(d + n * D + c, dn[n]);
        before = mul(before, dn[n]);
        store(queries + n * row + c, mul(before, load(head.q + at)));
        if constexpr (readsKeys)
          store(keyReads + n * row + c, mul(before, load(head.k + at)));
      }
      store(total + c, before);
#pragma unroll
      for (int n = C - 1; n >= 0; --n) {
        store(writes + n * row + c, mul(after, load(head.k + (t + n) * head.stride + c)));
        after = mul(after, dn[n]);
      }
    }
    channelPairs<D, C, write>(head, t, head.k, d, pairs);
  }

  /// sums[r] += the sum over i < D of rows[r][i] slab[i].
  ALWAYS_INLINE void readState(const float *rows, const float *slab, Sums &sums) {
    int next = fetched;
    for (int i = 0; i < D; ++i) {
      _mm_prefetch(reinterpret_cast<const char *>(ahead[next]), _MM_HINT_T1);
      next += next < fetches;
      Vector s[W] = {load(slab + i * slabWidth), load(slab + i * slabWidth + 16)};
#pragma unroll
      for (int r = 0; r < C; ++r)
#pragma unroll
        for (int w = 0; w < W; ++w)
          sums[r][w] = fma(splat(rows[r * row + i]), s[w], sums[r][w]);
    }
    fetched = next;
  }

  ALWAYS_INLINE void clear(Sums &sums) {
#pragma unroll
    for (int r = 0; r < C; ++r)
#pragma unroll
      for (int w = 0; w < W; ++w)
        sums[r][w] = splat(0);
  }

  /// What the tokens write in these columns.
  ALWAYS_INLINE void solve(const Head &head, int64_t t, int column, Sums &sums) {
#pragma unroll
    for (int i = 0; i < C; ++i)
#pragma unroll
      for (int w = 0; w < W; ++w) {
        Vector x = load(head.v + (t + i) * head.stride + column + 16 * w);
        if constexpr (readsKeys) {
          x = _mm512_sub_ps(x, sums[i][w]);
#pragma unroll
          for (int j = 0; j < i; ++j)
            x = fnma(splat(pairs[j * 16 + 2 * (i - j)]), sums[j][w], x);
          x = mul(x, splat(beta[i]));
        }
        sums[i][w] = x;
        store(u + i * slabWidth + 16 * w, x);
      }
  }

  ALWAYS_INLINE void writeState(float *slab) {
    for (int i0 = 0; i0 < D; i0 += C) {
      Sums s;
#pragma unroll
      for (int r = 0; r < C; ++r)
#pragma unroll
        for (int w = 0; w < W; ++w)
          s[r][w] = mul(splat(total[i0 + r]), load(slab + (i0 + r) * slabWidth + 16 * w));
      for (int n = 0; n < C; ++n)
#pragma unroll
        for (int r = 0; r < C; ++r)
#pragma unroll
          for (int w = 0; w < W; ++w)
            s[r][w] =
                fma(splat(writes[n * row + i0 + r]), load(u + n * slabWidth + 16 * w), s[r][w]);
#pragma unroll
      for (int r = 0; r < C; ++r)
#pragma unroll
        for (int w = 0; w < W; ++w)
          store(slab + (i0 + r) * slabWidth + 16 * w, s[r][w]);
    }
  }

  __attribute__((noinline)) void runSlab(const Head &head, int64_t t, int slab) {
    float *state = S + slab * D * slabWidth;
    int column = slab * slabWidth;
    Sums sums;
    clear(sums);
    if constexpr (readsKeys)
      readState(keyReads, state, sums);
    solve(head, t, column, sums);
    clear(sums);
    readState(queries, state, sums);
#pragma unroll
    for (int j = 0; j < C; ++j)
#pragma unroll
      for (int w = 0; w < W; ++w) {
        Vector x = load(u + j * slabWidth + 16 * w);
#pragma unroll
        for (int i = j; i < C; ++i)
          sums[i][w] = fma(splat(pairs[j * 16 + (i == j ? 0 : 2 * (i - j) - 1)]), x, sums[i][w]);
      }
#pragma unroll
    for (int i = 0; i < C; ++i)
#pragma unroll
      for (int w = 0; w < W; ++w)
        store(head.out + (t + i) * head.stride + column + 16 * w, sums[i][w]);
    writeState(state);
  }

public:
  void run(const Head &head) {
    for (int slab = 0; slab < slabs; ++slab)
      for (int i = 0; i < D; ++i)
        std::memcpy(S + (slab * D + i) * slabWidth, head.state + i * D + slab * slabWidth,
                    slabWidth * sizeof(float));
    for (int64_t t = 0; t < head.tokens; t += C) {
      prepare(head, t);
      for (int slab = 0; slab < slabs; ++slab)
        runSlab(head, t, slab);
    }
    for (int slab = 0; slab < slabs; ++slab)
      for (int i = 0; i < D; ++i)
        std::memcpy(head.state + i * D + slab * slabWidth, S + (slab * D + i) * slabWidth,
                    slabWidth * sizeof(float));
  }
};

} // namespace hand

#endif // LINATTN_BENCHMARKS_HAND_CHUNK8_H
