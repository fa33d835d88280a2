//===- TensorUtils.cpp - small builders for tensors ---------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

Value linattn::createZero(OpBuilder &builder, Location loc, Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Attribute part = builder.getZeroAttr(complex.getElementType());
    return complex::ConstantOp::create(builder, loc, complex, builder.getArrayAttr({part, part}));
  }
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value linattn::createZeros(OpBuilder &builder, Location loc, Type element,
                           ArrayRef<OpFoldResult> sizes) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
  return linalg::FillOp::create(builder, loc, createZero(builder, loc, element), empty)
      .getResult(0);
}

Value linattn::roundToBf16(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType().isBF16())
    return value;
  if (auto extended = value.getDefiningOp<arith::ExtFOp>();
      extended && getElementTypeOrSelf(extended.getIn()).isBF16())
    return extended.getIn();
  return arith::TruncFOp::create(builder, loc, type.clone(builder.getBF16Type()), value);
}

Value linattn::carry(OpBuilder &builder, Location loc, Value value, Value carried) {
  if (!isa<RankedTensorType>(value.getType()))
    return value;
  // Not where an inner loop carries it: bufferisation would keep the two apart.
  if (auto loop = value.getDefiningOp<scf::ForOp>();
      loop && loop.getTiedLoopInit(cast<OpResult>(value))->get() == carried)
    return value;
  return linalg::CopyOp::create(builder, loc, value, carried).getResult(0);
}

/// Offsets, sizes and strides of one row.
static void getRowBox(OpBuilder &builder, Location loc, Value rows, OpFoldResult row,
                      SmallVector<OpFoldResult> &offsets, SmallVector<OpFoldResult> &sizes,
                      SmallVector<OpFoldResult> &strides) {
  sizes = tensor::getMixedSizes(builder, loc, rows);
  offsets.assign(sizes.size(), builder.getIndexAttr(0));
  strides.assign(sizes.size(), builder.getIndexAttr(1));
  offsets[0] = row;
  sizes[0] = builder.getIndexAttr(1);
}

Value linattn::extractRow(OpBuilder &builder, Location loc, Value rows, OpFoldResult row,
                          Type type) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType)
    return tensor::ExtractOp::create(builder, loc, rows,
                                     getValueOrCreateConstantIndexOp(builder, loc, row));
  SmallVector<OpFoldResult> offsets, sizes, strides;
  getRowBox(builder, loc, rows, row, offsets, sizes, strides);
  return tensor::ExtractSliceOp::create(builder, loc, tensorType, rows, offsets, sizes, strides);
}

Value linattn::insertRow(OpBuilder &builder, Location loc, Value value, Value rows,
                         OpFoldResult row) {
  if (!isa<RankedTensorType>(value.getType()))
    return tensor::InsertOp::create(builder, loc, value, rows,
                                    getValueOrCreateConstantIndexOp(builder, loc, row));
  SmallVector<OpFoldResult> offsets, sizes, strides;
  getRowBox(builder, loc, rows, row, offsets, sizes, strides);
  return tensor::InsertSliceOp::create(builder, loc, value, rows, offsets, sizes, strides);
}
