//===- Hand.cpp - the hand-written kernels as baselines -----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Head.h"

#ifdef __AVX512F__

#include "hand/OnePass.h"

namespace {

/// Blocks of 4 tokens, or 2 where the registers hold no more, and the rest one by one.
template <int D, Write write, bool channelDecay> struct Blocks {
  static void run(const Head &head) {
    constexpr int N = write == Write::Dplr ? 2 : 4;
    Head part = head;
    part.tokens = head.tokens / N * N;
    hand::OnePass<D, N, write, channelDecay>::run(part);
    for (const float **rows : {&part.q, &part.k, &part.v, &part.a, &part.b})
      if (*rows)
        *rows += part.tokens * head.stride;
    part.out += part.tokens * head.stride;
    part.g += part.tokens * head.gateStride;
    if (head.beta)
      part.beta += part.tokens * head.betaStride;
    part.tokens = head.tokens % N;
    hand::OnePass<D, 1, write, channelDecay>::run(part);
  }
};

} // namespace

Kernel findHandKernel(const std::string &op, int64_t size) { return select<Blocks>(op, size); }

#else

Kernel findHandKernel(const std::string &, int64_t) { return nullptr; }

#endif
