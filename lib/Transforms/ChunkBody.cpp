//===- ChunkBody.cpp - lifting the body of a token ----------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "ChunkBody.h"

#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

ChunkBody::ChunkBody(OpBuilder &builder, RecurrenceOp token, RecurrenceOp chunk,
                     const StateGraph &graph, const ChunkOptions &options)
    : builder(builder), loc(token.getLoc()), token(token), chunk(chunk), graph(graph),
      rows(*chunk.getStep()), subchunk(options.subchunk), precision(options.precision),
      lifting(rows) {}

LogicalResult ChunkBody::build() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&chunk.getBody().front());
  lifting = Lifting(rows, IndexOp::create(builder, loc, token.getTimeDim()), token.getReverse());
  for (auto [operand, arg, tile] :
       llvm::zip_equal(token.getInsMutable(), token.getInArgs(), chunk.getInArgs())) {
    if (token.usesTime(token.getMap(operand)))
      lifting.setLifted(arg, token.getReverse() ? flipRows(tile) : Value(tile));
    else
      lifting.setInvariant(arg, tile);
  }
  for (auto [info, state] : llvm::zip_equal(graph.getStates(), chunk.getStateArgs()))
    states.emplace_back(info, state);
  lifting.liftRead = [this](Operation *op) {
    return isStepOfChunk(op) ? readAll(cast<ReadOp>(op)) : FailureOr<Value>();
  };
  planLoops();

  SmallVector<Value> yielded;
  for (Value out : token.getYieldedOuts()) {
    if (failed(get(out)))
      return failure();
    auto type = dyn_cast<RankedTensorType>(out.getType());
    Value tile =
        getLifted(builder, loc, out, lifting, type ? type.getShape() : ArrayRef<int64_t>());
    yielded.push_back(token.getReverse() ? flipRows(tile) : tile);
  }
  for (Solved &solved : states) {
    if (failed(solve(solved)))
      return failure();
    yielded.push_back(finish(solved));
  }
  YieldOp::create(builder, loc, yielded);
  return success();
}

//===----------------------------------------------------------------------------------------------===//
// On demand
//===----------------------------------------------------------------------------------------------===//

LogicalResult ChunkBody::getUsed(Operation *op, function_ref<LogicalResult(Value)> getter) {
  return success(
      llvm::all_of(getUsedValues(op), [&](Value value) { return succeeded(getter(value)); }));
}

LogicalResult ChunkBody::get(Value value) {
  if (lifting.contains(value))
    return success();
  llvm::SaveAndRestore scope(element); // of the state that asks
  if (const StateComponent *component = getLoop(value)) {
    Solved &first = states[component->states.front()];
    return first.info->stateClass == StateClass::shift ? shift(first) : runComponent(*component);
  }
  Operation *def = value.getDefiningOp();
  bool readsChunk = isStepOfChunk(def);
  if (readsChunk && failed(prepareReads(def)))
    return failure();
  if (auto readOp = dyn_cast<ReadOp>(def); readOp && readsChunk) {
    FailureOr<Value> result = readAll(readOp);
    if (succeeded(result))
      lifting.setLifted(value, *result);
    return result;
  }
  if (failed(getUsed(def, [&](Value used) { return get(used); })))
    return failure();
  if (lifting.contains(value)) // a row of a shift
    return success();
  if (succeeded(liftOp(builder, def, lifting)))
    return success();
  culprit = def;
  return readsChunk ? failure() : runOp(def);
}

