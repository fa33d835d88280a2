// Parallel dims tile; a map that divides a dim restricts the tiles; indices of tiled dims are shifted.

// DEFINE: %{tile} = 2
// DEFINE: %{run} = sed 's/TILE/%{tile}/' %s | la-opt --split-input-file --transform-interpreter --canonicalize --cse
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,TILE2
// REDEFINE: %{tile} = 1
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,TILE1
// REDEFINE: %{tile} = 8
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,TILE8

// TILE2-DAG: #[[$GROUPED:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 floordiv 2, d3)>
// TILE2-DAG: #[[$FUSED:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 * 8 + d3)>
// CHECK-LABEL: func @grouped
// TILE1:       scf.forall (%[[B:.+]], %[[TILE:.+]]) in
// TILE2:       scf.forall (%[[B:.+]], %[[TILE:.+]]) in
// TILE8:       scf.forall (%[[B:.+]]) in
// TILE2:         %[[HEAD:.+]] = affine.apply {{.*}}(%[[TILE]])
// TILE2:         %[[Q:.+]] = tensor.extract_slice %{{.+}}[%[[B]], 0, %[[TILE]], 0] [1, %{{.+}}, 1, 8]
// TILE2:         %[[V:.+]] = tensor.extract_slice %{{.+}} [1, %{{.+}}, 16]
// TILE1:         tensor.extract_slice %{{.+}} [1, %{{.+}}, 8] {{.*}} : tensor<?x?x64xf32>
// TILE8:         tensor.extract_slice %{{.+}}[%[[B]], 0, 0, 0] [1, %{{.+}}, 4, 8]
// CHECK:         linattn.recurrence [parallel, time, parallel]
// TILE2-NEXT:      ins(%[[Q]] via #[[$GROUPED]]
// TILE2-NEXT:          %[[V]] via #[[$FUSED]]
// TILE2:               %[[HEAD]] via {{.*}} : index as %[[OFFSET:.+]] : index)
// TILE2:           %[[LOCAL:.+]] = linattn.index 2
// TILE2:           arith.addi %[[LOCAL]], %[[OFFSET]]
// CHECK:         tensor.parallel_insert_slice
// CHECK:         tensor.parallel_insert_slice
#qk  = affine_map<(b, t, h, d) -> (b, t, h floordiv 2, d)>
#tok = affine_map<(b, t, h, d) -> (b, t, h, d)>
#fused = affine_map<(b, t, h, d) -> (b, t, h * 8 + d)>
#sca = affine_map<(b, t, h) -> (b, t, h)>
#st  = affine_map<(b, t, h, k, v) -> (b, h, k, v)>
func.func @grouped(%q: tensor<?x?x4x8xf32>, %v: tensor<?x?x64xf32>, %g: tensor<?x?x8xf32>,
    %o_init: tensor<?x?x8x8xf32>, %s0: tensor<?x8x8x8xf32>) -> (tensor<?x?x8x8xf32>, tensor<?x8x8x8xf32>) {
  %o, %sT = linattn.recurrence [parallel, time, parallel]
      ins(%q via #qk : tensor<?x?x4x8xf32> as %qt : tensor<8xf32>,
          %v via #fused : tensor<?x?x64xf32> as %vt : tensor<8xf32>,
          %g via #sca : tensor<?x?x8xf32> as %gt : f32)
      outs(%o_init via #tok : tensor<?x?x8x8xf32>)
      states(%s0 via #st : tensor<?x8x8x8xf32> as %S : tensor<8x8xf32>) {
    %h = linattn.index 2
    %hi = arith.index_cast %h : index to i32
    %hf = arith.sitofp %hi : i32 to f32
    %gh = arith.mulf %gt, %hf : f32
    %X = linattn.decay %S by %gh : tensor<8x8xf32>, f32
    %S1 = linattn.write %X at %qt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %o, %sT : tensor<?x?x8x8xf32>, tensor<?x8x8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_forall %op tile_sizes [1, TILE] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
