//===- ColumnsLast.h - states with their value columns along the last axis ----------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_COLUMNSLAST_H
#define LINATTN_TRANSFORMS_COLUMNSLAST_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::linattn {
class RecurrenceOp;

/// Makes the body of a recurrence see the value columns (see ValueAxes) of all its tensors as their
/// last axis. Operands keep their layout in memory: the maps change. Fails and leaves the op alone
/// if all columns are last, and, with a remark, if that has no gain or an op has no such form.
LogicalResult putColumnsLast(RewriterBase &rewriter, RecurrenceOp op);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_COLUMNSLAST_H
