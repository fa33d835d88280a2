//===- Lift.cpp - ops of one token for the tokens of a chunk ------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Transforms/Lift.h"

#include "linattn/IR/LinAttn.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

//===----------------------------------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------------------------------===//

Value linattn::getLifted(OpBuilder &builder, Location loc, Value token, Lifting &lifting,
                         ArrayRef<int64_t> shape) {
  Value value = lifting.lookup(token);
  auto tokenType = dyn_cast<RankedTensorType>(token.getType());
  Type element = getElementTypeOrSelf(token.getType());
  SmallVector<int64_t> liftedShape{lifting.getRows()};
  llvm::append_range(liftedShape, shape);
  bool isLifted = lifting.isLifted(token);
  if (isLifted && (tokenType ? tokenType.getRank() : 0) == int64_t(shape.size()))
    return value;
  if (!isLifted && !tokenType)
    return tensor::SplatOp::create(builder, loc, value,
                                   RankedTensorType::get(liftedShape, element));
  // A lifted scalar along each row, or an invariant tensor to every row.
  Value empty = tensor::EmptyOp::create(builder, loc, liftedShape, element);
  SmallVector<int64_t> added;
  if (isLifted)
    llvm::append_range(added, llvm::seq<int64_t>(1, liftedShape.size()));
  else
    added.push_back(0);
  return linalg::BroadcastOp::create(builder, loc, value, empty, added)->getResult(0);
}

//===----------------------------------------------------------------------------------------------===//
// Elementwise and linalg ops
//===----------------------------------------------------------------------------------------------===//

static bool hasStaticTypes(Operation *op) {
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !isa<ShapedType>(type) || (tensor && tensor.hasStaticShape());
  });
}

static FailureOr<SmallVector<Value>> liftElementwise(OpBuilder &builder, Operation *op,
                                                     Lifting &lifting) {
  if (!hasStaticTypes(op))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  ArrayRef<int64_t> shape = tensor ? tensor.getShape() : ArrayRef<int64_t>();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getLifted(builder, op->getLoc(), operand, lifting, shape));
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(lifting.getLiftedType(type));
  OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
  return SmallVector<Value>(builder.create(state)->getResults());
}

