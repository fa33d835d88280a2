//===- Lifting.h - values of one token and of a chunk -------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_IR_LIFTING_H
#define LINATTN_IR_LIFTING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace mlir::linattn {

/// What each value of a token has become in a chunk of `rows` tokens: a lifted value with a leading
/// dim of size `rows`, or an invariant value of the same type.
class Lifting {
public:
  /// `firstToken`: index of the chunk's first token in memory inside its segment, for
  /// `linattn.index` of time; null outside of a recurrence. `isReversed`: the last token in memory
  /// is row 0.
  explicit Lifting(int64_t rows, Value firstToken = nullptr, bool isReversed = false)
      : rows(rows), firstToken(firstToken), isReversed(isReversed) {}

  int64_t getRows() const { return rows; }
  /// The index of the token in row `row` inside its segment.
  Value getToken(OpBuilder &builder, Location loc, Value row) const;

  void setLifted(Value token, Value chunk) { values[token] = {chunk, true}; }
  void setInvariant(Value token, Value value) { values[token] = {value, false}; }
  bool contains(Value token) const { return values.contains(token); }
  bool isLifted(Value token) const { return values.lookup(token).second; }
  Value lookup(Value token) const { return values.lookup(token).first; }
  void erase(Value token) { values.erase(token); }

  /// How reads inside of a loop become reads of all tokens; without it they have no lifted form.
  std::function<FailureOr<Value>(Operation *)> liftRead;

  /// The lifted form of a type: a leading dim of size `rows`.
  RankedTensorType getLiftedType(Type type) const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    SmallVector<int64_t> shape{rows};
    if (tensor)
      llvm::append_range(shape, tensor.getShape());
    return RankedTensorType::get(shape, tensor ? tensor.getElementType() : type);
  }

private:
  int64_t rows;
  Value firstToken;
  bool isReversed;
  llvm::DenseMap<Value, std::pair<Value, bool>> values;
};

} // namespace mlir::linattn

#endif // LINATTN_IR_LIFTING_H
