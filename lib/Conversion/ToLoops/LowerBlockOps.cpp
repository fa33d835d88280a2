//===- LowerBlockOps.cpp - running products, brackets, sums and solves as linalg ----*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Conversion/ToLoops.h"
#include "linattn/IR/LinAttn.h"
#include "linattn/Utils/TensorUtils.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::linattn;
using utils::IteratorType;

static RankedTensorType getType(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {

/// Rows, blocks and products of dense tensors.
class BlockBuilder {
public:
  BlockBuilder(OpBuilder &builder, Location loc, Type element)
      : builder(builder), loc(loc), element(element) {}

  OpFoldResult index(int64_t value) { return builder.getIndexAttr(value); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value number(double value) {
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(element, value));
  }

  /// One row: a number of a vector, a vector of a matrix.
  Value row(Value tensor, Value position) {
    RankedTensorType type = getType(tensor);
    Type rowType =
        type.getRank() == 1 ? element : Type(RankedTensorType::get({type.getDimSize(1)}, element));
    return extractRow(builder, loc, tensor, position, rowType);
  }
  Value setRow(Value tensor, Value position, Value value) {
    return insertRow(builder, loc, value, tensor, position);
  }
  /// Rows `[from, from + count)`.
  Value rows(Value tensor, int64_t from, int64_t count) {
    RankedTensorType type = getType(tensor);
    SmallVector<OpFoldResult> offsets(type.getRank(), index(0)),
        sizes = tensor::getMixedSizes(builder, loc, tensor);
    offsets[0] = index(from);
    sizes[0] = index(count);
    return tensor::ExtractSliceOp::create(builder, loc, tensor, offsets, sizes,
                                          ones(type.getRank()));
  }
  Value block(Value matrix, int64_t row, int64_t column, int64_t rows, int64_t columns) {
    return tensor::ExtractSliceOp::create(
        builder, loc, matrix, ArrayRef<OpFoldResult>{index(row), index(column)},
        ArrayRef<OpFoldResult>{index(rows), index(columns)}, ones(2));
  }
  Value setBlock(Value tensor, Value block, int64_t row, int64_t column) {
    SmallVector<OpFoldResult> offsets{index(row), index(column)};
    offsets.resize(getType(tensor).getRank());
    return tensor::InsertSliceOp::create(builder, loc, block, tensor, offsets,
                                         tensor::getMixedSizes(builder, loc, block),
                                         ones(offsets.size()));
  }
  Value zeros(ArrayRef<int64_t> shape) {
    return createZeros(builder, loc, element, getAsIndexOpFoldResult(builder.getContext(), shape));
  }
  Value filled(ArrayRef<int64_t> shape, double value) {
    Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
    return linalg::FillOp::create(builder, loc, number(value), empty).getResult(0);
  }
  Value multiply(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }

  /// The operand of a product.
  Value round(Value value, bool toBf16) {
    return toBf16 ? roundToBf16(builder, loc, value) : value;
  }

  /// `a` times the transposed `b`: dot products of rows.
  Value productTransposed(Value a, Value b, bool toBf16) {
    a = round(a, toBf16);
    b = round(b, toBf16);
    Value sums = zeros({getType(a).getDimSize(0), getType(b).getDimSize(0)});
    return linalg::MatmulTransposeBOp::create(builder, loc, ValueRange{a, b}, sums)->getResult(0);
  }

  /// A matrix from inputs that are indexed by rows, by columns or by both, as their types say:
  /// `[rows, columns]`, or `[rows]`.
  Value elementwise(ArrayRef<int64_t> shape, ValueRange inputs,
                    function_ref<Value(OpBuilder &, Value row, Value column, ValueRange)> body) {
    Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
    SmallVector<AffineMap> maps;
    for (Value input : inputs)
      maps.push_back(builder.getMultiDimIdentityMap(2).getMajorSubMap(getType(input).getRank()));
    maps.push_back(builder.getMultiDimIdentityMap(2));
    return linalg::GenericOp::create(builder, loc, TypeRange{empty.getType()}, inputs, empty, maps,
                                     SmallVector<IteratorType>(2, IteratorType::parallel),
                                     [&](OpBuilder &b, Location l, ValueRange args) {
                                       Value row = linalg::IndexOp::create(b, l, 0),
                                             column = linalg::IndexOp::create(b, l, 1);
                                       linalg::YieldOp::create(b, l, body(b, row, column, args));
                                     })
        .getResult(0);
  }
  /// A square matrix with zeros from the diagonal on.
  Value lower(Value matrix) {
    Value zero = number(0.0);
    return elementwise(getType(matrix).getShape(), matrix,
                       [&](OpBuilder &b, Value row, Value column, ValueRange args) {
                         return choose(b, arith::CmpIPredicate::ugt, row, column, args[0], zero);
                       });
  }
  /// Every row of a matrix times the entries of `factors`.
  Value multiplyRows(Value matrix, Value factors) {
    AffineMap identity = builder.getMultiDimIdentityMap(2);
    AffineMap column = AffineMap::get(2, 0, builder.getAffineDimExpr(1));
    return linalg::GenericOp::create(
               builder, loc, TypeRange{matrix.getType()}, factors, matrix,
               ArrayRef<AffineMap>{column, identity},
               SmallVector<IteratorType>(2, IteratorType::parallel),
               [](OpBuilder &b, Location l, ValueRange args) {
                 linalg::YieldOp::create(b, l,
                                         arith::MulFOp::create(b, l, args[1], args[0]).getResult());
               })
        .getResult(0);
  }
  Value choose(OpBuilder &b, arith::CmpIPredicate predicate, Value i, Value j, Value then,
               Value otherwise) {
    Value condition = arith::CmpIOp::create(b, loc, predicate, i, j);
    return arith::SelectOp::create(b, loc, condition, then, otherwise);
  }

  /// A loop over `[from, to)` that carries values.
  SmallVector<Value> loop(Value from, Value to, ValueRange carried,
                          function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    auto loop = scf::ForOp::create(builder, loc, from, to, constant(1), carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
    for (auto [value, arg] : llvm::zip_equal(next, loop.getRegionIterArgs()))
      value = carry(builder, loc, value, arg);
    scf::YieldOp::create(builder, loc, next);
    return SmallVector<Value>(loop.getResults());
  }

  SmallVector<Value> loop(int64_t from, int64_t to, ValueRange carried,
                          function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    return loop(constant(from), constant(to), carried, body);
  }

  OpBuilder &builder;
  Location loc;
  Type element;

private:
  SmallVector<OpFoldResult> ones(int64_t count) {
    return SmallVector<OpFoldResult>(count, index(1));
  }
};

//===----------------------------------------------------------------------------------------------===//
// Running products
//===----------------------------------------------------------------------------------------------===//

/// True if `value` is the last of the rows of `matrix`.
static bool isLastRow(Value value, Value matrix) {
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && slice.getSource() == matrix && slice.getType().getRank() == 1 &&
         isConstantIntValue(slice.getMixedOffsets()[0], getType(matrix).getDimSize(0) - 1) &&
         isConstantIntValue(slice.getMixedSizes()[0], 1) &&
         isConstantIntValue(slice.getMixedOffsets()[1], 0) &&
         slice.getType().getDimSize(0) == getType(matrix).getDimSize(1);
}

/// Channels, first row to last: one pass with the product so far in a row of its own, so that
/// passes which multiply by the products can be merged with it, and then the products need no
/// memory.
struct LowerProductOfChannels : OpRewritePattern<RunningProductOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RunningProductOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getFactors().getType();
    if (op.getReverse() || type.getRank() != 2)
      return rewriter.notifyMatchFailure(op, "not the products of channels from the first row on");
    BlockBuilder build(rewriter, op.getLoc(), type.getElementType());
    AffineMap identity = rewriter.getMultiDimIdentityMap(2);
    Value empty =
        tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    SmallVector<Value> inits{build.filled({type.getDimSize(1)}, 1.0), empty};
    auto pass = linalg::GenericOp::create(
        rewriter, op.getLoc(), TypeRange(ValueRange(inits)), op.getFactors(), inits,
        ArrayRef<AffineMap>{identity, identity.getMinorSubMap(1), identity},
        ArrayRef<IteratorType>{IteratorType::reduction, IteratorType::parallel},
        [](OpBuilder &b, Location l, ValueRange args) {
          Value next = arith::MulFOp::create(b, l, args[1], args[0]);
          linalg::YieldOp::create(b, l, ValueRange{next, args[1]});
        });
    // The product of all rows is what the pass ends with.
    for (Operation *user : llvm::to_vector(op->getUsers()))
      for (Operation *product : llvm::to_vector(user->getUsers()))
        if (isa<arith::MulFOp>(product) && isLastRow(product->getOperand(0), op.getResult()) &&
            isLastRow(product->getOperand(1), op.getFactors()))
          rewriter.replaceAllUsesWith(product->getResult(0), pass.getResult(0));
    rewriter.replaceOp(op, pass.getResult(1));
    return success();
  }
};

struct LowerRunningProduct : OpRewritePattern<RunningProductOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RunningProductOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getFactors().getType();
    BlockBuilder build(rewriter, op.getLoc(), type.getElementType());
    int64_t rows = type.getDimSize(0);
    // Row i from its neighbour: p_i = p_{i-1} a_{i-1}, or from behind p_i = p_{i+1} a_{i+1}.
    SmallVector<Value> products = build.loop(
        1, rows, build.filled(type.getShape(), 1.0), [&](Value step, ValueRange carried) {
          Value row = step, neighbour;
          AffineExpr d0 = rewriter.getAffineDimExpr(0);
          auto at = [&](AffineExpr expr) -> Value {
            return affine::AffineApplyOp::create(rewriter, op.getLoc(), AffineMap::get(1, 0, expr),
                                                 step);
          };
          if (op.getReverse()) {
            row = at(rows - 1 - d0);
            neighbour = at(rows - d0);
          } else {
            neighbour = at(d0 - 1);
          }
          Value next = build.multiply(build.row(carried[0], neighbour),
                                      build.row(op.getFactors(), neighbour));
          return SmallVector<Value>{build.setRow(carried[0], row, next)};
        });
    rewriter.replaceOp(op, products);
    return success();
  }
};

