//===- SetTarget.cpp - say which CPU a module is for --------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Target/TargetDescription.h"
#include "linattn/Target/TargetMachine.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_SETTARGETPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;

namespace {
struct SetTarget : linattn::impl::SetTargetPassBase<SetTarget> {
  using SetTargetPassBase::SetTargetPassBase;

  void runOnOperation() override {
    auto machine =
        createTargetMachine({triple, cpu, llvm::join(features, ",")}, /*inThisProcess=*/false);
    if (!machine) {
      getOperation().emitError() << llvm::toString(machine.takeError());
      return signalPassFailure();
    }
    TargetDescription::get(**machine).attachTo(getOperation());
  }
};
} // namespace
