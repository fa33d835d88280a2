//===- GuardedMemory.h - buffers that notice stray accesses -------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generated code carries no sanitizer instrumentation. Instead, each buffer lies in its own
// mapping:
//
//   | inaccessible page | margin ... data | inaccessible page |
//
// The data ends at the last page, so that any access past its end faults. The margin is filled with
// a pattern (NaN for floats): a read of it poisons the result, a write to it is found afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_GUARDEDMEMORY_H
#define LINATTN_RUNNER_GUARDEDMEMORY_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace mlir::linattn {

/// All bytes 0xff are a NaN in every float format; for integers this one stands out.
inline constexpr uint8_t kFloatPoison = 0xff;
inline constexpr uint8_t kIntegerPoison = 0xa5;

/// A buffer between inaccessible pages.
class GuardedBuffer {
public:
  /// Maps `bytes` bytes of data, filled with `poison` like the margin. The data ends as close to
  /// the inaccessible page as `alignment` (a power of two) allows. `name` is how reports call it.
  static llvm::Expected<GuardedBuffer> create(uint64_t bytes, uint64_t alignment, uint8_t poison,
                                              llvm::StringRef name);
  GuardedBuffer(GuardedBuffer &&other);
  GuardedBuffer &operator=(GuardedBuffer &&) = delete;
  ~GuardedBuffer();

  char *data() const { return begin; }

  /// Says which bytes around the data were overwritten, or returns an empty string.
  std::string describeDamage() const;

private:
  GuardedBuffer() = default;

  char *mapping = nullptr;
  uint64_t mappedBytes = 0;
  char *begin = nullptr; // the data
  uint64_t bytes = 0;
  uint8_t poison = 0;
  std::string name;
  int slot = -1; // in the fault handler's table, -1 when that is full
};

/// While it lives, a fault in or next to a guarded buffer ends the process with status 1 after one
/// line on stderr that names the buffer. Other faults go to the handler that was there before.
class GuardFaultHandler {
public:
  GuardFaultHandler();
  ~GuardFaultHandler();
};

/// `malloc`, `aligned_alloc` and `free` over guarded buffers, for generated code to call.
void *guardedMalloc(size_t bytes);
void *guardedAlignedAlloc(size_t alignment, size_t bytes);
void guardedFree(void *data);

/// The damage found by `guardedFree` and around the buffers not yet freed, which are then released;
/// an empty string if there was none.
std::string takeGuardedHeapDamage();

} // namespace mlir::linattn

#endif // LINATTN_RUNNER_GUARDEDMEMORY_H
