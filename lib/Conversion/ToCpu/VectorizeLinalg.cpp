//===- VectorizeLinalg.cpp - rows of vectors for linalg ops on buffers --------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// One nest per linalg.generic: parallel dims outside, among them the row dim in steps of a few
// vector registers, then the reductions. Whatever an inner loop does not index stays in registers
// across it, so a pass over a state that also reads it loads and stores every entry once and keeps
// the sums. In products of matrices a block of rows is done at once, so that one row of the right
// operand serves all. Upstream's linalg::vectorize wants each tile in one vector and does not take
// such merged ops.
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/ToCpu.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
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

/// A parallel dim to do a few rows of at once: one that some operand along the row dim does not
/// depend on, in an op that reduces. None if nothing would be reused.
static std::optional<unsigned> getBlockDim(GenericOp op, unsigned rowDim) {
  SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
  if (iterators[rowDim] != IteratorType::parallel || op.getNumReductionLoops() == 0)
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isFunctionOfDim(rowDim))
      continue;
    for (unsigned dim = op.getNumLoops(); dim-- > 0;)
      if (iterators[dim] == IteratorType::parallel && !map.isFunctionOfDim(dim))
        return dim;
  }
  return std::nullopt;
}

/// Entries of a row in one step: a few vector registers of the widest element that the op computes
/// with, less for a short row. Blocks of rows need registers, too.
static int64_t getTile(GenericOp op, unsigned rowDim, const VectorizeOptions &options) {
  int64_t bits = 8, extent = op.getStaticLoopRanges()[rowDim];
  op.getBody()->walk([&](Operation *nested) {
    for (Type type : nested->getOperandTypes())
      if (type.isIntOrFloat())
        bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  });
  int64_t registers =
      getBlockDim(op, rowDim) ? std::min<int64_t>(options.unroll, 2) : options.unroll;
  int64_t tile = std::max<int64_t>(options.vectorBits / bits, 1) * registers;
  if (ShapedType::isStatic(extent) && extent < tile)
    tile = llvm::PowerOf2Ceil(std::max<int64_t>(extent, 1));
  return tile;
}

namespace {

class RowEmitter {
public:
  RowEmitter(RewriterBase &rewriter, GenericOp op, unsigned rowDim, const VectorizeOptions &options)
      : rewriter(rewriter), op(op), loc(op.getLoc()), rowDim(rowDim),
        tile(getTile(op, rowDim, options)), blockDim(getBlockDim(op, rowDim)),
        block(options.vectorBits >= 512 ? 8 : 4) {}

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
  void emitBlocks(unsigned level, SmallVectorImpl<Value> &sums);
  Value getMultiple(Value extent, int64_t step);
  void emitBody(MutableArrayRef<Value> sums);

