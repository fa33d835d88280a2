// What is computed from the outs of a recurrence, in its body.

// RUN: la-opt %s --linattn-fuse --split-input-file | FileCheck %s

#vec = affine_map<(b, t, h, d) -> (b, t, h, d)>
#sum = affine_map<(b, t, h, d) -> (b, t, h)>
#st = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

// A norm of what is read, times an input of the same token, with the heads side by side.

// CHECK: #[[FLAT:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 * 8 + d3)>
// CHECK-LABEL: @norm
// CHECK-SAME: %[[V:[^:]+]]: tensor<?x?x4x8xf32>, %[[Z:[^:]+]]: tensor<?x?x4x8xf32>
// CHECK: %[[INIT:.+]] = tensor.empty({{.*}}) : tensor<?x?x32xf32>
// CHECK: %[[R:.+]]:2 = linattn.recurrence
// CHECK: %[[Z]] via #{{.*}} : tensor<?x?x4x8xf32> as %[[ZT:.+]] : tensor<8xf32>
// CHECK: outs(%[[INIT]] via #[[FLAT]] : tensor<?x?x32xf32>)
// CHECK: %[[O:.+]] = linattn.read
// CHECK: %[[SUM:.+]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[O]] : tensor<8xf32>)
// CHECK: %[[NUMBER:.+]] = tensor.extract %[[SUM]][]
// CHECK: %[[Y:.+]] = linalg.generic {{.*}} ins(%[[O]], %[[ZT]] : tensor<8xf32>, tensor<8xf32>)
// CHECK: linattn.yield %[[Y]], %{{.*}} : tensor<8xf32>, tensor<8x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
func.func @norm(%v: tensor<?x?x4x8xf32>, %z: tensor<?x?x4x8xf32>, %s: tensor<?x4x8x8xf32>) -> (tensor<?x?x32xf32>, tensor<?x4x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %B = tensor.dim %v, %c0 : tensor<?x?x4x8xf32>
  %T = tensor.dim %v, %c1 : tensor<?x?x4x8xf32>
  %e = tensor.empty(%B, %T) : tensor<?x?x4x8xf32>
  %r:2 = linattn.recurrence [parallel, time, parallel]
      ins(%v via #vec : tensor<?x?x4x8xf32> as %vt : tensor<8xf32>)
      outs(%e via #vec : tensor<?x?x4x8xf32>)
      states(%s via #st : tensor<?x4x8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %vt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %vt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  %en = tensor.empty(%B, %T) : tensor<?x?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%en : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %n = linalg.generic {indexing_maps = [#vec, #sum], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%r#0 : tensor<?x?x4x8xf32>) outs(%f : tensor<?x?x4xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %a = arith.mulf %x, %x : f32
    %b = arith.addf %acc, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x?x4xf32>
  %y = linalg.generic {indexing_maps = [#vec, #sum, #vec, #vec], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r#0, %n, %z : tensor<?x?x4x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4x8xf32>) outs(%e : tensor<?x?x4x8xf32>) {
  ^bb0(%x: f32, %ss: f32, %g: f32, %out: f32):
    %q = math.rsqrt %ss : f32
    %a = arith.mulf %x, %q : f32
    %b = arith.mulf %a, %g : f32
    linalg.yield %b : f32
  } -> tensor<?x?x4x8xf32>
  %flat = tensor.collapse_shape %y [[0], [1], [2, 3]] : tensor<?x?x4x8xf32> into tensor<?x?x32xf32>
  return %flat, %r#1 : tensor<?x?x32xf32>, tensor<?x4x8x8xf32>
}

// -----

// The out that is used elsewhere, too, stays beside the one that is made of it; the operands of a
// consumer that come behind the recurrence move before it.

#vec = affine_map<(t, d) -> (t, d)>

// CHECK-LABEL: @both
// CHECK-SAME: %[[V:[^:]+]]: tensor<?x8xf32>, %[[D:[^:]+]]: tensor<8xf32>
// CHECK: %[[R:.+]]:3 = linattn.recurrence
// CHECK: linattn.yield %[[O:.+]], %[[Y:.+]], %{{.*}} : tensor<8xf32>, tensor<8xbf16>, tensor<8x8xf32>
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @both(%v: tensor<?x8xf32>, %d: tensor<8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xbf16>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %v, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%T) : tensor<?x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%e via #vec : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %vt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %vt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  %skip = linalg.generic {indexing_maps = [#vec, affine_map<(t, d) -> (d)>, #vec], iterator_types = ["parallel", "parallel"]}
      ins(%v, %d : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %a = arith.mulf %x, %y : f32
    linalg.yield %a : f32
  } -> tensor<?x8xf32>
  %y = arith.addf %r#0, %skip : tensor<?x8xf32>
  %t = arith.truncf %y : tensor<?x8xf32> to tensor<?x8xbf16>
  return %r#0, %t, %r#1 : tensor<?x8xf32>, tensor<?x8xbf16>, tensor<8x8xf32>
}

// -----

// An op that adds to the out in place.

#vec = affine_map<(t, d) -> (t, d)>

// CHECK-LABEL: @adds_in_place
// CHECK: %[[R:.+]]:2 = linattn.recurrence
// CHECK: %[[O:.+]] = linattn.read
// CHECK: %[[Y:.+]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%{{.+}}, %[[O]] : tensor<8xf32>, tensor<8xf32>)
// CHECK: linattn.yield %[[Y]],
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @adds_in_place(%v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %vt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %vt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  %y = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<?x8xf32>) outs(%r#0 : tensor<?x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %a = arith.addf %x, %old : f32
    linalg.yield %a : f32
  } -> tensor<?x8xf32>
  return %y, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}
