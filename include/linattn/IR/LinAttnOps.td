//===- LinAttnOps.td - the recurrence and the ops of its body ------------------*- tablegen -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_IR_LINATTNOPS_TD
#define LINATTN_IR_LINATTNOPS_TD

include "linattn/IR/LiftableOpInterface.td"
include "linattn/IR/LinAttnBase.td"
include "linattn/IR/LinAttnBlockOps.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class LinAttn_Op<string mnemonic, list<Trait> traits = []> : Op<LinAttn_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------------------------------===//
// recurrence
//===----------------------------------------------------------------------------------------------===//

def LinAttn_Complex : Complex<AnyFloat>;
def LinAttn_Number : AnyTypeOf<[AnyFloat, AnySignlessIntegerOrIndex, LinAttn_Complex], "a number">;
def LinAttn_NumberOrTensor : AnyTypeOf<[LinAttn_Number, RankedTensorOf<[LinAttn_Number]>],
                                       "a number or a ranked tensor of numbers">;
def LinAttn_NumberTensor : RankedTensorOf<[LinAttn_Number]>;

def LinAttn_RecurrenceOp : LinAttn_Op<"recurrence", [
    AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "a recurrence over tokens, given by what one token does to the state";
  let description = [{
    What `linalg.generic` is to loops, this op is to time. It has an iteration space of `parallel` dims and exactly one `time` dim, an indexing map per operand,
    and a body that sees the slices of one step and the states, and yields the outputs of this step and the new states:

    ```
    for every point of the parallel dims:             // independent of each other
      S = initial states
      for t in 0 .. T-1:                              // T-1 .. 0 with `reverse`
        outs[t], S = body(ins[t], S)
      final states = S
    ```

    Example, linear attention with a scalar log-decay per token and head, `S_t = exp(g_t) S_{t-1} + k_t v_t^T`, `o_t = S_t^T q_t`:

    ```mlir
    #tok = affine_map<(b, t, h, d) -> (b, t, h, d)>
    #sca = affine_map<(b, t, h) -> (b, t, h)>
    #st  = affine_map<(b, t, h, k, v) -> (b, h, k, v)>
    %o, %sT = linattn.recurrence [parallel, time, parallel]
        ins(%q via #tok : tensor<?x?x16x64xf32> as %qt : tensor<64xf32>,
            %k via #tok : tensor<?x?x16x64xf32> as %kt : tensor<64xf32>,
            %v via #tok : tensor<?x?x16x128xf32> as %vt : tensor<128xf32>,
            %g via #sca : tensor<?x?x16xf32> as %gt : f32)
        outs(%init via #tok : tensor<?x?x16x128xf32>)
        states(%s0 via #st : tensor<?x16x64x128xf32> as %S : tensor<64x128xf32>) {
      %X = linattn.decay %S by %gt : tensor<64x128xf32>, f32
      %S1 = linattn.write %X at %kt along 0 value %vt : tensor<64x128xf32>, tensor<64xf32>, tensor<128xf32>
      %ot = linattn.read %S1 at %qt along 0 : tensor<64x128xf32>, tensor<64xf32>
      linattn.yield %ot, %S1 : tensor<128xf32>, tensor<64x128xf32>
    }
    ```

    **Maps.** The domain of an operand's map is the iteration dims followed by the operand's slice dims. Each result is a sum of iteration dims (or their
    `floordiv` and `mod` by constants) times constants, a constant, and at most one slice dim with coefficient 1; each slice dim occurs exactly once. So grouped
    heads (`h floordiv 2`, `h mod 2`), layouts, fused buffers (`h * 64 + d`) and scan orders are maps. Every iteration dim except `segment` occurs bare in some map,
    and its extent is read from there. Maps of outs and states are injective; maps of states do not use time. An operand without slice dims gives a bare
    scalar, any other a tensor over its slice dims.

    **Operands and results.** `ins`, `segments`, `position_offset`, `outs`, `states`, `checkpoints`. Destination style: one result per out (its map covers what
    is written, the rest keeps the init), per state (the state after the last token; the initial state is the init) and per checkpoint output.

    **Segments.** With `segments(%cu)` the tokens of several sequences lie packed along time: segment `n` owns the rows `cu[n] .. cu[n+1]-1`. Offsets start at 0,
    do not decrease and end at the extent of time; empty segments are legal. The `segment` iterator indexes one state per segment.

    **Step.** With `step(%live of C)` a step is a tile of C consecutive tokens of one segment. Slices of operands whose map uses time get a leading dim of
    size C, in memory order. Tiles are anchored at the segment's first token; `%live` is the number of real rows. The others read as 0 and are never written.

    **Checkpoints.** `checkpoints(...) every N` stores every state after each N-th token, `floor(T / N)` per sequence; in these maps the time dim counts
    checkpoints. With `reverse`, checkpoint `c` is the state once token `c N` has been visited. N is a multiple of the step.

    **Rules.** The op works on tensors; its body has no side effects. The token-by-token meaning above is the definition of every program, including chunked
    ones: the pass `linattn-to-loops` executes it.
  }];

  let arguments = (ins
    Variadic<LinAttn_NumberOrTensor>:$ins,
    Optional<RankedTensorOf<[I32, I64]>>:$segments,
    Optional<LinAttn_NumberOrTensor>:$position_offset,
    Variadic<LinAttn_NumberTensor>:$outs,
    Variadic<LinAttn_NumberTensor>:$states,
    Variadic<LinAttn_NumberTensor>:$checkpoints,
    LinAttn_IteratorKindArrayAttr:$iterators,
    AffineMapArrayAttr:$indexing_maps,
    UnitAttr:$reverse,
    OptionalAttr<I64Attr>:$step,
    OptionalAttr<I64Attr>:$checkpoint_interval,
    OptionalAttr<LinAttn_PlanAttr>:$plan);
  let results = (outs Variadic<LinAttn_NumberTensor>:$results);
  let regions = (region SizedRegion<1>:$body);

  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$ins, "::mlir::Value":$segments, "::mlir::Value":$positionOffset,
                   "::mlir::ValueRange":$outs, "::mlir::ValueRange":$states, "::mlir::ValueRange":$checkpoints,
                   "::llvm::ArrayRef<IteratorKind>":$iterators, "::llvm::ArrayRef<::mlir::AffineMap>":$indexingMaps), [{
      build($_builder, $_state, ins, segments, positionOffset, outs, states, checkpoints, iterators, indexingMaps,
            /*reverse=*/false, /*step=*/std::nullopt, /*checkpointInterval=*/std::nullopt);
    }]>,
    OpBuilder<(ins "::mlir::ValueRange":$ins, "::mlir::Value":$segments, "::mlir::Value":$positionOffset,
                   "::mlir::ValueRange":$outs, "::mlir::ValueRange":$states, "::mlir::ValueRange":$checkpoints,
                   "::llvm::ArrayRef<IteratorKind>":$iterators, "::llvm::ArrayRef<::mlir::AffineMap>":$indexingMaps,
                   "bool":$reverse, "std::optional<int64_t>":$step, "std::optional<int64_t>":$checkpointInterval)>];

  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;

  let extraClassDeclaration = [{
    //===--- Iteration space ---------------------------------------------------------------------===//

    unsigned getNumIterators() { return getIterators().size(); }
    IteratorKind getIteratorKind(unsigned dim) {
      return ::llvm::cast<IteratorKindAttr>(getIterators()[dim]).getValue();
    }
    /// The position of the one `time` iterator.
    unsigned getTimeDim();
    /// The position of the `segment` iterator, if there is one.
    std::optional<unsigned> getSegmentDim();
    /// Positions of the `parallel` iterators, in order.
    ::llvm::SmallVector<unsigned> getParallelDims();
    /// Static extent of each iteration dim, kDynamic where it is only known at run time. The segment dim counts segments;
    /// time counts all packed tokens.
    ::llvm::SmallVector<int64_t> getStaticExtents();
    /// Extent of iteration dim `dim` as a value or constant, computed from the operand where the dim is bare.
    ::mlir::OpFoldResult getExtent(::mlir::OpBuilder &builder, unsigned dim);

    //===--- Operands with a map -----------------------------------------------------------------===//

    /// Position of an operand's map in `indexing_maps`; every operand but `segments` has one.
    unsigned getMapIndex(::mlir::OpOperand &operand);
    ::mlir::AffineMap getMap(::mlir::OpOperand &operand);
    /// The maps of the `states` operands, in order, and those of the other groups.
    ::llvm::SmallVector<::mlir::AffineMap> getMaps(::mlir::MutableOperandRange group);
    unsigned getNumSliceDims(::mlir::AffineMap map) { return map.getNumDims() - getNumIterators(); }
    bool usesTime(::mlir::AffineMap map) { return map.isFunctionOfDim(getTimeDim()); }

    //===--- Body --------------------------------------------------------------------------------===//

    YieldOp getYield();
    /// The number of real rows of a step; null without `step`.
    ::mlir::BlockArgument getLiveArg();
    ::llvm::ArrayRef<::mlir::BlockArgument> getInArgs();
    ::llvm::ArrayRef<::mlir::BlockArgument> getStateArgs();
    ::mlir::OperandRange getYieldedOuts();
    ::mlir::OperandRange getYieldedStates();

    ::mlir::ResultRange getOutResults() { return getResults().take_front(getOuts().size()); }
    ::mlir::ResultRange getStateResults() { return getResults().slice(getOuts().size(), getStates().size()); }
    ::mlir::ResultRange getCheckpointResults() { return getResults().take_back(getCheckpoints().size()); }

    /// outs, states and checkpoints: one consecutive range of operands, tied to the results in order.
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

//===----------------------------------------------------------------------------------------------===//
// Body structure
//===----------------------------------------------------------------------------------------------===//

def LinAttn_YieldOp : LinAttn_Op<"yield", [Pure, Terminator, HasParent<"RecurrenceOp">]> {
  let summary = "ends the body of a recurrence";
  let description = [{
    Yields one value per out (this step's slice) and then one value per state (the new state). See `linattn.recurrence` for an example.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def LinAttn_IndexOp : LinAttn_Op<"index", [Pure]> {
  let summary = "the index of an iteration dim";
  let description = [{
    `linattn.index d` is the position of the current step in iteration dim `d` of the enclosing recurrence. For time it is the token's index inside its
    segment, in memory order (also with `reverse`), plus the `position_offset` operand where there is one: what rotary embeddings, position weights and decoding
    need. With `step` it is the index of the first token of the tile.

    ```mlir
    %t = linattn.index 1
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------------------------------===//
// Step ops
//===----------------------------------------------------------------------------------------------===//

def LinAttn_State : RankedTensorOf<[AnyFloat, LinAttn_Complex]>;
def LinAttn_StepOperand : AnyTypeOf<[AnyFloat, LinAttn_Complex, RankedTensorOf<[AnyFloat, LinAttn_Complex]>],
                                    "a float or complex number or a ranked tensor of them">;

def LinAttn_DecayOp : LinAttn_Op<"decay", [Pure, AllTypesMatch<["state", "result"]>]> {
  let summary = "scales a state by exp of a log-decay";
  let description = [{
    `X = exp(g) S`. Without `along`, g is a scalar. `along [0]`: g has one entry per row (key channel) of a K x V state, `X_ij = exp(g_i) S_ij`;
    `along [1]`: one per column; `along [0, 1]`: one per entry. g is a natural logarithm: 0 keeps the state, -inf resets it.
    `by linear %a` takes the multiplier itself, `X = a S`.

    ```mlir
    %X = linattn.decay %S by %g : tensor<64x128xf32>, f32
    %Y = linattn.decay %S by %gk along [0] : tensor<64x128xf32>, tensor<64xf32>
    %Z = linattn.decay %S by linear %w along [0] : tensor<64x128xf32>, tensor<64xf32>
    ```

    Arithmetic is in the state's element type; a narrower g is extended first.
  }];
  let arguments = (ins LinAttn_State:$state, LinAttn_StepOperand:$by, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes, UnitAttr:$linear);
  let results = (outs LinAttn_State:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$state, "::mlir::Value":$by, "::llvm::ArrayRef<int64_t>":$axes, "bool":$linear), [{
    build($_builder, $_state, state.getType(), state, by, axes, linear);
  }]>];
  let assemblyFormat = [{
    $state `by` (`linear` $linear^)? $by (`along` $axes^)? attr-dict `:` type($state) `,` type($by)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

class LinAttn_AxisOp<string mnemonic, list<Trait> traits> : LinAttn_Op<mnemonic, traits> {
  code axisDeclaration = [{
    /// Extent of the state's axis that is contracted or addressed.
    int64_t getAxisExtent() { return getState().getType().getDimSize(getAxis()); }
    /// Rank of the state without that axis: the rank of the vectors that are read or written.
    int64_t getValueRank() { return getState().getType().getRank() - 1; }
    /// True if the address is a matrix `[R, K]`, which stands for R addresses.
    bool hasManyRows() {
      return ::llvm::cast<::mlir::RankedTensorType>(getAddress().getType()).getRank() == 2;
    }
  }];
}

def LinAttn_ReadOp : LinAttn_AxisOp<"read", [Pure, InferTypeOpAdaptor]> {
  let summary = "contracts one axis of a state with an address";
  let description = [{
    `read S at r along 0` is `r^T S`, so `o_j = sum_i r_i S_ij`; `along 1` contracts the other axis, `o_i = sum_j r_j S_ij`. An address `[R, K]` reads R rows
    at once and gives `[R, V]`. Reading a state of rank 1 gives a scalar (or `[R]`). The result has the state's element type; a narrower address is extended.

    ```mlir
    %o = linattn.read %S at %q along 0 : tensor<64x128xf32>, tensor<64xf32>       // tensor<128xf32>
    %y = linattn.read %S at %C along 0 : tensor<64x128xf32>, tensor<4x64xf32>     // tensor<4x128xf32>
    ```
  }];
  let arguments = (ins LinAttn_State:$state, RankedTensorOf<[AnyFloat, LinAttn_Complex]>:$address, I64Attr:$axis);
  let results = (outs LinAttn_StepOperand:$result);
  let assemblyFormat = [{
    $state `at` $address `along` $axis attr-dict `:` type($state) `,` type($address)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = axisDeclaration;
}

def LinAttn_WriteOp : LinAttn_AxisOp<"write", [Pure, AllTypesMatch<["state", "result"]>]> {
  let summary = "adds an outer product to a state";
  let description = [{
    `write S at w along 0 value c` is `S + w c^T`, so `S_ij + w_i c_j`; `along 1` puts the address on the other axis, `S_ij + c_i w_j`. Matrices `[R, K]` and
    `[R, V]` write R times. For a state of rank 1 the value is a scalar (or `[R]`). Narrower operands are extended to the state's element type.

    ```mlir
    %S1 = linattn.write %S at %k along 0 value %v : tensor<64x128xf32>, tensor<64xf32>, tensor<128xf32>
    %z1 = linattn.write %z at %k along 0 value %one : tensor<64xf32>, tensor<64xf32>, f32
    ```
  }];
  let arguments = (ins LinAttn_State:$state, RankedTensorOf<[AnyFloat, LinAttn_Complex]>:$address,
                       LinAttn_StepOperand:$value, I64Attr:$axis);
  let results = (outs LinAttn_State:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$state, "::mlir::Value":$address, "::mlir::Value":$value, "int64_t":$axis), [{
    build($_builder, $_state, state.getType(), state, address, value, axis);
  }]>];
  let assemblyFormat = [{
    $state `at` $address `along` $axis `value` $value attr-dict `:` type($state) `,` type($address) `,` type($value)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = axisDeclaration;
}

#endif // LINATTN_IR_LINATTNOPS_TD
