// What a chunk is made of, and what is left out where a program does not need it.

// RUN: la-opt %s --linattn-chunk=chunk=32 --canonicalize --split-input-file | FileCheck %s --check-prefixes=CHECK,CHUNK32
// RUN: la-opt %s --linattn-chunk="chunk=8 subchunk=4" --canonicalize --split-input-file | FileCheck %s --check-prefixes=CHECK,CHUNK8
// RUN: la-opt %s --linattn-chunk="chunk=8 split-tail" --split-input-file | FileCheck %s --check-prefix=TAIL

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#mat = affine_map<(t, k, v) -> (k, v)>

// No erase: no solve. One multiplier per token: the products of keys and queries come first.
// CHECK-LABEL: func @scalar_decay
// CHECK:     linattn.recurrence [time]
// CHUNK32-SAME:  step(%[[LIVE:.+]] of 32)
// CHUNK8-SAME:   step(%[[LIVE:.+]] of 8)
// CHECK:       %[[A:.+]] = math.exp %{{.+}} : tensor<[[C:[0-9]+]]xf32>
// CHECK-DAG:   linattn.running_product %[[A]]
// CHECK-DAG:   linattn.running_product reverse %[[A]]
// CHECK:       %[[READ:.+]] = linattn.read %[[S:.+]] at
// CHECK:       %[[OLD:.+]] = linalg.generic {{.*}} ins(%[[READ]], %{{.+}} : tensor<[[C]]x8xf32>, tensor<[[C]]xf32>)
// CHECK:       %[[B:.+]] = linattn.bracket %{{.+}}, %{{.+}} decay %[[A]] diagonal
// CHECK-NOT:   linattn.solve
// CHECK:       linalg.matmul ins(%[[B]], %{{.+}}) outs(%[[OLD]]
// CHECK:       %[[X:.+]] = linattn.decay %[[S]] by linear
// CHECK:       linattn.write %[[X]] at {{.*}} : tensor<16x8xf32>, tensor<[[C]]x16xf32>, tensor<[[C]]x8xf32>

