//===- Pairs.cpp - products of bf16 numbers, two at a time --------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Pairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::linattn;
using linalg::GenericOp;

static constexpr int64_t upperHalf = 0xffff0000;

//===----------------------------------------------------------------------------------------------===//
// Bodies of linalg ops
//===----------------------------------------------------------------------------------------------===//

static Value roundNumber(OpBuilder &builder, Location loc, Value number) {
  Type bf16 = builder.getBF16Type();
  return number.getType() == bf16 ? number
                                  : arith::TruncFOp::create(builder, loc, bf16, number).getResult();
}

Value linattn::createPair(OpBuilder &builder, Location loc, Value first, Value second) {
  auto getBits = [&](Value number) -> Value {
    number = roundNumber(builder, loc, number);
    number = arith::BitcastOp::create(builder, loc, builder.getI16Type(), number);
    return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), number);
  };
  Value low = getBits(first), high = getBits(second);
  Value width = arith::ConstantIntOp::create(builder, loc, 16, 32);
  high = arith::ShLIOp::create(builder, loc, high, width);
  return arith::OrIOp::create(builder, loc, low, high);
}

Value linattn::createPairProduct(OpBuilder &builder, Location loc, Value a, Value b, Value sum) {
  Value width = arith::ConstantIntOp::create(builder, loc, 16, 32);
  Value mask = arith::ConstantIntOp::create(builder, loc, int32_t(upperHalf), 32);
  auto fast = arith::FastMathFlagsAttr::get(builder.getContext(), arith::FastMathFlags::contract);
  for (bool isHigh : {false, true}) {
    // A bf16 is the upper half of an f32.
    auto getNumber = [&](Value pair) -> Value {
      Value bits = isHigh ? arith::AndIOp::create(builder, loc, pair, mask).getResult()
                          : arith::ShLIOp::create(builder, loc, pair, width).getResult();
      return arith::BitcastOp::create(builder, loc, builder.getF32Type(), bits);
    };
    Value left = getNumber(a), right = getNumber(b);
    Value product = arith::MulFOp::create(builder, loc, left, right, fast);
    sum = arith::AddFOp::create(builder, loc, sum, product, fast);
  }
  return sum;
}

/// The operand of the only op of type `OpTy` that makes `value`; null for others.
template <typename OpTy> static Value getSource(Value value) {
  auto op = value ? value.getDefiningOp<OpTy>() : OpTy();
  return op ? op->getOperand(0) : Value();
}

static bool isConstant(Value value, int64_t wanted) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) &&
         constant.getZExtValue() == uint64_t(wanted);
}

bool linattn::makesPairs(GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  auto isBits = [](Value value, Value number) {
    Value rounded = getSource<arith::BitcastOp>(getSource<arith::ExtUIOp>(value));
    if (Value wide = getSource<arith::TruncFOp>(rounded); wide && wide.getType().isF32())
      rounded = wide;
    return rounded == number;
  };
  auto both = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::OrIOp>();
  auto high = both ? both.getRhs().getDefiningOp<arith::ShLIOp>() : arith::ShLIOp();
  return high && isConstant(high.getRhs(), 16) &&
         isBits(both.getLhs(), op.getRegionInputArgs()[0]) &&
         isBits(high.getLhs(), op.getRegionInputArgs()[1]);
}

bool linattn::multipliesPairs(GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  Value a = op.getRegionInputArgs()[0], b = op.getRegionInputArgs()[1];
  auto isNumber = [](Value value, Value pair, bool isHigh) {
    Value bits = getSource<arith::BitcastOp>(value);
    if (!bits || getSource<arith::BitcastOp>(value) == pair)
      return false;
    Operation *half = bits.getDefiningOp();
    if (!half || half->getNumOperands() != 2 || half->getOperand(0) != pair)
      return false;
    return isHigh ? isa<arith::AndIOp>(half) && isConstant(half->getOperand(1), upperHalf)
                  : isa<arith::ShLIOp>(half) && isConstant(half->getOperand(1), 16);
  };
  Value sum = op.getBody()->getTerminator()->getOperand(0);
  for (bool isHigh : {true, false}) {
    auto add = sum.getDefiningOp<arith::AddFOp>();
    auto product = add ? add.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
    if (!product || !isNumber(product.getLhs(), a, isHigh) ||
        !isNumber(product.getRhs(), b, isHigh))
      return false;
    sum = add.getLhs();
  }
  return sum == op.getRegionOutputArgs()[0];
}

