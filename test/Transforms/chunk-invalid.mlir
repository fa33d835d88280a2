// Every reason for which a state, and with it the recurrence if no other state has a chunk form, is run
// token by token, at the op that is in the way.

// RUN: la-opt %s --linattn-chunk --remarks-filter=linattn-chunk --remark-format=emitRemark --split-input-file --verify-diagnostics
// RUN: not la-opt %s --linattn-chunk=chunk=0 2>&1 | FileCheck %s --check-prefix=CHUNK0
// RUN: not la-opt %s --linattn-chunk=subchunk=-1 2>&1 | FileCheck %s --check-prefix=SUBCHUNK
// RUN: not la-opt %s --linattn-chunk="strategy=sweep operand-precision=bf16" 2>&1 | FileCheck %s --check-prefix=SWEEP

// CHUNK0: error: chunk must be positive, got 0
// SUBCHUNK: error: subchunk must be positive, got -1
// SWEEP: error: operand-precision 'bf16' needs strategy 'chunk', got 'sweep'

func.func @new_state_is_not_an_update(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    // expected-remark @below {{state #0 is run token by token: its new value does not come from the old one by decays and writes}}
    %n = arith.addf %S, %S : tensor<8x8xf32>
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @state_is_an_operand(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    // expected-remark @below {{state #0 is run token by token: the state itself is an operand of this op, which is no decay, read or write}}
    %t = arith.addf %S, %S : tensor<8x8xf32>
    %q = linattn.read %t at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %q, %S, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @decay_depends_on_read(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: the decay depends on what was read from the state}}
    %n = linattn.decay %S by %q along [0] : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @decay_along_the_other_axis_between(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: the decay is along another axis than a read before it that feeds a write behind it}}
    %d = linattn.decay %S by %vt along [1] : tensor<8x8xf32>, tensor<8xf32>
    %n = linattn.write %d at %kt along 0 value %q : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @decay_of_every_entry(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %c = arith.constant -0.5 : f32
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    %e = tensor.splat %c : tensor<8x8xf32>
    // expected-remark @below {{state #0 is run token by token: the decay has a multiplier for every entry of the state}}
    %n = linattn.decay %S by %e along [0, 1] : tensor<8x8xf32>, tensor<8x8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @product_of_reads(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: a written value is a product of values that were read}}
    %p = arith.mulf %q, %q : tensor<8xf32>
    %n = linattn.write %S at %kt along 0 value %p : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @factor_differs(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: what was read is multiplied by a factor that differs along the other axis}}
    %p = arith.mulf %q, %vt : tensor<8xf32>
    %n = linattn.write %S at %kt along 0 value %p : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @divisor_differs(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: what was read is divided by values that differ along the other axis}}
    %p = arith.divf %q, %vt : tensor<8xf32>
    %n = linattn.write %S at %kt along 0 value %p : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @value_is_not_affine(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: a written value is not affine in what was read}}
    %p = math.exp %q : tensor<8xf32>
    %n = linattn.write %S at %kt along 0 value %p : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @address_of_write_depends_on_read(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: the address of a write depends on what was read from the state}}
    %n = linattn.write %S at %q along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @branch_write_depends_on_read(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: a write that only a branch sees depends on what was read from the state}}
    %b = linattn.write %S at %kt along 0 value %q : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %y = linattn.read %b at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %y, %S, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @address_of_feeding_read_depends_on_read(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: the address of a read that feeds a write depends on what was read from the state}}
    %p = linattn.read %S at %q along 0 : tensor<8x8xf32>, tensor<8xf32>
    %n = linattn.write %S at %kt along 0 value %p : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @reads_of_both_axes_feed_writes(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: reads that contract different axes feed writes}}
    %p = linattn.read %S at %kt along 1 : tensor<8x8xf32>, tensor<8xf32>
    %sum = arith.addf %q, %p : tensor<8xf32>
    %n = linattn.write %S at %kt along 0 value %sum : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %p, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @write_of_several_rows(%k: tensor<?x8xf32>, %v: tensor<?x?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, r, d) -> (t, r, d)> : tensor<?x?x8xf32> as %w : tensor<?x8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: a write of a number of rows that is not static}}
    %n = linattn.write %S at %w along 0 value %w : tensor<8x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
    linattn.yield %q, %n, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @read_of_several_rows(%k: tensor<?x8xf32>, %v: tensor<?x?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, r, d) -> (t, r, d)> : tensor<?x?x8xf32> as %w : tensor<?x8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    // expected-remark @below {{state #0 is run token by token: a read of a number of rows that is not static}}
    %q = linattn.read %S at %w along 0 : tensor<8x8xf32>, tensor<?x8xf32>
    %y = tensor.extract_slice %q[0, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    linattn.yield %y, %S, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @states_depend_on_each_other(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %Z : tensor<8x8xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    %p = linattn.read %Z at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: states #0 and #1 depend on each other}}
    %n = linattn.write %S at %kt along 0 value %p : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    // expected-remark @below {{state #1 is run token by token: states #0 and #1 depend on each other}}
    %m = linattn.write %Z at %kt along 0 value %q : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %q, %n, %m : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// An op for every row, whose results have a size that the next row may not have.
func.func @no_lifted_form(%k: tensor<?x8xf32>, %v: tensor<?x?xf32>, %w: tensor<?x?xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x?xf32> as %vt : tensor<?xf32>,
          %w via affine_map<(t, d) -> (t, d)> : tensor<?x?xf32> as %wt : tensor<?xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %c = arith.constant 0 : index
    %x = tensor.extract %kt[%c] : tensor<8xf32>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %p = arith.cmpf ogt, %x, %x : f32
    // expected-remark @below {{the recurrence is run token by token: 'scf.if' has no form for several tokens at once, and a result of dynamic size}}
    %y = scf.if %p -> tensor<?xf32> {
      scf.yield %vt : tensor<?xf32>
    } else {
      scf.yield %wt : tensor<?xf32>
    }
    %g = linalg.dot ins(%y, %y : tensor<?xf32>, tensor<?xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
    %h = tensor.extract %g[] : tensor<f32>
    %n = linattn.decay %S by %h : tensor<8x8xf32>, f32
    linattn.yield %n : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// -----

func.func @scalar_state(%x: tensor<?xf32>, %s: tensor<f32>) -> tensor<f32> {
  // expected-remark @below {{state #0 is run token by token: it is a scalar, which only scans work on}}
  %r = linattn.recurrence [time]
      ins(%x via affine_map<(t) -> (t)> : tensor<?xf32> as %xt : f32)
      states(%s via affine_map<(t) -> ()> : tensor<f32> as %S : f32) {
    %n = arith.addf %S, %xt : f32
    linattn.yield %n : f32
  }
  return %r : tensor<f32>
}

// -----

func.func @dynamic_state(%x: tensor<?x?xf32>, %s: tensor<?xf32>) -> tensor<?xf32> {
  // expected-remark @below {{state #0 is run token by token: chunks need a state of floats with a static shape}}
  %r = linattn.recurrence [time]
      ins(%x via affine_map<(t, d) -> (t, d)> : tensor<?x?xf32> as %xt : tensor<?xf32>)
      states(%s via affine_map<(t, d) -> (d)> : tensor<?xf32> as %S : tensor<?xf32>) {
    %one = arith.constant 1.0 : f32
    %n = linattn.write %S at %xt along 0 value %one : tensor<?xf32>, tensor<?xf32>, f32
    linattn.yield %n : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Three states in a circle.
func.func @circle_of_states(%k: tensor<?x8xf32>, %a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      states(%a via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %A : tensor<8x8xf32>,
             %b via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %B : tensor<8x8xf32>,
             %c via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %C : tensor<8x8xf32>) {
    %ra = linattn.read %A at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    %rb = linattn.read %B at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    %rc = linattn.read %C at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{state #0 is run token by token: states #0 and #1 depend on each other}}
    %A1 = linattn.write %A at %kt along 0 value %rc : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    // expected-remark @below {{state #1 is run token by token: states #0 and #1 depend on each other}}
    %B1 = linattn.write %B at %kt along 0 value %ra : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    // expected-remark @below {{state #2 is run token by token: states #0 and #2 depend on each other}}
    %C1 = linattn.write %C at %kt along 0 value %rb : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %A1, %B1, %C1 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#mat = affine_map<(t, k, v) -> (k, v)>
func.func @reads_in_regions(%k: tensor<?x8xf32>, %n: tensor<?xindex>, %p: tensor<?xi1>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %r:6 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %n via #num : tensor<?xindex> as %nt : index,
          %p via #num : tensor<?xi1> as %pt : i1)
      outs(%o via #vec : tensor<?x8xf32>, %o via #vec : tensor<?x8xf32>, %o via #vec : tensor<?x8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %A : tensor<8x8xf32>, %s via #mat : tensor<8x8xf32> as %B : tensor<8x8xf32>,
             %s via #mat : tensor<8x8xf32> as %C : tensor<8x8xf32>) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %3 = arith.constant 3 : index
    %a = scf.for %i = %0 to %nt step %1 iter_args(%x = %kt) -> (tensor<8xf32>) {
      // expected-remark @below {{state #0 is run token by token: a read in a loop whose bounds may differ from token to token}}
      %row = linattn.read %A at %x along 0 : tensor<8x8xf32>, tensor<8xf32>
      scf.yield %row : tensor<8xf32>
    }
    %b = scf.if %pt -> tensor<8xf32> {
      // expected-remark @below {{state #1 is run token by token: a read inside a region that is no loop}}
      %row = linattn.read %B at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
      scf.yield %row : tensor<8xf32>
    } else {
      scf.yield %kt : tensor<8xf32>
    }
    %c = scf.for %i = %0 to %3 step %1 iter_args(%x = %kt) -> (tensor<8xf32>) {
      %row = linattn.read %C at %x along 0 : tensor<8x8xf32>, tensor<8xf32>
      // expected-remark @below {{state #2 is run token by token: a read in a loop with this op, which has no form for several tokens at once}}
      %y = scf.if %pt -> tensor<8xf32> {
        scf.yield %row : tensor<8xf32>
      } else {
        scf.yield %kt : tensor<8xf32>
      }
      scf.yield %y : tensor<8xf32>
    }
    %A1 = linattn.write %A at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %B1 = linattn.write %B at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %C1 = linattn.write %C at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %a, %b, %c, %A1, %B1, %C1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
