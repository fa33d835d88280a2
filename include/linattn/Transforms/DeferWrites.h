//===- DeferWrites.h - apply the writes of a step in the next one -------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_DEFERWRITES_H
#define LINATTN_TRANSFORMS_DEFERWRITES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::linattn {

/// Makes a loop that carries a state touch it once per step: the decays and writes that end a step
/// are *deferred* to the start of the next one, right before its reads, so that one pass over the
/// state does both. What they need is carried in the meantime, and the last step's are done behind
/// the loop:
///
///   for (S) { r = read S; ...; S' = write (decay S by d) at w value u; yield S' }
///   for (S, d, w, u) { S' = write (decay S by d) at w value u; r = read S'; ...; yield S', d', w',
///   u' }
///   S' = write (decay S by d) at w value u
///
/// Matrices of rows that are read or written become single rows, which one nest over the state
/// takes all at once. `state` is the number of the carried value. Returns the new loop; fails if
/// the state changes in another way than by decays and writes at the end of a step, or something
/// else sees it between them.
FailureOr<scf::ForOp> deferWrites(RewriterBase &rewriter, scf::ForOp loop, unsigned state);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_DEFERWRITES_H
