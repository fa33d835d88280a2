//===- MatmulShare.cpp - how much of a chunk is matrix products ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Analysis/MatmulShare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::linattn;

int64_t StateFlops::getMatmulPercent() const {
  double total = double(matmul) + double(other);
  return total > 0 ? int64_t(100.0 * matmul / total + 0.5) : 0;
}

static int64_t getNumElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 1;
  return tensor.hasStaticShape() ? tensor.getNumElements() : 0;
}

/// An arithmetic op on floats; conversions, selections and comparisons cost nothing.
static bool isFlop(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         op->getNumResults() == 1 && isa<FloatType>(getElementTypeOrSelf(op->getResult(0))) &&
         !isa<CastOpInterface, arith::ConstantOp, arith::SelectOp>(op);
}

namespace {

class FlopCounter {
public:
  explicit FlopCounter(RecurrenceOp op) : op(op) {
    dependent.insert(op.getStateArgs().begin(), op.getStateArgs().end());
    visitBlock(op.getBody().front());
  }
  StateFlops flops;

private:
  bool visitBlock(Block &block);
  bool visitNested(Operation *op);
  int64_t getIterations(scf::ForOp loop);
  void count(Operation *op);
  template <typename OpTy> void countAddress(OpTy op);
  void countBracket(BracketOp op);
  void countTriangle(int64_t rows, int64_t width, int64_t subchunk, bool sums);
  void countSolve(SolveOp op);
  void countLinalg(linalg::LinalgOp op);
  bool isDependent(Value value) const { return dependent.contains(value); }
  void add(bool isMatmul, int64_t amount) {
    (isMatmul ? flops.matmul : flops.other) += amount * times;
  }

  RecurrenceOp op;
  llvm::DenseSet<Value> dependent; ///< computed from the state or by a step or block op
  int64_t times = 1;               ///< iterations of the loops around
};

} // namespace

//===----------------------------------------------------------------------------------------------===//
// Flops of one op
//===----------------------------------------------------------------------------------------------===//

static bool isStateOp(Operation *op) {
  return isa<DecayOp, ReadOp, WriteOp, RunningProductOp, BracketOp, WeightedSumOp, SolveOp>(op);
}

static bool isMatmul(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalg::isaContractionOpInterface(linalgOp))
    return false;
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(linalgOp);
  return succeeded(dims) && !dims->m.empty() && !dims->n.empty() && !dims->k.empty();
}

/// A read or write.
template <typename OpTy> void FlopCounter::countAddress(OpTy op) {
  int64_t rows =
      op.hasManyRows() ? getNumElements(op.getAddress().getType()) / op.getAxisExtent() : 1;
  add(op.hasManyRows() && op.getValueRank() == 1,
      2 * rows * getNumElements(op.getState().getType()));
}

void FlopCounter::countBracket(BracketOp op) {
  int64_t rows = op.getReads().getType().getDimSize(0),
          width = op.getReads().getType().getDimSize(1);
  Value decay = op.getDecay();
  if (decay && cast<RankedTensorType>(decay.getType()).getRank() == 2)
    return countTriangle(rows, width, op.getSubchunk(), /*sums=*/false);
  add(true, rows * (rows - 1) * width);
  if (decay) // the multipliers between two tokens, and the pairs times them
    add(false, rows * (rows - 1));
}

/// Pairs of `rows` tokens with a multiplier per channel: halved, down to leaves. `sums`: the rows
/// below a border add what they see of those above.
void FlopCounter::countTriangle(int64_t rows, int64_t width, int64_t subchunk, bool sums) {
  if (rows <= subchunk)
    return add(false, 3 * width * (rows * (rows - 1) / 2));
  int64_t upper = llvm::divideCeil(rows, 2), lower = rows - upper;
  add(true, 2 * upper * lower * width);
  add(false, 2 * rows * width); // running products, and rows times them
  if (sums)
    add(false, lower * width);
  countTriangle(upper, width, subchunk, sums);
  countTriangle(lower, width, subchunk, sums);
}

