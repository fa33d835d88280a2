//===- RunFunction.cpp - call a compiled function -----------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeLibraries.h"
#include "linattn/Runner/CompiledFunction.h"
#include "linattn/Runner/GuardedMemory.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"
#include <chrono>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::linattn;

/// memref.get_global puts this where the pointer to free would be.
static constexpr int64_t kGlobalMarker = 0xdeadbeef;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
/// One argument as the generated C interface takes it.
class ArgumentFrame {
public:
  static llvm::Expected<ArgumentFrame> create(const HostArray &array, Type type, unsigned position,
                                              bool guard, StringRef name);

  /// Refills the memory with the argument's values; the last call may have overwritten them.
  void refill() {
    if (array->getNumBytes())
      std::memcpy(memory, array->data(), array->getNumBytes());
  }
  /// The address of the value to pass: a scalar, or a pointer to a descriptor.
  void *getAddress() {
    descriptorAddress = descriptor.data();
    return descriptor.empty() ? static_cast<void *>(memory) : &descriptorAddress;
  }
  bool contains(int64_t address) const {
    auto begin = reinterpret_cast<intptr_t>(memory);
    return address >= begin && address <= begin + static_cast<int64_t>(array->getNumBytes());
  }
  std::string describeDamage() const { return guarded ? guarded->describeDamage() : ""; }

private:
  const HostArray *array = nullptr;
  char *memory = nullptr;
  std::unique_ptr<llvm::WritableMemoryBuffer> plain;
  std::optional<GuardedBuffer> guarded;
  SmallVector<int64_t> descriptor; // empty for a scalar
  void *descriptorAddress = nullptr;
};
} // namespace

