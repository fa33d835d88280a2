// Parts of time that run in parallel: what each adds, where each starts, what comes out.

// RUN: la-opt %s --linattn-split-time="parts=3 chunk=8" --canonicalize | FileCheck %s
// RUN: la-opt %s --linattn-split-time="parts=0" | FileCheck %s --check-prefix=WHOLE
// RUN: la-opt %s --linattn-split-time="parts=3" --remarks-filter=linattn-split-time --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#tok = affine_map<(b, t, h, d) -> (b, t, h, d)>
#key = affine_map<(b, t, h, d) -> (b, t, h floordiv 2, d)>
#sca = affine_map<(b, t, h) -> (b, t, h)>
#st = affine_map<(b, t, h, k, v) -> (b, h, k, v)>
#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// CHECK-DAG: #[[BORDER:.+]] = affine_map<()[s0] -> ((s0 ceildiv 24) * 8, s0)>
// CHECK-DAG: #[[BORDER2:.+]] = affine_map<()[s0] -> ((s0 ceildiv 24) * 16, s0)>
// CHECK-DAG: #[[TOKEN:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[KEY:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 floordiv 2, d4)>
// CHECK-DAG: #[[STATE:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d2, d4, d5)>
// CHECK-DAG: #[[PRODUCT:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d2, d4)>
// CHECK-DAG: #[[STATE_OF:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d0, d2, d3, d4)>
// CHECK-DAG: #[[NUMBER_OF:.+]] = affine_map<(d0, d1, d2) -> (d1, d0, d2, 0)>
// CHECK-DAG: #[[ROW_OF:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d2, d3)>
// CHECK-DAG: #[[WHOLE_STATE:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>

// WHOLE-LABEL: func @two_decays
// WHOLE-COUNT-1: linattn.recurrence
// WHOLE-NOT:   segments

