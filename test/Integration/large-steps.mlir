// State-space scan with A = -16 and a step of 10: the decay is exp(-160), so every output is D x = 10.
// RUN: mkdir -p %t
// RUN: %python -m linattn.npy %t/y f32 300x1 10
// RUN: la-run %s --guard --shape 0=300x1 --fill 0=1 --expect %t/y

#token = affine_map<(t, d) -> (t, d)>
#state = affine_map<(t, n, p) -> (n, p)>

func.func @main(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x1xf32>
  %y0 = tensor.empty(%tokens) : tensor<?x1xf32>
  %s0 = arith.constant dense<0.0> : tensor<1x1xf32>
  %y, %s = linattn.recurrence [time]
      ins(%x via #token : tensor<?x1xf32> as %xt : tensor<1xf32>)
      outs(%y0 via #token : tensor<?x1xf32>)
      states(%s0 via #state : tensor<1x1xf32> as %S : tensor<1x1xf32>) {
    %A = arith.constant -16.0 : f32
    %dt = arith.constant 10.0 : f32
    %BC = arith.constant dense<1.0> : tensor<1xf32>
    %g = arith.mulf %dt, %A : f32
    %dtv = tensor.splat %dt : tensor<1xf32>
    %dx = arith.mulf %dtv, %xt : tensor<1xf32>
    %X = linattn.decay %S by %g : tensor<1x1xf32>, f32
    %S1 = linattn.write %X at %BC along 0 value %dx : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    %yt = linattn.read %S1 at %BC along 0 : tensor<1x1xf32>, tensor<1xf32>
    linattn.yield %yt, %S1 : tensor<1xf32>, tensor<1x1xf32>
  }
  return %y : tensor<?x1xf32>
}
