//===- Passes.h - conversions out of linattn ----------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_PASSES_H
#define LINATTN_TRANSFORMS_PASSES_H

#include "linattn/IR/LinAttn.h"

#include "mlir/Pass/Pass.h"

namespace mlir::linattn {

#define GEN_PASS_DECL
#include "linattn/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "linattn/Transforms/Passes.h.inc"

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_PASSES_H
