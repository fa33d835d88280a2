// What a schedule is told when an op cannot be applied. All failures can be silenced.

// RUN: la-opt %s --transform-interpreter --split-input-file --verify-diagnostics

func.func @main() {
  // expected-note @below {{when applied to this op}}
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["func.return"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expects handles to linattn.recurrence, got 'func.return'}}
    %c = transform.linattn.chunk %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @main() {
  // expected-note @below {{when applied to this op}}
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["func.return"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expects handles to linattn.recurrence, got 'func.return'}}
    %c = transform.linattn.split_value %op tile 4 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @main() {
  // expected-note @below {{when applied to this op}}
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["func.return"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expects handles to linattn.recurrence, got 'func.return'}}
    transform.linattn.apply_plan #linattn.plan<strategy = token> to %op : !transform.any_op
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @no_chunk_form(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
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
    // expected-error @below {{cannot chunk the recurrence: state #0 is run token by token: its new value does not come from the old one by decays and writes}}
    %c = transform.linattn.chunk %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @planned_by_token(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) attributes {plan = #linattn.plan<strategy = token>} {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot chunk the recurrence: its plan says token by token}}
    %c = transform.linattn.chunk %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @chunked_twice(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    %once = transform.linattn.chunk %op : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot chunk the recurrence: steps over more than one token already}}
    %c = transform.linattn.chunk %once : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @columns_depend_on_each_other(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot split the value columns of the recurrence: no state has columns that are independent of each other}}
    %c = transform.linattn.split_value %op tile 4 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @tile_does_not_divide(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot split the value columns of the recurrence: the number of value columns, 8, is no multiple of the tile of 3}}
    %c = transform.linattn.split_value %op tile 3 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @few_columns(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot split the value columns of the recurrence: it has no more value columns than a tile}}
    %c = transform.linattn.split_value %op tile 8 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @planned_whole(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) attributes {plan = #linattn.plan<strategy = token>} {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot split the value columns of the recurrence: its plan keeps the value columns together}}
    %c = transform.linattn.split_value %op tile 4 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @write_depends_on_a_read(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %r = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    %S1 = linattn.write %S at %kt along 0 value %r : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot split the time of the recurrence: a write to state #0 depends on a state}}
    %c:3 = transform.linattn.split_time %op parts 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @one_part(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) attributes {plan = #linattn.plan<strategy = chunk, chunk = 8>} {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot split the time of the recurrence: its plan keeps time in one part}}
    %c:3 = transform.linattn.split_time %op parts 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @plan_of_the_user(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) attributes {plan = #linattn.plan<strategy = chunk, chunk = 8>} {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{the recurrence has a plan whose source is 'user', which is never overwritten; remove that plan or change its source}}
    transform.linattn.apply_plan #linattn.plan<strategy = token> to %op : !transform.any_op
    transform.yield
  }
}

// -----

// A plan that a script applies counts as the user's unless it says otherwise.
#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @plan_applied_twice(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note @below {{when applied to this op}}
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %a : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.linattn.apply_plan #linattn.plan<strategy = token> to %op : !transform.any_op
    // expected-error @below {{the recurrence has a plan whose source is 'user', which is never overwritten}}
    transform.linattn.apply_plan #linattn.plan<strategy = token> to %op : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%op: !transform.any_op {transform.consumed}) {
    // expected-error @below {{attribute 'chunk' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
    %c = transform.linattn.chunk %op {chunk = 0} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%op: !transform.any_op {transform.consumed}) {
    // expected-error @below {{attribute 'tile' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
    %c = transform.linattn.split_value %op tile 0 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
