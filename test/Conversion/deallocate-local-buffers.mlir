// Buffers that stay in their block are freed at its end; what a function returns is the caller's.

// RUN: la-opt %s --linattn-deallocate-local-buffers | FileCheck %s

// CHECK-LABEL: func.func @local(
// CHECK:         scf.for
// CHECK:           %[[INNER:.+]] = memref.alloc()
// CHECK:           memref.store
// CHECK-NEXT:      memref.dealloc %[[INNER]]
// CHECK:         return
func.func @local(%n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<4xf32>
    memref.store %v, %a[%c0] : memref<4xf32>
  }
  return
}

// CHECK-LABEL: func.func @returned_view(
// CHECK-NOT:     memref.dealloc
func.func @returned_view() -> memref<?xf32> {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.cast %a : memref<4xf32> to memref<?xf32>
  return %b : memref<?xf32>
}

// CHECK-LABEL: func.func @freed(
// CHECK-COUNT-1: memref.dealloc
// CHECK-NOT:     memref.dealloc
func.func @freed() {
  %a = memref.alloc() : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
}
