// A first-order recurrence h = f h + x on a state without dims. The combination of two steps is not
// commutative, and all values are exact in f32.
// DEFINE: %{npy} = %python -m linattn.npy
// RUN: mkdir -p %t
// RUN: %{npy} %t/f f32 8 .5 2 .25 4 1 .5 2 .125
// RUN: %{npy} %t/x f32 8 1 2 3 4 5 6 7 8
// RUN: %{npy} %t/o f32 8 1 4 4 20 25 18.5 44 13.5
// RUN: la-run %s --guard --arg %t/f --arg %t/x --fill 2=0 --expect %t/o --rtol 0 --atol 0

// Running counts of ones.
// RUN: %{npy} %t/o f32 8 1 2 3 4 5 6 7 8
// RUN: la-run %s --guard --shape 0=8 --fill 0=1 --shape 1=8 --fill 1=1 --fill 2=0 --expect %t/o

func.func @main(%f: tensor<?xf32>, %x: tensor<?xf32>, %h0: tensor<f32>) -> (tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?xf32>
  %o0 = tensor.empty(%tokens) : tensor<?xf32>
  %o, %h = linattn.recurrence [time]
      ins(%f via affine_map<(t) -> (t)> : tensor<?xf32> as %ft : f32,
          %x via affine_map<(t) -> (t)> : tensor<?xf32> as %xt : f32)
      outs(%o0 via affine_map<(t) -> (t)> : tensor<?xf32>)
      states(%h0 via affine_map<(t) -> ()> : tensor<f32> as %H : f32) {
    %fh = arith.mulf %ft, %H : f32
    %H1 = arith.addf %fh, %xt : f32
    linattn.yield %H1, %H1 : f32, f32
  }
  return %o, %h : tensor<?xf32>, tensor<f32>
}
