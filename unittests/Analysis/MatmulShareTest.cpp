//===- MatmulShareTest.cpp - flops of single ops ------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------===//

#include "linattn/Analysis/MatmulShare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::linattn;

namespace {

/// The flops of a body with 10 rows of K = 4 (%k), V = 6 (%v) and one number (%a), a state %S and a
/// vector %row of K numbers.
StateFlops countIn(const std::string &ops, const std::string &state = "%S") {
  MLIRContext context;
  context.loadDialect<LinAttnDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                      math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  std::string source = R"(
    func.func @main(%k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %a: tensor<?xf32>, %x: tensor<4xf32>,
                    %s: tensor<4x6xf32>) -> tensor<4x6xf32> {
      %r = linattn.recurrence [time] step(%live of 10)
          ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x4xf32> as %k : tensor<10x4xf32>,
              %v via affine_map<(t, d) -> (t, d)> : tensor<?x6xf32> as %v : tensor<10x6xf32>,
              %a via affine_map<(t) -> (t)> : tensor<?xf32> as %a : tensor<10xf32>,
              %x via affine_map<(t, d) -> (d)> : tensor<4xf32> as %row : tensor<4xf32>)
          states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<4x6xf32> as %S : tensor<4x6xf32>) {
        )" + ops + R"(
        linattn.yield )" +
                       state + R"( : tensor<4x6xf32>
      }
      return %r : tensor<4x6xf32>
    })";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    return {-1, -1};
  StateFlops flops;
  module->walk([&](RecurrenceOp op) { flops = countStateFlops(op); });
  return flops;
}

void expectFlops(const std::string &ops, int64_t matmul, int64_t other,
                 const std::string &state = "%S") {
  StateFlops flops = countIn(ops, state);
  EXPECT_EQ(flops.matmul, matmul) << ops;
  EXPECT_EQ(flops.other, other) << ops;
}

TEST(MatmulShare, ReadsAndWrites) {
  expectFlops("%o = linattn.read %S at %k along 0 : tensor<4x6xf32>, tensor<10x4xf32>",
              2 * 10 * 4 * 6, 0);
  expectFlops("%o = linattn.read %S at %row along 0 : tensor<4x6xf32>, tensor<4xf32>", 0,
              2 * 4 * 6);
  expectFlops("%T = linattn.write %S at %v along 1 value %k : tensor<4x6xf32>, tensor<10x6xf32>, "
              "tensor<10x4xf32>",
              2 * 10 * 4 * 6, 0, "%T");
}

TEST(MatmulShare, Decays) {
  expectFlops("%T = linattn.decay %S by linear %row along [0] : tensor<4x6xf32>, tensor<4xf32>", 0,
              4 * 6, "%T");
  expectFlops("%T = linattn.decay %S by %row along [0] : tensor<4x6xf32>, tensor<4xf32>", 0,
              4 * 6 + 4, "%T");
  expectFlops("%p = linattn.running_product %k : tensor<10x4xf32>", 0, 9 * 4);
  expectFlops("%p = linattn.running_product reverse %a : tensor<10xf32>", 0, 9);
}

TEST(MatmulShare, Brackets) {
  // 45 pairs of 10 tokens.
  expectFlops("%B = linattn.bracket %k, %k : tensor<10x4xf32>, tensor<10x4xf32>", 2 * 45 * 4, 0);
  expectFlops("%B = linattn.bracket %k, %k decay %a : tensor<10x4xf32>, tensor<10x4xf32> decay "
              "tensor<10xf32>",
              2 * 45 * 4, 2 * 45);
  // 10 = 5 + 5 and 5 = 3 + 2: a block of 5 x 5, two of 2 x 3, leaves of 3 and 2 rows.
  expectFlops(
      "%B = linattn.bracket %k, %k decay %k subchunk 3 : tensor<10x4xf32>, tensor<10x4xf32> "
      "decay tensor<10x4xf32>",
      2 * 4 * (25 + 2 * 6), 2 * 4 * (10 + 2 * 5) + 3 * 4 * 2 * (3 + 1));
}

