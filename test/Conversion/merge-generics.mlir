// A write and the read after it walk over the state once.

// RUN: la-opt %s --linattn-to-loops --linattn-merge-generics --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @write_and_read(
// CHECK:         scf.for {{.*}}tensor<8x16xf32>)
// CHECK:           linalg.generic {{.*}} outs(%{{.+}}, %{{.+}} : tensor<8x16xf32>, tensor<16xf32>)
// CHECK-NOT:       linalg.generic
// CHECK:         return
// CHECK-LABEL: func.func @read_and_write(
// The write depends on what was read: two passes.
// CHECK-COUNT-2:   linalg.generic
// CHECK:         return
func.func @write_and_read(%k: tensor<?x8xf32>, %v: tensor<?x16xf32>, %o0: tensor<?x16xf32>, %s0: tensor<8x16xf32>)
    -> (tensor<?x16xf32>, tensor<8x16xf32>) {
  %o, %s = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x16xf32> as %vt : tensor<16xf32>)
      outs(%o0 via affine_map<(t, d) -> (t, d)> : tensor<?x16xf32>)
      states(%s0 via affine_map<(t, k, v) -> (k, v)> : tensor<8x16xf32> as %S : tensor<8x16xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x16xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<8x16xf32>
  }
  return %o, %s : tensor<?x16xf32>, tensor<8x16xf32>
}
func.func @read_and_write(%k: tensor<?x8xf32>, %v: tensor<?x16xf32>, %o0: tensor<?x16xf32>, %s0: tensor<8x16xf32>)
    -> (tensor<?x16xf32>, tensor<8x16xf32>) {
  %o, %s = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x16xf32> as %vt : tensor<16xf32>)
      outs(%o0 via affine_map<(t, d) -> (t, d)> : tensor<?x16xf32>)
      states(%s0 via affine_map<(t, k, v) -> (k, v)> : tensor<8x16xf32> as %S : tensor<8x16xf32>) {
    %ot = linattn.read %S at %kt along 0 : tensor<8x16xf32>, tensor<8xf32>
    %S1 = linattn.write %S at %kt along 0 value %ot : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<8x16xf32>
  }
  return %o, %s : tensor<?x16xf32>, tensor<8x16xf32>
}

#id = affine_map<(k, v) -> (k, v)>

// A broadcast is read where it is used; what is computed before a loop is not computed in it again.
// CHECK-LABEL: func @loop
// CHECK:         %[[A:.+]] = linalg.generic
// CHECK:           math.exp
// CHECK:         scf.for
// CHECK-NOT:       linalg.broadcast
// CHECK:           linalg.generic {{.*}} ins(%{{.+}}, %[[A]] : tensor<8xf32>, tensor<4x8xf32>)
// CHECK-NOT:         math.exp
// CHECK:           scf.yield
func.func @loop(%a: tensor<4x8xf32>, %x: tensor<8xf32>, %s: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4x8xf32>
  %A = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.exp %in : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%S = %s) -> tensor<4x8xf32> {
    %w = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<4x8xf32>) dimensions = [0]
    %g = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %A : tensor<4x8xf32>, tensor<4x8xf32>) outs(%S : tensor<4x8xf32>) {
    ^bb0(%in: f32, %f: f32, %out: f32):
      %p = arith.mulf %in, %f : f32
      %q = arith.mulf %out, %p : f32
      linalg.yield %q : f32
    } -> tensor<4x8xf32>
    scf.yield %g : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

#row = affine_map<(t, k, v) -> (t, k)>
#column = affine_map<(t, k, v) -> (t, v)>
#entry = affine_map<(t, k, v) -> (k, v)>