//===----------------------------------------------------------------------------------------------===//
// Brackets
//===----------------------------------------------------------------------------------------------===//

/// With a decay per channel, brackets of the same writes are made together: the reads of all of
/// them see a write as it decays from token to token. In the end it is what the new state needs of
/// it.
struct LowerBracket : OpRewritePattern<BracketOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BracketOp op, PatternRewriter &rewriter) const override {
    if (op->use_empty()) { // made with another one
      rewriter.eraseOp(op);
      return success();
    }
    BlockBuilder build(rewriter, op.getLoc(), op.getType().getElementType());
    SmallVector<BracketOp> group{op};
    SmallVector<Value> results;
    if (Value decay = op.getDecay(); decay && getType(decay).getRank() == 2) {
      addGroup(rewriter, group);
      for (size_t i = 0; i < group.size(); ++i)
        results.push_back(build.zeros(op.getType().getShape()));
      lowerChannels(build, group, 0, op.getType().getDimSize(0), results);
    } else {
      results.push_back(lowerScalars(build, op));
    }
    for (auto [bracket, result] : llvm::zip_equal(group, results)) {
      if (Value diagonal = bracket.getDiagonal()) {
        rewriter.setInsertionPoint(bracket);
        result = build.elementwise(bracket.getType().getShape(), {result, diagonal},
                                   [&](OpBuilder &b, Value row, Value column, ValueRange args) {
                                     return build.choose(b, arith::CmpIPredicate::eq, row, column,
                                                         args[1], args[0]);
                                   });
      }
      rewriter.replaceAllUsesWith(bracket, result);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// True if ops between `first` and `value`, which depends on them, have to be lowered themselves:
  /// the driver would not see them any more in front of `first`.
  static bool dependsOnBlockOps(Value value, Operation *first) {
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitBlockArguments = true;
    options.omitUsesFromAbove = false;
    options.filter = [&](Operation *op) {
      Operation *outer = first->getBlock()->findAncestorOpInBlock(*op);
      return outer && first->isBeforeInBlock(outer);
    };
    SetVector<Operation *> slice;
    return failed(getBackwardSlice(value, &slice, options)) ||
           llvm::any_of(slice,
                        [](Operation *op) { return isa<BracketOp, WeightedSumOp, SolveOp>(op); });
  }

  /// Later brackets of the same writes, if what they read can be had before the first.
  static void addGroup(PatternRewriter &rewriter, SmallVector<BracketOp> &group) {
    BracketOp first = group.front();
    for (Operation *user : first.getWrites().getUsers())
      if (auto other = dyn_cast<BracketOp>(user);
          other && first->getBlock() == other->getBlock() && first->isBeforeInBlock(other) &&
          other.getWrites() == first.getWrites() && other.getDecay() == first.getDecay() &&
          other.getSubchunk() == first.getSubchunk() &&
          other.getBf16Operands() == first.getBf16Operands() &&
          !dependsOnBlockOps(other.getReads(), first) &&
          succeeded(moveValueDefinitions(rewriter, other.getReads(), first)))
        group.push_back(other);
  }

  /// One product for all pairs, times the product of the multipliers between them: a running
  /// product down the rows, in which column j takes part from row j + 1 on.
  Value lowerScalars(BlockBuilder &build, BracketOp op) const {
    ArrayRef<int64_t> shape = op.getType().getShape();
    SmallVector<Value> inputs{
        build.productTransposed(op.getReads(), op.getWrites(), op.getBf16Operands())};
    if (op.getDecay()) {
      Value one = build.number(1.0);
      Value factors = build.elementwise(
          shape, op.getDecay(), [&](OpBuilder &b, Value row, Value column, ValueRange args) {
            return build.choose(b, arith::CmpIPredicate::ugt, row, column, args[0], one);
          });
      inputs.push_back(
          RunningProductOp::create(build.builder, build.loc, factors, /*reverse=*/false));
    }
    Value zero = build.number(0.0);
    return build.elementwise(
        shape, inputs, [&](OpBuilder &b, Value row, Value column, ValueRange args) {
          Value entry = args[0];
          if (op.getDecay())
            entry = arith::MulFOp::create(b, build.loc, entry, args[1]);
          return build.choose(b, arith::CmpIPredicate::ugt, row, column, entry, zero);
        });
  }

  /// Halves the triangle of rows `[from, to)`: below the border m every pair is a product of a read
  /// moved forward to m and a write moved back to m.
  void lowerChannels(BlockBuilder &build, ArrayRef<BracketOp> group, int64_t from, int64_t to,
                     MutableArrayRef<Value> results) const {
    BracketOp first = group.front();
    if (to - from <= int64_t(first.getSubchunk()))
      return lowerLeaf(build, group, from, to, results);
    int64_t border = from + llvm::divideCeil(to - from, 2);
    lowerChannels(build, group, from, border, results);
    lowerChannels(build, group, border, to, results);
    auto scaled = [&](Value rows, int64_t begin, int64_t end, bool reverse) -> Value {
      Value decay = build.rows(first.getDecay(), begin, end - begin);
      Value products = RunningProductOp::create(build.builder, build.loc, decay, reverse);
      return build.multiply(build.rows(rows, begin, end - begin), products);
    };
    Value writes = scaled(first.getWrites(), from, border, true);
    for (auto [bracket, result] : llvm::zip_equal(group, results)) {
      BracketOp op = bracket;
      Value block = build.productTransposed(scaled(op.getReads(), border, to, false), writes,
                                            op.getBf16Operands());
      result = build.setBlock(result, block, border, from);
    }
  }

  /// A small triangle pair by pair: each write decays from token to token, and every read behind it
  /// sees it at that moment.
  void lowerLeaf(BlockBuilder &build, ArrayRef<BracketOp> group, int64_t from, int64_t to,
                 MutableArrayRef<Value> results) const {
    BracketOp first = group.front();
    ArrayRef<int64_t> shape = first.getWrites().getType().getShape();
    Operation *atEnd = from == 0 && to == shape[0] ? findMovedToEnd(first) : nullptr;
    SmallVector<Value> carried(results);
    carried.push_back(build.zeros({shape[1]})); // of the write at hand
    if (atEnd)
      carried.push_back(build.zeros(shape));
    // The last write meets no read, but is moved to the end as well.
    carried = build.loop(from, atEnd ? to : to - 1, carried, [&](Value column, ValueRange outer) {
      SmallVector<Value> next(outer.take_front(group.size() + 1));
      next.back() =
          carry(build.builder, build.loc, build.row(first.getWrites(), column), next.back());
      Value behind = arith::AddIOp::create(build.builder, build.loc, column, build.constant(1));
      next = build.loop(behind, build.constant(to), next, [&](Value row, ValueRange inner) {
        SmallVector<Value> reads;
        for (BracketOp op : group)
          reads.push_back(build.row(op.getReads(), row));
        SmallVector<Value> entries =
            dotsAndDecay(build, reads, build.row(first.getDecay(), row), inner.back());
        SmallVector<Value> pairs;
        for (auto [entry, matrix] : llvm::zip(ArrayRef(entries).drop_back(), inner))
          pairs.push_back(tensor::InsertOp::create(
              build.builder, build.loc,
              tensor::ExtractOp::create(build.builder, build.loc, entry, ValueRange()), matrix,
              ValueRange{row, column}));
        pairs.push_back(entries.back());
        return pairs;
      });
      if (atEnd)
        next.push_back(build.setRow(outer.back(), column, next.back()));
      return next;
    });
    llvm::copy(ArrayRef(carried).take_front(group.size()), results.begin());
    if (atEnd)
      atEnd->getResult(0).replaceAllUsesWith(carried.back());
  }

  /// The writes times the multipliers of all tokens behind them, if this is needed after `op`.
  static Operation *findMovedToEnd(BracketOp op) {
    for (Operation *user : op.getWrites().getUsers()) {
      if (!isa<arith::MulFOp>(user) || user->getBlock() != op->getBlock() ||
          !op->isBeforeInBlock(user))
        continue;
      for (Value factor : user->getOperands())
        if (auto products = factor.getDefiningOp<RunningProductOp>();
            products && products.getReverse() && products.getFactors() == op.getDecay())
          return user;
    }
    return nullptr;
  }

  /// `read . write` of each read and, last, `write * decay`, in one pass.
  SmallVector<Value> dotsAndDecay(BlockBuilder &build, ValueRange reads, Value decay,
                                  Value write) const {
    MLIRContext *context = build.builder.getContext();
    AffineMap identity = AffineMap::getMultiDimIdentityMap(1, context),
              scalar = AffineMap::get(1, 0, context);
    SmallVector<Value> inputs(reads), inits;
    for (size_t i = 0; i < reads.size(); ++i)
      inits.push_back(build.zeros({}));
    inputs.push_back(decay);
    inits.push_back(write);
    SmallVector<AffineMap> maps(inputs.size(), identity);
    maps.append(reads.size(), scalar);
    maps.push_back(identity);
    auto pass = linalg::GenericOp::create(
        build.builder, build.loc, TypeRange(ValueRange(inits)), inputs, inits, maps,
        ArrayRef<IteratorType>{IteratorType::reduction},
        [&](OpBuilder &b, Location l, ValueRange args) {
          auto fast = arith::FastMathFlagsAttr::get(context, arith::FastMathFlags::contract);
          size_t count = reads.size();
          Value written = args.back();
          SmallVector<Value> yields;
          for (size_t i = 0; i < count; ++i) {
            Value product = arith::MulFOp::create(b, l, args[i], written, fast);
            yields.push_back(arith::AddFOp::create(b, l, args[count + 1 + i], product, fast));
          }
          yields.push_back(arith::MulFOp::create(b, l, written, args[count]));
          linalg::YieldOp::create(b, l, yields);
        });
    return SmallVector<Value>(pass.getResults());
  }
};

//===----------------------------------------------------------------------------------------------===//
// Weighted sums
//===----------------------------------------------------------------------------------------------===//

struct LowerWeightedSum : OpRewritePattern<WeightedSumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WeightedSumOp op, PatternRewriter &rewriter) const override {
    BlockBuilder build(rewriter, op.getLoc(), op.getType().getElementType());
    Value zeros = build.zeros(op.getType().getShape());
    rewriter.replaceOp(op, lowerTriangle(build, op, 0, op.getType().getDimSize(0), zeros));
    return success();
  }

