// With q = k = v = 1 the state counts tokens, each weighted by the decays after it: closed forms.
// DEFINE: %{npy} = %python -m linattn.npy
// DEFINE: %{run} = la-run %s --guard
// RUN: mkdir -p %t

// A decay of e^-5 at every token: cumulative sums split into two exponentials overflow after 18.
// RUN: %{npy} %t/o f32 3 1 1.006738 1.006783
// RUN: %{run} --shape 0=3 --fill 0=-5 --fill 1=0 --expect %t/o
// RUN: %{npy} %t/s f32 1x1 1.0067837
// RUN: %{run} --shape 0=64 --fill 0=-5 --fill 1=0 --expect 1=%t/s

// A reset in the middle, as a huge decay and as -inf: what follows starts afresh, with its own decays.
// RUN: %{npy} %t/o f32 8 1 1.904837 2.723568 3.464386 1 1.904837 2.723568 3.464386
// RUN: %{npy} %t/g f32 8 -0.1 -0.1 -0.1 -0.1 -1e30 -0.1 -0.1 -0.1
// RUN: %{run} --arg %t/g --fill 1=0 --expect %t/o
// RUN: %{npy} %t/g f32 8 -0.1 -0.1 -0.1 -0.1 -inf -0.1 -0.1 -0.1
// RUN: %{run} --arg %t/g --fill 1=0 --expect %t/o

// Ten tokens: no padding may go on decaying the state.
// RUN: %{npy} %t/s f32 1x1 6.513216
// RUN: %{run} --shape 0=10 --fill 0=-0.10536051565782628 --fill 1=0 --expect 1=%t/s

// 96 tokens at once, and as 40 and 56 with the state carried over.
// RUN: %{npy} %t/s f32 1x1 61.895288
// RUN: %{run} --shape 0=96 --fill 0=-0.01005033585350145 --fill 1=0 --expect 1=%t/s
// RUN: %{npy} %t/s40 f32 1x1 33.102824
// RUN: %{run} --shape 0=40 --fill 0=-0.01005033585350145 --fill 1=0 --expect 1=%t/s40 --out %t/r
// RUN: %{run} --shape 0=56 --fill 0=-0.01005033585350145 --arg 1=%t/r1.npy --expect 1=%t/s

// An iteration space of time alone.
func.func @main(%g: tensor<?xf32>, %s0: tensor<1x1xf32>) -> (tensor<?xf32>, tensor<1x1xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %g, %c0 : tensor<?xf32>
  %o0 = tensor.empty(%tokens) : tensor<?xf32>
  %o, %s = linattn.recurrence [time]
      ins(%g via affine_map<(t) -> (t)> : tensor<?xf32> as %gt : f32)
      outs(%o0 via affine_map<(t) -> (t)> : tensor<?xf32>)
      states(%s0 via affine_map<(t, k, v) -> (k, v)> : tensor<1x1xf32> as %S : tensor<1x1xf32>) {
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %zero = arith.constant 0 : index
    %X = linattn.decay %S by %gt : tensor<1x1xf32>, f32
    %S1 = linattn.write %X at %one along 0 value %one : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    %r = linattn.read %S1 at %one along 0 : tensor<1x1xf32>, tensor<1xf32>
    %ot = tensor.extract %r[%zero] : tensor<1xf32>
    linattn.yield %ot, %S1 : f32, tensor<1x1xf32>
  }
  return %o, %s : tensor<?xf32>, tensor<1x1xf32>
}
