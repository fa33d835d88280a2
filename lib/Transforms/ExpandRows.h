//===- ExpandRows.h - reads and writes of several rows, row by row ------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_LIB_TRANSFORMS_EXPANDROWS_H
#define LINATTN_LIB_TRANSFORMS_EXPANDROWS_H

#include "linattn/IR/LinAttn.h"

#include "mlir/IR/OwningOpRef.h"

namespace mlir::linattn {

/// A copy of `op` outside of any block in whose body reads and writes with a matrix address `[R,
/// K]`, R static, are R reads or writes with a vector; none if there is nothing to expand.
OwningOpRef<RecurrenceOp> expandRows(RecurrenceOp op);

} // namespace mlir::linattn

#endif // LINATTN_LIB_TRANSFORMS_EXPANDROWS_H
