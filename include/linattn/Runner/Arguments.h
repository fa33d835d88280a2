//===- Arguments.h - arguments from files, literals and seeds -----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_ARGUMENTS_H
#define LINATTN_RUNNER_ARGUMENTS_H

#include "linattn/Runner/HostArray.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::linattn {

/// How the arguments of a function are made, as on the command line. `I` is a position.
struct ArgumentOptions {
  /// `[I=]FILE.npy` or, for scalars, `[I=]VALUE`; without `I`, the position in this list.
  llvm::ArrayRef<std::string> values;
  /// `I=2x33x4x16`: the shape of an argument that does not come from a file.
  llvm::ArrayRef<std::string> shapes;
  /// `I=LO:HI`: the range of a random argument, for integers both ends included.
  llvm::ArrayRef<std::string> ranges;
  /// `I=VALUE`: all elements.
  llvm::ArrayRef<std::string> fills;
  /// Fills what nothing else gives. The values of an argument depend on the seed and its position
  /// only, not on the machine.
  std::optional<uint64_t> seed;
};

/// Splits `I=REST`. Without a leading number and `=`, the position is nothing and all is rest.
std::pair<std::optional<unsigned>, llvm::StringRef> splitPosition(llvm::StringRef text);

/// What messages call each argument: `argument 2 ('%v')`; the name comes from the parser's notes.
llvm::SmallVector<std::string> getArgumentNames(func::FuncOp function, const AsmParserState &state);

/// Makes the arguments; each has the type that the function expects.
llvm::Expected<llvm::SmallVector<HostArray>> makeArguments(func::FuncOp function,
                                                           llvm::ArrayRef<std::string> names,
                                                           const ArgumentOptions &options);

/// Parses `text` as a value for all elements of `array`.
llvm::Error fillArray(HostArray &array, llvm::StringRef text);

} // namespace mlir::linattn

#endif // LINATTN_RUNNER_ARGUMENTS_H
