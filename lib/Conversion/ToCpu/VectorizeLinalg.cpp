//===- VectorizeLinalg.cpp - rows of vectors for linalg ops on buffers --------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// One nest per linalg.generic: parallel dims outside, then the row dim in steps of a few vector
// registers, then the reductions. Whatever an inner loop does not index stays in registers across
// it, so a pass over a state that also reads it loads and stores every entry once and keeps the
// sums. Upstream's linalg::vectorize wants each tile in one vector and does not take such merged
// ops.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/ToCpu.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::linattn {
#define GEN_PASS_DEF_VECTORIZELINALGPASS
#include "linattn/Conversion/Passes.h.inc"
} // namespace mlir::linattn

using namespace mlir;
using namespace mlir::linattn;
using linalg::GenericOp;
using utils::IteratorType;

/// Entries of a row in one step: a few vector registers of the widest element that the op computes
/// with, less for a short row.
static int64_t getTile(GenericOp op, const VectorizeOptions &options) {
  int64_t bits = 8, extent = op.getStaticLoopRanges().back();
  op.getBody()->walk([&](Operation *nested) {
    for (Type type : nested->getOperandTypes())
      if (type.isIntOrFloat())
        bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  });
  int64_t tile = std::max<int64_t>(options.vectorBits / bits, 1) * options.unroll;
  if (ShapedType::isStatic(extent) && extent < tile)
    tile = llvm::PowerOf2Ceil(std::max<int64_t>(extent, 1));
  return tile;
}

namespace {

class RowEmitter {
public:
  RowEmitter(RewriterBase &rewriter, GenericOp op, const VectorizeOptions &options)
      : rewriter(rewriter), op(op), loc(op.getLoc()), rowDim(op.getNumLoops() - 1),
        tile(getTile(op, options)) {}

  /// Why there is no vector form, or null.
  const char *getObstacle();
  void emit();

private:
  bool usesRow(OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand).isFunctionOfDim(rowDim);
  }
  /// True if the lanes of a row add up to one entry of the init.
  bool reducesRow(OpOperand &init) { return rowReduces && !usesRow(init); }

  void emitLevel(unsigned level, SmallVectorImpl<Value> &sums);
  void emitLoop(unsigned level, Value low, Value high, int64_t step, SmallVectorImpl<Value> &sums);
  void emitRows(unsigned level, SmallVectorImpl<Value> &sums);
  void emitBody(SmallVectorImpl<Value> &sums);

  SmallVector<Value> getIndices(OpOperand &operand);
  Value load(OpOperand &operand);
  void store(OpOperand &init, Value value);
  Value startSum(OpOperand &init);
  void finishSum(OpOperand &init, Value sum);
  Value broadcast(Value value);
  Value getLiveLanes();
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value); }

  RewriterBase &rewriter;
  GenericOp op;
  Location loc;
  unsigned rowDim;
  int64_t tile; // entries of a row in one step
  bool rowReduces = false;
  /// Loop order, and for each init the level from which no loop inside indexes it.
  SmallVector<unsigned> order, depth;
  SmallVector<Operation *> combiners; // of inits that reduce the row, null for others
  SmallVector<Value> ivs, extents;
  bool isPartial = false;
};

} // namespace

//===----------------------------------------------------------------------------------------------===//
// What has a vector form
//===----------------------------------------------------------------------------------------------===//

const char *RowEmitter::getObstacle() {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation())
      return "an indexing map is no projected permutation";
    if (!usesRow(operand))
      continue;
    auto type = cast<MemRefType>(operand.get().getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (map.getDimPosition(map.getNumResults() - 1) != rowDim ||
        failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
      return "an operand is not contiguous along the innermost dim";
    if (!VectorType::isValidElementType(type.getElementType()))
      return "an element type has no vectors";
  }
  for (Operation &nested : op.getBody()->without_terminator()) {
    bool isConstant = nested.hasTrait<OpTrait::ConstantLike>();
    if (!isConstant && !OpTrait::hasElementwiseMappableTraits(&nested))
      return "an op in the body is not elementwise";
    for (Type type : nested.getResultTypes())
      if (!VectorType::isValidElementType(type))
        return "an element type has no vectors";
  }
  rowReduces = op.getIteratorTypesArray()[rowDim] == IteratorType::reduction;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Operation *combiner = nullptr;
    if (reducesRow(init)) {
      SmallVector<Operation *> combinerOps;
      unsigned position = init.getOperandNumber() - op.getNumDpsInputs();
      if (!matchReduction(op.getRegionOutputArgs(), position, combinerOps) ||
          combinerOps.size() != 1 || !linalg::getCombinerOpKind(combinerOps[0]) ||
          !arith::getNeutralElement(combinerOps[0]))
        return "the reduction of a row is unknown";
      combiner = combinerOps[0];
    }
    combiners.push_back(combiner);
  }
  return nullptr;
}

