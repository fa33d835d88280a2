//===- OperandAccess.h - the slices of a recurrence's operands ----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_LIB_CONVERSION_TOLOOPS_OPERANDACCESS_H
#define LINATTN_LIB_CONVERSION_TOLOOPS_OPERANDACCESS_H

#include "linattn/Utils/IndexForm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::linattn {

/// Where one step is: a value for each iteration dim. For time it is the first token of the step;
/// `live` is the number of its tokens, null for programs without `step`.
struct StepPoint {
  SmallVector<OpFoldResult> ivs;
  OpFoldResult live;
};

/// How the slices of one operand lie in a tensor: an indexing map as forms over iteration dims and
/// then slice dims. Loads the slice of a step from the tensor, and stores one into it.
class OperandAccess {
public:
  OperandAccess(SmallVector<IndexForm> forms, unsigned timeDim, unsigned numIterators,
                unsigned numSliceDims)
      : forms(std::move(forms)), timeDim(timeDim), numIterators(numIterators),
        numSliceDims(numSliceDims) {}

  /// The slice of `point` as a value of type `slice`. With live rows and a map that uses time the
  /// slice has a leading dim for the rows; those that are not live read as 0.
  Value load(OpBuilder &builder, Location loc, Value tensor, const StepPoint &point,
             Type slice) const;

  /// `tensor` with the slice of `point` replaced by `slice`; rows that are not live are left alone.
  Value store(OpBuilder &builder, Location loc, Value slice, Value tensor,
              const StepPoint &point) const;

  ArrayRef<IndexForm> getForms() const { return forms; }
  bool usesTime() const;

private:
  struct Box {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    /// Domain positions (slice dims, or time for the rows) in the order of the operand's dims.
    SmallVector<unsigned> order;
  };
  /// The operand dim that the tokens of a step lie along, if they lie in one strided box: time
  /// alone with slice dims of other operand dims. None if rows have to be gathered.
  std::optional<unsigned> getRowDim() const;
  Box getBox(OpBuilder &builder, Location loc, Value tensor, const StepPoint &point, Type slice,
             std::optional<unsigned> rowDim) const;
  Value loadRow(OpBuilder &builder, Location loc, Value tensor, const StepPoint &point,
                Type slice) const;
  Value storeRow(OpBuilder &builder, Location loc, Value slice, Value tensor,
                 const StepPoint &point) const;
  StepPoint advance(OpBuilder &builder, Location loc, const StepPoint &point, Value row) const;

  SmallVector<IndexForm> forms;
  unsigned timeDim, numIterators, numSliceDims;
};

/// `expr` with its dims replaced by `values`.
OpFoldResult applyExpr(OpBuilder &builder, Location loc, AffineExpr expr,
                       ArrayRef<OpFoldResult> values);

} // namespace mlir::linattn

#endif // LINATTN_LIB_CONVERSION_TOLOOPS_OPERANDACCESS_H
