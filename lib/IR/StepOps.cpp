//===- StepOps.cpp - decay, read, write and index -----------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/IR/LinAttn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::linattn;

//===----------------------------------------------------------------------------------------------===//
// Rules that the step ops share
//===----------------------------------------------------------------------------------------------===//

/// Arithmetic is in the state's element type, so an operand may be narrower but not wider.
static LogicalResult verifyElement(Operation *op, StringRef name, Type type,
                                   RankedTensorType state) {
  Type element = getElementTypeOrSelf(type), want = state.getElementType();
  // A complex state takes complex and real operands, a real one only real operands.
  auto wantComplex = dyn_cast<ComplexType>(want), isComplex = dyn_cast<ComplexType>(element);
  Type wantPart = wantComplex ? wantComplex.getElementType() : want;
  Type part = isComplex ? isComplex.getElementType() : element;
  bool fits =
      (part == wantPart || part.getIntOrFloatBitWidth() < wantPart.getIntOrFloatBitWidth()) &&
      (wantComplex || !isComplex);
  if (!fits)
    return op->emitOpError() << "expects " << name << " of the state's element type " << want
                             << " or of a narrower one, got " << type << "; truncate it explicitly";
  return success();
}

static LogicalResult verifyState(Operation *op, RankedTensorType state) {
  if (state.getRank() < 1 || state.getRank() > 2)
    return op->emitOpError() << "expects a state of rank 1 or 2, got " << state;
  return success();
}

static LogicalResult verifyAxis(Operation *op, int64_t axis, RankedTensorType state) {
  if (axis < 0 || axis >= state.getRank())
    return op->emitOpError() << "expects an axis between 0 and " << state.getRank() - 1 << " of "
                             << state << ", got " << axis;
  return success();
}

/// Checks that `type` has the extents `want` (a scalar if empty). Dynamic extents match anything.
static LogicalResult verifyShape(Operation *op, StringRef name, Type type, ArrayRef<int64_t> want,
                                 StringRef meaning) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  ArrayRef<int64_t> got = tensor ? tensor.getShape() : ArrayRef<int64_t>();
  bool isScalar = !tensor;
  bool fits = want.empty() ? isScalar : !isScalar && got.size() == want.size();
  for (auto [g, w] : llvm::zip(got, want))
    fits &= g == w || ShapedType::isDynamic(g) || ShapedType::isDynamic(w);
  if (fits)
    return success();
  InFlightDiagnostic diag = op->emitOpError() << "expects " << name << " to be ";
  if (want.empty()) {
    diag << "a scalar";
  } else {
    diag << "a tensor of shape [";
    llvm::interleaveComma(want, diag, [&](int64_t extent) {
      if (ShapedType::isDynamic(extent))
        diag << "?";
      else
        diag << extent;
    });
    diag << "]";
  }
  return diag << " (" << meaning << "), got " << type;
}

static LogicalResult verifyAddress(Operation *op, RankedTensorType state, RankedTensorType address,
                                   int64_t axis) {
  if (failed(verifyState(op, state)) || failed(verifyAxis(op, axis, state)) ||
      failed(verifyElement(op, "an address", address, state)))
    return failure();
  SmallVector<int64_t> want{state.getDimSize(axis)};
  if (address.getRank() == 2)
    want.insert(want.begin(), address.getDimSize(0));
  return verifyShape(op, "the address", address, want,
                     "the state's extent along axis " + std::to_string(axis));
}

/// Shape of what is read from or written to the state next to `address`: its other axis, once per
/// row.
static SmallVector<int64_t> getValueShape(RankedTensorType state, RankedTensorType address,
                                          int64_t axis) {
  SmallVector<int64_t> shape;
  if (address.getRank() == 2)
    shape.push_back(address.getDimSize(0));
  if (state.getRank() == 2)
    shape.push_back(state.getDimSize(1 - axis));
  return shape;
}

//===----------------------------------------------------------------------------------------------===//
// Decay
//===----------------------------------------------------------------------------------------------===//

LogicalResult DecayOp::verify() {
  RankedTensorType state = getState().getType();
  if (failed(verifyState(*this, state)) ||
      failed(verifyElement(*this, "a decay", getBy().getType(), state)))
    return failure();
  SmallVector<int64_t> want;
  int64_t last = -1;
  for (int64_t axis : getAxes()) {
    if (failed(verifyAxis(*this, axis, state)))
      return failure();
    if (axis <= last)
      return emitOpError() << "expects increasing axes, got " << axis << " after " << last;
    last = axis;
    want.push_back(state.getDimSize(axis));
  }
  return verifyShape(*this, "the decay", getBy().getType(), want,
                     want.empty() ? "without 'along'" : "one entry per index of the axes");
}

/// The constant that fills `value` (a scalar or a splat), if there is one.
static bool isConstantFill(Value value, double fill) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return false;
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    attribute = splat.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(attribute);
  return number &&
         (fill == 0.0 ? number.getValue().isZero() : number.getValue().isExactlyValue(fill));
}

OpFoldResult DecayOp::fold(FoldAdaptor) {
  return isConstantFill(getBy(), getLinear() ? 1.0 : 0.0) ? getState() : Value();
}

