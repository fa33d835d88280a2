// Every reason for which the value columns of a recurrence stay together, at the op that is in the way.

// RUN: la-opt %s --linattn-split-value=tile=4 --remarks-filter=linattn-split-value --remark-format=emitRemark --split-input-file --verify-diagnostics
// RUN: not la-opt %s --linattn-split-value=tile=-1 2>&1 | FileCheck %s --check-prefix=TILE

// TILE: error: tile must not be negative, got -1

func.func @norm_of_what_is_read(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    %z = arith.constant dense<0.0> : tensor<f32>
    // expected-remark @below {{no state has columns that are independent of each other: 'linalg.dot' mixes them}}
    %n = linalg.dot ins(%ot, %ot : tensor<8xf32>, tensor<8xf32>) outs(%z : tensor<f32>) -> tensor<f32>
    %n0 = tensor.extract %n[] : tensor<f32>
    %nv = tensor.splat %n0 : tensor<8xf32>
    %y = arith.divf %ot, %nv : tensor<8xf32>
    linattn.yield %y, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

func.func @reads_along_both_axes(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    // expected-remark @below {{no state has columns that are independent of each other: 'linattn.read' mixes them}}
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    %p = linattn.read %S1 at %vt along 1 : tensor<8x8xf32>, tensor<8xf32>
    %y = arith.addf %ot, %p : tensor<8xf32>
    linattn.yield %y, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

func.func @constant_differs(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{no state has columns that are independent of each other: 'arith.constant' mixes them}}
    %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
    %y = arith.mulf %ot, %w : tensor<8xf32>
    linattn.yield %y, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

func.func @half_a_row(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{no state has columns that are independent of each other: 'tensor.extract_slice' mixes them}}
    %h = tensor.extract_slice %ot[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %y = tensor.concat dim(0) %h, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    linattn.yield %y, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

func.func @columns_depend_on_their_number(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{no state has columns that are independent of each other: 'linalg.generic' mixes them}}
    %y = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]} outs(%ot : tensor<8xf32>) {
    ^bb0(%x: f32):
      %i = linalg.index 0 : index
      %i32 = arith.index_cast %i : index to i32
      %f = arith.sitofp %i32 : i32 to f32
      %p = arith.mulf %x, %f : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    linattn.yield %y, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

func.func @columns_backwards(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    // expected-remark @below {{no state has columns that are independent of each other: 'linalg.generic' mixes them}}
    %y = linalg.generic {indexing_maps = [affine_map<(d) -> (7 - d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]} ins(%ot : tensor<8xf32>) outs(%ot : tensor<8xf32>) {
    ^bb0(%x: f32, %acc: f32):
      linalg.yield %x : f32
    } -> tensor<8xf32>
    linattn.yield %y, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

func.func @region_captures_columns(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    %c = arith.constant true
    // expected-remark @below {{no state has columns that are independent of each other: 'scf.if' mixes them}}
    %y = scf.if %c -> tensor<8xf32> {
      scf.yield %ot : tensor<8xf32>
    } else {
      %n = arith.negf %ot : tensor<8xf32>
      scf.yield %n : tensor<8xf32>
    }
    linattn.yield %y, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

// Both axes of the state are the same.
func.func @second_moments(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  // expected-remark @below {{no state has columns that are independent of each other}}
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %vt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

func.func @out_without_columns(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    // expected-remark @below {{out #0 has no value columns, so every tile would write all of it}}
    %n = arith.negf %kt : tensor<8xf32>
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %unused = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %n, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

func.func @state_without_columns(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>, %z: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>) {
  // expected-remark @below {{state #1 has no value columns, and its final value or checkpoints are results}}
  %r:3 = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>,
             %z via affine_map<(t, k) -> (k)> : tensor<8xf32> as %Z : tensor<8xf32>) {
    %one = arith.constant 1.0 : f32
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %Z1 = linattn.write %Z at %kt along 0 value %one : tensor<8xf32>, tensor<8xf32>, f32
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1, %Z1 : tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>
  }
  return %r#0, %r#2 : tensor<?x8xf32>, tensor<8xf32>
}

// -----

func.func @not_a_multiple(%k: tensor<?x8xf32>, %v: tensor<?x6xf32>, %s: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-remark @below {{the number of value columns, 6, is no multiple of the tile of 4}}
  %r = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x6xf32> as %vt : tensor<6xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x6xf32> as %S : tensor<8x6xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x6xf32>, tensor<8xf32>, tensor<6xf32>
    linattn.yield %S1 : tensor<8x6xf32>
  }
  return %r : tensor<8x6xf32>
}

// -----

// A number of columns that is known only at run time.
func.func @dynamic_columns(%k: tensor<?x8xf32>, %v: tensor<?x?xf32>, %s: tensor<8x?xf32>) -> tensor<8x?xf32> {
  // expected-remark @below {{no state has columns that are independent of each other}}
  %r = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x?xf32> as %vt : tensor<?xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x?xf32> as %S : tensor<8x?xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x?xf32>, tensor<8xf32>, tensor<?xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x?xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x?xf32>
  }
  return %r : tensor<8x?xf32>
}
