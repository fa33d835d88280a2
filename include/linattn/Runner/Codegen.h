//===- Codegen.h - from a module to code of a machine -------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_CODEGEN_H
#define LINATTN_RUNNER_CODEGEN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace llvm {
class Module;
class raw_pwrite_stream;
class TargetMachine;
} // namespace llvm

namespace mlir::linattn {

/// From tensors to the LLVM dialect.
inline constexpr llvm::StringLiteral kDefaultPipeline = "builtin.module(linattn-to-cpu-pipeline)";

/// Has the pipeline make a function `_mlir_ciface_<name>` with C's calling convention.
void emitCInterface(func::FuncOp function);

/// Describes the machine to the module and runs a textual pass pipeline over it.
llvm::Error runPipeline(ModuleOp module, const llvm::TargetMachine &machine,
                        llvm::StringRef pipeline);

/// LLVM's optimisations; `machine` must outlive them.
std::function<llvm::Error(llvm::Module *)> getOptimizations(llvm::TargetMachine &machine);

enum class CodeKind { object, assembly, llvm };

/// Translates a module that is in the LLVM dialect, optimises it and writes it.
llvm::Error emitCode(ModuleOp module, llvm::TargetMachine &machine, CodeKind kind,
                     llvm::raw_pwrite_stream &os);

} // namespace mlir::linattn

#endif // LINATTN_RUNNER_CODEGEN_H
