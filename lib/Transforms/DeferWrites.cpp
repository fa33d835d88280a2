//===- DeferWrites.cpp - apply the writes of a step in the next one -----------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/DeferWrites.h"

#include "linattn/IR/LinAttn.h"
#include "linattn/Utils/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::linattn;

/// The decays and writes that lead from `state` to `last`, in order; none if something else is
/// among them or sees a value in between.
static SmallVector<Operation *> getUpdates(Value state, Value last) {
  SmallVector<Operation *> updates;
  for (Value value = last; value != state;) {
    Operation *update = value.getDefiningOp();
    if (!isa_and_nonnull<DecayOp, WriteOp>(update) || !value.hasOneUse())
      return {};
    updates.push_back(update);
    value = update->getOperand(0);
  }
  std::reverse(updates.begin(), updates.end());
  return updates;
}

/// What an update takes that changes nothing: a decay by 1, a write of 0.
static Value getIdentity(OpBuilder &builder, Location loc, Operation *update, Type type) {
  auto decay = dyn_cast<DecayOp>(update);
  bool isOne = decay && decay.getLinear();
  auto number = [&](Type element) -> Value {
    if (!isOne)
      return createZero(builder, loc, element);
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(element, 1.0));
  };
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType)
    return number(type);
  Value empty =
      tensor::EmptyOp::create(builder, loc, tensorType.getShape(), tensorType.getElementType());
  return linalg::FillOp::create(builder, loc, number(tensorType.getElementType()), empty)
      .getResult(0);
}

/// The rows of a matrix, each a vector or a number.
static SmallVector<Value> getRows(OpBuilder &builder, Location loc, Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  Type rowType = type.getElementType();
  if (type.getRank() > 1)
    rowType = RankedTensorType::get(type.getShape().drop_front(), rowType);
  SmallVector<Value> rows;
  for (int64_t row = 0; row < type.getDimSize(0); ++row)
    rows.push_back(extractRow(builder, loc, matrix, builder.getIndexAttr(row), rowType));
  return rows;
}

static void splitRows(RewriterBase &rewriter, WriteOp write) {
  Location loc = write.getLoc();
  rewriter.setInsertionPoint(write);
  Value state = write.getState();
  for (auto [address, value] : llvm::zip_equal(getRows(rewriter, loc, write.getAddress()),
                                               getRows(rewriter, loc, write.getValue())))
    state = WriteOp::create(rewriter, loc, state, address, value, write.getAxis());
  rewriter.replaceOp(write, state);
}

/// The reads of `state` that can be done at the first of them, as reads of single rows in one
/// place.
static void gatherReads(RewriterBase &rewriter, Value state) {
  SmallVector<ReadOp> reads, gathered;
  for (Operation *user : state.getUsers())
    if (auto read = dyn_cast<ReadOp>(user); read && user->getBlock() == state.getParentBlock())
      reads.push_back(read);
  llvm::sort(reads, [](ReadOp a, ReadOp b) { return a->isBeforeInBlock(b); });
  for (ReadOp read : reads)
    if (read.hasManyRows() && (gathered.empty() || succeeded(moveOperationDependencies(
                                                       rewriter, read, gathered.front()))))
      gathered.push_back(read);
  if (gathered.empty())
    return;
  rewriter.setInsertionPoint(gathered.front());
  SmallVector<SmallVector<Value>> results;
  for (ReadOp read : gathered) {
    SmallVector<Value> rows;
    for (Value address : getRows(rewriter, read.getLoc(), read.getAddress()))
      rows.push_back(ReadOp::create(rewriter, read.getLoc(), state, address, read.getAxisAttr()));
    results.push_back(rows);
  }
  for (auto [read, rows] : llvm::zip_equal(gathered, results)) {
    auto type = cast<RankedTensorType>(read.getResult().getType());
    Value matrix =
        tensor::EmptyOp::create(rewriter, read.getLoc(), type.getShape(), type.getElementType());
    for (auto [number, row] : llvm::enumerate(rows))
      matrix = insertRow(rewriter, read.getLoc(), row, matrix, rewriter.getIndexAttr(number));
    rewriter.replaceOp(read, matrix);
  }
}

FailureOr<scf::ForOp> linattn::deferWrites(RewriterBase &rewriter, scf::ForOp loop,
                                           unsigned state) {
  Block *body = loop.getBody();
  Operation *yield = body->getTerminator();
  Value last = yield->getOperand(state);
  // The yielded value may be carried over by a copy. A checkpoint sees it as well.
  if (!last.hasOneUse())
    return rewriter.notifyMatchFailure(loop, "the new state is used in the step");
  auto copy = last.getDefiningOp<linalg::CopyOp>();
  Value updated = copy ? copy.getInputs()[0] : last;
  SmallVector<Operation *> updates = getUpdates(loop.getRegionIterArg(state), updated);
  if (updates.empty())
    return rewriter.notifyMatchFailure(loop, "the state changes in another way");

  // What the updates need is carried to the next step.
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> pending, identities;
  for (Operation *update : updates)
    for (Value operand : update->getOperands().drop_front())
      if (operand.getParentBlock() == body) {
        pending.push_back(operand);
        identities.push_back(getIdentity(rewriter, update->getLoc(), update, operand.getType()));
      }
  unsigned firstPending = loop.getNumRegionIterArgs();
  auto deferred = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, identities, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> args) {
        return llvm::map_to_vector(llvm::zip_equal(pending, args), [&](auto pair) {
          auto [value, arg] = pair;
          return carry(builder, loc, value, arg);
        });
      }));
  // The updates of `state`, which is replaced by what they give.
  auto applyTo = [&](Value state, ValueRange operands) {
    Value from = state;
    SmallPtrSet<Operation *, 4> clones;
    for (Operation *update : updates) {
      IRMapping mapping;
      mapping.map(update->getOperand(0), from);
      for (Value operand : update->getOperands().drop_front())
        if (operand.getParentBlock() == deferred.getBody()) {
          mapping.map(operand, operands.front());
          operands = operands.drop_front();
        }
      Operation *copy = rewriter.clone(*update, mapping);
      clones.insert(copy);
      from = copy->getResult(0);
    }
    rewriter.replaceAllUsesExcept(state, from, clones);
    return from;
  };
  rewriter.setInsertionPointAfter(deferred);
  Value end = applyTo(deferred.getResult(state), deferred.getResults().drop_front(firstPending));

  // Right before the first op that sees the state.
  BlockArgument carried = deferred.getRegionIterArg(state);
  Operation *first = deferred.getBody()->getTerminator();
  for (Operation *user : carried.getUsers()) {
    Operation *ancestor = deferred.getBody()->findAncestorOpInBlock(*user);
    if (user != updates.front() && ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  rewriter.setInsertionPoint(first);
  Value start = applyTo(carried, deferred.getRegionIterArgs().drop_front(firstPending));
  rewriter.modifyOpInPlace(deferred.getBody()->getTerminator(),
                           [&] { deferred.getBody()->getTerminator()->setOperand(state, start); });
  if (copy)
    rewriter.eraseOp(copy);
  for (Operation *update : llvm::reverse(updates))
    rewriter.eraseOp(update);

  gatherReads(rewriter, start);
  SmallVector<WriteOp> writes;
  for (Value from : {end, start})
    for (Value value = from; Operation *update = value.getDefiningOp();
         value = update->getOperand(0))
      if (auto write = dyn_cast<WriteOp>(update); write && write.hasManyRows())
        writes.push_back(write);
      else if (!isa<DecayOp, WriteOp>(update))
        break;
  for (WriteOp write : writes)
    splitRows(rewriter, write);
  return deferred;
}
