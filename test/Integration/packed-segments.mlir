// Three packed sequences of 5, 9 and 6 tokens, decayed counts: nothing leaks across a border, and the
// decay of an initial state counts from its own sequence's start.
// DEFINE: %{npy} = %python -m linattn.npy
// RUN: mkdir -p %t
// RUN: %{npy} %t/cu i32 4 0 5 14 20
// RUN: %{npy} %t/s0 f32 3x1x1 0
// RUN: %{npy} %t/s f32 3x1x1 4.0951 6.125795 4.68559
// RUN: la-run %s --guard --shape 0=20x1 --fill 0=1 --arg 1=%t/cu --arg 2=%t/s0 --expect 1=%t/s
// RUN: %{npy} %t/s0 f32 3x1x1 1 2 3
// RUN: %{npy} %t/s f32 3x1x1 4.68559 6.900636 6.279913
// RUN: la-run %s --guard --shape 0=20x1 --fill 0=1 --arg 1=%t/cu --arg 2=%t/s0 --expect 1=%t/s

// Empty sequences hand their initial state on: first, twice in the middle, last.
// RUN: %{npy} %t/cu i32 7 0 0 2 2 2 3 3
// RUN: %{npy} %t/s0 f32 6x1x1 1 0 2 3 0 4
// RUN: %{npy} %t/s f32 6x1x1 1 1.9 2 3 1 4
// RUN: %{npy} %t/o f32 3x1 1 1.9 1
// RUN: la-run %s --guard --shape 0=3x1 --fill 0=1 --arg 1=%t/cu --arg 2=%t/s0 --expect %t/o --expect %t/s

func.func @main(%x: tensor<?x1xf32>, %cu: tensor<?xi32>, %s0: tensor<?x1x1xf32>)
    -> (tensor<?x1xf32>, tensor<?x1x1xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x1xf32>
  %o0 = tensor.empty(%tokens) : tensor<?x1xf32>
  %o, %s = linattn.recurrence [segment, time]
      ins(%x via affine_map<(s, t, d) -> (t, d)> : tensor<?x1xf32> as %xt : tensor<1xf32>)
      segments(%cu : tensor<?xi32>)
      outs(%o0 via affine_map<(s, t, d) -> (t, d)> : tensor<?x1xf32>)
      states(%s0 via affine_map<(s, t, k, v) -> (s, k, v)> : tensor<?x1x1xf32> as %S : tensor<1x1xf32>) {
    %decay = arith.constant 0.9 : f32
    %X = linattn.decay %S by linear %decay : tensor<1x1xf32>, f32
    %S1 = linattn.write %X at %xt along 0 value %xt : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    %ot = linattn.read %S1 at %xt along 0 : tensor<1x1xf32>, tensor<1xf32>
    linattn.yield %ot, %S1 : tensor<1xf32>, tensor<1x1xf32>
  }
  return %o, %s : tensor<?x1xf32>, tensor<?x1x1xf32>
}
