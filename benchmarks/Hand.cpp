//===- Hand.cpp - the hand-written kernels as baselines -----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Head.h"

#ifdef __AVX512F__

#include "hand/Chunk8.h"
#include "hand/OnePass.h"

namespace {

/// The tokens from `first` on.
Head rest(Head head, int64_t first) {
  for (const float **rows : {&head.q, &head.k, &head.v, &head.a, &head.b})
    if (*rows)
      *rows += first * head.stride;
  head.out += first * head.stride;
  head.g += first * head.gateStride;
  if (head.beta)
    head.beta += first * head.betaStride;
  head.tokens -= first;
  return head;
}

/// Runs `whole` on as many tokens as its blocks of N hold, and the rest one by one.
template <int D, Write write, bool channelDecay, typename Whole>
void runBlocks(const Head &head, int64_t N, Whole whole) {
  Head part = head;
  part.tokens = head.tokens / N * N;
  if (part.tokens)
    whole(part);
  if (part.tokens != head.tokens)
    hand::OnePass<D, 1, write, channelDecay>::run(rest(head, part.tokens));
}

template <int D, Write write, bool channelDecay> struct OnePass {
  static void run(const Head &head) {
    // More tokens would need more registers than there are.
    constexpr int N = write == Write::Dplr ? 2 : 4;
    runBlocks<D, write, channelDecay>(head, N, hand::OnePass<D, N, write, channelDecay>::run);
  }
};

template <int D, Write write, bool channelDecay> struct Chunks {
  static void run(const Head &head) {
    if constexpr (write != Write::Dplr)
      runBlocks<D, write, channelDecay>(head, 8, [](const Head &part) {
        hand::Chunk8<D, write, channelDecay> chunk;
        chunk.run(part);
      });
  }
};

} // namespace

Kernel findHandOnePass(const std::string &op, int64_t size) { return select<OnePass>(op, size); }
Kernel findHandChunks(const std::string &op, int64_t size) {
  return op == "rwkv7" ? nullptr : select<Chunks>(op, size);
}

#else

Kernel findHandOnePass(const std::string &, int64_t) { return nullptr; }
Kernel findHandChunks(const std::string &, int64_t) { return nullptr; }

#endif
