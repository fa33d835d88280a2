//===- SplitTasks.h - enough parallel tasks for the threads -------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_SPLITTASKS_H
#define LINATTN_TRANSFORMS_SPLITTASKS_H

#include <cstdint>

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::linattn {
class RecurrenceOp;

struct SplitTasksOptions {
  int64_t tasks = 1;    ///< wanted: points of the parallel dims
  int64_t columns = 32; ///< value columns that a task has at least
  int64_t chunk = 32;   ///< tokens of which borders of parts of time are multiples
};

/// Splits a recurrence without a plan by value columns (`splitValue`) and, where tasks are still
/// missing, over time (`splitTime`). A dynamic extent counts as 1. Recurrences with a plan are left
/// alone.
void splitTasks(RewriterBase &rewriter, RecurrenceOp op, const SplitTasksOptions &options);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_SPLITTASKS_H
