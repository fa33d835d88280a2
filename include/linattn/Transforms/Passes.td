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

    A state has a chunk form if it is *low-rank affine*: its new value comes from the old one by decays and writes only, and what is written is affine in what
    was read. Other states are run token by token inside the chunk, with a remark that names the op that is in the way, and so are ops that cannot be lifted. If no
    state has a chunk form, the recurrence is left as it is. A remark on each chunk gives the share of the state's floating-point operations that are in matmuls
    (`--remarks-filter=linattn-chunk`; `linattn/Analysis/MatmulShare.h` says what counts).

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
    Option<"strategy", "strategy", "::mlir::linattn::Strategy", /*default=*/"::mlir::linattn::Strategy::chunk",
           "How chunks are executed where the op has no plan", [{::llvm::cl::values(
             clEnumValN(::mlir::linattn::Strategy::chunk, "chunk", "one matrix product after the other"),
             clEnumValN(::mlir::linattn::Strategy::sweep, "sweep", "writes are deferred to the next chunk: one pass over the state"))}]>,
    Option<"chunk", "chunk", "int64_t", /*default=*/"32", "Tokens per chunk where the op has no plan; must be positive">,
    Option<"subchunk", "subchunk", "int64_t", /*default=*/"16",
           "Rows per diagonal block of solves and brackets where the op has no plan; must be positive">,
    Option<"precision", "operand-precision", "::mlir::linattn::OperandPrecision", /*default=*/"::mlir::linattn::OperandPrecision::f32",
           "To what operands of matrix products are rounded where the op has no plan", [{::llvm::cl::values(
             clEnumValN(::mlir::linattn::OperandPrecision::f32, "f32", "not at all"),
             clEnumValN(::mlir::linattn::OperandPrecision::bf16, "bf16", "to bf16, but for what a later write depends on"),
             clEnumValN(::mlir::linattn::OperandPrecision::all_bf16, "all_bf16", "to bf16, but for the solve"))}]>,
    Option<"splitTail", "split-tail", "bool", /*default=*/"false",
           "Run the last tokens, which fill no chunk, in recurrences of their own where operands can be cut along time: 4 at once, then one by one">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def FusePass : Pass<"linattn-fuse"> {
  let summary = "Move what surrounds a recurrence into its body";
  let description = [{
    A recurrence reads its inputs once and writes its outs once; what is computed before and behind it in ops of their own reads and writes them again. This pass
    makes such ops a part of the body, where `linattn-chunk` lifts them to chunks:

    - *producers* of inputs: elementwise and linalg ops, also with sums over what one token has (feature maps, gates, norms), and reshapes, slices, transpositions,
      which only change the indexing map;
    - *the tokens before*: a convolution over time or a token shift reads them from a sequence with rows in front (`tensor.pad`, or `tensor.concat` with the rows
      that the call before left). They become a state that keeps the last tokens. Slices of such a sequence, for the next call, are taken from its parts;
    - *consumers* of outs: elementwise and linalg ops on what one token has (output norms and gates, skip terms, conversions), and reshapes.

    Left outside, with a remark (`--remarks-filter=linattn-fuse`), is what mixes tokens or points of the parallel dims, products with matrices (projections), what
    somebody else needs, too, and what more than `max-recompute` points of the parallel dims share.

    Before:
    ```mlir
    %k = linalg.generic ... ins(%x : tensor<?x?x4x64xf32>) { math.exp }
    %o, %sT = linattn.recurrence [parallel, time, parallel] ins(%k via #tok : tensor<?x?x4x64xf32> as %kt : tensor<64xf32>, ...) ... {
    ```
    After:
    ```mlir
    %o, %sT = linattn.recurrence [parallel, time, parallel] ins(%x via #tok : tensor<?x?x4x64xf32> as %xt : tensor<64xf32>, ...) ... {
      %kt = linalg.generic ... ins(%xt : tensor<64xf32>) { math.exp }
    ```
  }];
  let options = [
    Option<"maxRecompute", "max-recompute", "int64_t", /*default=*/"4",
           "How many points of the parallel dims may compute what they share (heads that use one key); 0: any number">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitValuePass : Pass<"linattn-split-value"> {
  let summary = "Make the value columns of recurrences a parallel dim over tiles";
  let description = [{
    Column j of a state depends on column j of what is written only, as long as nothing in the body mixes columns. So columns can be computed apart: this pass adds
    a parallel iteration dim, the last one, over tiles of `tile` value columns, for recurrences with too few heads to keep all threads busy.

    Value columns are found from the body: axes of states that no read contracts and no op mixes. All outs must have them, and all states whose final value is used;
    what has none (keys, gates, a normaliser without a used result) is computed again in every tile. A recurrence of another kind, or with a number of columns that
    is no multiple of `tile`, is left as it is, with a remark.

    Before:
    ```mlir
    %o, %sT = linattn.recurrence [time]
        ins(%k via affine_map<(t, k) -> (t, k)> : tensor<?x64xf32> as %kt : tensor<64xf32>,
            %v via affine_map<(t, v) -> (t, v)> : tensor<?x128xf32> as %vt : tensor<128xf32>) ...
        states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<64x128xf32> as %S : tensor<64x128xf32>)
    ```
    After, with 4 tiles `j` of 32 columns; `%tiles` is there to give the extent of the new dim:
    ```mlir
    %tiles = tensor.empty() : tensor<4xi1>
    %o, %sT = linattn.recurrence [time, parallel]
        ins(%k via affine_map<(t, j, k) -> (t, k)> : tensor<?x64xf32> as %kt : tensor<64xf32>,
            %v via affine_map<(t, j, v) -> (t, j * 32 + v)> : tensor<?x128xf32> as %vt : tensor<32xf32>,
            %tiles via affine_map<(t, j) -> (j)> : tensor<4xi1> as %unused : i1) ...
        states(%s via affine_map<(t, j, k, v) -> (k, j * 32 + v)> : tensor<64x128xf32> as %S : tensor<64x32xf32>)
    ```
  }];
  let options = [
    Option<"tile", "tile", "int64_t", /*default=*/"32",
           "Value columns per tile where the op has no plan; 0 keeps all of them together, and so does a plan's value_tile of 0">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitTimePass : Pass<"linattn-split-time"> {
  let summary = "Run parts of the tokens of recurrences in parallel";
  let description = [{
    If a state changes by decays and writes that depend on no state, then tokens i to j map it from S to D S + U, with the product D of their decays and what they
    leave of a state that starts from zero, U. This pass cuts time into `parts` and makes three recurrences of one, for few heads and many tokens:

    1. *sums*: each part from zero, without outs; D and U are its final states;
    2. *starts*: over the parts, `S = D S + U`; its outs are the states that parts start from, its final states those of the whole;
    3. *outputs*: the recurrence itself, each part from its start.

    In 1 and 3 the parts are segments of packed sequences. Their borders are multiples of `chunk` tokens, so only the last part has a chunk that is not full; parts
    may be empty. The number of parts is fixed here, so results do not depend on the number of threads. Recurrences with packed sequences or checkpoints, with
    writes or decays that depend on states, or with states that change in another way are left as they are, with a remark (`--remarks-filter=linattn-split-time`).

    Before:
    ```mlir
    %o, %sT = linattn.recurrence [time] ins(%k via #tok : ..., %g via #gate : ...) outs(%o0 via #tok : ...)
        states(%s0 via affine_map<(t, k, v) -> (k, v)> : tensor<64x128xf32> as %S : tensor<64x128xf32>) {
      %X = linattn.decay %S by %gt : tensor<64x128xf32>, f32
    ```
    After, with 2 parts `p`:
    ```mlir
    %sums:2 = linattn.recurrence [time, segment] ins(...) segments(%offsets : tensor<3xi64>)
        states(%zero via affine_map<(t, p, k, v) -> (p, k, v)> : tensor<2x64x128xf32> as %S : tensor<64x128xf32>,
               %one via affine_map<(t, p, d) -> (p, d)> : tensor<2x1xf32> as %D : tensor<1xf32>) {
    %starts, %sT = linattn.recurrence [time] ins(%sums#0 via affine_map<(t, k, v) -> (t, k, v)> : tensor<2x64x128xf32> as %U : tensor<64x128xf32>,
                                                 %sums#1 via affine_map<(t) -> (t, 0)> : tensor<2x1xf32> as %D : f32) ... {
      %X = linattn.decay %S by linear %D : tensor<64x128xf32>, f32
      %S1 = arith.addf %X, %U : tensor<64x128xf32>
      linattn.yield %S, %S1 : tensor<64x128xf32>, tensor<64x128xf32>
    }
    %o, %unused = linattn.recurrence [time, segment] ins(...) segments(%offsets : tensor<3xi64>) outs(%o0 via ...)
        states(%starts via affine_map<(t, p, k, v) -> (p, k, v)> : tensor<2x64x128xf32> as %S : tensor<64x128xf32>) {
    ```
  }];
  let options = [
    Option<"parts", "parts", "int64_t", /*default=*/"1", "Parts where the op has no plan; 0 or 1: none, and so does a plan's split of 1">,
    Option<"chunk", "chunk", "int64_t", /*default=*/"32",
           "Tokens of which borders of parts are multiples where the op has no plan; must be positive">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitTasksPass : Pass<"linattn-split-tasks"> {
  let summary = "Split recurrences until there are enough parallel tasks";
  let description = [{
    For few heads and many threads. Where the parallel dims of a recurrence have fewer than `tasks` points (a dynamic extent counts as 1), its value columns are split into
    tiles (`linattn-split-value`): the widest that make enough tasks, or the narrowest of at least `columns`. Where that is not enough, or the body mixes columns,
    parts of time run in parallel (`linattn-split-time`). Columns come first as they repeat only what does not depend on the column; parts of time compute twice
    what states become. The choice depends on the program and the options only, so results are the same for any number of threads.

    A recurrence with a plan is left as it is.
  }];
  let options = [
    Option<"tasks", "tasks", "int64_t", /*default=*/"1", "Parallel tasks wanted; must be positive">,
    Option<"columns", "columns", "int64_t", /*default=*/"32", "Value columns that a task has at least; must be positive">,
    Option<"chunk", "chunk", "int64_t", /*default=*/"32", "Tokens of which borders of parts of time are multiples; must be positive">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ColumnsLastPass : Pass<"linattn-columns-last"> {
  let summary = "Make the value columns the last axis of what the bodies of scans see";
  let description = [{
    A state that is no low-rank one runs token by token, with vectors along the last axis of its entries. If reads contract that axis, each of their results ends
    in a sum over the lanes, and a short axis leaves lanes unused. Where another axis holds the value columns (axes that no read contracts and no op mixes), this
    pass moves it to the end, in all tensors of the body. Operands keep their layout: the maps change, and `linattn-to-loops` transposes states and what all tokens
    share outside of the loop over time. Left alone, with a remark, are bodies with fewer columns than a row has entries, and those where inputs or outs of every
    token would have to be transposed.

    Before:
    ```mlir
    %r:2 = linattn.recurrence [time] ...
        states(%s via affine_map<(t, v, k) -> (v, k)> : tensor<2048x16xf32> as %S : tensor<2048x16xf32>) {
      %S1 = linattn.write %S at %x along 0 value %b : tensor<2048x16xf32>, tensor<2048xf32>, tensor<16xf32>
      %y = linattn.read %S1 at %c along 1 : tensor<2048x16xf32>, tensor<16xf32>
    ```
    After:
    ```mlir
        states(%s via affine_map<(t, k, v) -> (v, k)> : tensor<2048x16xf32> as %S : tensor<16x2048xf32>) {
      %S1 = linattn.write %S at %x along 1 value %b : tensor<16x2048xf32>, tensor<2048xf32>, tensor<16xf32>
      %y = linattn.read %S1 at %c along 0 : tensor<16x2048xf32>, tensor<16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def TileColumnsPass : Pass<"linattn-tile-columns"> {
  let summary = "Run scans over tiles of value columns whose states stay in the cache";
  let description = [{
    A state that is run token by token is read and written once per token. This pass makes tiles of value columns a parallel dim, as `linattn-split-value` does, so
    that the states of a tile and the inputs that all tokens share take at most `bytes`; the loop over time is then inside. Tiles are multiples of `columns`; what
    is left of the columns becomes a second recurrence. Left alone are recurrences that fit already, that run in chunks, or whose columns cannot be computed apart.
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", /*default=*/"32768", "What the states and constants of a tile may take; must be positive">,
    Option<"columns", "columns", "int64_t", /*default=*/"64", "Tiles are multiples of this many columns; must be positive">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PrintStateGraphPass : Pass<"linattn-print-state-graph"> {
  let summary = "Say how each state of each recurrence evolves";
  let description = [{
    Prints to the error stream, for every recurrence, the class of each state with what a chunk needs of it, or the reason why it is run token by token. Each
    state comes after those that it depends on:

    ```
    recurrence at file.mlir:12:8
      state #0: low-rank along axis 0, 1 writes (1 depend on reads), 2 reads
    ```
  }];
}

#endif // LINATTN_TRANSFORMS_PASSES_TD
