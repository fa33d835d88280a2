//===- ScanForms.cpp - states that are scanned or shifted ---------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//
//
// The update of a state is a function of the old state S. Abstract interpretation finds those whose
// compositions have the same form again, so that they are associative scans:
//
//   affine       a S + b, entry by entry         (a' a) S + (a' b + b')
//   matrix       A S + b, with a matrix A        (A' A) S + (A' b + b')
//   max-plus     max(S + a, b)                   max(S + a + a', max(b + a', b'))
//   log-add-exp  log(e^(S + a) + e^b)            the same with log-add-exp for max
//
// a and b may be anything that does not depend on S. A state that only keeps what earlier tokens
// brought is a shift.
//
//===----------------------------------------------------------------------------------------------===//

#include "ScanForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::linattn;

namespace {

/// How a value depends on the state. Ordered: `translated` is S + a, a case of `affine`, which is a
/// case of `matrix`. `exponential` is a e^(S + b) + c, of which only the logarithm is a scan.
enum class Form { independent, translated, affine, matrix, maxPlus, exponential, logAddExp, other };

class FormFinder {
public:
  explicit FormFinder(Value state) { forms[state] = Form::translated; }
  Form get(Value value);

private:
  Form compute(Operation *op);
  Form add(Form a, Form b);
  Form multiply(Form a, Form b);
  Form maximum(Form a, Form b);
  Form getElementwise(linalg::LinalgOp op, OpResult result);
  bool isLogAddExp(arith::AddFOp op);

  static bool isLinear(Form form) {
    return form == Form::translated || form == Form::affine || form == Form::matrix;
  }

  llvm::DenseMap<Value, Form> forms;
};

} // namespace

Form FormFinder::add(Form a, Form b) {
  if (a == Form::independent || b == Form::independent)
    return std::max(a, b);
  if (!isLinear(a) || !isLinear(b))
    return Form::other;
  return std::max({a, b, Form::affine});
}

Form FormFinder::multiply(Form a, Form b) {
  if (a != Form::independent && b != Form::independent)
    return Form::other;
  Form factor = std::max(a, b);
  if (factor == Form::independent || factor == Form::exponential)
    return factor;
  return isLinear(factor) ? std::max(factor, Form::affine) : Form::other;
}

Form FormFinder::maximum(Form a, Form b) {
  for (Form form : {a, b})
    if (form != Form::independent && form != Form::translated && form != Form::maxPlus)
      return Form::other;
  return a == Form::independent && b == Form::independent ? a : Form::maxPlus;
}

/// m + log(e^(x - m) + e^(y - m)) or m + log1p(e^-|x - y|) with m = max(x, y).
bool FormFinder::isLogAddExp(arith::AddFOp op) {
  for (bool swap : {false, true}) {
    auto max = op->getOperand(swap).getDefiningOp<arith::MaximumFOp>();
    Operation *log = op->getOperand(!swap).getDefiningOp();
    if (!max || !isa_and_nonnull<math::LogOp, math::Log1pOp>(log))
      continue;
    Value x = max.getLhs(), y = max.getRhs();
    Form fx = get(x), fy = get(y);
    auto isTerm = [](Form form) { return form == Form::independent || form == Form::translated; };
    if (!isTerm(fx) || !isTerm(fy))
      continue;
    auto isDifference = [](Value value, Value from, Value what) {
      auto difference = value.getDefiningOp<arith::SubFOp>();
      return difference && difference.getLhs() == from && difference.getRhs() == what;
    };
    Value argument = log->getOperand(0);
    if (isa<math::LogOp>(log)) {
      auto sum = argument.getDefiningOp<arith::AddFOp>();
      auto left = sum ? sum.getLhs().getDefiningOp<math::ExpOp>() : nullptr,
           right = sum ? sum.getRhs().getDefiningOp<math::ExpOp>() : nullptr;
      if (!left || !right)
        continue;
      for (auto [a, b] : {std::pair(left, right), std::pair(right, left)})
        if (isDifference(a.getOperand(), x, max) && isDifference(b.getOperand(), y, max))
          return true;
      continue;
    }
    auto exp = argument.getDefiningOp<math::ExpOp>();
    auto negative = exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : nullptr;
    auto absolute = negative ? negative.getOperand().getDefiningOp<math::AbsFOp>() : nullptr;
    if (absolute &&
        (isDifference(absolute.getOperand(), x, y) || isDifference(absolute.getOperand(), y, x)))
      return true;
  }
  return false;
}

