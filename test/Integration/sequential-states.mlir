// What is run token by token inside the chunk of a state, with values that are exact: token by token as a
// whole, and in chunks with a rest (10 = 2 * 4 + 2, 5 = 4 + 1).
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/../Runner/Inputs/arrays.py 'k = np.ones((10, 2), "f4")' \
// RUN:   'f = np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34], "f4")' 'sums = 2 * np.cumsum(f)' 'sum = np.full(2, 88, "f4")' \
// RUN:   'a = np.float32(55)' 'b = np.float32(89)' \
// RUN:   'i = np.array([1, 2, -4, 5, 100], "i4")' 'quotients = np.full(2, 100 + 50 - 25 + 20 + 1, "f4")' \
// RUN:   't = np.arange(10)' 'n = np.int32((t * 2**t).sum())' 'count = np.full(2, 10, "f4")' \
// RUN:   'w = np.arange(20, dtype="f4").reshape(10, 2)' 'powers = (3 * w**2).sum(0)'
// DEFINE: %{chunk} = 0
// DEFINE: %{run} = la-run %s --guard --rtol 0 --atol 0 --pipeline "builtin.module(linattn-to-cpu-pipeline{chunk=%{chunk} subchunk=2})" --function
// DEFINE: %{fibonacci} = %{run} fibonacci --arg k.npy --fill 1=0 --fill 2=0 --fill 3=1 --expect sums.npy --expect sum.npy --expect a.npy --expect b.npy
// DEFINE: %{divided} = %{run} divided --arg i.npy --fill 1=0 --expect quotients.npy
// DEFINE: %{positions} = %{run} positions --arg k.npy --fill 1=0 --fill 2=0 --expect n.npy --expect count.npy
// DEFINE: %{loops} = %{run} loops --arg w.npy --fill 1=0 --expect powers.npy
// RUN: %{fibonacci}
// RUN: %{divided}
// RUN: %{positions}
// RUN: %{loops}
// REDEFINE: %{chunk} = 4
// RUN: %{fibonacci}
// RUN: %{divided}
// RUN: %{positions}
// RUN: %{loops}

#row = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#vec = affine_map<(t, d) -> (d)>
#one = affine_map<(t) -> ()>

// Two numbers in a circle, and the chunk that sums them.
func.func @fibonacci(%k: tensor<?x2xf32>, %s: tensor<2xf32>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<?xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : tensor<?x2xf32>
  %o = tensor.empty(%n) : tensor<?xf32>
  %r:4 = linattn.recurrence [time]
      ins(%k via #row : tensor<?x2xf32> as %kt : tensor<2xf32>)
      outs(%o via #num : tensor<?xf32>)
      states(%s via #vec : tensor<2xf32> as %S : tensor<2xf32>, %a via #one : tensor<f32> as %A : f32, %b via #one : tensor<f32> as %B : f32) {
    %next = arith.addf %A, %B : f32
    %S1 = linattn.write %S at %kt along 0 value %A : tensor<2xf32>, tensor<2xf32>, f32
    %ot = linattn.read %S1 at %kt along 0 : tensor<2xf32>, tensor<2xf32>
    linattn.yield %ot, %S1, %B, %next : f32, tensor<2xf32>, f32, f32
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>
}

// A row that is no token does not divide by 0.
func.func @divided(%i: tensor<?xi32>, %s: tensor<2xf32>) -> tensor<2xf32> {
  %r = linattn.recurrence [time]
      ins(%i via #num : tensor<?xi32> as %it : i32)
      states(%s via #vec : tensor<2xf32> as %S : tensor<2xf32>) {
    %hundred = arith.constant 100 : i32
    %ones = arith.constant dense<1.0> : tensor<2xf32>
    %d = arith.divsi %hundred, %it : i32
    %f = arith.sitofp %d : i32 to f32
    %S1 = linattn.write %S at %ones along 0 value %f : tensor<2xf32>, tensor<2xf32>, f32
    linattn.yield %S1 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// Reversed, n' = 2 n + t: the position is inside a region.
func.func @positions(%k: tensor<?x2xf32>, %n: tensor<i32>, %s: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
  %r:2 = linattn.recurrence [time] reverse
      ins(%k via #row : tensor<?x2xf32> as %kt : tensor<2xf32>)
      states(%n via #one : tensor<i32> as %N : i32, %s via #vec : tensor<2xf32> as %S : tensor<2xf32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1.0 : f32
    %isPositive = arith.cmpi sge, %N, %zero : i32
    %N1 = scf.if %isPositive -> i32 {
      %t = linattn.index 0
      %ti = arith.index_cast %t : index to i32
      %twice = arith.addi %N, %N : i32
      %sum = arith.addi %twice, %ti : i32
      scf.yield %sum : i32
    } else {
      scf.yield %zero : i32
    }
    %S1 = linattn.write %S at %kt along 0 value %one : tensor<2xf32>, tensor<2xf32>, f32
    linattn.yield %N1, %S1 : i32, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<2xf32>
}

// Three times w, as a loop, is written at w: the loop goes once over all tokens.
func.func @loops(%w: tensor<?x2xf32>, %s: tensor<2x2xf32>) -> tensor<2xf32> {
  %r = linattn.recurrence [time]
      ins(%w via #row : tensor<?x2xf32> as %wt : tensor<2xf32>)
      states(%s via affine_map<(t, i, j) -> (i, j)> : tensor<2x2xf32> as %S : tensor<2x2xf32>) {
    %zeros = arith.constant dense<0.0> : tensor<2xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%part = %zeros) -> (tensor<2xf32>) {
      %next = arith.addf %part, %wt : tensor<2xf32>
      scf.yield %next : tensor<2xf32>
    }
    %S1 = linattn.write %S at %wt along 0 value %sum : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
    linattn.yield %S1 : tensor<2x2xf32>
  }
  %diagonal = tensor.empty() : tensor<2xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%r : tensor<2x2xf32>) outs(%diagonal : tensor<2xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<2xf32>
  return %d : tensor<2xf32>
}
