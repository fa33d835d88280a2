//===- ValueAxes.h - which axes of a body hold value columns ------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_ANALYSIS_VALUEAXES_H
#define LINATTN_ANALYSIS_VALUEAXES_H

#include "linattn/IR/LinAttn.h"

namespace mlir::linattn {

/// Where the value columns of a recurrence are: those axes of the values of its body along which
/// column j of everything depends on column j of everything else only. In `S + k v^T` read at q,
/// these are the last axes of S and v and what is read, but no axis of k or q.
class ValueAxes {
public:
  explicit ValueAxes(RecurrenceOp op);

  /// The number of columns; none if no state has independent columns.
  std::optional<int64_t> getExtent() const { return extent; }
  /// The axis of a body's value that runs over the columns; none if it is the same for all of them.
  std::optional<unsigned> getAxis(Value value) const {
    auto axis = axes.find(value);
    return axis == axes.end() ? std::nullopt : std::optional(axis->second);
  }
  /// If every axis of every state is mixed, an op that does so; else null.
  Operation *getMixer() const { return mixer; }

private:
  std::optional<int64_t> extent;
  llvm::DenseMap<Value, unsigned> axes;
  Operation *mixer = nullptr;
};

} // namespace mlir::linattn

#endif // LINATTN_ANALYSIS_VALUEAXES_H
