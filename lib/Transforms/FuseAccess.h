//===- FuseAccess.h - where a recurrence finds an operand ---------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_LIB_TRANSFORMS_FUSEACCESS_H
#define LINATTN_LIB_TRANSFORMS_FUSEACCESS_H

#include "linattn/IR/LinAttn.h"
#include "linattn/Utils/IndexForm.h"

namespace mlir::linattn {

/// A tensor and the index in each of its dims, over the iteration dims and, behind them, the loops
/// inside of one token. `extents` are those of all of these; dynamic where they are not known.
struct Access {
  Value value;
  AffineMap map;
  SmallVector<int64_t> extents;

  static Access get(RecurrenceOp op, OpOperand &input, Type slice);
  ArrayRef<int64_t> getShape() const { return cast<RankedTensorType>(value.getType()).getShape(); }
};

/// The same entries, taken from what `access.value` is a reshaped, sliced or permuted copy of.
/// Fails if it is no such copy.
FailureOr<Access> lookThroughCopy(const Access &access);

/// The indices in the dims of a reshaped tensor: `index` in mixed radix of `sizes`, of which the
/// first may be dynamic. Fails if an index might not be the digits of `index`.
FailureOr<SmallVector<AffineExpr>> delinearize(AffineExpr index, ArrayRef<int64_t> sizes,
                                               ArrayRef<int64_t> extents);
/// The opposite.
FailureOr<AffineExpr> linearize(ArrayRef<AffineExpr> indices, ArrayRef<int64_t> sizes);

/// A sequence of tokens behind rows that are there before the first one: by tensor.pad,
/// tensor.concat, or two tensor.insert_slice.
struct History {
  Value past;    ///< these rows; null if all entries are `padding`
  Value padding; ///< a constant
  Value tokens;
  unsigned dim;   ///< of the tokens
  int64_t length; ///< rows of the past

  static std::optional<History> get(Value value);
};

/// The rows that one token reads of a sequence behind its history: `width` rows, the first of which
/// is `lag` tokens before the current one.
struct HistoryRead {
  History history;
  Access access; ///< of the whole sequence
  int64_t lag, width;
  std::optional<unsigned> window; ///< the loop over these rows, if there is one

  static std::optional<HistoryRead> get(RecurrenceOp op, const Access &access);
  /// Where the current token is; `loops` are those of its entries.
  FailureOr<AffineMap> getTokenMap(RecurrenceOp op, SmallVectorImpl<unsigned> &loops) const;
  /// Why a state cannot keep these rows; empty if it can.
  StringRef getObstacle(RecurrenceOp op) const;
};

/// True if all that reads time does so at the current token, or as `before` does.
bool readsOwnToken(RecurrenceOp op, const Access &access, AffineMap before);

/// A map over iteration dims and loops as one of an operand: the slice dims are the loops that it
/// uses, in the order of the tensor's dims, and `loops` says which they are. Fails if that is no
/// map of an operand.
FailureOr<AffineMap> getOperandMap(RecurrenceOp op, AffineMap map,
                                   SmallVectorImpl<unsigned> &loops);

} // namespace mlir::linattn

#endif // LINATTN_LIB_TRANSFORMS_FUSEACCESS_H