/// Solves the states that `op` reads, itself or inside, and builds what all reads of them share.
LogicalResult ChunkBody::prepareReads(Operation *op) {
  WalkResult result = op->walk([&](ReadOp readOp) {
    if (!isStepOfChunk(readOp))
      return WalkResult::advance();
    Solved &solved = states[graph.lookup(readOp)->index];
    if (failed(solve(solved)))
      return WalkResult::interrupt();
    if (readOp == op)
      return WalkResult::advance();
    // Inside of a loop: nothing that is kept may be built there.
    element = cast<RankedTensorType>(solved.state.getType()).getElementType();
    getDecays(solved, readOp.getAxis(), /*withScalars=*/true);
    getDecays(solved, 1 - readOp.getAxis(), /*withScalars=*/false);
    const StateValue &seen = solved.info->values.find(readOp.getState())->second;
    for (Operation *step : ArrayRef(seen.path).drop_front(seen.trunkLength))
      if (auto write = dyn_cast<WriteOp>(step))
        if (failed(get(write.getAddress())) || failed(get(write.getValue())))
          return WalkResult::interrupt();
    lifting.setLifted(readOp.getState(), solved.state); // every token sees another state
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// The rows that a read reads when all writes are known.
FailureOr<Value> ChunkBody::readAll(ReadOp op) {
  Solved &solved = states[graph.lookup(op)->index];
  if (const StateLevels *group = graph.getLevels(solved.info->index))
    return readLevel(levels.find(group)->second, op);
  return read(solved, op, SmallVector<bool>(solved.values.size(), true));
}

/// Lifts `value` into `overlay` as if everything that is read from the state were 0.
LogicalResult ChunkBody::getZeroed(Value value, const StateInfo &info, Lifting &overlay) {
  if (overlay.contains(value))
    return success();
  if (!info.dependent.contains(value)) {
    if (failed(get(value)))
      return failure();
    if (lifting.isLifted(value))
      overlay.setLifted(value, lifting.lookup(value));
    else
      overlay.setInvariant(value, lifting.lookup(value));
    return success();
  }
  Operation *def = value.getDefiningOp();
  if (auto readOp = dyn_cast<ReadOp>(def); readOp && info.values.contains(readOp.getState())) {
    RankedTensorType type = lifting.getLiftedType(value.getType());
    overlay.setLifted(value, arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
    return success();
  }
  if (failed(getUsed(def, [&](Value used) { return getZeroed(used, info, overlay); })))
    return failure();
  if (failed(liftOp(builder, def, overlay))) {
    culprit = def;
    return failure();
  }
  return success();
}

/// A value that `get` has lifted, with a row per token.
Value ChunkBody::getChunk(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return getLifted(builder, loc, value, lifting, type ? type.getShape() : ArrayRef<int64_t>());
}

//===----------------------------------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------------------------------===//

/// True if the rows of tokens that are not there are 0 for sure: inputs read as 0, and sums and
/// products of zeros are 0. Reads of the state `own` count as 0.
bool ChunkBody::isZeroOnDeadRows(Value value, const StateInfo *own) {
  if (zeroOnDeadRows.contains(value))
    return true;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto args = token.getInArgs();
    auto position = llvm::find(args, arg);
    return position != args.end() &&
           token.usesTime(token.getMap(token.getInsMutable()[position - args.begin()]));
  }
  Operation *def = value.getDefiningOp();
  if (auto readOp = dyn_cast<ReadOp>(def))
    return (own && graph.lookup(readOp) == own) || isZeroOnDeadRows(readOp.getAddress(), own);
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::ExtFOp,
             arith::TruncFOp, tensor::SplatOp>(def) &&
         llvm::all_of(def->getOperands(),
                      [&](Value operand) { return isZeroOnDeadRows(operand, own); });
}

/// `value`, the chunk's rows of `tokenValue`, with zeros where there is no token.
Value ChunkBody::clearDeadRows(Value value, Value tokenValue, const StateInfo *own) {
  return isZeroOnDeadRows(tokenValue, own) ? value : fillDeadRows(value, 0.0);
}

Value ChunkBody::fillDeadRows(Value value, double fill) {
  auto type = cast<RankedTensorType>(value.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  Value live = chunk.getLiveArg();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  Value filler =
      arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type.getElementType(), fill));
  return linalg::GenericOp::create(
             builder, loc, TypeRange{type}, value, empty, ArrayRef<AffineMap>{identity, identity},
             SmallVector<IteratorType>(type.getRank(), IteratorType::parallel),
             [&](OpBuilder &b, Location l, ValueRange args) {
               Value row = linalg::IndexOp::create(b, l, 0);
               // Reversed tiles begin with the rows that are not there.
               if (token.getReverse())
                 row = arith::SubIOp::create(b, l, arith::ConstantIndexOp::create(b, l, rows - 1),
                                             row);
               Value isLive = arith::CmpIOp::create(b, l, arith::CmpIPredicate::slt, row, live);
               linalg::YieldOp::create(
                   b, l, arith::SelectOp::create(b, l, isLive, args[0], filler).getResult());
             })
      .getResult(0);
}

/// The rows in the opposite order: the order in which a reversed recurrence visits them.
Value ChunkBody::flipRows(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    exprs.push_back(dim == 0 ? (rows - 1) - builder.getAffineDimExpr(0)
                             : builder.getAffineDimExpr(dim));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  return linalg::GenericOp::create(
             builder, loc, TypeRange{type}, value, empty,
             ArrayRef<AffineMap>{AffineMap::get(type.getRank(), 0, exprs, builder.getContext()),
                                 builder.getMultiDimIdentityMap(type.getRank())},
             SmallVector<IteratorType>(type.getRank(), IteratorType::parallel),
             [](OpBuilder &b, Location l, ValueRange args) {
               linalg::YieldOp::create(b, l, args[0]);
             })
      .getResult(0);
}
