//===- LiftableOpInterface.cpp - from one token to the tokens of a chunk ------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"

#include "linattn/IR/LiftableOpInterface.cpp.inc"