TEST(MatmulShare, Solves) {
  // Blocks of 4, 4 and 2 rows: 4 x 4 and 2 x 8 below the diagonal.
  std::string matrix = "%B = linattn.bracket %k, %k : tensor<10x4xf32>, tensor<10x4xf32>\n";
  expectFlops(matrix + "%X = linattn.solve %B, %v subchunk 4 : tensor<10x10xf32>, tensor<10x6xf32>",
              360 + 2 * 6 * (16 + 16), 6 * (12 + 12 + 2));
  expectFlops(matrix + "%x = linattn.solve %B, %a subchunk 4 : tensor<10x10xf32>, tensor<10xf32>",
              360, 2 * (16 + 16) + 12 + 12 + 2);
}

TEST(MatmulShare, OnlyWhatTheStateCosts) {
  // Before the state: the last elementwise op in front of it counts.
  expectFlops(R"(%e = math.exp %k : tensor<10x4xf32>
                 %f = arith.negf %e : tensor<10x4xf32>
                 %o = linattn.read %S at %f along 0 : tensor<4x6xf32>, tensor<10x4xf32>)",
              480, 40);
  // Behind it: everything, but no conversions and selections.
  expectFlops(R"(%o = linattn.read %S at %k along 0 : tensor<4x6xf32>, tensor<10x4xf32>
                 %p = arith.mulf %o, %v : tensor<10x6xf32>
                 %q = arith.truncf %p : tensor<10x6xf32> to tensor<10x6xbf16>
                 %m = arith.negf %q : tensor<10x6xbf16>)",
              480, 120);
  // A projection of inputs is not the state's; a product with what was read is.
  std::string product = R"(
      %zero = arith.constant dense<0.0> : tensor<10x10xf32>
      %t = tensor.empty() : tensor<6x10xf32>
      %T = linalg.transpose ins(%OPERAND : tensor<10x6xf32>) outs(%t : tensor<6x10xf32>) permutation = [1, 0]
      %P = linalg.matmul ins(%v, %T : tensor<10x6xf32>, tensor<6x10xf32>) outs(%zero : tensor<10x10xf32>) -> tensor<10x10xf32>)";
  std::string ofInputs = product, ofReads = product;
  ofInputs.replace(product.find("%OPERAND"), 8, "%v");
  ofReads.replace(product.find("%OPERAND"), 8, "%o");
  std::string read = "%o = linattn.read %S at %k along 0 : tensor<4x6xf32>, tensor<10x4xf32>\n";
  expectFlops(read + ofInputs, 480, 0);
  expectFlops(read + ofReads, 480 + 2 * 10 * 10 * 6, 0);
  expectFlops("%z = arith.constant dense<0.0> : tensor<6xf32>\n"
              "%y = linalg.vecmat ins(%row, %S : tensor<4xf32>, tensor<4x6xf32>) outs(%z : "
              "tensor<6xf32>) -> tensor<6xf32>",
              0, 2 * 4 * 6);
}

TEST(MatmulShare, Loops) {
  // Token by token inside the step.
  expectFlops(R"(%c0 = arith.constant 0 : index
                 %c1 = arith.constant 1 : index
                 %c10 = arith.constant 10 : index
                 %T = scf.for %i = %c0 to %c10 step %c1 iter_args(%U = %S) -> (tensor<4x6xf32>) {
                   %o = linattn.read %U at %row along 0 : tensor<4x6xf32>, tensor<4xf32>
                   %e = math.tanh %o : tensor<6xf32>
                   %W = linattn.write %U at %row along 0 value %e : tensor<4x6xf32>, tensor<4xf32>, tensor<6xf32>
                   scf.yield %W : tensor<4x6xf32>
                 }
                 %p = linattn.read %T at %k along 0 : tensor<4x6xf32>, tensor<10x4xf32>)",
              480, 10 * (48 + 6 + 48), "%T");
}

TEST(MatmulShare, Percent) {
  EXPECT_EQ((StateFlops{0, 0}).getMatmulPercent(), 0);
  EXPECT_EQ((StateFlops{1, 1}).getMatmulPercent(), 50);
  EXPECT_EQ((StateFlops{2, 1}).getMatmulPercent(), 67);
  EXPECT_EQ((StateFlops{int64_t(1) << 62, 0}).getMatmulPercent(), 100);
}

} // namespace
