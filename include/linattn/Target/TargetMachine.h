//===- TargetMachine.h - LLVM's machine for a named target --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TARGET_TARGETMACHINE_H
#define LINATTN_TARGET_TARGETMACHINE_H

#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir::linattn {

/// A target as on a command line.
struct TargetName {
  std::string triple;   ///< such as aarch64-linux-gnu; empty: this machine's
  std::string cpu;      ///< LLVM's name; empty: this machine's if the triple is, else a generic one
  std::string features; ///< such as +avx512bf16,-fma: beside those of the CPU
};

/// The machine, for code in this process or for an object that may end up in a shared library. An
/// error says which part of the name is unknown and what it should look like.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const TargetName &name,
                                                                         bool inThisProcess);

} // namespace mlir::linattn

#endif // LINATTN_TARGET_TARGETMACHINE_H
