//===- RuntimeLibraries.h - libraries that generated code calls ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_RUNTIMELIBRARIES_H
#define LINATTN_RUNNER_RUNTIMELIBRARIES_H

#include "mlir/Support/LLVM.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace mlir::linattn {

/// Loads into this process what `module` calls: the OpenMP runtime or MLIR's runner utilities. An
/// error names the first function that is still missing.
llvm::Error loadRuntimeLibraries(const llvm::Module &module);

/// The compiler runtime's conversions to bf16 (`__truncsfbf2`, `__truncdfbf2`), which CPUs without
/// such an instruction call and which older libgcc lacks. The results' low 16 bits count: that is
/// where a bf16 return value lies in a float register.
float truncateToBF16(float value);
float truncateToBF16(double value);

/// Sets the number of OpenMP threads of the calling thread's next parallel region, if an OpenMP
/// runtime is loaded.
void setNumThreads(unsigned threads);

} // namespace mlir::linattn

#endif // LINATTN_RUNNER_RUNTIMELIBRARIES_H
