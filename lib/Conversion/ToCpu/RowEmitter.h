//===- RowEmitter.h - loops over vectors for one linalg.generic ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_LIB_CONVERSION_TOCPU_ROWEMITTER_H
#define LINATTN_LIB_CONVERSION_TOCPU_ROWEMITTER_H

#include "linattn/Conversion/ToCpu.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::linattn {

/// Emits the nest of one op along one row dim. Ask `getObstacle` first.
class RowEmitter {
public:
  /// `first`, which may be null, is done where the sums start (see VectorizeLinalg.cpp).
  RowEmitter(RewriterBase &rewriter, linalg::GenericOp op, linalg::GenericOp first, unsigned rowDim,
             const VectorizeOptions &options);

  /// Why there is no vector form, or null.
  const char *getObstacle();
  void emit();

private:
  bool usesRow(AffineMap map) { return map.isFunctionOfDim(rowDim); }
  bool usesRow(OpOperand &operand) { return usesRow(op.getMatchingIndexingMap(&operand)); }
  /// True if the lanes of a row add up to one entry of the init.
  bool reducesRow(OpOperand &init) { return rowReduces && !usesRow(init); }

  void emitLevel(unsigned level, SmallVectorImpl<Value> &sums);
  void emitLoop(unsigned level, Value low, Value high, int64_t step, SmallVectorImpl<Value> &sums);
  void emitRows(unsigned level, SmallVectorImpl<Value> &sums);
  void emitBlocks(unsigned level, SmallVectorImpl<Value> &sums);
  Value getMultiple(Value extent, int64_t step);
  void emitBody(unsigned copy, MutableArrayRef<Value> sums);

  const char *getObstacle(Value operand, AffineMap map);
  bool canStartLate();
  AffineMap getFirstMap(OpOperand &operand);
  Value emitFirst(OpOperand &init, Value value);
  SmallVector<Value> emitOps(Block &block, IRMapping &mapping);
  Value emitDot(IRMapping &mapping);

  SmallVector<Value> getIndices(AffineMap map);
  Value getIndex(unsigned dim);
  Value load(Value operand, AffineMap map);
  Value load(OpOperand &operand) {
    return load(operand.get(), op.getMatchingIndexingMap(&operand));
  }
  void store(OpOperand &init, Value value);
  Value startSum(OpOperand &init);
  void finishSum(OpOperand &init, Value sum);
  Value broadcast(Value value);
  Value getLiveLanes();
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value); }

  RewriterBase &rewriter;
  linalg::GenericOp op;
  linalg::GenericOp first;
  Location loc;
  unsigned rowDim;
  int64_t tile; // entries of a row in one step
  std::optional<unsigned> blockDim;
  int64_t block; // rows in one step of the block dim
  bool limitsUnrolling, hasMasks;
  bool rowReduces = false;
  bool startsLate = false;
  /// Loop order, and for each init the level from which no loop inside indexes it.
  SmallVector<unsigned> order, depth;
  /// The same level for each input, and its entries there: one for all rows of a block, or one
  /// each.
  SmallVector<unsigned> inputDepth;
  SmallVector<SmallVector<Value>> hoisted;
  /// Positions in the block dim of the rows that are done at once. Sums are kept init by init for
  /// each.
  SmallVector<Value> blockRows;
  unsigned getNumCopies() { return std::max<size_t>(blockRows.size(), 1); }
  void selectCopy(unsigned copy) {
    if (!blockRows.empty())
      ivs[*blockDim] = blockRows[copy];
  }
  unsigned getInit(OpOperand &init) { return init.getOperandNumber() - op.getNumDpsInputs(); }
  SmallVector<Operation *> combiners; // of inits that reduce the row, null for others
  SmallVector<Value> ivs, extents;
  bool isPartial = false;
  int64_t dotLanes; // of the target's dot instruction, if the op can use it
};

} // namespace mlir::linattn

#endif // LINATTN_LIB_CONVERSION_TOCPU_ROWEMITTER_H
