//===- Levels.h - states that are mixed with each other -----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_LIB_ANALYSIS_LEVELS_H
#define LINATTN_LIB_ANALYSIS_LEVELS_H

#include "linattn/Analysis/StateGraph.h"

namespace mlir::linattn {

/// Lists everything that is computed from the state's reads.
void findDependent(RecurrenceOp op, StateInfo &info);

/// Checks the decays, writes and reads of a state whose trunk and values are known, and lists the
/// writes. False if it is not low-rank.
bool checkSteps(RecurrenceOp op, StateInfo &info);

/// Finds groups of levels among the states that are not low-rank by themselves.
std::vector<StateLevels> findLevels(RecurrenceOp op, ArrayRef<StateInfo> states);

} // namespace mlir::linattn

#endif // LINATTN_LIB_ANALYSIS_LEVELS_H
