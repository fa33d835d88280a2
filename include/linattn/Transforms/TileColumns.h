//===- TileColumns.h - scans over tiles that stay in the cache ----------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#ifndef LINATTN_TRANSFORMS_TILECOLUMNS_H
#define LINATTN_TRANSFORMS_TILECOLUMNS_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::linattn {
class RecurrenceOp;

struct TileColumnsOptions {
  int64_t bytes = 32 * 1024; ///< what the states and constants of a tile may take
  int64_t columns = 64;      ///< tiles are multiples of this
};

/// `splitValue` of a recurrence that runs token by token, for tiles that fit `options`. Fails, and
/// leaves the op alone, if all of it fits or if its columns cannot be computed apart.
LogicalResult tileColumns(RewriterBase &rewriter, RecurrenceOp op,
                          const TileColumnsOptions &options);

} // namespace mlir::linattn

#endif // LINATTN_TRANSFORMS_TILECOLUMNS_H
