//===- HostArray.cpp - arrays in the host's memory ----------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/HostArray.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace mlir::linattn;

unsigned linattn::getElementSize(Element element) {
  switch (element) {
  case Element::Bool:
  case Element::I8:
  case Element::U8:
    return 1;
  case Element::I16:
  case Element::U16:
  case Element::BF16:
  case Element::F16:
    return 2;
  case Element::I32:
  case Element::U32:
  case Element::F32:
    return 4;
  case Element::I64:
  case Element::U64:
  case Element::F64:
    return 8;
  }
  llvm_unreachable("unknown element");
}

StringRef linattn::getElementName(Element element) {
  static constexpr StringLiteral names[] = {"bool", "i8",  "i16",  "i32", "i64", "u8", "u16",
                                            "u32",  "u64", "bf16", "f16", "f32", "f64"};
  return names[static_cast<unsigned>(element)];
}

bool linattn::isFloat(Element element) { return element >= Element::BF16; }

std::optional<Element> linattn::getElementFor(Type type) {
  if (type.isBF16())
    return Element::BF16;
  if (type.isF16())
    return Element::F16;
  if (type.isF32())
    return Element::F32;
  if (type.isF64())
    return Element::F64;
  if (type.isIndex())
    return Element::I64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return Element::Bool;
  case 8:
    return isUnsigned ? Element::U8 : Element::I8;
  case 16:
    return isUnsigned ? Element::U16 : Element::I16;
  case 32:
    return isUnsigned ? Element::U32 : Element::I32;
  case 64:
    return isUnsigned ? Element::U64 : Element::I64;
  default:
    return std::nullopt;
  }
}

bool linattn::holdsType(Element element, Type type) {
  std::optional<Element> wanted = getElementFor(type);
  if (!wanted)
    return false;
  if (element == *wanted)
    return true;
  if (*wanted == Element::BF16)
    return element == Element::U16;
  // Signless integers take both signs.
  if (!type.isSignlessInteger() && !type.isIndex())
    return false;
  return element >= Element::I8 && element <= Element::U64 && *wanted != Element::Bool &&
         getElementSize(element) == getElementSize(*wanted);
}

std::optional<uint64_t> linattn::getNumBytes(Element element, ArrayRef<int64_t> shape) {
  // An empty array is empty whatever its other dims are.
  if (llvm::is_contained(shape, 0))
    return 0;
  uint64_t bytes = getElementSize(element);
  for (int64_t dim : shape) {
    bool overflow = false;
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, dim, &overflow);
    // Half of the address space is as far as a pointer difference reaches.
    if (dim < 0 || overflow || bytes > std::numeric_limits<int64_t>::max() / 2)
      return std::nullopt;
  }
  return bytes;
}

std::string linattn::formatShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleave(
      shape, os,
      [&](int64_t dim) {
        if (ShapedType::isDynamic(dim))
          os << '?';
        else
          os << dim;
      },
      ",");
  os << ']';
  return text;
}

llvm::Expected<HostArray> HostArray::allocate(Element element, ArrayRef<int64_t> shape) {
  HostArray array;
  array.element = element;
  array.shape.assign(shape.begin(), shape.end());
  std::optional<uint64_t> bytes = linattn::getNumBytes(element, shape);
  if (bytes)
    array.storage = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(*bytes);
  if (!array.storage)
    return llvm::createStringError("no memory for an array " + array.describe());
  array.numElements = *bytes / getElementSize(element);
  return array;
}

void HostArray::reinterpretAs(Element other) {
  assert(getElementSize(other) == getElementSize(element) && "bits must stay the same");
  element = other;
}

template <typename T> static T load(const char *data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T> static void store(char *data, int64_t index, T value) {
  std::memcpy(data + index * sizeof(T), &value, sizeof(T));
}

static double decodeHalf(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  double mantissa = bits & 1023;
  double magnitude;
  if (exponent == 31)
    magnitude = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                              : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, -24);
  else
    magnitude = std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Rounds to a 16-bit format. APFloat is slow but exact, and only generated inputs come here.
static uint16_t roundTo16Bits(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

double HostArray::getDouble(int64_t index) const {
  switch (element) {
  case Element::BF16:
    return llvm::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(data(), index)) << 16);
  case Element::F16:
    return decodeHalf(load<uint16_t>(data(), index));
  case Element::F32:
    return load<float>(data(), index);
  case Element::F64:
    return load<double>(data(), index);
  default:
    return static_cast<double>(getInteger(index));
  }
}

__int128 HostArray::getInteger(int64_t index) const {
  switch (element) {
  case Element::Bool:
    return load<uint8_t>(data(), index) & 1;
  case Element::I8:
    return load<int8_t>(data(), index);
  case Element::I16:
    return load<int16_t>(data(), index);
  case Element::I32:
    return load<int32_t>(data(), index);
  case Element::I64:
    return load<int64_t>(data(), index);
  case Element::U8:
    return load<uint8_t>(data(), index);
  case Element::U16:
    return load<uint16_t>(data(), index);
  case Element::U32:
    return load<uint32_t>(data(), index);
  case Element::U64:
    return load<uint64_t>(data(), index);
  default:
    llvm_unreachable("float elements are not integers");
  }
}

void HostArray::setDouble(int64_t index, double value) {
  switch (element) {
  case Element::BF16:
    return store(data(), index, roundTo16Bits(value, llvm::APFloat::BFloat()));
  case Element::F16:
    return store(data(), index, roundTo16Bits(value, llvm::APFloat::IEEEhalf()));
  case Element::F32:
    return store(data(), index, static_cast<float>(value));
  case Element::F64:
    return store(data(), index, value);
  default:
    llvm_unreachable("integer elements are set by setInteger");
  }
}

void HostArray::setInteger(int64_t index, uint64_t value) {
  assert(!isFloat(element) && "float elements are set by setDouble");
  switch (getElementSize(element)) {
  case 1:
    return store(data(), index, static_cast<uint8_t>(value));
  case 2:
    return store(data(), index, static_cast<uint16_t>(value));
  case 4:
    return store(data(), index, static_cast<uint32_t>(value));
  default:
    return store(data(), index, value);
  }
}

std::string HostArray::describe() const {
  return (getElementName(element) + " " + formatShape(shape)).str();
}
