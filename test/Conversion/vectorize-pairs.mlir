// Products of pairs from linattn-pack-pairs: dot instructions, or arithmetic on the halves of a pair.
//
// DEFINE: %{options} =
// DEFINE: %{run} = la-opt %s --linattn-pack-pairs --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --linattn-vectorize-linalg="%{options}" --canonicalize --cse
// REDEFINE: %{options} = bf16-dot
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,DOT512
// REDEFINE: %{options} = bf16-dot vector-bits=256
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,DOT256
// REDEFINE: %{options} = vector-bits=256
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,NODOT

// Neighbours in a row are loaded at once; rows are interleaved. A block of 8 rows shares a row of pairs.
// CHECK-LABEL: func.func @product(
// CHECK-SAME:      %[[A:[^:]+]]: memref<16x64xbf16>, %[[B:[^:]+]]: memref<64x32xf32>, %[[C:[^:]+]]: memref<16x32xf32>
// CHECK-NOT:     linalg
// CHECK:         %[[PAIRS:.+]] = vector.bitcast %{{.*}} : vector<{{16|32}}xbf16> to vector<{{8|16}}xi32>
// CHECK:         %[[UPPER:.+]] = vector.transfer_read %[[B]]
// CHECK:         %[[LOWER:.+]] = vector.transfer_read %[[B]]
// DOT512:        vector.interleave %{{.*}} : vector<16xbf16> -> vector<32xbf16>
// DOT256:        vector.interleave %{{.*}} : vector<8xbf16> -> vector<16xbf16>
// CHECK:         scf.for %{{.*}} to %c32 step %c1
// DOT512:          %[[PAIR:.+]] = memref.load
// DOT512:          %[[ROW:.+]] = vector.transfer_read {{.*}} : memref<32x32xi32>, vector<32xi32>
// DOT512:          %[[ALL:.+]] = vector.broadcast %[[PAIR]] : i32 to vector<16xi32>
// DOT512:          vector.bitcast %[[ALL]] : vector<16xi32> to vector<32xbf16>
// DOT512-COUNT-16: x86vector.avx512.dot {{.*}} : vector<32xbf16> -> vector<16xf32>
// DOT256-COUNT-8:  x86vector.avx512.dot {{.*}} : vector<16xbf16> -> vector<8xf32>
// DOT512-NOT:      arith.mulf
// NODOT-NOT:       x86vector
// NODOT:           arith.shli %{{.*}} : i32
// NODOT:           arith.shli %{{.*}} : vector<16xi32>
// NODOT:           arith.mulf {{.*}} : vector<16xf32>
// NODOT:           arith.andi
func.func @product(%a: tensor<16x64xbf16>, %b: tensor<64x32xf32>, %c: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %narrow = arith.truncf %b : tensor<64x32xf32> to tensor<64x32xbf16>
  %0 = linalg.matmul ins(%a, %narrow : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%c : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// 20 columns: a full tile of 16 and one of 4 sums. 2 columns are too few for any form of the instruction.
// CHECK-LABEL: func.func @columns(
// DOT512:        x86vector.avx512.dot {{.*}} : vector<32xbf16> -> vector<16xf32>
// DOT512:        arith.mulf {{.*}} : vector<2xf32>
func.func @columns(%a: tensor<1x4xbf16>, %b: tensor<4x20xbf16>, %c: tensor<1x20xf32>, %d: tensor<4x2xbf16>, %e: tensor<1x2xf32>)
    -> (tensor<1x20xf32>, tensor<1x2xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<1x4xbf16>, tensor<4x20xbf16>) outs(%c : tensor<1x20xf32>) -> tensor<1x20xf32>
  %1 = linalg.matmul ins(%a, %d : tensor<1x4xbf16>, tensor<4x2xbf16>) outs(%e : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0, %1 : tensor<1x20xf32>, tensor<1x2xf32>
}