private:
  /// Halves the triangle of rows `[from, to)`: below the border m every pair is a value moved
  /// forward to m in a sum that is moved on from m.
  Value lowerTriangle(BlockBuilder &build, WeightedSumOp op, int64_t from, int64_t to,
                      Value result) const {
    if (to - from <= int64_t(op.getSubchunk()))
      return lowerLeaf(build, op, from, to, result);
    int64_t border = from + llvm::divideCeil(to - from, 2);
    result = lowerTriangle(build, op, from, border, result);
    result = lowerTriangle(build, op, border, to, result);
    Value moved = build.multiply(build.rows(op.getValues(), from, border - from),
                                 products(build, op, from, border, true));
    Value part = build.block(op.getMatrix(), border, from, to - border, border - from);
    Value zeros = build.zeros({to - border, op.getType().getDimSize(1)});
    Value sums = linalg::MatmulOp::create(build.builder, build.loc,
                                          ValueRange{build.round(part, op.getBf16Operands()),
                                                     build.round(moved, op.getBf16Operands())},
                                          zeros)
                     ->getResult(0);
    sums = build.multiply(sums, products(build, op, border, to, false));
    sums = arith::AddFOp::create(build.builder, build.loc, build.rows(result, border, to - border),
                                 sums);
    return build.setBlock(result, sums, border, 0);
  }

  Value products(BlockBuilder &build, WeightedSumOp op, int64_t from, int64_t to,
                 bool reverse) const {
    return RunningProductOp::create(build.builder, build.loc,
                                    build.rows(op.getDecay(), from, to - from), reverse);
  }

  /// A small triangle row by row: row i of the sums sees the values of the rows before it as they
  /// are then, and they decay on. Those that are still to come are 0: the extents stay static.
  Value lowerLeaf(BlockBuilder &build, WeightedSumOp op, int64_t from, int64_t to,
                  Value result) const {
    if (to - from < 2)
      return result;
    OpBuilder &builder = build.builder;
    int64_t count = to - from, width = op.getType().getDimSize(1);
    Value part = build.lower(build.block(op.getMatrix(), from, from, count, count));
    Value values = build.rows(op.getValues(), from, count);
    Value decay = build.rows(op.getDecay(), from, count);
    Value seen = build.setRow(build.zeros({count, width}), build.constant(0),
                              build.row(values, build.constant(0)));
    Value sums = build.loop(
        1, count, {build.zeros({count, width}), seen}, [&](Value row, ValueRange carried) {
          Value sum = linalg::VecmatOp::create(builder, build.loc,
                                               ValueRange{build.row(part, row), carried[1]},
                                               build.row(carried[0], row))
                          ->getResult(0);
          Value decayed = build.multiplyRows(carried[1], build.row(decay, row));
          return SmallVector<Value>{build.setRow(carried[0], row, sum),
                                    build.setRow(decayed, row, build.row(values, row))};
        })[0];
    return build.setBlock(result, sums, from, 0);
  }
};

