//===- Passes.td - conversions out of linattn ----------------------------------*- tablegen -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_PASSES_TD
#define LINATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LinAttnToLoopsPass : Pass<"linattn-to-loops"> {
  let summary = "Execute recurrences step by step: loops over parallel dims and time";
  let description = [{
    The meaning of `linattn.recurrence`, as code: `scf.forall` over the parallel and segment dims, `scf.for` over time that carries the states, the body with its
    step ops lowered to `linalg` on slices. Works on tensors, for every legal recurrence. Where the part of an out that one point of the parallel dims writes is
    no strided box, the parallel dims become a nest of `scf.for` instead.

    Before:
    ```mlir
    %o, %sT = linattn.recurrence [parallel, time] ins(%k via #m : tensor<8x?x64xf32> as %kt : tensor<64xf32>) ... {
      %S1 = linattn.write %S at %kt along 0 value %vt : ...
    ```
    After:
    ```mlir
    %r:2 = scf.forall (%h) in (8) shared_outs(%o = %o_init, %s = %s0) -> ... {
      %S0 = tensor.extract_slice %s[%h, 0, 0] [1, 64, 64] [1, 1, 1] : ...
      %t:2 = scf.for %i = %c0 to %T step %c1 iter_args(%S = %S0, ...) {
        %kt = tensor.extract_slice %k[%h, %i, 0] [1, 1, 64] [1, 1, 1] : ...
        %S1 = linalg.generic ... outs(%S : tensor<64x64xf32>)
    ```

    Post-condition: no op of the linattn dialect is left.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseParallelLoopsPass : Pass<"linattn-fuse-parallel-loops"> {
  let summary = "Fuse independent scf.forall loops over the same points";
  let description = [{
    The two directions of a bidirectional layer are two recurrences over the same parallel dims, so two loops after `linattn-to-loops`. This pass fuses `scf.forall`
    loops on tensors in one block that have the same bounds, if neither depends on the other: both directions of one head then run in one task, one after the other,
    on tokens that are still in the cache, and the threads meet once. What uses the first loop before the second one is moved behind it. What combines the results,
    elementwise over whole tensors, stays behind the loop. Loops stay apart if one reads a tensor that the other one updates, which would cost a copy.

    Before:
    ```mlir
    %f = scf.forall (%b, %h) in (%batch, 8) shared_outs(%o = %o0) ...
    %r = scf.forall (%b, %h) in (%batch, 8) shared_outs(%o = %o1) ...
    %sum = arith.addf %f, %r : tensor<?x?x8x64xf32>
    ```
    After:
    ```mlir
    %fr:2 = scf.forall (%b, %h) in (%batch, 8) shared_outs(%f = %o0, %r = %o1) ...
    %sum = arith.addf %fr#0, %fr#1 : tensor<?x?x8x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def MergeGenericsPass : Pass<"linattn-merge-generics"> {
  let summary = "Merge linalg.generic ops that walk over one tensor into one pass over it";
  let description = [{
    A step that decays a state, writes to it and reads it is three nests over the same K x V entries. This pass merges a `linalg.generic` on tensors into the one
    that consumes its result, if both have the same iteration space and the consumer uses nothing else that the producer computes: then the entries go through
    registers once. A read that a later write depends on ends a pass over the state, so a delta rule keeps two. Two sums of products into the same entries, as two
    writes of a chunk are, become one as well.

    Before:
    ```mlir
    %1 = linalg.generic {...} ins(%k, %v) outs(%0 : tensor<64x128xf32>) ...          // write
    %2 = linalg.generic {...} ins(%q, %1) outs(%zero : tensor<128xf32>) ...          // read
    ```
    After:
    ```mlir
    %1:2 = linalg.generic {...} ins(%k, %v, %q) outs(%0, %zero : tensor<64x128xf32>, tensor<128xf32>) ...
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def PackPairsPass : Pass<"linattn-pack-pairs"> {
  let summary = "Pack the operands of products of bf16 matrices as pairs for dot instructions";
  let description = [{
    A dot instruction multiplies two pairs of bf16 numbers and adds both products to an f32. For products of two matrices of bf16 with sums in f32, where an operand is
    no wider than bf16 or a wider copy of one that is not: packs neighbours along the reduced dim as one i32, the first number in its lower half. Both operands are
    packed once, however many rows use them, and keep their layout otherwise. An odd extent gets a zero. The product of pairs is written in integer and f32
    arithmetic, so that every target can execute it; `linattn-vectorize-linalg{bf16-dot}` makes dot instructions of it. Where rows of both operands are contiguous
    along the reduced dim (`A B^T`), numbers are pairs as they lie in memory, and nothing is packed.

    Before:
    ```mlir
    %o = linalg.matmul ins(%a, %b : tensor<16x64xbf16>, tensor<64x128xbf16>) outs(%s : tensor<16x128xf32>) -> tensor<16x128xf32>
    ```
    After:
    ```mlir
    %p = linalg.generic {...} ins(%a, %a : tensor<16x64xbf16>, tensor<16x64xbf16>) outs(%0 : tensor<16x32xi32>) ...
    %r = linalg.generic {...} ins(%b, %b : tensor<64x128xbf16>, tensor<64x128xbf16>) outs(%1 : tensor<32x128xi32>) ...
    %o = linalg.generic {...} ins(%p, %r : tensor<16x32xi32>, tensor<32x128xi32>) outs(%s : tensor<16x128xf32>) ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def VectorizeLinalgPass : Pass<"linattn-vectorize-linalg"> {
  let summary = "Turn linalg ops on buffers into loops over vectors";
  let description = [{
    Tiles every `linalg` op on memrefs to rows of up to `unroll` vector registers along its innermost dim, with masks where the extent is not a multiple, and keeps
    accumulators in registers. Products of rows with rows (`A B^T`) keep their lanes along the rows. An elementwise op right before a sum that starts from its
    result is done where the sum starts. Ops that cannot be vectorised are left alone.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"0",
           "Width of a vector register in bits; a power of two of at least 128. 0: the target's (see linattn-set-target)">,
    Option<"vectorRegisters", "vector-registers", "int64_t", /*default=*/"0", "Number of vector registers. 0: the target's">,
    Option<"unroll", "unroll", "int64_t", /*default=*/"4", "Vector registers per row of a tile; a power of two">,
    Option<"bf16Dot", "bf16-dot", "bool", /*default=*/"false", "Use AVX-512's dot instruction for pairs of bf16 numbers; an error where the module's target lacks it">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
                           "::mlir::x86vector::X86VectorDialect"];
}

def PrefetchRowsPass : Pass<"linattn-prefetch-rows"> {
  let summary = "Fetch the rows of the next step while this one is computed";
  let description = [{
    For every `scf.for` that takes several rows of a buffer per step: prefetches the rows of the next step, a few cache lines in each iteration of the loops
    inside. The rows of one head lie a whole token apart, where hardware does not fetch ahead. In the last step, the state that lies behind this head's in memory
    is prefetched as well, if a step makes more than one pass over a state.

    Before:
    ```mlir
    scf.for %t = %c0 to %T step %c16 {
      %rows = memref.subview %k[%t, %h, 0] [16, 1, 128] [1, 1, 1] : memref<?x16x128xf32> to memref<16x128xf32, strided<[2048, 1], offset: ?>>
      scf.for %j = %c0 to %c128 step %c32 {
        scf.for %i = %c0 to %c128 step %c1 ...
    ```
    After:
    ```mlir
    scf.for %t = ... {
      %next = arith.addi %t, %c16 : index
      scf.for %j = %c0 to %c128 step %c32 {
        memref.prefetch %k[%row, %h, %column], read, locality<2>, data : memref<?x16x128xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def LimitUnrollingPass : Pass<"linattn-limit-unrolling"> {
  let summary = "Keep LLVM from unrolling large loops";
  let description = [{
    Annotates every `scf.for` that carries no values, has a constant number of iterations and does much in all of them together: LLVM leaves it a loop. It would
    unroll such loops in full, which makes elementwise ops on matrices no faster, but the compilation slow: instruction scheduling is quadratic in the loads and
    stores of a block. Loops that carry values, as sums do, and short ones are LLVM's choice.

    After:
    ```mlir
    #unroll = #llvm.loop_unroll<disable = true>
    #loop = #llvm.loop_annotation<unroll = #unroll>
    scf.for %i = %c0 to %c8 step %c1 {
      ...
    } {llvm.loop_annotation = #loop}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ApproximateMathPass : Pass<"linattn-approximate-math", "::mlir::ModuleOp"> {
  let summary = "Polynomials for exp, expm1, log, log1p and tanh of f32 vectors";
  let description = [{
    Upstream's polynomials, for vectors only: on a vector, a call of the C library for every lane costs more than ten times as much. Functions of scalars and of
    f64 vectors stay calls; expm1 and log1p become calls here, because later lowerings would compute e^x - 1 and log(1 + x). A division by 1 + e^y becomes one that
    a target may do by an estimate of the reciprocal and a Newton step, to a few units in the last place; below 2^-126 it stays there.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def ExpandArithPass : Pass<"linattn-expand-arith"> {
  let summary = "Expand arithmetic for which there are no instructions";
  let description = [{
    Upstream's expansions of integer divisions that round up or down and the like, and of conversions between f32 and bf16 unless the target has instructions for
    them. Unlike `arith-expand`, no dialect conversion of everything else.
  }];
  let options = [Option<"bf16", "bf16", "bool", /*default=*/"false", "Expand conversions of bf16 for every target">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

def AnnotateBranchesPass : Pass<"linattn-annotate-branches"> {
  let summary = "Make the annotations of loops those of LLVM's branches";
  let description = [{
    Upstream's lowerings carry `llvm.loop_annotation` of an `scf.for` to an attribute of the branch that closes the loop, where the translation to LLVM IR does
    not look. This pass makes it the branch's own `loop_annotation`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def DeallocateLocalBuffersPass : Pass<"linattn-deallocate-local-buffers"> {
  let summary = "Free buffers at the end of the block that allocates them";
  let description = [{
    After bufferisation: inserts a `memref.dealloc` for every `memref.alloc` whose buffer does not leave its block. Buffers that a function returns belong to the
    caller. Unlike upstream's ownership-based deallocation this never copies an argument that a function returns, which a state updated in place is.
    Buffers beside a loop that alone uses them are made only if the loop runs: a call with few tokens does not pay for the buffers of whole chunks.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def WindowsInPlacePass : Pass<"linattn-windows-in-place"> {
  let summary = "Read the rows before a step's own where they lie in memory";
  let description = [{
    After bufferisation. A loop over time whose steps need a few rows of the steps before, as a convolution does, keeps them from step to step and copies them and its
    own rows into one line. From the second step on, these rows lie one after the other in what all steps take theirs from: such a step reads them there, only the
    first one makes a line, and only the last one copies what is kept. Different arguments of a function are taken as different buffers.

    Before:
    ```mlir
    scf.for %t = %c0 to %T step %c8 {
      %own = memref.subview %x[%t, 0] [8, 64] [1, 1] : ...
      %0 = memref.subview %line[3, 0] [8, 64] [1, 1] : ...
      memref.copy %own, %0 : ...
      %1 = memref.subview %line[0, 0] [3, 64] [1, 1] : ...
      memref.copy %kept, %1 : ...
      ... reads of %line
      %2 = memref.subview %line[8, 0] [3, 64] [1, 1] : ...
      memref.copy %2, %kept : ...
    }
    ```
    After:
    ```mlir
    scf.for %t = %c0 to %T step %c8 {
      %later = arith.cmpi ne, %t, %c0 : index
      %rows = scf.if %later -> (memref<11x64xf32, strided<[?, 1], offset: ?>>) { // %x[%t - 3, %t + 8)
      } else { // %line, as before
      }
      ... reads of %rows
      scf.if %last { ... memref.copy %2, %kept }
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def OutlineParallelBodiesPass : Pass<"linattn-outline-parallel-bodies", "::mlir::ModuleOp"> {
  let summary = "Move the body of every scf.forall into a function of its own";
  let description = [{
    After bufferisation. The frame of the function holds the temporaries of one point of the parallel dims, so that lowering to OpenMP needs no stack save and
    restore around them. Constants move along instead of becoming arguments.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
}

def SetTargetPass : Pass<"linattn-set-target", "::mlir::ModuleOp"> {
  let summary = "Say which CPU a module is for";
  let description = [{
    Writes what LLVM knows of the CPU's vector unit to the module, in upstream's form for descriptions of targets. The passes that lower to a CPU read it from
    there, so any producer of modules may write it as well; one that is there is kept. `vector_bits` is the width that FMAs should have: AVX-512 counts with 512
    bits unless `features` has `+prefer-256-bit`.

    ```mlir
    // linattn-set-target{triple=x86_64-linux-gnu cpu=x86-64-v3}
    module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
        "vector_bits" = 256 : i64, "vector_registers" = 16 : i64, "vector_masks" = true, "bf16_conversion" = false, "bf16_dot" = false>>} {
    ```
  }];
  let options = [
    Option<"triple", "triple", "std::string", /*default=*/"", "Such as aarch64-linux-gnu; empty: this machine's">,
    Option<"cpu", "cpu", "std::string", /*default=*/"",
           "LLVM's name of the CPU, or native; empty: this machine's if the triple is, else a generic one">,
    ListOption<"features", "features", "std::string", "Such as +avx512bf16,-fma: beside those of the CPU">];
  let dependentDialects = ["::mlir::DLTIDialect"];
}

#endif // LINATTN_CONVERSION_PASSES_TD