// CHECK-LABEL: func @two_decays(
// CHECK-SAME:    %[[Q:.+]]: tensor<?x?x2x16xf32>, %[[K:.+]]: tensor<?x?x2x16xf32>, %[[V:.+]]: tensor<?x?x4x8xf32>, %[[G:.+]]: tensor<?x?x4xf32>,
// CHECK-SAME:    %[[W:.+]]: tensor<?x?x4x16xf32>, %[[O:.+]]: tensor<?x?x4x8xf32>, %[[S0:.+]]: tensor<?x4x16x8xf32>)
// CHECK-DAG:   %[[B1:.+]] = affine.min #[[BORDER]]()[%{{.+}}]
// CHECK-DAG:   %[[B2:.+]] = affine.min #[[BORDER2]]()[%{{.+}}]
// CHECK-DAG:   %[[I1:.+]] = arith.index_cast %[[B1]] : index to i64
// CHECK-DAG:   %[[I2:.+]] = arith.index_cast %[[B2]] : index to i64
// CHECK:       %[[PARTS:.+]] = tensor.from_elements %{{.+}}, %[[I1]], %[[I2]], %{{.+}} : tensor<4xi64>
// CHECK:       %[[ZERO:.+]] = linalg.fill {{.*}} -> tensor<3x?x4x16x8xf32>
// CHECK:       %[[ONE_W:.+]] = linalg.fill {{.*}} -> tensor<3x?x4x16xf32>
// CHECK:       %[[ONE_G:.+]] = linalg.fill {{.*}} -> tensor<3x?x4x1xf32>
// CHECK:       %[[SUMS:.+]]:3 = linattn.recurrence [parallel, time, parallel, segment]
// CHECK-NEXT:    ins(%[[K]] via #[[KEY]] : {{.+}} as %[[KT:.+]] : tensor<16xf32>,
// CHECK-NEXT:        %[[V]] via #[[TOKEN]] : {{.+}} as %[[VT:.+]] : tensor<8xf32>,
// CHECK-NEXT:        %[[G]] via #{{.+}} : {{.+}} as %[[GT:.+]] : f32,
// CHECK-NEXT:        %[[W]] via #[[TOKEN]] : {{.+}} as %[[WT:.+]] : tensor<16xf32>)
// CHECK-NEXT:    segments(%[[PARTS]] : tensor<4xi64>)
// CHECK-NEXT:    states(%[[ZERO]] via #[[STATE]] : tensor<3x?x4x16x8xf32> as %[[S:.+]] : tensor<16x8xf32>,
// CHECK-NEXT:           %[[ONE_W]] via #[[PRODUCT]] : tensor<3x?x4x16xf32> as %[[DW:.+]] : tensor<16xf32>,
// CHECK-NEXT:           %[[ONE_G]] via #[[PRODUCT]] : tensor<3x?x4x1xf32> as %[[DG:.+]] : tensor<1xf32>) {
// CHECK-NEXT:      %[[X:.+]] = linattn.decay %[[S]] by %[[GT]] : tensor<16x8xf32>, f32
// CHECK-NEXT:      %[[Y:.+]] = linattn.write %[[X]] at %[[KT]] along 0 value %[[VT]]
// CHECK-NEXT:      %[[S1:.+]] = linattn.decay %[[Y]] by linear %[[WT]] along [0]
// CHECK-NEXT:      %[[DW1:.+]] = linattn.decay %[[DW]] by linear %[[WT]] along [0] : tensor<16xf32>, tensor<16xf32>
// CHECK-NEXT:      %[[DG1:.+]] = linattn.decay %[[DG]] by %[[GT]] : tensor<1xf32>, f32
// CHECK-NEXT:      linattn.yield %[[S1]], %[[DW1]], %[[DG1]]
// CHECK:       %[[STARTS:.+]]:2 = linattn.recurrence [parallel, time, parallel]
// CHECK-NEXT:    ins(%[[SUMS]]#0 via #[[STATE_OF]] : {{.+}} as %[[U:.+]] : tensor<16x8xf32>,
// CHECK-NEXT:        %[[SUMS]]#1 via #[[ROW_OF]] : {{.+}} as %[[DW:.+]] : tensor<16xf32>,
// CHECK-NEXT:        %[[SUMS]]#2 via #[[NUMBER_OF]] : {{.+}} as %[[DG:.+]] : f32)
// CHECK-NEXT:    outs(%{{.+}} via #[[STATE_OF]] : tensor<3x?x4x16x8xf32>)
// CHECK-NEXT:    states(%[[S0]] via #[[WHOLE_STATE]] : tensor<?x4x16x8xf32> as %[[S:.+]] : tensor<16x8xf32>)
// CHECK-NEXT:    attributes {plan = #linattn.plan<strategy = token, source = constant>} {
// CHECK-NEXT:      %[[X:.+]] = linattn.decay %[[S]] by linear %[[DW]] along [0]
// CHECK-NEXT:      %[[Y:.+]] = linattn.decay %[[X]] by linear %[[DG]]
// CHECK-NEXT:      %[[S1:.+]] = arith.addf %[[Y]], %[[U]]
// CHECK-NEXT:      linattn.yield %[[S]], %[[S1]]
// CHECK:       %[[OUTPUTS:.+]]:2 = linattn.recurrence [parallel, time, parallel, segment]
// CHECK-NEXT:    ins(%[[Q]] via #[[KEY]]
// CHECK:         segments(%[[PARTS]] : tensor<4xi64>)
// CHECK-NEXT:    outs(%[[O]] via #[[TOKEN]] : tensor<?x?x4x8xf32>)
// CHECK-NEXT:    states(%[[STARTS]]#0 via #[[STATE]] : tensor<3x?x4x16x8xf32> as
// CHECK:         linattn.read
// CHECK:       return %[[OUTPUTS]]#0, %[[STARTS]]#1
func.func @two_decays(%q: tensor<?x?x2x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x4x8xf32>, %g: tensor<?x?x4xf32>,
    %w: tensor<?x?x4x16xf32>, %o: tensor<?x?x4x8xf32>, %s: tensor<?x4x16x8xf32>) -> (tensor<?x?x4x8xf32>, tensor<?x4x16x8xf32>) {
  // REMARK: [[#@LINE+1]]:10: remark: [Passed] split-time {{.*}}"3 parts of time"
  %r:2 = linattn.recurrence [parallel, time, parallel]
      ins(%q via #key : tensor<?x?x2x16xf32> as %qt : tensor<16xf32>,
          %k via #key : tensor<?x?x2x16xf32> as %kt : tensor<16xf32>,
          %v via #tok : tensor<?x?x4x8xf32> as %vt : tensor<8xf32>,
          %g via #sca : tensor<?x?x4xf32> as %gt : f32,
          %w via #tok : tensor<?x?x4x16xf32> as %wt : tensor<16xf32>)
      outs(%o via #tok : tensor<?x?x4x8xf32>)
      states(%s via #st : tensor<?x4x16x8xf32> as %S : tensor<16x8xf32>) {
    %X = linattn.decay %S by %gt : tensor<16x8xf32>, f32
    %Y = linattn.write %X at %kt along 0 value %vt : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    %S1 = linattn.decay %Y by linear %wt along [0] : tensor<16x8xf32>, tensor<16xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<16x8xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<16x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x4x8xf32>, tensor<?x4x16x8xf32>
}

// Time counts from the first token of all, and from the position offset; parts go last to first.
// CHECK-LABEL: func @position_in_reverse(
// CHECK:       %[[PARTS:.+]] = tensor.from_elements {{.+}} : tensor<4xi64>
// CHECK:       %[[BEFORE:.+]] = tensor.extract_slice %[[PARTS]][0] [3] [1] : tensor<4xi64> to tensor<3xi64>
// CHECK:       linattn.recurrence [time, segment] reverse
// CHECK:             %[[BEFORE]] via #{{.+}} : tensor<3xi64> as %[[B:.+]] : i64)
// CHECK-NEXT:    segments
// CHECK-NEXT:    position_offset(%{{.+}} via #{{.+}} : tensor<i64>)
// CHECK:         %[[T:.+]] = linattn.index 0
// CHECK-NEXT:    %[[C:.+]] = arith.index_cast %[[B]] : i64 to index
// CHECK-NEXT:    arith.addi %[[T]], %[[C]] : index
// CHECK:       linattn.recurrence [time] reverse
// CHECK:       linattn.recurrence [time, segment] reverse
// CHECK:         linattn.index 0
func.func @position_in_reverse(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %p: tensor<i64>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %r:2 = linattn.recurrence [time] reverse
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      position_offset(%p via affine_map<(t) -> ()> : tensor<i64>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via #mat : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %t = linattn.index 0
    %i = arith.index_cast %t : index to i32
    %f = arith.sitofp %i : i32 to f32
    %fv = tensor.splat %f : tensor<8xf32>
    %w = arith.mulf %fv, %vt : tensor<8xf32>
    %S1 = linattn.write %S at %kt along 0 value %w : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// Without outs and with a map of which no dim is bare, extents need operands of their own. The number
// of tokens is static, and so are the borders.
// CHECK-LABEL: func @extents(
// CHECK:       arith.constant dense<[0, 16, 32, 35]> : tensor<4xi64>
// CHECK:       %[[HEADS:.+]] = tensor.empty() : tensor<4xi1>
// CHECK:       linattn.recurrence [time, parallel, segment]
// CHECK:             %[[HEADS]] via #{{.+}} : tensor<4xi1> as %{{.+}} : i1)
// CHECK:       linattn.recurrence [time, parallel]
// CHECK:             %{{.+}} via #{{.+}} : tensor<4xi1> as %{{.+}} : i1)
func.func @extents(%k: tensor<35x8xf32>, %v: tensor<35x8xf32>, %o: tensor<35x4x8xf32>, %s: tensor<32x8xf32>) -> (tensor<35x4x8xf32>, tensor<32x8xf32>) {
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via affine_map<(t, h, d) -> (t, d)> : tensor<35x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, h, d) -> (t, d)> : tensor<35x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, h, d) -> (t, h, d)> : tensor<35x4x8xf32>)
      states(%s via affine_map<(t, h, k, v) -> (h * 8 + k, v)> : tensor<32x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<35x4x8xf32>, tensor<32x8xf32>
}
