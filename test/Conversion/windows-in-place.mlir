// RUN: la-opt %s --linattn-windows-in-place --canonicalize --split-input-file | FileCheck %s

// The first step makes a line, those after it read the rows of the step before where they are, and
// the last one hands rows on.

// CHECK:       #[[BEFORE3:.+]] = affine_map<(d0) -> (d0 - 3)>
// CHECK-LABEL: func.func @window(
// CHECK-SAME:    %[[X:.+]]: memref<?x2x4xf32>, %[[KEPT:.+]]: memref<3x4xf32>, %[[OUT:.+]]: memref<?x4xf32>, %[[N:.+]]: index)
// CHECK:         %[[LINE:.+]] = memref.alloc() : memref<11x4xf32>
// CHECK:         scf.for %[[T:.+]] = %[[LOW:.+]] to %[[N]] step
// CHECK:           %[[LATER:.+]] = arith.cmpi ne, %[[T]], %[[LOW]]
// CHECK:           %[[ROWS:.+]] = scf.if %[[LATER]] -> (memref<11x4xf32, strided<[?, 1], offset: ?>>) {
// CHECK:             %[[FIRST:.+]] = affine.apply #[[BEFORE3]](%[[T]])
// CHECK:             %[[VIEW:.+]] = memref.subview %[[X]][%[[FIRST]], 1, 0] [11, 1, 4]
// CHECK:             %[[CAST:.+]] = memref.cast %[[VIEW]]
// CHECK:             scf.yield %[[CAST]]
// CHECK:           } else {
// CHECK:             %[[CAST:.+]] = memref.cast %[[LINE]]
// CHECK:             memref.copy %{{.+}}, %{{.+}} : memref<8x4xf32
// CHECK:             memref.copy %[[KEPT]]
// CHECK:             scf.yield %[[CAST]]
// CHECK:           }
// CHECK-DAG:       %[[BEFORE:.+]] = memref.subview %[[ROWS]][2, 0] [8, 4]
// CHECK-DAG:       %[[LAST:.+]] = memref.subview %[[ROWS]][8, 0] [3, 4]
// CHECK:           linalg.add ins(%[[BEFORE]],
// CHECK:           %[[NEXT:.+]] = arith.addi %[[T]]
// CHECK:           %[[IS_LAST:.+]] = arith.cmpi sge, %[[NEXT]], %[[N]]
// CHECK:           scf.if %[[IS_LAST]] {
// CHECK-NEXT:        linalg.copy ins(%[[LAST]] {{.*}}) outs(%[[KEPT]]
func.func @window(%x: memref<?x2x4xf32>, %kept: memref<3x4xf32>, %out: memref<?x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %line = memref.alloc() : memref<11x4xf32>
  scf.for %t = %c0 to %n step %c8 {
    %own = memref.subview %x[%t, 1, 0] [8, 1, 4] [1, 1, 1] : memref<?x2x4xf32> to memref<8x4xf32, strided<[8, 1], offset: ?>>
    %place = memref.subview %line[3, 0] [8, 4] [1, 1] : memref<11x4xf32> to memref<8x4xf32, strided<[4, 1], offset: 12>>
    memref.copy %own, %place : memref<8x4xf32, strided<[8, 1], offset: ?>> to memref<8x4xf32, strided<[4, 1], offset: 12>>
    %front = memref.subview %line[0, 0] [3, 4] [1, 1] : memref<11x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    memref.copy %kept, %front : memref<3x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    %before = memref.subview %line[2, 0] [8, 4] [1, 1] : memref<11x4xf32> to memref<8x4xf32, strided<[4, 1], offset: 8>>
    %to = memref.subview %out[%t, 0] [8, 4] [1, 1] : memref<?x4xf32> to memref<8x4xf32, strided<[4, 1], offset: ?>>
    linalg.add ins(%before, %own : memref<8x4xf32, strided<[4, 1], offset: 8>>, memref<8x4xf32, strided<[8, 1], offset: ?>>)
        outs(%to : memref<8x4xf32, strided<[4, 1], offset: ?>>)
    %last = memref.subview %line[8, 0] [3, 4] [1, 1] : memref<11x4xf32> to memref<3x4xf32, strided<[4, 1], offset: 32>>
    linalg.copy ins(%last : memref<3x4xf32, strided<[4, 1], offset: 32>>) outs(%kept : memref<3x4xf32>)
  }
  memref.dealloc %line : memref<11x4xf32>
  return
}

// -----

// The rows of the step before are no longer what they were.

// CHECK-LABEL: func.func @written(
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @written(%x: memref<?x4xf32>, %kept: memref<3x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %line = memref.alloc() : memref<11x4xf32>
  scf.for %t = %c0 to %n step %c8 {
    %own = memref.subview %x[%t, 0] [8, 4] [1, 1] : memref<?x4xf32> to memref<8x4xf32, strided<[4, 1], offset: ?>>
    %place = memref.subview %line[3, 0] [8, 4] [1, 1] : memref<11x4xf32> to memref<8x4xf32, strided<[4, 1], offset: 12>>
    memref.copy %own, %place : memref<8x4xf32, strided<[4, 1], offset: ?>> to memref<8x4xf32, strided<[4, 1], offset: 12>>
    %front = memref.subview %line[0, 0] [3, 4] [1, 1] : memref<11x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    memref.copy %kept, %front : memref<3x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    %before = memref.subview %line[2, 0] [8, 4] [1, 1] : memref<11x4xf32> to memref<8x4xf32, strided<[4, 1], offset: 8>>
    linalg.exp ins(%before : memref<8x4xf32, strided<[4, 1], offset: 8>>)
        outs(%own : memref<8x4xf32, strided<[4, 1], offset: ?>>)
    %last = memref.subview %line[8, 0] [3, 4] [1, 1] : memref<11x4xf32> to memref<3x4xf32, strided<[4, 1], offset: 32>>
    memref.copy %last, %kept : memref<3x4xf32, strided<[4, 1], offset: 32>> to memref<3x4xf32>
  }
  memref.dealloc %line : memref<11x4xf32>
  return
}

