//===- LinAttnDialect.cpp - the linattn dialect and its attributes ------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::linattn;

#include "linattn/IR/LinAttnDialect.cpp.inc"
#include "linattn/IR/LinAttnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "linattn/IR/LinAttnAttrs.cpp.inc"

void LinAttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "linattn/IR/LinAttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "linattn/IR/LinAttnOps.cpp.inc"
      >();
}

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, Strategy strategy,
                               int64_t chunk, int64_t subchunk, int64_t valueTile, int64_t split,
                               OperandPrecision precision, PlanSource) {
  if (chunk < 1)
    return emitError() << "plan: expects a chunk of at least 1 token, got " << chunk;
  if (subchunk < 1 || subchunk > chunk)
    return emitError() << "plan: expects a subchunk between 1 and the chunk of " << chunk
                       << " tokens, got " << subchunk;
  if (strategy == Strategy::token && chunk != 1)
    return emitError() << "plan: strategy 'token' takes one token at a time, got a chunk of "
                       << chunk << "; use 'sweep' or 'chunk'";
  if (valueTile < 0)
    return emitError()
           << "plan: expects value_tile to be 0 (all value columns) or a number of columns, got "
           << valueTile;
  if (precision != OperandPrecision::f32 && strategy != Strategy::chunk)
    return emitError() << "plan: operand_precision '" << stringifyEnum(precision)
                       << "' rounds the operands of matrix products, which strategy '"
                       << stringifyEnum(strategy) << "' has not; use 'f32', or strategy 'chunk'";
  if (split < 1)
    return emitError() << "plan: expects to split time into at least 1 part, got " << split;
  return success();
}
