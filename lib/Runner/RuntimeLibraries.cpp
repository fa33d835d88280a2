//===- RuntimeLibraries.cpp - libraries that generated code calls -------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeLibraries.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::linattn;

#define LINATTN_STRINGIFY_(x) #x
#define LINATTN_STRINGIFY(x) LINATTN_STRINGIFY_(x)
#define LINATTN_LLVM_SUFFIX                                                                        \
  LINATTN_STRINGIFY(LLVM_VERSION_MAJOR) "." LINATTN_STRINGIFY(LLVM_VERSION_MINOR)

namespace {
/// A library that is loaded when a function whose name starts with `prefix` is called.
struct RuntimeLibrary {
  const char *prefix;
  const char *files[2];
};
} // namespace

static constexpr RuntimeLibrary runtimeLibraries[] = {
    {"__kmpc_", {"libomp.so.5", "libomp.so"}},
    {"omp_", {"libomp.so.5", "libomp.so"}},
    {"memrefCopy", {"libmlir_c_runner_utils.so." LINATTN_LLVM_SUFFIX, "libmlir_c_runner_utils.so"}},
};

/// dlopen looks along the run path of the binary it is called from, here the one linked to MLIR.
static bool load(const RuntimeLibrary &library) {
  return llvm::any_of(library.files,
                      [](const char *file) { return dlopen(file, RTLD_NOW | RTLD_GLOBAL); });
}

llvm::Error linattn::loadRuntimeLibraries(const llvm::Module &module) {
  for (const llvm::Function &function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty())
      continue;
    std::string name = function.getName().str();
    if (dlsym(RTLD_DEFAULT, name.c_str()))
      continue;
    for (const RuntimeLibrary &library : runtimeLibraries) {
      if (!StringRef(name).starts_with(library.prefix))
        continue;
      if (!load(library))
        // no-test: the libraries are there wherever the tests run
        return llvm::createStringError(
            "the generated code calls '" + name + "', but " + library.files[0] +
            " cannot be loaded; install it or add its folder to LD_LIBRARY_PATH");
      break;
    }
    if (!dlsym(RTLD_DEFAULT, name.c_str()))
      return llvm::createStringError("the generated code calls '" + name +
                                     "', which no loaded library defines");
  }
  return llvm::Error::success();
}

float linattn::truncateToBF16(float value) {
  auto bits = llvm::bit_cast<uint32_t>(value);
  // Round to nearest even; a NaN keeps its upper bits and stays one.
  bits = std::isnan(value) ? (bits >> 16) | 0x40 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return llvm::bit_cast<float>(bits);
}

float linattn::truncateToBF16(double value) {
  // Not by way of float, which would round twice.
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return llvm::bit_cast<float>(static_cast<uint32_t>(number.bitcastToAPInt().getZExtValue()));
}

void linattn::setNumThreads(unsigned threads) {
  if (void *function = dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
    reinterpret_cast<void (*)(int)>(function)(threads);
}
