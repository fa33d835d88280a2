// What computes the inputs of a recurrence, in its body. In `@name`, `%kt` is what the producer made.

// RUN: la-opt %s --linattn-fuse --split-input-file | FileCheck %s

#vec = affine_map<(b, t, h, d) -> (b, t, h, d)>
#sca = affine_map<(b, t, h) -> (b, t, h)>
#st = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

// An op of arith or math stays what it is; of a number per token, it is one of numbers.

// CHECK-LABEL: @elementwise
// CHECK-SAME: %[[A:[^:]+]]: tensor<?x?x4xf32>, %[[K:[^:]+]]: tensor<?x?x4x8xbf16>
// CHECK-NOT: arith.extf
// CHECK: linattn.recurrence
// CHECK-DAG: %[[A]] via #{{.*}} : tensor<?x?x4xf32> as %[[AT:.+]] : f32
// CHECK-DAG: %[[K]] via #{{.*}} : tensor<?x?x4x8xbf16> as %[[KT:.+]] : tensor<8xbf16>
// CHECK-DAG: %[[G:.+]] = math.log %[[AT]] : f32
// CHECK-DAG: %[[KF:.+]] = arith.extf %[[KT]] : tensor<8xbf16> to tensor<8xf32>
// CHECK-DAG: %[[C:.+]] = arith.constant dense<5.000000e-01> : tensor<8xf32>
// CHECK-DAG: %[[KS:.+]] = arith.mulf %[[KF]], %[[C]] : tensor<8xf32>
// CHECK: linattn.decay %{{.*}} by %[[G]]
// CHECK: linattn.write %{{.*}} at %[[KS]]
func.func @elementwise(%a: tensor<?x?x4xf32>, %k: tensor<?x?x4x8xbf16>, %o: tensor<?x?x4x8xf32>, %s: tensor<?x4x8x8xf32>) -> (tensor<?x?x4x8xf32>, tensor<?x4x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %k, %c0 : tensor<?x?x4x8xbf16>
  %T = tensor.dim %k, %c1 : tensor<?x?x4x8xbf16>
  %half = arith.constant 0.5 : f32
  %g = math.log %a : tensor<?x?x4xf32>
  %kf = arith.extf %k : tensor<?x?x4x8xbf16> to tensor<?x?x4x8xf32>
  %scale = tensor.splat %half[%B, %T] : tensor<?x?x4x8xf32>
  %ks = arith.mulf %kf, %scale : tensor<?x?x4x8xf32>
  %r:2 = linattn.recurrence [parallel, time, parallel]
      ins(%g via #sca : tensor<?x?x4xf32> as %gt : f32,
          %ks via #vec : tensor<?x?x4x8xf32> as %kt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x?x4x8xf32>)
      states(%s via #st : tensor<?x4x8x8xf32> as %S : tensor<8x8xf32>) {
    %X = linattn.decay %S by %gt : tensor<8x8xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x4x8xf32>, tensor<?x4x8x8xf32>
}

// -----

// A sum over what a token has, of a key that serves two heads; the fill of the sum is a constant.

#key = affine_map<(b, t, h, d) -> (b, t, h floordiv 2, d)>
#vec = affine_map<(b, t, h, d) -> (b, t, h, d)>
#sum = affine_map<(b, t, h, d) -> (b, t, h)>
#st = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

// CHECK-DAG: #[[KEY:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 floordiv 2, d3)>
// CHECK-LABEL: @sums
// CHECK-SAME: %[[K:[^:]+]]: tensor<?x?x2x8xf32>
// CHECK-NOT: linalg
// CHECK: linattn.recurrence
// CHECK: %[[K]] via #[[KEY]] : tensor<?x?x2x8xf32> as %[[KT:.+]] : tensor<8xf32>
// CHECK: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[SUM:.+]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[KT]] : tensor<8xf32>) outs(%[[ZERO]] : tensor<f32>)
// CHECK: %[[NUMBER:.+]] = tensor.extract %[[SUM]][]
// CHECK: %[[KN:.+]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[KT]] : tensor<8xf32>)
// CHECK: arith.divf %{{.*}}, %[[NUMBER]]
// CHECK: linattn.write %{{.*}} at %[[KN]]
func.func @sums(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x4x8xf32>, %o: tensor<?x?x4x8xf32>, %s: tensor<?x4x8x8xf32>) -> (tensor<?x?x4x8xf32>, tensor<?x4x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %B = tensor.dim %k, %c0 : tensor<?x?x2x8xf32>
  %T = tensor.dim %k, %c1 : tensor<?x?x2x8xf32>
  %e = tensor.empty(%B, %T) : tensor<?x?x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  %n = linalg.generic {indexing_maps = [#vec, #sum], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%k : tensor<?x?x2x8xf32>) outs(%f : tensor<?x?x2xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %a = math.absf %x : f32
    %b = arith.addf %acc, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x?x2xf32>
  %ek = tensor.empty(%B, %T) : tensor<?x?x2x8xf32>
  %kn = linalg.generic {indexing_maps = [#vec, #sum, #vec], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k, %n : tensor<?x?x2x8xf32>, tensor<?x?x2xf32>) outs(%ek : tensor<?x?x2x8xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %a = arith.divf %x, %y : f32
    linalg.yield %a : f32
  } -> tensor<?x?x2x8xf32>
  %r:2 = linattn.recurrence [parallel, time, parallel]
      ins(%kn via #key : tensor<?x?x2x8xf32> as %kt : tensor<8xf32>,
          %v via #vec : tensor<?x?x4x8xf32> as %vt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x?x4x8xf32>)
      states(%s via #st : tensor<?x4x8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %vt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x4x8xf32>, tensor<?x4x8x8xf32>
}

// -----

// Parts of a fused projection, transposed and broadcast tensors: maps alone.

#vec = affine_map<(b, t, h, d) -> (b, t, h, d)>
#sca = affine_map<(b, t, h) -> (b, t, h)>
#st = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

// CHECK-DAG: #[[PART:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 * 8 + d3 + 32)>
// CHECK-DAG: #[[HEADFIRST:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// CHECK-DAG: #[[HEAD:.+]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: @copies
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x?x64xf32>, %[[K:[^:]+]]: tensor<?x4x?x8xf32>, %[[A:[^:]+]]: tensor<4xf32>
// CHECK-NOT: tensor.e{{x|m}}
// CHECK: linattn.recurrence
// CHECK-DAG: %[[X]] via #[[PART]] : tensor<?x?x64xf32> as
// CHECK-DAG: %[[K]] via #[[HEADFIRST]] : tensor<?x4x?x8xf32> as
// CHECK-DAG: %[[A]] via #[[HEAD]] : tensor<4xf32> as
func.func @copies(%x: tensor<?x?x64xf32>, %k: tensor<?x4x?x8xf32>, %a: tensor<4xf32>, %o: tensor<?x?x4x8xf32>, %s: tensor<?x4x8x8xf32>) -> (tensor<?x?x4x8xf32>, tensor<?x4x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %p = tensor.extract_slice %x[0, 0, 32] [%B, %T, 32] [1, 1, 1] : tensor<?x?x64xf32> to tensor<?x?x32xf32>
  %v = tensor.expand_shape %p [[0], [1], [2, 3]] output_shape [%B, %T, 4, 8] : tensor<?x?x32xf32> into tensor<?x?x4x8xf32>
  %e = tensor.empty(%B, %T) : tensor<?x?x4x8xf32>
  %kt = linalg.transpose ins(%k : tensor<?x4x?x8xf32>) outs(%e : tensor<?x?x4x8xf32>) permutation = [0, 2, 1, 3]
  %ea = tensor.empty(%B, %T) : tensor<?x?x4xf32>
  %g = linalg.broadcast ins(%a : tensor<4xf32>) outs(%ea : tensor<?x?x4xf32>) dimensions = [0, 1]
  %r:2 = linattn.recurrence [parallel, time, parallel]
      ins(%kt via #vec : tensor<?x?x4x8xf32> as %kk : tensor<8xf32>,
          %v via #vec : tensor<?x?x4x8xf32> as %vt : tensor<8xf32>,
          %g via #sca : tensor<?x?x4xf32> as %gt : f32)
      outs(%o via #vec : tensor<?x?x4x8xf32>)
      states(%s via #st : tensor<?x4x8x8xf32> as %S : tensor<8x8xf32>) {
    %X = linattn.decay %S by %gt : tensor<8x8xf32>, f32
    %S1 = linattn.write %X at %kk along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %vt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x4x8xf32>, tensor<?x4x8x8xf32>
}

// -----

// The index of a token or an entry, as rotary embeddings use them: outside of the loops of a token.

#vec = affine_map<(t, d) -> (t, d)>

// CHECK-LABEL: @positions
// CHECK-NOT: linalg.index
// CHECK: linattn.recurrence
// CHECK: %[[T:.+]] = linattn.index 0
// CHECK: linalg.generic
// CHECK: arith.index_cast %[[T]]
// CHECK: linalg.index 0
func.func @positions(%k: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %k, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%T) : tensor<?x8xf32>
  %kr = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = linalg.index 0 : index
    %ti = arith.index_cast %t : index to i32
    %tf = arith.sitofp %ti : i32 to f32
    %d = linalg.index 1 : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %a = arith.mulf %tf, %df : f32
    %b = math.cos %a : f32
    %y = arith.mulf %x, %b : f32
    linalg.yield %y : f32
  } -> tensor<?x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%kr via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}
