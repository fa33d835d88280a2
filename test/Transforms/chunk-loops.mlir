// Loops in the body whose bounds are the same for all tokens go once over all of them.

// RUN: la-opt %s --linattn-chunk="chunk=8 subchunk=4" --canonicalize --split-input-file --remarks-filter-missed=linattn-chunk --remark-format=emitRemark --verify-diagnostics | FileCheck %s

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// What the loop carries has a row per token. It begins with a value that is the same for all.
// CHECK-LABEL: func @lifted
// CHECK:       ins({{.*}} as %[[K:.+]] : tensor<8x4xf32>)
// CHECK:       %[[ZERO:.+]] = linalg.broadcast ins(%{{.+}} : tensor<4xf32>) outs(%{{.+}} : tensor<8x4xf32>)
// CHECK:       %[[SUM:.+]] = scf.for %{{.+}} = %c0 to %c3 step %c1 iter_args(%[[PART:.+]] = %[[ZERO]]) -> (tensor<8x4xf32>)
// CHECK:         %[[NEW:.+]] = arith.addf %[[PART]], %[[K]] : tensor<8x4xf32>
// CHECK:         scf.yield %[[NEW]]
// CHECK:       %[[VALUES:.+]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<8x4xf32>)
// CHECK:       linattn.write %{{.+}} at %[[K]] along 0 value %[[VALUES]]
func.func @lifted(%k: tensor<?x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>)
      states(%s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %a = arith.constant 0 : index
    %b = arith.constant 3 : index
    %c = arith.constant 1 : index
    %sum = scf.for %i = %a to %b step %c iter_args(%part = %zero) -> (tensor<4xf32>) {
      %new = arith.addf %part, %kt : tensor<4xf32>
      scf.yield %new : tensor<4xf32>
    }
    %n = linattn.write %S at %kt along 0 value %sum : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    linattn.yield %n : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// The position that the loop carries is a number still, and indexes all rows at once; what depends on
// what has rows has rows, too, from the second iteration on.
// CHECK-LABEL: func @carries_both
// CHECK:       ins({{.*}} as %[[K:.+]] : tensor<8x4xf32>)
// CHECK:       scf.for {{.*}} iter_args(%[[AT:.+]] = %c0, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}) -> (index, tensor<8xf32>, tensor<8xf32>)
// CHECK:         tensor.extract_slice %[[K]][0, %[[AT]]] [8, 1] [1, 1] : tensor<8x4xf32> to tensor<8xf32>
func.func @carries_both(%k: tensor<?x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>)
      states(%s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %zero = arith.constant 0.0 : f32
    %a = arith.constant 0 : index
    %b = arith.constant 2 : index
    %c = arith.constant 1 : index
    %last:3 = scf.for %i = %a to %b step %c iter_args(%at = %a, %x = %zero, %y = %zero) -> (index, f32, f32) {
      %next = arith.addi %at, %c : index
      %entry = tensor.extract %kt[%at] : tensor<4xf32>
      scf.yield %next, %y, %entry : index, f32, f32
    }
    %n = linattn.decay %S by %last#1 : tensor<4x4xf32>, f32
    linattn.yield %n : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// As many iterations as the token says, or an op inside that cannot be lifted: token by token.
// CHECK-LABEL: func @not_lifted
// CHECK:     step(%[[LIVE:.+]] of 8)
// CHECK:       scf.for %{{.+}} = %c0 to %[[LIVE]]
// CHECK:         scf.for %{{.+}} = %c0 to %{{.+}} step %c1 iter_args({{.*}}) -> (f32)
// CHECK:       scf.for %{{.+}} = %c0 to %[[LIVE]]
// CHECK:         scf.for %{{.+}} = %c0 to %c3 step %c1 iter_args({{.*}}) -> (f32)
// CHECK:           scf.if
func.func @not_lifted(%k: tensor<?x4xf32>, %n: tensor<?xindex>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>, %n via affine_map<(t) -> (t)> : tensor<?xindex> as %nt : index)
      states(%s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %zero = arith.constant 0.0 : f32
    %a = arith.constant 0 : index
    %b = arith.constant 3 : index
    %c = arith.constant 1 : index
    %k0 = tensor.extract %kt[%a] : tensor<4xf32>
    // expected-remark @below {{'scf.for' is run token by token: it has no form for several tokens at once}}
    %x = scf.for %i = %a to %nt step %c iter_args(%part = %zero) -> (f32) {
      %new = arith.addf %part, %k0 : f32
      scf.yield %new : f32
    }
    // expected-remark @below {{'scf.for' is run token by token: it has no form for several tokens at once}}
    %y = scf.for %i = %a to %b step %c iter_args(%part = %x) -> (f32) {
      %isLess = arith.cmpf olt, %part, %k0 : f32
      %new = scf.if %isLess -> f32 {
        %more = arith.addf %part, %k0 : f32
        scf.yield %more : f32
      } else {
        scf.yield %part : f32
      }
      scf.yield %new : f32
    }
    %n1 = linattn.decay %S by %y : tensor<4x4xf32>, f32
    linattn.yield %n1 : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#mat = affine_map<(t, k, v) -> (k, v)>

// Each iteration reads the state of every token at an address of its own: from the old state and, by a
// bracket, from what the tokens before have written. What does not depend on the address is built once.
// CHECK-LABEL: func @reads_in_a_loop
// CHECK:       ins({{.*}} as %[[K:.+]] : tensor<8x4xf32>,
// CHECK:       states({{.*}} as %[[S:.+]] : tensor<4x4xf32>)
// CHECK:       %[[A:.+]] = math.exp
// CHECK:       linattn.running_product %[[A]]
// CHECK:       linattn.running_product reverse %[[A]]
// CHECK:       %[[X:.+]] = scf.for %{{.+}} = %c0 to %c3 step %c1 iter_args(%[[OLD:.+]] = %[[K]]) -> (tensor<8x4xf32>)
// CHECK-NOT:     linattn.running_product
// CHECK:         %[[READ:.+]] = linattn.read %[[S]] at %{{.+}} along 0 : tensor<4x4xf32>, tensor<8x4xf32>
// CHECK:         %[[OF_S:.+]] = linalg.generic {{.*}} ins(%[[READ]],
// CHECK:         %[[B:.+]] = linattn.bracket %{{.+}}, %[[K]] decay %[[A]] diagonal
// CHECK:         %[[ROWS:.+]] = linalg.matmul ins(%[[B]], %[[K]] : tensor<8x8xf32>, tensor<8x4xf32>) outs(%[[OF_S]]
// CHECK:         %[[NEW:.+]] = math.tanh %[[ROWS]] : tensor<8x4xf32>
// CHECK:         scf.yield %[[NEW]]
// CHECK:       linattn.write %{{.+}} at %{{.+}} along 0 value %[[K]]
func.func @reads_in_a_loop(%k: tensor<?x4xf32>, %g: tensor<?xf32>, %o: tensor<?x4xf32>, %s: tensor<4x4xf32>) -> (tensor<?x4xf32>, tensor<4x4xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>, %g via #num : tensor<?xf32> as %gt : f32)
      outs(%o via #vec : tensor<?x4xf32>)
      states(%s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %X = linattn.decay %S by %gt : tensor<4x4xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %a = arith.constant 0 : index
    %b = arith.constant 3 : index
    %c = arith.constant 1 : index
    %x = scf.for %i = %a to %b step %c iter_args(%old = %kt) -> (tensor<4xf32>) {
      %row = linattn.read %S1 at %old along 0 : tensor<4x4xf32>, tensor<4xf32>
      %new = math.tanh %row : tensor<4xf32>
      scf.yield %new : tensor<4xf32>
    }
    linattn.yield %x, %S1 : tensor<4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1 : tensor<?x4xf32>, tensor<4x4xf32>
}
