// Independent parallel loops over the same points become one.

// DEFINE: %{bufferize} = one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}
// RUN: la-opt %s --linattn-to-loops --linattn-fuse-parallel-loops | FileCheck %s
// In chunks of 4, down to buffers: still one loop, and no copy of inputs or states (8 x 16).
// RUN: la-opt %s --pass-pipeline="builtin.module(linattn-chunk{chunk=4 subchunk=4},linattn-to-loops,linattn-fuse-parallel-loops,convert-elementwise-to-linalg,linattn-merge-generics,canonicalize,eliminate-empty-tensors,%{bufferize},cse,canonicalize)" | FileCheck %s --check-prefix=BUFFERS
// The last tokens, which fill no chunk, come first in reverse and last otherwise: the chunks of both directions meet.
// RUN: la-opt %s --linattn-chunk="chunk=4 subchunk=4 split-tail" --linattn-to-loops --linattn-fuse-parallel-loops | FileCheck %s --check-prefix=TAILS

#token = affine_map<(b, t, d) -> (b, t, d)>
#state = affine_map<(b, t, k, v) -> (b, k, v)>

// The user of the forward results goes behind the fused loop, and the extents are two values.
// CHECK-LABEL: func.func @both_directions(
// CHECK:         cf.assert
// CHECK:         %[[BOTH:.+]]:4 = scf.forall (%{{.+}}) in (%{{.+}})
// CHECK-COUNT-2:   scf.for %
// CHECK:         %[[HALF:.+]] = arith.mulf %[[BOTH]]#0
// CHECK-NOT:     scf.forall (
// CHECK:         arith.addf %[[HALF]], %[[BOTH]]#2
// CHECK:         return
// TAILS-LABEL: func.func @both_directions(
// TAILS:         cf.assert
// TAILS:         = scf.forall (
// TAILS:           scf.for {{.*}} step %c1
// TAILS:         = scf.forall (
// TAILS:           scf.for {{.*}} step %c4
// TAILS:           scf.for {{.*}} step %c4
// TAILS:         = scf.forall (
// TAILS:           scf.for {{.*}} step %c1
// TAILS-NOT:     = scf.forall (
// TAILS:         arith.mulf
// TAILS:         return
// BUFFERS-LABEL: func.func @both_directions(
// BUFFERS:         scf.forall (
// BUFFERS-NOT:     scf.forall (
// BUFFERS-NOT:     memref.copy {{.*}}memref<8x16x
// BUFFERS-NOT:     memref.copy {{.*}}memref<?x8x16x
// BUFFERS-NOT:     memref.copy {{.*}}memref<?x?x
// BUFFERS:         return
func.func @both_directions(%k: tensor<?x?x8xf32>, %v: tensor<?x?x16xf32>, %o0: tensor<?x?x16xf32>, %o1: tensor<?x?x16xf32>,
    %s0: tensor<?x8x16xf32>, %s1: tensor<?x8x16xf32>, %half: tensor<?x?x16xf32>, %isRight: i1)
    -> (tensor<?x?x16xf32>, tensor<?x8x16xf32>, tensor<?x8x16xf32>) {
  %f, %sf = linattn.recurrence [parallel, time]
      ins(%k via #token : tensor<?x?x8xf32> as %kt : tensor<8xf32>, %v via #token : tensor<?x?x16xf32> as %vt : tensor<16xf32>)
      outs(%o0 via #token : tensor<?x?x16xf32>)
      states(%s0 via #state : tensor<?x8x16xf32> as %S : tensor<8x16xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x16xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<8x16xf32>
  }
  %halves = arith.mulf %f, %half : tensor<?x?x16xf32>
  cf.assert %isRight, "stays before the loop"
  %r, %sr = linattn.recurrence [parallel, time] reverse
      ins(%k via #token : tensor<?x?x8xf32> as %kt : tensor<8xf32>, %v via #token : tensor<?x?x16xf32> as %vt : tensor<16xf32>)
      outs(%o1 via #token : tensor<?x?x16xf32>)
      states(%s1 via #state : tensor<?x8x16xf32> as %S : tensor<8x16xf32>) {
    %ot = linattn.read %S at %kt along 0 : tensor<8x16xf32>, tensor<8xf32>
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<8x16xf32>
  }
  %o = arith.addf %halves, %r : tensor<?x?x16xf32>
  return %o, %sf, %sr : tensor<?x?x16xf32>, tensor<?x8x16xf32>, tensor<?x8x16xf32>
}

// Two are independent, and one needs the first of them.
// CHECK-LABEL: func.func @dependent(
// CHECK:         %[[FIRST:.+]]:2 = scf.forall (%{{.+}}) in (4) shared_outs(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK:         scf.forall (%{{.+}}) in (4) shared_outs(%{{.+}} = %[[FIRST]]#0) -> (tensor<4xf32>)
// CHECK-NOT:     scf.forall (
// CHECK:         return
func.func @dependent(%x: tensor<4xf32>, %a0: tensor<4xf32>, %b0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = scf.forall (%i) in (4) shared_outs(%o = %a0) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  %b = scf.forall (%i) in (4) shared_outs(%o = %b0) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  %c = scf.forall (%i) in (4) shared_outs(%o = %a) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// Through an op between them, inside a region of it.
// CHECK-LABEL: func.func @dependent_through_a_region(
// CHECK-COUNT-2: scf.forall (
// CHECK:         return
func.func @dependent_through_a_region(%which: i1, %x: tensor<4xf32>, %a0: tensor<4xf32>, %b0: tensor<4xf32>) -> tensor<4xf32> {
  %a = scf.forall (%i) in (4) shared_outs(%o = %a0) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  %y = scf.if %which -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %b = scf.forall (%i) in (4) shared_outs(%o = %b0) -> tensor<4xf32> {
    %s = tensor.extract_slice %y[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  return %b : tensor<4xf32>
}

// The second would have to update a copy of what the first reads.
// CHECK-LABEL: func.func @reads_what_the_other_updates(
// CHECK-COUNT-2: scf.forall (
// CHECK:         return
func.func @reads_what_the_other_updates(%x: tensor<4xf32>, %a0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = scf.forall (%i) in (4) shared_outs(%o = %a0) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  %b = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4xf32> {
    %z = arith.constant dense<0.0> : tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %z into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// Other points; and a call with the first result, which cannot be moved.
// CHECK-LABEL: func.func @other_points(
// CHECK-COUNT-3: scf.forall (
// CHECK:         return
func.func private @effect(tensor<4xf32>)
func.func @other_points(%x: tensor<4xf32>, %a0: tensor<4xf32>, %b0: tensor<4xf32>, %c0: tensor<4xf32>, %n: index)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = scf.forall (%i) in (4) shared_outs(%o = %a0) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  %b = scf.forall (%i) in (%n) shared_outs(%o = %b0) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  call @effect(%a) : (tensor<4xf32>) -> ()
  %c = scf.forall (%i) in (4) shared_outs(%o = %c0) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Not known to be the same branch.
// CHECK-LABEL: func.func @other_conditions(
// CHECK:         scf.if %{{.+}} ->
// CHECK:           scf.forall (
// CHECK:         scf.if %{{.+}} ->
// CHECK:           scf.forall (
// CHECK:         return
func.func @other_conditions(%x: tensor<4xf32>, %a0: tensor<4xf32>, %b0: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %isBelow4 = arith.cmpi ult, %n, %c4 : index
  %isBelow5 = arith.cmpi ult, %n, %c5 : index
  %a = scf.if %isBelow4 -> tensor<4xf32> {
    %r = scf.forall (%i) in (4) shared_outs(%o = %a0) -> tensor<4xf32> {
      %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
      scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
    }
    scf.yield %r : tensor<4xf32>
  } else {
    scf.yield %a0 : tensor<4xf32>
  }
  %b = scf.if %isBelow5 -> tensor<4xf32> {
    %r = scf.forall (%i) in (4) shared_outs(%o = %b0) -> tensor<4xf32> {
      %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
      scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32> }
    }
    scf.yield %r : tensor<4xf32>
  } else {
    scf.yield %b0 : tensor<4xf32>
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
