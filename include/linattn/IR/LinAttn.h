//===- LinAttn.h - the linattn dialect ----------------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_IR_LINATTN_H
#define LINATTN_IR_LINATTN_H

#include "linattn/IR/Lifting.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "linattn/IR/LinAttnDialect.h.inc"
#include "linattn/IR/LinAttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "linattn/IR/LinAttnAttrs.h.inc"

namespace mlir::linattn {
class YieldOp;
} // namespace mlir::linattn

#include "linattn/IR/LiftableOpInterface.h.inc"

#define GET_OP_CLASSES
#include "linattn/IR/LinAttnOps.h.inc"

#endif // LINATTN_IR_LINATTN_H
