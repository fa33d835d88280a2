//===- VectorizeDots.cpp - products of a matrix and a transposed matrix -------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// C = C + A B^T reads rows of A and rows of B: every entry is a dot product of two contiguous rows.
// Transposing B first costs more than the product when there are few rows. Here the lanes run along
// the rows, a block of entries shares the loads, and the lanes of the whole block are added up by
// one tree of shuffles. Partial sums are K / lanes terms long, so they also lose fewer digits than
// a sum over K in one accumulator.
//
//===----------------------------------------------------------------------------------------------===//

#include "Pairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::linattn;
using linalg::GenericOp;

namespace {

class DotEmitter {
public:
  DotEmitter(RewriterBase &rewriter, GenericOp op, const VectorizeOptions &options)
      : rewriter(rewriter), loc(op.getLoc()), a(op.getInputs()[0]), b(op.getInputs()[1]),
        c(op.getOutputs()[0]), rows(getShape(a)[0]), columns(getShape(b)[0]), depth(getShape(a)[1]),
        element(cast<MemRefType>(c.getType()).getElementType()) {
    lanes = std::max<int64_t>(options.target.vectorBits / element.getIntOrFloatBitWidth(), 1);
    bool isNarrow = cast<MemRefType>(a.getType()).getElementType().isBF16() && element.isF32();
    int64_t pairLanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(llvm::divideCeil(depth, 2)));
    isDot = isNarrow && options.bf16Dot && hasDot(pairLanes);
    lanes = isDot ? pairLanes : std::min<int64_t>(lanes, llvm::PowerOf2Ceil(depth));
    step = isDot ? 2 * lanes : lanes;
    // Accumulators fill half of the registers, and leave the others to operands.
    blockRows = options.target.vectorRegisters / 2 / blockColumns;
  }
  void emit() {
    forBlocks(rows, blockRows, [&](Value row, int64_t height) {
      forBlocks(columns, blockColumns,
                [&](Value column, int64_t width) { emitBlock(row, height, column, width); });
    });
  }

private:
  static ArrayRef<int64_t> getShape(Value memref) {
    return cast<MemRefType>(memref.getType()).getShape();
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value); }
  Value advance(Value start, int64_t offset) {
    return offset ? arith::AddIOp::create(rewriter, loc, start, index(offset)).getResult() : start;
  }

  /// Full blocks in a loop, then what is left.
  void forBlocks(int64_t extent, int64_t block, function_ref<void(Value, int64_t)> body) {
    int64_t full = extent / block * block;
    if (full > 0) {
      auto loop = scf::ForOp::create(rewriter, loc, index(0), index(full), index(block));
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(loop.getBody());
      body(loop.getInductionVar(), block);
    }
    if (full < extent)
      body(index(full), extent - full);
  }

  Value load(Value memref, Value row, Value column, int64_t size, bool inBounds) {
    Type type = cast<MemRefType>(memref.getType()).getElementType();
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    Value entries =
        vector::TransferReadOp::create(rewriter, loc, VectorType::get({size}, type), memref,
                                       ValueRange{row, column}, zero, ArrayRef<bool>{inBounds});
    if (isDot || type == element)
      return entries;
    return arith::ExtFOp::create(rewriter, loc, VectorType::get({size}, element), entries);
  }

  /// `sums` plus the products at `position` of the block's rows.
  SmallVector<Value> accumulate(Value row, int64_t height, Value column, int64_t width,
                                Value position, bool inBounds, ValueRange sums) {
    SmallVector<Value> left, right, next;
    for (int64_t i = 0; i < height; ++i)
      left.push_back(load(a, advance(row, i), position, step, inBounds));
    for (int64_t j = 0; j < width; ++j)
      right.push_back(load(b, advance(column, j), position, step, inBounds));
    for (int64_t i = 0; i < height; ++i)
      for (int64_t j = 0; j < width; ++j) {
        Value sum = sums[i * width + j];
        next.push_back(isDot ? createDot(rewriter, loc, left[i], right[j], sum)
                             : vector::FMAOp::create(rewriter, loc, left[i], right[j], sum));
      }
    return next;
  }

  void emitBlock(Value row, int64_t height, Value column, int64_t width) {
    auto type = VectorType::get({lanes}, element);
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    SmallVector<Value> sums(height * width, zero);
    int64_t full = depth / step * step;
    if (full > 0) {
      auto loop = scf::ForOp::create(rewriter, loc, index(0), index(full), index(step), sums);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(loop.getBody());
      scf::YieldOp::create(rewriter, loc,
                           accumulate(row, height, column, width, loop.getInductionVar(), true,
                                      loop.getRegionIterArgs()));
      sums = SmallVector<Value>(loop.getResults());
    }
    if (full < depth)
      sums = accumulate(row, height, column, width, index(full), false, sums);
    // One tree for each row of the block, or for all of it if the rows have their place in one
    // vector.
    bool isOneTree = llvm::isPowerOf2_64(width) && height * width <= lanes;
    Value all = isOneTree ? addLanes(sums) : Value();
    for (int64_t i = 0; i < height; ++i) {
      Value entries;
      if (isOneTree)
        entries = vector::ExtractStridedSliceOp::create(rewriter, loc, all, i * width, width, 1);
      else
        entries = addLanes(ArrayRef(sums).slice(i * width, width));
      Value target = advance(row, i);
      entries = arith::AddFOp::create(rewriter, loc, entries, load(c, target, column, width, true));
      vector::TransferWriteOp::create(rewriter, loc, entries, c, ValueRange{target, column},
                                      ArrayRef<bool>{true});
    }
  }

  /// Entries `first`, `first + step`, ... of `low` and `high` one behind the other.
  Value pick(Value low, Value high, int64_t first, int64_t step, int64_t size) {
    SmallVector<int64_t> mask;
    for (int64_t i = 0; i < size; ++i)
      mask.push_back(first + step * i);
    return vector::ShuffleOp::create(rewriter, loc, low, high, mask);
  }

  /// A vector of the sums of the lanes of each vector, in order.
  Value addLanes(ArrayRef<Value> vectors) {
    int64_t count = vectors.size(), size = lanes, lanesOfSum = lanes;
    SmallVector<Value> level(vectors);
    while (!llvm::isPowerOf2_64(level.size()))
      level.push_back(
          arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(vectors[0].getType())));
    // Neighbours share a vector, with half as many lanes for each sum; a vector that is alone
    // halves.
    while (level.size() > 1 || lanesOfSum > 1) {
      bool isSingle = level.size() == 1, isFinal = lanesOfSum == 1;
      size = isFinal ? 2 * size : isSingle ? size / 2 : size;
      SmallVector<Value> next;
      for (size_t i = 0; i < level.size(); i += 2) {
        Value low = level[i], high = level[isSingle ? i : i + 1];
        next.push_back(isFinal ? pick(low, high, 0, 1, size)
                               : arith::AddFOp::create(rewriter, loc, pick(low, high, 0, 2, size),
                                                       pick(low, high, 1, 2, size))
                                     .getResult());
      }
      level = next;
      lanesOfSum = std::max<int64_t>(lanesOfSum / 2, 1);
    }
    return count == size
               ? level[0]
               : vector::ExtractStridedSliceOp::create(rewriter, loc, level[0], 0, count, 1)
                     .getResult();
  }

  RewriterBase &rewriter;
  Location loc;
  Value a, b, c;
  int64_t rows, columns, depth;
  Type element;
  bool isDot;    // pairs of bf16 numbers at once
  int64_t lanes; // sums of a vector
  int64_t step, blockRows;
  static constexpr int64_t blockColumns = 4;
};

} // namespace

LogicalResult mlir::linattn::vectorizeDotProducts(RewriterBase &rewriter, GenericOp op,
                                                  const VectorizeOptions &options) {
  AffineExpr m, n, k;
  bindDims(op.getContext(), m, n, k);
  MLIRContext *context = op.getContext();
  SmallVector<AffineMap> wanted{AffineMap::get(3, 0, {m, k}, context),
                                AffineMap::get(3, 0, {n, k}, context),
                                AffineMap::get(3, 0, {m, n}, context)};
  if (!linalg::isaContractionOpInterface(op) || op.getIndexingMapsArray() != wanted)
    return rewriter.notifyMatchFailure(op, "not dot products of rows");
  Type input = getElementTypeOrSelf(op.getInputs()[0]),
       output = getElementTypeOrSelf(op.getOutputs()[0]);
  if (!isa<FloatType>(output) || getElementTypeOrSelf(op.getInputs()[1]) != input ||
      (input != output && !(input.isBF16() && output.isF32())))
    return rewriter.notifyMatchFailure(op, "not floats of one type");
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || !type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return rewriter.notifyMatchFailure(op, "rows are not contiguous");
  }
  DotEmitter(rewriter, op, options).emit();
  rewriter.eraseOp(op);
  return success();
}
