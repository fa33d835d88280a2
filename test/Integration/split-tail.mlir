// The last tokens, which fill no chunk, run in a recurrence of their own. Positions go on there, from the user's offset if there is one, in both
// directions: 11 tokens in chunks of 4 write 1 each and put out position * 100 + tokens so far.

// DEFINE: %{function} =
// DEFINE: %{args} =
// DEFINE: %{run} = la-run %s --guard --rtol 0 --atol 0 --function %{function} %{args} --pipeline "builtin.module(linattn-to-cpu-pipeline{chunk=4 subchunk=4})"
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/../Runner/Inputs/arrays.py 't = np.arange(11.0)' 'forward = (100 * t + t + 1).astype("f4")' 'backward = (100 * t + 11 - t).astype("f4")' \
// RUN:   'offsets = np.stack([100 * (t + 5) + t + 1, 100 * (t + 70) + t + 1]).astype("f4")' 'count = np.full((1, 1), 11, "f4")' \
// RUN:   'counts = np.full((2, 1, 1), 11, "f4")' 'positions = np.array([5, 70])'
// REDEFINE: %{args} = --shape 0=11x1 --fill 0=1 --fill 1=0 --expect forward.npy --expect count.npy
// REDEFINE: %{function} = forward
// RUN: %{run}
// REDEFINE: %{args} = --shape 0=11x1 --fill 0=1 --fill 1=0 --expect backward.npy --expect count.npy
// REDEFINE: %{function} = backward
// RUN: %{run}
// REDEFINE: %{args} = --shape 0=2x11x1 --fill 0=1 --shape 1=2x1x1 --fill 1=0 --arg 2=positions.npy --expect offsets.npy --expect counts.npy
// REDEFINE: %{function} = offsets
// RUN: %{run}

#vec = affine_map<(t, d) -> (t, d)>
#num = affine_map<(t) -> (t)>
#mat = affine_map<(t, k, v) -> (k, v)>

func.func @forward(%x: tensor<?x1xf32>, %s: tensor<1x1xf32>) -> (tensor<?xf32>, tensor<1x1xf32>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %x, %c0 : tensor<?x1xf32>
  %o = tensor.empty(%T) : tensor<?xf32>
  %r:2 = linattn.recurrence [time]
      ins(%x via #vec : tensor<?x1xf32> as %xt : tensor<1xf32>)
      outs(%o via #num : tensor<?xf32>)
      states(%s via #mat : tensor<1x1xf32> as %S : tensor<1x1xf32>) {
    %S1 = linattn.write %S at %xt along 0 value %xt : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    %n = linattn.read %S1 at %xt along 0 : tensor<1x1xf32>, tensor<1xf32>
    %zero = arith.constant 0 : index
    %count = tensor.extract %n[%zero] : tensor<1xf32>
    %t = linattn.index 0
    %i = arith.index_cast %t : index to i32
    %f = arith.sitofp %i : i32 to f32
    %hundred = arith.constant 100.0 : f32
    %p = arith.mulf %f, %hundred : f32
    %y = arith.addf %p, %count : f32
    linattn.yield %y, %S1 : f32, tensor<1x1xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<1x1xf32>
}

func.func @backward(%x: tensor<?x1xf32>, %s: tensor<1x1xf32>) -> (tensor<?xf32>, tensor<1x1xf32>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %x, %c0 : tensor<?x1xf32>
  %o = tensor.empty(%T) : tensor<?xf32>
  %r:2 = linattn.recurrence [time] reverse
      ins(%x via #vec : tensor<?x1xf32> as %xt : tensor<1xf32>)
      outs(%o via #num : tensor<?xf32>)
      states(%s via #mat : tensor<1x1xf32> as %S : tensor<1x1xf32>) {
    %S1 = linattn.write %S at %xt along 0 value %xt : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    %n = linattn.read %S1 at %xt along 0 : tensor<1x1xf32>, tensor<1xf32>
    %zero = arith.constant 0 : index
    %count = tensor.extract %n[%zero] : tensor<1xf32>
    %t = linattn.index 0
    %i = arith.index_cast %t : index to i32
    %f = arith.sitofp %i : i32 to f32
    %hundred = arith.constant 100.0 : f32
    %p = arith.mulf %f, %hundred : f32
    %y = arith.addf %p, %count : f32
    linattn.yield %y, %S1 : f32, tensor<1x1xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<1x1xf32>
}

func.func @offsets(%x: tensor<?x?x1xf32>, %s: tensor<?x1x1xf32>, %positions: tensor<?xi64>) -> (tensor<?x?xf32>, tensor<?x1x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x1xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x1xf32>
  %o = tensor.empty(%B, %T) : tensor<?x?xf32>
  %r:2 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<?x?x1xf32> as %xt : tensor<1xf32>)
      position_offset(%positions via affine_map<(b, t) -> (b)> : tensor<?xi64>)
      outs(%o via affine_map<(b, t) -> (b, t)> : tensor<?x?xf32>)
      states(%s via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<?x1x1xf32> as %S : tensor<1x1xf32>) {
    %S1 = linattn.write %S at %xt along 0 value %xt : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    %n = linattn.read %S1 at %xt along 0 : tensor<1x1xf32>, tensor<1xf32>
    %zero = arith.constant 0 : index
    %count = tensor.extract %n[%zero] : tensor<1xf32>
    %t = linattn.index 1
    %i = arith.index_cast %t : index to i32
    %f = arith.sitofp %i : i32 to f32
    %hundred = arith.constant 100.0 : f32
    %p = arith.mulf %f, %hundred : f32
    %y = arith.addf %p, %count : f32
    linattn.yield %y, %S1 : f32, tensor<1x1xf32>
  }
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?x1x1xf32>
}
