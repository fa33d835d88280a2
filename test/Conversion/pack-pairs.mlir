// RUN: la-opt %s --linattn-pack-pairs --split-input-file | FileCheck %s

// What two products use is packed once; an operand that is rounded is rounded where it is packed.
// CHECK-DAG:   #[[EVEN_ROW:.*]] = affine_map<(d0, d1) -> (d0 * 2, d1)>
// CHECK-DAG:   #[[ODD_ROW:.*]] = affine_map<(d0, d1) -> (d0 * 2 + 1, d1)>
// CHECK-DAG:   #[[EVEN:.*]] = affine_map<(d0, d1) -> (d0, d1 * 2)>
// CHECK-DAG:   #[[ODD:.*]] = affine_map<(d0, d1) -> (d0, d1 * 2 + 1)>
// CHECK-LABEL: func.func @two_products(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<16x64xbf16>, %[[B:[^:]*]]: tensor<64x32xf32>
// CHECK:       %[[PA:.*]] = linalg.generic {indexing_maps = [#[[EVEN]], #[[ODD]], #{{.*}}]{{.*}} ins(%[[A]], %[[A]] : {{.*}}) outs(%{{.*}} : tensor<16x32xi32>)
// CHECK:         arith.bitcast %{{.*}} : bf16 to i16
// CHECK:       %[[PB:.*]] = linalg.generic {indexing_maps = [#[[EVEN_ROW]], #[[ODD_ROW]], #{{.*}}]{{.*}} ins(%[[B]], %[[B]] : {{.*}}) outs(%{{.*}} : tensor<32x32xi32>)
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
// CHECK:       %[[FIRST:.*]] = linalg.generic {{.*}} ins(%[[PA]], %[[PB]] : tensor<16x32xi32>, tensor<32x32xi32>) outs(%{{.*}} : tensor<16x32xf32>)
// CHECK:         arith.shli
// CHECK:         arith.mulf {{.*}} fastmath<contract>
// CHECK:       linalg.generic {{.*}} ins(%[[PA]], %[[PB]] : tensor<16x32xi32>, tensor<32x32xi32>) outs(%[[FIRST]] : tensor<16x32xf32>)
func.func @two_products(%a: tensor<16x64xbf16>, %b: tensor<64x32xf32>, %c: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %narrow = arith.truncf %b : tensor<64x32xf32> to tensor<64x32xbf16>
  %0 = linalg.matmul ins(%a, %narrow : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%c : tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = linalg.matmul ins(%a, %narrow : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%0 : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}

// -----

// An odd extent gets a row of zeros.
// CHECK-LABEL: func.func @odd_extent(
// CHECK:       %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<8x4xbf16>
// CHECK:       tensor.insert_slice %{{.*}} into %[[ZEROS]][0, 0] [7, 4] [1, 1]
// CHECK:       outs(%{{.*}} : tensor<4x4xi32>)
// CHECK:       ins(%{{.*}} : tensor<4x4xi32>, tensor<4x6xi32>) outs(%{{.*}} : tensor<4x6xf32>)
func.func @odd_extent(%a: tensor<7x4xbf16>, %b: tensor<7x6xbf16>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(t, i, j) -> (t, i)>, affine_map<(t, i, j) -> (t, j)>, affine_map<(t, i, j) -> (i, j)>],
                       iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%a, %b : tensor<7x4xbf16>, tensor<7x6xbf16>) outs(%c : tensor<4x6xf32>) {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %l = arith.extf %x : bf16 to f32
    %r = arith.extf %y : bf16 to f32
    %p = arith.mulf %l, %r : f32
    %n = arith.addf %s, %p : f32
    linalg.yield %n : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// Rows of rows are pairs already; a copy in f32 is not needed.
// CHECK-LABEL: func.func @rows_by_rows(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<16x64xbf16>, %[[B:[^:]*]]: tensor<32x64xbf16>
// CHECK-NOT:   i32
// CHECK:       linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<16x64xbf16>, tensor<32x64xbf16>)
func.func @rows_by_rows(%a: tensor<16x64xbf16>, %b: tensor<32x64xbf16>, %c: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %wide = arith.extf %b : tensor<32x64xbf16> to tensor<32x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %wide : tensor<16x64xbf16>, tensor<32x64xf32>) outs(%c : tensor<16x32xf32>) {
  ^bb0(%x: bf16, %y: f32, %s: f32):
    %l = arith.extf %x : bf16 to f32
    %p = arith.mulf %l, %y : f32
    %n = arith.addf %s, %p : f32
    linalg.yield %n : f32
  } -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

// Left alone: a product in f32 of what was bf16, which nobody asked to round; sums in bf16; a vector; an unknown extent.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:   i32
// CHECK:       linalg.matmul {{.*}} tensor<8x4xf32>, tensor<4x8xf32>
// CHECK:       linalg.matmul {{.*}} outs(%{{.*}} : tensor<8x8xbf16>)
// CHECK:       linalg.matvec
// CHECK:       linalg.matmul {{.*}} tensor<8x?xbf16>
func.func @others(%a: tensor<8x4xbf16>, %b: tensor<4x8xbf16>, %v: tensor<4xbf16>, %d: tensor<8x?xbf16>, %e: tensor<?x8xbf16>,
                  %c: tensor<8x8xf32>, %n: tensor<8x8xbf16>, %s: tensor<8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xbf16>, tensor<8xf32>, tensor<8x8xf32>) {
  %x = arith.extf %a : tensor<8x4xbf16> to tensor<8x4xf32>
  %y = arith.extf %b : tensor<4x8xbf16> to tensor<4x8xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<8x4xf32>, tensor<4x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<8x4xbf16>, tensor<4x8xbf16>) outs(%n : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %2 = linalg.matvec ins(%a, %v : tensor<8x4xbf16>, tensor<4xbf16>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %3 = linalg.matmul ins(%d, %e : tensor<8x?xbf16>, tensor<?x8xbf16>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xbf16>, tensor<8xf32>, tensor<8x8xf32>
}
