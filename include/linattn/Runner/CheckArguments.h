//===- CheckArguments.h - arguments that a recurrence cannot take -------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_CHECKARGUMENTS_H
#define LINATTN_RUNNER_CHECKARGUMENTS_H

#include "linattn/Runner/HostArray.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::linattn {

/// What the verifier cannot know of dynamic shapes and of the values of segment offsets, checked on
/// the arguments of a function before it runs: for each recurrence, the arguments that are its
/// operands agree on the extents of its dims, hold every index that the maps reach, and offsets
/// start at 0, do not decrease and end at the number of tokens.
llvm::Error checkArguments(func::FuncOp function, llvm::ArrayRef<HostArray> arguments,
                           llvm::ArrayRef<std::string> names);

} // namespace mlir::linattn

#endif // LINATTN_RUNNER_CHECKARGUMENTS_H