void FlopCounter::countSolve(SolveOp op) {
  RankedTensorType type = op.getType();
  int64_t rows = type.getDimSize(0), width = type.getRank() == 2 ? type.getDimSize(1) : 1;
  int64_t subchunk = op.getSubchunk();
  for (int64_t from = 0; from < rows; from += subchunk) {
    int64_t size = std::min(subchunk, rows - from);
    add(type.getRank() == 2, 2 * size * from * width);
    add(false, size * (size - 1) * width);
  }
}

void FlopCounter::countLinalg(linalg::LinalgOp op) {
  int64_t points = 1;
  for (int64_t extent : op.getStaticLoopRanges())
    points *= ShapedType::isStatic(extent) ? extent : 0;
  add(isMatmul(op),
      points * llvm::count_if(*op.getBlock(), [](Operation &nested) { return isFlop(&nested); }));
}

void FlopCounter::count(Operation *op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return countAddress(read);
  if (auto write = dyn_cast<WriteOp>(op))
    return countAddress(write);
  if (auto bracket = dyn_cast<BracketOp>(op))
    return countBracket(bracket);
  if (auto sum = dyn_cast<WeightedSumOp>(op))
    return countTriangle(sum.getType().getDimSize(0), sum.getType().getDimSize(1),
                         sum.getSubchunk(), /*sums=*/true);
  if (auto solve = dyn_cast<SolveOp>(op))
    return countSolve(solve);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return countLinalg(linalgOp);
  if (auto decay = dyn_cast<DecayOp>(op))
    return add(false, getNumElements(decay.getState().getType()) +
                          (decay.getLinear() ? 0 : getNumElements(decay.getBy().getType())));
  if (auto products = dyn_cast<RunningProductOp>(op)) {
    RankedTensorType type = products.getFactors().getType();
    return add(false, type.getNumElements() - type.getNumElements() / type.getDimSize(0));
  }
  if (isFlop(op))
    add(false, getNumElements(op->getResult(0).getType()));
}

//===----------------------------------------------------------------------------------------------===//
// Which ops count
//===----------------------------------------------------------------------------------------------===//

/// 1 if it is not known.
int64_t FlopCounter::getIterations(scf::ForOp loop) {
  if (std::optional<APInt> count = loop.getStaticTripCount())
    return count->getSExtValue();
  // Over the rows that are tokens, the first or (reversed) the last ones of the step: all of them.
  auto first = loop.getLowerBound().getDefiningOp<arith::SubIOp>();
  bool isOverTokens =
      loop.getUpperBound() == op.getLiveArg() || (first && first.getRhs() == op.getLiveArg());
  return op.getStep() && isOverTokens ? *op.getStep() : 1;
}

/// A loop or branch; true if it depends on the state.
bool FlopCounter::visitNested(Operation *op) {
  SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  bool depends = llvm::any_of(used, [&](Value value) { return isDependent(value); });
  auto loop = dyn_cast<scf::ForOp>(op);
  llvm::SaveAndRestore scope(times, times * (loop ? getIterations(loop) : 1));
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (depends)
        dependent.insert(block.args_begin(), block.args_end());
      depends |= visitBlock(block);
    }
  return depends;
}

/// True if the block ends in a value that depends on the state.
bool FlopCounter::visitBlock(Block &block) {
  for (Operation &op : block) {
    bool depends = isStateOp(&op) ||
                   llvm::any_of(op.getOperands(), [&](Value value) { return isDependent(value); });
    if (op.getNumRegions() != 0 && !isa<linalg::LinalgOp>(op))
      depends = visitNested(&op);
    // What makes the operands of a step or block op is a part of it, unless it is a matmul.
    else if (depends || (llvm::any_of(op.getUsers(), isStateOp) && !isMatmul(&op)))
      count(&op);
    if (depends)
      dependent.insert(op.result_begin(), op.result_end());
  }
  return llvm::any_of(block.back().getOperands(), [&](Value value) { return isDependent(value); });
}

StateFlops linattn::countStateFlops(RecurrenceOp op) { return FlopCounter(op).flops; }
