// Scans over tiles of as many columns as fit, and what is left behind the last tile.

// RUN: la-opt %s "--linattn-tile-columns=bytes=1024 columns=8" --split-input-file | FileCheck %s
// RUN: not la-opt %s --split-input-file --linattn-tile-columns=bytes=0 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not la-opt %s --split-input-file --linattn-tile-columns=columns=0 2>&1 | FileCheck %s --check-prefix=COLUMNS

// BYTES: error: bytes must be positive, got 0
// COLUMNS: error: columns must be positive, got 0

#chan = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// 4 numbers of the state and 4 of the constant are 32 bytes per column: 32 columns, so 3 tiles and 4
// columns, which update what the tiles have updated.
// CHECK-DAG: #[[TILE:.+]] = affine_map<(d0, d1, d2) -> (d0, d1 * 32 + d2)>
// CHECK-DAG: #[[TILES:.+]] = affine_map<(d0, d1, d2, d3) -> (d2, d1 * 32 + d3)>
// CHECK-DAG: #[[REST:.+]] = affine_map<(d0, d1, d2) -> (d0, d1 * 4 + d2 + 96)>
// CHECK-DAG: #[[RESTS:.+]] = affine_map<(d0, d1, d2, d3) -> (d2, d1 * 4 + d3 + 96)>
// CHECK-LABEL: func @rest
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x100xf32>, %[[A:[^:]+]]: tensor<4x100xf32>, %{{.+}}, %[[O:[^:]+]]: tensor<?x100xf32>, %[[S:[^:]+]]: tensor<4x100xf32>
// CHECK:       tensor.empty() : tensor<3xi1>
// CHECK:       %[[R:.+]]:2 = linattn.recurrence [time, parallel]
// CHECK-NEXT:    ins(%[[X]] via #[[TILE]] : tensor<?x100xf32> as %{{.+}} : tensor<32xf32>
// CHECK:         %[[A]] via #[[TILES]] : tensor<4x100xf32> as %{{.+}} : tensor<4x32xf32>
// CHECK:         outs(%[[O]] via #[[TILE]] : tensor<?x100xf32>)
// CHECK:         states(%[[S]] via #[[TILES]] : tensor<4x100xf32> as %{{.+}} : tensor<4x32xf32>)
// CHECK:       tensor.empty() : tensor<1xi1>
// CHECK:       %[[Q:.+]]:2 = linattn.recurrence [time, parallel]
// CHECK-NEXT:    ins(%[[X]] via #[[REST]] : tensor<?x100xf32> as %{{.+}} : tensor<4xf32>
// CHECK:         %[[A]] via #[[RESTS]] : tensor<4x100xf32> as %{{.+}} : tensor<4x4xf32>
// CHECK:         outs(%[[R]]#0 via #[[REST]] : tensor<?x100xf32>)
// CHECK:         states(%[[R]]#1 via #[[RESTS]] : tensor<4x100xf32> as %{{.+}} : tensor<4x4xf32>)
// CHECK:       return %[[Q]]#0, %[[Q]]#1
func.func @rest(%x: tensor<?x100xf32>, %a: tensor<4x100xf32>, %c: tensor<?x4xf32>, %o: tensor<?x100xf32>, %s: tensor<4x100xf32>) -> (tensor<?x100xf32>, tensor<4x100xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%x via #chan : tensor<?x100xf32> as %xt : tensor<100xf32>, %a via #mat : tensor<4x100xf32> as %A : tensor<4x100xf32>,
          %c via #chan : tensor<?x4xf32> as %ct : tensor<4xf32>)
      outs(%o via #chan : tensor<?x100xf32>)
      states(%s via #mat : tensor<4x100xf32> as %S : tensor<4x100xf32>) {
    %S1 = linattn.decay %S by %A along [0, 1] : tensor<4x100xf32>, tensor<4x100xf32>
    %S2 = linattn.decay %S1 by %xt along [1] : tensor<4x100xf32>, tensor<100xf32>
    %y = linattn.read %S2 at %ct along 0 : tensor<4x100xf32>, tensor<4xf32>
    linattn.yield %y, %S2 : tensor<100xf32>, tensor<4x100xf32>
  }
  return %r#0, %r#1 : tensor<?x100xf32>, tensor<4x100xf32>
}

// -----

#chan = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// 16 bytes per column: all fit. A plan that keeps columns together, a state that no tile could write
// alone, and a low-rank state.
// CHECK-LABEL: func @whole
// CHECK-COUNT-5: linattn.recurrence [time]{{$}}
// CHECK-NOT:   linattn.recurrence
func.func @whole(%x: tensor<?x64xf32>, %y: tensor<?x200xf32>, %c: tensor<?x4xf32>, %s: tensor<4x64xf32>, %w: tensor<4x200xf32>, %z: tensor<4xf32>)
    -> (tensor<4x64xf32>, tensor<4x200xf32>, tensor<4xf32>, tensor<4x200xf32>) {
  %fits = linattn.recurrence [time]
      ins(%x via #chan : tensor<?x64xf32> as %xt : tensor<64xf32>)
      states(%s via #mat : tensor<4x64xf32> as %S : tensor<4x64xf32>) {
    %S1 = math.sin %S : tensor<4x64xf32>
    linattn.yield %S1 : tensor<4x64xf32>
  }
  %two:2 = linattn.recurrence [time]
      ins(%c via #chan : tensor<?x4xf32> as %ct : tensor<4xf32>)
      states(%w via #mat : tensor<4x200xf32> as %S : tensor<4x200xf32>, %z via affine_map<(t, k) -> (k)> : tensor<4xf32> as %Z : tensor<4xf32>) {
    %S1 = math.sin %S : tensor<4x200xf32>
    %Z1 = arith.addf %Z, %ct : tensor<4xf32>
    linattn.yield %S1, %Z1 : tensor<4x200xf32>, tensor<4xf32>
  }
  %chunks:2 = linattn.recurrence [time]
      ins(%y via #chan : tensor<?x200xf32> as %yt : tensor<200xf32>, %c via #chan : tensor<?x4xf32> as %ct : tensor<4xf32>)
      outs(%y via #chan : tensor<?x200xf32>)
      states(%two#0 via #mat : tensor<4x200xf32> as %S : tensor<4x200xf32>) {
    %S1 = linattn.write %S at %ct along 0 value %yt : tensor<4x200xf32>, tensor<4xf32>, tensor<200xf32>
    %o = linattn.read %S1 at %ct along 0 : tensor<4x200xf32>, tensor<4xf32>
    linattn.yield %o, %S1 : tensor<200xf32>, tensor<4x200xf32>
  }
  %mixed = linattn.recurrence [time]
      ins(%y via #chan : tensor<?x200xf32> as %yt : tensor<200xf32>)
      states(%chunks#1 via #mat : tensor<4x200xf32> as %S : tensor<4x200xf32>) {
    %e = tensor.empty() : tensor<4x200xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(k, v) -> (3 - k, 199 - v)>, affine_map<(k, v) -> (k, v)>], iterator_types = ["parallel", "parallel"]}
        ins(%S : tensor<4x200xf32>) outs(%e : tensor<4x200xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x200xf32>
    linattn.yield %t : tensor<4x200xf32>
  }
  %plan = linattn.recurrence [time]
      ins(%y via #chan : tensor<?x200xf32> as %yt : tensor<200xf32>)
      states(%mixed via #mat : tensor<4x200xf32> as %S : tensor<4x200xf32>) attributes {plan = #linattn.plan<strategy = token>} {
    %S1 = math.sin %S : tensor<4x200xf32>
    linattn.yield %S1 : tensor<4x200xf32>
  }
  return %fits, %plan, %two#1, %plan : tensor<4x64xf32>, tensor<4x200xf32>, tensor<4xf32>, tensor<4x200xf32>
}
