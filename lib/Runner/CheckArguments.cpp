//===- CheckArguments.cpp - arguments that a recurrence cannot take -----------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------------------===//

#include "linattn/Runner/CheckArguments.h"

#include "linattn/IR/LinAttn.h"
#include "linattn/Utils/IndexForm.h"

using namespace mlir;
using namespace mlir::linattn;

namespace {

class ArgumentChecker {
public:
  ArgumentChecker(RecurrenceOp op, func::FuncOp function, ArrayRef<HostArray> arguments,
                  ArrayRef<std::string> names)
      : op(op), function(function), arguments(arguments), names(names),
        extents(op.getStaticExtents()), owners(extents.size(), -1) {}

  llvm::Error check();

private:
  /// The position of the function's argument that an operand is, or nothing.
  std::optional<unsigned> getArgument(Value operand) {
    auto arg = dyn_cast<BlockArgument>(operand);
    if (!arg || arg.getOwner() != &function.getBody().front())
      return std::nullopt;
    return arg.getArgNumber();
  }
  std::string describe(unsigned argument) {
    return names[argument] + " (" + arguments[argument].describe() + ")";
  }
  bool isCheckpoint(OpOperand &operand) {
    return operand.getOperandNumber() >= op->getNumOperands() - op.getCheckpoints().size();
  }
  template <typename Check> llvm::Error forEachForm(Check check);
  llvm::Error checkSegments(unsigned argument);

  RecurrenceOp op;
  func::FuncOp function;
  ArrayRef<HostArray> arguments;
  ArrayRef<std::string> names;
  SmallVector<int64_t> extents;
  SmallVector<int> owners; ///< the argument that gave each extent
};

} // namespace

template <typename Check> llvm::Error ArgumentChecker::forEachForm(Check check) {
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> argument = getArgument(operand.get());
    if (!argument || operand.get() == op.getSegments() || !isa<ShapedType>(operand.get().getType()))
      continue;
    SmallVector<IndexForm> forms = *getIndexForms(op.getMap(operand));
    for (auto [position, form] : llvm::enumerate(forms))
      if (llvm::Error error = check(operand, *argument, position, form))
        return error;
  }
  return llvm::Error::success();
}

llvm::Error ArgumentChecker::checkSegments(unsigned argument) {
  const HostArray &offsets = arguments[argument];
  int64_t count = offsets.getNumElements(), tokens = extents[op.getTimeDim()];
  auto fail = [&](const Twine &what) {
    return llvm::createStringError(describe(argument) + ": segment offsets " + what);
  };
  if (count == 0)
    return fail("expect at least one entry, got none");
  if (offsets.getInteger(0) != 0)
    return fail("expect to start at 0, got " + Twine(int64_t(offsets.getInteger(0))));
  for (int64_t i = 1; i < count; ++i)
    if (offsets.getInteger(i) < offsets.getInteger(i - 1))
      return fail("expect not to decrease, got " + Twine(int64_t(offsets.getInteger(i))) +
                  " after " + Twine(int64_t(offsets.getInteger(i - 1))) + " at [" + Twine(i) + "]");
  int64_t last = offsets.getInteger(count - 1);
  if (ShapedType::isStatic(tokens) && last != tokens)
    return fail("expect to end at the number of tokens " + Twine(tokens) + ", got " + Twine(last));
  extents[*op.getSegmentDim()] = count - 1;
  owners[*op.getSegmentDim()] = argument;
  return llvm::Error::success();
}

llvm::Error ArgumentChecker::check() {
  unsigned numIterators = op.getNumIterators();
  auto agree = [&](OpOperand &operand, unsigned argument, size_t position,
                   const IndexForm &form) -> llvm::Error {
    std::optional<unsigned> dim = form.getBareDim();
    if (!dim || *dim >= numIterators || (isCheckpoint(operand) && *dim == op.getTimeDim()))
      return llvm::Error::success();
    int64_t size = arguments[argument].getShape()[position];
    if (ShapedType::isDynamic(extents[*dim])) {
      extents[*dim] = size;
      owners[*dim] = argument;
    }
    if (extents[*dim] == size)
      return llvm::Error::success();
    std::string other = owners[*dim] < 0 ? "the program" : describe(owners[*dim]);
    return llvm::createStringError(describe(argument) + ": dim " + Twine(position) + " is " +
                                   Twine(size) + ", but " + other + " has the extent " +
                                   Twine(extents[*dim]) + " for iteration dim #" + Twine(*dim));
  };
  // Twice: the first argument with a dynamic extent may come before the one that knows better.
  if (llvm::Error error = forEachForm(agree))
    return error;
  if (std::optional<unsigned> segments =
          op.getSegments() ? getArgument(op.getSegments()) : std::nullopt)
    if (llvm::Error error = checkSegments(*segments))
      return error;
  if (llvm::Error error = forEachForm(agree))
    return error;
  return forEachForm([&](OpOperand &operand, unsigned argument, size_t position,
                         const IndexForm &form) -> llvm::Error {
    SmallVector<int64_t> box(extents);
    if (isCheckpoint(operand) && ShapedType::isStatic(box[op.getTimeDim()]))
      box[op.getTimeDim()] = op.getSegments() ? ShapedType::kDynamic
                                              : box[op.getTimeDim()] / *op.getCheckpointInterval();
    // Slices were checked against static sizes; here they count as one index.
    box.resize(op.getMap(operand).getNumDims(), 1);
    auto range = form.getRange(box);
    int64_t size = arguments[argument].getShape()[position];
    if (!range || (range->first >= 0 && range->second < size))
      return llvm::Error::success();
    return llvm::createStringError(describe(argument) + ": dim " + Twine(position) + " is " +
                                   Twine(size) + ", but the indexing map reaches index " +
                                   Twine(range->first < 0 ? range->first : range->second));
  });
}

llvm::Error mlir::linattn::checkArguments(func::FuncOp function, ArrayRef<HostArray> arguments,
                                          ArrayRef<std::string> names) {
  SmallVector<RecurrenceOp> recurrences;
  function.walk([&](RecurrenceOp op) { recurrences.push_back(op); });
  for (RecurrenceOp op : recurrences)
    if (llvm::Error error = ArgumentChecker(op, function, arguments, names).check())
      return error;
  return llvm::Error::success();
}
