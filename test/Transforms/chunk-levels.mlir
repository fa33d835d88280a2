// States that are mixed with numbers of the token and then change alike are one chunk; so are erases of
// a state of which columns decay.

// RUN: la-opt %s --linattn-chunk="chunk=8 subchunk=4" --canonicalize --cse --split-input-file --remarks-filter-missed=linattn-chunk --remark-format=emitRemark --verify-diagnostics | FileCheck %s

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#mat = affine_map<(t, k, v) -> (k, v)>

// B takes in A, or begins anew; A' is what the token writes. A loop multiplies the numbers of the tokens:
// columns for what is left of A and of B, then one for each token that writes to A. They weigh the
// bracket and what is read of the old states, A of which leaves nothing in A.
// CHECK-LABEL: func @merged
// CHECK:       ins({{.*}} as %[[K:.+]] : tensor<8x4xf32>,
// CHECK:       states({{.*}} as %[[A:.+]] : tensor<4x4xf32>,
// CHECK:              {{.*}} as %[[B:.+]] : tensor<4x4xf32>)
// CHECK:       %[[START:.+]] = arith.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00, 0.000000e+00, {{.*}}> : tensor<2x10xf32>
// CHECK:       %[[PRODUCTS:.+]]:2 = scf.for {{.*}} iter_args(%[[OLD:.+]] = %[[START]], %[[ALL:.+]] = %{{.+}}) -> (tensor<2x10xf32>, tensor<8x2x10xf32>)
// CHECK:         %[[NEW:.+]] = linalg.matmul ins(%{{.+}}, %[[OLD]] : tensor<2x2xf32>, tensor<2x10xf32>)
// CHECK:         %[[WITH:.+]] = tensor.insert %{{.+}} into %[[NEW]][%c0, %{{.+}}]
// CHECK:         tensor.insert_slice %[[WITH]] into %[[ALL]]
// CHECK:       %[[A1:.+]] = linattn.write %{{.+}} at %[[K]] along 0
// CHECK:       %[[B1:.+]] = linattn.write %{{.+}} at %[[K]] along 0
// CHECK:       %[[BRACKET:.+]] = linattn.bracket %[[K]], %[[K]]
// CHECK:       linattn.read %[[A]] at %[[K]] along 0
// CHECK:       linattn.read %[[B]] at %[[K]] along 0
// CHECK:       %[[PAIRS:.+]] = tensor.extract_slice %[[PRODUCTS]]#1[0, 1, 2] [8, 1, 8] [1, 1, 1] : tensor<8x2x10xf32> to tensor<8x8xf32>
// CHECK:       %[[WEIGHTS:.+]] = arith.mulf %[[BRACKET]], %[[PAIRS]] : tensor<8x8xf32>
// CHECK:       linalg.matmul ins(%[[WEIGHTS]], %[[K]] :
// CHECK:       linattn.yield %{{.+}}, %[[A1]], %[[B1]]
func.func @merged(%k: tensor<?x4xf32>, %p: tensor<?xi1>, %o: tensor<?x4xf32>, %a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>, %p via #num : tensor<?xi1> as %pt : i1)
      outs(%o via #vec : tensor<?x4xf32>)
      states(%a via #mat : tensor<4x4xf32> as %A : tensor<4x4xf32>, %b via #mat : tensor<4x4xf32> as %B : tensor<4x4xf32>) {
    %zero = arith.constant dense<0.0> : tensor<4x4xf32>
    %A1 = linattn.write %zero at %kt along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %both = arith.addf %A, %B : tensor<4x4xf32>
    %B1 = arith.select %pt, %both, %zero : tensor<4x4xf32>
    %ot = linattn.read %B1 at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    linattn.yield %ot, %A1, %B1 : tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#mat = affine_map<(t, k, v) -> (k, v)>

// Both are erased alike: one system, solved for the addresses that the erases have in the old states.
// CHECK-LABEL: func @erased_alike
// CHECK:       ins({{.*}} as %[[K:.+]] : tensor<8x4xf32>,
// CHECK:       states({{.*}} as %[[A:.+]] : tensor<4x4xf32>,
// CHECK:              {{.*}} as %[[B:.+]] : tensor<4x4xf32>)
// CHECK:       %[[Z:.+]] = linattn.solve %{{.+}}, %{{.+}} subchunk 4 : tensor<8x8xf32>, tensor<8x4xf32>
// CHECK-NOT:   linattn.solve
// CHECK:       %[[ZA:.+]] = linattn.read %[[A]] at %[[Z]] along 0
// CHECK:       linattn.write %[[A]] at %[[K]] along 0 value %[[ZA]]
// CHECK:       %[[ZB:.+]] = linattn.read %[[B]] at %[[Z]] along 0
// CHECK:       linattn.write %[[B]] at %[[K]] along 0 value %[[ZB]]
func.func @erased_alike(%k: tensor<?x4xf32>, %p: tensor<?xf32>, %a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>, %p via #num : tensor<?xf32> as %pt : f32)
      states(%a via #mat : tensor<4x4xf32> as %A : tensor<4x4xf32>, %b via #mat : tensor<4x4xf32> as %B : tensor<4x4xf32>) {
    %p2 = tensor.splat %pt : tensor<4x4xf32>
    %pB = arith.mulf %p2, %B : tensor<4x4xf32>
    %A0 = arith.addf %A, %pB : tensor<4x4xf32>
    %ra = linattn.read %A0 at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %na = arith.negf %ra : tensor<4xf32>
    %A1 = linattn.write %A0 at %kt along 0 value %na : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %rb = linattn.read %A at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %nb = arith.negf %rb : tensor<4xf32>
    %B1 = linattn.write %A at %kt along 0 value %nb : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    linattn.yield %A1, %B1 : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// The erase is solved for addresses in the old state, and for weights of the values that tokens write;
// with them, columns decay. From then on the written values are known.
// CHECK-LABEL: func @columns_decay
// CHECK:       ins({{.*}} as %[[K:.+]] : tensor<8x4xf32>,
// CHECK:           {{.*}} as %{{.+}} : tensor<8x4xf32>,
// CHECK:           {{.*}} as %[[V:.+]] : tensor<8x4xf32>)
// CHECK:       states({{.*}} as %[[S:.+]] : tensor<4x4xf32>)
// CHECK:       %[[BRACKET:.+]] = linattn.bracket %[[K]], %[[K]]
// CHECK:       %[[Z:.+]] = linattn.solve %{{.+}}, %{{.+}} subchunk 4 : tensor<8x8xf32>, tensor<8x4xf32>
// CHECK:       %[[W:.+]] = linattn.solve %{{.+}}, %{{.+}} subchunk 4 : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK:       linattn.read %[[S]] at %[[Z]] along 0
// CHECK:       linattn.weighted_sum %[[W]], %[[V]] decay %{{.+}} subchunk 4
func.func @columns_decay(%k: tensor<?x4xf32>, %g: tensor<?x4xf32>, %v: tensor<?x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>, %g via #vec : tensor<?x4xf32> as %gt : tensor<4xf32>,
          %v via #vec : tensor<?x4xf32> as %vt : tensor<4xf32>)
      states(%s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %X = linattn.decay %S by %gt along [1] : tensor<4x4xf32>, tensor<4xf32>
    %old = linattn.read %X at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %change = arith.subf %vt, %old : tensor<4xf32>
    %S1 = linattn.write %X at %kt along 0 value %change : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    linattn.yield %S1 : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}
