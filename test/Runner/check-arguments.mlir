// Arguments that a recurrence cannot take are refused before anything runs.

// DEFINE: %{packed} = la-run %s --function packed --random 1 --shape 1=6x8 --shape 2=6x8
// RUN: mkdir -p %t
// RUN: %python -c "import numpy as np; [np.save('%t/' + n, np.array(v, np.int32)) for n, v in dict(good=[0, 2, 2, 6], start=[1, 2, 6], decrease=[0, 4, 3, 6], end=[0, 3], negative=[0, -1, 6]).items()]"
// RUN: %{packed} --arg %t/good.npy --shape 3=3x8x8
// RUN: not %{packed} --arg %t/start.npy --shape 3=2x8x8 2>&1 | FileCheck %s --check-prefix=START
// RUN: not %{packed} --arg %t/decrease.npy --shape 3=3x8x8 2>&1 | FileCheck %s --check-prefix=DECREASE
// RUN: not %{packed} --arg %t/end.npy --shape 3=1x8x8 2>&1 | FileCheck %s --check-prefix=END
// RUN: not %{packed} --arg %t/negative.npy --shape 3=2x8x8 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not %{packed} --arg %t/good.npy --shape 3=2x8x8 2>&1 | FileCheck %s --check-prefix=STATES
// RUN: not la-run %s --function grouped --random 1 --shape 0=5x4x8 --shape 1=6x8x8 --shape 2=8x8x8 2>&1 | FileCheck %s --check-prefix=TOKENS
// RUN: not la-run %s --function grouped --random 1 --shape 0=6x3x8 --shape 1=6x8x8 --shape 2=8x8x8 2>&1 | FileCheck %s --check-prefix=HEADS

// START: error: argument 0 ('%cu') (i32 [3]): segment offsets expect to start at 0, got 1
// DECREASE: error: argument 0 ('%cu') (i32 [4]): segment offsets expect not to decrease, got 3 after 4 at [2]
// END: error: argument 0 ('%cu') (i32 [2]): segment offsets expect to end at the number of tokens 6, got 3
// NEGATIVE: error: argument 0 ('%cu') (i32 [3]): segment offsets expect not to decrease, got -1 after 0 at [1]
// STATES: error: argument 3 ('%s') (f32 [2,8,8]): dim 0 is 2, but argument 0 ('%cu') (i32 [4]) has the extent 3 for iteration dim #0
// TOKENS: error: argument 1 ('%o') (f32 [6,8,8]): dim 0 is 6, but argument 0 ('%k') (f32 [5,4,8]) has the extent 5 for iteration dim #0
// HEADS: error: argument 0 ('%k') (f32 [6,3,8]): dim 1 is 3, but the indexing map reaches index 3

func.func @packed(%cu: tensor<?xi32>, %k: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<?x8x8xf32>) -> tensor<?x8xf32> {
  %r:2 = linattn.recurrence [segment, time]
      ins(%k via affine_map<(n, t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      segments(%cu : tensor<?xi32>)
      outs(%o via affine_map<(n, t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(n, t, k, v) -> (n, k, v)> : tensor<?x8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0 : tensor<?x8xf32>
}

func.func @grouped(%k: tensor<?x?x8xf32>, %o: tensor<?x?x8xf32>, %s: tensor<?x8x8xf32>) -> tensor<?x?x8xf32> {
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via affine_map<(t, h, d) -> (t, h floordiv 2, d)> : tensor<?x?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via affine_map<(t, h, d) -> (t, h, d)> : tensor<?x?x8xf32>)
      states(%s via affine_map<(t, h, k, v) -> (h, k, v)> : tensor<?x8x8xf32> as %S : tensor<8x8xf32>) {
    %ot = linattn.read %S at %kt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0 : tensor<?x?x8xf32>
}