/// An op whose loops are all parallel and which meets the state entry by entry: what its body does.
Form FormFinder::getElementwise(linalg::LinalgOp op, OpResult result) {
  if (op.getNumReductionLoops() != 0)
    return Form::other;
  for (OpOperand &operand : op->getOpOperands()) {
    Form form = get(operand.get());
    if (form != Form::independent && !op.getMatchingIndexingMap(&operand).isIdentity())
      return Form::other;
    forms[op.getMatchingBlockArgument(&operand)] = form;
  }
  return get(op.getBlock()->getTerminator()->getOperand(result.getResultNumber()));
}

Form FormFinder::compute(Operation *op) {
  auto operand = [&](unsigned index) { return get(op->getOperand(index)); };
  if (auto sum = dyn_cast<arith::AddFOp>(op); sum && isLogAddExp(sum))
    return Form::logAddExp;
  if (isa<arith::AddFOp, arith::AddIOp, complex::AddOp>(op)) {
    // e^(S + a) + c stays exponential, and a scan that is shifted by a number stays one.
    return add(operand(0), operand(1));
  }
  if (isa<arith::SubFOp, arith::SubIOp, complex::SubOp>(op)) {
    Form right = operand(1);
    return right == Form::independent ? operand(0)
                                      : add(operand(0), multiply(right, Form::independent));
  }
  if (isa<arith::NegFOp, complex::NegOp>(op))
    return multiply(operand(0), Form::independent);
  if (isa<arith::MulFOp, arith::MulIOp, complex::MulOp>(op))
    return multiply(operand(0), operand(1));
  if (isa<arith::DivFOp, complex::DivOp>(op))
    return operand(1) == Form::independent ? multiply(operand(0), Form::independent) : Form::other;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op))
    return maximum(operand(0), operand(1));
  if (isa<math::ExpOp>(op))
    return operand(0) == Form::translated ? Form::exponential : Form::other;
  if (isa<math::LogOp>(op))
    return operand(0) == Form::exponential ? Form::logAddExp : Form::other;
  if (isa<arith::SelectOp>(op) && operand(0) == Form::independent) {
    Form a = operand(1), b = operand(2);
    bool isLinearChoice =
        (a == Form::independent || isLinear(a)) && (b == Form::independent || isLinear(b));
    return isLinearChoice ? std::max({a, b, Form::affine}) : Form::other;
  }
  if (isa<DecayOp>(op))
    return operand(1) == Form::independent ? multiply(operand(0), Form::independent) : Form::other;
  if (auto write = dyn_cast<WriteOp>(op))
    return get(write.getAddress()) == Form::independent &&
                   get(write.getValue()) == Form::independent
               ? add(operand(0), Form::independent)
               : Form::other;
  // What moves entries is a matrix.
  if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::CollapseShapeOp,
          tensor::ExpandShapeOp, tensor::ConcatOp, linalg::TransposeOp>(op)) {
    Form all = Form::matrix;
    for (Value value : op->getOperands())
      if (Form form = get(value); form != Form::independent && !isLinear(form))
        all = Form::other;
    return all;
  }
  return Form::other;
}

