// A scan over a grid in rows and one in columns read and write the grid where it lies: both in one loop
// over the batch, which copies neither inputs nor states and allocates nothing.

// RUN: la-opt %s --pass-pipeline="builtin.module(linattn-to-loops,linattn-fuse-parallel-loops,convert-elementwise-to-linalg,linattn-merge-generics,canonicalize,eliminate-empty-tensors,one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map},cse,canonicalize,func.func(buffer-hoisting,buffer-loop-hoisting,promote-buffers-to-stack{max-alloc-size-in-bytes=262144 max-rank-of-allocated-memref=2}))" | FileCheck %s

#rows = affine_map<(b, t, d) -> (b, t floordiv 5, t mod 5, d)>
#columns = affine_map<(b, t, d) -> (b, t mod 3, t floordiv 3, d)>
#gate = affine_map<(b, t) -> (b, t)>
#state = affine_map<(b, t, k, v) -> (b, k, v)>

// CHECK-DAG:     #[[ROW:.+]] = affine_map<(d0) -> (d0 floordiv 5)>
// CHECK-DAG:     #[[IN_ROW:.+]] = affine_map<(d0) -> (d0 mod 5)>
// CHECK-DAG:     #[[IN_COLUMN:.+]] = affine_map<(d0) -> (d0 mod 3)>
// CHECK-DAG:     #[[COLUMN:.+]] = affine_map<(d0) -> (d0 floordiv 3)>
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[X:[^:]+]]: memref<?x3x5x8xf32>
// CHECK-NOT:     copy
// CHECK-NOT:     memref.alloc
// CHECK:         scf.forall (%[[BATCH:.+]]) in
// CHECK-NOT:     copy
// CHECK-NOT:     memref.alloc
// CHECK:           scf.for %[[T:.+]] =
// CHECK-DAG:         %[[A:.+]] = affine.apply #[[ROW]](%[[T]])
// CHECK-DAG:         %[[B:.+]] = affine.apply #[[IN_ROW]](%[[T]])
// CHECK:             memref.subview %[[X]][%[[BATCH]], %[[A]], %[[B]], 0] [1, 1, 1, 8]
// CHECK-NOT:     copy
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     scf.forall (
// CHECK:           scf.for %[[T:.+]] =
// CHECK-DAG:         %[[A:.+]] = affine.apply #[[IN_COLUMN]](%[[T]])
// CHECK-DAG:         %[[B:.+]] = affine.apply #[[COLUMN]](%[[T]])
// CHECK:             memref.subview %[[X]][%[[BATCH]], %[[A]], %[[B]], 0] [1, 1, 1, 8]
// CHECK-NOT:     copy
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     scf.forall (
// CHECK:         return
func.func @main(%x: tensor<?x3x5x8xf32>, %g: tensor<?x15xf32>, %o0: tensor<?x3x5x8xf32>, %o1: tensor<?x3x5x8xf32>,
    %s0: tensor<?x8x8xf32>, %s1: tensor<?x8x8xf32>)
    -> (tensor<?x3x5x8xf32>, tensor<?x3x5x8xf32>, tensor<?x8x8xf32>, tensor<?x8x8xf32>) {
  %a, %sa = linattn.recurrence [parallel, time]
      ins(%x via #rows : tensor<?x3x5x8xf32> as %xt : tensor<8xf32>, %g via #gate : tensor<?x15xf32> as %gt : f32)
      outs(%o0 via #rows : tensor<?x3x5x8xf32>)
      states(%s0 via #state : tensor<?x8x8xf32> as %S : tensor<8x8xf32>) {
    %X = linattn.decay %S by %gt : tensor<8x8xf32>, f32
    %S1 = linattn.write %X at %xt along 0 value %xt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %xt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  %b, %sb = linattn.recurrence [parallel, time]
      ins(%x via #columns : tensor<?x3x5x8xf32> as %xt : tensor<8xf32>, %g via #gate : tensor<?x15xf32> as %gt : f32)
      outs(%o1 via #columns : tensor<?x3x5x8xf32>)
      states(%s1 via #state : tensor<?x8x8xf32> as %S : tensor<8x8xf32>) {
    %X = linattn.decay %S by %gt : tensor<8x8xf32>, f32
    %S1 = linattn.write %X at %xt along 0 value %xt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %xt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %a, %b, %sa, %sb : tensor<?x3x5x8xf32>, tensor<?x3x5x8xf32>, tensor<?x8x8xf32>, tensor<?x8x8xf32>
}
