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

/// The product of the decays `path[from .. to)` of one token: of the channels along `axis` and, if
/// asked for, of the multipliers of whole tokens.
ChunkBody::Factor ChunkBody::getDecayBetween(Solved &solved, ArrayRef<Operation *> path,
                                             size_t from, size_t to, int64_t axis,
                                             bool withScalars) {
  Factor factor;
  for (size_t position = from; position < to; ++position) {
    auto decay = dyn_cast<DecayOp>(path[position]);
    if (!decay || (decay.getAxes().empty() ? !withScalars : decay.getAxes().front() != axis))
      continue;
    auto &trunk = solved.info->trunk;
    bool onTrunk = position < trunk.size() && trunk[position] == path[position];
    factor = multiply(factor, onTrunk ? solved.decays[position] : getDecay(path[position]));
  }
  return factor;
}

/// The products over whole tokens, which are built when they are asked for.
const ChunkBody::Decays &ChunkBody::getDecays(Solved &solved, int64_t axis, bool withScalars) {
  std::optional<Decays> &decays = solved.products[axis][withScalars];
  if (decays)
    return *decays;
  decays.emplace();
  ArrayRef<Operation *> trunk = solved.info->trunk;
  decays->total = getDecayBetween(solved, trunk, 0, trunk.size(), axis, withScalars);
  if (!decays->total)
    return *decays;
  Decays &known = products[decays->total];
  if (!known.total) {
    known.total = decays->total;
    known.before = RunningProductOp::create(builder, loc, known.total, /*reverse=*/false);
    known.behind = RunningProductOp::create(builder, loc, known.total, /*reverse=*/true);
  }
  return *(decays = known);
}

//===----------------------------------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------------------------------===//

/// An address, or what is written, in the element type of the state; 0 where there is no token, so
/// that nothing of what a body makes of zeros (0 / 0, say) meets the state.
Value ChunkBody::getAddress(Value value) { return extend(clearDeadRows(getChunk(value), value)); }

/// The decays that a read sees from the start of its token on.
ChunkBody::Factor ChunkBody::getFirstDecay(Solved &solved, ReadOp op) {
  const StateValue &seen = solved.info->values.find(op.getState())->second;
  return getDecayBetween(solved, seen.path, 0, seen.path.size(), op.getAxis(),
                         /*withScalars=*/true);
}

/// The address of a read, moved back to the start of the chunk.
Value ChunkBody::getFirstUse(Solved &solved, ReadOp op) {
  Value address = scaleRows(getAddress(op.getAddress()), getFirstDecay(solved, op));
  return scaleRows(address, getDecays(solved, op.getAxis(), true).before);
}

/// True if the plan rounds the operands of the products for the new state, or for what `op` sees of
/// the old state or of a write. What a solve has found may cancel: its rounding would be amplified.
bool ChunkBody::isRounded(Solved &solved, ReadOp op, std::optional<unsigned> write) {
  RankedTensorType type = getType(solved.state);
  if (precision == OperandPrecision::f32 || !type.getElementType().isF32() || type.getRank() != 2)
    return false;
  if (precision == OperandPrecision::all_bf16)
    return true;
  ArrayRef<ReadOp> reads = op ? ArrayRef(op) : ArrayRef(solved.info->reads);
  return llvm::none_of(reads, StateGraph::feedsStates) &&
         (!write || solved.info->writes[*write].terms.empty());
}

/// What `op` sees of the state before the chunk. Multipliers of whole tokens scale the rows that
/// come out, in a pass over them that is there anyway, those of channels what goes in.
Value ChunkBody::readOld(Solved &solved, ReadOp op) {
  Factor first = getFirstDecay(solved, op), before = getDecays(solved, op.getAxis(), true).before;
  bool isOfTokens = llvm::all_of(ArrayRef<Factor>{first, before}, [](Factor factor) {
    return !factor || getType(factor).getRank() == 1;
  });
  Value address = isOfTokens ? getAddress(op.getAddress()) : getFirstUse(solved, op);
  Value state = solved.state;
  if (isRounded(solved, op)) {
    address = roundToBf16(builder, loc, address);
    state = extend(roundToBf16(builder, loc, state));
  }
  Value rows = ReadOp::create(builder, loc, state, address, op.getAxisAttr());
  return isOfTokens ? scaleRows(rows, multiply(first, before)) : rows;
}

static size_t getPosition(const StateInfo &info, unsigned write) {
  return llvm::find(info.trunk, WriteOp(info.writes[write].op).getOperation()) - info.trunk.begin();
}