llvm::Expected<ArgumentFrame> ArgumentFrame::create(const HostArray &array, Type type,
                                                    unsigned position, bool guard, StringRef name) {
  ArgumentFrame frame;
  frame.array = &array;
  uint64_t bytes = array.getNumBytes();
  if (guard) {
    uint8_t poison = isFloat(array.getElement()) ? kFloatPoison : kIntegerPoison;
    auto buffer = GuardedBuffer::create(bytes, getElementSize(array.getElement()), poison, name);
    if (!buffer)
      return buffer.takeError();
    frame.guarded.emplace(std::move(*buffer));
    frame.memory = frame.guarded->data();
  } else {
    // Aligned to cache lines, but at different offsets modulo 4 KiB: equal ones alias in the
    // store buffer, which would make timings depend on the allocator. The margin of a cache line
    // keeps the address of an empty array out of other allocations.
    constexpr uint64_t kPage = 4096, kStep = 9 * 64;
    uint64_t offset = position * kStep % kPage;
    frame.plain = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(offset + bytes + 64, "",
                                                                    llvm::Align(kPage));
    if (!frame.plain)
      return llvm::createStringError("no memory for " + name);
    frame.memory = frame.plain->getBufferStart() + offset;
  }
  if (!isa<RankedTensorType>(type))
    return std::move(frame);

  auto address = reinterpret_cast<intptr_t>(frame.memory);
  ArrayRef<int64_t> shape = array.getShape();
  frame.descriptor = {address, address, /*offset=*/0};
  frame.descriptor.append(shape.begin(), shape.end());
  frame.descriptor.append(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    frame.descriptor[3 + shape.size() + dim - 1] =
        frame.descriptor[3 + shape.size() + dim] * shape[dim];
  return std::move(frame);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {
/// Where the generated C interface puts the results: a struct with a descriptor or scalar each.
class ResultFrame {
public:
  explicit ResultFrame(ArrayRef<Type> types) : types(types) {
    uint64_t size = 0;
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      uint64_t alignment = tensor ? 8 : getElementSize(*getElementFor(type));
      size = llvm::alignTo(size, alignment);
      offsets.push_back(size);
      size += tensor ? 8 * (3 + 2 * tensor.getRank()) : alignment;
    }
    storage.resize(llvm::divideCeil(size, 8));
    address = storage.data();
  }

  /// A lone scalar is returned by value, anything else through a pointer before the arguments.
  bool isFirst() const { return types.size() > 1 || llvm::any_of(types, isTensor); }
  void *getAddress() { return isFirst() ? &address : address; }

  llvm::Expected<HostArray> read(unsigned position) const;

  /// Frees what the function allocated, each buffer once; results may share memory with each
  /// other, with arguments and with constants.
  void release(ArrayRef<ArgumentFrame> arguments, bool guard) {
    llvm::SmallSetVector<int64_t, 8> allocated;
    for (auto [position, type] : llvm::enumerate(types)) {
      if (!isTensor(type))
        continue;
      int64_t pointer = getDescriptor(position)[0];
      if (pointer != kGlobalMarker &&
          llvm::none_of(arguments, [&](auto &argument) { return argument.contains(pointer); }))
        allocated.insert(pointer);
    }
    for (int64_t pointer : allocated)
      (guard ? guardedFree : free)(reinterpret_cast<void *>(pointer));
  }

private:
  static bool isTensor(Type type) { return isa<RankedTensorType>(type); }
  const char *getData(unsigned position) const {
    return reinterpret_cast<const char *>(storage.data()) + offsets[position];
  }
  const int64_t *getDescriptor(unsigned position) const {
    return reinterpret_cast<const int64_t *>(getData(position));
  }

  ArrayRef<Type> types;
  SmallVector<uint64_t> offsets;
  SmallVector<int64_t> storage;
  void *address;
};
} // namespace

llvm::Expected<HostArray> ResultFrame::read(unsigned position) const {
  auto tensor = dyn_cast<RankedTensorType>(types[position]);
  Element element = *getElementFor(getElementTypeOrSelf(types[position]));
  unsigned size = getElementSize(element);
  if (!tensor) {
    auto array = HostArray::allocate(element, {});
    if (array)
      std::memcpy(array->data(), getData(position), size);
    return array;
  }
  int64_t rank = tensor.getRank();
  const int64_t *descriptor = getDescriptor(position);
  ArrayRef<int64_t> shape(descriptor + 3, rank), strides(descriptor + 3 + rank, rank);
  if (failed(verifyCompatibleShape(tensor.getShape(), shape)) ||
      llvm::any_of(shape, [](int64_t dim) { return dim < 0; }))
    return llvm::createStringError("result " + Twine(position) + ": the function returned " +
                                   formatShape(shape) + ", its type says " +
                                   formatShape(tensor.getShape()));
  auto array = HostArray::allocate(element, shape);
  if (!array)
    return array;
  auto *source = reinterpret_cast<const char *>(descriptor[1]) + descriptor[2] * size;
  SmallVector<int64_t> index(rank);
  for (int64_t i = 0; i < array->getNumElements(); ++i) {
    std::memcpy(array->data() + i * size, source, size);
    // Step to the next element in row-major order; the strides are the function's.
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      source += strides[dim] * size;
      if (++index[dim] < shape[dim])
        break;
      source -= strides[dim] * size * shape[dim];
      index[dim] = 0;
    }
  }
  return array;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

llvm::Expected<RunReport> CompiledFunction::run(ArrayRef<HostArray> arguments,
                                                const RunOptions &options) {
  assert(arguments.size() == argumentTypes.size() && "one array per argument");
  SmallVector<ArgumentFrame> frames;
  frames.reserve(arguments.size());
  for (auto [position, array] : llvm::enumerate(arguments)) {
    std::string name = position < options.argumentNames.size()
                           ? options.argumentNames[position]
                           : "argument " + std::to_string(position);
    auto frame = ArgumentFrame::create(array, argumentTypes[position], position, guard, name);
    if (!frame)
      return frame.takeError();
    frames.push_back(std::move(*frame));
  }
  ResultFrame results(resultTypes);
  SmallVector<void *> packed;
  for (ArgumentFrame &frame : frames)
    packed.push_back(frame.getAddress());
  if (!resultTypes.empty())
    packed.insert(results.isFirst() ? packed.begin() : packed.end(), results.getAddress());

  if (options.threads)
    setNumThreads(options.threads);
  std::optional<GuardFaultHandler> handler;
  if (guard)
    handler.emplace();
  RunReport report;
  unsigned warmups = options.repeat ? 1 : 0;
  unsigned calls = warmups + std::max(options.repeat, 1u);
  for (unsigned call = 0; call < calls; ++call) {
    for (ArgumentFrame &frame : frames)
      frame.refill();
    auto start = std::chrono::steady_clock::now();
    entry(packed.data());
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (call >= warmups)
      report.times.push_back(elapsed.count());
    if (call + 1 == calls) {
      for (unsigned position = 0; position < resultTypes.size(); ++position) {
        auto result = results.read(position);
        if (!result)
          return result.takeError();
        report.results.push_back(std::move(*result));
      }
    }
    results.release(frames, guard);
  }
  for (ArgumentFrame &frame : frames)
    report.damage += frame.describeDamage();
  if (guard)
    report.damage += takeGuardedHeapDamage();
  return std::move(report);
}
