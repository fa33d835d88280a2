//===- ChunkState.cpp - reads, writes and the new state of a chunk ------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Unroll the tokens of a chunk: a read sees the old state, scaled by all multipliers in between,
// and the values of all earlier writes, each scaled by the multipliers between write and read.
// Splitting these products at the borders of tokens gives for token i's read r and token j's write
// w, j < i,
//
//   (r_i * decays of token i up to the read) . (decays of tokens between) . (decays of token j from
//   the write * w_j),
//
// which is one linattn.bracket per pair of a read and a write of the body, however many decays,
// writes and reads a token has. Writes that depend on reads form a unit lower triangular system.
// docs/ChunkDerivation.md has the derivation.
//
//===----------------------------------------------------------------------------------------------===//

#include "ChunkBody.h"

#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

//===----------------------------------------------------------------------------------------------===//
// Small builders
//===----------------------------------------------------------------------------------------------===//

static RankedTensorType getType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// `value` in the element type of the state.
Value ChunkBody::extend(Value value) {
  if (getType(value).getElementType() == element)
    return value;
  return arith::ExtFOp::create(builder, loc, getType(value).clone(element), value);
}

Value ChunkBody::add(Value a, Value b) {
  return a ? Value(arith::AddFOp::create(builder, loc, a, b)) : b;
}

/// Row i of `rows` times entry i of the factor (`[C]`), or entry by entry (`[C, K]`).
Value ChunkBody::scaleRows(Value value, Factor factor) {
  if (!factor)
    return value;
  RankedTensorType type = getType(value);
  if (getType(factor).getRank() == type.getRank())
    return arith::MulFOp::create(builder, loc, value, factor);
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  AffineMap row = AffineMap::get(2, 0, builder.getAffineDimExpr(0));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), element);
  return linalg::GenericOp::create(builder, loc, TypeRange{type}, ValueRange{value, factor}, empty,
                                   ArrayRef<AffineMap>{identity, row, identity},
                                   SmallVector<IteratorType>(2, IteratorType::parallel),
                                   [](OpBuilder &b, Location l, ValueRange args) {
                                     linalg::YieldOp::create(
                                         b, l,
                                         arith::MulFOp::create(b, l, args[0], args[1]).getResult());
                                   })
      .getResult(0);
}

ChunkBody::Factor ChunkBody::multiply(Factor a, Factor b) {
  if (!a || !b)
    return a ? a : b;
  return getType(a).getRank() < getType(b).getRank() ? scaleRows(b, a) : scaleRows(a, b);
}

/// The dot product of each row of `a` with that of `b`.
Value ChunkBody::dotRows(Value a, Value b) {
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  AffineMap row = AffineMap::get(2, 0, builder.getAffineDimExpr(0));
  Value zeros = createZeros(builder, loc, element, {builder.getIndexAttr(rows)});
  return linalg::GenericOp::create(
             builder, loc, TypeRange{zeros.getType()}, ValueRange{a, b}, zeros,
             ArrayRef<AffineMap>{identity, identity, row},
             ArrayRef<IteratorType>{IteratorType::parallel, IteratorType::reduction},
             [](OpBuilder &builder, Location l, ValueRange args) {
               auto contract = arith::FastMathFlagsAttr::get(builder.getContext(),
                                                             arith::FastMathFlags::contract);
               Value product = arith::MulFOp::create(builder, l, args[0], args[1], contract);
               Value sum = arith::AddFOp::create(builder, l, args[2], product, contract);
               linalg::YieldOp::create(builder, l, sum);
             })
      .getResult(0);
}

/// `accumulator + matrix x rows`; no accumulator means 0.
Value ChunkBody::product(Value matrix, Value value, Value accumulator) {
  if (!accumulator) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
    sizes[0] = builder.getIndexAttr(getType(matrix).getDimSize(0));
    accumulator = createZeros(builder, loc, element, sizes);
  }
  if (getType(value).getRank() == 1)
    return linalg::MatvecOp::create(builder, loc, ValueRange{matrix, value}, accumulator)
        ->getResult(0);
  return linalg::MatmulOp::create(builder, loc, ValueRange{matrix, value}, accumulator)
      ->getResult(0);
}

//===----------------------------------------------------------------------------------------------===//
// Decays
//===----------------------------------------------------------------------------------------------===//

/// The multipliers of one decay op.
ChunkBody::Factor ChunkBody::getDecay(Operation *step) {
  auto decay = cast<DecayOp>(step);
  Value by = getChunk(decay.getBy());
  // A token that is not there keeps the state.
  if (decay.getLinear())
    return extend(fillDeadRows(by, 1.0));
  return math::ExpOp::create(builder, loc, extend(clearDeadRows(by, decay.getBy())));
}

