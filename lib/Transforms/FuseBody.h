//===- FuseBody.h - ops on whole tensors as ops of one token ------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_LIB_TRANSFORMS_FUSEBODY_H
#define LINATTN_LIB_TRANSFORMS_FUSEBODY_H

#include "linattn/IR/LinAttn.h"

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::linattn {

/// Builds a recurrence from another one with more operands or fewer. The body moves along.
class RecurrenceEditor {
public:
  explicit RecurrenceEditor(RecurrenceOp op);

  /// Whether an operand would still tell the extent of each iteration dim, if input `without` were
  /// gone and the maps `added` were there.
  static bool keepsExtents(RecurrenceOp op, unsigned without, ArrayRef<AffineMap> added);

  /// The block argument of an input: of one that is there already, if value and map are the same.
  Value addInput(Value value, AffineMap map, Type slice);
  void eraseInput(Value arg);
  /// Returns the block argument. `addStateYield` must follow.
  Value addState(Value init, AffineMap map, Type slice);
  void addStateYield(Value next) { newStates.push_back(next); }
  void addOut(Value init, AffineMap map, Value yielded);

  /// The new op, in the place of the old one.
  RecurrenceOp finish(RewriterBase &rewriter);

private:
  RecurrenceOp op;
  Block &body;
  SmallVector<Value> ins, outs, states, newOuts, newStates; ///< the last two as they are yielded
  SmallVector<AffineMap> inMaps, outMaps, stateMaps;
};

/// An elementwise op on tensors, or a linalg op with one result, as loops.
class TokenOp {
public:
  /// Fails, with the reason in `obstacle`, on another op.
  static FailureOr<TokenOp> get(Operation *op, StringRef &obstacle);

  Operation *op;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> extents;
  /// What the op reads, among it the init if it is accumulated into.
  SmallVector<OpOperand *> inputs;
  SmallVector<AffineMap> inputMaps;
  AffineMap resultMap;
  OpOperand *init = nullptr; ///< if it is accumulated into

  bool readsTensors() const;
  /// True for a copy of one number to all entries.
  bool isFill() const;

  //===--- In a body -------------------------------------------------------------------------===//

  /// The index of each loop over iteration dims and, behind them, the loops that are left in the
  /// body, which `loops` numbers.
  SmallVector<AffineExpr> indices;
  SmallVector<unsigned> loops;
  SmallVector<int64_t> loopExtents; ///< of the loops that are left

  /// `map`, of an operand or of the result, over iteration dims and loops of the body.
  AffineMap getMap(RecurrenceOp recurrence, AffineMap map) const;
  /// Why the loops cannot be in a body; empty if they can. `accesses` are the maps of the inputs.
  StringRef getObstacle(RecurrenceOp recurrence, ArrayRef<AffineMap> accesses) const;

  /// What an input or the result is in the body.
  struct Slice {
    Value value;
    SmallVector<unsigned> loops; ///< of each of its dims
  };
  /// The computation of one token. `slices` are those of the inputs, `resultLoops` the loops of the
  /// dims of the result.
  Value create(OpBuilder &builder, RecurrenceEditor &editor, RecurrenceOp recurrence,
               ArrayRef<Slice> slices, ArrayRef<unsigned> resultLoops) const;
  Type getSliceType(Type type, ArrayRef<unsigned> sliceLoops) const;

private:
  std::optional<unsigned> findWindow(RecurrenceOp recurrence) const;
  Value createLoops(OpBuilder &builder, RecurrenceEditor &editor, RecurrenceOp recurrence,
                    ArrayRef<Slice> slices, ArrayRef<unsigned> resultLoops,
                    ArrayRef<unsigned> left) const;
  Value createPayload(OpBuilder &builder, RecurrenceEditor &editor, RecurrenceOp recurrence,
                      ValueRange args, ArrayRef<Value> positions) const;
  SmallVector<Value> createPositions(OpBuilder &builder, RecurrenceOp recurrence) const;
};

} // namespace mlir::linattn

#endif // LINATTN_LIB_TRANSFORMS_FUSEBODY_H
