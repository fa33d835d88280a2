//===- Arguments.cpp - arguments from files, literals and seeds ---------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/Arguments.h"
#include "linattn/Runner/CompiledFunction.h"
#include "linattn/Runner/NumpyFile.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::linattn;

std::pair<std::optional<unsigned>, StringRef> linattn::splitPosition(StringRef text) {
  auto [left, right] = text.split('=');
  unsigned position;
  if (left.size() == text.size() || left.empty() || !llvm::all_of(left, llvm::isDigit) ||
      left.getAsInteger(10, position))
    return {std::nullopt, text};
  return {position, right};
}

SmallVector<std::string> linattn::getArgumentNames(func::FuncOp function,
                                                   const AsmParserState &state) {
  const auto *block = state.getBlockDef(&function.getBody().front());
  SmallVector<std::string> names;
  for (unsigned position = 0; position < function.getNumArguments(); ++position) {
    std::string name = "argument " + std::to_string(position);
    if (block && position < block->arguments.size()) {
      SMRange range = block->arguments[position].loc;
      if (range.isValid())
        name += " ('" + std::string(range.Start.getPointer(), range.End.getPointer()) + "')";
    }
    names.push_back(std::move(name));
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static llvm::Expected<double> parseFloat(StringRef text) {
  double value;
  if (text.getAsDouble(value))
    return llvm::createStringError("expected a number, got '" + text + "'");
  return value;
}

/// Parses an integer that the element type can hold.
static llvm::Expected<__int128> parseInteger(StringRef text, Element element) {
  bool isUnsigned = element == Element::Bool || element >= Element::U8;
  unsigned bits = element == Element::Bool ? 1 : 8 * getElementSize(element);
  llvm::APInt number;
  StringRef digits = text;
  bool negative = digits.consume_front("-");
  if (digits.empty() || !llvm::isDigit(digits.front()) || digits.getAsInteger(10, number) ||
      number.getActiveBits() > 64)
    return llvm::createStringError("expected an integer, got '" + text + "'");
  __int128 value = number.getLimitedValue();
  value = negative ? -value : value;
  __int128 low = isUnsigned ? 0 : -(static_cast<__int128>(1) << (bits - 1));
  __int128 high = (static_cast<__int128>(1) << (isUnsigned ? bits : bits - 1)) - 1;
  if (value < low || value > high)
    return llvm::createStringError("'" + text + "' does not fit in " + getElementName(element));
  return value;
}

llvm::Error linattn::fillArray(HostArray &array, StringRef text) {
  if (isFloat(array.getElement())) {
    auto value = parseFloat(text);
    if (!value)
      return value.takeError();
    for (int64_t i = 0; i < array.getNumElements(); ++i)
      array.setDouble(i, *value);
    return llvm::Error::success();
  }
  auto value = parseInteger(text, array.getElement());
  if (!value)
    return value.takeError();
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    array.setInteger(i, static_cast<uint64_t>(*value));
  return llvm::Error::success();
}

namespace {
/// SplitMix64. The distributions of <random> differ between standard libraries; this does not.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1).
  double nextUnit() { return (next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};
} // namespace

/// Fills with uniform values from `range`, which is `LO:HI` or empty.
static llvm::Error fillRandom(HostArray &array, uint64_t seed, unsigned position, StringRef range) {
  // A seed's streams must not overlap, so that equal types get different values.
  Random random(Random(Random(seed).next() + position).next());
  auto [lowText, highText] = range.split(':');
  if (isFloat(array.getElement())) {
    llvm::Expected<double> low = range.empty() ? -1.0 : parseFloat(lowText);
    if (!low)
      return low.takeError();
    llvm::Expected<double> high = range.empty() ? 1.0 : parseFloat(highText);
    if (!high)
      return high.takeError();
    if (!std::isfinite(*low) || !std::isfinite(*high) || *low > *high)
      return llvm::createStringError("expected a finite range LO:HI with LO <= HI, got '" + range +
                                     "'");
    for (int64_t i = 0; i < array.getNumElements(); ++i)
      array.setDouble(i, *low + (*high - *low) * random.nextUnit());
    return llvm::Error::success();
  }
  if (range.empty())
    return llvm::createStringError("random integers need a range; add --range " + Twine(position) +
                                   "=LO:HI");
  auto low = parseInteger(lowText, array.getElement());
  if (!low)
    return low.takeError();
  auto high = parseInteger(highText, array.getElement());
  if (!high)
    return high.takeError();
  if (*low > *high)
    return llvm::createStringError("expected a range LO:HI with LO <= HI, got '" + range + "'");
  auto width = static_cast<unsigned __int128>(*high - *low) + 1;
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    array.setInteger(i, static_cast<uint64_t>(*low) + static_cast<uint64_t>(random.next() % width));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
/// What the options say about one argument; an empty text: nothing.
struct ArgumentRecipe {
  StringRef value, shape, range, fill;
};
} // namespace

/// Enters `I=TEXT` items of one option into the recipes.
static llvm::Error assign(MutableArrayRef<ArgumentRecipe> recipes, ArrayRef<std::string> items,
                          StringRef ArgumentRecipe::*field, StringRef option, bool mayCount) {
  for (auto [index, item] : llvm::enumerate(items)) {
    auto [given, text] = splitPosition(item);
    if (!given && !mayCount)
      return llvm::createStringError("--" + option + ": expected I=..., got '" + item + "'");
    unsigned position = given.value_or(index);
    if (position >= recipes.size())
      return llvm::createStringError("--" + option + ": '" + item + "' is for argument " +
                                     Twine(position) + ", but the function has " +
                                     Twine(recipes.size()) + " arguments");
    if (text.empty())
      return llvm::createStringError("--" + option + ": '" + item + "' gives nothing");
    StringRef &entry = recipes[position].*field;
    if (!entry.empty())
      return llvm::createStringError("--" + option + ": argument " + Twine(position) +
                                     " is given twice, as '" + entry + "' and '" + text + "'");
    entry = text;
  }
  return llvm::Error::success();
}

static std::string formatType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static llvm::Error checkFile(const HostArray &array, Type type, StringRef path) {
  bool sameShape = array.getShape().empty();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    sameShape = succeeded(verifyCompatibleShape(tensor.getShape(), array.getShape()));
  bool sameElement = holdsType(array.getElement(), getElementTypeOrSelf(type));
  if (sameShape && sameElement)
    return llvm::Error::success();
  std::string text =
      ("file " + path + " holds " + array.describe() + ", the function expects " + formatType(type))
          .str();
  if (sameShape)
    text += "; convert the file's element type, values are never converted on input";
  return llvm::createStringError(text);
}

static llvm::Expected<HostArray> readArgument(StringRef value, Type type) {
  Element element = *getElementFor(getElementTypeOrSelf(type));
  if (!isa<RankedTensorType>(type) && !value.ends_with(".npy")) {
    auto array = HostArray::allocate(element, {});
    if (!array)
      return array.takeError();
    if (llvm::Error error = fillArray(*array, value))
      return error;
    return array;
  }
  auto array = readNumpyFile(value);
  if (!array)
    return array.takeError();
  if (llvm::Error error = checkFile(*array, type, value))
    return error;
  array->reinterpretAs(element);
  return array;
}

/// The shape of an argument that is not read from a file.
static llvm::Expected<SmallVector<int64_t>> parseShape(StringRef text, Type type,
                                                       unsigned position) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  SmallVector<int64_t> shape;
  if (text.empty()) {
    if (!tensor)
      return shape;
    if (!tensor.hasStaticShape())
      return llvm::createStringError("the function expects " + formatType(type) +
                                     "; give its dynamic sizes with --shape " + Twine(position) +
                                     "=...");
    return llvm::to_vector(tensor.getShape());
  }
  for (StringRef part : llvm::split(text, 'x')) {
    int64_t dim;
    if (part.getAsInteger(10, dim) || dim < 0)
      return llvm::createStringError("expected a shape such as 2x33x4, got '" + text + "'");
    shape.push_back(dim);
  }
  if (!tensor || failed(verifyCompatibleShape(tensor.getShape(), shape)))
    return llvm::createStringError("--shape gives " + formatShape(shape) +
                                   ", the function expects " + formatType(type));
  return shape;
}

static llvm::Expected<HostArray> makeArgument(const ArgumentRecipe &recipe, Type type,
                                              unsigned position, std::optional<uint64_t> seed) {
  bool fromFile = !recipe.value.empty(), filled = !recipe.fill.empty();
  if (fromFile && (filled || !recipe.shape.empty() || !recipe.range.empty()))
    return llvm::createStringError("given by --arg as '" + recipe.value +
                                   "', so --fill, --shape and --range do not apply");
  if (filled && !recipe.range.empty())
    return llvm::createStringError("--fill and --range exclude each other");
  if (fromFile)
    return readArgument(recipe.value, type);
  if (!filled && !seed)
    return llvm::createStringError("no value of type " + formatType(type) +
                                   " is given; use --arg, --fill or --random SEED");

  auto shape = parseShape(recipe.shape, type, position);
  if (!shape)
    return shape.takeError();
  auto array = HostArray::allocate(*getElementFor(getElementTypeOrSelf(type)), *shape);
  if (!array)
    return array.takeError();
  if (llvm::Error error = filled ? fillArray(*array, recipe.fill)
                                 : fillRandom(*array, *seed, position, recipe.range))
    return error;
  return array;
}

llvm::Expected<SmallVector<HostArray>> linattn::makeArguments(func::FuncOp function,
                                                              ArrayRef<std::string> names,
                                                              const ArgumentOptions &options) {
  if (llvm::Error error = checkSignature(function))
    return error;
  SmallVector<ArgumentRecipe> recipes(function.getNumArguments());
  if (llvm::Error error =
          assign(recipes, options.values, &ArgumentRecipe::value, "arg", /*mayCount=*/true))
    return error;
  if (llvm::Error error =
          assign(recipes, options.shapes, &ArgumentRecipe::shape, "shape", /*mayCount=*/false))
    return error;
  if (llvm::Error error =
          assign(recipes, options.ranges, &ArgumentRecipe::range, "range", /*mayCount=*/false))
    return error;
  if (llvm::Error error =
          assign(recipes, options.fills, &ArgumentRecipe::fill, "fill", /*mayCount=*/false))
    return error;

  SmallVector<HostArray> arguments;
  for (auto [position, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto argument = makeArgument(recipes[position], type, position, options.seed);
    if (!argument)
      return llvm::createStringError(names[position] + ": " + llvm::toString(argument.takeError()));
    arguments.push_back(std::move(*argument));
  }
  return std::move(arguments);
}
