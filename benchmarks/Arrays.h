//===- Arrays.h - operands of compiled programs -------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_ARRAYS_H
#define LINATTN_BENCHMARKS_ARRAYS_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

/// A dense memref descriptor, as MLIR's C interface passes it.
template <int rank> struct MemRef {
  float *allocated, *aligned;
  int64_t offset = 0, sizes[rank], strides[rank];
};

/// Floats at 64 bytes, staggered so that no two arrays share the same addresses modulo 4 KiB.
class Array {
public:
  explicit Array(size_t size, float value)
      : storage(static_cast<float *>(std::aligned_alloc(4096, bytes(size)))) {
    static size_t stagger = 0;
    stagger = (stagger + 320) % 4096;
    start = storage.get() + stagger / sizeof(float);
    for (size_t i = 0; i < size; ++i)
      start[i] = value * float(i % 17) / 17;
  }
  float *data() { return start; }

  template <typename... Sizes> MemRef<sizeof...(Sizes)> view(Sizes... sizes) {
    MemRef<sizeof...(Sizes)> ref{start, start, 0, {int64_t(sizes)...}, {}};
    int64_t stride = 1;
    for (int dim = sizeof...(Sizes) - 1; dim >= 0; --dim) {
      ref.strides[dim] = stride;
      stride *= ref.sizes[dim];
    }
    return ref;
  }

private:
  static size_t bytes(size_t size) { return (size * sizeof(float) + 4096 + 4095) / 4096 * 4096; }
  struct Free {
    void operator()(float *pointer) { std::free(pointer); }
  };
  std::unique_ptr<float, Free> storage;
  float *start;
};

#endif // LINATTN_BENCHMARKS_ARRAYS_H
