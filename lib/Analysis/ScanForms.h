//===- ScanForms.h - states that are scanned or shifted -----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_LIB_ANALYSIS_SCANFORMS_H
#define LINATTN_LIB_ANALYSIS_SCANFORMS_H

#include "linattn/Analysis/StateGraph.h"

namespace mlir::linattn {

/// Gives a state that is not low-rank the class `shift` or `scan` if its update has such a form;
/// else leaves `info` alone.
void classifyByForm(RecurrenceOp op, StateInfo &info);

/// True if the new values of several states are sums of their old values times matrices, and of
/// what does not depend on them.
bool isJointScan(RecurrenceOp op, ArrayRef<unsigned> states);

} // namespace mlir::linattn

#endif // LINATTN_LIB_ANALYSIS_SCANFORMS_H
