//===- ToLoops.h - recurrences as loops ---------------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_TOLOOPS_H
#define LINATTN_CONVERSION_TOLOOPS_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class RewritePatternSet;
class RewriterBase;
} // namespace mlir

namespace mlir::linattn {
class RecurrenceOp;

/// Replaces a recurrence by loops over its parallel dims and time around a copy of its body; the
/// step ops in the body stay. Works for every legal recurrence.
void lowerRecurrenceToLoops(RewriterBase &rewriter, RecurrenceOp op);

/// `lowerRecurrenceToLoops` as a pattern.
void populateRecurrenceToLoopsPatterns(RewritePatternSet &patterns);

/// Reads of decayed states that feed a write become reads of the state before the decay.
void populateReadBeforeDecayPatterns(RewritePatternSet &patterns);

/// decay, read and write to `linalg.generic` on tensors. A decay and a write update their operand
/// in destination style, so that bufferisation can work in place.
void populateStepsToLinalgPatterns(RewritePatternSet &patterns);

/// bracket and solve to loops over linalg ops and running products, on tensors.
void populateBlockOpsToLinalgPatterns(RewritePatternSet &patterns);

/// running_product to a loop over the rows.
void populateRunningProductToLinalgPatterns(RewritePatternSet &patterns);

} // namespace mlir::linattn

#endif // LINATTN_CONVERSION_TOLOOPS_H
