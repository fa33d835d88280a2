//===- TensorUtils.h - small builders for tensors -----------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_UTILS_TENSORUTILS_H
#define LINATTN_UTILS_TENSORUTILS_H

#include "mlir/IR/Builders.h"

namespace mlir::linattn {

/// The number zero of an integer, index, float or complex type.
Value createZero(OpBuilder &builder, Location loc, Type type);

/// A new tensor of the given sizes, filled with zeros.
Value createZeros(OpBuilder &builder, Location loc, Type element, ArrayRef<OpFoldResult> sizes);

/// A tensor as bf16; one that was extended from bf16 is that.
Value roundToBf16(OpBuilder &builder, Location loc, Value value);

/// `value` as the next value of `carried`, which a loop carries: a copy into it for tensors, so
/// that the loop keeps one buffer. The copy disappears where the value is computed in place.
Value carry(OpBuilder &builder, Location loc, Value value, Value carried);

/// Row `row` of a tensor of rows, as `type`: a number, or a tensor without the leading dim.
Value extractRow(OpBuilder &builder, Location loc, Value rows, OpFoldResult row, Type type);

/// `rows` with `value`, a number or a tensor without the leading dim, as row `row`.
Value insertRow(OpBuilder &builder, Location loc, Value value, Value rows, OpFoldResult row);

} // namespace mlir::linattn

#endif // LINATTN_UTILS_TENSORUTILS_H
