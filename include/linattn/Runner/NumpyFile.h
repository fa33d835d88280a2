//===- NumpyFile.h - reading and writing .npy files ---------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_NUMPYFILE_H
#define LINATTN_RUNNER_NUMPYFILE_H

#include "linattn/Runner/HostArray.h"

namespace mlir::linattn {

/// Reads a .npy file (format 1, 2 or 3; little-endian; C or Fortran order, the latter is
/// transposed). The file may be hostile: its header is parsed strictly and its length must be what
/// the header says before anything is allocated. `V2`, which is how NumPy stores bf16, is read as
/// bf16. Errors start with the path.
llvm::Expected<HostArray> readNumpyFile(llvm::StringRef path);

/// Writes a .npy file of format 1 in C order; bf16 as `<V2`. Errors start with the path.
llvm::Error writeNumpyFile(llvm::StringRef path, const HostArray &array);

} // namespace mlir::linattn

#endif // LINATTN_RUNNER_NUMPYFILE_H
