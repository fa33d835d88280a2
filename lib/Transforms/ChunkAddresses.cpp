//===- ChunkAddresses.cpp - writes that depend on reads, solved as addresses --------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// What a write writes of what was read, S -> S + w (alpha r^T S)^T, acts on S from the left, and so
// do decays along the axis of r. What acts from the right, decays along the other axis or the
// mixing of levels, commutes with them if it does not come between a read and its write. So what
// acts from the left may be solved for alone: the rows that such a write has of the old state, as
// addresses, and of each write that depends on no read, as weights,
//
//   Z = A Z + Z0,     Z0: what reads alone would see, times their coefficients
//
// with the matrix A of the system for values. What acts from the right scales what comes out.
//
//===----------------------------------------------------------------------------------------------===//

#include "ChunkBody.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

/// The address of a read, moved back to the start of the chunk.
Value ChunkBody::getStart(Solved &solved, ReadOp op) {
  const StateValue &seen = solved.info->values.find(op.getState())->second;
  Factor decay = getDecayBetween(solved, seen.path, 0, seen.path.size(), op.getAxis(),
                                 /*withScalars=*/true);
  return scaleRows(scaleRows(getAddress(op.getAddress()), decay),
                   getDecays(solved, op.getAxis(), true).before);
}

/// Solves for what dependent writes write, as a sum of old rows and of what is written otherwise.
LogicalResult ChunkBody::solveAddresses(Solved &solved) {
  const StateInfo &info = *solved.info;
  if (failed(prepare(solved)))
    return failure();
  Lifting overlay(rows);
  for (auto [index, write] : llvm::enumerate(info.writes)) {
    solved.values.emplace_back();
    if (!write.terms.empty())
      solved.unknown.push_back(index);
    if (!write.hasConstant)
      continue;
    FailureOr<Value> constant = getConstant(solved, index, overlay);
    if (failed(constant))
      return failure();
    solved.values.back() = *constant;
    solved.sources.push_back(index);
  }
  if (solved.unknown.empty())
    return success();
  FailureOr<Value> matrix = getSystem(solved, solved.unknown);
  if (failed(matrix))
    return failure();
  auto solveFor = [&](function_ref<FailureOr<Value>(ReadOp)> getRows) -> LogicalResult {
    SmallVector<Value> sides;
    for (unsigned write : solved.unknown) {
      FailureOr<Value> side = sumTerms(solved, write, {}, getRows);
      if (failed(side))
        return failure();
      sides.push_back(*side);
    }
    solved.passed.push_back(solveSystem(*matrix, sides));
    return success();
  };
  if (failed(solveFor([&](ReadOp op) { return getStart(solved, op); })))
    return failure();
  for (unsigned source : solved.sources)
    if (failed(solveFor([&](ReadOp op) { return getBracket(solved, op, source, true); })))
      return failure();
  return success();
}

/// What `op` sees of everything that begins at `source`; a null source: of the old state, as an
/// address.
Value ChunkBody::getWeights(Solved &solved, ReadOp op, std::optional<unsigned> source) {
  Value weights = source ? getBracket(solved, op, solved.sources[*source], /*withDiagonal=*/true)
                         : getStart(solved, op);
  for (auto [index, write] : llvm::enumerate(solved.unknown))
    weights = product(getBracket(solved, op, write, /*withDiagonal=*/true),
                      solved.passed[source ? 1 + *source : 0][index], weights);
  return weights;
}

//===----------------------------------------------------------------------------------------------===//
// Decays along the other axis
//===----------------------------------------------------------------------------------------------===//

/// The diagonal of a square matrix.
Value ChunkBody::getDiagonal(Value matrix) {
  AffineMap row = builder.getMultiDimIdentityMap(1);
  AffineExpr i = builder.getAffineDimExpr(0);
  AffineMap diagonal = AffineMap::get(1, 0, {i, i}, builder.getContext());
  Value empty = tensor::EmptyOp::create(builder, loc, {rows}, element);
  return linalg::GenericOp::create(builder, loc, TypeRange{empty.getType()}, matrix, empty,
                                   ArrayRef<AffineMap>{diagonal, row},
                                   ArrayRef<IteratorType>{IteratorType::parallel},
                                   [](OpBuilder &b, Location l, ValueRange args) {
                                     linalg::YieldOp::create(b, l, args[0]);
                                   })
      .getResult(0);
}

/// Finds what every write of the trunk writes if decays along the other axis scale what is read.
LogicalResult ChunkBody::solveAcross(Solved &solved) {
  const StateInfo &info = *solved.info;
  int64_t other = 1 - info.axis;
  if (failed(solveAddresses(solved)))
    return failure();
  auto getPosition = [&](unsigned write) -> size_t {
    WriteOp op = info.writes[write].op;
    return llvm::find(info.trunk, op.getOperation()) - info.trunk.begin();
  };
  auto getOuter = [&](size_t from, size_t to) {
    return getDecayBetween(solved, info.trunk, from, to, other, /*withScalars=*/false);
  };
  const Decays &tokens = getDecays(solved, other, /*withScalars=*/false);
  SmallVector<Value> found;
  for (auto [index, write] : llvm::enumerate(solved.unknown)) {
    size_t position = getPosition(write);
    Value sum = ReadOp::create(builder, loc, solved.state, solved.passed[0][index],
                               builder.getI64IntegerAttr(info.axis));
    sum = scaleRows(sum, tokens.before);
    for (auto [source, from] : llvm::enumerate(solved.sources))
      sum = add(sum, WeightedSumOp::create(builder, loc, solved.passed[1 + source][index],
                                           getMoved(solved, from, other, /*withScalars=*/false),
                                           tokens.total, subchunk));
    sum = scaleRows(sum, getOuter(0, position));
    for (auto [source, from] : llvm::enumerate(solved.sources)) {
      if (getPosition(from) >= position)
        continue;
      Value own = scaleRows(solved.values[from], getDiagonal(solved.passed[1 + source][index]));
      sum = add(sum, scaleRows(own, getOuter(getPosition(from) + 1, position)));
    }
    found.push_back(add(solved.values[write], sum));
  }
  for (auto [write, value] : llvm::zip_equal(solved.unknown, found))
    solved.values[write] = value;
  solved.isReady = true;
  return success();
}
