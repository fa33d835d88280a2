//===- Rows.cpp - what is measured --------------------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Rows.h"

// Programs.inc is written by CMakeLists.txt: a PROGRAM(...) for each.
extern "C" {
#define PROGRAM(function, op, dtype, size, plan, packed) void _mlir_ciface_##function();
#include "Programs.inc"
#undef PROGRAM
}

const Program *findProgram(const Row &row) {
  static const Program programs[] = {
#define PROGRAM(function, op, dtype, size, plan, packed)                                           \
  {op, #dtype, size, #plan, packed, &_mlir_ciface_##function},
#include "Programs.inc"
#undef PROGRAM
  };
  for (const Program &program : programs)
    if (program.op == row.op && program.dtype == row.dtype && program.size == row.K &&
        program.plan == row.plan && program.packed == row.packed)
      return &program;
  return nullptr;
}

std::string Row::name() const {
  auto number = [](const char *name, int64_t value) { return name + std::to_string(value); };
  return op + (packed ? "-packed/" : "/") + dtype + number("/B", B) + number("/H", H) +
         number("/T", T) + (K == V ? number("/D", K) : number("/K", K) + number("/V", V)) +
         number("/threads", threads) + "/" + plan;
}

std::vector<Row> makeRows() {
  std::vector<Row> rows;
  bool quick = true;
  auto add = [&](const std::string &op, int64_t B, int64_t H, int64_t T, int64_t size = 128,
                 int threads = 1, const char *plan = "default", const char *dtype = "f32",
                 bool packed = false) {
    rows.push_back({op, dtype, B, H, T, size, size, threads, plan, packed, quick});
  };
  const char *all[] = {"scalar", "gla", "gdn", "kda", "rwkv7"};
  const char *few[] = {"scalar", "gdn"};

  for (const char *op : all) {
    add(op, 1, 16, 2048); // from memory
    add(op, 1, 1, 256);   // in cache
  }
  for (const char *op : {"scalar", "gla", "gdn"})
    add(op, 1, 1, 256, 64);
  add("gdn-block", 1, 16, 2048); // with what surrounds the recurrence
  add("gdn-block", 1, 1, 256);
  rows.push_back({"scan", "f32", 1, 1, 2048, 16, 2048, 1, "default", false, quick});
  for (const char *op : few) {
    for (int64_t T : {1, 4, 16, 64}) // decode: the state from memory
      add(op, 8, 16, T);
    add(op, 1, 16, 2048, 128, 2);
    add(op, 1, 1, 2048, 128, 2);
    add(op, 1, 1, 2048, 128, 2, "columns"); // threads share a head
    for (int64_t T : {4096, 65536})         // time per token must not grow
      add(op, 1, 1, T);
    for (int64_t T : {63, 64, 65, 2047, 2048}) // tails
      add(op, 1, 1, T);
    for (int64_t T : {32, 63, 64, 65}) // packed sequences
      add(op, 2048 / T, 16, T, 128, 1, "default", "f32", true);
  }

  quick = false;
  for (const char *op : all)
    for (const char *plan : {"sweep4", "chunk16", "token"}) {
      add(op, 1, 16, 2048, 128, 1, plan);
      add(op, 1, 1, 256, 128, 1, plan);
    }
  for (const char *op : {"gla", "kda", "rwkv7"}) {
    add(op, 8, 16, 1);
    add(op, 1, 16, 2048, 128, 2);
  }
  for (const char *op : {"scalar", "gla", "gdn"})
    add(op, 1, 16, 2048, 64);
  for (const char *op : few) {
    add(op, 4, 16, 512);
    add(op, 1, 16, 2048, 128, 1, "default", "bf16");
    add(op, 1, 1, 256, 128, 1, "default", "bf16");
    add(op, 8, 16, 1, 128, 1, "default", "bf16");
  }
  for (const char *op : all)
    for (const char *plan : {"chunk16", "dot16"})
      add(op, 1, 1, 256, 128, 1, plan, "bf16");
  add("scalar", 1, 1, 256, 128, 1, "dot32", "bf16");
  add("gdn", 1, 1, 256, 128, 1, "alldot16", "bf16");
  return rows;
}
