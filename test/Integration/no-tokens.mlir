// No token, no sequence: empty outputs, and the final state is the initial one, with any thread count.
// DEFINE: %{npy} = %python -m linattn.npy
// DEFINE: %{run} = la-run %s --guard --function with_initial
// RUN: mkdir -p %t
// RUN: %{npy} %t/o f32 2x0x3x4 0
// RUN: %{npy} %t/s f32 2x3x4x4 7
// RUN: %{run} --shape 0=2x0x3x4 --fill 0=0 --shape 1=2x3x4x4 --fill 1=7 --expect %t/o --expect %t/s
// RUN: %{run} --shape 0=2x0x3x4 --fill 0=0 --shape 1=2x3x4x4 --fill 1=7 --expect %t/o --expect %t/s --threads 4
// RUN: %{npy} %t/zero f32 2x3x4x4 0
// RUN: la-run %s --guard --function without_initial --threads 4 --shape 0=2x0x3x4 --fill 0=0 --expect %t/o --expect %t/zero
// RUN: %{npy} %t/o f32 0x5x3x4 0
// RUN: %{npy} %t/s f32 0x3x4x4 0
// RUN: %{run} --shape 0=0x5x3x4 --fill 0=1 --shape 1=0x3x4x4 --fill 1=7 --expect %t/o --expect %t/s --threads 4

#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

func.func @with_initial(%x: tensor<?x?x3x4xf32>, %s0: tensor<?x3x4x4xf32>)
    -> (tensor<?x?x3x4xf32>, tensor<?x3x4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x3x4xf32>
  %tokens = tensor.dim %x, %c1 : tensor<?x?x3x4xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x3x4xf32>
  %o, %s = linattn.recurrence [parallel, time, parallel]
      ins(%x via #token : tensor<?x?x3x4xf32> as %xt : tensor<4xf32>)
      outs(%o0 via #token : tensor<?x?x3x4xf32>)
      states(%s0 via #state : tensor<?x3x4x4xf32> as %S : tensor<4x4xf32>) {
    %S1 = linattn.write %S at %xt along 0 value %xt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %ot = linattn.read %S1 at %xt along 0 : tensor<4x4xf32>, tensor<4xf32>
    linattn.yield %ot, %S1 : tensor<4xf32>, tensor<4x4xf32>
  }
  return %o, %s : tensor<?x?x3x4xf32>, tensor<?x3x4x4xf32>
}

func.func @without_initial(%x: tensor<?x?x3x4xf32>) -> (tensor<?x?x3x4xf32>, tensor<?x3x4x4xf32>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : tensor<?x?x3x4xf32>
  %empty = tensor.empty(%batch) : tensor<?x3x4x4xf32>
  %s0 = linalg.fill ins(%f0 : f32) outs(%empty : tensor<?x3x4x4xf32>) -> tensor<?x3x4x4xf32>
  %o, %s = call @with_initial(%x, %s0)
      : (tensor<?x?x3x4xf32>, tensor<?x3x4x4xf32>) -> (tensor<?x?x3x4xf32>, tensor<?x3x4x4xf32>)
  return %o, %s : tensor<?x?x3x4xf32>, tensor<?x3x4x4xf32>
}
