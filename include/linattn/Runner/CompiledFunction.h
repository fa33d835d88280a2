//===- CompiledFunction.h - compile a function and call it --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_COMPILEDFUNCTION_H
#define LINATTN_RUNNER_COMPILEDFUNCTION_H

#include "linattn/Runner/Codegen.h"
#include "linattn/Runner/HostArray.h"
#include "linattn/Target/TargetMachine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace mlir::linattn {

/// The function called `name`; when the name is empty, the module's only public function with a
/// body. Otherwise an error that lists the candidates.
llvm::Expected<func::FuncOp> findFunction(ModuleOp module, llvm::StringRef name);

/// Accepts functions over ranked tensors and scalars whose element types a HostArray can hold.
llvm::Error checkSignature(func::FuncOp function);

struct CompileOptions {
  /// A textual pass pipeline over builtin.module that ends in the LLVM dialect.
  std::string pipeline = kDefaultPipeline.str();
  /// A CPU that can run what this process can.
  TargetName target;
  /// Let the function allocate guarded memory (see GuardedMemory.h).
  bool guard = false;
  /// A file to receive the module after the pipeline; empty: none.
  std::string saveIR;
};

/// Milliseconds.
struct CompileTimes {
  double passes = 0;
  double codegen = 0;
};

struct RunOptions {
  /// 0: one call. N: a warm-up call, then N timed ones.
  unsigned repeat = 0;
  /// OpenMP threads; 0: the runtime's default.
  unsigned threads = 0;
  /// How messages call each argument.
  llvm::SmallVector<std::string> argumentNames;
};

struct RunReport {
  /// The results of the last call.
  llvm::SmallVector<HostArray> results;
  /// Milliseconds of each timed call.
  llvm::SmallVector<double> times;
  /// With guards: lines on what was overwritten around the buffers; empty if nothing was.
  std::string damage;
};

/// A function over tensors and scalars, compiled for this process.
///
/// Tensors travel as memref descriptors with identity layout. The function may overwrite its
/// arguments; every call gets fresh copies.
class CompiledFunction {
public:
  /// Lowers `module` in place and compiles it. Diagnostics of passes go to the context's handler.
  static llvm::Expected<std::unique_ptr<CompiledFunction>>
  compile(ModuleOp module, func::FuncOp function, const CompileOptions &options);
  ~CompiledFunction();

  /// Calls the function. The arguments must have its types (see `checkArgument`).
  llvm::Expected<RunReport> run(llvm::ArrayRef<HostArray> arguments, const RunOptions &options);

  llvm::ArrayRef<Type> getResultTypes() const { return resultTypes; }
  const CompileTimes &getTimes() const { return times; }

private:
  CompiledFunction() = default;

  llvm::SmallVector<Type> argumentTypes, resultTypes;
  bool guard = false;
  CompileTimes times;
  std::unique_ptr<ExecutionEngine> engine;
  void (*entry)(void **) = nullptr;
};

} // namespace mlir::linattn

#endif // LINATTN_RUNNER_COMPILEDFUNCTION_H
