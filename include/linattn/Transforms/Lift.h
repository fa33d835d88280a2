//===- Lift.h - ops of one token for the tokens of a chunk --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_LIFT_H
#define LINATTN_TRANSFORMS_LIFT_H

#include "linattn/IR/Lifting.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::linattn {

/// The operands of an op and what its regions use of outside.
llvm::SetVector<Value> getUsedValues(Operation *op);

/// Lifts an op whose operands (and captured values) are all in `lifting`, and adds its results to
/// it: elementwise ops by trait, linalg ops by one more parallel dim, others through
/// LiftableOpInterface. An op that uses no lifted value is cloned. Fails on ops without a lifted
/// form.
LogicalResult liftOp(OpBuilder &builder, Operation *op, Lifting &lifting);

/// False if `liftOp` cannot lift the op, whatever its operands are.
bool hasLiftedForm(Operation *op);

/// The lifted form of a token's value: itself, or copied to every row if it is invariant. `shape`
/// is the shape of one row, to which a scalar is broadcast.
Value getLifted(OpBuilder &builder, Location loc, Value token, Lifting &lifting,
                ArrayRef<int64_t> shape);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_LIFT_H