Form FormFinder::get(Value value) {
  if (auto known = forms.find(value); known != forms.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  if (!op)
    return forms[value] = Form::independent;
  bool isIndependent = true;
  op->walk([&](Operation *nested) {
    for (Value used : nested->getOperands())
      if (!op->isAncestor(used.getParentBlock()->getParentOp()))
        isIndependent &= get(used) == Form::independent;
  });
  if (isIndependent)
    return forms[value] = Form::independent;
  Form form = compute(op);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (form == Form::other && linalgOp && linalg::isaContractionOpInterface(linalgOp)) {
    // A matrix that does not depend on the state, times the state.
    Form left = get(op->getOperand(0)), right = get(op->getOperand(1)),
         start = get(op->getOperand(2));
    bool isProduct = (left == Form::independent && isLinear(right)) ||
                     (right == Form::independent && isLinear(left)) ||
                     (left == Form::independent && right == Form::independent);
    if (isProduct && (start == Form::independent || isLinear(start)))
      form = Form::matrix;
  } else if (form == Form::other && linalgOp) {
    form = getElementwise(linalgOp, cast<OpResult>(value));
  }
  return forms[value] = form;
}

/// The rows of `value` that are rows of the state, -1 for others; none if it is no list of rows.
static std::optional<SmallVector<int64_t>> getRows(Value value, Value state, int64_t count,
                                                   Value &entering) {
  if (value == state)
    return llvm::to_vector(llvm::seq<int64_t>(0, count));
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op)) {
    auto from = getRows(slice.getSource(), state, count, entering);
    auto isRest = [](ArrayRef<int64_t> list, int64_t wanted) {
      return llvm::all_of(list.drop_front(), [&](int64_t x) { return x == wanted; });
    };
    if (!from || type.getRank() != slice.getSourceType().getRank() ||
        ShapedType::isDynamicShape(slice.getStaticOffsets()) ||
        !isRest(slice.getStaticOffsets(), 0) || !llvm::all_equal(slice.getStaticStrides()) ||
        slice.getStaticStrides().front() != 1 ||
        type.getShape().drop_front() != slice.getSourceType().getShape().drop_front())
      return std::nullopt;
    return SmallVector<int64_t>(
        ArrayRef(*from).slice(slice.getStaticOffsets().front(), type.getDimSize(0)));
  }
  if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op); concat && concat.getDim() == 0) {
    SmallVector<int64_t> rows;
    for (Value part : concat.getInputs()) {
      auto partRows = getRows(part, state, count, entering);
      if (!partRows)
        return std::nullopt;
      rows.append(*partRows);
    }
    return rows;
  }
  // One row of something else.
  if (entering || !type || !type.hasStaticShape() || type.getDimSize(0) != 1)
    return std::nullopt;
  entering = value;
  return SmallVector<int64_t>{-1};
}

/// One row enters behind the others, the first one leaves.
static bool isWindow(RecurrenceOp op, StateInfo &info, FormFinder &finder) {
  Value state = op.getStateArgs()[info.index], next = op.getYieldedStates()[info.index], entering;
  auto type = dyn_cast<RankedTensorType>(state.getType());
  if (!type || !type.hasStaticShape() || type.getRank() == 0)
    return false;
  int64_t count = type.getDimSize(0);
  auto rows = getRows(next, state, count, entering);
  if (!rows || !entering || finder.get(entering) != Form::independent)
    return false;
  for (int64_t row = 0; row < count; ++row)
    if ((*rows)[row] != (row + 1 < count ? row + 1 : -1))
      return false;
  info.entering = entering;
  info.isWindow = true;
  return true;
}

void linattn::classifyByForm(RecurrenceOp op, StateInfo &info) {
  FormFinder finder(op.getStateArgs()[info.index]);
  Value next = op.getYieldedStates()[info.index];
  Form form = finder.get(next);
  auto classify = [&](StateClass stateClass, StringRef name) {
    info.stateClass = stateClass;
    info.form = name;
  };
  auto type = dyn_cast<RankedTensorType>(next.getType());
  bool isStatic = !type || type.hasStaticShape();
  if (form == Form::independent && isStatic) {
    info.entering = next;
    classify(StateClass::shift, "the token before");
  } else if (isWindow(op, info, finder)) {
    classify(StateClass::shift, "the last tokens");
  } else if (form == Form::translated || form == Form::affine) {
    classify(StateClass::scan, "affine");
  } else if (form == Form::matrix) {
    classify(StateClass::scan, "matrix");
  } else if (form == Form::maxPlus) {
    classify(StateClass::scan, "max-plus");
  } else if (form == Form::logAddExp) {
    classify(StateClass::scan, "log-add-exp");
  }
}
