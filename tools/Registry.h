//===- Registry.h - what programs may use -------------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TOOLS_REGISTRY_H
#define LINATTN_TOOLS_REGISTRY_H

#include "linattn/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

namespace mlir::linattn {

/// All passes, and a registry of all dialects of MLIR and ours with their translations to LLVM IR.
inline DialectRegistry registerEverything() {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  mlir::registerAllPasses();
  linattn::registerAllDialects(registry);
  linattn::registerAllPasses();
  return registry;
}

} // namespace mlir::linattn

#endif // LINATTN_TOOLS_REGISTRY_H
