//===- ChunkLevels.cpp - states that are mixed with each other ----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// Token i begins with level l as the sum over m of M_i[l, m] S_m. These numbers commute with what
// then happens to all levels, so that addresses are solved for once (ChunkAddresses.cpp), and what
// the products M_i .. M_j+1 leave of a write of token j in each level weighs what comes out.
//
//===----------------------------------------------------------------------------------------------===//

#include "ChunkBody.h"

#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::linattn;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------------------------------===//
// Mixing
//===----------------------------------------------------------------------------------------------===//

ChunkBody::SolvedLevels::SolvedLevels(const StateLevels &info, Value state)
    : info(&info), shared(info.shared, state) {}

/// The numbers of the tokens by which the sum `mix` has the old value of `state`; null if there are
/// none.
FailureOr<Value> ChunkBody::getNumbers(Value mix, unsigned state) {
  auto fill = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(RankedTensorType::get({rows}, element),
                                                            builder.getFloatAttr(element, value)));
  };
  if (mix == token.getStateArgs()[state])
    return fill(1.0);
  Operation *def = mix.getDefiningOp();
  if (!def || matchPattern(mix, m_AnyZeroFloat()))
    return Value();
  SmallVector<Value> parts;
  if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::SelectOp>(def))
    for (Value operand : def->getOperands().drop_front(isa<arith::SelectOp>(def))) {
      FailureOr<Value> part = getNumbers(operand, state);
      if (failed(part))
        return failure();
      parts.push_back(*part);
    }
  if (auto mul = dyn_cast<arith::MulFOp>(def)) {
    auto splat = mul.getLhs().getDefiningOp<tensor::SplatOp>();
    FailureOr<Value> part = getNumbers(splat ? mul.getRhs() : mul.getLhs(), state);
    if (failed(part) || !*part)
      return part;
    if (!splat)
      splat = mul.getRhs().getDefiningOp<tensor::SplatOp>();
    if (failed(get(splat.getInput())))
      return failure();
    return Value(arith::MulFOp::create(builder, loc, getChunk(splat.getInput()), *part));
  }
  if (llvm::none_of(parts, [](Value part) { return bool(part); }))
    return Value();
  for (Value &part : parts)
    if (!part)
      part = fill(0.0);
  if (auto select = dyn_cast<arith::SelectOp>(def)) {
    if (failed(get(select.getCondition())))
      return failure();
    return Value(
        arith::SelectOp::create(builder, loc, getChunk(select.getCondition()), parts[0], parts[1]));
  }
  OperationState same(loc, def->getName(), parts, {RankedTensorType::get({rows}, element)},
                      def->getAttrs());
  return builder.create(same)->getResult(0);
}

/// What is left of each level, and of what each token has written, in every level at every token:
/// `[C, L, columns]`, with a column per level, and then C for each choice of levels to write to.
LogicalResult ChunkBody::multiplyLevels(SolvedLevels &levels) {
  const StateLevels &info = *levels.info;
  int64_t count = info.states.size();
  MLIRContext *context = builder.getContext();
  auto sizes = [&](ArrayRef<int64_t> list) { return getAsIndexOpFoldResult(context, list); };
  // The numbers of all tokens; those that are not there change nothing.
  Value numbers = createZeros(builder, loc, element, sizes({rows, count, count}));
  for (int64_t to = 0; to < count; ++to) {
    levels.reach.emplace_back(count);
    for (int64_t from = 0; from < count; ++from) {
      FailureOr<Value> some = getNumbers(info.mixes[to], info.states[from]);
      if (failed(some))
        return failure();
      if (*some)
        levels.reach.back().set(from);
      else if (to == from)
        some = Value(createZeros(builder, loc, element, sizes({rows})));
      if (*some)
        numbers = place(fillDeadRows(*some, to == from), numbers, {0, to, from}, {rows, 1, 1});
    }
  }
  for (int64_t via = 0; via < count; ++via)
    for (int64_t to = 0; to < count; ++to)
      if (levels.reach[to][via])
        levels.reach[to] |= levels.reach[via];

  SmallVector<SmallVector<unsigned>> choices;
  for (unsigned source : levels.shared.sources) {
    const auto &writers = info.writers.find(info.shared.writes[source].op)->second;
    auto choice = llvm::find(choices, writers);
    levels.columns.push_back(count + rows * (choice - choices.begin()));
    if (choice == choices.end())
      choices.push_back(writers);
  }
  int64_t columns = count + rows * int64_t(choices.size());
  auto floating = [&](double value) { return builder.getFloatAttr(element, value); };
  SmallVector<Attribute> start(count * columns, floating(0.0));
  for (int64_t level = 0; level < count; ++level)
    start[level * columns + level] = floating(1.0);
  Value first = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(RankedTensorType::get({count, columns}, element), start));
  Value all = createZeros(builder, loc, element, sizes({rows, count, columns}));
  auto index = [&](int64_t i) { return arith::ConstantIndexOp::create(builder, loc, i); };
  Value one = arith::ConstantOp::create(builder, loc, floating(1.0));
  auto loop =
      scf::ForOp::create(builder, loc, index(0), index(rows), index(1), ValueRange{first, all});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  Value now =
      extractRow(builder, loc, numbers, row, RankedTensorType::get({count, count}, element));
  Value next = product(now, loop.getRegionIterArg(0), {});
  for (auto [number, choice] : llvm::enumerate(choices)) {
    Value column = arith::AddIOp::create(builder, loc, row, index(count + rows * number));
    for (unsigned level : choice)
      next = tensor::InsertOp::create(builder, loc, one, next, ValueRange{index(level), column});
  }
  Value kept = insertRow(builder, loc, next, loop.getRegionIterArg(1), row);
  scf::YieldOp::create(builder, loc, ValueRange{next, kept});
  levels.products = loop.getResult(1);
  return success();
}

