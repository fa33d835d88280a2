//===- RowEmitter.cpp - loops over vectors for one linalg.generic -------------------*- C++ -*-===//
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

#include "RowEmitter.h"

#include "Pairs.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

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
  bool hasPolynomials = false;
  op.getBody()->walk([&](Operation *nested) {
    hasPolynomials |= isa<math::MathDialect>(nested->getDialect());
    for (Type type : nested->getOperandTypes())
      if (type.isIntOrFloat())
        bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  });
  // The sums of a block of rows fill half of the registers; fewer rows have more vectors each.
  int64_t registers = options.unroll;
  if (std::optional<unsigned> blockDim = getBlockDim(op, rowDim)) {
    int64_t rows = op.getStaticLoopRanges()[*blockDim];
    bool isHalf = ShapedType::isStatic(rows) && rows <= options.target.vectorRegisters / 8;
    registers = std::min<int64_t>(registers, isHalf ? 4 : 2);
  }
  // Rows that stay in registers, and those that come and go with an entry of the innermost loop. In
  // a sum along the row itself, each part of a row comes and goes.
  bool rowReduces = op.getIteratorTypesArray()[rowDim] == IteratorType::reduction;
  int64_t rows = llvm::count_if(op.getIndexingMapsArray(), [&](AffineMap map) {
    return op.getNumReductionLoops() > 0 && !rowReduces && map.isFunctionOfDim(rowDim);
  });
  int64_t available = options.target.vectorRegisters - 2;
  // A polynomial needs four or more registers for each one of its argument.
  if (hasPolynomials)
    registers = std::min(registers, std::max<int64_t>(options.target.vectorRegisters / 8, 1));
  while (registers > 1 && registers * rows > available)
    registers /= 2;
  int64_t tile = std::max<int64_t>(options.target.vectorBits / bits, 1) * registers;
  if (ShapedType::isStatic(extent) && extent < tile)
    tile = llvm::PowerOf2Ceil(std::max<int64_t>(extent, 1));
  return tile;
}

RowEmitter::RowEmitter(RewriterBase &rewriter, GenericOp op, GenericOp first, unsigned rowDim,
                       const VectorizeOptions &options)
    : rewriter(rewriter), op(op), first(first), loc(op.getLoc()), rowDim(rowDim),
      tile(getTile(op, rowDim, options)), blockDim(getBlockDim(op, rowDim)),
      block(options.target.vectorRegisters / 4),
      limitsUnrolling(options.target.vectorRegisters < 32), hasMasks(options.target.hasMasks),
      dotLanes(options.bf16Dot && multipliesPairs(op) ? options.target.vectorBits / 32 : 0) {}

//===----------------------------------------------------------------------------------------------===//
// What has a vector form
//===----------------------------------------------------------------------------------------------===//