namespace {

/// Two decays of the same kind along the same axes in a row are one.
struct MergeDecays : OpRewritePattern<DecayOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DecayOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getState().getDefiningOp<DecayOp>();
    if (!inner || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the state is not a decay of its own");
    if (inner.getAxes() != op.getAxes() || inner.getLinear() != op.getLinear() ||
        inner.getBy().getType() != op.getBy().getType() ||
        !isa<FloatType>(getElementTypeOrSelf(op.getBy())))
      return rewriter.notifyMatchFailure(op, "the decays differ in kind, axes or type");
    if (getElementTypeOrSelf(op.getBy()) != op.getState().getType().getElementType())
      return rewriter.notifyMatchFailure(
          op, "a sum in a narrower type than the state's would be rounded more");
    Value by =
        op.getLinear()
            ? arith::MulFOp::create(rewriter, op.getLoc(), inner.getBy(), op.getBy()).getResult()
            : arith::AddFOp::create(rewriter, op.getLoc(), inner.getBy(), op.getBy()).getResult();
    rewriter.replaceOpWithNewOp<DecayOp>(op, inner.getState(), by, op.getAxes(), op.getLinear());
    return success();
  }
};

/// A decay whose entries are all the same number is a decay by that number: its products leave the
/// brackets of a chunk.
struct UniformDecay : OpRewritePattern<DecayOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DecayOp op, PatternRewriter &rewriter) const override {
    if (op.getAxes().empty())
      return rewriter.notifyMatchFailure(op, "a number already");
    Value number;
    DenseElementsAttr constant;
    if (auto splat = op.getBy().getDefiningOp<tensor::SplatOp>())
      number = splat.getInput();
    else if (auto fill = op.getBy().getDefiningOp<linalg::FillOp>())
      number = fill.value();
    else if (matchPattern(op.getBy(), m_Constant(&constant)) && constant.isSplat() &&
             isa<FloatType>(constant.getElementType()))
      number =
          arith::ConstantOp::create(rewriter, op.getLoc(), constant.getSplatValue<TypedAttr>());
    if (!number || number.getType() != getElementTypeOrSelf(op.getBy()))
      return rewriter.notifyMatchFailure(op, "the entries may differ");
    rewriter.replaceOpWithNewOp<DecayOp>(op, op.getState(), number, ArrayRef<int64_t>(),
                                         op.getLinear());
    return success();
  }
};

} // namespace

void DecayOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeDecays, UniformDecay>(context);
}

//===----------------------------------------------------------------------------------------------===//
// Read and write
//===----------------------------------------------------------------------------------------------===//

LogicalResult ReadOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto state = dyn_cast<RankedTensorType>(adaptor.getState().getType());
  auto address = dyn_cast<RankedTensorType>(adaptor.getAddress().getType());
  int64_t axis = adaptor.getAxis();
  if (!state || !address || state.getRank() < 1 || state.getRank() > 2 || axis < 0 ||
      axis >= state.getRank() || address.getRank() < 1 || address.getRank() > 2)
    return emitOptionalError(
        loc,
        "linattn.read expects a state of rank 1 or 2, one of its axes and an address of "
        "rank 1 or 2, got ",
        adaptor.getState().getType(), ", axis ", axis, " and ", adaptor.getAddress().getType());
  SmallVector<int64_t> shape = getValueShape(state, address, axis);
  types.push_back(shape.empty() ? state.getElementType()
                                : RankedTensorType::get(shape, state.getElementType()));
  return success();
}

LogicalResult ReadOp::verify() {
  return verifyAddress(*this, getState().getType(), cast<RankedTensorType>(getAddress().getType()),
                       getAxis());
}

LogicalResult WriteOp::verify() {
  RankedTensorType state = getState().getType();
  auto address = cast<RankedTensorType>(getAddress().getType());
  if (failed(verifyState(*this, state)))
    return failure();
  if (address.getRank() < 1 || address.getRank() > 2)
    return emitOpError()
           << "expects an address of rank 1, or of rank 2 for several writes at once, got "
           << address;
  if (failed(verifyAddress(*this, state, address, getAxis())) ||
      failed(verifyElement(*this, "a value", getValue().getType(), state)))
    return failure();
  return verifyShape(*this, "the value", getValue().getType(),
                     getValueShape(state, address, getAxis()),
                     "the state's other axis, once per row of the address");
}

OpFoldResult WriteOp::fold(FoldAdaptor) {
  return isConstantFill(getAddress(), 0.0) || isConstantFill(getValue(), 0.0) ? getState()
                                                                              : Value();
}

//===----------------------------------------------------------------------------------------------===//
// Index
//===----------------------------------------------------------------------------------------------===//

LogicalResult IndexOp::verify() {
  auto recurrence = (*this)->getParentOfType<RecurrenceOp>();
  if (!recurrence)
    return emitOpError() << "expects to be in the body of a linattn.recurrence";
  if (getDim() >= recurrence.getNumIterators())
    return emitOpError() << "expects an iteration dim below " << recurrence.getNumIterators()
                         << ", got " << getDim();
  return success();
}
