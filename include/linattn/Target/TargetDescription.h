//===- TargetDescription.h - what code generation asks of a CPU ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TARGET_TARGETDESCRIPTION_H
#define LINATTN_TARGET_TARGETDESCRIPTION_H

#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir::linattn {

/// What the choice of code depends on. The values here are those of a module that says nothing of
/// its target: AVX-512 as of x86-64-v4.
struct TargetDescription {
  int64_t vectorBits = 512;     ///< width of a vector register
  int64_t vectorRegisters = 32; ///< how many there are
  bool hasMasks = true;         ///< loads and stores of some lanes
  bool convertsBf16 = false;    ///< instructions from f32 to bf16
  bool hasBf16Dot = false;      ///< adds products of pairs of bf16 to f32

  static TargetDescription get(const llvm::TargetMachine &machine);

  /// What the module around `op` says (see `attachTo`); the values above for the rest.
  static TargetDescription get(Operation *op);

  /// True if the module around `op` says what its target is.
  static bool isKnown(Operation *op);

  /// Writes the description to the module's `dlti.target_system_spec`, as device "CPU", unless the
  /// module has that attribute.
  void attachTo(ModuleOp module) const;
};

} // namespace mlir::linattn

#endif // LINATTN_TARGET_TARGETDESCRIPTION_H
