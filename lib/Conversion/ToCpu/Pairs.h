//===- Pairs.h - products of bf16 numbers, two at a time ----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Dot instructions multiply pairs of bf16 numbers and add both products to an f32. A pair is kept
// as one i32 with its first number in the lower half, as it lies in memory, so that a matrix of
// pairs is an ordinary matrix: maps, loops, masks and broadcasts need no rule for it.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_LIB_CONVERSION_TOCPU_PAIRS_H
#define LINATTN_LIB_CONVERSION_TOCPU_PAIRS_H

#include "linattn/Conversion/ToCpu.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::linattn {

/// The pair of two numbers of f32, which are rounded, or of bf16.
Value createPair(OpBuilder &builder, Location loc, Value first, Value second);
/// True if the body makes pairs of its two inputs by `createPair`.
bool makesPairs(linalg::GenericOp op);

/// `sum` plus both products of two pairs, in the arithmetic of every target.
Value createPairProduct(OpBuilder &builder, Location loc, Value a, Value b, Value sum);
/// True if the body is a sum of `createPairProduct`.
bool multipliesPairs(linalg::GenericOp op);

/// True if the dot instruction has a form for so many sums at once.
inline bool hasDot(int64_t lanes) { return lanes == 4 || lanes == 8 || lanes == 16; }
/// `sums` plus the products of pairs by the target's dot instruction: vectors of i32 or of bf16.
Value createDot(OpBuilder &builder, Location loc, Value a, Value b, Value sums);

/// Vectors for an op that makes pairs, of neighbours in a row or of rows. Fails and leaves the op
/// alone if it does not.
LogicalResult vectorizePairs(RewriterBase &rewriter, linalg::GenericOp op,
                             const VectorizeOptions &options);

} // namespace mlir::linattn

#endif // LINATTN_LIB_CONVERSION_TOCPU_PAIRS_H