/// The rows along `axis` of a write of the trunk, moved to the end of their token.
Value ChunkBody::getMoved(Solved &solved, unsigned write, int64_t axis, bool withScalars) {
  const StateInfo &info = *solved.info;
  return scaleRows(axis == info.axis ? solved.addresses[write] : solved.values[write],
                   getDecayBetween(solved, info.trunk, getPosition(info, write) + 1,
                                   info.trunk.size(), axis, withScalars));
}

/// What `op` sees of the trunk's `write` in earlier tokens and, if asked for and the write comes
/// first, in its own.
Value ChunkBody::getBracket(Solved &solved, ReadOp op, unsigned write, bool withDiagonal) {
  const StateInfo &info = *solved.info;
  const StateValue &seen = info.values.find(op.getState())->second;
  int64_t axis = op.getAxis();
  size_t position = getPosition(info, write);
  Value written = getMoved(solved, write, axis, /*withScalars=*/true);
  Value diagonal;
  if (withDiagonal && position < seen.trunkLength) {
    Value own = scaleRows(getAddress(op.getAddress()),
                          getDecayBetween(solved, seen.path, position + 1, seen.path.size(), axis,
                                          /*withScalars=*/true));
    diagonal = dotRows(own, axis == info.axis ? solved.addresses[write] : solved.values[write]);
  }
  Value reads = scaleRows(getAddress(op.getAddress()), getFirstDecay(solved, op));
  return BracketOp::create(builder, loc, reads, written, getDecays(solved, axis, true).total,
                           diagonal, subchunk, isRounded(solved, op, write));
}

/// What `op` sees of the write at `position` of its path in its own token, row by row.
/// `contracted`: the write's rows along the axis that `op` contracts; `value`: along the other.
Value ChunkBody::getOwn(Solved &solved, ReadOp op, size_t position, Value contracted, Value value) {
  ArrayRef<Operation *> path = solved.info->values.find(op.getState())->second.path;
  int64_t axis = op.getAxis();
  Factor inner = getDecayBetween(solved, path, position + 1, path.size(), axis, true);
  Factor outer = getDecayBetween(solved, path, position + 1, path.size(), 1 - axis, false);
  Value weight = dotRows(scaleRows(getAddress(op.getAddress()), inner), contracted);
  return scaleRows(scaleRows(value, weight), outer);
}

