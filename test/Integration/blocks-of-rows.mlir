// A rank-1 state with an erase and a decay per channel, in chunks of two blocks: the bracket is written
// block by block and read row by row. The same as token by token, in every run.

// DEFINE: %{args} = %s --random 3 --shape 0=2x2x1x5 --shape 1=2x2x1x5 --shape 2=2x2x1x5 --shape 3=2x2x1 --shape 4=2x2x1x5 --range 4=-1:0 --shape 5=2x2x1x5 --shape 6=2x1x5
// DEFINE: %{chunked} = la-run %{args} --expect %t/token0.npy --expect %t/token1.npy --rtol 1e-10 --pipeline "builtin.module(linattn-chunk{chunk=8 subchunk=4},linattn-to-cpu-pipeline)"
// RUN: mkdir -p %t
// RUN: la-run %{args} --out %t/token --pipeline "builtin.module(linattn-to-cpu-pipeline{chunk=0})"
// RUN: %{chunked}
// RUN: %{chunked} --repeat 3
// RUN: %{chunked}

func.func @main(%a0s: tensor<?x?x1x5xf64>, %a1s: tensor<?x?x1x5xf64>, %a2s: tensor<?x?x1x5xf64>, %a3s: tensor<?x?x1xf64>, %a4s: tensor<?x?x1x5xf64>, %a5s: tensor<?x?x1x5xf64>, %s0_init: tensor<?x1x5xf64>)
    -> (tensor<?x?x1xf64>, tensor<?x1x5xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %T = tensor.dim %a0s, %c1 : tensor<?x?x1x5xf64>
  %N = tensor.dim %a0s, %c0 : tensor<?x?x1x5xf64>
  %out0 = tensor.empty(%N, %T) : tensor<?x?x1xf64>
  %r0, %r1 = linattn.recurrence [parallel, time, parallel]
      ins(%a0s via affine_map<(b, t, h, d0) -> (b, t, h, d0)> : tensor<?x?x1x5xf64> as %a0 : tensor<5xf64>, %a1s via affine_map<(b, t, h, d0) -> (b, t, h, d0)> : tensor<?x?x1x5xf64> as %a1 : tensor<5xf64>, %a2s via affine_map<(b, t, h, d0) -> (b, t, h, d0)> : tensor<?x?x1x5xf64> as %a2 : tensor<5xf64>, %a3s via affine_map<(b, t, h) -> (b, t, h)> : tensor<?x?x1xf64> as %a3 : f64, %a4s via affine_map<(b, t, h, d0) -> (b, t, h, d0)> : tensor<?x?x1x5xf64> as %a4 : tensor<5xf64>, %a5s via affine_map<(b, t, h, d0) -> (b, t, h, d0)> : tensor<?x?x1x5xf64> as %a5 : tensor<5xf64>)
      outs(%out0 via affine_map<(b, t, h) -> (b, t, h)> : tensor<?x?x1xf64>)
      states(%s0_init via affine_map<(b, t, h, d0) -> (b, h, d0)> : tensor<?x1x5xf64> as %s0 : tensor<5xf64>)
  {
    %x0 = linattn.read %s0 at %a0 along 0 : tensor<5xf64>, tensor<5xf64>
    %x1 = linattn.read %s0 at %a1 along 0 : tensor<5xf64>, tensor<5xf64>
    %x2 = arith.subf %a3, %x1 : f64
    %x3 = linattn.write %s0 at %a2 along 0 value %x2 : tensor<5xf64>, tensor<5xf64>, f64
    %x4 = linattn.decay %x3 by %a4 along [0] : tensor<5xf64>, tensor<5xf64>
    %x5 = linattn.read %x4 at %a5 along 0 : tensor<5xf64>, tensor<5xf64>
    linattn.yield %x5, %x4 : f64, tensor<5xf64>
  }
  return %r0, %r1 : tensor<?x?x1xf64>, tensor<?x1x5xf64>
}
