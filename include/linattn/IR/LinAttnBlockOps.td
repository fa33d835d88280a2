//===- LinAttnBlockOps.td - what a chunk needs beside linalg -------------------*- tablegen -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Four ops on the tokens of a chunk (C rows) that linalg cannot say. Each decomposes to loops over
// linalg ops (`populateBlockOpsToLinalgPatterns`), so that other compilers can take over.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_IR_LINATTNBLOCKOPS_TD
#define LINATTN_IR_LINATTNBLOCKOPS_TD

include "linattn/IR/LinAttnBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class LinAttn_BlockOp<string mnemonic, list<Trait> traits = []> : Op<LinAttn_Dialect, mnemonic, !listconcat([Pure], traits)>;

def LinAttn_FloatTensor : RankedTensorOf<[AnyFloat]>;

def LinAttn_RunningProductOp : LinAttn_BlockOp<"running_product", [SameOperandsAndResultType]> {
  let summary = "exclusive running product over the tokens of a chunk";
  let description = [{
    Row i is the product of the rows before it, `p_i = a_0 ... a_{i-1}` (1 for i = 0); with `reverse`, of the rows behind it,
    `p_i = a_{i+1} ... a_{C-1}`. Rows are scalars (`tensor<C>`) or channels (`tensor<CxK>`).

    ```mlir
    %p = linattn.running_product %a : tensor<32x64xf32>
    %s = linattn.running_product reverse %a : tensor<32xf32>
    ```
  }];
  let arguments = (ins LinAttn_FloatTensor:$factors, UnitAttr:$reverse);
  let results = (outs LinAttn_FloatTensor:$result);
  let assemblyFormat = "(`reverse` $reverse^)? $factors attr-dict `:` type($factors)";
  let hasVerifier = 1;
}

def LinAttn_BracketOp : LinAttn_BlockOp<"bracket", [AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "how much each token's read sees of each earlier token's write";
  let description = [{
    The strictly lower C x C matrix `B_ij = sum_d r_id w_jd prod_{j<l<i} a_ld` for j < i: addresses of reads against addresses of writes, scaled by the
    decay of the tokens between them. `decay` holds the multipliers a, one per token (`tensor<C>`) or per token and channel (`tensor<CxK>`); none means 1.
    `diagonal %d` gives the diagonal `B_ii = d_i` (0 without it); above it B is 0.

    Decays enter as products, never as exp of a difference of sums: small decays beside large ones keep their digits, and a multiplier of 0 is exact.
    With one multiplier per channel the triangle is halved until `subchunk` rows are left: at a border m, rows below carry the product from m on and columns
    above the product up to m, so that every block below the diagonal is a matrix product whose factors are at most 1.

    With `bf16_operands`, the operands of matrix products are rounded to bf16; sums stay f32.

    ```mlir
    %B = linattn.bracket %r, %w decay %a diagonal %d subchunk 16
        : tensor<32x64xf32>, tensor<32x64xf32> decay tensor<32x64xf32> diagonal tensor<32xf32>
    ```
  }];
  let arguments = (ins LinAttn_FloatTensor:$reads, LinAttn_FloatTensor:$writes, Optional<LinAttn_FloatTensor>:$decay,
                       Optional<LinAttn_FloatTensor>:$diagonal, DefaultValuedAttr<I64Attr, "16">:$subchunk,
                       UnitAttr:$bf16_operands);
  let results = (outs LinAttn_FloatTensor:$result);
  let assemblyFormat = [{
    $reads `,` $writes (`decay` $decay^)? (`diagonal` $diagonal^)? (`subchunk` $subchunk^)?
    (`bf16_operands` $bf16_operands^)? attr-dict `:` type($reads) `,` type($writes) (`decay` type($decay)^)? (`diagonal` type($diagonal)^)?
  }];
  let hasVerifier = 1;
}

def LinAttn_WeightedSumOp : LinAttn_BlockOp<"weighted_sum", [AllTypesMatch<["values", "decay", "result"]>]> {
  let summary = "sums of earlier tokens' rows, which decay on their way";
  let description = [{
    Row i is `sum_{j<i} B_ij c_j prod_{j<l<i} a_l`, channel by channel: what tokens see of the values of earlier ones if the multipliers a, `decay`, scale the
    channels that come out. Only the strictly lower part of the C x C matrix B is used; values and multipliers are `tensor<CxV>`. (A multiplier of what is
    contracted, or one per token, is part of B: see `bracket`.)

    Decays enter as products: the triangle is halved until `subchunk` rows are left, and at a border m the rows below are scaled by the product from m on
    and the values above by the product up to m. So every block below the diagonal is a matrix product whose factors are at most 1.
    With `bf16_operands`, the operands of these products are rounded to bf16; sums stay f32.

    ```mlir
    %o = linattn.weighted_sum %B, %c decay %a subchunk 16 : tensor<32x32xf32>, tensor<32x64xf32>
    ```
  }];
  let arguments = (ins LinAttn_FloatTensor:$matrix, LinAttn_FloatTensor:$values, LinAttn_FloatTensor:$decay,
                       DefaultValuedAttr<I64Attr, "16">:$subchunk, UnitAttr:$bf16_operands);
  let results = (outs LinAttn_FloatTensor:$result);
  let assemblyFormat = [{
    $matrix `,` $values `decay` $decay (`subchunk` $subchunk^)? (`bf16_operands` $bf16_operands^)? attr-dict `:`
    type($matrix) `,` type($values)
  }];
  let hasVerifier = 1;
}

def LinAttn_SolveOp : LinAttn_BlockOp<"solve", [AllTypesMatch<["rhs", "result"]>]> {
  let summary = "solves a unit lower triangular system";
  let description = [{
    The X with `X = rhs + A X`, so `(I - A) X = rhs`, where only the strictly lower part of A is used: row i of X depends on the rows before it. Forward
    substitution on the right-hand side in blocks of `subchunk` rows: exact for integers, and as accurate as the token-by-token recurrence, which an explicit
    inverse is not.

    ```mlir
    %X = linattn.solve %A, %rhs subchunk 16 : tensor<32x32xf32>, tensor<32x128xf32>
    ```
  }];
  let arguments = (ins LinAttn_FloatTensor:$matrix, LinAttn_FloatTensor:$rhs, DefaultValuedAttr<I64Attr, "16">:$subchunk);
  let results = (outs LinAttn_FloatTensor:$result);
  let assemblyFormat = "$matrix `,` $rhs (`subchunk` $subchunk^)? attr-dict `:` type($matrix) `,` type($rhs)";
  let hasVerifier = 1;
}

#endif // LINATTN_IR_LINATTNBLOCKOPS_TD
