// A tile of three heads would cut through a group of two.

// RUN: la-opt %s --split-input-file --transform-interpreter --verify-diagnostics

#qk = affine_map<(t, h, d) -> (t, h floordiv 2, d)>
#tok = affine_map<(t, h, d) -> (t, h, d)>
#st = affine_map<(t, h, k, v) -> (h, k, v)>
func.func @tile_cuts_groups(%k: tensor<?x3x8xf32>, %o: tensor<?x6x8xf32>, %s: tensor<6x8x8xf32>) -> tensor<?x6x8xf32> {
  // expected-error @below {{cannot be tiled along iteration dim #1: expects tiles of 1, of the whole extent or of a multiple of 2, by which maps divide the dim, got 3}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  // expected-note @below {{when applied to this op}}
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via #qk : tensor<?x3x8xf32> as %kt : tensor<8xf32>)
      outs(%o via #tok : tensor<?x6x8xf32>)
      states(%s via #st : tensor<6x8x8xf32> as %S : tensor<8x8xf32>) {
    %ot = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0 : tensor<?x6x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{failed to apply}}
    %t, %l = transform.structured.tile_using_forall %op tile_sizes [3] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

#qk = affine_map<(t, h, d) -> (t, h floordiv 2, d)>
#tok = affine_map<(t, h, d) -> (t, h, d)>
#st = affine_map<(t, h, k, v) -> (h, k, v)>
func.func @last_tile_is_smaller(%k: tensor<?x4x8xf32>, %o: tensor<?x8x8xf32>, %s: tensor<8x8x8xf32>) -> tensor<?x8x8xf32> {
  // expected-error @below {{cannot be tiled along iteration dim #1: expects tiles of 1, of the whole extent or of a multiple of 2, by which maps divide the dim, got a size that is not constant; choose one that divides the extent}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  // expected-note @below {{when applied to this op}}
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via #qk : tensor<?x4x8xf32> as %kt : tensor<8xf32>)
      outs(%o via #tok : tensor<?x8x8xf32>)
      states(%s via #st : tensor<8x8x8xf32> as %S : tensor<8x8xf32>) {
    %ot = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0 : tensor<?x8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{failed to apply}}
    %t, %l = transform.structured.tile_using_forall %op tile_sizes [3] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @map_runs_backwards(%k: tensor<?x6x8xf32>, %o: tensor<?x6x8xf32>, %s: tensor<6x8x8xf32>) -> tensor<?x6x8xf32> {
  // expected-error @below {{cannot be tiled: the indexing map of operand #0 runs backwards along a parallel dim; expects positive coefficients}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  // expected-note @below {{when applied to this op}}
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via affine_map<(t, h, d) -> (t, 5 - h, d)> : tensor<?x6x8xf32> as %kt : tensor<8xf32>)
      outs(%o via affine_map<(t, h, d) -> (t, h, d)> : tensor<?x6x8xf32>)
      states(%s via affine_map<(t, h, k, v) -> (h, k, v)> : tensor<6x8x8xf32> as %S : tensor<8x8xf32>) {
    %ot = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0 : tensor<?x6x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{failed to apply}}
    %t, %l = transform.structured.tile_using_forall %op tile_sizes [3] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
