//===- RuntimeVerifiableModels.cpp - checks of recurrences at run time --------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"
#include "linattn/Transforms/ExternalModels.h"
#include "linattn/Utils/IndexForm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace mlir::linattn;

namespace {

using MessageBuilder = function_ref<std::string(Operation *, StringRef)>;

class CheckBuilder {
public:
  CheckBuilder(OpBuilder &builder, Location loc, RecurrenceOp op, MessageBuilder message)
      : builder(builder), loc(loc), op(op), message(message) {
    for (unsigned dim = 0; dim < op.getNumIterators(); ++dim)
      extents.push_back(op.getExtent(builder, dim));
  }

  void checkOperand(OpOperand &operand);
  void checkSegments();

private:
  Value compare(arith::CmpIPredicate predicate, OpFoldResult a, OpFoldResult b) {
    return arith::CmpIOp::create(builder, loc, predicate,
                                 getValueOrCreateConstantIndexOp(builder, loc, a),
                                 getValueOrCreateConstantIndexOp(builder, loc, b));
  }
  OpFoldResult apply(AffineExpr expr, ArrayRef<OpFoldResult> values) {
    return affine::makeComposedFoldedAffineApply(builder, loc,
                                                 AffineMap::get(values.size(), 0, expr), values);
  }
  void require(Value condition, const Twine &what) {
    cf::AssertOp::create(builder, loc, condition, message(op, what.str()));
  }

  OpBuilder &builder;
  Location loc;
  RecurrenceOp op;
  MessageBuilder message;
  SmallVector<OpFoldResult> extents;
};

} // namespace

/// Every index that the iteration dims of a map result reach lies inside the operand's dim, and a
/// bare dim has the extent of the operand's dim.
void CheckBuilder::checkOperand(OpOperand &operand) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return;
  bool isCheckpoint =
      operand.getOperandNumber() >= op->getNumOperands() - op.getCheckpoints().size();
  AffineExpr d0, d1;
  bindDims(op.getContext(), d0, d1);
  for (auto [position, form] : llvm::enumerate(*getIndexForms(op.getMap(operand)))) {
    std::string where = " of operand #" + std::to_string(operand.getOperandNumber());
    OpFoldResult size = tensor::getMixedSize(builder, loc, operand.get(), position);
    std::optional<unsigned> bare = form.getBareDim();
    if (bare && *bare < op.getNumIterators() && !(isCheckpoint && *bare == op.getTimeDim())) {
      if (size != extents[*bare])
        require(compare(arith::CmpIPredicate::eq, size, extents[*bare]),
                "dim " + Twine(position) + where + " differs from the extent of iteration dim #" +
                    Twine(*bare));
      continue;
    }
    // How many checkpoints a packed sequence has is known only inside the loop over sequences.
    if (isCheckpoint && op.getSegments() && form.usesDim(op.getTimeDim()))
      continue;
    OpFoldResult last = builder.getIndexAttr(form.constant);
    Value isEmpty;
    for (const IndexTerm &term : form.terms) {
      if (term.digit.dim >= op.getNumIterators() || term.coefficient < 0)
        continue;
      OpFoldResult extent = extents[term.digit.dim];
      if (isCheckpoint && term.digit.dim == op.getTimeDim())
        extent = apply(d0.floorDiv(*op.getCheckpointInterval()), {extent});
      SmallVector<AffineExpr> bounds{d0.ceilDiv(term.digit.low)};
      if (term.digit.high)
        bounds.push_back(builder.getAffineConstantExpr(term.digit.high / term.digit.low));
      OpFoldResult count = affine::makeComposedFoldedAffineMin(
          builder, loc, AffineMap::get(1, 0, bounds, op.getContext()), {extent});
      last = apply(d0 + (d1 - 1) * term.coefficient, {last, count});
      Value none = compare(arith::CmpIPredicate::eq, count, builder.getIndexAttr(0));
      isEmpty = isEmpty ? Value(arith::OrIOp::create(builder, loc, isEmpty, none)) : none;
    }
    if (!isEmpty || (getConstantIntValue(last) && getConstantIntValue(size)))
      continue;
    Value fits = compare(arith::CmpIPredicate::slt, last, size);
    require(arith::OrIOp::create(builder, loc, fits, isEmpty),
            "the indexing map reaches outside of dim " + Twine(position) + where);
  }
}

/// Offsets start at 0, never decrease and end at the number of packed tokens.
void CheckBuilder::checkSegments() {
  Value offsets = op.getSegments();
  auto load = [&](OpFoldResult position) {
    Value value = tensor::ExtractOp::create(
        builder, loc, offsets, getValueOrCreateConstantIndexOp(builder, loc, position));
    return OpFoldResult(
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value).getResult());
  };
  OpFoldResult count = extents[*op.getSegmentDim()], zero = builder.getIndexAttr(0);
  require(compare(arith::CmpIPredicate::sge, count, zero),
          "segments are empty: expects at least one offset");
  require(compare(arith::CmpIPredicate::eq, load(zero), zero), "segment offsets do not start at 0");
  require(compare(arith::CmpIPredicate::eq, load(count), extents[op.getTimeDim()]),
          "segment offsets do not end at the number of tokens");
  Value low = getValueOrCreateConstantIndexOp(builder, loc, zero);
  Value high = getValueOrCreateConstantIndexOp(builder, loc, count);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, low, high, one);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  OpFoldResult segment = loop.getInductionVar();
  require(compare(arith::CmpIPredicate::sle, load(segment),
                  load(apply(builder.getAffineDimExpr(0) + 1, {segment}))),
          "segment offsets decrease");
}

namespace {
struct RecurrenceChecks
    : RuntimeVerifiableOpInterface::ExternalModel<RecurrenceChecks, RecurrenceOp> {
  void generateRuntimeVerification(Operation *op, OpBuilder &builder, Location loc,
                                   MessageBuilder message) const {
    auto recurrence = cast<RecurrenceOp>(op);
    CheckBuilder checks(builder, loc, recurrence, message);
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() != recurrence.getSegments())
        checks.checkOperand(operand);
    if (recurrence.getSegments())
      checks.checkSegments();
  }
};
} // namespace

void linattn::registerRuntimeVerifiableExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LinAttnDialect *) {
    RecurrenceOp::attachInterface<RecurrenceChecks>(*context);
    context->loadDialect<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect,
                         scf::SCFDialect, tensor::TensorDialect>();
  });
}
