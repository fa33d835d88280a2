// Recurrences as loops: what runs in parallel, what the time loop carries and where the slices are.

// RUN: la-opt %s --linattn-to-loops --canonicalize --cse --split-input-file | FileCheck %s

#qk = affine_map<(b, t, h, d) -> (b, t, h floordiv 2, d)>
#tok = affine_map<(b, t, h, d) -> (b, t, h, d)>
#st = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

// CHECK-LABEL: func.func @grouped_heads(
// CHECK-SAME:    %[[K:.+]]: tensor<?x?x2x8xf32>, %[[V:.+]]: tensor<?x?x4x16xf32>, %{{.+}}: tensor<?x?x4x16xf32>, %[[S0:.+]]: tensor<?x4x8x16xf32>)
// CHECK:         scf.forall (%[[B:.+]], %[[H:.+]]) in (%{{.+}}, 4) shared_outs(%{{.+}} = %{{.+}}, %[[SHARED:.+]] = %[[S0]])
// CHECK:           tensor.extract_slice %[[SHARED]][%[[B]], %[[H]], 0, 0] [1, 1, 8, 16]
// CHECK:           scf.for %[[T:[a-z0-9]+]] = {{.*}} iter_args(%{{.+}} = %{{.+}}, %[[S:.+]] = %{{.+}}) -> ({{.*}}, tensor<8x16xf32>)
// CHECK:             %[[GROUP:.+]] = affine.apply {{.+}}(%[[H]])
// CHECK:             tensor.extract_slice %[[K]][%[[B]], %[[T]], %[[GROUP]], 0] [1, 1, 1, 8]
// CHECK:             tensor.extract_slice %[[V]][%[[B]], %[[T]], %[[H]], 0] [1, 1, 1, 16]
// The read of the old state comes first, though the text has it last: the write is then in place.
// CHECK:             %[[OLD:[0-9]+]] = linalg.generic {{.*}} ins(%{{.+}}, %[[S]] : tensor<8xf32>, tensor<8x16xf32>)
// CHECK:             linalg.generic {{.*}} outs(%[[S]] : tensor<8x16xf32>)
// CHECK:             tensor.insert_slice %[[OLD]]
// CHECK:           scf.forall.in_parallel
// CHECK-COUNT-2:     tensor.parallel_insert_slice
func.func @grouped_heads(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x4x16xf32>, %o0: tensor<?x?x4x16xf32>,
    %s0: tensor<?x4x8x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x4x8x16xf32>) {
  %o, %s = linattn.recurrence [parallel, time, parallel]
      ins(%k via #qk : tensor<?x?x2x8xf32> as %kt : tensor<8xf32>,
          %v via #tok : tensor<?x?x4x16xf32> as %vt : tensor<16xf32>)
      outs(%o0 via #tok : tensor<?x?x4x16xf32>)
      states(%s0 via #st : tensor<?x4x8x16xf32> as %S : tensor<8x16xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
    %ot = linattn.read %S at %kt along 0 : tensor<8x16xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<8x16xf32>
  }
  return %o, %s : tensor<?x?x4x16xf32>, tensor<?x4x8x16xf32>
}

// -----

// CHECK-DAG: #[[$BACK:.+]] = affine_map<(d0)[s0] -> (-d0 + s0 - 1)>
// CHECK-LABEL: func.func @reverse_scalar_state(
// CHECK-SAME:    %[[X:.+]]: tensor<?xf32>
// CHECK:         scf.for %[[I:[a-z0-9]+]] = %{{.+}} to {{.*}} iter_args(%[[S:.+]] = %{{.+}}) -> (f32)
// CHECK:           %[[T:.+]] = affine.apply #[[$BACK]](%[[I]])[%{{.+}}]
// CHECK:           %[[XT:.+]] = tensor.extract %[[X]][%[[T]]]
// CHECK:           %[[S1:.+]] = arith.addf %[[S]], %[[XT]]
// CHECK:           scf.yield %[[S1]]
func.func @reverse_scalar_state(%x: tensor<?xf32>, %s0: tensor<f32>) -> tensor<f32> {
  %s = linattn.recurrence [time] reverse
      ins(%x via affine_map<(t) -> (t)> : tensor<?xf32> as %xt : f32)
      states(%s0 via affine_map<(t) -> ()> : tensor<f32> as %S : f32) {
    %S1 = arith.addf %S, %xt : f32
    linattn.yield %S1 : f32
  }
  return %s : tensor<f32>
}

// -----

// Tokens are a part of the packed rows, and states are numbered by segment.
// CHECK-LABEL: func.func @segments(
// CHECK-SAME:    %[[X:.+]]: tensor<?x4xf32>, %[[CU:.+]]: tensor<?xi32>
// CHECK:         scf.forall (%[[N:.+]]) in
// CHECK:           %[[BEGIN:.+]] = tensor.extract %[[CU]][%[[N]]]
// CHECK:           %[[BASE:.+]] = arith.index_cast %[[BEGIN]]
// CHECK:           %[[END:.+]] = tensor.extract %[[CU]]
// CHECK:           %[[LENGTH:.+]] = affine.apply
// CHECK:           scf.for %[[I:[a-z0-9]+]] = %{{.+}} to %[[LENGTH]]
// CHECK:             %[[T:.+]] = affine.apply {{.+}}(%[[I]], %[[BASE]])
// CHECK:             tensor.extract_slice %[[X]][%[[T]], 0] [1, 4]
func.func @segments(%x: tensor<?x4xf32>, %cu: tensor<?xi32>, %s0: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %s = linattn.recurrence [segment, time]
      ins(%x via affine_map<(n, t, d) -> (t, d)> : tensor<?x4xf32> as %xt : tensor<4xf32>)
      segments(%cu : tensor<?xi32>)
      states(%s0 via affine_map<(n, t, d) -> (n, d)> : tensor<?x4xf32> as %S : tensor<4xf32>) {
    %S1 = arith.addf %S, %xt : tensor<4xf32>
    linattn.yield %S1 : tensor<4xf32>
  }
  return %s : tensor<?x4xf32>
}

// -----

// Steps with all their rows, and the last one, whose live rows lie in a tile of zeros. Where time is
// split over two dims the rows are gathered.
// CHECK-LABEL: func.func @partial_tile(
// CHECK-SAME:    %[[X:.+]]: tensor<?x2xf32>, %[[Y:.+]]: tensor<?x4x2xf32>
// CHECK:         %[[STEP:.+]] = arith.constant 8 : index
// CHECK:         %[[WHOLE:.+]] = affine.apply
// CHECK:         scf.for %[[T:[a-z0-9]+]] = %{{.+}} to %[[WHOLE]] step %[[STEP]]
// CHECK:           tensor.extract_slice %[[X]][%[[T]], 0] [8, 2]
// CHECK:           scf.for %[[ROW:[a-z0-9]+]] = %{{.+}} to %[[STEP]]
// CHECK:             tensor.extract_slice %[[Y]][%{{.+}}, %{{.+}}, 0] [1, 1, 2]
// CHECK:         scf.for %[[T:[a-z0-9]+]] = %[[WHOLE]] to %{{.+}} step %[[STEP]]
// CHECK:           %[[LIVE:.+]] = affine.apply {{.+}}(%[[T]])
// CHECK:           %[[ROWS:.+]] = tensor.extract_slice %[[X]][%[[T]], 0] [%[[LIVE]], 2]
// CHECK:           tensor.insert_slice %[[ROWS]] into %{{.+}} : tensor<?x2xf32> into tensor<8x2xf32>
// CHECK:           scf.for %[[ROW:[a-z0-9]+]] = %{{.+}} to %[[LIVE]]
// CHECK:             tensor.extract_slice %[[Y]][%{{.+}}, %{{.+}}, 0] [1, 1, 2]
// CHECK:             tensor.insert_slice {{.*}}[%[[ROW]], 0] [1, 2]
func.func @partial_tile(%x: tensor<?x2xf32>, %y: tensor<?x4x2xf32>, %s0: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %s = linattn.recurrence [time] step(%live of 8)
      ins(%x via affine_map<(t, d) -> (t, d)> : tensor<?x2xf32> as %xt : tensor<8x2xf32>,
          %y via affine_map<(t, d) -> (t floordiv 4, t mod 4, d)> : tensor<?x4x2xf32> as %yt : tensor<8x2xf32>)
      states(%s0 via affine_map<(t, k, d) -> (k, d)> : tensor<3x2xf32> as %S : tensor<3x2xf32>) {
    %w = arith.constant dense<1.0> : tensor<8x3xf32>
    %xy = arith.addf %xt, %yt : tensor<8x2xf32>
    %S1 = linattn.write %S at %w along 0 value %xy : tensor<3x2xf32>, tensor<8x3xf32>, tensor<8x2xf32>
    linattn.yield %S1 : tensor<3x2xf32>
  }
  return %s : tensor<3x2xf32>
}

// -----

// Also in segments, whose lengths are known at run time only.
// CHECK-LABEL: func.func @partial_tile_of_segments(
// CHECK-SAME:    %[[X:.+]]: tensor<?x2xf32>
// CHECK:         scf.forall
// CHECK:           scf.for %{{[a-z0-9]+}} = %{{[a-z0-9]+}} to %[[WHOLE:[a-z0-9]+]] step
// CHECK:             tensor.extract_slice %[[X]][%{{.+}}, 0] [8, 2]
// CHECK:           scf.for %[[T:[a-z0-9]+]] = %[[WHOLE]] to
// CHECK:             %[[LIVE:.+]] = affine.apply {{.+}}(%[[T]]
// CHECK:             tensor.extract_slice %[[X]][%{{.+}}, 0] [%[[LIVE]], 2]
func.func @partial_tile_of_segments(%x: tensor<?x2xf32>, %cu: tensor<?xi32>, %s0: tensor<?x3x2xf32>) -> tensor<?x3x2xf32> {
  %s = linattn.recurrence [segment, time] step(%live of 8)
      ins(%x via affine_map<(n, t, d) -> (t, d)> : tensor<?x2xf32> as %xt : tensor<8x2xf32>)
      segments(%cu : tensor<?xi32>)
      states(%s0 via affine_map<(n, t, k, d) -> (n, k, d)> : tensor<?x3x2xf32> as %S : tensor<3x2xf32>) {
    %w = arith.constant dense<1.0> : tensor<8x3xf32>
    %S1 = linattn.write %S at %w along 0 value %xt : tensor<3x2xf32>, tensor<8x3xf32>, tensor<8x2xf32>
    linattn.yield %S1 : tensor<3x2xf32>
  }
  return %s : tensor<?x3x2xf32>
}

// -----

#tok = affine_map<(b, t, d) -> (b, t, d)>
#st = affine_map<(b, t, k) -> (b, k)>

// CHECK: #[[$FORWARD:.+]] = affine_map<(d0) -> ((d0 + 1) floordiv 8 - 1)>
// CHECK-LABEL: func.func @checkpoints(
// CHECK:         scf.for %[[T:[a-z0-9]+]] = {{.*}} iter_args(%{{.+}} = %{{.+}}, %[[KEPT:.+]] = %{{.+}})
// CHECK:           scf.if
// CHECK:             %[[C:.+]] = affine.apply #[[$FORWARD]](%[[T]])
// CHECK:             tensor.insert_slice %{{.+}} into %[[KEPT]][0, %[[C]], 0] [1, 1, 4]
// CHECK:           } else {
// CHECK:             scf.yield %[[KEPT]]
func.func @checkpoints(%x: tensor<?x?x4xf32>, %s0: tensor<?x4xf32>, %c: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %s, %r = linattn.recurrence [parallel, time]
      ins(%x via #tok : tensor<?x?x4xf32> as %xt : tensor<4xf32>)
      states(%s0 via #st : tensor<?x4xf32> as %S : tensor<4xf32>)
      checkpoints(%c via #tok : tensor<?x?x4xf32>) every 8 {
    %S1 = arith.addf %S, %xt : tensor<4xf32>
    linattn.yield %S1 : tensor<4xf32>
  }
  return %r : tensor<?x?x4xf32>
}

// -----

#tok = affine_map<(b, t, d) -> (b, t, d)>
#st = affine_map<(b, t, k) -> (b, k)>

// Only whole intervals, counted from the first token, have a checkpoint.
// CHECK-LABEL: func.func @checkpoints_in_reverse(
// CHECK:         scf.for
// CHECK:           %[[BORDER:.+]] = arith.cmpi eq
// CHECK:           %[[WHOLE:.+]] = arith.cmpi slt
// CHECK:           %[[BOTH:.+]] = arith.andi %[[BORDER]], %[[WHOLE]]
// CHECK:           scf.if %[[BOTH]]
func.func @checkpoints_in_reverse(%x: tensor<?x?x4xf32>, %s0: tensor<?x4xf32>, %c: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %s, %r = linattn.recurrence [parallel, time] reverse
      ins(%x via #tok : tensor<?x?x4xf32> as %xt : tensor<4xf32>)
      states(%s0 via #st : tensor<?x4xf32> as %S : tensor<4xf32>)
      checkpoints(%c via #tok : tensor<?x?x4xf32>) every 8 {
    %S1 = arith.addf %S, %xt : tensor<4xf32>
    linattn.yield %S1 : tensor<4xf32>
  }
  return %r : tensor<?x?x4xf32>
}

// -----

// Tokens and heads share a dim of the out: its part of one head is no box, so no loop is parallel.
// CHECK-LABEL: func.func @no_slots(
// CHECK-NOT:     scf.forall
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             tensor.insert_slice
// CHECK-NOT:     scf.forall
func.func @no_slots(%x: tensor<?x3x2xf32>, %o0: tensor<?x24xf32>, %s0: tensor<3x2xf32>) -> tensor<?x24xf32> {
  %o, %s = linattn.recurrence [time, parallel]
      ins(%x via affine_map<(t, h, d) -> (t, h, d)> : tensor<?x3x2xf32> as %xt : tensor<2xf32>)
      outs(%o0 via affine_map<(t, h, d) -> (t floordiv 4, h * 8 + (t mod 4) * 2 + d)> : tensor<?x24xf32>)
      states(%s0 via affine_map<(t, h, d) -> (h, d)> : tensor<3x2xf32> as %S : tensor<2xf32>) {
    %S1 = arith.addf %S, %xt : tensor<2xf32>
    linattn.yield %S1, %S1 : tensor<2xf32>, tensor<2xf32>
  }
  return %o : tensor<?x24xf32>
}

// -----

// The state is [V, K] in memory and [K, V] in the body.
// CHECK-LABEL: func.func @transposed_complex_state(
// CHECK:         %[[START:.+]] = linalg.transpose {{.*}} permutation = [1, 0]
// CHECK:         %[[END:.+]] = scf.for {{.*}} iter_args(%{{.+}} = %[[START]]) -> (tensor<2x3xcomplex<f32>>)
// CHECK:           complex.mul
// CHECK:           complex.add
// CHECK:         linalg.transpose ins(%[[END]] : tensor<2x3xcomplex<f32>>) {{.*}} permutation = [1, 0]
func.func @transposed_complex_state(%x: tensor<?x2xcomplex<f32>>, %s0: tensor<3x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>> {
  %s = linattn.recurrence [time]
      ins(%x via affine_map<(t, d) -> (t, d)> : tensor<?x2xcomplex<f32>> as %xt : tensor<2xcomplex<f32>>)
      states(%s0 via affine_map<(t, k, v) -> (v, k)> : tensor<3x2xcomplex<f32>> as %S : tensor<2x3xcomplex<f32>>) {
    %r = linattn.read %S at %xt along 0 : tensor<2x3xcomplex<f32>>, tensor<2xcomplex<f32>>
    %S1 = linattn.write %S at %xt along 0 value %r : tensor<2x3xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<3xcomplex<f32>>
    linattn.yield %S1 : tensor<2x3xcomplex<f32>>
  }
  return %s : tensor<3x2xcomplex<f32>>
}

// -----

// An index inside a nested loop is that of the recurrence; the offset is added to time only.
// CHECK-LABEL: func.func @position_offset(
// CHECK-SAME:    %{{.+}}: tensor<?x4xf32>, %[[P:.+]]: tensor<i64>
// CHECK:         %[[P0:.+]] = tensor.extract %[[P]][]
// CHECK:         %[[OFFSET:.+]] = arith.index_cast %[[P0]]
// CHECK:         scf.for %[[T:[a-z0-9]+]] =
// CHECK:           scf.for
// CHECK:             %[[AT:.+]] = affine.apply {{.+}}(%[[T]])[%[[OFFSET]]]
// CHECK:             arith.index_cast %[[AT]]
func.func @position_offset(%x: tensor<?x4xf32>, %p: tensor<i64>, %s0: tensor<f32>) -> tensor<f32> {
  %s = linattn.recurrence [time]
      ins(%x via affine_map<(t, d) -> (t, d)> : tensor<?x4xf32> as %xt : tensor<4xf32>)
      position_offset(%p via affine_map<(t) -> ()> : tensor<i64>)
      states(%s0 via affine_map<(t) -> ()> : tensor<f32> as %S : f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %S1 = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %S) -> f32 {
      %t = linattn.index 0
      %ti = arith.index_cast %t : index to i32
      %tf = arith.sitofp %ti : i32 to f32
      %xi = tensor.extract %xt[%i] : tensor<4xf32>
      %y = arith.mulf %xi, %tf : f32
      %next = arith.addf %sum, %y : f32
      scf.yield %next : f32
    }
    linattn.yield %S1 : f32
  }
  return %s : tensor<f32>
}

// -----

// Two states that swap: both old values are read before the first is overwritten.
// CHECK-LABEL: func.func @swap(
// CHECK:         scf.for {{.*}} iter_args(%[[A:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}})
// CHECK-DAG:       %[[OLD_A:.+]] = linalg.copy ins(%[[A]] : tensor<2xf32>) outs(%{{[0-9]+}} :
// CHECK-DAG:       %[[OLD_B:.+]] = linalg.copy ins(%[[B]] : tensor<2xf32>) outs(%{{[0-9]+}} :
// CHECK-DAG:       linalg.copy ins(%[[OLD_B]] : tensor<2xf32>) outs(%[[A]] : tensor<2xf32>)
// CHECK-DAG:       linalg.copy ins(%[[OLD_A]] : tensor<2xf32>) outs(%[[B]] : tensor<2xf32>)
func.func @swap(%x: tensor<?xf32>, %a0: tensor<2xf32>, %b0: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a, %b = linattn.recurrence [time]
      ins(%x via affine_map<(t) -> (t)> : tensor<?xf32> as %xt : f32)
      states(%a0 via affine_map<(t, d) -> (d)> : tensor<2xf32> as %A : tensor<2xf32>,
             %b0 via affine_map<(t, d) -> (d)> : tensor<2xf32> as %B : tensor<2xf32>) {
    linattn.yield %B, %A : tensor<2xf32>, tensor<2xf32>
  }
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#mat = affine_map<(t, k, v) -> (k, v)>

// A sweep: the writes of a step wait for the next one, which takes them and its reads in one place, row by row. What
// they need is carried, at first such that nothing changes. The last ones are done behind the loop.
// CHECK-LABEL: func.func @sweep(
// CHECK-SAME:    %[[S0:[a-z0-9]+]]: tensor<4x8xf32>)
// CHECK-DAG:     %[[ONE:.+]] = arith.constant 1.0
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0.0
// CHECK-DAG:     %[[W0:.+]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.+}} : tensor<2x4xf32>)
// CHECK-DAG:     %[[U0:.+]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.+}} : tensor<2x8xf32>)
// CHECK:         %[[LOOP:.+]]:5 = scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %[[S:.+]] = %[[S0]], %[[A:.+]] = %[[ONE]], %[[W:.+]] = %[[W0]], %[[U:.+]] = %[[U0]])
// CHECK:           %[[X:.+]] = linalg.generic {{.*}} outs(%[[S]] : tensor<4x8xf32>)
// CHECK-NEXT:      ^bb0
// CHECK-NEXT:        arith.mulf %{{.+}}, %[[A]]
// CHECK-COUNT-2:   tensor.extract_slice %[[W]]
// CHECK-COUNT-2:   tensor.extract_slice %[[U]]
// CHECK:           %[[X1:.+]] = linalg.generic {{.*}} outs(%[[X]] : tensor<4x8xf32>)
// CHECK:           %[[X2:.+]] = linalg.generic {{.*}} outs(%[[X1]] : tensor<4x8xf32>)
// CHECK-COUNT-2:   linalg.generic {{.*}} ins(%{{.+}}, %[[X2]] : tensor<4xf32>, tensor<4x8xf32>)
// CHECK:           linalg.copy ins(%{{.+}} : tensor<2x4xf32>) outs(%[[W]]
// CHECK:           linalg.copy ins(%{{.+}} : tensor<2x8xf32>) outs(%[[U]]
// CHECK:           scf.yield %{{.+}}, %[[X2]],
// CHECK:         linalg.generic {{.*}} outs(%[[LOOP]]#1 : tensor<4x8xf32>)
func.func @sweep(%k: tensor<6x4xf32>, %v: tensor<6x8xf32>, %a: tensor<3xf32>, %o: tensor<6x8xf32>, %s: tensor<4x8xf32>) -> (tensor<6x8xf32>, tensor<4x8xf32>) {
  %r:2 = linattn.recurrence [time] step(%live of 2)
      ins(%k via #vec : tensor<6x4xf32> as %kt : tensor<2x4xf32>, %v via #vec : tensor<6x8xf32> as %vt : tensor<2x8xf32>,
          %a via affine_map<(t) -> (t floordiv 2)> : tensor<3xf32> as %at : tensor<2xf32>)
      outs(%o via #vec : tensor<6x8xf32>)
      states(%s via #mat : tensor<4x8xf32> as %S : tensor<4x8xf32>) attributes {plan = #linattn.plan<strategy = sweep, chunk = 2>} {
    %c0 = arith.constant 0 : index
    %a0 = tensor.extract %at[%c0] : tensor<2xf32>
    %r = linattn.read %S at %kt along 0 : tensor<4x8xf32>, tensor<2x4xf32>
    %u = arith.subf %vt, %r : tensor<2x8xf32>
    %X = linattn.decay %S by linear %a0 : tensor<4x8xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %u : tensor<4x8xf32>, tensor<2x4xf32>, tensor<2x8xf32>
    linattn.yield %r, %S1 : tensor<2x8xf32>, tensor<4x8xf32>
  }
  return %r#0, %r#1 : tensor<6x8xf32>, tensor<4x8xf32>
}

// -----

// What depends on nothing but inputs without time is loaded, transposed and computed before the loop;
// constants stay, and so does what asks for the token. A transposed state ends in its own buffer.
// CHECK-LABEL: func.func @same_for_all_tokens(
// CHECK-SAME:    %[[A:[^:]+]]: tensor<2x4xf32>, %{{[^:]+}}: tensor<?xf32>, %[[S:[^:]+]]: tensor<2x4xf32>
// CHECK:         %[[AT:.+]] = linalg.transpose ins(%[[A]] : tensor<2x4xf32>)
// CHECK:         %[[E:.+]] = math.exp %[[AT]] : tensor<4x2xf32>
// CHECK:         %[[S0:.+]] = linalg.transpose ins(%[[S]] : tensor<2x4xf32>)
// CHECK:         %[[L:.+]] = scf.for %{{.+}} iter_args(%{{.+}} = %[[S0]])
// CHECK-NOT:       linalg.transpose
// CHECK-NOT:       math.exp
// CHECK:           tensor.splat
// CHECK:           arith.mulf %[[E]], %{{.+}} : tensor<4x2xf32>
// CHECK:           scf.yield
// CHECK:         linalg.transpose ins(%[[L]] : tensor<4x2xf32>) outs(%[[S]] : tensor<2x4xf32>)
#transposed = affine_map<(t, k, v) -> (v, k)>
func.func @same_for_all_tokens(%a: tensor<2x4xf32>, %x: tensor<?xf32>, %s0: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %s = linattn.recurrence [time]
      ins(%a via #transposed : tensor<2x4xf32> as %A : tensor<4x2xf32>, %x via affine_map<(t) -> (t)> : tensor<?xf32> as %xt : f32)
      states(%s0 via #transposed : tensor<2x4xf32> as %S : tensor<4x2xf32>) {
    %E = math.exp %A : tensor<4x2xf32>
    %t = linattn.index 0
    %i = arith.index_cast %t : index to i32
    %f = arith.sitofp %i : i32 to f32
    %y = arith.addf %f, %xt : f32
    %ys = tensor.splat %y : tensor<4x2xf32>
    %G = arith.mulf %E, %ys : tensor<4x2xf32>
    %S1 = linattn.decay %S by linear %G along [0, 1] : tensor<4x2xf32>, tensor<4x2xf32>
    linattn.yield %S1 : tensor<4x2xf32>
  }
  return %s : tensor<2x4xf32>
}

// -----

// What may update its operand in place stays inside, as the function's input must not change.
// CHECK-LABEL: func.func @updates(
// CHECK-NOT:     linalg
// CHECK:         scf.for
// CHECK:           scf.for %{{.+}} iter_args(%[[V:.+]] = %{{.+}}) -> (tensor<4xf32>) {
// CHECK:             linalg.copy ins(%{{.+}} : tensor<4xf32>) outs(%[[V]] : tensor<4xf32>)
// CHECK:           linalg.generic {{.*}} outs(%{{.+}} : tensor<4xf32>)
// CHECK:           linalg.generic {{.*}} outs(%{{.+}} : tensor<4xf32>)
// CHECK:           scf.yield
func.func @updates(%a: tensor<4xf32>, %x: tensor<?x4xf32>, %s0: tensor<4xf32>) -> tensor<4xf32> {
  %s = linattn.recurrence [time]
      ins(%a via affine_map<(t, d) -> (d)> : tensor<4xf32> as %at : tensor<4xf32>, %x via affine_map<(t, d) -> (t, d)> : tensor<?x4xf32> as %xt : tensor<4xf32>)
      states(%s0 via affine_map<(t, d) -> (d)> : tensor<4xf32> as %S : tensor<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %half = arith.constant 0.5 : f32
    %A = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %at) -> (tensor<4xf32>) {
      %next = math.tanh %v : tensor<4xf32>
      scf.yield %next : tensor<4xf32>
    }
    %B = linattn.decay %at by linear %half : tensor<4xf32>, f32
    %C = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]} outs(%at : tensor<4xf32>) {
    ^bb0(%o: f32):
      %t = arith.addf %o, %o : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    %y = arith.mulf %xt, %A : tensor<4xf32>
    %z = arith.mulf %B, %C : tensor<4xf32>
    %w = arith.mulf %y, %z : tensor<4xf32>
    %S1 = arith.addf %S, %w : tensor<4xf32>
    linattn.yield %S1 : tensor<4xf32>
  }
  return %s : tensor<4xf32>
}

// -----

// A tile of value columns is part of the rows of its state: many steps run on a copy, few in place.
// CHECK-LABEL: func.func @tile_of_columns(
// CHECK:         scf.forall (%[[TILE:.+]]) in (2)
// CHECK:           %[[SLICE:.+]] = tensor.extract_slice {{.*}} : tensor<4x16xf32> to tensor<4x8xf32>
// CHECK:           %[[OWN:.+]] = bufferization.alloc_tensor() copy(%[[SLICE]]) : tensor<4x8xf32>
// CHECK:           scf.for {{.*}} iter_args({{.*}}%{{.+}} = %[[OWN]])
#rows = affine_map<(t, j, k) -> (t, k)>
#columns = affine_map<(t, j, v) -> (t, j * 8 + v)>
#tile = affine_map<(t, j, k, v) -> (k, j * 8 + v)>
func.func @tile_of_columns(%k: tensor<?x4xf32>, %v: tensor<?x16xf32>, %j: tensor<2xi1>, %s: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %r = linattn.recurrence [time, parallel] step(%live of 8)
      ins(%k via #rows : tensor<?x4xf32> as %kt : tensor<8x4xf32>, %v via #columns : tensor<?x16xf32> as %vt : tensor<8x8xf32>,
          %j via affine_map<(t, j) -> (j)> : tensor<2xi1> as %jt : i1)
      states(%s via #tile : tensor<4x16xf32> as %S : tensor<4x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<4x8xf32>, tensor<8x4xf32>, tensor<8x8xf32>
    linattn.yield %S1 : tensor<4x8xf32>
  }
  return %r : tensor<4x16xf32>
}

// -----

// CHECK-LABEL: func.func @few_steps(
// CHECK-NOT:     alloc_tensor
#rows = affine_map<(t, j, k) -> (t, k)>
#columns = affine_map<(t, j, v) -> (t, j * 8 + v)>
#tile = affine_map<(t, j, k, v) -> (k, j * 8 + v)>
func.func @few_steps(%k: tensor<32x4xf32>, %v: tensor<32x16xf32>, %j: tensor<2xi1>, %s: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %r = linattn.recurrence [time, parallel] step(%live of 8)
      ins(%k via #rows : tensor<32x4xf32> as %kt : tensor<8x4xf32>, %v via #columns : tensor<32x16xf32> as %vt : tensor<8x8xf32>,
          %j via affine_map<(t, j) -> (j)> : tensor<2xi1> as %jt : i1)
      states(%s via #tile : tensor<4x16xf32> as %S : tensor<4x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<4x8xf32>, tensor<8x4xf32>, tensor<8x8xf32>
    linattn.yield %S1 : tensor<4x8xf32>
  }
  return %r : tensor<4x16xf32>
}