//===----------------------------------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------------------------------===//

Value linattn::createDot(OpBuilder &builder, Location loc, Value a, Value b, Value sums) {
  int64_t lanes = cast<VectorType>(sums.getType()).getNumElements();
  auto type = VectorType::get({2 * lanes}, builder.getBF16Type());
  auto getNumbers = [&](Value pairs) -> Value {
    if (pairs.getType() == type)
      return pairs;
    return vector::BitCastOp::create(builder, loc, type, pairs);
  };
  return x86vector::DotBF16Op::create(builder, loc, sums.getType(), sums, getNumbers(a),
                                      getNumbers(b));
}

LogicalResult linattn::vectorizePairs(RewriterBase &rewriter, GenericOp op,
                                      const VectorizeOptions &options) {
  if (!makesPairs(op) || op.getNumLoops() != 2)
    return rewriter.notifyMatchFailure(op, "makes no pairs");
  AffineExpr row, column;
  bindDims(op.getContext(), row, column);
  AffineMap first = op.getIndexingMapsArray()[0];
  bool isAlongRow = first.getResult(0) == row && first.getResult(1) == column * 2;
  auto isContiguous = [](Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    return type.hasStaticShape() && type.isLastDimUnitStride();
  };
  Value source = op.getDpsInputs()[0], target = op.getDpsInits()[0];
  if (op.getDpsInputs()[1] != source || !isContiguous(source) || !isContiguous(target) ||
      (!isAlongRow && (first.getResult(0) != row * 2 || first.getResult(1) != column)))
    return rewriter.notifyMatchFailure(op, "not of neighbours in contiguous rows");

  Location loc = op.getLoc();
  Type i32 = rewriter.getI32Type(), bf16 = rewriter.getBF16Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto multiply = [&](Value index) -> Value {
    return arith::MulIOp::create(rewriter, loc, index, constant(2));
  };
  auto load = [&](Value i, Value j, int64_t size, bool inBounds) -> Value {
    Type element = cast<MemRefType>(source.getType()).getElementType();
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(element));
    Value numbers =
        vector::TransferReadOp::create(rewriter, loc, VectorType::get({size}, element), source,
                                       ValueRange{i, j}, zero, ArrayRef<bool>{inBounds});
    if (element == bf16)
      return numbers;
    return arith::TruncFOp::create(rewriter, loc, VectorType::get({size}, bf16), numbers);
  };
  auto emit = [&](Value i, Value j, int64_t lanes, bool inBounds) {
    Value numbers;
    if (isAlongRow) {
      numbers = load(i, multiply(j), 2 * lanes, inBounds);
    } else {
      Value upper = multiply(i);
      Value lower = arith::AddIOp::create(rewriter, loc, upper, constant(1));
      numbers = vector::InterleaveOp::create(rewriter, loc, load(upper, j, lanes, inBounds),
                                             load(lower, j, lanes, inBounds));
    }
    Value pairs = vector::BitCastOp::create(rewriter, loc, VectorType::get({lanes}, i32), numbers);
    vector::TransferWriteOp::create(rewriter, loc, pairs, target, ValueRange{i, j},
                                    ArrayRef<bool>{inBounds});
  };
  ArrayRef<int64_t> shape = cast<MemRefType>(target.getType()).getShape();
  int64_t lanes = options.target.vectorBits / 32, full = shape[1] / lanes * lanes;
  auto rows = scf::ForOp::create(rewriter, loc, constant(0), constant(shape[0]), constant(1));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(rows.getBody());
  if (full > 0) {
    auto columns = scf::ForOp::create(rewriter, loc, constant(0), constant(full), constant(lanes));
    OpBuilder::InsertionGuard inner(rewriter);
    rewriter.setInsertionPointToStart(columns.getBody());
    emit(rows.getInductionVar(), columns.getInductionVar(), lanes, true);
  }
  if (full < shape[1])
    emit(rows.getInductionVar(), constant(full), lanes, false);
  rewriter.eraseOp(op);
  return success();
}
