// Every clause of a recurrence and every step op survives printing and parsing, in the pretty and in
// the generic form.
//
// RUN: la-opt %s --verify-roundtrip | FileCheck %s
// RUN: la-opt %s --mlir-print-op-generic | la-opt | FileCheck %s

#qk = affine_map<(b, t, h, d) -> (b, t, h floordiv 2, d)>
#tok = affine_map<(b, t, h, d) -> (b, t, h, d)>
#sca = affine_map<(b, t, h) -> (b, t, h)>
#st = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

// CHECK-DAG: #[[$QK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 floordiv 2, d3)>
// CHECK-DAG: #[[$TOK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[$SCA:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$ST:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>
// CHECK-DAG: #[[$MOD:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 mod 4, d3)>
// CHECK-DAG: #[[$BLOCKS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 floordiv 16, d1 mod 16, d2, d3)>

// CHECK-LABEL: func.func @gated_delta_rule(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<?x?x16x128xbf16>, %[[K:[a-z0-9]+]]: tensor<?x?x16x128xbf16>, %[[V:[a-z0-9]+]]: tensor<?x?x32x128xbf16>, %[[G:[a-z0-9]+]]: tensor<?x?x32xf32>, %[[INIT:[a-z0-9]+]]: tensor<?x?x32x128xbf16>, %[[S0:[a-z0-9]+]]: tensor<?x32x128x128xf32>)
// CHECK:       %[[R:.*]]:2 = linattn.recurrence [parallel, time, parallel]{{$}}
// CHECK-NEXT:      ins(%[[Q]] via #[[$QK]] : tensor<?x?x16x128xbf16> as %[[QT:.*]] : tensor<128xbf16>,
// CHECK-NEXT:          %[[K]] via #[[$QK]] : tensor<?x?x16x128xbf16> as %[[KT:.*]] : tensor<128xbf16>,
// CHECK-NEXT:          %[[V]] via #[[$TOK]] : tensor<?x?x32x128xbf16> as %[[VT:.*]] : tensor<128xbf16>,
// CHECK-NEXT:          %[[G]] via #[[$SCA]] : tensor<?x?x32xf32> as %[[GT:.*]] : f32)
// CHECK-NEXT:      outs(%[[INIT]] via #[[$TOK]] : tensor<?x?x32x128xbf16>)
// CHECK-NEXT:      states(%[[S0]] via #[[$ST]] : tensor<?x32x128x128xf32> as %[[S:.*]] : tensor<128x128xf32>) {
// CHECK-NEXT:    %[[X:.*]] = linattn.decay %[[S]] by %[[GT]] : tensor<128x128xf32>, f32
// CHECK-NEXT:    %[[OLD:.*]] = linattn.read %[[X]] at %[[KT]] along 0 : tensor<128x128xf32>, tensor<128xbf16>
// CHECK:         %[[S1:.*]] = linattn.write %[[X]] at %[[KT]] along 0 value %{{.*}} : tensor<128x128xf32>, tensor<128xbf16>, tensor<128xf32>
// CHECK-NEXT:    %{{.*}} = linattn.read %[[S1]] at %[[QT]] along 0 : tensor<128x128xf32>, tensor<128xbf16>
// CHECK:         linattn.yield %{{.*}}, %[[S1]] : tensor<128xbf16>, tensor<128x128xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:  return %[[R]]#0, %[[R]]#1
func.func @gated_delta_rule(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x32x128xbf16>,
    %g: tensor<?x?x32xf32>, %init: tensor<?x?x32x128xbf16>, %s0: tensor<?x32x128x128xf32>)
    -> (tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>) {
  %o, %sT = linattn.recurrence [parallel, time, parallel]
      ins(%q via #qk : tensor<?x?x16x128xbf16> as %qt : tensor<128xbf16>,
          %k via #qk : tensor<?x?x16x128xbf16> as %kt : tensor<128xbf16>,
          %v via #tok : tensor<?x?x32x128xbf16> as %vt : tensor<128xbf16>,
          %g via #sca : tensor<?x?x32xf32> as %gt : f32)
      outs(%init via #tok : tensor<?x?x32x128xbf16>)
      states(%s0 via #st : tensor<?x32x128x128xf32> as %S : tensor<128x128xf32>) {
    %X = linattn.decay %S by %gt : tensor<128x128xf32>, f32
    %old = linattn.read %X at %kt along 0 : tensor<128x128xf32>, tensor<128xbf16>
    %ve = arith.extf %vt : tensor<128xbf16> to tensor<128xf32>
    %d = arith.subf %ve, %old : tensor<128xf32>
    %S1 = linattn.write %X at %kt along 0 value %d : tensor<128x128xf32>, tensor<128xbf16>, tensor<128xf32>
    %of = linattn.read %S1 at %qt along 0 : tensor<128x128xf32>, tensor<128xbf16>
    %ot = arith.truncf %of : tensor<128xf32> to tensor<128xbf16>
    linattn.yield %ot, %S1 : tensor<128xbf16>, tensor<128x128xf32>
  }
  return %o, %sT : tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>
}

// CHECK-LABEL: func.func @reverse_step_checkpoints_plan
// CHECK:       linattn.recurrence [parallel, time] reverse step(%[[LIVE:.*]] of 4)
// CHECK-NEXT:      ins(%{{.*}} : tensor<2x16x8xf32> as %{{.*}} : tensor<4x8xf32>)
// CHECK-NEXT:      position_offset(%{{.*}} via #{{.*}} : tensor<2xi32>)
// CHECK-NEXT:      outs(%{{.*}} via #{{.*}} : tensor<2x16x8xf32>)
// CHECK-NEXT:      states(%{{.*}} via #{{.*}} : tensor<2x8x8xf32> as %{{.*}} : tensor<8x8xf32>)
// CHECK-NEXT:      checkpoints(%{{.*}} via #{{.*}} : tensor<2x2x8x8xf32>) every 8
// CHECK-NEXT:     attributes {layer = 3 : i64, plan = #linattn.plan<strategy = chunk, chunk = 32, subchunk = 16, value_tile = 64, split = 2, operand_precision = all_bf16, source = tuned>} {
// CHECK-NEXT:    arith.index_cast %[[LIVE]] : index to i64
// CHECK:         linattn.index 1
func.func @reverse_step_checkpoints_plan(%x: tensor<2x16x8xf32>, %p: tensor<2xi32>, %s0: tensor<2x8x8xf32>,
    %c: tensor<2x2x8x8xf32>) -> (tensor<2x16x8xf32>, tensor<2x8x8xf32>, tensor<2x2x8x8xf32>) {
  %r:3 = linattn.recurrence [parallel, time] reverse step(%live of 4)
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<4x8xf32>)
      position_offset(%p via affine_map<(b, t) -> (b)> : tensor<2xi32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s0 via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>)
      checkpoints(%c via affine_map<(b, c, k, v) -> (b, c, k, v)> : tensor<2x2x8x8xf32>) every 8
      attributes {layer = 3, plan = #linattn.plan<strategy = chunk, chunk = 32, subchunk = 16, value_tile = 64,
                                                  split = 2, operand_precision = all_bf16, source = tuned>} {
    %rows = arith.index_cast %live : index to i64
    %first = linattn.index 1
    %S1 = linattn.write %S at %xt along 0 value %xt : tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
    %o = linattn.read %S1 at %xt along 1 : tensor<8x8xf32>, tensor<4x8xf32>
    linattn.yield %o, %S1 : tensor<4x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<2x16x8xf32>, tensor<2x8x8xf32>, tensor<2x2x8x8xf32>
}

// Packed sequences with one state each; the offset is one scalar for all of them.
// CHECK-LABEL: func.func @segments
// CHECK:       linattn.recurrence [segment, time, parallel]
// CHECK:           segments(%{{.*}} : tensor<?xi32>)
// CHECK-NEXT:      position_offset(%{{.*}} via #{{.*}} : i64)
// CHECK:           checkpoints(%{{.*}} via #{{.*}} : tensor<?x?x4x8xf32>) every 64
func.func @segments(%x: tensor<?x4x8xf32>, %cu: tensor<?xi32>, %p: i64, %s0: tensor<?x4x8xf32>, %c: tensor<?x?x4x8xf32>)
    -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x?x4x8xf32>) {
  %r:3 = linattn.recurrence [segment, time, parallel]
      ins(%x via affine_map<(n, t, h, d) -> (t, h, d)> : tensor<?x4x8xf32> as %xt : tensor<8xf32>)
      segments(%cu : tensor<?xi32>)
      position_offset(%p via affine_map<(n, t, h) -> ()> : i64)
      outs(%x via affine_map<(n, t, h, d) -> (t, h, d)> : tensor<?x4x8xf32>)
      states(%s0 via affine_map<(n, t, h, d) -> (n, h, d)> : tensor<?x4x8xf32> as %S : tensor<8xf32>)
      checkpoints(%c via affine_map<(n, c, h, d) -> (n, c, h, d)> : tensor<?x?x4x8xf32>) every 64 {
    %S1 = arith.addf %S, %xt : tensor<8xf32>
    linattn.yield %S1, %S1 : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x?x4x8xf32>
}

// States of rank 0, 1 and 2, one of them an integer, next to a state in [V, K] order.
// CHECK-LABEL: func.func @state_ranks
// CHECK:           states(%{{.*}} : tensor<2xi32> as %{{.*}} : i32,
// CHECK-NEXT:             %{{.*}} : tensor<2x8xf32> as %[[Z:.*]] : tensor<8xf32>,
// CHECK-NEXT:             %{{.*}} : tensor<2x4x8xf32> as %[[S:.*]] : tensor<4x8xf32>) {
// CHECK:         linattn.write %[[S]] at %[[KT:.*]] along 1 value %[[VT:.*]] : tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>
// CHECK:         linattn.write %[[Z]] at %[[KT]] along 0 value %{{.*}} : tensor<8xf32>, tensor<8xf32>, f32
// CHECK:         %[[SUM:.*]] = linattn.read %{{.*}} at %[[KT]] along 0 : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT:    tensor.splat %[[SUM]] : tensor<4xf32>
func.func @state_ranks(%k: tensor<2x?x8xf32>, %v: tensor<2x?x4xf32>, %n0: tensor<2xi32>, %z0: tensor<2x8xf32>,
    %s0: tensor<2x4x8xf32>) -> (tensor<2x?x4xf32>, tensor<2xi32>, tensor<2x8xf32>, tensor<2x4x8xf32>) {
  %r:4 = linattn.recurrence [parallel, time]
      ins(%k via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x?x4xf32> as %vt : tensor<4xf32>)
      outs(%v via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x?x4xf32>)
      states(%n0 via affine_map<(b, t) -> (b)> : tensor<2xi32> as %n : i32,
             %z0 via affine_map<(b, t, k) -> (b, k)> : tensor<2x8xf32> as %z : tensor<8xf32>,
             %s0 via affine_map<(b, t, v, k) -> (b, v, k)> : tensor<2x4x8xf32> as %S : tensor<4x8xf32>) {
    %one = arith.constant 1 : i32
    %onef = arith.constant 1.0 : f32
    %n1 = arith.addi %n, %one : i32
    %S1 = linattn.write %S at %kt along 1 value %vt : tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>
    %z1 = linattn.write %z at %kt along 0 value %onef : tensor<8xf32>, tensor<8xf32>, f32
    %o = linattn.read %S1 at %kt along 1 : tensor<4x8xf32>, tensor<8xf32>
    %sum = linattn.read %z1 at %kt along 0 : tensor<8xf32>, tensor<8xf32>
    %sums = tensor.splat %sum : tensor<4xf32>
    %ot = arith.divf %o, %sums : tensor<4xf32>
    linattn.yield %ot, %n1, %z1, %S1 : tensor<4xf32>, i32, tensor<8xf32>, tensor<4x8xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<2x?x4xf32>, tensor<2xi32>, tensor<2x8xf32>, tensor<2x4x8xf32>
}

// One buffer holds q, k and v of three heads each; the out goes to a fused buffer as well.
// CHECK-LABEL: func.func @fused_buffers
// CHECK:           ins(%[[QKV:.*]] via #[[$Q:.*]] : tensor<?x?x576xf32> as %{{.*}} : tensor<64xf32>,
// CHECK-NEXT:          %[[QKV]] via #{{.*}} : tensor<?x?x576xf32> as %{{.*}} : tensor<64xf32>,
// CHECK-NEXT:          %[[QKV]] via #{{.*}} : tensor<?x?x576xf32> as %{{.*}} : tensor<64xf32>)
// CHECK-NEXT:      outs(%{{.*}} via #[[$Q]] : tensor<?x?x192xf32>)
func.func @fused_buffers(%qkv: tensor<?x?x576xf32>, %init: tensor<?x?x192xf32>, %s0: tensor<?x3x64x64xf32>)
    -> (tensor<?x?x192xf32>, tensor<?x3x64x64xf32>) {
  %o, %sT = linattn.recurrence [parallel, time, parallel]
      ins(%qkv via affine_map<(b, t, h, d) -> (b, t, h * 64 + d)> : tensor<?x?x576xf32> as %qt : tensor<64xf32>,
          %qkv via affine_map<(b, t, h, d) -> (b, t, 192 + h * 64 + d)> : tensor<?x?x576xf32> as %kt : tensor<64xf32>,
          %qkv via affine_map<(b, t, h, d) -> (b, t, 384 + h * 64 + d)> : tensor<?x?x576xf32> as %vt : tensor<64xf32>)
      outs(%init via affine_map<(b, t, h, d) -> (b, t, h * 64 + d)> : tensor<?x?x192xf32>)
      states(%s0 via affine_map<(b, t, h, k, v) -> (b, h, k, v)> : tensor<?x3x64x64xf32> as %S : tensor<64x64xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<64x64xf32>, tensor<64xf32>
    linattn.yield %ot, %S1 : tensor<64xf32>, tensor<64x64xf32>
  }
  return %o, %sT : tensor<?x?x192xf32>, tensor<?x3x64x64xf32>
}

// Heads grouped the other way (`mod`), time in blocks, interleaved heads whose number is odd.
// CHECK-LABEL: func.func @digits
// CHECK:           ins(%{{.*}} via #[[$MOD]] : tensor<2x64x4x8xf32>
// CHECK:           outs(%{{.*}} via #[[$BLOCKS]] : tensor<2x4x16x12x8xf32>)
func.func @digits(%k: tensor<2x64x4x8xf32>, %x: tensor<2x4x16x12x8xf32>, %w: tensor<2x64x12xf32>)
    -> tensor<2x4x16x12x8xf32> {
  %o = linattn.recurrence [parallel, time, parallel]
      ins(%k via affine_map<(b, t, h, d) -> (b, t, h mod 4, d)> : tensor<2x64x4x8xf32> as %kt : tensor<8xf32>,
          %w via affine_map<(b, t, h) -> (b, t, h)> : tensor<2x64x12xf32> as %wt : f32)
      outs(%x via affine_map<(b, t, h, d) -> (b, t floordiv 16, t mod 16, h, d)> : tensor<2x4x16x12x8xf32>) {
    %ws = tensor.splat %wt : tensor<8xf32>
    %ot = arith.mulf %kt, %ws : tensor<8xf32>
    linattn.yield %ot : tensor<8xf32>
  }
  return %o : tensor<2x4x16x12x8xf32>
}

// Three heads, even ones first: index 2 * 8 + 7 is the last, although both digits have a larger reach.
// CHECK-LABEL: func.func @interleaved_heads
// CHECK:         outs(%{{.*}} via #{{.*}} : tensor<?x24xf32>)
func.func @interleaved_heads(%x: tensor<?x3x8xf32>, %init: tensor<?x24xf32>) -> tensor<?x24xf32> {
  %o = linattn.recurrence [time, parallel]
      ins(%x via affine_map<(t, h, d) -> (t, h, d)> : tensor<?x3x8xf32> as %xt : tensor<8xf32>)
      outs(%init via affine_map<(t, h, d) -> (t, (h mod 2) * 16 + (h floordiv 2) * 8 + d)> : tensor<?x24xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return %o : tensor<?x24xf32>
}

// Time runs over the two axes of an image.
// CHECK-LABEL: func.func @column_major_scan
// CHECK:         ins(%{{.*}} via #{{.*}} : tensor<4x6x8xf32> as %{{.*}} : tensor<8xf32>,
func.func @column_major_scan(%image: tensor<4x6x8xf32>, %weights: tensor<24xf32>) -> tensor<4x6x8xf32> {
  %o = linattn.recurrence [time]
      ins(%image via affine_map<(t, d) -> (t mod 4, t floordiv 4, d)> : tensor<4x6x8xf32> as %xt : tensor<8xf32>,
          %weights via affine_map<(t) -> (t)> : tensor<24xf32> as %wt : f32)
      outs(%image via affine_map<(t, d) -> (t mod 4, t floordiv 4, d)> : tensor<4x6x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return %o : tensor<4x6x8xf32>
}

// A scalar operand enters through a map to (); slices may be dynamic.
// CHECK-LABEL: func.func @scalars_and_dynamic_slices
// CHECK:           ins(%{{.*}} via #{{.*}} : f32 as %[[G:.*]] : f32,
// CHECK:           states(%{{.*}} : tensor<?x?x?xf32> as %[[S:.*]] : tensor<?x?xf32>) {
// CHECK-NEXT:    linattn.decay %[[S]] by %[[G]] : tensor<?x?xf32>, f32
// CHECK-NEXT:    linattn.write %{{.*}} at %[[KT:.*]] along 0 value %[[VT:.*]] : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
func.func @scalars_and_dynamic_slices(%g: f32, %k: tensor<?x?x?xf32>, %v: tensor<?x?x?xf32>, %s0: tensor<?x?x?xf32>)
    -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %o, %sT = linattn.recurrence [parallel, time]
      ins(%g via affine_map<(b, t) -> ()> : f32 as %gt : f32,
          %k via affine_map<(b, t, d) -> (b, t, d)> : tensor<?x?x?xf32> as %kt : tensor<?xf32>,
          %v via affine_map<(b, t, d) -> (b, t, d)> : tensor<?x?x?xf32> as %vt : tensor<?xf32>)
      outs(%v via affine_map<(b, t, d) -> (b, t, d)> : tensor<?x?x?xf32>)
      states(%s0 via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<?x?x?xf32> as %S : tensor<?x?xf32>) {
    %X = linattn.decay %S by %gt : tensor<?x?xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<?x?xf32>, tensor<?xf32>
    linattn.yield %ot, %S1 : tensor<?xf32>, tensor<?x?xf32>
  }
  return %o, %sT : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}

// A recurrence may only compute its final state, and time need not come last or have company.
// CHECK-LABEL: func.func @state_only
// CHECK:       linattn.recurrence [time]{{$}}
// CHECK-NOT:       outs
func.func @state_only(%a: tensor<?x8xcomplex<f32>>, %x: tensor<?x8xcomplex<f32>>, %h0: tensor<8xcomplex<f32>>)
    -> tensor<8xcomplex<f32>> {
  %h = linattn.recurrence [time]
      ins(%a via affine_map<(t, d) -> (t, d)> : tensor<?x8xcomplex<f32>> as %at : tensor<8xcomplex<f32>>,
          %x via affine_map<(t, d) -> (t, d)> : tensor<?x8xcomplex<f32>> as %xt : tensor<8xcomplex<f32>>)
      states(%h0 via affine_map<(t, d) -> (d)> : tensor<8xcomplex<f32>> as %S : tensor<8xcomplex<f32>>) {
    // CHECK: linattn.decay %{{.*}} by linear %{{.*}} along [0] : tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>
    %X = linattn.decay %S by linear %at along [0] : tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>
    %one = complex.constant [1.0 : f32, 0.0 : f32] : complex<f32>
    // CHECK: linattn.write %{{.*}} at %{{.*}} along 0 value %{{.*}} : tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>, complex<f32>
    %S1 = linattn.write %X at %xt along 0 value %one : tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>, complex<f32>
    // CHECK: linattn.yield %{{.*}} : tensor<8xcomplex<f32>>
    linattn.yield %S1 : tensor<8xcomplex<f32>>
  }
  return %h : tensor<8xcomplex<f32>>
}

// Every form of the step ops.
// CHECK-LABEL: func.func @step_ops
func.func @step_ops(%S: tensor<4x8xf32>, %z: tensor<4xf32>, %g: f32, %gh: f16, %gk: tensor<4xf32>, %gv: tensor<8xf32>,
    %w: tensor<4x8xf32>, %rk: tensor<3x4xbf16>, %rv: tensor<3x8xf32>, %r: tensor<3xf32>, %dyn: tensor<?x4xf32>,
    %c: tensor<4x8xcomplex<f64>>) {
  // CHECK: linattn.decay %{{.*}} by %{{.*}} : tensor<4x8xf32>, f32
  %0 = linattn.decay %S by %g : tensor<4x8xf32>, f32
  // CHECK: linattn.decay %{{.*}} by %{{.*}} : tensor<4x8xf32>, f16
  %1 = linattn.decay %S by %gh : tensor<4x8xf32>, f16
  // CHECK: linattn.decay %{{.*}} by %{{.*}} along [0] : tensor<4x8xf32>, tensor<4xf32>
  %2 = linattn.decay %S by %gk along [0] : tensor<4x8xf32>, tensor<4xf32>
  // CHECK: linattn.decay %{{.*}} by linear %{{.*}} along [1] : tensor<4x8xf32>, tensor<8xf32>
  %3 = linattn.decay %S by linear %gv along [1] : tensor<4x8xf32>, tensor<8xf32>
  // CHECK: linattn.decay %{{.*}} by %{{.*}} along [0, 1] {site = "gate"} : tensor<4x8xf32>, tensor<4x8xf32>
  %4 = linattn.decay %S by %w along [0, 1] {site = "gate"} : tensor<4x8xf32>, tensor<4x8xf32>
  // CHECK: linattn.decay %{{.*}} by linear %{{.*}} : tensor<4x8xcomplex<f64>>, f16
  %5 = linattn.decay %c by linear %gh : tensor<4x8xcomplex<f64>>, f16
  // CHECK: %[[R0:.*]] = linattn.read %{{.*}} at %{{.*}} along 0 : tensor<4x8xf32>, tensor<4xf32>
  // CHECK: %[[R1:.*]] = linattn.read %{{.*}} at %{{.*}} along 1 : tensor<4x8xf32>, tensor<8xf32>
  // CHECK: arith.addf %[[R0]], %{{.*}} : tensor<8xf32>
  // CHECK: arith.addf %[[R1]], %{{.*}} : tensor<4xf32>
  %6 = linattn.read %S at %gk along 0 : tensor<4x8xf32>, tensor<4xf32>
  %7 = linattn.read %S at %gv along 1 : tensor<4x8xf32>, tensor<8xf32>
  %8 = arith.addf %6, %gv : tensor<8xf32>
  %9 = arith.addf %7, %gk : tensor<4xf32>
  // CHECK: %[[R2:.*]] = linattn.read %{{.*}} at %{{.*}} along 0 : tensor<4x8xf32>, tensor<3x4xbf16>
  // CHECK: arith.addf %[[R2]], %{{.*}} : tensor<3x8xf32>
  %10 = linattn.read %S at %rk along 0 : tensor<4x8xf32>, tensor<3x4xbf16>
  %11 = arith.addf %10, %rv : tensor<3x8xf32>
  // CHECK: %[[R3:.*]] = linattn.read %{{.*}} at %{{.*}} along 0 : tensor<4xf32>, tensor<3x4xbf16>
  // CHECK: arith.addf %[[R3]], %{{.*}} : tensor<3xf32>
  %12 = linattn.read %z at %rk along 0 : tensor<4xf32>, tensor<3x4xbf16>
  %13 = arith.addf %12, %r : tensor<3xf32>
  // CHECK: linattn.read %{{.*}} at %{{.*}} along 0 : tensor<4x8xf32>, tensor<?x4xf32>
  %14 = linattn.read %S at %dyn along 0 : tensor<4x8xf32>, tensor<?x4xf32>
  // CHECK: linattn.write %{{.*}} at %{{.*}} along 0 value %{{.*}} : tensor<4x8xf32>, tensor<3x4xbf16>, tensor<3x8xf32>
  %15 = linattn.write %S at %rk along 0 value %rv : tensor<4x8xf32>, tensor<3x4xbf16>, tensor<3x8xf32>
  // CHECK: linattn.write %{{.*}} at %{{.*}} along 1 value %{{.*}} : tensor<4x8xf32>, tensor<3x8xf32>, tensor<3x4xbf16>
  %16 = linattn.write %S at %rv along 1 value %rk : tensor<4x8xf32>, tensor<3x8xf32>, tensor<3x4xbf16>
  // CHECK: linattn.write %{{.*}} at %{{.*}} along 0 value %{{.*}} : tensor<4xf32>, tensor<3x4xbf16>, tensor<3xf32>
  %17 = linattn.write %z at %rk along 0 value %r : tensor<4xf32>, tensor<3x4xbf16>, tensor<3xf32>
  return
}

// Control flow, contractions and another recurrence are allowed inside.
// CHECK-LABEL: func.func @ops_inside
// CHECK:       linattn.recurrence
// CHECK:         scf.for
// CHECK:         linalg.matmul
// CHECK:         linattn.recurrence [time]
func.func @ops_inside(%x: tensor<?x8x8xf32>) -> tensor<?x8x8xf32> {
  %o = linattn.recurrence [time]
      ins(%x via affine_map<(t, i, j) -> (t, i, j)> : tensor<?x8x8xf32> as %xt : tensor<8x8xf32>)
      outs(%x via affine_map<(t, i, j) -> (t, i, j)> : tensor<?x8x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %xt) -> tensor<8x8xf32> {
      %p = linalg.matmul ins(%acc, %xt : tensor<8x8xf32>, tensor<8x8xf32>) outs(%acc : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %p : tensor<8x8xf32>
    }
    %inner = linattn.recurrence [time]
        ins(%y via affine_map<(t, j) -> (t, j)> : tensor<8x8xf32> as %row : tensor<8xf32>)
        outs(%y via affine_map<(t, j) -> (t, j)> : tensor<8x8xf32>) {
      linattn.yield %row : tensor<8xf32>
    }
    linattn.yield %inner : tensor<8x8xf32>
  }
  return %o : tensor<?x8x8xf32>
}

// CHECK-LABEL: func.func @plans
// CHECK-SAME:    default = #linattn.plan<strategy = token>
// CHECK-SAME:    tiny = #linattn.plan<strategy = sweep, chunk = 4, source = constant>
func.func @plans() attributes {default = #linattn.plan<strategy = token, chunk = 1, source = user>,
                               tiny = #linattn.plan<strategy = sweep, chunk = 4, source = constant>} {
  return
}
