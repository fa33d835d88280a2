// Rows of the next step are fetched by the loops inside a step, a few cache lines per iteration.

// RUN: la-opt %s --linattn-prefetch-rows --canonicalize --cse --split-input-file | FileCheck %s

// 2 x 4 iterations around the innermost loop for 8 rows of 8 lines: 8 lines per iteration. The last step fetches its own
// rows. Rows that are written are fetched to be written.
// CHECK-LABEL: func @rows(
// CHECK-SAME:    %[[K:.+]]: memref<?x4x128xf32>, %[[O:.+]]: memref<?x4x128xf32>, %[[T:[a-z0-9]+]]: index
// CHECK:       scf.for %[[IV:.+]] = %{{.+}} to %[[T]] step %[[STEP:.+]] {
// CHECK:         %[[SUM:.+]] = arith.addi %[[IV]], %[[STEP]]
// CHECK:         %[[LAST:.+]] = arith.cmpi sge, %[[SUM]], %[[T]]
// CHECK:         %[[NEXT:.+]] = arith.select %[[LAST]], %[[IV]], %[[SUM]]
// CHECK:         scf.for
// CHECK-NOT:       memref.prefetch
// CHECK:           scf.for
// CHECK:             %[[ROW:.+]] = affine.apply #{{.+}}(%[[NEXT]],
// CHECK:             memref.prefetch %[[K]][%[[ROW]], %{{.+}}, %{{.+}}], read, locality<2>, data
// CHECK-COUNT-7:     memref.prefetch %[[K]]
// CHECK-NOT:         memref.prefetch %[[K]]
// CHECK-COUNT-8:     memref.prefetch %[[O]][%{{.+}}, %{{.+}}, %{{.+}}], write
// CHECK-NOT:         memref.prefetch
// CHECK:             scf.for
func.func @rows(%k: memref<?x4x128xf32>, %o: memref<?x4x128xf32>, %T: index, %h: index, %s: memref<8x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  scf.for %t = %c0 to %T step %c8 {
    %rows = memref.subview %k[%t, %h, 0] [8, 1, 128] [1, 1, 1] : memref<?x4x128xf32> to memref<8x128xf32, strided<[512, 1], offset: ?>>
    %outs = memref.subview %o[%t, %h, 0] [8, 1, 128] [1, 1, 1] : memref<?x4x128xf32> to memref<8x128xf32, strided<[512, 1], offset: ?>>
    scf.for %j = %c0 to %c2 step %c1 {
      scf.for %i = %c0 to %c128 step %c32 {
        scf.for %d = %c0 to %c8 step %c1 {
          %x = memref.load %rows[%d, %i] : memref<8x128xf32, strided<[512, 1], offset: ?>>
          memref.store %x, %outs[%d, %i] : memref<8x128xf32, strided<[512, 1], offset: ?>>
        }
      }
    }
  }
  return
}

// -----

// Nothing to fetch: rows that stay, a part of dynamic size, and no loop inside.
// CHECK-LABEL: func @nothing(
// CHECK-NOT: memref.prefetch
func.func @nothing(%k: memref<?x128xf32>, %T: index, %live: index, %s: memref<8x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  scf.for %t = %c0 to %T step %c8 {
    %same = memref.subview %k[0, 0] [8, 128] [1, 1] : memref<?x128xf32> to memref<8x128xf32, strided<[128, 1]>>
    %part = memref.subview %k[%t, 0] [%live, 128] [1, 1] : memref<?x128xf32> to memref<?x128xf32, strided<[128, 1], offset: ?>>
    scf.for %i = %c0 to %c2 step %c1 {
      scf.for %d = %c0 to %c8 step %c1 {
        %x = memref.load %same[%d, %i] : memref<8x128xf32, strided<[128, 1]>>
        memref.store %x, %part[%d, %i] : memref<?x128xf32, strided<[128, 1], offset: ?>>
      }
    }
  }
  scf.for %t = %c0 to %T step %c8 {
    %rows = memref.subview %k[%t, 0] [8, 128] [1, 1] : memref<?x128xf32> to memref<8x128xf32, strided<[128, 1], offset: ?>>
    memref.copy %rows, %s : memref<8x128xf32, strided<[128, 1], offset: ?>> to memref<8x128xf32>
  }
  return
}
