//===- LinAttnTransformOps.h - linattn in transform scripts -------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMOPS_LINATTNTRANSFORMOPS_H
#define LINATTN_TRANSFORMOPS_LINATTNTRANSFORMOPS_H

#include "linattn/IR/LinAttn.h"

#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

#define GET_OP_CLASSES
#include "linattn/TransformOps/LinAttnTransformOps.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::linattn {

/// The ops `transform.linattn.*`, for hosts that load the transform dialect.
void registerTransformDialectExtension(DialectRegistry &registry);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMOPS_LINATTNTRANSFORMOPS_H
