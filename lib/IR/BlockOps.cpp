//===- BlockOps.cpp - running products, brackets, sums and solves -------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"

using namespace mlir;
using namespace mlir::linattn;

LogicalResult RunningProductOp::verify() {
  RankedTensorType type = getFactors().getType();
  if (type.getRank() < 1 || type.getRank() > 2 || !type.hasStaticShape())
    return emitOpError() << "expects factors of static shape [C] or [C, K], got " << type;
  return success();
}

/// Only f32 has digits to lose and products to gain.
static LogicalResult verifyOperandPrecision(Operation *op, bool isRounded, Type element) {
  if (isRounded && !element.isF32())
    return op->emitOpError() << "rounds operands of f32 to bf16, got " << element
                             << "; drop 'bf16_operands'";
  return success();
}

LogicalResult BracketOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto reads = dyn_cast<RankedTensorType>(adaptor.getReads().getType());
  if (!reads || reads.getRank() != 2)
    return emitOptionalError(loc, "linattn.bracket expects reads of shape [C, K], got ",
                             adaptor.getReads().getType());
  types.push_back(
      RankedTensorType::get({reads.getDimSize(0), reads.getDimSize(0)}, reads.getElementType()));
  return success();
}

LogicalResult BracketOp::verify() {
  RankedTensorType reads = getReads().getType(), writes = getWrites().getType();
  if (reads != writes || !reads.hasStaticShape())
    return emitOpError() << "expects reads and writes of one static shape [C, K], got " << reads
                         << " and " << writes;
  RankedTensorType scalars = RankedTensorType::get({reads.getDimSize(0)}, reads.getElementType());
  if (Value decay = getDecay(); decay && decay.getType() != reads && decay.getType() != scalars)
    return emitOpError() << "expects a decay of type " << scalars << " (one per token) or " << reads
                         << " (one per token and channel), got " << decay.getType();
  if (Value diagonal = getDiagonal(); diagonal && diagonal.getType() != scalars)
    return emitOpError() << "expects a diagonal of type " << scalars << ", got "
                         << diagonal.getType();
  if (int64_t(getSubchunk()) < 1)
    return emitOpError() << "expects a subchunk of at least 1 row, got " << int64_t(getSubchunk());
  return verifyOperandPrecision(*this, getBf16Operands(), reads.getElementType());
}

static LogicalResult verifySquare(Operation *op, RankedTensorType matrix) {
  if (matrix.getRank() != 2 || !matrix.hasStaticShape() ||
      matrix.getDimSize(0) != matrix.getDimSize(1))
    return op->emitOpError() << "expects a square matrix of static shape, got " << matrix;
  return success();
}

LogicalResult WeightedSumOp::verify() {
  RankedTensorType matrix = getMatrix().getType(), values = getValues().getType();
  if (failed(verifySquare(*this, matrix)))
    return failure();
  if (values.getRank() != 2 || !values.hasStaticShape() ||
      values.getDimSize(0) != matrix.getDimSize(0) ||
      values.getElementType() != matrix.getElementType())
    return emitOpError() << "expects values of static shape [" << matrix.getDimSize(0)
                         << ", V] and element type " << matrix.getElementType() << ", got "
                         << values;
  if (int64_t(getSubchunk()) < 1)
    return emitOpError() << "expects a subchunk of at least 1 row, got " << int64_t(getSubchunk());
  return verifyOperandPrecision(*this, getBf16Operands(), values.getElementType());
}

LogicalResult SolveOp::verify() {
  RankedTensorType matrix = getMatrix().getType(), rhs = getRhs().getType();
  if (failed(verifySquare(*this, matrix)))
    return failure();
  if (rhs.getRank() < 1 || rhs.getRank() > 2 || rhs.getDimSize(0) != matrix.getDimSize(0) ||
      rhs.getElementType() != matrix.getElementType())
    return emitOpError() << "expects a right-hand side of " << matrix.getDimSize(0)
                         << " rows and element type " << matrix.getElementType() << ", got " << rhs;
  if (int64_t(getSubchunk()) < 1)
    return emitOpError() << "expects a subchunk of at least 1 row, got " << int64_t(getSubchunk());
  return success();
}