  SmallVector<Value> getIndices(OpOperand &operand);
  Value getIndex(unsigned dim);
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
  std::optional<unsigned> blockDim;
  int64_t block; // rows in one step of the block dim
  bool rowReduces = false;
  /// Loop order, and for each init the level from which no loop inside indexes it.
  SmallVector<unsigned> order, depth;
  /// Positions in the block dim of the rows that are done at once. Sums are kept init by init for
  /// each.
  SmallVector<Value> blockRows;
  unsigned getNumCopies() { return std::max<size_t>(blockRows.size(), 1); }
  void selectCopy(unsigned copy) {
    if (!blockRows.empty())
      ivs[*blockDim] = blockRows[copy];
  }
  unsigned getInit(OpOperand &init) { return init.getOperandNumber() - op.getNumDpsInputs(); }
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
    if (!usesRow(operand))
      continue;
    auto type = cast<MemRefType>(operand.get().getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (map.getResults().back() != getAffineDimExpr(rowDim, op.getContext()) ||
        llvm::any_of(map.getResults().drop_back(),
                     [&](AffineExpr expr) { return expr.isFunctionOfDim(rowDim); }) ||
        failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
      return "an operand is not contiguous along the innermost dim";
    if (!VectorType::isValidElementType(type.getElementType()))
      return "an element type has no vectors";
  }
  for (Operation &nested : op.getBody()->without_terminator()) {
    bool isSimple = nested.hasTrait<OpTrait::ConstantLike>() || isa<linalg::IndexOp>(nested);
    if (!isSimple && !OpTrait::hasElementwiseMappableTraits(&nested))
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
  for (IteratorType kind : {IteratorType::parallel, IteratorType::reduction}) {
    for (auto [dim, iterator] : llvm::enumerate(iterators))
      if (iterator == kind && dim != blockDim)
        order.push_back(dim);
    // The rows of a block share the rows of the right operand, so their loop is inside.
    if (blockDim && kind == IteratorType::parallel)
      order.push_back(*blockDim);
  }
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

/// Everything at and inside loop `level`. `sums` holds the inits that are in registers here, for
/// each of the rows that are done at once.
void RowEmitter::emitLevel(unsigned level, SmallVectorImpl<Value> &sums) {
  if (level == order.size()) {
    for (unsigned copy = 0; copy < getNumCopies(); ++copy) {
      selectCopy(copy);
      emitBody(MutableArrayRef(sums).slice(copy * op.getNumDpsInits(), op.getNumDpsInits()));
    }
    return;
  }
  auto forStarting = [&](function_ref<void(OpOperand &, Value &)> action) {
    for (unsigned copy = 0; copy < getNumCopies(); ++copy) {
      selectCopy(copy);
      for (OpOperand &init : op.getDpsInitsMutable())
        if (depth[getInit(init)] == level)
          action(init, sums[copy * op.getNumDpsInits() + getInit(init)]);
    }
  };
  forStarting([&](OpOperand &init, Value &sum) { sum = startSum(init); });
  if (order[level] == rowDim)
    emitRows(level, sums);
  else if (order[level] == blockDim)
    emitBlocks(level, sums);
  else
    emitLoop(level, constant(0), extents[order[level]], 1, sums);
  forStarting([&](OpOperand &init, Value &sum) {
    finishSum(init, sum);
    sum = Value();
  });
}

/// The loop over the block dim: full blocks, and single rows where the extent may leave some.
void RowEmitter::emitBlocks(unsigned level, SmallVectorImpl<Value> &sums) {
  int64_t extent = op.getStaticLoopRanges()[*blockDim];
  bool isStatic = ShapedType::isStatic(extent);
  Value end = isStatic ? constant(extent / block * block) : getMultiple(extents[*blockDim], block);
  if (!isStatic || extent >= block) {
    auto loop = scf::ForOp::create(rewriter, loc, constant(0), end, constant(block));
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    for (int64_t row = 0; row < block; ++row)
      blockRows.push_back(
          arith::AddIOp::create(rewriter, loc, loop.getInductionVar(), constant(row)));
    SmallVector<Value> inner(block * op.getNumDpsInits());
    emitLevel(level + 1, inner);
    blockRows.clear();
  }
  if (!isStatic || extent % block != 0)
    emitLoop(level, end, extents[*blockDim], 1, sums);
}

/// The largest multiple of `step` up to `extent`.
Value RowEmitter::getMultiple(Value extent, int64_t step) {
  Value count = arith::DivUIOp::create(rewriter, loc, extent, constant(step));
  return arith::MulIOp::create(rewriter, loc, count, constant(step));
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
  if (!isStatic)
    end = getMultiple(extents[rowDim], tile);
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

void RowEmitter::emitBody(MutableArrayRef<Value> sums) {
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
    if (auto index = dyn_cast<linalg::IndexOp>(nested)) {
      mapping.map(index.getResult(), getIndex(index.getDim()));
      continue;
    }
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
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      indices.push_back(ivs[dim.getPosition()]);
      continue;
    }
    SmallVector<Value> dims(ivs.begin(), ivs.end());
    for (Value &value : dims)
      if (!value) // of a loop inside, which the expression does not use
        value = constant(0);
    indices.push_back(affine::makeComposedAffineApply(
        rewriter, loc, AffineMap::get(dims.size(), 0, expr), getAsOpFoldResult(dims)));
  }
  return indices;
}

/// The index of a dim: along the row, one for each lane.
Value RowEmitter::getIndex(unsigned dim) {
  if (dim != rowDim)
    return ivs[dim];
  auto type = VectorType::get({tile}, rewriter.getIndexType());
  Value lanes = vector::StepOp::create(rewriter, loc, type);
  return arith::AddIOp::create(rewriter, loc, broadcast(ivs[dim]), lanes);
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
  Operation *combiner = combiners[getInit(init)];
  return broadcast(arith::ConstantOp::create(rewriter, loc, *arith::getNeutralElement(combiner)));
}

void RowEmitter::finishSum(OpOperand &init, Value sum) {
  if (!reducesRow(init))
    return store(init, sum);
  Operation *combiner = combiners[getInit(init)];
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
    bool isProduct = linalg::isaContractionOpInterface(op);
    FailureOr<GenericOp> generalized = linalg::generalizeNamedOp(rewriter, op);
    if (failed(generalized))
      return failure();
    generic = *generalized;
    rewriter.setInsertionPoint(generic);
    // A named product says nothing of the rounding of its partial sums: let it use multiply-adds.
    if (isProduct)
      generic.getBody()->walk([&](arith::ArithFastMathInterface nested) {
        nested->setAttr(
            nested.getFastMathAttrName(),
            arith::FastMathFlagsAttr::get(op.getContext(), arith::FastMathFlags::contract));
      });
  }
  if (succeeded(vectorizeDotProducts(rewriter, generic, options)))
    return success();
  // Along a parallel dim if operands are contiguous there, else along a reduction.
  const char *obstacle = nullptr;
  SmallVector<IteratorType> iterators = generic.getIteratorTypesArray();
  for (IteratorType kind : {IteratorType::parallel, IteratorType::reduction})
    for (unsigned dim = generic.getNumLoops(); dim-- > 0;) {
      if (iterators[dim] != kind)
        continue;
      RowEmitter emitter(rewriter, generic, dim, options);
      obstacle = emitter.getObstacle();
      if (obstacle)
        continue;
      emitter.emit();
      rewriter.eraseOp(generic);
      return success();
    }
  return rewriter.notifyMatchFailure(generic, obstacle ? obstacle : "no loop to vectorise");
}

namespace {
struct VectorizeLinalg : linattn::impl::VectorizeLinalgPassBase<VectorizeLinalg> {
  using VectorizeLinalgPassBase::VectorizeLinalgPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (vectorBits < 128 || !llvm::isPowerOf2_64(vectorBits))
      return emitError(UnknownLoc::get(context))
             << "vector-bits must be a power of two of at least 128, got " << int64_t(vectorBits);
    if (unroll < 1 || !llvm::isPowerOf2_64(unroll))
      return emitError(UnknownLoc::get(context))
             << "unroll must be a power of two, got " << int64_t(unroll);
    return success();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Copies of strided slices would become calls of a runtime library.
    getOperation()->walk([&](memref::CopyOp copy) {
      rewriter.setInsertionPoint(copy);
      rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(), copy.getTarget());
    });
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops)
      (void)vectorizeLinalgOp(rewriter, op, {vectorBits, unroll});
  }
};
} // namespace
