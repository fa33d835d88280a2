// A schedule that splits, plans and chunks one recurrence of two, and follows its handle.

// RUN: la-opt %s --transform-interpreter --split-input-file | FileCheck %s

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// CHECK-LABEL: func @one_of_two
// CHECK:       linattn.recurrence [time, parallel] step(%{{.+}} of 8)
// CHECK:         states({{.*}} as %{{.+}} : tensor<16x4xf32>)
// CHECK-NEXT:    attributes {chosen}
// CHECK:         linattn.solve {{.*}} subchunk 4
// CHECK:       linattn.recurrence [time]{{$}}
func.func @one_of_two(%k: tensor<?x16xf32>, %v: tensor<?x8xf32>, %s: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) attributes {chosen} {
    %r = linattn.read %S at %kt along 0 : tensor<16x8xf32>, tensor<16xf32>
    %d = arith.subf %vt, %r : tensor<8xf32>
    %S1 = linattn.write %S at %kt along 0 value %d : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<16x8xf32>
  }
  %b = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%a via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<16x8xf32>
  }
  return %b : tensor<16x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} attributes {chosen} in %root : (!transform.any_op) -> !transform.any_op
    %split = transform.linattn.split_value %op tile 4 : (!transform.any_op) -> !transform.any_op
    %chunk = transform.linattn.chunk %split {chunk = 8, subchunk = 4} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// A plan that is not the user's is replaced, and the later ops follow the new one: its sizes win over
// those of the script.
// CHECK-LABEL: func @plan
// CHECK:       linattn.recurrence [time, parallel] step(%{{.+}} of 4)
// CHECK:         states({{.*}} as %{{.+}} : tensor<16x2xf32>)
// CHECK-NEXT:    attributes {plan = #linattn.plan<strategy = chunk, chunk = 4, subchunk = 4, value_tile = 2>}
func.func @plan(%k: tensor<?x16xf32>, %v: tensor<?x8xf32>, %s: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) attributes {plan = #linattn.plan<strategy = token, source = model>} {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<16x8xf32>
  }
  return %a : tensor<16x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.linattn.apply_plan #linattn.plan<strategy = chunk, chunk = 4, subchunk = 4, value_tile = 2> to %op : !transform.any_op
    %split = transform.linattn.split_value %op tile 8 : (!transform.any_op) -> !transform.any_op
    %chunk = transform.linattn.chunk %split : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// The plan's split wins over the script's parts, and its chunk says where parts end: 40 tokens are 3
// parts of 16, 16 and 8. Handles go to the sums, the starts and the outputs.
// CHECK-LABEL: func @parts_of_time
// CHECK-DAG:   %[[FIRST:.+]] = arith.constant 16 : i64
// CHECK-DAG:   %[[SECOND:.+]] = arith.constant 32 : i64
// CHECK-DAG:   %[[END:.+]] = arith.constant 40 : i64
// CHECK:       tensor.from_elements %{{.+}}, %[[FIRST]], %[[SECOND]], %[[END]] : tensor<4xi64>
// CHECK:       linattn.recurrence [time, segment]
// CHECK:         attributes {sums, plan = #linattn.plan<strategy = chunk, chunk = 8, subchunk = 4>}
// CHECK:       linattn.recurrence [time]{{$}}
// CHECK:         attributes {starts, plan = #linattn.plan<strategy = token, source = constant>}
// CHECK:       linattn.recurrence [time, segment]
// CHECK:         attributes {outputs, plan = #linattn.plan<strategy = chunk, chunk = 8, subchunk = 4>}
func.func @parts_of_time(%k: tensor<40x16xf32>, %v: tensor<40x8xf32>, %o: tensor<40x8xf32>, %s: tensor<16x8xf32>) -> (tensor<40x8xf32>, tensor<16x8xf32>) {
  %a:2 = linattn.recurrence [time]
      ins(%k via #vec : tensor<40x16xf32> as %kt : tensor<16xf32>, %v via #vec : tensor<40x8xf32> as %vt : tensor<8xf32>)
      outs(%o via #vec : tensor<40x8xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<16x8xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<16x8xf32>
  }
  return %a#0, %a#1 : tensor<40x8xf32>, tensor<16x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.linattn.apply_plan #linattn.plan<strategy = chunk, chunk = 8, subchunk = 4, split = 3> to %op : !transform.any_op
    %sums, %starts, %outputs = transform.linattn.split_time %op parts 2 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.annotate %sums "sums" : !transform.any_op
    transform.annotate %starts "starts" : !transform.any_op
    transform.annotate %outputs "outputs" : !transform.any_op
    transform.yield
  }
}

// -----

// Silenced: what cannot be chunked stays as it is, and the script goes on.
#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
// CHECK-LABEL: func @silenced
// CHECK:       linattn.recurrence [time]{{$}}
// CHECK:         attributes {seen}
func.func @silenced(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = math.exp %S : tensor<8x8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.sequence %op : !transform.any_op failures(suppress) {
    ^bb0(%recurrence: !transform.any_op):
      %c = transform.linattn.chunk %recurrence : (!transform.any_op) -> !transform.any_op
    }
    %same = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %same "seen" : !transform.any_op
    transform.yield
  }
}
