//===- Rows.h - what is measured ----------------------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_BENCHMARKS_ROWS_H
#define LINATTN_BENCHMARKS_ROWS_H

#include <cstdint>
#include <string>
#include <vector>

/// One line of the table. Where `packed`, B is the number of sequences of T tokens each.
struct Row {
  std::string op, dtype;
  int64_t B, H, T, K, V;
  int threads;
  std::string plan;
  bool packed, quick;

  std::string name() const;
};

std::vector<Row> makeRows();

/// A program that program.py printed and our pipeline compiled.
struct Program {
  std::string op, dtype;
  int64_t size;
  std::string plan;
  bool packed;
  void (*function)();
};

/// Null if CMakeLists.txt names no such program.
const Program *findProgram(const Row &row);

#endif // LINATTN_BENCHMARKS_ROWS_H
