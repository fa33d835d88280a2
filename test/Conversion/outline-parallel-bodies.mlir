// A function per parallel loop, with a name that is free; constants move along.

// RUN: la-opt %s --linattn-outline-parallel-bodies | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.+]]: memref<?xf32>
// CHECK:         scf.forall (%[[I:.+]]) in
// CHECK-NEXT:      func.call @[[BODY:rows_body_[0-9]+]](%[[I]], %[[X]])
// CHECK:       func.func @rows_body()
// CHECK:       func.func private @[[BODY]](%[[I:.+]]: index, %[[X:.+]]: memref<?xf32>)
// CHECK-SAME:      llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]
// CHECK:         %[[ONE:.+]] = arith.constant 1.0
// CHECK:         memref.store %[[ONE]], %[[X]][%[[I]]]
func.func @rows(%x: memref<?xf32>, %n: index) {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (%n) {
    memref.store %one, %x[%i] : memref<?xf32>
  }
  return
}
func.func @rows_body() {
  return
}