/// The product of the decays `path[from .. to)` of one token.
ChunkBody::Factor ChunkBody::getDecayBetween(Solved &solved, ArrayRef<Operation *> path,
                                             size_t from, size_t to) {
  Factor factor;
  for (size_t position = from; position < to; ++position) {
    if (!isa<DecayOp>(path[position]))
      continue;
    auto &trunk = solved.info->trunk;
    bool onTrunk = position < trunk.size() && trunk[position] == path[position];
    factor = multiply(factor, onTrunk ? solved.decays[position] : getDecay(path[position]));
  }
  return factor;
}

//===----------------------------------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------------------------------===//

/// An address, or what is written, in the element type of the state; 0 where there is no token, so
/// that nothing of what a body makes of zeros (0 / 0, say) meets the state.
Value ChunkBody::getAddress(Value value) { return extend(clearDeadRows(getChunk(value), value)); }

/// The address of a read, moved back to the start of its token, or of the chunk.
Value ChunkBody::getFirstUse(Solved &solved, ReadOp op, bool toChunkStart) {
  const StateValue &seen = solved.info->values.find(op.getState())->second;
  Value address = scaleRows(getAddress(op.getAddress()),
                            getDecayBetween(solved, seen.path, 0, seen.path.size()));
  return toChunkStart ? scaleRows(address, solved.before) : address;
}

/// What `op` sees of the trunk's `write` in earlier tokens and, if the write comes first, in its
/// own.
Value ChunkBody::getBracket(Solved &solved, ReadOp op, unsigned write) {
  const StateInfo &info = *solved.info;
  const StateValue &seen = info.values.find(op.getState())->second;
  size_t position =
      llvm::find(info.trunk, WriteOp(info.writes[write].op).getOperation()) - info.trunk.begin();
  Value address = solved.addresses[write];
  Value written =
      scaleRows(address, getDecayBetween(solved, info.trunk, position + 1, info.trunk.size()));
  Value diagonal;
  if (position < seen.trunkLength) {
    Value own = scaleRows(getAddress(op.getAddress()),
                          getDecayBetween(solved, seen.path, position + 1, seen.path.size()));
    diagonal = dotRows(own, address);
  }
  return BracketOp::create(builder, loc, getFirstUse(solved, op, /*toChunkStart=*/false), written,
                           solved.total, diagonal, subchunk);
}

/// The rows that `op` reads: from the old state, from the included writes of the trunk, and from
/// the writes of its own branch.
FailureOr<Value> ChunkBody::read(Solved &solved, ReadOp op, ArrayRef<bool> include) {
  element = getType(solved.state).getElementType();
  if (failed(get(op.getAddress())))
    return failure();
  const StateInfo &info = *solved.info;
  Value result =
      ReadOp::create(builder, loc, solved.state, getFirstUse(solved, op, /*toChunkStart=*/true),
                     builder.getI64IntegerAttr(info.axis));
  for (unsigned write = 0; write < info.writes.size(); ++write)
    if (include[write])
      result = product(getBracket(solved, op, write), solved.values[write], result);
  const StateValue &seen = info.values.find(op.getState())->second;
  for (size_t position = seen.trunkLength; position < seen.path.size(); ++position) {
    auto write = dyn_cast<WriteOp>(seen.path[position]);
    if (!write)
      continue;
    bool swap = int64_t(write.getAxis()) != info.axis;
    Value address = swap ? write.getValue() : write.getAddress(),
          value = swap ? write.getAddress() : write.getValue();
    if (failed(get(address)) || failed(get(value)))
      return failure();
    Value own = scaleRows(getAddress(op.getAddress()),
                          getDecayBetween(solved, seen.path, position + 1, seen.path.size()));
    Value weight = dotRows(own, getAddress(address));
    result = add(result, scaleRows(getAddress(value), weight));
  }
  return result;
}

//===----------------------------------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------------------------------===//

/// Lifts decays and addresses of the trunk; the rest of the state's chunk is built from them.
LogicalResult ChunkBody::prepare(Solved &solved) {
  const StateInfo &info = *solved.info;
  for (auto &[value, seen] : info.values)
    for (Operation *step : seen.path)
      if (auto decay = dyn_cast<DecayOp>(step))
        if (failed(get(decay.getBy())))
          return failure();
  for (const StateWrite &write : info.writes) {
    if (failed(get(write.address)))
      return failure();
    for (const ReadTerm &term : write.terms)
      if (failed(get(ReadOp(term.read).getAddress())))
        return failure();
  }
  element = getType(solved.state).getElementType();
  for (Operation *step : info.trunk)
    solved.decays.push_back(isa<DecayOp>(step) ? getDecay(step) : Factor());
  solved.total = getDecayBetween(solved, info.trunk, 0, info.trunk.size());
  if (solved.total) {
    solved.before = RunningProductOp::create(builder, loc, solved.total, /*reverse=*/false);
    solved.behind = RunningProductOp::create(builder, loc, solved.total, /*reverse=*/true);
  }
  for (const StateWrite &write : info.writes)
    solved.addresses.push_back(getAddress(write.address));
  return success();
}

