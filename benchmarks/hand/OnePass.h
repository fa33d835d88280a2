//===- OnePass.h - N tokens in one pass over the state ------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// A pass applies the N writes of the block before and takes the N reads of this one, so the state
// is loaded and stored once per N tokens. The state lies in slabs [D / 32][D][32]. Sums over the
// state stay in registers; a triangular fix of N x N pairs makes outputs of them.
//
// Decay factors are running products of exp(g), at most 1: exact after resets, one exponential per
// gate. Decay is lazy: a slab holds S / c, and is multiplied only when c has become small.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_HAND_ONEPASS_H
#define LINATTN_BENCHMARKS_HAND_ONEPASS_H

#include "../Head.h"
#include "Vectors.h"

#include <cstring>
#include <type_traits>

namespace hand {

/// Pairs of N tokens: the write vector of token j decays step by step up to token i by d[i], so no
/// exponent is ever positive. pairs[j][2 (i - j) - 1] is its product with the query of i > j,
/// [j][2 (i - j)] that with the key (DPLR: with a, before the decay), [j][0] that with its own
/// query.
template <int D, int N, Write write>
ALWAYS_INLINE void channelPairs(const Head &head, int64_t t, const float *writes, const float *d,
                                float *pairs) {
  const float *readers = write == Write::Dplr ? head.a : head.k;
#pragma unroll
  for (int j = 0; j < N; ++j) {
    Vector products[16];
#pragma unroll
    for (int p = 0; p < 16; ++p)
      products[p] = splat(0);
    for (int c = 0; c < D; c += 16) {
      Vector w = load(writes + (t + j) * head.stride + c);
      products[0] = fma(w, load(head.q + (t + j) * head.stride + c), products[0]);
#pragma unroll
      for (int i = j + 1; i < N; ++i) {
        int64_t at = (t + i) * head.stride + c;
        Vector &query = products[2 * (i - j) - 1], &key = products[2 * (i - j)];
        if constexpr (write == Write::Dplr)
          key = fma(w, load(readers + at), key);
        w = mul(w, load(d + i * D + c));
        if constexpr (write == Write::Delta)
          key = fma(w, load(readers + at), key);
        query = fma(w, load(head.q + at), query);
      }
    }
    store(pairs + j * 16, sums(products));
  }
}

/// For a number of tokens that is a multiple of N, which is at most 4.
template <int D, int N, Write write, bool channelDecay> class OnePass {
  static constexpr int W = 2, slabWidth = 16 * W, slabs = D / slabWidth;
  static constexpr bool readsKeys = write != Write::Additive, isDplr = write == Write::Dplr;
  static constexpr float tooSmall = 1e-6f;
  // Rows of neighbouring tokens must not share cache sets.
  static constexpr int row = D + 16;

  struct Block {
    alignas(64) float keyReads[N * row], queries[N * row], writes[N * row];
    alignas(64) float erasures[isDplr ? N * row : 1];
    /// By which the slab is to be multiplied if `multiply`, and what is left of it otherwise.
    alignas(64) float decay[channelDecay ? D : 16], lazy[channelDecay ? D : 16];
    bool multiply;
    /// As channelPairs puts them. With scalar decay, [i][j] holds query i with write j below the
    /// diagonal and on it, keys i and j above it.
    alignas(64) float pairs[N * 16], erasurePairs[N * 16];
    alignas(64) float decayBefore[16], decayAfter[16], beta[N];
    const float *v;
    float *out;
    /// Rows of the next block, fetched ahead: one line every second key step.
    const float *ahead[slabs * 8];
    /// What the tokens write, scaled for the end of the block, and what they erase.
    alignas(64) float u[N * D], r[isDplr ? N * D : 1];
  };

  static ALWAYS_INLINE void planFetches(Block &block, const Head &head, int64_t t) {
    constexpr int arrays = 4 + (isDplr ? 2 : 0) + (channelDecay ? 1 : 0);
    const float *bases[7] = {head.q, head.k, head.v, head.out};
    if (isDplr)
      bases[4] = head.a, bases[5] = head.b;
    bases[arrays - 1] = channelDecay ? head.g : head.out;
    if (t + N > head.tokens)
      t = head.tokens - N;
    int count = 0;
    for (int n = 0; n < N; ++n)
      for (int x = 0; x < arrays && count < slabs * 8; ++x) {
        bool isGate = channelDecay && x == arrays - 1;
        block.ahead[count++] = bases[x] + (t + n) * (isGate ? head.gateStride : head.stride);
      }
    for (; count < slabs * 8; ++count)
      block.ahead[count] = block.ahead[0];
  }

  static ALWAYS_INLINE void prepareScalar(Block &x, const Block &before, const Head &head,
                                          int64_t t) {
    // between[i][j]: the decay from token min(i, j) to max(i, j).
    alignas(64) float d[16] = {}, between[N * N + 16], until[N], from[N];
    for (int n = 0; n < N; ++n)
      d[n] = head.g[(t + n) * head.gateStride];
    store(d, exp(load(d)));
    for (int i = 0; i < N; ++i) {
      between[i * N + i] = 1;
      for (int j = 0; j < i; ++j)
        between[i * N + j] = between[j * N + i] = between[(i - 1) * N + j] * d[i];
      until[i] = i ? until[i - 1] * d[i] : d[0];
    }
    for (int i = N - 1; i >= 0; --i)
      from[i] = i == N - 1 ? 1 : from[i + 1] * d[i + 1];
    float c0 = before.lazy[0], c1 = c0 * until[N - 1];
    x.multiply = c1 < tooSmall;
    x.decay[0] = c1;
    x.lazy[0] = c1 = x.multiply ? 1 : c1;
    for (int n = 0; n < N; ++n) {
      x.decayBefore[n] = until[n] * c0;
      x.decayAfter[n] = from[n] / c1;
      for (int c = 0; c < D; c += 16) {
        store(x.writes + n * row + c, load(head.k + (t + n) * head.stride + c));
        store(x.queries + n * row + c, load(head.q + (t + n) * head.stride + c));
      }
    }
    Vector products[16];
#pragma unroll
    for (int p = 0; p < 16; ++p)
      products[p] = splat(0);
    for (int c = 0; c < D; c += 16) {
#pragma unroll
      for (int p = 0; p < N * N; ++p) {
        int i = p / N, j = p % N;
        if (j <= i || readsKeys)
          products[p] = fma(load((j <= i ? x.queries : x.writes) + i * row + c),
                            load(x.writes + j * row + c), products[p]);
      }
    }
    store(x.pairs, mul(sums(products), load(between)));
  }

  static ALWAYS_INLINE void prepareChannels(Block &x, const Block &before, const Head &head,
                                            int64_t t) {
    alignas(64) float d[N * D];
    x.multiply = false;
    for (int c = 0; c < D; c += 16) {
      Vector decay = load(before.lazy + c);
#pragma unroll
      for (int n = 0; n < N; ++n) {
        int64_t at = (t + n) * head.stride + c;
        Vector dn = exp(load(head.g + (t + n) * head.gateStride + c));
        store(d + n * D + c, dn);
        if constexpr (isDplr)
          store(x.keyReads + n * row + c, mul(decay, load(head.a + at)));
        decay = mul(decay, dn);
        if constexpr (write == Write::Delta)
          store(x.keyReads + n * row + c, mul(decay, load(head.k + at)));
        store(x.queries + n * row + c, mul(decay, load(head.q + at)));
      }
      store(x.decay + c, decay);
      x.multiply |= _mm512_cmp_ps_mask(decay, splat(tooSmall), _CMP_LT_OQ) != 0;
    }
    for (int c = 0; c < D; c += 16) {
      Vector lazy = x.multiply ? splat(1) : load(x.decay + c);
      store(x.lazy + c, lazy);
      Vector decay = x.multiply ? lazy : _mm512_div_ps(splat(1), lazy);
#pragma unroll
      for (int n = N - 1; n >= 0; --n) {
        int64_t at = (t + n) * head.stride + c;
        store(x.writes + n * row + c, mul(decay, load(head.k + at)));
        if constexpr (isDplr)
          store(x.erasures + n * row + c, mul(decay, load(head.b + at)));
        decay = mul(decay, load(d + n * D + c));
      }
    }
    channelPairs<D, N, write>(head, t, head.k, d, x.pairs);
    if constexpr (isDplr)
      channelPairs<D, N, write>(head, t, head.b, d, x.erasurePairs);
  }

  static ALWAYS_INLINE void prepare(Block &x, const Block &before, const Head &head, int64_t t) {
    planFetches(x, head, t + N);
    x.v = head.v + t * head.stride;
    x.out = head.out + t * head.stride;
    if constexpr (write == Write::Delta)
      for (int n = 0; n < N; ++n)
        x.beta[n] = head.beta[(t + n) * head.betaStride];
    if constexpr (channelDecay)
      prepareChannels(x, before, head, t);
    else
      prepareScalar(x, before, head, t);
  }

  static ALWAYS_INLINE int channelPair(int i, int j, bool key) {
    return j * 16 + (i == j ? 0 : 2 * (i - j) - !key);
  }
  static ALWAYS_INLINE Vector queryPair(const Block &x, int i, int j) {
    return splat(x.pairs[channelDecay ? channelPair(i, j, false) : i * N + j]);
  }
  static ALWAYS_INLINE Vector keyPair(const Block &x, int i, int j) {
    return splat(x.pairs[channelDecay ? channelPair(i, j, true) : j * N + i]);
  }

  using Sums = Vector[N][W];

  /// Writes of block p into the slab S, then reads of block x.
  template <bool multiply>
  static ALWAYS_INLINE void sweep(float *S, int slab, const Block &p, const Block &x, Sums &keys,
                                  Sums &queries) {
    constexpr int lines = D / 16 < 8 ? D / 16 : 8;
    Vector u[N][W], r[N][W];
#pragma unroll
    for (int t = 0; t < N; ++t)
#pragma unroll
      for (int w = 0; w < W; ++w) {
        u[t][w] = load(p.u + t * D + slab * slabWidth + 16 * w);
        if constexpr (isDplr)
          r[t][w] = load(p.r + t * D + slab * slabWidth + 16 * w);
      }
    const float *keyReads = write == Write::Delta && !channelDecay ? x.writes : x.keyReads;
    for (int i0 = 0; i0 < D; i0 += 2) {
      int slot = slab * (D / 2) + i0 / 2;
      _mm_prefetch(reinterpret_cast<const char *>(x.ahead[slot / (D / 16)] + slot % lines * 16),
                   _MM_HINT_T0);
#pragma unroll
      for (int i = i0; i < i0 + 2; ++i) {
        Vector s[W];
#pragma unroll
        for (int w = 0; w < W; ++w) {
          s[w] = load(S + i * slabWidth + 16 * w);
          if constexpr (multiply)
            s[w] = mul(splat(p.decay[channelDecay ? i : 0]), s[w]);
        }
#pragma unroll
        for (int t = 0; t < N; ++t)
#pragma unroll
          for (int w = 0; w < W; ++w) {
            s[w] = fma(splat(p.writes[t * row + i]), u[t][w], s[w]);
            if constexpr (isDplr)
              s[w] = fma(splat(p.erasures[t * row + i]), r[t][w], s[w]);
          }
#pragma unroll
        for (int w = 0; w < W; ++w)
          store(S + i * slabWidth + 16 * w, s[w]);
#pragma unroll
        for (int t = 0; t < N; ++t)
#pragma unroll
          for (int w = 0; w < W; ++w) {
            if constexpr (readsKeys)
              keys[t][w] = fma(splat(keyReads[t * row + i]), s[w], keys[t][w]);
            queries[t][w] = fma(splat(x.queries[t * row + i]), s[w], queries[t][w]);
          }
      }
    }
  }

  static __attribute__((noinline)) void pass(float *S, int slab, const Block &p, Block &x,
                                             int64_t stride) {
    Sums keys, queries;
#pragma unroll
    for (int t = 0; t < N; ++t)
#pragma unroll
      for (int w = 0; w < W; ++w)
        keys[t][w] = queries[t][w] = splat(0);
    if (__builtin_expect(p.multiply, 0))
      sweep<true>(S, slab, p, x, keys, queries);
    else
      sweep<false>(S, slab, p, x, keys, queries);
#pragma unroll
    for (int w = 0; w < W; ++w)
      finish(x, slab * slabWidth + 16 * w, w, stride, keys, queries);
  }

  /// Outputs and writes of 16 value columns.
  static ALWAYS_INLINE void finish(Block &x, int column, int w, int64_t stride, const Sums &keys,
                                   const Sums &queries) {
    Vector u[N], r[N];
#pragma unroll
    for (int t = 0; t < N; ++t) {
      u[t] = load(x.v + t * stride + column);
      if constexpr (write == Write::Delta) {
        u[t] = channelDecay ? _mm512_sub_ps(u[t], keys[t][w])
                            : fnma(splat(x.decayBefore[t]), keys[t][w], u[t]);
#pragma unroll
        for (int j = 0; j < t; ++j)
          u[t] = fnma(keyPair(x, t, j), u[j], u[t]);
        u[t] = mul(u[t], splat(x.beta[t]));
      }
      if constexpr (isDplr) {
        r[t] = keys[t][w];
#pragma unroll
        for (int j = 0; j < t; ++j) {
          r[t] = fma(keyPair(x, t, j), u[j], r[t]);
          r[t] = fma(splat(x.erasurePairs[channelPair(t, j, true)]), r[j], r[t]);
        }
      }
    }
#pragma unroll
    for (int t = 0; t < N; ++t) {
      Vector o = channelDecay ? queries[t][w] : mul(splat(x.decayBefore[t]), queries[t][w]);
#pragma unroll
      for (int j = 0; j <= t; ++j) {
        o = fma(queryPair(x, t, j), u[j], o);
        if constexpr (isDplr)
          o = fma(splat(x.erasurePairs[channelPair(t, j, false)]), r[j], o);
      }
      store(x.out + t * stride + column, o);
      store(x.u + t * D + column, channelDecay ? u[t] : mul(splat(x.decayAfter[t]), u[t]));
      if constexpr (isDplr)
        store(x.r + t * D + column, r[t]);
    }
  }

public:
  static void run(const Head &head) {
    alignas(64) float S[D * D];
    for (int slab = 0; slab < slabs; ++slab)
      for (int i = 0; i < D; ++i)
        std::memcpy(S + (slab * D + i) * slabWidth, head.state + i * D + slab * slabWidth,
                    slabWidth * sizeof(float));
    // Before the first block: nothing to write, nothing decayed.
    Block blocks[2];
    std::memset(&blocks[1], 0, sizeof(Block));
    for (float &lazy : blocks[1].lazy)
      lazy = 1;
    int current = 0;
    for (int64_t t = 0; t < head.tokens; t += N, current ^= 1) {
      prepare(blocks[current], blocks[current ^ 1], head, t);
      for (int slab = 0; slab < slabs; ++slab)
        pass(S + slab * D * slabWidth, slab, blocks[current ^ 1], blocks[current], head.stride);
    }
    const Block &last = blocks[current ^ 1];
    for (int slab = 0; slab < slabs; ++slab)
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < slabWidth; j += 16) {
          int of = channelDecay ? i : 0, column = slab * slabWidth + j;
          Vector s = load(S + (slab * D + i) * slabWidth + j);
          if (last.multiply)
            s = mul(splat(last.decay[of]), s);
          for (int t = 0; t < N; ++t) {
            s = fma(splat(last.writes[t * row + i]), load(last.u + t * D + column), s);
            if constexpr (isDplr)
              s = fma(splat(last.erasures[t * row + i]), load(last.r + t * D + column), s);
          }
          store(head.state + i * D + column, mul(splat(last.lazy[of]), s));
        }
  }
};

} // namespace hand

#endif // LINATTN_BENCHMARKS_HAND_ONEPASS_H
