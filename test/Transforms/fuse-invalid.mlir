// Every reason for which an op stays outside of the recurrence, at that op.

// RUN: la-opt %s --linattn-fuse --remarks-filter=linattn-fuse --remark-format=emitRemark --split-input-file --verify-diagnostics
// RUN: not la-opt %s --linattn-fuse=max-recompute=-1 2>&1 | FileCheck %s --check-prefix=LIMIT

// LIMIT: error: max-recompute must not be negative, got -1

func.func @used_elsewhere(%a: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>) {
  // expected-remark @below {{'math.exp' stays outside of the recurrence: it is used elsewhere, too}}
  %k = math.exp %a : tensor<?x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %k : tensor<?x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>
}

// -----

func.func @shared_by_all_heads(%a: tensor<?x8xf32>, %v: tensor<?x8x8xf32>, %o: tensor<?x8x8xf32>, %s: tensor<8x8x8xf32>) -> (tensor<?x8x8xf32>, tensor<8x8x8xf32>) {
  // expected-remark @below {{too many points of the parallel dims share it, each of which would compute it}}
  %k = math.exp %a : tensor<?x8xf32>
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via affine_map<(t, h, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, h, d) -> (t, h, d)> : tensor<?x8x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, h, d) -> (t, h, d)> : tensor<?x8x8xf32>)
      states(%s via affine_map<(t, h, k, v) -> (h, k, v)> : tensor<8x8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %vt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8x8xf32>, tensor<8x8x8xf32>
}

// -----