/// What multiplies the read of a term, one number per token.
FailureOr<Value> ChunkBody::getCoefficient(Solved &solved, const ReadTerm &term) {
  Value coefficient;
  auto include = [&](Value factor, bool divide) -> LogicalResult {
    // A splat counts as its number; any other uniform tensor as its first column.
    if (auto splat = factor.getDefiningOp<tensor::SplatOp>())
      factor = splat.getInput();
    if (failed(get(factor)))
      return failure();
    Value value = getChunk(factor);
    if (auto type = getType(value); type.getRank() > 1) {
      SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
          ones(type.getRank(), builder.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes(ones);
      sizes[0] = builder.getIndexAttr(rows);
      value = tensor::ExtractSliceOp::create(builder, loc,
                                             RankedTensorType::get({rows}, type.getElementType()),
                                             value, offsets, sizes, ones);
    }
    value = extend(divide ? value : clearDeadRows(value, factor));
    if (!coefficient && !divide) {
      coefficient = value;
      return success();
    }
    if (!coefficient)
      coefficient = arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(getType(value), builder.getFloatAttr(element, 1.0)));
    coefficient = divide ? Value(arith::DivFOp::create(builder, loc, coefficient, value))
                         : Value(arith::MulFOp::create(builder, loc, coefficient, value));
    if (divide) // 0 / 0 where there is no token
      coefficient = fillDeadRows(coefficient, 0.0);
    return success();
  };
  for (Value factor : term.factors)
    if (failed(include(factor, false)))
      return failure();
  for (Value divisor : term.divisors)
    if (failed(include(divisor, true)))
      return failure();
  if (!coefficient)
    coefficient =
        arith::ConstantOp::create(builder, loc,
                                  DenseElementsAttr::get(RankedTensorType::get({rows}, element),
                                                         builder.getFloatAttr(element, 1.0)));
  return term.negative ? Value(arith::NegFOp::create(builder, loc, coefficient)) : coefficient;
}

