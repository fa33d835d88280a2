//===- LiftableOpInterface.td - from one token to the tokens of a chunk --------*- tablegen -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_IR_LIFTABLEOPINTERFACE_TD
#define LINATTN_IR_LIFTABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def LinAttn_LiftableOpInterface : OpInterface<"LiftableOpInterface"> {
  let description = [{
    An op that can do for all tokens of a chunk at once what it does for one. A *lifted* value has a leading dim for the tokens: `tensor<128xf32>` becomes
    `tensor<Cx128xf32>`, a scalar `f32` becomes `tensor<Cxf32>`. Values that are the same for every token stay as they are (*invariant*).

    Upstream ops get the interface as external models (`linattn/Transforms/ExternalModels.h`).
  }];
  let cppNamespace = "::mlir::linattn";
  let methods = [InterfaceMethod<[{
      Builds the lifted op and returns its lifted results, or fails if the op has no lifted form. `lifting` gives the lifted or invariant value for every
      value that the op uses; at least one of them is lifted.
    }],
    "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "lift",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::linattn::Lifting &":$lifting)>];
}

#endif // LINATTN_IR_LIFTABLEOPINTERFACE_TD
