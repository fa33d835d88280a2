//===- GuardedMemory.cpp - buffers that notice stray accesses -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/GuardedMemory.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include <atomic>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::linattn;

//===----------------------------------------------------------------------===//
// The fault handler
//===----------------------------------------------------------------------===//

namespace {
/// What the handler knows of one buffer. A signal handler can be given no context, so the table is
/// global; it has a fixed size because a handler must not meet a container that is being changed.
struct GuardSlot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> first{0}, last{0}; // the mapping; 0 while the slot is not in use
  uintptr_t begin, end;                     // the data
  char name[80];
};
} // namespace

static GuardSlot guardSlots[4096];
static struct sigaction previousAction;

/// Appends to a line in a fixed buffer; nothing here allocates.
namespace {
struct SignalSafeLine {
  char text[256];
  size_t size = 0;

  void add(const char *part) {
    while (*part && size < sizeof(text))
      text[size++] = *part++;
  }
  void add(uint64_t number) {
    char digits[20];
    int count = 0;
    do
      digits[count++] = '0' + number % 10;
    while (number /= 10);
    while (count && size < sizeof(text))
      text[size++] = digits[--count];
  }
};
} // namespace

static void onFault(int signal, siginfo_t *info, void *context) {
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (GuardSlot &slot : guardSlots) {
    if (address < slot.first.load() || address >= slot.last.load())
      continue;
    const char *access = "accessed";
#if defined(__x86_64__) && defined(__linux__)
    bool isWrite = static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & 2;
    access = isWrite ? "wrote" : "read";
#endif
    SignalSafeLine line;
    line.add("error: the function ");
    line.add(access);
    line.add(" memory ");
    line.add(address < slot.begin ? slot.begin - address : address - slot.end);
    line.add(address < slot.begin ? " bytes before " : " bytes past the end of ");
    line.add(slot.name);
    line.add("\n");
    ssize_t ignored = write(STDERR_FILENO, line.text, line.size);
    (void)ignored;
    _exit(1);
  }
  // Not ours: the access runs again under the previous handler.
  sigaction(signal, &previousAction, nullptr);
}

GuardFaultHandler::GuardFaultHandler() {
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previousAction);
}

GuardFaultHandler::~GuardFaultHandler() { sigaction(SIGSEGV, &previousAction, nullptr); }

//===----------------------------------------------------------------------===//
// GuardedBuffer
//===----------------------------------------------------------------------===//

llvm::Expected<GuardedBuffer> GuardedBuffer::create(uint64_t bytes, uint64_t alignment,
                                                    uint8_t poison, StringRef name) {
  uint64_t page = llvm::sys::Process::getPageSizeEstimate();
  GuardedBuffer buffer;
  // At least one page between the inaccessible ones, so that an empty buffer has an address.
  uint64_t room = llvm::alignTo(std::max<uint64_t>(bytes, 1), std::max(page, alignment));
  void *mapping = MAP_FAILED;
  if (room >= bytes)
    mapping = mmap(nullptr, room + 2 * page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    // no-test: needs a full address space
    return llvm::createStringError("no memory for " + Twine(bytes) + " guarded bytes");
  buffer.mapping = static_cast<char *>(mapping);
  buffer.mappedBytes = room + 2 * page;
  char *end = buffer.mapping + page + room;
  if (mprotect(buffer.mapping, page, PROT_NONE) || mprotect(end, page, PROT_NONE))
    // no-test: a failure of mprotect
    return llvm::createStringError("cannot protect the pages around a guarded buffer");
  std::memset(buffer.mapping + page, poison, room);
  buffer.begin = reinterpret_cast<char *>(
      llvm::alignDown(reinterpret_cast<uintptr_t>(end) - bytes, alignment));
  buffer.bytes = bytes;
  buffer.poison = poison;
  buffer.name = name.str();

  for (auto [index, slot] : llvm::enumerate(guardSlots)) {
    if (slot.taken.exchange(true))
      continue;
    slot.begin = reinterpret_cast<uintptr_t>(buffer.begin);
    slot.end = slot.begin + bytes;
    size_t length = std::min(name.size(), sizeof(slot.name) - 1);
    std::memcpy(slot.name, name.data(), length);
    slot.name[length] = 0;
    slot.first = reinterpret_cast<uintptr_t>(buffer.mapping);
    slot.last = slot.first + buffer.mappedBytes;
    buffer.slot = index;
    break;
  }
  return std::move(buffer);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer &&other)
    : mapping(std::exchange(other.mapping, nullptr)), mappedBytes(other.mappedBytes),
      begin(other.begin), bytes(other.bytes), poison(other.poison), name(std::move(other.name)),
      slot(std::exchange(other.slot, -1)) {}

GuardedBuffer::~GuardedBuffer() {
  if (slot >= 0) {
    guardSlots[slot].last = 0;
    guardSlots[slot].first = 0;
    guardSlots[slot].taken = false;
  }
  if (mapping)
    munmap(mapping, mappedBytes);
}

std::string GuardedBuffer::describeDamage() const {
  uint64_t page = llvm::sys::Process::getPageSizeEstimate();
  auto count = [&](const char *first, const char *last) {
    return llvm::count_if(llvm::make_range(first, last),
                          [&](char byte) { return static_cast<uint8_t>(byte) != poison; });
  };
  std::string text;
  if (auto before = count(mapping + page, begin))
    text += "the function wrote " + std::to_string(before) + " bytes before " + name + "\n";
  if (auto after = count(begin + bytes, mapping + mappedBytes - page))
    text += "the function wrote " + std::to_string(after) + " bytes past the end of " + name + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// The guarded heap
//===----------------------------------------------------------------------===//

namespace {
/// Generated code calls malloc and free without a context argument, hence a global.
struct GuardedHeap {
  std::mutex mutex;
  std::map<void *, GuardedBuffer> buffers;
  std::string damage;
};
} // namespace

static GuardedHeap &getHeap() {
  static GuardedHeap heap;
  return heap;
}

void *linattn::guardedAlignedAlloc(size_t alignment, size_t bytes) {
  std::string name = "a buffer of " + std::to_string(bytes) + " bytes that the function allocated";
  llvm::Expected<GuardedBuffer> buffer =
      GuardedBuffer::create(bytes, alignment, kFloatPoison, name);
  if (!buffer) {
    llvm::consumeError(buffer.takeError());
    return nullptr;
  }
  void *data = buffer->data();
  std::lock_guard<std::mutex> lock(getHeap().mutex);
  getHeap().buffers.emplace(data, std::move(*buffer));
  return data;
}

void *linattn::guardedMalloc(size_t bytes) { return guardedAlignedAlloc(16, bytes); }

void linattn::guardedFree(void *data) {
  if (!data)
    return;
  GuardedHeap &heap = getHeap();
  std::lock_guard<std::mutex> lock(heap.mutex);
  auto it = heap.buffers.find(data);
  if (it == heap.buffers.end()) {
    heap.damage += "the function freed a pointer that it had not allocated\n";
    return;
  }
  heap.damage += it->second.describeDamage();
  heap.buffers.erase(it);
}

std::string linattn::takeGuardedHeapDamage() {
  GuardedHeap &heap = getHeap();
  std::lock_guard<std::mutex> lock(heap.mutex);
  for (auto &[data, buffer] : heap.buffers)
    heap.damage += buffer.describeDamage();
  heap.buffers.clear();
  return std::exchange(heap.damage, {});
}
