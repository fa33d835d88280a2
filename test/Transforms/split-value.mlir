// A new last parallel dim over tiles of value columns, and which operands it cuts.

// RUN: la-opt %s --linattn-split-value=tile=16 --split-input-file | FileCheck %s
// RUN: la-opt %s --linattn-split-value --split-input-file --remarks-filter=linattn-split-value --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

#qk = affine_map<(n, t, h, d) -> (t, h floordiv 2, d)>
#fused = affine_map<(n, t, h, d) -> (t, h * 64 + d + 256)>
#val = affine_map<(n, t, h, d) -> (t, h, d)>
#sca = affine_map<(n, t, h) -> (t, h)>
#st = affine_map<(n, t, h, k, v) -> (n, h, k, v)>

// Keys and numbers stay whole; a column of a fused buffer is a sum of dims.
// CHECK-DAG: #[[QK:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2 floordiv 2, d4)>
// CHECK-DAG: #[[FUSED:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2 * 64 + d3 * 16 + d4 + 256)>
// CHECK-DAG: #[[SCA:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
// CHECK-DAG: #[[TILES:.+]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-DAG: #[[VAL:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3 * 16 + d4)>
// CHECK-DAG: #[[ST:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d4, d3 * 16 + d5)>

// CHECK-LABEL: func @delta_rule
// CHECK:       %[[COUNT:.+]] = tensor.empty() : tensor<4xi1>
// CHECK-NEXT:  linattn.recurrence [segment, time, parallel, parallel] reverse
// CHECK-NEXT:    ins(%{{.+}} via #[[QK]] : tensor<?x2x8xf32> as %{{.+}} : tensor<8xf32>
// CHECK-NEXT:        %{{.+}} via #[[FUSED]] : tensor<?x512xf32> as %{{.+}} : tensor<16xf32>
// CHECK-NEXT:        %{{.+}} via #[[SCA]] : tensor<?x4xf32> as %{{.+}} : f32
// CHECK-NEXT:        %[[COUNT]] via #[[TILES]] : tensor<4xi1> as %{{.+}} : i1)
// CHECK-NEXT:    segments
// CHECK-NEXT:    outs(%{{.+}} via #[[VAL]] : tensor<?x4x64xf32>)
// CHECK-NEXT:    states(%{{.+}} via #[[ST]] : tensor<?x4x8x64xf32> as %{{.+}} : tensor<8x16xf32>)
// CHECK-NEXT:    attributes {tag}
// CHECK:         arith.constant dense<2.000000e+00> : tensor<16xf32>
// CHECK:         linattn.yield %{{.+}} : tensor<16xf32>, tensor<8x16xf32>
// REMARK: [Passed] split-value | Category:linattn-split-value | Remark="2 tiles of 32 value columns"
func.func @delta_rule(%k: tensor<?x2x8xf32>, %qkv: tensor<?x512xf32>, %beta: tensor<?x4xf32>, %cu: tensor<?xi32>, %o: tensor<?x4x64xf32>, %s: tensor<?x4x8x64xf32>) -> (tensor<?x4x64xf32>, tensor<?x4x8x64xf32>) {
  %r:2 = linattn.recurrence [segment, time, parallel] reverse
      ins(%k via #qk : tensor<?x2x8xf32> as %kt : tensor<8xf32>,
          %qkv via #fused : tensor<?x512xf32> as %vt : tensor<64xf32>,
          %beta via #sca : tensor<?x4xf32> as %bt : f32)
      segments(%cu : tensor<?xi32>)
      outs(%o via #val : tensor<?x4x64xf32>)
      states(%s via #st : tensor<?x4x8x64xf32> as %S : tensor<8x64xf32>)
      attributes {tag} {
    %two = arith.constant dense<2.0> : tensor<64xf32>
    %r = linattn.read %S at %kt along 0 : tensor<8x64xf32>, tensor<8xf32>
    %e = arith.subf %vt, %r : tensor<64xf32>
    %b = tensor.splat %bt : tensor<64xf32>
    %d = arith.mulf %b, %e : tensor<64xf32>
    %S1 = linattn.write %S at %kt along 0 value %d : tensor<8x64xf32>, tensor<8xf32>, tensor<64xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x64xf32>, tensor<8xf32>
    %y = arith.mulf %ot, %two : tensor<64xf32>
    linattn.yield %y, %S1 : tensor<64xf32>, tensor<8x64xf32>
  }
  return %r#0, %r#1 : tensor<?x4x64xf32>, tensor<?x4x8x64xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#rows = affine_map<(t, r, d) -> (t, r, d)>
#mat = affine_map<(t, v, k) -> (v, k)>
#all = affine_map<(t, v, k) -> (t, v, k)>

// States whose columns come first, checkpoints, matrices of values of which a row is cut out, linalg
// ops that are elementwise in columns, and a decay of columns.
// CHECK-DAG: #[[MAT:.+]] = affine_map<(d0, d1, d2, d3) -> (d1 * 16 + d2, d3)>
// CHECK-DAG: #[[ALL:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 16 + d2, d3)>
// CHECK-DAG: #[[ROWS:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1 * 16 + d3)>
// CHECK-LABEL: func @transposed
// CHECK:       via #[[ROWS]] : tensor<?x2x48xf32> as %{{.+}} : tensor<2x16xf32>
// CHECK:       states(%{{.+}} via #[[MAT]] : tensor<48x8xf32> as %{{.+}} : tensor<16x8xf32>)
// CHECK:       checkpoints(%{{.+}} via #[[ALL]] : tensor<?x48x8xf32>) every 4
// CHECK:         tensor.extract_slice %{{.+}}[1, 0] [1, 16] [1, 1] : tensor<2x16xf32> to tensor<16xf32>
// CHECK:         linalg.reduce {{.*}} ins(%{{.+}} : tensor<2x16xf32>) outs(%{{.+}} : tensor<16xf32>)
// CHECK:         linattn.decay %{{.+}} by %{{.+}} along [0] : tensor<16x8xf32>, tensor<16xf32>
// 48 columns are no multiple of 32:
// REMARK: [Missed] split-value | Category:linattn-split-value | Remark="the number of value columns, 48, is no multiple of the tile of 32"
func.func @transposed(%k: tensor<?x8xf32>, %v: tensor<?x2x48xf32>, %o: tensor<?x48xf32>, %s: tensor<48x8xf32>, %c: tensor<?x48x8xf32>) -> (tensor<?x48xf32>, tensor<48x8xf32>, tensor<?x48x8xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via #rows : tensor<?x2x48xf32> as %vt : tensor<2x48xf32>)
      outs(%o via #vec : tensor<?x48xf32>)
      states(%s via #mat : tensor<48x8xf32> as %S : tensor<48x8xf32>)
      checkpoints(%c via #all : tensor<?x48x8xf32>) every 4 {
    %v1 = tensor.extract_slice %vt[1, 0] [1, 48] [1, 1] : tensor<2x48xf32> to tensor<48xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<48xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<48xf32>) -> tensor<48xf32>
    %sum = linalg.reduce { arith.addf } ins(%vt : tensor<2x48xf32>) outs(%z : tensor<48xf32>) dimensions = [0]
    %X = linattn.decay %S by %sum along [0] : tensor<48x8xf32>, tensor<48xf32>
    %S1 = linattn.write %X at %kt along 1 value %v1 : tensor<48x8xf32>, tensor<8xf32>, tensor<48xf32>
    %ot = linattn.read %S1 at %kt along 1 : tensor<48x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<48xf32>, tensor<48x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x48xf32>, tensor<48x8xf32>, tensor<?x48x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// A plan wins over the option, also in saying that there are no tiles.
// CHECK-LABEL: func @plans
// CHECK:       tensor.empty() : tensor<2xi1>
// CHECK:       linattn.recurrence [time, parallel]
// CHECK:         attributes {plan = #linattn.plan<strategy = token, value_tile = 32>}
// CHECK:       linattn.recurrence [time]
// REMARK: 2 tiles of 32
// REMARK-NOT: Category:linattn-split-value
func.func @plans(%k: tensor<?x8xf32>, %v: tensor<?x64xf32>, %s: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x64xf32> as %vt : tensor<64xf32>)
      states(%s via #mat : tensor<8x64xf32> as %S : tensor<8x64xf32>) attributes {plan = #linattn.plan<strategy = token, value_tile = 32>} {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x64xf32>, tensor<8xf32>, tensor<64xf32>
    linattn.yield %S1 : tensor<8x64xf32>
  }
  %b = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x64xf32> as %vt : tensor<64xf32>)
      states(%a via #mat : tensor<8x64xf32> as %S : tensor<8x64xf32>) attributes {plan = #linattn.plan<strategy = token>} {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x64xf32>, tensor<8xf32>, tensor<64xf32>
    linattn.yield %S1 : tensor<8x64xf32>
  }
  return %a, %b : tensor<8x64xf32>, tensor<8x64xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// No more columns than a tile: nothing to do.
// CHECK-LABEL: func @few_columns
// CHECK:       linattn.recurrence [time]
func.func @few_columns(%k: tensor<?x8xf32>, %v: tensor<?x16xf32>, %s: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %a = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x16xf32> as %vt : tensor<16xf32>)
      states(%s via #mat : tensor<8x16xf32> as %S : tensor<8x16xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
    linattn.yield %S1 : tensor<8x16xf32>
  }
  return %a : tensor<8x16xf32>
}

// -----

#rows = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// After chunking as before it: rows of a step are tokens.
// CHECK-DAG: #[[VAL:.+]] = affine_map<(d0, d1, d2) -> (d0, d1 * 16 + d2)>
// CHECK-DAG: #[[NONE:.+]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func @chunk
// CHECK:       linattn.recurrence [time, parallel] step(%{{.+}} of 4)
// CHECK:         via #[[VAL]] : tensor<?x32xf32> as %{{.+}} : tensor<4x16xf32>
// CHECK:         position_offset(%{{.+}} via #[[NONE]] : i64)
// CHECK:         %[[A:.+]] = linattn.bracket {{.*}} : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK:         linattn.solve %[[A]], %{{.+}} : tensor<4x4xf32>, tensor<4x16xf32>
func.func @chunk(%k: tensor<?x8xf32>, %v: tensor<?x32xf32>, %p: i64, %s: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %a = linattn.recurrence [time] step(%live of 4)
      ins(%k via #rows : tensor<?x8xf32> as %kt : tensor<4x8xf32>, %v via #rows : tensor<?x32xf32> as %vt : tensor<4x32xf32>)
      position_offset(%p via affine_map<(t) -> ()> : i64)
      states(%s via #mat : tensor<8x32xf32> as %S : tensor<8x32xf32>) {
    %A = linattn.bracket %kt, %kt : tensor<4x8xf32>, tensor<4x8xf32>
    %x = linattn.solve %A, %vt : tensor<4x4xf32>, tensor<4x32xf32>
    %S1 = linattn.write %S at %kt along 0 value %x : tensor<8x32xf32>, tensor<4x8xf32>, tensor<4x32xf32>
    linattn.yield %S1 : tensor<8x32xf32>
  }
  return %a : tensor<8x32xf32>
}
