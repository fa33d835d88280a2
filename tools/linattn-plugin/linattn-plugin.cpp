//===- linattn-plugin.cpp - linattn inside a stock mlir-opt -------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
//   mlir-opt --load-dialect-plugin=linattn-plugin.so --load-pass-plugin=linattn-plugin.so
//            --pass-pipeline='builtin.module(linattn-to-loops)' file.mlir
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "linattn", LINATTN_VERSION,
          [](DialectRegistry *registry) { linattn::registerAllDialects(*registry); }};
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "linattn", LINATTN_VERSION,
          [] { linattn::registerAllPasses(); }};
}
