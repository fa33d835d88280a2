//===- InitAll.cpp - registers everything that linattn offers -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/InitAll.h"

#include "linattn/Conversion/Passes.h"
#include "linattn/IR/LinAttn.h"
#include "linattn/Pipelines/Pipelines.h"
#include "linattn/TransformOps/LinAttnTransformOps.h"
#include "linattn/Transforms/ExternalModels.h"
#include "linattn/Transforms/Passes.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void linattn::registerAllDialects(DialectRegistry &registry) {
  registry.insert<LinAttnDialect>();
  registerLiftableExternalModels(registry);
  registerRuntimeVerifiableExternalModels(registry);
  registerTilingInterfaceExternalModels(registry);
  registerTransformDialectExtension(registry);
}

void linattn::registerAllPasses() {
  // MLIR aborts on a pipeline that is registered twice.
  static const bool once = [] {
    registerLinAttnTransformsPasses();
    registerLinAttnConversionPasses();
    registerLinAttnPipelines();
    return true;
  }();
  (void)once;
}
