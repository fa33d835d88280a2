//===- ExternalModels.h - upstream interfaces of linattn ops ------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_EXTERNALMODELS_H
#define LINATTN_TRANSFORMS_EXTERNALMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::linattn {

/// TilingInterface: a recurrence tiles along its parallel dims. A tile along a dim that some map
/// divides
/// (`h floordiv 2`, `h mod 2`) must be 1, the whole dim or a multiple of every such divisor; tile
/// offsets are taken to be multiples of the tile size, as upstream tiling makes them.
void registerTilingInterfaceExternalModels(DialectRegistry &registry);

/// LiftableOpInterface of `linattn.index` and of upstream ops that are neither elementwise nor
/// linalg.
void registerLiftableExternalModels(DialectRegistry &registry);

/// RuntimeVerifiableOpInterface: what the verifier cannot know of dynamic shapes and of the values
/// of segment offsets, as assertions in the generated code (`--generate-runtime-verification`).
void registerRuntimeVerifiableExternalModels(DialectRegistry &registry);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_EXTERNALMODELS_H