/// Finds what every write of the trunk writes.
LogicalResult ChunkBody::solve(Solved &solved) {
  if (solved.isReady)
    return success();
  const StateInfo &info = *solved.info;
  if (info.stateClass == StateClass::shift)
    return shift(solved);
  if (info.stateClass != StateClass::lowRank)
    return runComponent(*getLoop(token.getStateArgs()[info.index]));
  if (failed(prepare(solved)))
    return failure();
  // What each write would write if nothing were read.
  Lifting overlay(rows);
  SmallVector<unsigned> unknown;
  for (auto [index, write] : llvm::enumerate(info.writes)) {
    if (failed(getZeroed(write.value, info, overlay)))
      return failure();
    auto type = dyn_cast<RankedTensorType>(write.value.getType());
    element = getType(solved.state).getElementType();
    Value constant =
        getLifted(builder, loc, write.value, overlay, type ? type.getShape() : ArrayRef<int64_t>());
    solved.values.push_back(extend(clearDeadRows(constant, write.value, &info)));
    if (!write.terms.empty())
      unknown.push_back(index);
  }
  if (unknown.empty()) {
    solved.isReady = true;
    return success();
  }

  // Row (token i, write s) of the system: what the write reads of the other unknowns.
  int64_t count = unknown.size(), size = rows * count;
  Value matrix, rhs;
  if (count > 1) {
    matrix = createZeros(builder, loc, element,
                         getAsIndexOpFoldResult(builder.getContext(), {rows, count, rows, count}));
    SmallVector<int64_t> shape(getType(solved.values[unknown[0]]).getShape());
    shape.insert(shape.begin() + 1, count);
    rhs = createZeros(builder, loc, element, getAsIndexOpFoldResult(builder.getContext(), shape));
  }
  auto place = [&](Value part, Value whole, ArrayRef<int64_t> offsets,
                   ArrayRef<int64_t> sizes) -> Value {
    SmallVector<int64_t> ones(offsets.size(), 1);
    MLIRContext *context = builder.getContext();
    return tensor::InsertSliceOp::create(
        builder, loc, part, whole, getAsIndexOpFoldResult(context, offsets),
        getAsIndexOpFoldResult(context, sizes), getAsIndexOpFoldResult(context, ones));
  };
  SmallVector<bool> known(info.writes.size(), true);
  for (unsigned write : unknown)
    known[write] = false;
  for (auto [row, write] : llvm::enumerate(unknown)) {
    Value constant = solved.values[write];
    SmallVector<Value> blocks(count);
    for (const ReadTerm &term : info.writes[write].terms) {
      FailureOr<Value> coefficient = getCoefficient(solved, term);
      FailureOr<Value> seen = read(solved, term.read, known);
      if (failed(coefficient) || failed(seen))
        return failure();
      constant = add(constant, scaleRows(*seen, *coefficient));
      for (auto [column, other] : llvm::enumerate(unknown))
        blocks[column] =
            add(blocks[column], scaleRows(getBracket(solved, term.read, other), *coefficient));
    }
    if (count == 1) {
      matrix = blocks[0];
      rhs = constant;
      break;
    }
    for (int64_t column = 0; column < count; ++column)
      matrix = place(blocks[column], matrix, {0, int64_t(row), 0, column}, {rows, 1, rows, 1});
    SmallVector<int64_t> offsets{0, int64_t(row)}, sizes{rows, 1};
    for (int64_t extent : getType(constant).getShape().drop_front()) {
      offsets.push_back(0);
      sizes.push_back(extent);
    }
    rhs = place(constant, rhs, offsets, sizes);
  }
  if (count == 1) {
    solved.values[unknown[0]] = SolveOp::create(builder, loc, matrix, rhs, subchunk);
    solved.isReady = true;
    return success();
  }
  SmallVector<ReassociationIndices> square{{0, 1}, {2, 3}}, tall{{0, 1}};
  if (getType(rhs).getRank() == 3)
    tall.push_back({2});
  RankedTensorType rhsType = getType(rhs);
  matrix = tensor::CollapseShapeOp::create(
      builder, loc, RankedTensorType::get({size, size}, element), matrix, square);
  Value stacked = tensor::CollapseShapeOp::create(builder, loc, rhs, tall);
  stacked = SolveOp::create(builder, loc, matrix, stacked, subchunk);
  Value split = tensor::ExpandShapeOp::create(builder, loc, rhsType, stacked, tall);
  for (auto [row, write] : llvm::enumerate(unknown)) {
    SmallVector<int64_t> offsets{0, int64_t(row)}, sizes{rows, 1}, ones(rhsType.getRank(), 1);
    for (int64_t extent : rhsType.getShape().drop_front(2)) {
      offsets.push_back(0);
      sizes.push_back(extent);
    }
    MLIRContext *context = builder.getContext();
    solved.values[write] = tensor::ExtractSliceOp::create(
        builder, loc, getType(solved.values[write]), split,
        getAsIndexOpFoldResult(context, offsets), getAsIndexOpFoldResult(context, sizes),
        getAsIndexOpFoldResult(context, ones));
  }
  solved.isReady = true;
  return success();
}

/// The state after the chunk.
Value ChunkBody::finish(Solved &solved) {
  if (solved.after)
    return solved.after;
  const StateInfo &info = *solved.info;
  element = getType(solved.state).getElementType();
  Value state = solved.state;
  if (solved.total) {
    // The product of all tokens: that before the last one, times the last one.
    auto last = [&](Value factor) -> Value {
      RankedTensorType type = getType(factor);
      if (type.getRank() == 1)
        return tensor::ExtractOp::create(
            builder, loc, factor,
            arith::ConstantIndexOp::create(builder, loc, rows - 1).getResult());
      MLIRContext *context = builder.getContext();
      return tensor::ExtractSliceOp::create(
          builder, loc, RankedTensorType::get({type.getDimSize(1)}, element), factor,
          getAsIndexOpFoldResult(context, {rows - 1, 0}),
          getAsIndexOpFoldResult(context, {1, type.getDimSize(1)}),
          getAsIndexOpFoldResult(context, {1, 1}));
    };
    Value whole = arith::MulFOp::create(builder, loc, last(solved.before), last(solved.total));
    SmallVector<int64_t> axes;
    if (isa<RankedTensorType>(whole.getType()))
      axes.push_back(info.axis);
    state = DecayOp::create(builder, loc, state, whole, axes, /*linear=*/true);
  }
  for (auto [index, write] : llvm::enumerate(info.writes)) {
    size_t position = llvm::find(info.trunk, WriteOp(write.op).getOperation()) - info.trunk.begin();
    Value address = scaleRows(solved.addresses[index],
                              getDecayBetween(solved, info.trunk, position + 1, info.trunk.size()));
    state = WriteOp::create(builder, loc, state, scaleRows(address, solved.behind),
                            solved.values[index], info.axis);
  }
  return state;
}
