//===- LinAttnTransformOps.td - linattn in transform scripts -------------------*- tablegen -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMOPS_LINATTNTRANSFORMOPS_TD
#define LINATTN_TRANSFORMOPS_LINATTNTRANSFORMOPS_TD

include "linattn/IR/LinAttnBase.td"
include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/IR/TransformTypes.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class LinAttn_TransformOp<string mnemonic, list<Trait> traits> : Op<Transform_Dialect, "linattn." # mnemonic, !listconcat(
    [TransformOpInterface, TransformEachOpTrait, ReportTrackingListenerFailuresOpTrait], traits)> {
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter, ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results, ::mlir::transform::TransformState &state);
  }];
}

def LinAttn_ChunkTransformOp : LinAttn_TransformOp<"chunk", [FunctionalStyleTransformOpTrait, MemoryEffectsOpInterface]> {
  let summary = "turns a recurrence over tokens into one over chunks";
  let description = [{
    What the pass `linattn-chunk` does, for one recurrence. A plan on the recurrence wins over the sizes given here.

    Consumes the handle and returns one to the recurrence over chunks. Produces a silenceable failure if the target is not a `linattn.recurrence` or has no chunk
    form.

    ```mlir
    %chunked = transform.linattn.chunk %recurrence {chunk = 64, subchunk = 16} : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "32">:$chunk,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "16">:$subchunk);
  let results = (outs TransformHandleTypeInterface:$chunked);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
}

def LinAttn_SplitValueTransformOp : LinAttn_TransformOp<"split_value", [FunctionalStyleTransformOpTrait, MemoryEffectsOpInterface]> {
  let summary = "makes the value columns of a recurrence a parallel dim over tiles";
  let description = [{
    What the pass `linattn-split-value` does, for one recurrence. A plan on the recurrence wins over the tile given here.

    Consumes the handle and returns one to the recurrence with the new dim. Produces a silenceable failure if the target is not a `linattn.recurrence` or is not
    split.

    ```mlir
    %split = transform.linattn.split_value %recurrence tile 32 : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, ConfinedAttr<I64Attr, [IntPositive]>:$tile);
  let results = (outs TransformHandleTypeInterface:$split);
  let assemblyFormat = "$target `tile` $tile attr-dict `:` functional-type(operands, results)";
}

def LinAttn_SplitTimeTransformOp : LinAttn_TransformOp<"split_time", [FunctionalStyleTransformOpTrait, MemoryEffectsOpInterface]> {
  let summary = "makes parts of the time of a recurrence run in parallel";
  let description = [{
    What the pass `linattn-split-time` does, for one recurrence. A plan on the recurrence wins over the sizes given here.

    Consumes the handle and returns one to each of the three recurrences: the sums of the parts, the states that they start from, the outputs. Produces a
    silenceable failure if the target is not a `linattn.recurrence` or is not split.

    ```mlir
    %sums, %starts, %outputs = transform.linattn.split_time %recurrence parts 4 {chunk = 16}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, ConfinedAttr<I64Attr, [IntPositive]>:$parts,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "32">:$chunk);
  let results = (outs TransformHandleTypeInterface:$sums, TransformHandleTypeInterface:$starts, TransformHandleTypeInterface:$outputs);
  let assemblyFormat = "$target `parts` $parts attr-dict `:` functional-type(operands, results)";
}

def LinAttn_ApplyPlanTransformOp : LinAttn_TransformOp<"apply_plan", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "sets the plan of a recurrence";
  let description = [{
    Sets the plan, which later transformations follow. Produces a silenceable failure if the target is not a `linattn.recurrence` or has a plan whose source is
    `user`, which is never overwritten.

    ```mlir
    transform.linattn.apply_plan #linattn.plan<strategy = chunk, chunk = 64, value_tile = 32> to %recurrence : !transform.any_op
    ```
  }];
  let arguments = (ins LinAttn_PlanAttr:$plan, TransformHandleTypeInterface:$target);
  let results = (outs);
  let assemblyFormat = "qualified($plan) `to` $target attr-dict `:` type($target)";
}

#endif // LINATTN_TRANSFORMOPS_LINATTNTRANSFORMOPS_TD
