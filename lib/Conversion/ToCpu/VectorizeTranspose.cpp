//===- VectorizeTranspose.cpp - transposed copies in blocks of registers ------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// A block of n rows of n entries is loaded, transposed in registers and stored, in n loads, n
// stores and n log2 n shuffles. One token of a scan whose state is transposed is mostly this.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/ToCpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::linattn;
using linalg::GenericOp;

/// True if `op` copies a matrix to its transpose, both with contiguous rows.
static bool isTransposedCopy(GenericOp op) {
  if (op.getNumLoops() != 2 || op.getNumParallelLoops() != 2 || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1)
    return false;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  if (yield.getOperand(0) != op.getRegionInputArgs()[0])
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap from = maps[0], to = maps[1];
  return from.isPermutation() && to.isPermutation() && from != to &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           auto buffer = dyn_cast<MemRefType>(type);
           return buffer && buffer.hasStaticShape() && buffer.isLastDimUnitStride();
         });
}

/// The transpose of the square matrix with these rows. Every round interleaves row i with row
/// i + n / 2, which moves the first bit of an entry's row to the end of its column.
static SmallVector<Value> transposeRows(OpBuilder &builder, Location loc, SmallVector<Value> rows) {
  int64_t n = rows.size();
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < n / 2; ++i) {
    low.append({i, n + i});
    high.append({n / 2 + i, n + n / 2 + i});
  }
  for (int64_t round = 1; round < n; round *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < n / 2; ++i)
      for (ArrayRef<int64_t> mask : {ArrayRef(low), ArrayRef(high)})
        next.push_back(vector::ShuffleOp::create(builder, loc, rows[i], rows[i + n / 2], mask));
    rows = next;
  }
  return rows;
}

LogicalResult mlir::linattn::vectorizeTransposedCopy(RewriterBase &rewriter, GenericOp op,
                                                     const VectorizeOptions &options) {
  if (!isTransposedCopy(op))
    return rewriter.notifyMatchFailure(op, "no transposed copy of a matrix");
  Value source = op.getDpsInputs()[0], target = op.getDpsInits()[0];
  auto type = cast<MemRefType>(source.getType());
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 32)
    return rewriter.notifyMatchFailure(op, "no element type with shuffles of whole entries");
  int64_t numRows = type.getDimSize(0), numColumns = type.getDimSize(1);
  int64_t lanes = options.target.vectorBits / element.getIntOrFloatBitWidth();
  int64_t n = llvm::bit_floor<uint64_t>(std::min({numRows, numColumns, lanes}));
  if (n < 4)
    return rewriter.notifyMatchFailure(op, "too narrow for blocks");

  Location loc = op.getLoc();
  int64_t fullRows = numRows / n * n, fullColumns = numColumns / n * n;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto vectorType = VectorType::get({n}, element);
  auto getIndices = [&](Value row, int64_t offset, Value column) {
    return SmallVector<Value>{arith::AddIOp::create(rewriter, loc, row, constant(offset)), column};
  };
  {
    OpBuilder::InsertionGuard guard(rewriter);
    SmallVector<Value> ivs;
    for (int64_t end : {fullRows, fullColumns}) {
      auto loop = scf::ForOp::create(rewriter, loc, constant(0), constant(end), constant(n));
      rewriter.setInsertionPointToStart(loop.getBody());
      ivs.push_back(loop.getInductionVar());
    }
    SmallVector<Value> rows;
    for (int64_t i = 0; i < n; ++i)
      rows.push_back(
          vector::LoadOp::create(rewriter, loc, vectorType, source, getIndices(ivs[0], i, ivs[1])));
    rows = transposeRows(rewriter, loc, rows);
    for (int64_t i = 0; i < n; ++i)
      vector::StoreOp::create(rewriter, loc, rows[i], target, getIndices(ivs[1], i, ivs[0]));
  }
  // What lies behind the last blocks: entries one by one.
  auto copyRest = [&](int64_t row, int64_t column, int64_t rowCount, int64_t columnCount) {
    if (rowCount == 0 || columnCount == 0)
      return;
    auto getPart = [&](Value buffer, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
      return memref::SubViewOp::create(rewriter, loc, buffer, offsets, sizes,
                                       ArrayRef<int64_t>{1, 1});
    };
    linalg::TransposeOp::create(
        rewriter, loc, getPart(source, {row, column}, {rowCount, columnCount}),
        getPart(target, {column, row}, {columnCount, rowCount}), ArrayRef<int64_t>{1, 0});
  };
  copyRest(fullRows, 0, numRows - fullRows, numColumns);
  copyRest(0, fullColumns, fullRows, numColumns - fullColumns);
  rewriter.eraseOp(op);
  return success();
}
