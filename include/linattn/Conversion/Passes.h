//===- Passes.h - conversions out of linattn ----------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_PASSES_H
#define LINATTN_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::linattn {

#define GEN_PASS_DECL
#include "linattn/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "linattn/Conversion/Passes.h.inc"

} // namespace mlir::linattn

#endif // LINATTN_CONVERSION_PASSES_H