/// True for the position of the token and for ops that use it inside.
static bool dependsOnTime(Operation *op) {
  return op
      ->walk([&](IndexOp index) {
        auto recurrence = index->getParentOfType<RecurrenceOp>();
        bool isOwn = !op->isAncestor(recurrence) && recurrence.getTimeDim() == index.getDim();
        return isOwn ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A map with one more leading dim, which a lifted operand also has as its first index.
static AffineMap liftMap(AffineMap map, bool isLifted) {
  AffineMap shifted = map.shiftDims(1);
  SmallVector<AffineExpr> exprs(shifted.getResults());
  if (isLifted)
    exprs.insert(exprs.begin(), getAffineDimExpr(0, map.getContext()));
  return AffineMap::get(map.getNumDims() + 1, 0, exprs, map.getContext());
}

static FailureOr<SmallVector<Value>> liftGeneric(OpBuilder &builder, linalg::GenericOp op,
                                                 Lifting &lifting) {
  if (!hasStaticTypes(op) || !op.hasPureTensorSemantics() || dependsOnTime(op))
    return failure();
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    inputs.push_back(lifting.lookup(input->get()));
    maps.push_back(liftMap(op.getMatchingIndexingMap(input), lifting.isLifted(input->get())));
  }
  // Lifted scalars that the region captures become inputs.
  SetVector<Value> captures;
  getUsedValuesDefinedAbove(op.getRegion(), captures);
  SmallVector<Value> liftedCaptures;
  for (Value capture : captures) {
    if (!lifting.isLifted(capture))
      continue;
    if (isa<ShapedType>(capture.getType()))
      return failure();
    liftedCaptures.push_back(capture);
    inputs.push_back(lifting.lookup(capture));
    maps.push_back(AffineMap::get(op.getNumLoops() + 1, 0, getAffineDimExpr(0, context), context));
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    auto type = cast<RankedTensorType>(init.get().getType());
    bool isEmpty = init.get().getDefiningOp<tensor::EmptyOp>() && !lifting.isLifted(init.get());
    inits.push_back(isEmpty ? Value(tensor::EmptyOp::create(builder, loc,
                                                            lifting.getLiftedType(type).getShape(),
                                                            type.getElementType()))
                            : getLifted(builder, loc, init.get(), lifting, type.getShape()));
    maps.push_back(liftMap(op.getMatchingIndexingMap(&init), true));
  }
  SmallVector<IteratorType> iterators{IteratorType::parallel};
  llvm::append_range(iterators, op.getIteratorTypesArray());
  auto lifted = linalg::GenericOp::create(
      builder, loc, TypeRange(ValueRange(inits)), inputs, inits, maps, iterators,
      [&](OpBuilder &b, Location, ValueRange args) {
        IRMapping mapping;
        unsigned numInputs = op.getNumDpsInputs();
        mapping.map(op.getBody()->getArguments().take_front(numInputs), args.take_front(numInputs));
        mapping.map(op.getBody()->getArguments().drop_front(numInputs),
                    args.drop_front(inputs.size()));
        for (auto [capture, arg] :
             llvm::zip_equal(liftedCaptures, args.slice(numInputs, liftedCaptures.size())))
          mapping.map(capture, arg);
        for (Value capture : captures)
          if (!lifting.isLifted(capture))
            mapping.map(capture, lifting.lookup(capture));
        for (Operation &nested : *op.getBody())
          b.clone(nested, mapping);
      });
  lifted.walk([](linalg::IndexOp index) { index.setDim(index.getDim() + 1); });
  return SmallVector<Value>(lifted->getResults());
}

static FailureOr<SmallVector<Value>> liftLinalg(OpBuilder &builder, linalg::LinalgOp op,
                                                Lifting &lifting) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
    return liftGeneric(builder, generic, lifting);
  // Named ops by way of a generic copy beside them.
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  auto copy = cast<linalg::LinalgOp>(rewriter.clone(*op));
  FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, copy);
  if (failed(generic)) {
    rewriter.eraseOp(copy);
    return failure();
  }
  FailureOr<SmallVector<Value>> results = liftGeneric(builder, *generic, lifting);
  rewriter.eraseOp(*generic);
  return results;
}

//===----------------------------------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------------------------------===//

SetVector<Value> linattn::getUsedValues(Operation *op) {
  SetVector<Value> used(op->getOperands().begin(), op->getOperands().end());
  for (Region &region : op->getRegions())
    getUsedValuesDefinedAbove(region, used);
  return used;
}

bool linattn::hasLiftedForm(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) ||
         isa<linalg::LinalgOp, LiftableOpInterface>(op);
}

/// True if `op`, or one inside it, may have no result for some operands. Rows without a token are
/// computed, too: a division by an integer would be one by 0 there.
static bool mayTrap(Operation *op) {
  return op
      ->walk([](Operation *nested) {
        bool isSafe = nested->getNumRegions() > 0 || isSpeculatable(nested);
        return isSafe ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

LogicalResult linattn::liftOp(OpBuilder &builder, Operation *op, Lifting &lifting) {
  SetVector<Value> used = getUsedValues(op);
  if (!dependsOnTime(op) &&
      llvm::none_of(used, [&](Value value) { return lifting.isLifted(value); })) {
    IRMapping mapping;
    for (Value value : used)
      mapping.map(value, lifting.lookup(value));
    Operation *copy = builder.clone(*op, mapping);
    for (auto [token, result] : llvm::zip_equal(op->getResults(), copy->getResults()))
      lifting.setInvariant(token, result);
    return success();
  }
  FailureOr<SmallVector<Value>> results = failure();
  if (mayTrap(op))
    return failure();
  if (OpTrait::hasElementwiseMappableTraits(op))
    results = liftElementwise(builder, op, lifting);
  else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    results = liftLinalg(builder, linalgOp, lifting);
  else if (auto liftable = dyn_cast<LiftableOpInterface>(op))
    results = liftable.lift(builder, lifting);
  else if (isa<ReadOp>(op) && lifting.liftRead)
    if (FailureOr<Value> rows = lifting.liftRead(op); succeeded(rows))
      results = SmallVector<Value>{*rows};
  if (failed(results))
    return failure();
  for (auto [token, result] : llvm::zip_equal(op->getResults(), *results))
    lifting.setLifted(token, result);
  return success();
}
