//===- HostArray.h - arrays in the host's memory ------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dense row-major array with its element type, as it travels between a .npy file and a compiled
// function.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_HOSTARRAY_H
#define LINATTN_RUNNER_HOSTARRAY_H

#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mlir::linattn {

/// What one element of an array is. Signedness matters to files only; a signless MLIR type takes
/// both kinds.
enum class Element : uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, BF16, F16, F32, F64 };

/// Bytes of one element.
unsigned getElementSize(Element element);
/// The name used in messages: `f32`, `bf16`, `u8`, ...
llvm::StringRef getElementName(Element element);
bool isFloat(Element element);

/// The element that stores values of a scalar MLIR type (`index` has 64 bits), or nothing if files
/// cannot hold the type.
std::optional<Element> getElementFor(Type type);

/// True if the bits of `element` are the bits of `type`: equal kinds, either sign for a signless
/// integer, and 16-bit raw data for bf16, which NumPy itself does not know.
bool holdsType(Element element, Type type);

/// The number of bytes of an array, or nothing if it does not fit in the address space.
std::optional<uint64_t> getNumBytes(Element element, llvm::ArrayRef<int64_t> shape);

/// Prints `[2,33,4,16]`.
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// A dense row-major array that owns its elements.
class HostArray {
public:
  HostArray() = default;

  /// An array with uninitialised elements, or an error if there is no room for it.
  static llvm::Expected<HostArray> allocate(Element element, llvm::ArrayRef<int64_t> shape);

  Element getElement() const { return element; }
  /// Declares the same bits to be another kind of the same size.
  void reinterpretAs(Element other);
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getNumElements() const { return numElements; }
  uint64_t getNumBytes() const { return numElements * getElementSize(element); }

  char *data() { return storage ? storage->getBufferStart() : nullptr; }
  const char *data() const { return storage ? storage->getBufferStart() : nullptr; }

  /// An element as a double. 64-bit integers beyond 2^53 are rounded.
  double getDouble(int64_t index) const;
  /// An integer element with its sign; float elements are not accepted.
  __int128 getInteger(int64_t index) const;
  /// Rounds a value to the (float) element type, to nearest even.
  void setDouble(int64_t index, double value);
  /// Stores the low bits of an integer; float elements are not accepted.
  void setInteger(int64_t index, uint64_t value);

  /// Prints `f32 [2,33,4,16]`.
  std::string describe() const;

private:
  Element element = Element::F32;
  llvm::SmallVector<int64_t> shape;
  int64_t numElements = 0;
  std::unique_ptr<llvm::WritableMemoryBuffer> storage;
};

} // namespace mlir::linattn

#endif // LINATTN_RUNNER_HOSTARRAY_H
