//===- ExpandRows.cpp - reads and writes of several rows, row by row ----------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// A read of R rows is R reads of the same state; a write of R rows is R writes, one after the
// other: what they write was computed before the first of them. The rows of a value that is
// computed elementwise from what was read are computed from single reads, so that the chunk
// derivation sees which write depends on which read, and with which number.
//
//===----------------------------------------------------------------------------------------------===//

#include "ExpandRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::linattn;

/// The rows of a read or write, if it has several and their number is known.
template <typename OpTy> static std::optional<int64_t> getNumRows(OpTy op) {
  auto address = cast<RankedTensorType>(op.getAddress().getType());
  if (!op.hasManyRows() || address.isDynamicDim(0))
    return std::nullopt;
  return address.getDimSize(0);
}

namespace {

class RowExpander {
public:
  explicit RowExpander(RecurrenceOp op) : builder(op.getContext()) {
    for (Operation &nested :
         llvm::make_early_inc_range(op.getBody().front().without_terminator())) {
      builder.setInsertionPoint(&nested);
      loc = nested.getLoc();
      if (auto read = dyn_cast<ReadOp>(nested))
        expand(read);
      else if (auto write = dyn_cast<WriteOp>(nested))
        expand(write);
    }
  }

private:
  void expand(ReadOp read);
  void expand(WriteOp write);
  Value getRow(Value value, int64_t row);
  Value makeRow(Value value, int64_t row);
  Value slice(Value value, int64_t row);
  bool isComputedByRow(Value value);

  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  llvm::DenseMap<std::pair<Value, int64_t>, Value> rows;
  llvm::DenseMap<Value, bool> computedByRow;
};

} // namespace

void RowExpander::expand(ReadOp read) {
  std::optional<int64_t> count = getNumRows(read);
  auto type = cast<RankedTensorType>(read.getResult().getType());
  if (!count || !type.hasStaticShape())
    return;
  Value all = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  SmallVector<Value> single;
  for (int64_t row = 0; row < *count; ++row) {
    Value rho = ReadOp::create(builder, loc, read.getState(), getRow(read.getAddress(), row),
                               read.getAxisAttr());
    single.push_back(rho);
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
        sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape()),
        strides(type.getRank(), builder.getIndexAttr(1));
    offsets[0] = builder.getIndexAttr(row);
    sizes[0] = builder.getIndexAttr(1);
    if (type.getRank() == 1)
      all = tensor::InsertOp::create(builder, loc, rho, all,
                                     arith::ConstantIndexOp::create(builder, loc, row).getResult());
    else
      all = tensor::InsertSliceOp::create(builder, loc, rho, all, offsets, sizes, strides);
  }
  for (auto [row, rho] : llvm::enumerate(single))
    rows[{all, row}] = rho;
  computedByRow[all] = true;
  read.getResult().replaceAllUsesWith(all);
  read.erase();
}

void RowExpander::expand(WriteOp write) {
  std::optional<int64_t> count = getNumRows(write);
  if (!count)
    return;
  Value state = write.getState();
  for (int64_t row = 0; row < *count; ++row)
    state = WriteOp::create(builder, loc, state, getRow(write.getAddress(), row),
                            getRow(write.getValue(), row), write.getAxis());
  write.getResult().replaceAllUsesWith(state);
  write.erase();
}

/// True if a row of `value` says more than a slice of it: it is a read, a number for the whole row,
/// or made of those.
bool RowExpander::isComputedByRow(Value value) {
  if (auto known = computedByRow.find(value); known != computedByRow.end())
    return known->second;
  Operation *def = value.getDefiningOp();
  bool result = def && isa<RankedTensorType>(value.getType());
  if (result && !isa<tensor::SplatOp, linalg::BroadcastOp>(def) &&
      !matchPattern(value, m_Constant<SplatElementsAttr>(nullptr)))
    result = OpTrait::hasElementwiseMappableTraits(def) && def->getNumResults() == 1 &&
             llvm::any_of(def->getOperands(), [&](Value v) { return isComputedByRow(v); });
  return computedByRow[value] = result;
}

Value RowExpander::getRow(Value value, int64_t row) {
  if (Value known = rows.lookup({value, row}))
    return known;
  Value made = makeRow(value, row);
  rows[{value, row}] = made;
  return made;
}

Value RowExpander::makeRow(Value value, int64_t row) {
  if (!isComputedByRow(value))
    return slice(value, row);
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  auto rowType = RankedTensorType::get(type.getShape().drop_front(), element);
  auto fill = [&](Value number) -> Value {
    return rowType.getRank() == 0 ? number
                                  : Value(tensor::SplatOp::create(builder, loc, number, rowType));
  };
  Operation *def = value.getDefiningOp();
  if (auto splat = dyn_cast<tensor::SplatOp>(def))
    return fill(splat.getInput());
  SplatElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return rowType.getRank() == 0
               ? Value(arith::ConstantOp::create(builder, loc, constant.getSplatValue<TypedAttr>()))
               : Value(arith::ConstantOp::create(builder, loc, constant.resizeSplat(rowType)));
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(def)) {
    Value input = broadcast.getInput();
    if (broadcast.getDimensions() == ArrayRef<int64_t>{0} && rowType.getRank() == 1)
      return input; // the same vector in every row
    if (broadcast.getDimensions() == ArrayRef<int64_t>{1})
      return fill(slice(input, row)); // a number per row
    return slice(value, row);
  }
  SmallVector<Value> operands;
  for (Value operand : def->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType()) ? getRow(operand, row) : operand);
  OperationState state(loc, def->getName(), operands,
                       rowType.getRank() == 0 ? element : Type(rowType), def->getAttrs());
  return builder.create(state)->getResult(0);
}

Value RowExpander::slice(Value value, int64_t row) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 1)
    return tensor::ExtractOp::create(builder, loc, value,
                                     arith::ConstantIndexOp::create(builder, loc, row).getResult());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape()),
      strides(type.getRank(), builder.getIndexAttr(1));
  offsets[0] = builder.getIndexAttr(row);
  sizes[0] = builder.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(type.getShape().drop_front(), type.getElementType()),
      value, offsets, sizes, strides);
}

OwningOpRef<RecurrenceOp> linattn::expandRows(RecurrenceOp op) {
  bool hasRows = llvm::any_of(op.getBody().front(), [](Operation &nested) {
    auto read = dyn_cast<ReadOp>(nested);
    auto write = dyn_cast<WriteOp>(nested);
    return (read && getNumRows(read)) || (write && getNumRows(write));
  });
  if (!hasRows)
    return nullptr;
  OwningOpRef<RecurrenceOp> copy(cast<RecurrenceOp>(op->clone()));
  RowExpander{*copy};
  return copy;
}
