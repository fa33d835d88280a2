//===- Arrays.h - operands of compiled programs -------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_ARRAYS_H
#define LINATTN_BENCHMARKS_ARRAYS_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <vector>

/// Whether arrays ask the kernel for huge pages, as NumPy's do: a token's rows of all heads fill a
/// page or two of 4 KiB, so that each row of a head would be one more entry of the TLB.
inline bool usesHugePages = true;

/// Elements at 64 bytes, staggered so that no two arrays share the same addresses modulo 4 KiB.
template <typename T> class Array {
public:
  Array() = default;
  explicit Array(int64_t size) : count(size) {
    static size_t stagger = 0;
    stagger = (stagger + 320) % 4096;
    size_t bytes = size_t(size) * sizeof(T) + 4096;
    constexpr size_t hugePage = size_t(1) << 21;
    size_t page = usesHugePages && bytes >= hugePage ? hugePage : 4096;
    bytes = (bytes + page - 1) / page * page;
    storage.reset(static_cast<char *>(std::aligned_alloc(page, bytes)));
    if (page == hugePage) // before the first touch; without them it works as well
      (void)madvise(storage.get(), bytes, MADV_HUGEPAGE);
    start = reinterpret_cast<T *>(storage.get() + stagger);
    std::fill_n(start, size, T(0));
  }

  T *data() const { return start; }
  int64_t size() const { return count; }
  T *begin() const { return start; }
  T *end() const { return start + count; }
  T &operator[](int64_t i) const { return start[i]; }

private:
  struct Free {
    void operator()(char *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<char, Free> storage;
  T *start = nullptr;
  int64_t count = 0;
};

/// A dense memref descriptor, as MLIR's C interface passes it: two pointers, offset, sizes,
/// strides.
inline std::vector<int64_t> descriptor(const void *data, const std::vector<int64_t> &sizes) {
  auto address = reinterpret_cast<int64_t>(data);
  std::vector<int64_t> words{address, address, 0};
  words.insert(words.end(), sizes.begin(), sizes.end());
  words.resize(words.size() + sizes.size());
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0; stride *= sizes[dim])
    words[3 + sizes.size() + dim] = stride;
  return words;
}

#endif // LINATTN_BENCHMARKS_ARRAYS_H
