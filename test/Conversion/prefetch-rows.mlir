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
// CHECK:             %[[LINE:.+]] = arith.muli %{{.+}}, %[[C8:c8.*]] : index
// CHECK-NEXT:        %[[ROW:.+]] = arith.divui %[[LINE]], %[[C8]]
// CHECK:             %[[TOKEN:.+]] = arith.addi %[[NEXT]], %[[ROW]]
// CHECK:             %[[IN_ROW:.+]] = arith.remui %[[LINE]], %[[C8]]
// CHECK:             %[[COLUMN:.+]] = arith.muli %[[IN_ROW]], %[[C16:.+]] : index
// CHECK:             memref.prefetch %[[K]][%[[TOKEN]], %{{.+}}, %[[COLUMN]]], read, locality<2>, data
// CHECK:             %[[NEIGHBOUR:.+]] = arith.addi %[[COLUMN]], %[[C16]]
// CHECK:             memref.prefetch %[[K]][%[[TOKEN]], %{{.+}}, %[[NEIGHBOUR]]]
// CHECK-COUNT-6:     memref.prefetch %[[K]]
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

// -----

// The state of the next head, in the last of its steps: 2 passes of 16 rows of 8 lines, 4 lines per iteration of the
// innermost loops, as those around them are few.
// CHECK-LABEL: func @next_state(
// CHECK-SAME:    %[[H:[a-z0-9]+]]: index, %[[S:[^:]+]]: memref<4x16x128xf32>, %{{.+}}: memref<?x4x16xf32>, %[[T:[a-z0-9]+]]: index
// CHECK:       %[[NEXT:.+]] = arith.addi %[[H]], %{{.+}}
// CHECK:       scf.for %[[IV:.+]] = %{{.+}} to %[[T]]
// CHECK:         %[[AHEAD:.+]] = arith.addi %[[IV]]
// CHECK:         %[[LAST:.+]] = arith.cmpi sge, %[[AHEAD]], %[[T]]
// CHECK:         scf.for
// CHECK-NEXT:      scf.if %[[LAST]] {
// CHECK-COUNT-4:     memref.prefetch %[[S]][%[[NEXT]], %{{.+}}, %{{.+}}], read, locality<2>, data
// CHECK-NOT:         memref.prefetch
// CHECK:           memref.load
// CHECK:         scf.for
// CHECK-NEXT:      scf.if %[[LAST]] {
// CHECK-COUNT-4:     memref.prefetch %[[S]][%[[NEXT]]
// CHECK-NOT:         memref.prefetch
// CHECK:           memref.store
func.func @next_state(%h: index, %s: memref<4x16x128xf32>, %k: memref<?x4x16xf32>, %T: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %state = memref.subview %s[%h, 0, 0] [1, 16, 128] [1, 1, 1] : memref<4x16x128xf32> to memref<16x128xf32, strided<[128, 1], offset: ?>>
  scf.for %t = %c0 to %T step %c1 {
    %row = memref.subview %k[%t, %h, 0] [1, 1, 16] [1, 1, 1] : memref<?x4x16xf32> to memref<16xf32, strided<[1], offset: ?>>
    %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%sum = %x) -> f32 {
      %y = memref.load %state[%i, %c0] : memref<16x128xf32, strided<[128, 1], offset: ?>>
      %z = memref.load %row[%i] : memref<16xf32, strided<[1], offset: ?>>
      %p = arith.mulf %y, %z : f32
      %n = arith.addf %sum, %p : f32
      scf.yield %n : f32
    }
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %r, %state[%i, %c0] : memref<16x128xf32, strided<[128, 1], offset: ?>>
    }
  }
  return
}

// -----

// One pass over a state, and a small state, need nothing.
// CHECK-LABEL: func @one_pass(
// CHECK-NOT: memref.prefetch
func.func @one_pass(%h: index, %s: memref<4x16x128xf32>, %z: memref<4x16x8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %state = memref.subview %s[%h, 0, 0] [1, 16, 128] [1, 1, 1] : memref<4x16x128xf32> to memref<16x128xf32, strided<[128, 1], offset: ?>>
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %x, %state[%i, %c0] : memref<16x128xf32, strided<[128, 1], offset: ?>>
  }
  return
}

// CHECK-LABEL: func @small_state(
// CHECK-NOT: memref.prefetch
func.func @small_state(%h: index, %z: memref<4x16x8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %small = memref.subview %z[%h, 0, 0] [1, 16, 8] [1, 1, 1] : memref<4x16x8xf32> to memref<16x8xf32, strided<[8, 1], offset: ?>>
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %x, %small[%i, %c0] : memref<16x8xf32, strided<[8, 1], offset: ?>>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %small[%c0, %i] : memref<16x8xf32, strided<[8, 1], offset: ?>>
  }
  return
}