//===----------------------------------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------------------------------===//

void RowEmitter::emit() {
  SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
  for (IteratorType kind : {IteratorType::parallel, IteratorType::reduction})
    for (auto [dim, iterator] : llvm::enumerate(iterators))
      if (iterator == kind)
        order.push_back(dim);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    unsigned level = order.size();
    while (level > 0 && !map.isFunctionOfDim(order[level - 1]))
      --level;
    depth.push_back(level);
  }
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (std::optional<unsigned> position =
              map.getResultPosition(rewriter.getAffineDimExpr(dim))) {
        extents.push_back(memref::DimOp::create(rewriter, loc, operand.get(), *position));
        break;
      }
    }
  ivs.resize(op.getNumLoops());
  SmallVector<Value> sums(op.getNumDpsInits());
  emitLevel(0, sums);
}

/// Everything at and inside loop `level`. `sums` holds the inits that are in registers here.
void RowEmitter::emitLevel(unsigned level, SmallVectorImpl<Value> &sums) {
  if (level == order.size())
    return emitBody(sums);
  SmallVector<OpOperand *> started;
  for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable()))
    if (depth[index] == level) {
      sums[index] = startSum(init);
      started.push_back(&init);
    }
  if (order[level] == rowDim)
    emitRows(level, sums);
  else
    emitLoop(level, constant(0), extents[order[level]], 1, sums);
  for (OpOperand *init : started) {
    Value &sum = sums[init->getOperandNumber() - op.getNumDpsInputs()];
    finishSum(*init, sum);
    sum = Value();
  }
}

void RowEmitter::emitLoop(unsigned level, Value low, Value high, int64_t step,
                          SmallVectorImpl<Value> &sums) {
  SmallVector<Value> carried;
  llvm::copy_if(sums, std::back_inserter(carried), [](Value sum) { return bool(sum); });
  auto loop = scf::ForOp::create(rewriter, loc, low, high, constant(step), carried);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    ivs[order[level]] = loop.getInductionVar();
    SmallVector<Value> inner(sums.begin(), sums.end());
    unsigned next = 0;
    for (Value &sum : inner)
      if (sum)
        sum = loop.getRegionIterArg(next++);
    emitLevel(level + 1, inner);
    if (!carried.empty()) {
      llvm::erase_if(inner, [](Value sum) { return !sum; });
      scf::YieldOp::create(rewriter, loc, inner);
    }
  }
  unsigned next = 0;
  for (Value &sum : sums)
    if (sum)
      sum = loop.getResult(next++);
}

/// The loop along a row: full tiles, and one partial tile where the extent may leave one.
void RowEmitter::emitRows(unsigned level, SmallVectorImpl<Value> &sums) {
  int64_t extent = op.getStaticLoopRanges()[rowDim];
  bool isStatic = ShapedType::isStatic(extent);
  int64_t full = isStatic ? extent / tile * tile : 0;
  Value end = constant(full);
  if (!isStatic) {
    Value size = constant(tile);
    Value count = arith::DivUIOp::create(rewriter, loc, extents[rowDim], size);
    end = arith::MulIOp::create(rewriter, loc, count, size);
  }
  if (!isStatic || full > 0)
    emitLoop(level, constant(0), end, tile, sums);
  if (isStatic && full == extent)
    return;
  // Sums over the row keep the width of the full tiles.
  int64_t fullTile = tile;
  if (isStatic && !rowReduces)
    tile = llvm::PowerOf2Ceil(extent - full);
  isPartial = !isStatic || tile != extent - full;
  emitLoop(level, end, extents[rowDim], tile, sums);
  tile = fullTile;
  isPartial = false;
}

//===----------------------------------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------------------------------===//

void RowEmitter::emitBody(SmallVectorImpl<Value> &sums) {
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands())
    mapping.map(op.getMatchingBlockArgument(input), load(*input));
  for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    BlockArgument arg = op.getMatchingBlockArgument(&init);
    if (sums[index])
      mapping.map(arg, sums[index]);
    else if (!arg.use_empty())
      mapping.map(arg, load(init));
  }
  for (Operation &nested : op.getBody()->without_terminator()) {
    SmallVector<Value> operands = llvm::map_to_vector(
        nested.getOperands(), [&](Value operand) { return mapping.lookupOrDefault(operand); });
    bool isRow = llvm::any_of(operands, [](Value v) { return isa<VectorType>(v.getType()); });
    SmallVector<Type> types(nested.getResultTypes());
    if (isRow) {
      for (Value &operand : operands)
        operand = broadcast(operand);
      for (Type &type : types)
        type = VectorType::get({tile}, type);
    }
    OperationState state(loc, nested.getName(), operands, types, nested.getAttrs());
    mapping.map(nested.getResults(), rewriter.create(state)->getResults());
  }
  for (auto [index, init, yielded] :
       llvm::enumerate(op.getDpsInitsMutable(), op.getBody()->getTerminator()->getOperands())) {
    Value value = mapping.lookupOrDefault(yielded);
    if (!sums[index]) {
      store(init, value);
      continue;
    }
    if (isa<VectorType>(sums[index].getType()))
      value = broadcast(value);
    if (reducesRow(init) && isPartial)
      value = arith::SelectOp::create(rewriter, loc, getLiveLanes(), value, sums[index]);
    sums[index] = value;
  }
}

