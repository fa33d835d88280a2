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

// A loop that may have no iterations has its own buffers made only if it runs, not those that others use as well.
// CHECK-LABEL: func.func @used_by_one_loop(
// CHECK-SAME:      %[[N:[a-z0-9]+]]: index
// CHECK:         %[[BOTH:.+]] = memref.alloc() : memref<8xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         %[[RUNS:.+]] = arith.cmpi slt, %{{.+}}, %[[N]]
// CHECK-NEXT:    scf.if %[[RUNS]] {
// CHECK-NEXT:      %[[OWN:.+]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:      scf.for
// CHECK:           memref.dealloc %[[OWN]]
// CHECK-NEXT:    }
// CHECK:         memref.dealloc %[[BOTH]]
func.func @used_by_one_loop(%n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %own = memref.alloc() : memref<4xf32>
  %both = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %v, %own[%c0] : memref<4xf32>
    memref.store %v, %both[%c0] : memref<8xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %v, %both[%i] : memref<8xf32>
  }
  return
}

// A loop with a constant number of iterations runs.
// CHECK-LABEL: func.func @always(
// CHECK-NOT:     scf.if
func.func @always(%v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %own = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %v, %own[%i] : memref<4xf32>
  }
  return
}
