//===- Report.h - comparing benchmarks of one run -----------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_REPORT_H
#define LINATTN_BENCHMARKS_REPORT_H

#include <string>

/// Asks for a line `NAME: a / b = ratio` of the median times of two benchmarks at the end of the
/// run.
void compareMedians(const std::string &name, const std::string &a, const std::string &b);

#endif // LINATTN_BENCHMARKS_REPORT_H
