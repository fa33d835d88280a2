//===- LinAttnBase.td - the linattn dialect, its enums and attributes ----------*- tablegen -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_IR_LINATTNBASE_TD
#define LINATTN_IR_LINATTNBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def LinAttn_Dialect : Dialect {
  let name = "linattn";
  let cppNamespace = "::mlir::linattn";
  let summary = "linear attention: recurrences over tokens, described by what one token does";
  let description = [{
    A linear-attention layer keeps a *state* per head, usually a K x V matrix, and every token scales it (*decay*), asks it a question (*read*) and adds
    outer products to it (*write*). This dialect has one op for that, `linattn.recurrence`, with a body that says what one token does, and three step ops for
    the body. There is no op per model: grouped heads, layouts and scan orders are indexing maps; gates, feature maps and norms are ordinary `arith`, `math`
    and `linalg` in the body.

    Shapes are written with K (key width), V (value width), T (tokens); a log-decay is a natural logarithm, at most 0 for a contraction.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------------------------------===//

def LinAttn_IteratorKind : I32Enum<"IteratorKind", "what an iteration dim of a recurrence counts", [
    I32EnumCase<"parallel", 0>, I32EnumCase<"time", 1>, I32EnumCase<"segment", 2>]> {
  let cppNamespace = "::mlir::linattn";
}
def LinAttn_IteratorKindAttr : EnumAttr<LinAttn_Dialect, LinAttn_IteratorKind, "iterator"> {
  let assemblyFormat = "`<` $value `>`";
}
def LinAttn_IteratorKindArrayAttr
    : TypedArrayAttrBase<LinAttn_IteratorKindAttr, "iterator kinds, one per iteration dim">;

def LinAttn_Strategy : I32Enum<"Strategy", "how a recurrence is executed", [
    I32EnumCase<"token", 0>, I32EnumCase<"sweep", 1>, I32EnumCase<"chunk", 2>]> {
  let cppNamespace = "::mlir::linattn";
}
def LinAttn_OperandPrecision : I32Enum<"OperandPrecision", "how the operands of a matrix product are rounded", [
    I32EnumCase<"f32", 0>, I32EnumCase<"bf16", 1>, I32EnumCase<"all_bf16", 2>]> {
  let cppNamespace = "::mlir::linattn";
}
def LinAttn_PlanSource : I32Enum<"PlanSource", "who chose a plan", [
    I32EnumCase<"user", 0>, I32EnumCase<"tuned", 1>, I32EnumCase<"model", 2>,
    I32EnumCase<"analytic", 3>, I32EnumCase<"constant", 4>]> {
  let cppNamespace = "::mlir::linattn";
}

//===----------------------------------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------------------------------===//

def LinAttn_PlanAttr : AttrDef<LinAttn_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "how to execute one recurrence";
  let description = [{
    The choices that the compiler makes for one recurrence. A plan whose `source` is `user` is never overwritten.

    | parameter | meaning |
    |---|---|
    | `strategy` | `token`: one token at a time; `sweep`: a few tokens, the state touched once; `chunk`: matrix products over a chunk |
    | `chunk` | tokens per chunk |
    | `subchunk` | tokens per diagonal block inside the chunk, at most `chunk` |
    | `value_tile` | value columns per task; 0: all of them |
    | `split` | parts of the time axis that run in parallel; 1: none |
    | `operand_precision` | rounding of the operands of matrix products on f32 states, for strategy `chunk` |
    | `source` | who chose it |

    With `operand_precision = bf16`, operands are rounded to bf16 where results keep the bounds of bf16 inputs: in the products for reads that no write
    depends on, but not with what the solve of a delta rule found, and in the updates of states that have only such reads. `all_bf16` rounds the operands of
    all products, but never the solve itself, and keeps these bounds only where the state does not amplify errors. Sums and states stay f32. The types of
    inputs do not matter: who asks for this in a program of f32 gets the digits of bf16.
  }];
  let parameters = (ins
    EnumParameter<LinAttn_Strategy>:$strategy,
    DefaultValuedParameter<"int64_t", "1">:$chunk,
    DefaultValuedParameter<"int64_t", "1">:$subchunk,
    DefaultValuedParameter<"int64_t", "0">:$value_tile,
    DefaultValuedParameter<"int64_t", "1">:$split,
    DefaultValuedParameter<"::mlir::linattn::OperandPrecision", "::mlir::linattn::OperandPrecision::f32">:$operand_precision,
    DefaultValuedParameter<"::mlir::linattn::PlanSource", "::mlir::linattn::PlanSource::user">:$source);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // LINATTN_IR_LINATTNBASE_TD
