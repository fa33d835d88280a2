//===- LiftableOpInterface.cpp - from one token to the tokens of a chunk ------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/Lifting.h"
#include "linattn/IR/LinAttn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::linattn;

#include "linattn/IR/LiftableOpInterface.cpp.inc"

Value Lifting::getToken(OpBuilder &builder, Location loc, Value row) const {
  if (isReversed)
    row = arith::SubIOp::create(builder, loc,
                                arith::ConstantIndexOp::create(builder, loc, rows - 1), row);
  return arith::AddIOp::create(builder, loc, firstToken, row);
}
