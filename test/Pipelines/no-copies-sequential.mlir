// The loop over the tokens of a chunk works in place, too: it copies no state (16 x 24) and allocates
// nothing. States in a circle, one of them of the token before, and a chunk that they feed.

// RUN: la-opt %s --pass-pipeline="builtin.module(linattn-chunk{chunk=8 subchunk=4},linattn-to-loops,convert-elementwise-to-linalg,linattn-merge-generics,canonicalize,eliminate-empty-tensors,one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map},cse,canonicalize,func.func(buffer-hoisting,buffer-loop-hoisting,promote-buffers-to-stack{max-alloc-size-in-bytes=262144 max-rank-of-allocated-memref=2}))" | FileCheck %s

#row = affine_map<(b, t, d) -> (b, t, d)>
#mat = affine_map<(b, t, k, v) -> (b, k, v)>

// CHECK-LABEL: func.func @main
// CHECK:     scf.forall
// CHECK-NOT: copy {{.*}}memref<16x24xf32
// CHECK-NOT: memref.alloc(
// CHECK:       scf.for
// CHECK-NOT: copy {{.*}}memref<16x24xf32
// CHECK-NOT: memref.alloc(
// CHECK:         scf.for %{{.+}} = %c0 to %{{[0-9]+}} step %c1
// CHECK-NOT: copy {{.*}}memref<16x24xf32
// CHECK-NOT: memref.alloc(
// CHECK:     return
func.func @main(%k: tensor<?x?x16xf32>, %v: tensor<?x?x24xf32>, %o: tensor<?x?x24xf32>,
    %a0: tensor<?x16x24xf32>, %b0: tensor<?x16x24xf32>, %l0: tensor<?x16xf32>, %s0: tensor<?x16x24xf32>)
    -> (tensor<?x?x24xf32>, tensor<?x16x24xf32>, tensor<?x16x24xf32>, tensor<?x16xf32>, tensor<?x16x24xf32>) {
  %r:5 = linattn.recurrence [parallel, time]
      ins(%k via #row : tensor<?x?x16xf32> as %kt : tensor<16xf32>, %v via #row : tensor<?x?x24xf32> as %vt : tensor<24xf32>)
      outs(%o via #row : tensor<?x?x24xf32>)
      states(%a0 via #mat : tensor<?x16x24xf32> as %A : tensor<16x24xf32>, %b0 via #mat : tensor<?x16x24xf32> as %B : tensor<16x24xf32>,
             %l0 via affine_map<(b, t, k) -> (b, k)> : tensor<?x16xf32> as %L : tensor<16xf32>,
             %s0 via #mat : tensor<?x16x24xf32> as %S : tensor<16x24xf32>) {
    %rb = linattn.read %B at %L along 0 : tensor<16x24xf32>, tensor<16xf32>
    %A1 = linattn.write %A at %kt along 0 value %rb : tensor<16x24xf32>, tensor<16xf32>, tensor<24xf32>
    // Of the old A, though the new one stands before it.
    %ra = linattn.read %A at %kt along 0 : tensor<16x24xf32>, tensor<16xf32>
    %bounded = math.tanh %ra : tensor<24xf32>
    %B1 = linattn.write %B at %kt along 0 value %bounded : tensor<16x24xf32>, tensor<16xf32>, tensor<24xf32>
    %S1 = linattn.write %S at %kt along 0 value %bounded : tensor<16x24xf32>, tensor<16xf32>, tensor<24xf32>
    %rs = linattn.read %S1 at %kt along 0 : tensor<16x24xf32>, tensor<16xf32>
    %ot = arith.addf %rs, %vt : tensor<24xf32>
    linattn.yield %ot, %A1, %B1, %kt, %S1 : tensor<24xf32>, tensor<16x24xf32>, tensor<16x24xf32>, tensor<16xf32>, tensor<16x24xf32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x?x24xf32>, tensor<?x16x24xf32>, tensor<?x16x24xf32>, tensor<?x16xf32>, tensor<?x16x24xf32>
}
