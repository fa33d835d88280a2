// States without a chunk form are run token by token inside the chunk of the others.

// RUN: la-opt %s --linattn-chunk="chunk=8 subchunk=4" --canonicalize --split-input-file --remarks-filter=linattn-chunk --remark-format=emitRemark --verify-diagnostics | FileCheck %s

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#one = affine_map<(t) -> ()>
#mat = affine_map<(t, k, v) -> (k, v)>

// A running maximum scales what a matrix state is given: a loop over numbers, and then an ordinary chunk.
// CHECK-LABEL: func @running_maximum
// CHECK:     step(%[[LIVE:.+]] of 8)
// CHECK:       ins({{.*}} as %[[K:.+]] : tensor<8x4xf32>,
// CHECK:           {{.*}} as %[[I:.+]] : tensor<8xf32>,
// CHECK:           {{.*}} as %[[F:.+]] : tensor<8xf32>)
// CHECK:       states({{.*}} as %[[S:.+]] : tensor<4x4xf32>,
// CHECK:              {{.*}} as %[[M:.+]] : f32)
// CHECK:       %[[LOOP:.+]]:3 = scf.for %[[ROW:.+]] = %c0 to %[[LIVE]] step %c1 iter_args(%[[OLD:.+]] = %[[M]], %{{.+}} = %[[ZEROS:.+]], %{{.+}} = %{{.+}}) -> (f32, tensor<8xf32>, tensor<8xf32>)
// CHECK-DAG:     %[[FT:.+]] = tensor.extract %[[F]][%[[ROW]]]
// CHECK-DAG:     %[[IT:.+]] = tensor.extract %[[I]][%[[ROW]]]
// CHECK:         %[[G:.+]] = arith.addf %[[OLD]], %[[FT]]
// CHECK:         %[[GS:.+]] = tensor.insert %[[G]] into %{{.+}}[%[[ROW]]]
// CHECK:         %[[NEW:.+]] = arith.maximumf %[[G]], %[[IT]]
// CHECK:         %[[MS:.+]] = tensor.insert %[[NEW]] into %{{.+}}[%[[ROW]]]
// CHECK:         scf.yield %[[NEW]], %[[GS]], %[[MS]]
// CHECK-NOT:   scf.for
// CHECK:       %[[LOG:.+]] = arith.subf %[[LOOP]]#1, %[[LOOP]]#2 : tensor<8xf32>
// CHECK-NOT:   arith.select
// CHECK:       %[[A:.+]] = math.exp %[[LOG]] : tensor<8xf32>
// CHECK:       linattn.read %[[S]]
// CHECK:       linattn.bracket %{{.+}}, %[[K]] decay %[[A]]
// CHECK:       %[[S1:.+]] = linattn.write
// CHECK:       linattn.yield %{{.+}}, %[[S1]], %[[LOOP]]#0
func.func @running_maximum(%k: tensor<?x4xf32>, %i: tensor<?xf32>, %f: tensor<?xf32>, %o: tensor<?x4xf32>, %s: tensor<4x4xf32>, %m: tensor<f32>) -> (tensor<?x4xf32>, tensor<4x4xf32>, tensor<f32>) {
  // expected-remark @below {{state #1 is run token by token: it is a scalar, which only scans work on}}
  // expected-remark @below {{chunks of 8 tokens}}
  %r:3 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>, %i via #num : tensor<?xf32> as %it : f32, %f via #num : tensor<?xf32> as %ft : f32)
      outs(%o via #vec : tensor<?x4xf32>)
      states(%s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>, %m via #one : tensor<f32> as %M : f32) {
    %g = arith.addf %M, %ft : f32
    %M1 = arith.maximumf %g, %it : f32
    %a = arith.subf %g, %M1 : f32
    %X = linattn.decay %S by %a : tensor<4x4xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    linattn.yield %ot, %S1, %M1 : tensor<4xf32>, tensor<4x4xf32>, f32
  }
  return %r#0, %r#1, %r#2 : tensor<?x4xf32>, tensor<4x4xf32>, tensor<f32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// What a chunk reads feeds a state that is no chunk. That state is read in its loop, also by what is no
// part of its update, so that no matrix is kept per token; what is computed from the read is lifted.
// CHECK-LABEL: func @chunk_feeds_loop
// CHECK-NOT:   scf.for
// CHECK:       %[[ROWS:.+]] = linalg.matmul
// CHECK:       %[[LOOP:.+]]:2 = scf.for %[[ROW:[a-z0-9]+]] = {{.*}} -> (tensor<4x4xf32>, tensor<8x4xf32>)
// CHECK:         %[[RT:.+]] = tensor.extract_slice %[[ROWS]][%[[ROW]], 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
// CHECK:         %[[READ:.+]] = linattn.read %[[N:.+]] at
// CHECK:         tensor.insert_slice %[[READ]] into
// CHECK:         %[[N1:.+]] = linattn.write %[[N]] at %{{.+}} along 0 value %[[RT]]
// CHECK:         math.tanh %[[N1]]
// CHECK:       math.tanh %[[LOOP]]#1 : tensor<8x4xf32>
func.func @chunk_feeds_loop(%k: tensor<?x4xf32>, %o: tensor<?x4xf32>, %s: tensor<4x4xf32>, %n: tensor<4x4xf32>) -> (tensor<?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // expected-remark @below {{chunks of 8 tokens}}
  %r:3 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>)
      outs(%o via #vec : tensor<?x4xf32>)
      states(%n via #mat : tensor<4x4xf32> as %N : tensor<4x4xf32>, %s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %rs = linattn.read %S1 at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %N1 = linattn.write %N at %kt along 0 value %rs : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    // expected-remark @below {{state #0 is run token by token: its new value does not come from the old one by decays and writes}}
    %N2 = math.tanh %N1 : tensor<4x4xf32>
    %rn = linattn.read %N at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %ot = math.tanh %rn : tensor<4xf32>
    linattn.yield %ot, %N2, %S1 : tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// A circle is one loop. What it reads feeds a chunk.
// CHECK-LABEL: func @circle
// CHECK:       states({{.*}} as %[[A:.+]] : tensor<4x4xf32>,
// CHECK:              {{.*}} as %[[S:.+]] : tensor<4x4xf32>,
// CHECK:              {{.*}} as %[[B:.+]] : tensor<4x4xf32>)
// CHECK:       %[[LOOP:.+]]:3 = scf.for {{.*}} iter_args(%{{.+}} = %[[A]], %{{.+}} = %[[B]], %{{.+}} = %{{.+}}) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>)
// CHECK-NOT:   scf.for
// CHECK:       %[[S1:.+]] = linattn.write %[[S]] at %{{.+}} along 0 value %[[LOOP]]#2
// CHECK:       linattn.yield %[[LOOP]]#0, %[[S1]], %[[LOOP]]#1
func.func @circle(%k: tensor<?x4xf32>, %a: tensor<4x4xf32>, %s: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // expected-remark @below {{chunks of 8 tokens, 20 % of the state's flops in matmuls}}
  %r:3 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>)
      states(%a via #mat : tensor<4x4xf32> as %A : tensor<4x4xf32>, %s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>,
             %b via #mat : tensor<4x4xf32> as %B : tensor<4x4xf32>) {
    %ra = linattn.read %A at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %rb = linattn.read %B at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    // expected-remark @below {{state #0 is run token by token: states #0 and #2 depend on each other}}
    %A1 = linattn.write %A at %kt along 0 value %rb : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    // expected-remark @below {{state #2 is run token by token: states #0 and #2 depend on each other}}
    %B1 = linattn.write %B at %kt along 0 value %ra : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %S1 = linattn.write %S at %kt along 0 value %ra : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    linattn.yield %A1, %S1, %B1 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// The loop of N reads A at an address that it computes: A has to be in the loop, though it could be a
// chunk by itself. B is one.
// CHECK-LABEL: func @loop_needs_a_state
// CHECK:       states({{.*}} as %[[A:.+]] : tensor<4x4xf32>,
// CHECK:              {{.*}} as %[[N:.+]] : tensor<4xf32>,
// CHECK:              {{.*}} as %[[B:.+]] : tensor<4x4xf32>)
// CHECK:       scf.for {{.*}} iter_args(%{{.+}} = %[[A]], %{{.+}} = %[[N]]) -> (tensor<4x4xf32>, tensor<4xf32>)
// CHECK:       linattn.write %[[B]]
func.func @loop_needs_a_state(%k: tensor<?x4xf32>, %a: tensor<4x4xf32>, %n: tensor<4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>) {
  // expected-remark @below {{chunks of 8 tokens}}
  %r:3 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>)
      states(%a via #mat : tensor<4x4xf32> as %A : tensor<4x4xf32>, %n via affine_map<(t, d) -> (d)> : tensor<4xf32> as %N : tensor<4xf32>,
             %b via #mat : tensor<4x4xf32> as %B : tensor<4x4xf32>) {
    %A1 = linattn.write %A at %kt along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %B1 = linattn.write %B at %kt along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    // expected-remark @below {{state #0 is run token by token: state #1, which is run token by token, needs it at every token}}
    %ra = linattn.read %A at %N along 0 : tensor<4x4xf32>, tensor<4xf32>
    // expected-remark @below {{state #1 is run token by token: its new value does not come from the old one by decays and writes}}
    %N1 = math.tanh %ra : tensor<4xf32>
    linattn.yield %A1, %N1, %B1 : tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#mat = affine_map<(t, k, v) -> (k, v)>

// Reversed: the rows that are no tokens come first, and rows count down from the last token.
// CHECK-LABEL: func @reversed
// CHECK:     reverse step(%[[LIVE:.+]] of 8)
// CHECK:       %[[FIRST:.+]] = linattn.index 0
// CHECK:       %[[BEGIN:.+]] = arith.subi %c8, %[[LIVE]]
// CHECK:       scf.for %[[ROW:.+]] = %[[BEGIN]] to %c8 step %c1
// CHECK:         scf.if
// CHECK:           %[[BACK:.+]] = arith.subi %c7, %[[ROW]]
// CHECK:           %[[TIME:.+]] = arith.addi %[[FIRST]], %[[BACK]]
// CHECK:           arith.addi %{{.+}}, %[[TIME]]
func.func @reversed(%k: tensor<?x4xf32>, %n: tensor<index>, %s: tensor<4x4xf32>) -> (tensor<index>, tensor<4x4xf32>) {
  // expected-remark @below {{state #0 is run token by token: it is a scalar, which only scans work on}}
  // expected-remark @below {{chunks of 8 tokens}}
  %r:2 = linattn.recurrence [time] reverse
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>)
      states(%n via affine_map<(t) -> ()> : tensor<index> as %N : index, %s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %c9 = arith.constant 9 : index
    %small = arith.cmpi ult, %N, %c9 : index
    %N1 = scf.if %small -> index {
      %t = linattn.index 0
      %sum = arith.addi %N, %t : index
      scf.yield %sum : index
    } else {
      scf.yield %N : index
    }
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    linattn.yield %N1, %S1 : index, tensor<4x4xf32>
  }
  return %r#0, %r#1 : tensor<index>, tensor<4x4xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// An op that takes another way for each token is a loop of its own.
// CHECK-LABEL: func @control_flow
// CHECK:     step(%[[LIVE:.+]] of 8)
// CHECK:       ins({{.*}} as %[[K:.+]] : tensor<8x4xf32>)
// CHECK:       %[[IS:.+]] = arith.cmpf {{.*}} : tensor<8xf32>
// CHECK:       %[[ROWS:.+]] = scf.for %[[ROW:.+]] = %c0 to %[[LIVE]] step %c1 iter_args(%[[PART:.+]] = %{{.+}}) -> (tensor<8x4xf32>)
// CHECK-DAG:     %[[C:.+]] = tensor.extract %[[IS]][%[[ROW]]]
// CHECK-DAG:     %[[KT:.+]] = tensor.extract_slice %[[K]][%[[ROW]], 0] [1, 4] [1, 1]
// CHECK:         %[[Y:.+]] = scf.if %[[C]] -> (tensor<4xf32>)
// CHECK:           math.exp %[[KT]] : tensor<4xf32>
// CHECK:         %[[NEXT:.+]] = tensor.insert_slice %[[Y]] into %[[PART]][%[[ROW]], 0]
// CHECK:         scf.yield %[[NEXT]]
// CHECK:       linattn.write %{{.+}} at %[[K]] along 0 value %[[ROWS]]
func.func @control_flow(%k: tensor<?x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-remark @below {{chunks of 8 tokens}}
  %r = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>)
      states(%s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %c = arith.constant 0 : index
    %x = tensor.extract %kt[%c] : tensor<4xf32>
    %zero = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %x, %zero : f32
    // expected-remark @below {{'scf.if' is run token by token: it has no form for several tokens at once}}
    %y = scf.if %p -> tensor<4xf32> {
      %e = math.exp %kt : tensor<4xf32>
      scf.yield %e : tensor<4xf32>
    } else {
      scf.yield %kt : tensor<4xf32>
    }
    %n = linattn.write %S at %kt along 0 value %y : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    linattn.yield %n : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

#num = affine_map<(t) -> (t)>
#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// A row that is no token may not divide by the 0 that it reads.
// CHECK-LABEL: func @division
// CHECK:     step(%[[LIVE:.+]] of 8)
// CHECK:       scf.for %{{.+}} = %c0 to %[[LIVE]]
// CHECK:         arith.divsi %{{.+}}, %{{.+}} : i32
func.func @division(%i: tensor<?xi32>, %k: tensor<?x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-remark @below {{chunks of 8 tokens}}
  %r = linattn.recurrence [time]
      ins(%i via #num : tensor<?xi32> as %it : i32, %k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>)
      states(%s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %c = arith.constant 100 : i32
    // expected-remark @below {{'arith.divsi' is run token by token: it has no form for several tokens at once}}
    %d = arith.divsi %c, %it : i32
    %f = arith.sitofp %d : i32 to f32
    %v = tensor.splat %f : tensor<4xf32>
    %n = linattn.write %S at %kt along 0 value %v : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    linattn.yield %n : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}
