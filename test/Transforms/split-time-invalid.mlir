// Every reason for which time stays in one part, at the op that is in the way.

// RUN: la-opt %s --linattn-split-time=parts=4 --remarks-filter=linattn-split-time --remark-format=emitRemark --split-input-file --verify-diagnostics
// RUN: not la-opt %s --split-input-file --linattn-split-time=parts=-1 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not la-opt %s --split-input-file --linattn-split-time=chunk=0 2>&1 | FileCheck %s --check-prefix=CHUNK

// PARTS: error: parts must not be negative, got -1
// CHUNK: error: chunk must be positive, got 0

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @write_depends_on_a_read(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %r = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    %d = arith.subf %vt, %r : tensor<8xf32>
    // expected-remark @below {{a write to state #0 depends on a state; tiles of value columns may run in parallel instead (linattn-split-value)}}
    %S1 = linattn.write %S at %kt along 0 value %d : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %r, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

// One state is enough: a part's start would have to be known for the other one, too.
#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @decay_depends_on_another_state(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>, %z via #mat : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %r = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{a decay of state #1 depends on a state; tiles of value columns may run in parallel instead (linattn-split-value)}}
    %X = linattn.decay %Z by linear %r along [1] : tensor<8x8xf32>, tensor<8xf32>
    %Z1 = linattn.write %X at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %r, %S1, %Z1 : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
func.func @state_of_the_token_before(%v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>) {
  // expected-remark @below {{the new value of state #0 does not come from the old one by decays and writes; tiles of value columns may run in parallel instead (linattn-split-value)}}
  %r:2 = linattn.recurrence [time]
      ins(%v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via affine_map<(t, d) -> (d)> : tensor<8xf32> as %S : tensor<8xf32>) {
    %y = arith.addf %S, %vt : tensor<8xf32>
    linattn.yield %y, %vt : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
func.func @running_maximum(%v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via affine_map<(t, d) -> (d)> : tensor<8xf32> as %S : tensor<8xf32>) {
    // expected-remark @below {{the new value of state #0 does not come from the old one by decays and writes; tiles of value columns may run in parallel instead (linattn-split-value)}}
    %y = arith.maximumf %S, %vt : tensor<8xf32>
    linattn.yield %y, %y : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8xf32>
}

// -----

func.func @state_that_is_a_number(%v: tensor<?xf32>, %o: tensor<?xf32>, %s: tensor<1xf32>) -> (tensor<?xf32>, tensor<1xf32>) {
  // expected-remark @below {{state #0 is no tensor of floats with a static shape}}
  %r:2 = linattn.recurrence [time, parallel]
      ins(%v via affine_map<(t, h) -> (t)> : tensor<?xf32> as %vt : f32)
      outs(%o via affine_map<(t, h) -> (t)> : tensor<?xf32>)
      states(%s via affine_map<(t, h) -> (h)> : tensor<1xf32> as %S : f32) {
    %y = arith.addf %S, %vt : f32
    linattn.yield %y, %y : f32, f32
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<1xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
func.func @no_state(%v: tensor<?x8xf32>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-remark @below {{it has no state}}
  %r = linattn.recurrence [time]
      ins(%v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>) {
    %y = math.exp %vt : tensor<8xf32>
    linattn.yield %y : tensor<8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----

#vec = affine_map<(n, t, d) -> (t, d)>
func.func @packed(%k: tensor<?x8xf32>, %cu: tensor<3xi32>, %o: tensor<?x8xf32>, %s: tensor<2x8x8xf32>) -> (tensor<?x8xf32>, tensor<2x8x8xf32>) {
  // expected-remark @below {{its sequences are packed, and run in parallel as they are}}
  %r:2 = linattn.recurrence [segment, time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>)
      segments(%cu : tensor<3xi32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via affine_map<(n, t, k, v) -> (n, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %y = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %y, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<2x8x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @checkpoints(%k: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %c: tensor<?x8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8x8xf32>) {
  // expected-remark @below {{it has checkpoints, which are counted from the first token on; tiles of value columns may run in parallel instead (linattn-split-value)}}
  %r:3 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>)
      checkpoints(%c via affine_map<(t, k, v) -> (t, k, v)> : tensor<?x8x8xf32>) every 8 {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %y = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %y, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#2 : tensor<?x8xf32>, tensor<?x8x8xf32>
}

// -----

#grid = affine_map<(t, d) -> (t floordiv 4, t mod 4, d)>
func.func @grid(%k: tensor<?x8xf32>, %o: tensor<?x4x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x4x8xf32>, tensor<8x8xf32>) {
  // expected-remark @below {{out #0 is not cut by parts of time, as time is not the index of one of its dims}}
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via #grid : tensor<?x4x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %y = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %y, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x4x8xf32>, tensor<8x8xf32>
}
