// Transposed copies in square blocks, and the entries behind them one by one.

// RUN: la-opt %s --linattn-vectorize-linalg=vector-bits=128 | FileCheck %s

// CHECK-LABEL: func.func @rests(
// CHECK-SAME:    %[[A:.+]]: memref<9x6xf32, strided<[8, 1], offset: ?>>, %[[B:.+]]: memref<6x9xf32>)
// CHECK-DAG:     %[[C8:.+]] = arith.constant 8 : index
// CHECK:         scf.for %[[I:.+]] = %{{.+}} to %[[C8]] step
// CHECK:           scf.for %[[J:.+]] =
// CHECK-COUNT-4:     vector.load %[[A]]{{.*}} vector<4xf32>
// CHECK:             %[[R0:.+]] = vector.shuffle %{{.+}}, %{{.+}} [0, 4, 1, 5]
// CHECK:             vector.shuffle %{{.+}}, %{{.+}} [2, 6, 3, 7]
// CHECK-COUNT-6:     vector.shuffle
// CHECK-NOT:         vector.shuffle
// CHECK-COUNT-4:     vector.store %{{.+}}, %[[B]]{{.*}} vector<4xf32>
// CHECK:         memref.subview %[[A]][8, 0] [1, 6] [1, 1]
// CHECK:         memref.subview %[[B]][0, 8] [6, 1] [1, 1]
// CHECK:         memref.subview %[[A]][0, 4] [8, 2] [1, 1]
// CHECK:         memref.subview %[[B]][4, 0] [2, 8] [1, 1]
func.func @rests(%a: memref<9x6xf32, strided<[8, 1], offset: ?>>, %b: memref<6x9xf32>) {
  linalg.transpose ins(%a : memref<9x6xf32, strided<[8, 1], offset: ?>>) outs(%b : memref<6x9xf32>) permutation = [1, 0]
  return
}

// Too narrow, of unknown size, of small entries, or with more to do than a copy.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     vector.shuffle
// CHECK:         return
func.func @others(%a: memref<8x3xf32>, %b: memref<3x8xf32>, %c: memref<?x8xf32>, %d: memref<8x?xf32>, %e: memref<8x8xbf16>, %f: memref<8x8xbf16>,
    %g: memref<8x8xf32>, %h: memref<8x8xf32>) {
  linalg.transpose ins(%a : memref<8x3xf32>) outs(%b : memref<3x8xf32>) permutation = [1, 0]
  linalg.transpose ins(%c : memref<?x8xf32>) outs(%d : memref<8x?xf32>) permutation = [1, 0]
  linalg.transpose ins(%e : memref<8x8xbf16>) outs(%f : memref<8x8xbf16>) permutation = [1, 0]
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%g : memref<8x8xf32>) outs(%h : memref<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  return
}
