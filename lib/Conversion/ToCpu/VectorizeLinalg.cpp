//===- VectorizeLinalg.cpp - rows of vectors for linalg ops on buffers --------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "Pairs.h"
#include "RowEmitter.h"

#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_VECTORIZELINALGPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;
using linalg::GenericOp;
using utils::IteratorType;

/// The op right before `op` that fills or changes the init of its sums entry by entry: it can be
/// done where the sums start.
static linalg::LinalgOp getFirst(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return nullptr;
  OpOperand &init = op.getDpsInitsMutable()[0];
  if (!op.getMatchingIndexingMap(&init).isProjectedPermutation())
    return nullptr;
  Operation *before = op->getPrevNode();
  while (before && (isMemoryEffectFree(before) || isa<memref::AllocOp, memref::AllocaOp>(before)))
    before = before->getPrevNode();
  auto first = dyn_cast_or_null<linalg::LinalgOp>(before);
  bool isFirst =
      first && first.getNumDpsInits() == 1 && first.getDpsInits()[0] == init.get() &&
      first.getNumReductionLoops() == 0 && first.hasPureBufferSemantics() &&
      llvm::all_of(first->getOpOperands(), [&](OpOperand &operand) {
        return operand.get() != init.get() || first.getMatchingIndexingMap(&operand).isIdentity();
      });
  return isFirst ? first : nullptr;
}

/// As a generic op; products may use multiply-adds, because their names say nothing of rounding.
static FailureOr<GenericOp> getGeneric(RewriterBase &rewriter, linalg::LinalgOp op) {
  if (auto generic = dyn_cast<GenericOp>(op.getOperation()))
    return generic;
  rewriter.setInsertionPoint(op);
  bool isProduct = linalg::isaContractionOpInterface(op);
  FailureOr<GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
  if (succeeded(generic) && isProduct)
    generic->getBody()->walk([&](arith::ArithFastMathInterface nested) {
      nested->setAttr(
          nested.getFastMathAttrName(),
          arith::FastMathFlagsAttr::get(nested.getContext(), arith::FastMathFlags::contract));
    });
  return generic;
}

/// Puts entries that lie apart side by side, where an op computes a function of each: scalars call
/// a library, and eight of these calls take as long as fifty vectors.
static void gatherInputs(RewriterBase &rewriter, GenericOp op) {
  bool hasFunctions =
      op.getBody()
          ->walk([](Operation *nested) {
            return isa<math::ExpOp, math::LogOp, math::Log1pOp, math::TanhOp>(nested)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!hasFunctions || !function || op.getNumLoops() != 1 || op.getNumReductionLoops() != 0)
    return;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || type.getRank() != 1 || !type.hasStaticShape() ||
        !op.getMatchingIndexingMap(input).isIdentity() ||
        failed(type.getStridesAndOffset(strides, offset)) || strides[0] == 1)
      continue;
    rewriter.setInsertionPointToStart(&function.getFunctionBody().front());
    Value row = memref::AllocaOp::create(rewriter, op.getLoc(),
                                         MemRefType::get(type.getShape(), type.getElementType()));
    rewriter.setInsertionPoint(op);
    linalg::CopyOp::create(rewriter, op.getLoc(), input->get(), row);
    rewriter.modifyOpInPlace(op, [&] { input->set(row); });
  }
}

LogicalResult mlir::linattn::vectorizeLinalgOp(RewriterBase &rewriter, linalg::LinalgOp op,
                                               const VectorizeOptions &options) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0)
    return rewriter.notifyMatchFailure(op, "not an op on buffers with a loop");
  OpBuilder::InsertionGuard guard(rewriter);
  FailureOr<GenericOp> generic = getGeneric(rewriter, op);
  if (failed(generic))
    return failure();
  gatherInputs(rewriter, *generic);
  rewriter.setInsertionPoint(*generic);
  if (succeeded(vectorizePairs(rewriter, *generic, options)) ||
      succeeded(vectorizeDotProducts(rewriter, *generic, options)) ||
      succeeded(vectorizeTransposedCopy(rewriter, *generic, options)))
    return success();
  FailureOr<GenericOp> first = GenericOp();
  if (linalg::LinalgOp before = getFirst(*generic))
    first = getGeneric(rewriter, before);
  if (failed(first))
    return failure();
  rewriter.setInsertionPoint(*generic);
  // Along a parallel dim if operands are contiguous there, else along a reduction.
  const char *obstacle = nullptr;
  SmallVector<IteratorType> iterators = generic->getIteratorTypesArray();
  for (GenericOp start : {*first, GenericOp()})
    for (IteratorType kind : {IteratorType::parallel, IteratorType::reduction})
      for (unsigned dim = generic->getNumLoops(); dim-- > 0;) {
        if (iterators[dim] != kind)
          continue;
        RowEmitter emitter(rewriter, *generic, start, dim, options);
        obstacle = emitter.getObstacle();
        if (obstacle)
          continue;
        emitter.emit();
        rewriter.eraseOp(*generic);
        if (start)
          rewriter.eraseOp(start);
        else if (*first)
          (void)vectorizeLinalgOp(rewriter, *first, options);
        return success();
      }
  return rewriter.notifyMatchFailure(*generic, obstacle ? obstacle : "no loop to vectorise");
}

namespace {
struct VectorizeLinalg : linattn::impl::VectorizeLinalgPassBase<VectorizeLinalg> {
  using VectorizeLinalgPassBase::VectorizeLinalgPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if ((vectorBits != 0 && vectorBits < 128) || (vectorBits & (vectorBits - 1)) != 0)
      return emitError(UnknownLoc::get(context))
             << "vector-bits must be a power of two of at least 128, got " << int64_t(vectorBits);
    if (unroll < 1 || !llvm::isPowerOf2_64(unroll))
      return emitError(UnknownLoc::get(context))
             << "unroll must be a power of two, got " << int64_t(unroll);
    if (vectorRegisters != 0 && vectorRegisters < 8)
      return emitError(UnknownLoc::get(context))
             << "vector-registers must be at least 8, got " << int64_t(vectorRegisters);
    return success();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    VectorizeOptions options{unroll, TargetDescription::get(getOperation()), bf16Dot};
    if (bf16Dot && !options.target.hasBf16Dot && TargetDescription::isKnown(getOperation())) {
      getOperation()->emitError(
          "bf16-dot needs a target with AVX-512's dot instruction for bf16 "
          "(avx512bf16), but the module's target has none; without the option "
          "products are multiply-adds");
      return signalPassFailure();
    }
    if (vectorBits != 0)
      options.target.vectorBits = vectorBits;
    if (vectorRegisters != 0)
      options.target.vectorRegisters = vectorRegisters;
    // Copies of strided slices would become calls of a runtime library.
    getOperation()->walk([&](memref::CopyOp copy) {
      rewriter.setInsertionPoint(copy);
      rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(), copy.getTarget());
    });
    // Last to first: an op that takes in the one before it does so while that is still one op.
    struct Erased : RewriterBase::Listener {
      void notifyOperationErased(Operation *op) override { ops.insert(op); }
      DenseSet<Operation *> ops;
    } erased;
    rewriter.setListener(&erased);
    SmallVector<Operation *> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (!erased.ops.contains(op))
        (void)vectorizeLinalgOp(rewriter, cast<linalg::LinalgOp>(op), options);
  }
};
} // namespace