// Two sums of products into the same entries are one.
// CHECK-LABEL: func @two_updates
// CHECK-SAME:      %[[S:[^:]+]]: tensor<8x32xf32>
// CHECK:         linalg.generic {{.*}} ins(%{{[^:]+}} : tensor<4x8xf32>, tensor<4x32xf32>, tensor<4x8xf32>) outs(%[[S]] : tensor<8x32xf32>)
// CHECK:           %[[FIRST:.+]] = arith.addf
// CHECK:           arith.addf %[[FIRST]], %{{.+}} fastmath<contract>
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @two_updates(%s: tensor<8x32xf32>, %w: tensor<4x8xf32>, %u: tensor<4x32xf32>, %x: tensor<4x8xf32>) -> tensor<8x32xf32> {
  %0 = linalg.generic {indexing_maps = [#row, #column, #entry], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%w, %u : tensor<4x8xf32>, tensor<4x32xf32>) outs(%s : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %n = arith.addf %sum, %p fastmath<contract> : f32
    linalg.yield %n : f32
  } -> tensor<8x32xf32>
  %1 = linalg.generic {indexing_maps = [#row, #column, #entry], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %u : tensor<4x8xf32>, tensor<4x32xf32>) outs(%0 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %n = arith.addf %sum, %p fastmath<contract> : f32
    linalg.yield %n : f32
  } -> tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}

// Not if their order is that of the program, or if the first sum is used as well.
// CHECK-LABEL: func @two_sums_apart
// CHECK-COUNT-3: linalg.generic
func.func @two_sums_apart(%s: tensor<8x32xf32>, %w: tensor<4x8xf32>, %u: tensor<4x32xf32>, %x: tensor<4x8xf32>)
    -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %0 = linalg.generic {indexing_maps = [#row, #column, #entry], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%w, %u : tensor<4x8xf32>, tensor<4x32xf32>) outs(%s : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %sum, %p : f32
    linalg.yield %n : f32
  } -> tensor<8x32xf32>
  %1 = linalg.generic {indexing_maps = [#row, #column, #entry], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %u : tensor<4x8xf32>, tensor<4x32xf32>) outs(%0 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %n = arith.addf %sum, %p fastmath<contract> : f32
    linalg.yield %n : f32
  } -> tensor<8x32xf32>
  %2 = linalg.generic {indexing_maps = [#row, #column, #entry], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %u : tensor<4x8xf32>, tensor<4x32xf32>) outs(%1 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %n = arith.addf %sum, %p fastmath<contract> : f32
    linalg.yield %n : f32
  } -> tensor<8x32xf32>
  return %1, %2 : tensor<8x32xf32>, tensor<8x32xf32>
}

// All indices of a loop are below its extent.
// CHECK-LABEL: func.func @all_rows(
// CHECK:         arith.mulf
// CHECK-NEXT:    linalg.yield
// CHECK:         arith.select
// CHECK-NOT:     arith.select
// CHECK:         return
func.func @all_rows(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %four = arith.constant 4 : index
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi slt, %i, %four : index
    %p = arith.mulf %in, %in : f32
    %s = arith.select %c, %p, %zero : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%f : tensor<8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi slt, %i, %four : index
    %one = arith.constant 1.0 : f32
    %s = arith.select %c, %one, %zero : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<8xf32>
}

// What an op computes twice is stored once.
// CHECK-LABEL: func @equal_results
// CHECK:         %[[R:.+]]:2 = linalg.generic {{.*}} outs(%{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK:           %[[X:.+]] = arith.negf
// CHECK:           %[[Y:.+]] = math.exp
// CHECK:           linalg.yield %[[X]], %[[Y]] : f32, f32
// CHECK:         return %[[R]]#0, %[[R]]#1, %[[R]]#0
func.func @equal_results(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e, %e, %e : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  ^bb0(%in: f32, %o0: f32, %o1: f32, %o2: f32):
    %x = arith.negf %in : f32
    %y = math.exp %x : f32
    linalg.yield %x, %y, %x : f32, f32, f32
  } -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// The second op reads an entry of the first one's result beside its own: two passes.
// CHECK-LABEL: func @reads_another_entry
// CHECK:         %[[X:.+]] = linalg.generic
// CHECK:         linalg.generic {{.*}} ins(%[[X]] :
// CHECK:           tensor.extract %[[X]]
func.func @reads_another_entry(%a: tensor<4x8xf32>, %i: index) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = math.exp %in : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %other = tensor.extract %x[%i, %i] : tensor<4x8xf32>
    %n = arith.mulf %in, %other : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// What another block needs as well is a second result.
// CHECK-LABEL: func @used_in_another_block
// CHECK:         %[[BOTH:.+]]:2 = linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[BOTH]]#0, %[[BOTH]]#1
func.func @used_in_another_block(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = math.exp %in : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = math.sqrt %in : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  cf.br ^bb1
^bb1:
  return %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
}
