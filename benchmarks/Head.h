//===- Head.h - one head of a problem, as baselines see it --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_HEAD_H
#define LINATTN_BENCHMARKS_HEAD_H

#include <cstdint>
#include <string>
#include <type_traits>

/// What a token writes besides the decay: nothing is erased, one rank is (delta rules), or the
/// erasure has its own vectors (DPLR).
enum class Write { Additive, Delta, Dplr };

/// Rows of one head of one sequence; strides in floats. `beta` is for Delta, `a` and `b` for Dplr.
struct Head {
  const float *q, *k, *v, *g, *beta, *a, *b;
  float *out;
  /// D x D, initial and final.
  float *state;
  int64_t tokens, stride, gateStride, betaStride;
};

using Kernel = void (*)(const Head &);

/// Null where there is none for this operator, size or machine.
Kernel findTokenLoop(const std::string &op, int64_t size);
Kernel findChunkLoop(const std::string &op, int64_t size);
Kernel findHandOnePass(const std::string &op, int64_t size);
Kernel findHandChunks(const std::string &op, int64_t size);

/// kernel<size, write, channelDecay>::run for the operator's name and the size.
template <template <int, Write, bool> typename Kernels>
Kernel select(const std::string &op, int64_t size) {
  auto of = [&](auto constant) -> Kernel {
    constexpr int D = decltype(constant)::value;
    if (op == "scalar")
      return Kernels<D, Write::Additive, false>::run;
    if (op == "gla")
      return Kernels<D, Write::Additive, true>::run;
    if (op == "gdn")
      return Kernels<D, Write::Delta, false>::run;
    if (op == "kda")
      return Kernels<D, Write::Delta, true>::run;
    if (op == "rwkv7")
      return Kernels<D, Write::Dplr, true>::run;
    return nullptr;
  };
  if (size == 64)
    return of(std::integral_constant<int, 64>());
  if (size == 128)
    return of(std::integral_constant<int, 128>());
  return nullptr;
}

#endif // LINATTN_BENCHMARKS_HEAD_H
