//===- LinAttnTransformOps.cpp - linattn in transform scripts -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/TransformOps/LinAttnTransformOps.h"

#include "linattn/Transforms/Chunk.h"
#include "linattn/Transforms/SplitTime.h"
#include "linattn/Transforms/SplitValue.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"

using namespace mlir;
using namespace mlir::linattn;

#define GET_OP_CLASSES
#include "linattn/TransformOps/LinAttnTransformOps.cpp.inc"

namespace {

/// Keeps the reason that a transformation gives for leaving an op as it is.
struct ReasonListener : RewriterBase::ForwardingListener {
  using ForwardingListener::ForwardingListener;
  void notifyMatchFailure(Location loc, function_ref<void(Diagnostic &)> describe) override {
    Diagnostic diagnostic(loc, DiagnosticSeverity::Remark);
    describe(diagnostic);
    reason = diagnostic.str();
  }
  std::string reason;
};

} // namespace

static DiagnosedSilenceableFailure refuse(Operation *transform, Operation *target,
                                          const Twine &message) {
  DiagnosedSilenceableFailure failure = emitSilenceableFailure(transform, message);
  failure.attachNote(target->getLoc()) << "when applied to this op";
  return failure;
}

static DiagnosedSilenceableFailure refuseOther(Operation *transform, Operation *target) {
  return refuse(transform, target,
                "expects handles to linattn.recurrence, got '" + target->getName().getStringRef() +
                    "'");
}

static SmallVector<RecurrenceOp> getRecurrences(RecurrenceOp op) { return {op}; }
static SmallVector<RecurrenceOp> getRecurrences(const TimeParts &parts) {
  return {parts.sums, parts.starts, parts.outputs};
}

/// Applies `rewrite(rewriter, recurrence)` and makes the new recurrences results.
template <typename Rewrite>
static DiagnosedSilenceableFailure
replace(Operation *transform, RewriterBase &rewriter, Operation *target,
        transform::ApplyToEachResultList &results, StringRef what, Rewrite rewrite) {
  auto recurrence = dyn_cast<RecurrenceOp>(target);
  if (!recurrence)
    return refuseOther(transform, target);
  ReasonListener listener(rewriter.getListener());
  IRRewriter inner(transform->getContext(), &listener);
  auto rewritten = rewrite(inner, recurrence);
  if (failed(rewritten))
    return refuse(transform, target, "cannot " + what + " the recurrence: " + listener.reason);
  for (RecurrenceOp made : getRecurrences(*rewritten))
    results.push_back(made);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure transform::ChunkTransformOp::applyToOne(TransformRewriter &rewriter,
                                                                    Operation *target,
                                                                    ApplyToEachResultList &results,
                                                                    TransformState &state) {
  ChunkOptions options;
  options.chunk = getChunk();
  options.subchunk = getSubchunk();
  return replace(*this, rewriter, target, results, "chunk",
                 [&](RewriterBase &inner, RecurrenceOp recurrence) {
                   return chunkRecurrence(inner, recurrence, options);
                 });
}

DiagnosedSilenceableFailure
transform::SplitValueTransformOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                             ApplyToEachResultList &results,
                                             TransformState &state) {
  SplitValueOptions options;
  options.tile = getTile();
  return replace(*this, rewriter, target, results, "split the value columns of",
                 [&](RewriterBase &inner, RecurrenceOp recurrence) {
                   return splitValue(inner, recurrence, options);
                 });
}

DiagnosedSilenceableFailure
transform::SplitTimeTransformOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                            ApplyToEachResultList &results, TransformState &state) {
  SplitTimeOptions options;
  options.parts = getParts();
  options.chunk = getChunk();
  return replace(*this, rewriter, target, results, "split the time of",
                 [&](RewriterBase &inner, RecurrenceOp recurrence) {
                   return splitTime(inner, recurrence, options);
                 });
}

DiagnosedSilenceableFailure
transform::ApplyPlanTransformOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                            ApplyToEachResultList &results, TransformState &state) {
  auto recurrence = dyn_cast<RecurrenceOp>(target);
  if (!recurrence)
    return refuseOther(*this, target);
  PlanAttr known = recurrence.getPlanAttr();
  if (known && known.getSource() == PlanSource::user)
    return refuse(*this, target,
                  "the recurrence has a plan whose source is 'user', which is never overwritten; "
                  "remove that plan or change its source");
  rewriter.modifyOpInPlace(recurrence, [&] { recurrence.setPlanAttr(getPlan()); });
  return DiagnosedSilenceableFailure::success();
}

void transform::ApplyPlanTransformOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetMutable(), effects);
  modifiesPayload(effects);
}

namespace {

struct LinAttnTransformDialectExtension
    : transform::TransformDialectExtension<LinAttnTransformDialectExtension> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LinAttnTransformDialectExtension)
  using Base::Base;

  void init() {
    declareDependentDialect<LinAttnDialect>(); // plans are attributes of the script
    declareGeneratedDialect<affine::AffineDialect>();
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<linalg::LinalgDialect>();
    declareGeneratedDialect<math::MathDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "linattn/TransformOps/LinAttnTransformOps.cpp.inc"
        >();
  }
};

} // namespace

void linattn::registerTransformDialectExtension(DialectRegistry &registry) {
  registry.addExtensions<LinAttnTransformDialectExtension>();
}
