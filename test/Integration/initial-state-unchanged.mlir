// A function that returns both its initial state and the final one: the loop must not update a value
// in place that is still used.
// RUN: mkdir -p %t
// RUN: %python -m linattn.npy %t/s0 f32 1x1 0
// RUN: %python -m linattn.npy %t/s f32 1x1 4
// RUN: la-run %s --guard --shape 0=4x1 --fill 0=1 --fill 1=0 --expect %t/s0 --expect %t/s --rtol 0 --atol 0

func.func @main(%x: tensor<?x1xf32>, %s0: tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1x1xf32>) {
  %s = linattn.recurrence [time]
      ins(%x via affine_map<(t, d) -> (t, d)> : tensor<?x1xf32> as %xt : tensor<1xf32>)
      states(%s0 via affine_map<(t, k, v) -> (k, v)> : tensor<1x1xf32> as %S : tensor<1x1xf32>) {
    %S1 = linattn.write %S at %xt along 0 value %xt : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    linattn.yield %S1 : tensor<1x1xf32>
  }
  return %s0, %s : tensor<1x1xf32>, tensor<1x1xf32>
}