//===----------------------------------------------------------------------------------------------===//
// Solves
//===----------------------------------------------------------------------------------------------===//

struct LowerSolve : OpRewritePattern<SolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SolveOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    BlockBuilder build(rewriter, op.getLoc(), type.getElementType());
    Value rhs = op.getRhs();
    if (type.getRank() == 1) // a matrix with one column
      rhs =
          tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type.clone({type.getDimSize(0), 1}),
                                        rhs, ArrayRef<ReassociationIndices>{{0, 1}});
    int64_t rows = type.getDimSize(0), width = getType(rhs).getDimSize(1);
    // Blocks of rows: first what the blocks before contribute, then the block itself.
    SmallVector<Value> blocks;
    Value result =
        tensor::EmptyOp::create(rewriter, op.getLoc(), {rows, width}, type.getElementType());
    for (int64_t from = 0; from < rows; from += op.getSubchunk()) {
      int64_t count = std::min<int64_t>(op.getSubchunk(), rows - from);
      Value coefficients = build.rows(op.getMatrix(), from, count),
            block = build.rows(rhs, from, count);
      for (auto [number, earlier] : llvm::enumerate(blocks)) {
        int64_t offset = number * op.getSubchunk(), size = getType(earlier).getDimSize(0);
        Value part = build.block(coefficients, 0, offset, count, size);
        block = linalg::MatmulOp::create(rewriter, op.getLoc(), ValueRange{part, earlier}, block)
                    ->getResult(0);
      }
      blocks.push_back(substitute(build, coefficients, block, from));
      result = build.setBlock(result, blocks.back(), from, 0);
    }
    if (type.getRank() == 1)
      result = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), result,
                                               ArrayRef<ReassociationIndices>{{0, 1}});
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// Row by row inside a block whose coefficients start at column `offset`. Every row walks over
  /// the whole block with coefficients that are 0 from the diagonal on: the extents stay static.
  Value substitute(BlockBuilder &build, Value coefficients, Value block, int64_t offset) const {
    OpBuilder &builder = build.builder;
    Location loc = build.loc;
    int64_t count = getType(block).getDimSize(0);
    Value lower = build.lower(build.block(coefficients, 0, offset, count, count));
    return build.loop(1, count, block, [&](Value row, ValueRange carried) {
      Value solved =
          linalg::VecmatOp::create(builder, loc, ValueRange{build.row(lower, row), carried[0]},
                                   build.row(carried[0], row))
              ->getResult(0);
      return SmallVector<Value>{build.setRow(carried[0], row, solved)};
    })[0];
  }
};

} // namespace

void mlir::linattn::populateBlockOpsToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerBracket, LowerWeightedSum, LowerSolve>(patterns.getContext());
}

void mlir::linattn::populateRunningProductToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerProductOfChannels>(patterns.getContext(), /*benefit=*/2);
  patterns.add<LowerRunningProduct>(patterns.getContext());
}
