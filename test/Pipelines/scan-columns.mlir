// A scan of 200 channels with 16 entries each: a tile of channels in a transposed buffer of its own,
// lanes along the channels, and in the loop over tokens no allocation, no copy, no transposition, no
// call, no sum over lanes, and no exponential of what all tokens share.

// RUN: la-opt %s --pass-pipeline="builtin.module(linattn-to-cpu-pipeline{openmp=false tile-bytes=8192})" --mlir-print-ir-after=linattn-approximate-math -o /dev/null 2>&1 | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK:         scf.forall (%{{.+}}) in (3)
// The 8 channels that are left, in one vector.
// CHECK:         scf.for %{{.+}} = %c0 to %c16 step %c1 iter_args(%{{.+}} = %{{.+}}) -> (vector<8xf32>) {
// CHECK-LABEL: func.func private @main_body(
// CHECK-COUNT-3: memref.alloc() {{.*}} : memref<16x64xf32>
// CHECK:         vector.shuffle
// CHECK:         scf.for %{{.+}} = %c0 to %arg{{[0-9]+}} step %c1 {
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK-NOT:     linalg.
// CHECK-NOT:     math.exp
// CHECK-NOT:     call
// CHECK-NOT:     vector.shuffle
// CHECK-NOT:     vector.reduction
// CHECK:           scf.for %[[N:.+]] = %{{.+}} to %c16 step %c1 iter_args(%{{.+}} = %{{.+}}) -> (vector<64xf32>) {
// CHECK-NOT:         vector.reduction
// CHECK-COUNT-1:     arith.shli
// CHECK-NOT:         arith.shli
// CHECK:             vector.transfer_write %{{.+}}, %{{.+}}[%[[N]], %{{.+}}] {in_bounds = [true]} : vector<64xf32>, memref<16x64xf32>
// CHECK:             scf.yield %{{.+}} : vector<64xf32>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK-NOT:     vector.reduction
// CHECK:         vector.shuffle

#token = affine_map<(t, d) -> (t, d)>
#state = affine_map<(t, d, n) -> (d, n)>
func.func @main(%dt: tensor<?x200xf32>, %a: tensor<200x16xf32>, %b: tensor<?x16xf32>, %c: tensor<?x16xf32>, %o: tensor<?x200xf32>, %s: tensor<200x16xf32>)
    -> (tensor<?x200xf32>, tensor<200x16xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%dt via #token : tensor<?x200xf32> as %dtt : tensor<200xf32>, %a via #state : tensor<200x16xf32> as %at : tensor<200x16xf32>,
          %b via #token : tensor<?x16xf32> as %bt : tensor<16xf32>, %c via #token : tensor<?x16xf32> as %ct : tensor<16xf32>)
      outs(%o via #token : tensor<?x200xf32>)
      states(%s via #state : tensor<200x16xf32> as %S : tensor<200x16xf32>) {
    %size = math.exp %at : tensor<200x16xf32>
    %A = arith.negf %size : tensor<200x16xf32>
    %e = tensor.empty() : tensor<200x16xf32>
    %w = linalg.broadcast ins(%dtt : tensor<200xf32>) outs(%e : tensor<200x16xf32>) dimensions = [1]
    %g = arith.mulf %w, %A : tensor<200x16xf32>
    %X = linattn.decay %S by %g along [0, 1] : tensor<200x16xf32>, tensor<200x16xf32>
    %S1 = linattn.write %X at %dtt along 0 value %bt : tensor<200x16xf32>, tensor<200xf32>, tensor<16xf32>
    %y = linattn.read %S1 at %ct along 1 : tensor<200x16xf32>, tensor<16xf32>
    linattn.yield %y, %S1 : tensor<200xf32>, tensor<200x16xf32>
  }
  return %r#0, %r#1 : tensor<?x200xf32>, tensor<200x16xf32>
}