// The last tokens apart, one by one.
// TAIL-LABEL: func @scalar_decay(%arg0: tensor<?x16xf32>
// TAIL:         %[[WHOLE:.+]] = affine.apply
// TAIL:         %[[REST:.+]] = affine.apply
// TAIL:         tensor.extract_slice %arg0[0, 0] [%[[WHOLE]], 16]
// TAIL:         %[[MANY:.+]]:2 = linattn.recurrence [time] step(%{{.+}} of 8)
// TAIL:         tensor.insert_slice %[[MANY]]#0 into %{{.+}}[0, 0] [%[[WHOLE]], 8]
// TAIL:         tensor.extract_slice %arg0[%[[WHOLE]], 0] [%[[REST]], 16]
// TAIL:         %[[FOURS:.+]] = affine.apply
// TAIL:         %[[FEW:.+]] = affine.apply
// TAIL:         %[[FOUR:.+]]:2 = linattn.recurrence [time] step(%{{.+}} of 4)
// TAIL:           states(%[[MANY]]#1 via
// TAIL:         tensor.insert_slice %[[FOUR]]#0 into %{{.+}}[0, 0] [%[[FOURS]], 8]
// TAIL:         %[[ONE:.+]]:2 = linattn.recurrence [time]{{$}}
// TAIL:           states(%[[FOUR]]#1 via
// TAIL-NEXT:      attributes {plan = #linattn.plan<strategy = token, source = constant>}
// TAIL:         %[[TAIL:.+]] = tensor.insert_slice %[[ONE]]#0 into %{{.+}}[%[[FOURS]], 0] [%[[FEW]], 8]
// TAIL:         tensor.insert_slice %[[TAIL]] into %{{.+}}[%[[WHOLE]], 0] [%[[REST]], 8]
func.func @scalar_decay(%k: tensor<?x16xf32>, %v: tensor<?x8xf32>, %g: tensor<?xf32>, %o: tensor<?x8xf32>, %s: tensor<16x8xf32>) -> (tensor<?x8xf32>, tensor<16x8xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>,
          %g via #num : tensor<?xf32> as %gt : f32)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) {
    %X = linattn.decay %S by %gt : tensor<16x8xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<16x8xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<16x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<16x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>

// States that decay by the same value share its multipliers and their products.
// CHECK-LABEL: func @shared_decay
// CHECK:         %[[A:.+]] = math.exp
// CHECK-DAG:     linattn.running_product %[[A]]
// CHECK-DAG:     linattn.running_product reverse %[[A]]
// CHECK-NOT:     math.exp
// CHECK-NOT:     linattn.running_product
// CHECK:         linattn.yield
func.func @shared_decay(%k: tensor<?x16xf32>, %g: tensor<?xf32>, %o: tensor<?x16xf32>, %s: tensor<16x16xf32>, %z: tensor<16xf32>) -> (tensor<?x16xf32>, tensor<16x16xf32>, tensor<16xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>, %g via #num : tensor<?xf32> as %gt : f32)
      outs(%o via #vec : tensor<?x16xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<16x16xf32> as %S : tensor<16x16xf32>,
             %z via affine_map<(t, k) -> (k)> : tensor<16xf32> as %Z : tensor<16xf32>) {
    %one = arith.constant 1.0 : f32
    %X = linattn.decay %S by %gt : tensor<16x16xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %kt : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    %Y = linattn.decay %Z by %gt : tensor<16xf32>, f32
    %Z1 = linattn.write %Y at %kt along 0 value %one : tensor<16xf32>, tensor<16xf32>, f32
    %n = linattn.read %S1 at %kt along 0 : tensor<16x16xf32>, tensor<16xf32>
    %d = linattn.read %Z1 at %kt along 0 : tensor<16xf32>, tensor<16xf32>
    %dv = tensor.splat %d : tensor<16xf32>
    %ot = arith.divf %n, %dv : tensor<16xf32>
    linattn.yield %ot, %S1, %Z1 : tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x16xf32>, tensor<16x16xf32>, tensor<16xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// No decay: nothing to multiply. A read that feeds its write: one solve.
// CHECK-LABEL: func @erase_without_decay
// CHECK-NOT:   linattn.running_product
// CHECK:       %[[B:.+]] = linattn.bracket %{{.+}}, %{{.+}} :
// CHECK:       linattn.solve
// CHUNK8-SAME:   subchunk 4
// CHECK-NOT:   linattn.decay
func.func @erase_without_decay(%k: tensor<?x16xf32>, %v: tensor<?x8xf32>, %s: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %r = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) {
    %r = linattn.read %S at %kt along 0 : tensor<16x8xf32>, tensor<16xf32>
    %d = arith.subf %vt, %r : tensor<8xf32>
    %S1 = linattn.write %S at %kt along 0 value %d : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// Two writes that depend on reads: one system of twice the size, rows interleaved.
// CHECK-LABEL: func @two_erases
// CHUNK8:      linattn.solve {{.*}} : tensor<16x16xf32>, tensor<16x8xf32>
// CHUNK32:     linattn.solve {{.*}} : tensor<64x64xf32>, tensor<64x8xf32>
func.func @two_erases(%k: tensor<?x16xf32>, %e: tensor<?x16xf32>, %v: tensor<?x8xf32>, %s: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %r = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>, %e via #vec : tensor<?x16xf32> as %et : tensor<16xf32>,
          %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) {
    %a = linattn.read %S at %et along 0 : tensor<16x8xf32>, tensor<16xf32>
    %n = arith.negf %a : tensor<8xf32>
    %S1 = linattn.write %S at %et along 0 value %n : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    %b = linattn.read %S1 at %kt along 0 : tensor<16x8xf32>, tensor<16xf32>
    %d = arith.subf %vt, %b : tensor<8xf32>
    %S2 = linattn.write %S1 at %kt along 0 value %d : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    linattn.yield %S2 : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// Keys that are not 0 where there is no token are cleared there; a plan wins over options, and chunks
// divide the interval of the checkpoints.
// CHECK-LABEL: func @dead_rows_and_plan
// CHECK:     step(%[[LIVE:.+]] of 6)
// CHECK:     every 12
// CHECK:       math.exp
// CHECK:       arith.cmpi slt, %{{.+}}, %[[LIVE]]
// CHECK:       arith.select
func.func @dead_rows_and_plan(%k: tensor<?x16xf32>, %s: tensor<16x8xf32>, %c: tensor<?x16x8xf32>) -> tensor<16x8xf32> {
  %r:2 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>)
      checkpoints(%c via affine_map<(t, k, v) -> (t, k, v)> : tensor<?x16x8xf32>) every 12
      attributes {plan = #linattn.plan<strategy = chunk, chunk = 7, subchunk = 7>} {
    %one = arith.constant dense<1.0> : tensor<8xf32>
    %e = math.exp %kt : tensor<16xf32>
    %S1 = linattn.write %S at %e along 0 value %one : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<16x8xf32>
  }
  return %r#0 : tensor<16x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// A reversed chunk flips its rows on the way in and out.
// CHUNK8-DAG: #[[$FLIP:.+]] = affine_map<(d0, d1) -> (-d0 + 7, d1)>
// CHECK-LABEL: func @reversed
// CHECK:     linattn.recurrence [time] reverse step
// CHUNK8:      linalg.generic {indexing_maps = [#[[$FLIP]],
func.func @reversed(%k: tensor<?x16xf32>, %o: tensor<?x8xf32>, %s: tensor<16x8xf32>) -> tensor<?x8xf32> {
  %r:2 = linattn.recurrence [time] reverse
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) {
    %ot = linattn.read %S at %kt along 0 : tensor<16x8xf32>, tensor<16xf32>
    %S1 = linattn.write %S at %kt along 0 value %ot : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<16x8xf32>
  }
  return %r#0 : tensor<?x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// A plan can say token by token.
// CHECK-LABEL: func @token_by_token
// CHECK-NOT: step(
func.func @token_by_token(%k: tensor<?x16xf32>, %s: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %r = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>)
      attributes {plan = #linattn.plan<strategy = token>} {
    %one = arith.constant dense<1.0> : tensor<8xf32>
    %S1 = linattn.write %S at %kt along 0 value %one : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}
