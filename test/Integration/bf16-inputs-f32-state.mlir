// 1024 tokens of bf16 ones, in one call and in 1024 calls: the carried state stays f32. A state that is
// rounded to bf16 sticks at 256.
// RUN: mkdir -p %t
// RUN: %python -m linattn.npy %t/s f32 1x1 1024
// RUN: la-run %s --guard --function at_once --shape 0=1024x1 --fill 0=1 --expect %t/s --rtol 0 --atol 0
// RUN: la-run %s --guard --function one_by_one --shape 0=1024x1 --fill 0=1 --expect %t/s --rtol 0 --atol 0

#token = affine_map<(t, d) -> (t, d)>
#state = affine_map<(t, k, v) -> (k, v)>

func.func private @count(%x: tensor<?x1xbf16>, %s0: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %s = linattn.recurrence [time]
      ins(%x via #token : tensor<?x1xbf16> as %xt : tensor<1xbf16>)
      states(%s0 via #state : tensor<1x1xf32> as %S : tensor<1x1xf32>) {
    %S1 = linattn.write %S at %xt along 0 value %xt : tensor<1x1xf32>, tensor<1xbf16>, tensor<1xbf16>
    linattn.yield %S1 : tensor<1x1xf32>
  }
  return %s : tensor<1x1xf32>
}

func.func @at_once(%x: tensor<?x1xbf16>) -> tensor<1x1xf32> {
  %s0 = arith.constant dense<0.0> : tensor<1x1xf32>
  %s = call @count(%x, %s0) : (tensor<?x1xbf16>, tensor<1x1xf32>) -> tensor<1x1xf32>
  return %s : tensor<1x1xf32>
}

func.func @one_by_one(%x: tensor<?x1xbf16>) -> tensor<1x1xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s0 = arith.constant dense<0.0> : tensor<1x1xf32>
  %tokens = tensor.dim %x, %c0 : tensor<?x1xbf16>
  %s = scf.for %t = %c0 to %tokens step %c1 iter_args(%carried = %s0) -> tensor<1x1xf32> {
    %slice = tensor.extract_slice %x[%t, 0] [1, 1] [1, 1] : tensor<?x1xbf16> to tensor<1x1xbf16>
    %xt = tensor.cast %slice : tensor<1x1xbf16> to tensor<?x1xbf16>
    %next = func.call @count(%xt, %carried) : (tensor<?x1xbf16>, tensor<1x1xf32>) -> tensor<1x1xf32>
    scf.yield %next : tensor<1x1xf32>
  }
  return %s : tensor<1x1xf32>
}
