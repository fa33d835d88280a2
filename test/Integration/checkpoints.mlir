// The states after tokens 64 and 128 of 130, and the final one, which is none of them. In reverse,
// checkpoint c is the state once token 64 c has been visited.
// RUN: mkdir -p %t
// RUN: %python -m linattn.npy %t/s f32 1x1 130
// RUN: %python -m linattn.npy %t/c f32 2x1x1 64 128
// RUN: la-run %s --guard --function forward --shape 0=130x1 --fill 0=1 --expect %t/s --expect %t/c --rtol 0 --atol 0
// RUN: %python -m linattn.npy %t/c f32 2x1x1 130 66
// RUN: la-run %s --guard --function backward --shape 0=130x1 --fill 0=1 --expect %t/s --expect %t/c --rtol 0 --atol 0

// Fewer tokens than the interval: no checkpoint.
// RUN: %python -m linattn.npy %t/s f32 1x1 63
// RUN: %python -m linattn.npy %t/c f32 0x1x1 0
// RUN: la-run %s --guard --function forward --shape 0=63x1 --fill 0=1 --expect %t/s --expect %t/c

#token = affine_map<(t, d) -> (t, d)>
#state = affine_map<(t, k, v) -> (k, v)>
#kept = affine_map<(t, k, v) -> (t, k, v)>

func.func @forward(%x: tensor<?x1xf32>) -> (tensor<1x1xf32>, tensor<?x1x1xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %s0 = arith.constant dense<0.0> : tensor<1x1xf32>
  %tokens = tensor.dim %x, %c0 : tensor<?x1xf32>
  %count = arith.divui %tokens, %c64 : index
  %kept0 = tensor.empty(%count) : tensor<?x1x1xf32>
  %s, %kept = linattn.recurrence [time]
      ins(%x via #token : tensor<?x1xf32> as %xt : tensor<1xf32>)
      states(%s0 via #state : tensor<1x1xf32> as %S : tensor<1x1xf32>)
      checkpoints(%kept0 via #kept : tensor<?x1x1xf32>) every 64 {
    %S1 = linattn.write %S at %xt along 0 value %xt : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    linattn.yield %S1 : tensor<1x1xf32>
  }
  return %s, %kept : tensor<1x1xf32>, tensor<?x1x1xf32>
}

func.func @backward(%x: tensor<?x1xf32>) -> (tensor<1x1xf32>, tensor<?x1x1xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %s0 = arith.constant dense<0.0> : tensor<1x1xf32>
  %tokens = tensor.dim %x, %c0 : tensor<?x1xf32>
  %count = arith.divui %tokens, %c64 : index
  %kept0 = tensor.empty(%count) : tensor<?x1x1xf32>
  %s, %kept = linattn.recurrence [time] reverse
      ins(%x via #token : tensor<?x1xf32> as %xt : tensor<1xf32>)
      states(%s0 via #state : tensor<1x1xf32> as %S : tensor<1x1xf32>)
      checkpoints(%kept0 via #kept : tensor<?x1x1xf32>) every 64 {
    %S1 = linattn.write %S at %xt along 0 value %xt : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    linattn.yield %S1 : tensor<1x1xf32>
  }
  return %s, %kept : tensor<1x1xf32>, tensor<?x1x1xf32>
}
