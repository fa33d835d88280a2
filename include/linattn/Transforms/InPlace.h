//===- InPlace.h - bodies whose states are updated in place -------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_INPLACE_H
#define LINATTN_TRANSFORMS_INPLACE_H

#include "linattn/IR/LinAttn.h"

namespace mlir::linattn {

/// Ops of one block in an order in which each state is updated as late as possible. Decays and
/// writes then find the old state dead and work in place, also where the body reads it later in the
/// text.
SmallVector<Operation *> orderForUpdatesInPlace(ArrayRef<Operation *> ops);

/// Makes `values`, the new values of the given states of `op` in a loop over its tokens, the next
/// values of `carried`, without another buffer: a copy into it, which disappears where the value is
/// computed in place. Values that another state lends (a body that swaps states, or hands one on to
/// the next) are copied before any state changes.
void carryStates(OpBuilder &builder, Location loc, RecurrenceOp op, ArrayRef<unsigned> states,
                 MutableArrayRef<Value> values, ValueRange carried);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_INPLACE_H