func.func @projection(%x: tensor<?x16xf32>, %w: tensor<16x8xf32>, %e: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  // expected-remark @below {{it is a product with a matrix}}
  %k = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  // expected-remark @below {{it is a product with a matrix}}
  %y = linalg.matmul ins(%r#0, %s : tensor<?x8xf32>, tensor<8x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

// A window that looks ahead.
func.func @looks_ahead(%x: tensor<?x8xf32>, %w: tensor<3x8xf32>, %e: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %all = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%t: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  // expected-remark @below {{it reads other tokens}}
  %k = linalg.generic {indexing_maps = [affine_map<(t, d, w) -> (t + w, d)>, affine_map<(t, d, w) -> (w, d)>, affine_map<(t, d, w) -> (t, d)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%all, %w : tensor<?x8xf32>, tensor<3x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

// The same tokens in another order.
func.func @moves_tokens(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %o, %c0 : tensor<?x8xf32>
  // expected-remark @below {{'tensor.extract_slice' stays outside of the recurrence: it reads other tokens}}
  %k = tensor.extract_slice %x[2, 0] [%T, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

func.func @dynamic_slices(%x: tensor<?x?xf32>, %e: tensor<?xf32>, %o: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  // expected-remark @below {{a dim inside of a token has no static size}}
  %g = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t, d)>, affine_map<(t, d) -> (t)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.minimumf %acc, %a : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %r:2 = linattn.recurrence [time]
      ins(%v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %g via affine_map<(t) -> (t)> : tensor<?xf32> as %gt : f32)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %X = linattn.decay %S by %gt : tensor<8x8xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

// Not one result per op, tensors in regions.
func.func @other_ops(%x: tensor<?x8xf32>, %table: tensor<8x8xf32>, %e: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  // expected-remark @below {{it is no elementwise or linalg op with one result}}
  %a:2 = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t, d)>, affine_map<(t, d) -> (t, d)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e, %e : tensor<?x8xf32>, tensor<?x8xf32>) {
  ^bb0(%y: f32, %p: f32, %q: f32):
    %z = math.exp %y : f32
    linalg.yield %z, %y : f32, f32
  } -> (tensor<?x8xf32>, tensor<?x8xf32>)
  // expected-remark @below {{its region uses tensors}}
  %b = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t, d)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%y: f32, %p: f32):
    %d = linalg.index 1 : index
    %z = tensor.extract %table[%d, %d] : tensor<8x8xf32>
    %q = arith.mulf %z, %y : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%a#0 via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %b via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

// Sums over all tokens and over all heads; what needs the last state.
func.func @mixes(%v: tensor<?x4x8xf32>, %o: tensor<?x4x8xf32>, %s: tensor<4x8x8xf32>, %e0: tensor<4x8xf32>, %e1: tensor<?x8xf32>)
    -> (tensor<4x8xf32>, tensor<?x8xf32>, tensor<4x8x8xf32>, tensor<?x4x8xf32>) {
  %r:2 = linattn.recurrence [time, parallel]
      ins(%v via affine_map<(t, h, d) -> (t, h, d)> : tensor<?x4x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, h, d) -> (t, h, d)> : tensor<?x4x8xf32>)
      states(%s via affine_map<(t, h, k, v) -> (h, k, v)> : tensor<4x8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %vt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %vt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  // expected-remark @below {{it mixes tokens}}
  %mean = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>, affine_map<(t, h, d) -> (h, d)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%r#0 : tensor<?x4x8xf32>) outs(%e0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.addf %acc, %a : f32
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{it mixes points of the parallel dims, as heads are}}
  %sum = linalg.generic {indexing_maps = [affine_map<(t, d, h) -> (t, h, d)>, affine_map<(t, d, h) -> (t, d)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%r#0 : tensor<?x4x8xf32>) outs(%e1 : tensor<?x8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.addf %acc, %a : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  // expected-remark @below {{it needs the state after the last token}}
  %t = math.tanh %r#1 : tensor<4x8x8xf32>
  // expected-remark @below {{another operand depends on the recurrence, too}}
  %y = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>, affine_map<(t, h, d) -> (h, d)>, affine_map<(t, h, d) -> (t, h, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r#0, %mean : tensor<?x4x8xf32>, tensor<4x8xf32>) outs(%o : tensor<?x4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %q = arith.subf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<?x4x8xf32>
  return %mean, %sum, %t, %y : tensor<4x8xf32>, tensor<?x8xf32>, tensor<4x8x8xf32>, tensor<?x4x8xf32>
}

// -----

// The recurrence writes into a part of a larger tensor.
func.func @part_of_the_out(%v: tensor<?x8xf32>, %o: tensor<?x20xf32>, %s: tensor<8x8xf32>) -> (tensor<?x20xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d + 4)> : tensor<?x20xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %vt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %vt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  // expected-remark @below {{the recurrence leaves a part of the tensor as it was}}
  %y = math.exp %r#0 : tensor<?x20xf32>
  return %y, %r#1 : tensor<?x20xf32>, tensor<8x8xf32>
}

// -----

// Rows in front of packed sequences are not in front of each; nor is the index in the tensor the one
// in the sequence.
func.func @packed(%x: tensor<?x8xf32>, %a: tensor<?xf32>, %w: tensor<2x8xf32>, %e: tensor<?x8xf32>, %ea: tensor<?xf32>, %cu: tensor<?xi32>, %o: tensor<?x8xf32>, %s: tensor<?x8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %all = tensor.pad %x low[1, 0] high[0, 0] {
  ^bb0(%t: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  // expected-remark @below {{rows in front of packed sequences are not in front of each of them}}
  %k = linalg.generic {indexing_maps = [affine_map<(t, d, w) -> (t + w, d)>, affine_map<(t, d, w) -> (w, d)>, affine_map<(t, d, w) -> (t, d)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%all, %w : tensor<?x8xf32>, tensor<2x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %pq = arith.mulf %p, %q : f32
    %sum = arith.addf %acc, %pq : f32
    linalg.yield %sum : f32
  } -> tensor<?x8xf32>
  // expected-remark @below {{it uses the index of a token, which is another one inside of a sequence}}
  %g = linalg.generic {indexing_maps = [affine_map<(t) -> (t)>, affine_map<(t) -> (t)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%ea : tensor<?xf32>) {
  ^bb0(%p: f32, %out: f32):
    %t = linalg.index 0 : index
    %ti = arith.index_cast %t : index to i32
    %tf = arith.sitofp %ti : i32 to f32
    %y = arith.mulf %p, %tf : f32
    linalg.yield %y : f32
  } -> tensor<?xf32>
  %r:2 = linattn.recurrence [segment, time]
      ins(%k via affine_map<(n, t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %g via affine_map<(n, t) -> (t)> : tensor<?xf32> as %gt : f32)
      segments(%cu : tensor<?xi32>)
      outs(%o via affine_map<(n, t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(n, t, k, v) -> (n, k, v)> : tensor<?x8x8xf32> as %S : tensor<8x8xf32>) {
    %X = linattn.decay %S by %gt : tensor<8x8xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<?x8x8xf32>
}

// -----

// Backwards, and with checkpoints; channels before tokens in memory; a window of matrices.

func.func @backwards(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %x, %c0 : tensor<?x8xf32>
  %zero = arith.constant 0.0 : f32
  // expected-remark @below {{the recurrence runs from the last token to the first}}
  %all = tensor.pad %x low[1, 0] high[0, 0] {
  ^bb0(%t: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  %k = tensor.extract_slice %all[0, 0] [%T, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %r:2 = linattn.recurrence [time] reverse
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %x via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %xt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %xt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

func.func @with_checkpoints(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %c: tensor<?x8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %x, %c0 : tensor<?x8xf32>
  %zero = arith.constant 0.0 : f32
  // expected-remark @below {{checkpoints would need one of the tokens that are kept}}
  %all = tensor.pad %x low[1, 0] high[0, 0] {
  ^bb0(%t: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  %k = tensor.extract_slice %all[0, 0] [%T, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %x via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %xt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>)
      checkpoints(%c via affine_map<(c, k, v) -> (c, k, v)> : tensor<?x8x8xf32>) every 4 {
    %S1 = linattn.write %S at %kt along 0 value %xt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#2 : tensor<?x8xf32>, tensor<?x8x8xf32>
}

func.func @channels_first(%x: tensor<8x?xf32>, %w: tensor<2x8xf32>, %e: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %all = tensor.pad %x low[0, 1] high[0, 0] {
  ^bb0(%d: index, %t: index):
    tensor.yield %zero : f32
  } : tensor<8x?xf32> to tensor<8x?xf32>
  // expected-remark @below {{the tokens that it keeps are not the outermost dim of a slice}}
  %k = linalg.generic {indexing_maps = [affine_map<(t, d, w) -> (d, t + w)>, affine_map<(t, d, w) -> (w, d)>, affine_map<(t, d, w) -> (t, d)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%all, %w : tensor<8x?xf32>, tensor<2x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

func.func @matrices(%x: tensor<?x4x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  %zero = arith.constant 0.0 : f32
  // expected-remark @below {{what it keeps of a token is more than a vector}}
  %all = tensor.pad %x low[1, 0, 0] high[0, 0, 0] {
  ^bb0(%t: index, %h: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x4x8xf32> to tensor<?x4x8xf32>
  %k = tensor.extract_slice %all[0, 0, 0] [%T, 4, 8] [1, 1, 1] : tensor<?x4x8xf32> to tensor<?x4x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, h, d) -> (t, h, d)> : tensor<?x4x8xf32> as %kt : tensor<4x8xf32>,
          %x via affine_map<(t, h, d) -> (t, h, d)> : tensor<?x4x8xf32> as %xt : tensor<4x8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %xt : tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
    %row = tensor.extract_slice %xt[0, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    linattn.yield %row, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

// A loop around the recurrence would compute it again; nothing else has the number of heads.

func.func @in_a_loop(%a: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %n: index) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{it is outside of the region of the recurrence}}
  %k = math.exp %a : tensor<?x8xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %s) -> tensor<8x8xf32> {
    %r:2 = linattn.recurrence [time]
        ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
        outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
        states(%carried via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
      %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
      linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
    }
    scf.yield %r#1 : tensor<8x8xf32>
  }
  return %last : tensor<8x8xf32>
}

func.func @only_extent(%a: tensor<8xf32>, %o: tensor<8xf32>, %e: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark @below {{only its result tells how often the recurrence runs}}
  %k = linalg.generic {indexing_maps = [affine_map<(t, d) -> (d)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<?x8xf32>
  %r = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

func.func @torn_slices(%v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %vt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %vt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  %c0 = arith.constant 0 : index
  %T = tensor.dim %v, %c0 : tensor<?x8xf32>
  // expected-remark @below {{the new shape is no other order of whole slices}}
  %y = tensor.expand_shape %r#0 [[0], [1, 2]] output_shape [%T, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
  %z = tensor.collapse_shape %y [[0, 1, 2]] : tensor<?x2x4xf32> into tensor<?xf32>
  return %z, %r#1 : tensor<?xf32>, tensor<8x8xf32>
}

func.func @side_effects(%a: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark @below {{its region has side effects}}
  %k = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t, d)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    vector.print %x : f32
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<?x8xf32>
  %r = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

func.func @written_into(%v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %vt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %vt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  // expected-remark @below {{it writes into the tensor}}
  %y = linalg.exp ins(%v : tensor<?x8xf32>) outs(%r#0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// Diagonals of a matrix.
func.func @no_slice(%v: tensor<?x8xf32>, %w: tensor<8x15xf32>, %u: tensor<8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %vt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %vt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  // expected-remark @below {{it reads entries that are no slice of a token}}
  %y = linalg.generic {indexing_maps = [affine_map<(t, d, w) -> (t, d)>, affine_map<(t, d, w) -> (d, d + w)>, affine_map<(t, d, w) -> (w)>, affine_map<(t, d, w) -> (t, d)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%r#0, %w, %u : tensor<?x8xf32>, tensor<8x15xf32>, tensor<8xf32>) outs(%o : tensor<?x8xf32>) {
  ^bb0(%x: f32, %z: f32, %c: f32, %out: f32):
    %p = arith.mulf %x, %z : f32
    %q = arith.addf %p, %out : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  return %y, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}