SmallVector<Value> RowEmitter::getIndices(OpOperand &operand) {
  SmallVector<Value> indices;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    indices.push_back(ivs[cast<AffineDimExpr>(expr).getPosition()]);
  return indices;
}

/// The entries of an operand for the current row: a vector, or a scalar if the row shares one.
Value RowEmitter::load(OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return operand.get();
  if (!usesRow(operand))
    return memref::LoadOp::create(rewriter, loc, operand.get(), getIndices(operand));
  Value padding =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  return vector::TransferReadOp::create(
      rewriter, loc, VectorType::get({tile}, type.getElementType()), operand.get(),
      getIndices(operand), padding, ArrayRef<bool>{!isPartial});
}

void RowEmitter::store(OpOperand &init, Value value) {
  if (usesRow(init))
    vector::TransferWriteOp::create(rewriter, loc, broadcast(value), init.get(), getIndices(init),
                                    ArrayRef<bool>{!isPartial});
  else
    memref::StoreOp::create(rewriter, loc, value, init.get(), getIndices(init));
}

Value RowEmitter::startSum(OpOperand &init) {
  if (!reducesRow(init))
    return load(init);
  Operation *combiner = combiners[init.getOperandNumber() - op.getNumDpsInputs()];
  return broadcast(arith::ConstantOp::create(rewriter, loc, *arith::getNeutralElement(combiner)));
}

void RowEmitter::finishSum(OpOperand &init, Value sum) {
  if (!reducesRow(init))
    return store(init, sum);
  Operation *combiner = combiners[init.getOperandNumber() - op.getNumDpsInputs()];
  vector::CombiningKind kind = *linalg::getCombinerOpKind(combiner);
  // The lanes are added as a tree, in the same order in every run.
  auto reassociate = isa<FloatType>(getElementTypeOrSelf(sum)) ? arith::FastMathFlags::reassoc
                                                               : arith::FastMathFlags::none;
  Value lanes = vector::ReductionOp::create(rewriter, loc, kind, sum, reassociate);
  store(init, vector::makeArithReduction(rewriter, loc, kind, lanes, load(init)));
}

Value RowEmitter::broadcast(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(rewriter, loc, VectorType::get({tile}, value.getType()),
                                     value);
}

/// The lanes of a partial tile that lie inside the row.
Value RowEmitter::getLiveLanes() {
  Value live = arith::SubIOp::create(rewriter, loc, extents[rowDim], ivs[rowDim]);
  return vector::CreateMaskOp::create(rewriter, loc, VectorType::get({tile}, rewriter.getI1Type()),
                                      live);
}

//===----------------------------------------------------------------------------------------------===//
// Doors
//===----------------------------------------------------------------------------------------------===//

LogicalResult mlir::linattn::vectorizeLinalgOp(RewriterBase &rewriter, linalg::LinalgOp op,
                                               const VectorizeOptions &options) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0)
    return rewriter.notifyMatchFailure(op, "not an op on buffers with a loop");
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<GenericOp> generalized = linalg::generalizeNamedOp(rewriter, op);
    if (failed(generalized))
      return failure();
    generic = *generalized;
    rewriter.setInsertionPoint(generic);
  }
  RowEmitter emitter(rewriter, generic, options);
  if (const char *obstacle = emitter.getObstacle())
    return rewriter.notifyMatchFailure(generic, obstacle);
  emitter.emit();
  rewriter.eraseOp(generic);
  return success();
}

namespace {
struct VectorizeLinalg : linattn::impl::VectorizeLinalgPassBase<VectorizeLinalg> {
  using VectorizeLinalgPassBase::VectorizeLinalgPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (vectorBits < 128 || !llvm::isPowerOf2_64(vectorBits))
      return emitError(UnknownLoc::get(context))
             << "vector-bits must be a power of two of at least 128, got " << vectorBits;
    if (unroll < 1 || !llvm::isPowerOf2_64(unroll))
      return emitError(UnknownLoc::get(context)) << "unroll must be a power of two, got " << unroll;
    return success();
  }

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      (void)vectorizeLinalgOp(rewriter, op, {vectorBits, unroll});
  }
};
} // namespace