/// Entries of the products: of all tokens, or of one, in `level`; one column, or one per token.
Value ChunkBody::getProducts(SolvedLevels &levels, std::optional<int64_t> row, unsigned level,
                             int64_t column, bool isPair) {
  SmallVector<int64_t> offsets{row.value_or(0), level, column}, strides(3, 1);
  SmallVector<int64_t> sizes{row ? 1 : rows, 1, isPair ? rows : 1}, shape;
  if (!row)
    shape.push_back(rows);
  if (isPair)
    shape.push_back(rows);
  MLIRContext *context = builder.getContext();
  return tensor::ExtractSliceOp::create(builder, loc, RankedTensorType::get(shape, element),
                                        levels.products, getAsIndexOpFoldResult(context, offsets),
                                        getAsIndexOpFoldResult(context, sizes),
                                        getAsIndexOpFoldResult(context, strides));
}

/// True if something of what `source` writes may be in `level`.
bool ChunkBody::isInLevel(SolvedLevels &levels, unsigned source, unsigned level) {
  WriteOp write = levels.info->shared.writes[levels.shared.sources[source]].op;
  return llvm::any_of(levels.info->writers.find(write)->second, [&](unsigned writer) {
    return writer == level || levels.reach[level][writer];
  });
}

//===----------------------------------------------------------------------------------------------===//
// Reads and new states
//===----------------------------------------------------------------------------------------------===//

/// The rows that `op` reads from its level.
FailureOr<Value> ChunkBody::readLevel(SolvedLevels &levels, ReadOp op) {
  const StateLevels &info = *levels.info;
  Solved &shared = levels.shared;
  element = getTensorType(shared.state).getElementType();
  if (failed(get(op.getAddress())))
    return failure();
  // Reads at one address and behind the same steps have the weights in common.
  const StateValue &seen = info.shared.values.find(op.getState())->second;
  Seen &common = levels.seen[{op.getAddress(), seen.path.empty() ? nullptr : seen.path.back()}];
  unsigned level = info.levelOf.lookup(op.getState());
  if (common.weights.empty()) {
    common.address = getWeights(shared, op, std::nullopt);
    common.old.resize(info.states.size());
    for (unsigned source = 0; source < shared.sources.size(); ++source)
      common.weights.push_back(getWeights(shared, op, source));
  }
  Value result;
  for (unsigned from : levels.reach[level].set_bits()) {
    Value &old = common.old[from];
    if (!old)
      old = ReadOp::create(builder, loc, states[info.states[from]].state, common.address,
                           op.getAxisAttr());
    result = add(result, scaleRows(old, getProducts(levels, std::nullopt, level, from, false)));
  }
  for (auto [source, write] : llvm::enumerate(shared.sources))
    if (isInLevel(levels, source, level))
      result = product(arith::MulFOp::create(
                           builder, loc, common.weights[source],
                           getProducts(levels, std::nullopt, level, levels.columns[source], true)),
                       shared.values[write], result);
  if (!result)
    result = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(lifting.getLiftedType(op.getResult().getType())));
  return result;
}

/// Solves the system that all levels share, and builds the states after the chunk.
LogicalResult ChunkBody::solveLevels(SolvedLevels &levels) {
  const StateLevels &info = *levels.info;
  Solved &shared = levels.shared;
  int64_t axis = info.shared.axis;
  if (failed(solveAddresses(shared)))
    return failure();
  element = getTensorType(shared.state).getElementType();
  if (failed(multiplyLevels(levels)))
    return failure();
  const Decays &decays = getDecays(shared, axis, true);
  auto getEnd = [&](unsigned write) {
    return scaleRows(getMoved(shared, write, axis, true), decays.behind);
  };
  // The levels after the chunk, if nothing mixed them; where each write is then.
  SmallVector<Value> olds, ends;
  for (unsigned state : info.states) {
    Value old = decayWhole(states[state].state, decays, axis);
    for (auto [index, write] : llvm::enumerate(shared.unknown)) {
      Value passed = ReadOp::create(builder, loc, states[state].state, shared.passed[0][index],
                                    builder.getI64IntegerAttr(axis));
      old = WriteOp::create(builder, loc, old, getEnd(write), passed, axis);
    }
    olds.push_back(old);
  }
  for (auto [source, write] : llvm::enumerate(shared.sources)) {
    Value end = getEnd(write);
    for (auto [index, other] : llvm::enumerate(shared.unknown))
      end = WriteOp::create(builder, loc, end, shared.passed[1 + source][index], getEnd(other),
                            int64_t(0));
    ends.push_back(end);
  }
  for (auto [level, state] : llvm::enumerate(info.states)) {
    Value sum;
    for (unsigned from : levels.reach[level].set_bits()) {
      Value number = tensor::ExtractOp::create(
          builder, loc, getProducts(levels, rows - 1, level, from, false), ValueRange());
      sum = add(sum, DecayOp::create(builder, loc, olds[from], number, ArrayRef<int64_t>(),
                                     /*linear=*/true));
    }
    if (!sum)
      sum = createZeros(builder, loc, element,
                        getAsIndexOpFoldResult(builder.getContext(),
                                               getTensorType(states[state].state).getShape()));
    for (auto [source, write] : llvm::enumerate(shared.sources))
      if (isInLevel(levels, source, level))
        sum = WriteOp::create(
            builder, loc, sum, ends[source],
            scaleRows(shared.values[write],
                      getProducts(levels, rows - 1, level, levels.columns[source], true)),
            axis);
    states[state].after = sum;
    states[state].isReady = true;
  }
  return success();
}