// -----

// What is kept is looked at in every step, or changed.

// CHECK-LABEL: func.func @kept_elsewhere(
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @kept_elsewhere(%x: memref<?x4xf32>, %kept: memref<3x4xf32>, %out: memref<3x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %line = memref.alloc() : memref<11x4xf32>
  scf.for %t = %c0 to %n step %c8 {
    %own = memref.subview %x[%t, 0] [8, 4] [1, 1] : memref<?x4xf32> to memref<8x4xf32, strided<[4, 1], offset: ?>>
    %place = memref.subview %line[3, 0] [8, 4] [1, 1] : memref<11x4xf32> to memref<8x4xf32, strided<[4, 1], offset: 12>>
    memref.copy %own, %place : memref<8x4xf32, strided<[4, 1], offset: ?>> to memref<8x4xf32, strided<[4, 1], offset: 12>>
    %front = memref.subview %line[0, 0] [3, 4] [1, 1] : memref<11x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    memref.copy %kept, %front : memref<3x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    linalg.exp ins(%kept : memref<3x4xf32>) outs(%out : memref<3x4xf32>)
    %last = memref.subview %line[8, 0] [3, 4] [1, 1] : memref<11x4xf32> to memref<3x4xf32, strided<[4, 1], offset: 32>>
    memref.copy %last, %kept : memref<3x4xf32, strided<[4, 1], offset: 32>> to memref<3x4xf32>
  }
  memref.dealloc %line : memref<11x4xf32>
  return
}

// -----

// Steps of two tokens keep three: the last of these are not the step's before.

// CHECK-LABEL: func.func @short_step(
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @short_step(%x: memref<?x4xf32>, %kept: memref<3x4xf32>, %out: memref<2x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %line = memref.alloc() : memref<5x4xf32>
  scf.for %t = %c0 to %n step %c2 {
    %own = memref.subview %x[%t, 0] [2, 4] [1, 1] : memref<?x4xf32> to memref<2x4xf32, strided<[4, 1], offset: ?>>
    %place = memref.subview %line[3, 0] [2, 4] [1, 1] : memref<5x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 12>>
    memref.copy %own, %place : memref<2x4xf32, strided<[4, 1], offset: ?>> to memref<2x4xf32, strided<[4, 1], offset: 12>>
    %front = memref.subview %line[0, 0] [3, 4] [1, 1] : memref<5x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    memref.copy %kept, %front : memref<3x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    %before = memref.subview %line[2, 0] [2, 4] [1, 1] : memref<5x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 8>>
    memref.copy %before, %out : memref<2x4xf32, strided<[4, 1], offset: 8>> to memref<2x4xf32>
    %last = memref.subview %line[2, 0] [3, 4] [1, 1] : memref<5x4xf32> to memref<3x4xf32, strided<[4, 1], offset: 8>>
    memref.copy %last, %kept : memref<3x4xf32, strided<[4, 1], offset: 8>> to memref<3x4xf32>
  }
  memref.dealloc %line : memref<5x4xf32>
  return
}

// -----

// Steps that overlap: the row before a step's first is not the last one of the step before.

// CHECK-LABEL: func.func @other_stride(
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @other_stride(%x: memref<?x4xf32>, %kept: memref<3x4xf32>, %out: memref<8x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %line = memref.alloc() : memref<11x4xf32>
  scf.for %t = %c0 to %n step %c4 {
    %own = memref.subview %x[%t, 0] [8, 4] [1, 1] : memref<?x4xf32> to memref<8x4xf32, strided<[4, 1], offset: ?>>
    %place = memref.subview %line[3, 0] [8, 4] [1, 1] : memref<11x4xf32> to memref<8x4xf32, strided<[4, 1], offset: 12>>
    memref.copy %own, %place : memref<8x4xf32, strided<[4, 1], offset: ?>> to memref<8x4xf32, strided<[4, 1], offset: 12>>
    %front = memref.subview %line[0, 0] [3, 4] [1, 1] : memref<11x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    memref.copy %kept, %front : memref<3x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    %before = memref.subview %line[2, 0] [8, 4] [1, 1] : memref<11x4xf32> to memref<8x4xf32, strided<[4, 1], offset: 8>>
    memref.copy %before, %out : memref<8x4xf32, strided<[4, 1], offset: 8>> to memref<8x4xf32>
    %last = memref.subview %line[8, 0] [3, 4] [1, 1] : memref<11x4xf32> to memref<3x4xf32, strided<[4, 1], offset: 32>>
    memref.copy %last, %kept : memref<3x4xf32, strided<[4, 1], offset: 32>> to memref<3x4xf32>
  }
  memref.dealloc %line : memref<11x4xf32>
  return
}
