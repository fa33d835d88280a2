//===- CpuPipeline.cpp - from linattn to code for a CPU -----------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Pipelines/Pipelines.h"
#include "linattn/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::linattn;

/// Tensors: the recurrence as loops, its step ops and elementwise ops as few linalg nests.
static void addLoopPasses(OpPassManager &pm, const CpuPipelineOptions &options) {
  if (options.fuse)
    pm.addPass(createFusePass());
  pm.addPass(createSplitValuePass({options.valueTile}));
  int64_t chunk = std::max<int64_t>(options.chunk, 1);
  pm.addPass(createSplitTimePass({options.timeParts, chunk}));
  pm.addPass(createSplitTasksPass({options.tasks, /*columns=*/32, chunk}));
  if (options.chunk > 0)
    pm.addPass(createChunkPass({Strategy::chunk, options.chunk, options.subchunk,
                                OperandPrecision::f32, /*splitTail=*/true}));
  // Writes that depend on one read are solved for with the same products.
  pm.addPass(createCSEPass());
  pm.addPass(createColumnsLastPass());
  // Tiles of whole rows of registers, as many as the vectoriser takes at once on any target.
  pm.addPass(createTileColumnsPass({options.tileBytes, /*columns=*/64}));
  pm.addPass(createLinAttnToLoopsPass());
  pm.addPass(createCanonicalizerPass()); // of steps that have all their tokens
  if (options.bf16Dot)
    pm.addPass(createPackPairsPass());
  pm.addPass(createFuseParallelLoopsPass());
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createMergeGenericsPass());
  pm.addPass(createCanonicalizerPass());
}

/// Buffers: states and outs in place, temporaries on the stack.
static void addBufferPasses(OpPassManager &pm) {
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass()); // copies of a slice, updated in place, to itself
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferHoistingPass());
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferLoopHoistingPass());
  // Vectors only. Matrices are written in blocks of vectors and read in rows, and LLVM 22's SROA
  // miscompiles that on the stack at -O3 (test/Integration/blocks-of-rows.mlir).
  auto isVector = [](Value alloc) {
    auto type = cast<MemRefType>(alloc.getType());
    return type.getRank() <= 1 && type.hasStaticShape() && type.getNumElements() <= 32 * 1024;
  };
  pm.addNestedPass<func::FuncOp>(bufferization::createPromoteBuffersToStackPass(isVector));
  pm.addPass(createDeallocateLocalBuffersPass());
  pm.addPass(createWindowsInPlacePass());
  pm.addPass(createOutlineParallelBodiesPass());
}

static void addVectorPasses(OpPassManager &pm, const CpuPipelineOptions &options) {
  VectorizeLinalgPassOptions vectorize;
  vectorize.vectorBits = options.vectorBits;
  vectorize.vectorRegisters = options.vectorRegisters;
  vectorize.bf16Dot = options.bf16Dot;
  pm.addPass(createVectorizeLinalgPass(vectorize));
  pm.addPass(createConvertLinalgToLoopsPass()); // what has no vector form
  pm.addPass(createApproximateMathPass());
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createPrefetchRowsPass());
  pm.addPass(createLimitUnrollingPass());
}

static void addLLVMPasses(OpPassManager &pm, const CpuPipelineOptions &options) {
  if (options.openmp) {
    pm.addPass(createForallToParallelLoopPass());
    pm.addPass(createConvertSCFToOpenMPPass());
    pm.addPass(createCanonicalizerPass()); // stack scopes around calls
  } else {
    pm.addPass(createForallToForLoopPass());
  }
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createExpandArithPass({/*bf16=*/options.expandBf16}));
  pm.addPass(createConvertComplexToStandardPass());
  ConvertVectorToLLVMPassOptions vector;
  vector.x86Vector = options.bf16Dot;
  pm.addPass(createConvertVectorToLLVMPass(vector));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createAnnotateBranchesPass());
  pm.addPass(createCanonicalizerPass());
}

void mlir::linattn::buildCpuPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  if (options.runtimeChecks)
    pm.addPass(createGenerateRuntimeVerificationPass());
  addLoopPasses(pm, options);
  addBufferPasses(pm);
  addVectorPasses(pm, options);
  addLLVMPasses(pm, options);
}

void mlir::linattn::registerLinAttnPipelines() {
  PassPipelineRegistration<CpuPipelineOptions>("linattn-to-cpu-pipeline",
                                               "Lower tensors with recurrences to LLVM for a CPU",
                                               buildCpuPipeline);
}
