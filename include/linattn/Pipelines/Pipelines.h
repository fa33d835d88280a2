//===- Pipelines.h - from linattn to code for a target ------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_PIPELINES_PIPELINES_H
#define LINATTN_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::linattn {

struct CpuPipelineOptions : PassPipelineOptions<CpuPipelineOptions> {
  Option<int64_t> chunk{*this, "chunk",
                        llvm::cl::desc("Tokens per chunk where the op has no plan; fewer run 4 at "
                                       "once, then one by one. 0: no chunks"),
                        llvm::cl::init(8)};
  Option<int64_t> subchunk{*this, "subchunk",
                           llvm::cl::desc("Rows per diagonal block of solves and brackets"),
                           llvm::cl::init(8)};
  Option<bool> fuse{*this, "fuse",
                    llvm::cl::desc("Move what surrounds recurrences into their bodies"),
                    llvm::cl::init(true)};
  Option<int64_t> valueTile{
      *this, "value-tile",
      llvm::cl::desc("Value columns per task where the op has no plan and the body allows it; more "
                     "tasks for few heads. 0: all of them"),
      llvm::cl::init(0)};
  Option<int64_t> timeParts{
      *this, "time-parts",
      llvm::cl::desc("Parts of the tokens that run in parallel where the op has no plan and the "
                     "body allows it; more tasks for few heads. 0 or 1: none"),
      llvm::cl::init(1)};
  Option<int64_t> tasks{
      *this, "tasks",
      llvm::cl::desc("Parallel tasks wanted, twice the threads, say: where the static extents of "
                     "an op without a plan give fewer, value columns are split, then time"),
      llvm::cl::init(1)};
  Option<bool> openmp{*this, "openmp",
                      llvm::cl::desc("Run the parallel dims on OpenMP threads (needs libomp)"),
                      llvm::cl::init(true)};
  Option<int64_t> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("Width of a vector register in bits. 0: that of the module's target (see "
                     "linattn-set-target), or 512"),
      llvm::cl::init(0)};
  Option<int64_t> vectorRegisters{
      *this, "vector-registers",
      llvm::cl::desc("Number of vector registers. 0: that of the module's target, or 32"),
      llvm::cl::init(0)};
  Option<int64_t> tileBytes{
      *this, "tile-bytes",
      llvm::cl::desc("What states and constants of scans may take of the first-level cache"),
      llvm::cl::init(32 * 1024)};
  Option<bool> expandBf16{
      *this, "expand-bf16",
      llvm::cl::desc("Convert between f32 and bf16 by integer arithmetic even where the module's "
                     "target has instructions"),
      llvm::cl::init(false)};
  Option<bool> bf16Dot{
      *this, "bf16-dot",
      llvm::cl::desc("The target has AVX-512's dot instruction for pairs of bf16 numbers; products "
                     "whose operands a plan rounds to bf16 then use it"),
      llvm::cl::init(false)};
  Option<bool> runtimeChecks{
      *this, "runtime-checks",
      llvm::cl::desc("Check shapes and segment offsets in the generated code"),
      llvm::cl::init(false)};
};

/// Tensors to LLVM dialect, registered as `linattn-to-cpu-pipeline`. Function arguments and results
/// become memrefs with identity layout; a result that ends in the buffer of an argument is that
/// buffer.
void buildCpuPipeline(OpPassManager &pm, const CpuPipelineOptions &options);

void registerLinAttnPipelines();

} // namespace mlir::linattn

#endif // LINATTN_PIPELINES_PIPELINES_H