const char *RowEmitter::getObstacle(Value operand, AffineMap map) {
  if (!usesRow(map))
    return nullptr;
  auto type = cast<MemRefType>(operand.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (map.getResults().back() != getAffineDimExpr(rowDim, op.getContext()) ||
      llvm::any_of(map.getResults().drop_back(),
                   [&](AffineExpr expr) { return expr.isFunctionOfDim(rowDim); }) ||
      failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return "an operand is not contiguous along the innermost dim";
  Type element = type.getElementType();
  if (!VectorType::isValidElementType(element))
    return "an element type has no vectors";
  // A buffer has a byte for each boolean, a vector a bit.
  if (element.isInteger() && element.getIntOrFloatBitWidth() % 8 != 0)
    return "vectors of an element type are packed";
  return nullptr;
}

/// Where `op` finds an operand of the op before it, which walks over the init in its own order.
AffineMap RowEmitter::getFirstMap(OpOperand &operand) {
  OpOperand &init = op.getDpsInitsMutable()[0];
  return first.getMatchingIndexingMap(&operand).compose(op.getMatchingIndexingMap(&init));
}

/// True if the op before scales what is in memory: that can be added to the sums when they are
/// done, so that no sum waits for memory. Costs nothing, as the scaling becomes a multiply-add.
bool RowEmitter::canStartLate() {
  if (!first || rowReduces || first.getBody()->getArguments().back().use_empty())
    return false;
  auto scale = first.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  return scale && arith::bitEnumContainsAll(scale.getFastmath(), arith::FastMathFlags::contract) &&
         addsProducts(op);
}

const char *RowEmitter::getObstacle() {
  for (OpOperand &operand : op->getOpOperands())
    if (const char *obstacle = getObstacle(operand.get(), op.getMatchingIndexingMap(&operand)))
      return obstacle;
  for (GenericOp generic : {first, op}) {
    if (!generic)
      continue;
    for (Operation &nested : generic.getBody()->without_terminator()) {
      bool isSimple = nested.hasTrait<OpTrait::ConstantLike>() ||
                      (generic == op && isa<linalg::IndexOp>(nested));
      if (!isSimple && !OpTrait::hasElementwiseMappableTraits(&nested))
        return "an op in the body is not elementwise";
      for (Type type : nested.getResultTypes())
        if (!VectorType::isValidElementType(type))
          return "an element type has no vectors";
    }
  }
  if (first) {
    if (op.getIteratorTypesArray()[rowDim] == IteratorType::reduction)
      return "the rows of the init are sums";
    for (OpOperand *input : first.getDpsInputOperands())
      if (const char *obstacle = getObstacle(input->get(), getFirstMap(*input)))
        return obstacle;
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
  startsLate = canStartLate();
  return nullptr;
}

//===----------------------------------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------------------------------===//

void RowEmitter::emit() {
  SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
  for (IteratorType kind : {IteratorType::parallel, IteratorType::reduction}) {
    // The rows of a block share the rows of the right operand, so their loop is inside; but not if
    // sums go back to where they come from: the next rows would be loaded from addresses that are
    // those of the last stores modulo a page, and wait for these.
    bool hasBlocks = blockDim && kind == IteratorType::parallel;
    if (hasBlocks && startsLate)
      order.push_back(*blockDim);
    for (auto [dim, iterator] : llvm::enumerate(iterators))
      if (iterator == kind && dim != blockDim)
        order.push_back(dim);
    if (hasBlocks && !startsLate)
      order.push_back(*blockDim);
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    unsigned level = order.size();
    while (level > 0 && !map.isFunctionOfDim(order[level - 1]))
      --level;
    depth.push_back(level);
  }
  auto isUpdated = [&](OpOperand *input) {
    return llvm::is_contained(op.getDpsInits(), input->get());
  };
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    unsigned level = order.size();
    while (level > 0 && !isUpdated(input) && !map.isFunctionOfDim(order[level - 1]))
      --level;
    inputDepth.push_back(level);
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
  hoisted.resize(op.getNumDpsInputs());
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
      emitBody(copy, MutableArrayRef(sums).slice(copy * op.getNumDpsInits(), op.getNumDpsInits()));
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
  for (auto [input, values] : llvm::zip_equal(op.getDpsInputOperands(), hoisted)) {
    if (inputDepth[input->getOperandNumber()] != level)
      continue;
    values.clear();
    for (unsigned copy = 0; copy < getNumCopies(); ++copy) {
      selectCopy(copy);
      values.push_back(load(*input));
    }
  }
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

/// The loop over the block dim: full blocks, and what the extent leaves, as a smaller block if it
/// is known, else as single rows.
void RowEmitter::emitBlocks(unsigned level, SmallVectorImpl<Value> &sums) {
  int64_t extent = op.getStaticLoopRanges()[*blockDim];
  bool isStatic = ShapedType::isStatic(extent);
  auto emit = [&](Value low, Value high, int64_t rows) {
    auto loop = scf::ForOp::create(rewriter, loc, low, high, constant(rows));
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    for (int64_t row = 0; row < rows; ++row)
      blockRows.push_back(
          arith::AddIOp::create(rewriter, loc, loop.getInductionVar(), constant(row)));
    SmallVector<Value> inner(rows * op.getNumDpsInits());
    emitLevel(level + 1, inner);
    blockRows.clear();
  };
  Value end = isStatic ? constant(extent / block * block) : getMultiple(extents[*blockDim], block);
  if (!isStatic || extent >= block)
    emit(constant(0), end, block);
  if (!isStatic)
    emitLoop(level, end, extents[*blockDim], 1, sums);
  else if (extent % block != 0)
    emit(end, constant(extent), extent % block);
}

/// The largest multiple of `step` up to `extent`.
Value RowEmitter::getMultiple(Value extent, int64_t step) {
  Value count = arith::DivUIOp::create(rewriter, loc, extent, constant(step));
  return arith::MulIOp::create(rewriter, loc, count, constant(step));
}

/// LLVM unrolls short sums in full; then it computes the rows of a block one after the other and
/// needs a register for each row of the right operand.
static Attribute getUnrollLimit(Builder &builder) {
  MLIRContext *context = builder.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, {}, /*count=*/builder.getI32IntegerAttr(2), {},
                                          {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {},
                                       {}, {}, {});
}

void RowEmitter::emitLoop(unsigned level, Value low, Value high, int64_t step,
                          SmallVectorImpl<Value> &sums) {
  SmallVector<Value> carried;
  llvm::copy_if(sums, std::back_inserter(carried), [](Value sum) { return bool(sum); });
  auto loop = scf::ForOp::create(rewriter, loc, low, high, constant(step), carried);
  if (!blockRows.empty() && limitsUnrolling)
    loop->setAttr("llvm.loop_annotation", getUnrollLimit(rewriter));
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

/// The loop along a row: full tiles, and one partial tile where the extent may leave one; without
/// masks, which would become a branch for each lane, smaller and smaller full ones.
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
  int64_t fullTile = tile;
  if (isStatic && !rowReduces && !hasMasks) {
    for (int64_t start = full; start < extent; start += tile) {
      tile = llvm::bit_floor<uint64_t>(extent - start);
      emitLoop(level, constant(start), constant(start + tile), tile, sums);
    }
    tile = fullTile;
    return;
  }
  // Sums over the row keep the width of the full tiles.
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

void RowEmitter::emitBody(unsigned copy, MutableArrayRef<Value> sums) {
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    ArrayRef<Value> values = hoisted[input->getOperandNumber()];
    Value value = inputDepth[input->getOperandNumber()] == order.size()
                      ? load(*input)
                      : values[values.size() == 1 ? 0 : copy];
    mapping.map(op.getMatchingBlockArgument(input), value);
  }
  for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    BlockArgument arg = op.getMatchingBlockArgument(&init);
    if (sums[index])
      mapping.map(arg, sums[index]);
    else if (!arg.use_empty())
      mapping.map(arg, load(init));
  }
  SmallVector<Value> results = hasDot(std::min(tile, dotLanes))
                                   ? SmallVector<Value>{emitDot(mapping)}
                                   : emitOps(*op.getBody(), mapping);
  for (auto [index, init, value] : llvm::enumerate(op.getDpsInitsMutable(), results)) {
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

/// A row of sums plus products of pairs, register by register.
Value RowEmitter::emitDot(IRMapping &mapping) {
  SmallVector<Value> operands = llvm::map_to_vector(op.getBody()->getArguments(),
                                                    [&](Value arg) { return mapping.lookup(arg); });
  int64_t lanes = std::min(tile, dotLanes);
  for (Value &operand : operands)
    if (!isa<VectorType>(operand.getType()))
      operand = vector::BroadcastOp::create(rewriter, loc,
                                            VectorType::get({lanes}, operand.getType()), operand);
  Value result = operands.back();
  for (int64_t from = 0; from < tile; from += lanes) {
    auto getPart = [&](Value row) -> Value {
      if (cast<VectorType>(row.getType()).getNumElements() == lanes)
        return row;
      return vector::ExtractStridedSliceOp::create(rewriter, loc, row, from, lanes, 1);
    };
    Value sums =
        createDot(rewriter, loc, getPart(operands[0]), getPart(operands[1]), getPart(operands[2]));
    result = lanes == tile
                 ? sums
                 : vector::InsertStridedSliceOp::create(rewriter, loc, sums, result, from, 1)
                       .getResult();
  }
  return result;
}

/// The ops of a body on rows; returns what it yields.
SmallVector<Value> RowEmitter::emitOps(Block &block, IRMapping &mapping) {
  for (Operation &nested : block.without_terminator()) {
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
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// `value`, an entry of the init, as the op before leaves it.
Value RowEmitter::emitFirst(OpOperand &init, Value value) {
  IRMapping mapping;
  for (OpOperand *input : first.getDpsInputOperands())
    mapping.map(first.getMatchingBlockArgument(input), load(input->get(), getFirstMap(*input)));
  if (value)
    mapping.map(first.getBody()->getArguments().back(), value);
  Value result = emitOps(*first.getBody(), mapping)[0];
  return usesRow(init) ? broadcast(result) : result;
}

SmallVector<Value> RowEmitter::getIndices(AffineMap map) {
  SmallVector<Value> indices;
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
Value RowEmitter::load(Value operand, AffineMap map) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type)
    return operand;
  if (!usesRow(map))
    return memref::LoadOp::create(rewriter, loc, operand, getIndices(map));
  Value padding =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  return vector::TransferReadOp::create(rewriter, loc,
                                        VectorType::get({tile}, type.getElementType()), operand,
                                        getIndices(map), padding, ArrayRef<bool>{!isPartial});
}

void RowEmitter::store(OpOperand &init, Value value) {
  SmallVector<Value> indices = getIndices(op.getMatchingIndexingMap(&init));
  if (usesRow(init))
    vector::TransferWriteOp::create(rewriter, loc, broadcast(value), init.get(), indices,
                                    ArrayRef<bool>{!isPartial});
  else
    memref::StoreOp::create(rewriter, loc, value, init.get(), indices);
}

Value RowEmitter::startSum(OpOperand &init) {
  if (startsLate) {
    Value zero = arith::ConstantOp::create(rewriter, loc,
                                           rewriter.getZeroAttr(getElementTypeOrSelf(init.get())));
    return usesRow(init) ? broadcast(zero) : zero;
  }
  if (first)
    return emitFirst(init,
                     first.getBody()->getArguments().back().use_empty() ? Value() : load(init));
  if (!reducesRow(init))
    return load(init);
  Operation *combiner = combiners[getInit(init)];
  return broadcast(arith::ConstantOp::create(rewriter, loc, *arith::getNeutralElement(combiner)));
}

void RowEmitter::finishSum(OpOperand &init, Value sum) {
  if (startsLate)
    sum = arith::AddFOp::create(rewriter, loc, emitFirst(init, load(init)), sum,
                                arith::FastMathFlags::contract);
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