/// The rows that `op` reads: from the old state, from the included writes of the trunk, and from
/// the writes of its own branch. Decays along the axis that `op` contracts, and those of whole
/// tokens, scale what is contracted; those along the other axis, the outer ones, what comes out.
FailureOr<Value> ChunkBody::read(Solved &solved, ReadOp op, ArrayRef<bool> include) {
  element = getType(solved.state).getElementType();
  if (failed(get(op.getAddress())))
    return failure();
  const StateInfo &info = *solved.info;
  const StateValue &seen = info.values.find(op.getState())->second;
  int64_t axis = op.getAxis(), other = 1 - axis;
  Factor outer = getDecayBetween(solved, seen.path, 0, seen.path.size(), other, false);
  const Decays &tokens = getDecays(solved, other, false);
  bool isPlain = !outer && !tokens.total;
  Value result = scaleRows(readOld(solved, op), tokens.before);
  for (unsigned write = 0; write < info.writes.size(); ++write) {
    if (!include[write])
      continue;
    Value bracket = getBracket(solved, op, write, /*withDiagonal=*/isPlain);
    Value values = getMoved(solved, write, other, /*withScalars=*/false);
    if (tokens.total) {
      result = add(result, WeightedSumOp::create(builder, loc, bracket, values, tokens.total,
                                                 subchunk, isRounded(solved, op, write)));
      continue;
    }
    if (isRounded(solved, op, write)) {
      bracket = roundToBf16(builder, loc, bracket);
      values = roundToBf16(builder, loc, values);
    }
    result = product(bracket, values, result);
  }
  result = scaleRows(result, outer);
  for (unsigned write = 0; write < info.writes.size(); ++write) {
    size_t position = getPosition(info, write);
    if (isPlain || !include[write] || position >= seen.trunkLength)
      continue;
    Value contracted = solved.addresses[write], value = solved.values[write];
    if (axis != info.axis)
      std::swap(contracted, value);
    result = add(result, getOwn(solved, op, position, contracted, value));
  }
  for (size_t position = seen.trunkLength; position < seen.path.size(); ++position) {
    auto write = dyn_cast<WriteOp>(seen.path[position]);
    if (!write)
      continue;
    Value contracted = getVector(write, axis), value = getVector(write, other);
    if (failed(get(contracted)) || failed(get(value)))
      return failure();
    result = add(result, getOwn(solved, op, position, getAddress(contracted), getAddress(value)));
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
  for (Operation *step : info.trunk) {
    Factor &factor = solved.decays.emplace_back();
    if (auto decay = dyn_cast<DecayOp>(step)) {
      Factor &known = multipliers[decay.getLinear()][{decay.getBy(), element}];
      factor = known = known ? known : getDecay(step);
    }
  }
  getDecays(solved, info.axis, /*withScalars=*/true);
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

/// The sum over the reads that feed a write of the rows that `getRows` gives for each, times their
/// coefficients, behind `sum`.
FailureOr<Value> ChunkBody::sumTerms(Solved &solved, unsigned write, Value sum,
                                     function_ref<FailureOr<Value>(ReadOp)> getRows) {
  for (const ReadTerm &term : solved.info->writes[write].terms) {
    Value &coefficient = coefficients[&term];
    if (!coefficient) {
      FailureOr<Value> made = getCoefficient(solved, term);
      if (failed(made))
        return failure();
      coefficient = *made;
    }
    FailureOr<Value> seen = getRows(term.read);
    if (failed(seen))
      return failure();
    sum = add(sum, scaleRows(*seen, coefficient));
  }
  return sum;
}

/// What a write writes if everything that is read from the state is 0.
FailureOr<Value> ChunkBody::getConstant(Solved &solved, unsigned write, Lifting &overlay) {
  const StateInfo &info = *solved.info;
  Value value = info.writes[write].value;
  if (failed(getZeroed(value, info, overlay)))
    return failure();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  element = getType(solved.state).getElementType();
  Value constant =
      getLifted(builder, loc, value, overlay, type ? type.getShape() : ArrayRef<int64_t>());
  return extend(clearDeadRows(constant, value, &info));
}

/// The matrix of the system of `unknown` writes. Row (token i, write s): what the write reads of
/// the others.
FailureOr<Value> ChunkBody::getSystem(Solved &solved, ArrayRef<unsigned> unknown) {
  int64_t count = unknown.size(), size = rows * count;
  SmallVector<SmallVector<Value>> blocks;
  for (unsigned write : unknown) {
    SmallVector<Value> &row = blocks.emplace_back();
    for (unsigned other : unknown) {
      FailureOr<Value> block = sumTerms(solved, write, {}, [&](ReadOp op) {
        return getBracket(solved, op, other, /*withDiagonal=*/true);
      });
      if (failed(block))
        return failure();
      row.push_back(*block);
    }
  }
  if (count == 1)
    return blocks[0][0];
  Value matrix =
      createZeros(builder, loc, element,
                  getAsIndexOpFoldResult(builder.getContext(), {rows, count, rows, count}));
  for (int64_t row = 0; row < count; ++row)
    for (int64_t column = 0; column < count; ++column)
      matrix = place(blocks[row][column], matrix, {0, row, 0, column}, {rows, 1, rows, 1});
  SmallVector<ReassociationIndices> square{{0, 1}, {2, 3}};
  return Value(tensor::CollapseShapeOp::create(
      builder, loc, RankedTensorType::get({size, size}, element), matrix, square));
}

/// Solves the system for right-hand sides with the rows of each unknown.
SmallVector<Value> ChunkBody::solveSystem(Value matrix, ArrayRef<Value> sides) {
  int64_t count = sides.size();
  if (count == 1)
    return {SolveOp::create(builder, loc, matrix, sides[0], subchunk)};
  SmallVector<int64_t> shape(getType(sides[0]).getShape());
  shape.insert(shape.begin() + 1, count);
  MLIRContext *context = builder.getContext();
  Value rhs = createZeros(builder, loc, element, getAsIndexOpFoldResult(context, shape));
  SmallVector<int64_t> offsets(shape.size(), 0), sizes(shape), ones(shape.size(), 1);
  sizes[1] = 1;
  for (auto [row, side] : llvm::enumerate(sides)) {
    offsets[1] = row;
    rhs = place(side, rhs, offsets, sizes);
  }
  SmallVector<ReassociationIndices> tall{{0, 1}};
  if (shape.size() == 3)
    tall.push_back({2});
  Value stacked = tensor::CollapseShapeOp::create(builder, loc, rhs, tall);
  stacked = SolveOp::create(builder, loc, matrix, stacked, subchunk);
  Value split = tensor::ExpandShapeOp::create(builder, loc, getType(rhs), stacked, tall);
  SmallVector<Value> results;
  for (int64_t row = 0; row < count; ++row) {
    offsets[1] = row;
    results.push_back(tensor::ExtractSliceOp::create(
        builder, loc, getType(sides[row]), split, getAsIndexOpFoldResult(context, offsets),
        getAsIndexOpFoldResult(context, sizes), getAsIndexOpFoldResult(context, ones)));
  }
  return results;
}

Value ChunkBody::place(Value part, Value whole, ArrayRef<int64_t> offsets,
                       ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> ones(offsets.size(), 1);
  MLIRContext *context = builder.getContext();
  return tensor::InsertSliceOp::create(
      builder, loc, part, whole, getAsIndexOpFoldResult(context, offsets),
      getAsIndexOpFoldResult(context, sizes), getAsIndexOpFoldResult(context, ones));
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
  if (const StateLevels *group = graph.getLevels(info.index))
    return solveLevels(levels.try_emplace(group, *group, solved.state).first->second);
  if (info.isSolvedAcross())
    return solveAcross(solved);
  if (failed(prepare(solved)))
    return failure();
  Lifting overlay(rows);
  SmallVector<unsigned> unknown;
  SmallVector<bool> known;
  for (auto [index, write] : llvm::enumerate(info.writes)) {
    FailureOr<Value> constant = getConstant(solved, index, overlay);
    if (failed(constant))
      return failure();
    solved.values.push_back(*constant);
    known.push_back(write.terms.empty());
    if (!known.back())
      unknown.push_back(index);
  }
  SmallVector<Value> sides;
  for (unsigned write : unknown) {
    FailureOr<Value> side = sumTerms(solved, write, solved.values[write],
                                     [&](ReadOp op) { return read(solved, op, known); });
    if (failed(side))
      return failure();
    sides.push_back(*side);
  }
  if (!unknown.empty()) {
    FailureOr<Value> matrix = getSystem(solved, unknown);
    if (failed(matrix))
      return failure();
    for (auto [write, value] : llvm::zip_equal(unknown, solveSystem(*matrix, sides)))
      solved.values[write] = value;
  }
  solved.isReady = true;
  return success();
}

/// The state after the decays of all tokens along `axis`.
Value ChunkBody::decayWhole(Value state, const Decays &decays, int64_t axis) {
  if (!decays.total)
    return state;
  // The product of all tokens: that before the last one, times the last one.
  auto last = [&](Value factor) -> Value {
    RankedTensorType type = getType(factor);
    if (type.getRank() == 1)
      return tensor::ExtractOp::create(
          builder, loc, factor, arith::ConstantIndexOp::create(builder, loc, rows - 1).getResult());
    MLIRContext *context = builder.getContext();
    return tensor::ExtractSliceOp::create(builder, loc,
                                          RankedTensorType::get({type.getDimSize(1)}, element),
                                          factor, getAsIndexOpFoldResult(context, {rows - 1, 0}),
                                          getAsIndexOpFoldResult(context, {1, type.getDimSize(1)}),
                                          getAsIndexOpFoldResult(context, {1, 1}));
  };
  Value whole = arith::MulFOp::create(builder, loc, last(decays.before), last(decays.total));
  SmallVector<int64_t> axes;
  if (isa<RankedTensorType>(whole.getType()))
    axes.push_back(axis);
  return DecayOp::create(builder, loc, state, whole, axes, /*linear=*/true);
}

/// The state after the chunk.
Value ChunkBody::finish(Solved &solved) {
  if (solved.after)
    return solved.after;
  const StateInfo &info = *solved.info;
  element = getType(solved.state).getElementType();
  const Decays &inner = getDecays(solved, info.axis, true),
               &outer = getDecays(solved, 1 - info.axis, false);
  Value state = decayWhole(solved.state, inner, info.axis);
  state = decayWhole(state, outer, 1 - info.axis);
  for (unsigned write = 0; write < info.writes.size(); ++write) {
    Value address = scaleRows(getMoved(solved, write, info.axis, true), inner.behind);
    Value value = scaleRows(getMoved(solved, write, 1 - info.axis, false), outer.behind);
    if (isRounded(solved)) {
      address = roundToBf16(builder, loc, address);
      value = roundToBf16(builder, loc, value);
    }
    state = WriteOp::create(builder, loc, state, address, value, info.axis);
  }
  return state;
}
