//===- TensorUtils.cpp - small builders for tensors ---------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

Value linattn::carry(OpBuilder &builder, Location loc, Value value, Value carried) {
  if (!isa<RankedTensorType>(value.getType()))
    return value;
  // Not where an inner loop carries it: bufferisation would keep the two apart.
  if (auto loop = value.getDefiningOp<scf::ForOp>();
      loop && loop.getTiedLoopInit(cast<OpResult>(value))->get() == carried)
    return value;
  return linalg::CopyOp::create(builder, loc, value, carried).getResult(0);
}
