// Without an initial state the state starts at zero, whatever its buffer held before.
// RUN: mkdir -p %t
// RUN: %python -m linattn.npy %t/o f32 1x1x1x1 3
// RUN: %python -m linattn.npy %t/s f32 1x1x1x1 1.5
// RUN: la-run %s --guard --fill 0=2 --fill 1=1 --fill 2=3 --fill 3=2 --expect %t/o --expect %t/s
// RUN: la-run %s --guard --fill 0=2 --fill 1=1 --fill 2=3 --fill 3=6 --expect %t/o --expect %t/s

#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

func.func @main(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x1x1xf32>, %v: tensor<1x1x1x1xf32>,
                %slot: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %f0 = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%f0 : f32) outs(%slot : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %o0 = tensor.empty() : tensor<1x1x1x1xf32>
  %o, %s = linattn.recurrence [parallel, time, parallel]
      ins(%q via #token : tensor<1x1x1x1xf32> as %qt : tensor<1xf32>,
          %k via #token : tensor<1x1x1x1xf32> as %kt : tensor<1xf32>,
          %v via #token : tensor<1x1x1x1xf32> as %vt : tensor<1xf32>)
      outs(%o0 via #token : tensor<1x1x1x1xf32>)
      states(%s0 via #state : tensor<1x1x1x1xf32> as %S : tensor<1x1xf32>) {
    %g = arith.constant -1.0 : f32
    %beta = arith.constant dense<0.5> : tensor<1xf32>
    %X = linattn.decay %S by %g : tensor<1x1xf32>, f32
    %r = linattn.read %X at %kt along 0 : tensor<1x1xf32>, tensor<1xf32>
    %e = arith.subf %vt, %r : tensor<1xf32>
    %d = arith.mulf %beta, %e : tensor<1xf32>
    %S1 = linattn.write %X at %kt along 0 value %d : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<1x1xf32>, tensor<1xf32>
    linattn.yield %ot, %S1 : tensor<1xf32>, tensor<1x1xf32>
  }
  return %o, %s : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}
