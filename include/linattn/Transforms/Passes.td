//===- Passes.td - linattn to linattn ------------------------------------------*- tablegen -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_PASSES_TD
#define LINATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChunkPass : Pass<"linattn-chunk"> {
  let summary = "Turn recurrences over tokens into recurrences over chunks of tokens";
  let description = [{
    Rewrites a recurrence over tokens to one over tiles of `chunk` tokens (`step`), whose body is matrix products. What the tokens of a chunk read, write and
    decay is lifted to tensors with a leading dim for the tokens; the state is touched once per chunk. The derivation is in docs/ChunkDerivation.md.

    A recurrence is chunked if every state is *low-rank affine*: its new value comes from the old one by decays and writes only, and what is written is affine
    in what was read. Others are left as they are, with a remark that names the op that is in the way.

    Before:
    ```mlir
    %X = linattn.decay %S by %g : tensor<64x128xf32>, f32
    %S1 = linattn.write %X at %k along 0 value %v : tensor<64x128xf32>, tensor<64xf32>, tensor<128xf32>
    %o = linattn.read %S1 at %q along 0 : tensor<64x128xf32>, tensor<64xf32>
    ```
    After, for a step of 32 tokens:
    ```mlir
    %B = linattn.bracket %q, %k decay %a diagonal %d : ...            // 32 x 32
    %o = (%q * running product) x %S + %B x %v
    %S1 = total * %S + (%k * running product from behind)^T x %v
    ```
  }];
  let options = [
    Option<"chunk", "chunk", "int64_t", /*default=*/"32", "Tokens per chunk where the op has no plan; must be positive">,
    Option<"subchunk", "subchunk", "int64_t", /*default=*/"16",
           "Rows per diagonal block of solves and brackets where the op has no plan; must be positive">,
    Option<"shortTokens", "short-tokens", "int64_t", /*default=*/"0",
           "Run fewer tokens than this token by token, by a second version where their number is dynamic; 0: never">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def PrintStateGraphPass : Pass<"linattn-print-state-graph"> {
  let summary = "Say how each state of each recurrence evolves";
  let description = [{
    Prints to the error stream, for every recurrence, the class of each state with what a chunk needs of it, or the reason why it is run token by token:

    ```
    recurrence at file.mlir:12:8
      state #0: low-rank along axis 0, 1 writes (1 depend on reads), 2 reads
    ```
  }];
}

#endif // LINATTN_TRANSFORMS_PASSES_TD
