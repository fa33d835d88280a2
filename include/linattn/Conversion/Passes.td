//===- Passes.td - conversions out of linattn ---------------------------------------*- tablegen -*-===//
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
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // LINATTN_CONVERSION_PASSES_TD
