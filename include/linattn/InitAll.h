//===- InitAll.h - registers everything that linattn offers -------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_INITALL_H
#define LINATTN_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::linattn {

/// The linattn dialect, its external models (tiling, run-time verification) and its ops for
/// transform scripts. Upstream dialects are the host's to register.
void registerAllDialects(DialectRegistry &registry);

/// All passes and pipelines of linattn. A plugin and its host may both call this.
void registerAllPasses();

} // namespace mlir::linattn

#endif // LINATTN_INITALL_H
