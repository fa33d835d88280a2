// Four heads, two groups of B: head h uses group h floordiv 2, or h mod 2 where a model tiles them.
// RUN: mkdir -p %t
// RUN: %python -m linattn.npy %t/b f32 2x1 1 10
// RUN: %python -m linattn.npy %t/interleaved f32 4x1 1 1 10 10
// RUN: %python -m linattn.npy %t/tiled f32 4x1 1 10 1 10
// RUN: la-run %s --guard --arg %t/b --expect %t/interleaved --expect %t/tiled

#group = affine_map<(t, h, n) -> (h floordiv 2, n)>
#tile = affine_map<(t, h, n) -> (h mod 2, n)>
#token = affine_map<(t, h, p) -> (t, h, p)>
#state = affine_map<(t, h, n, p) -> (h, n, p)>

func.func @main(%b: tensor<2x1xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %x = arith.constant dense<1.0> : tensor<1x4x1xf32>
  %s0 = arith.constant dense<0.0> : tensor<4x1x1xf32>
  %y0 = tensor.empty() : tensor<1x4x1xf32>
  %y1, %s1 = linattn.recurrence [time, parallel]
      ins(%b via #group : tensor<2x1xf32> as %bt : tensor<1xf32>,
          %x via #token : tensor<1x4x1xf32> as %xt : tensor<1xf32>)
      outs(%y0 via #token : tensor<1x4x1xf32>)
      states(%s0 via #state : tensor<4x1x1xf32> as %S : tensor<1x1xf32>) {
    %c = arith.constant dense<1.0> : tensor<1xf32>
    %S1 = linattn.write %S at %bt along 0 value %xt : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    %yt = linattn.read %S1 at %c along 0 : tensor<1x1xf32>, tensor<1xf32>
    linattn.yield %yt, %S1 : tensor<1xf32>, tensor<1x1xf32>
  }
  %y2, %s2 = linattn.recurrence [time, parallel]
      ins(%b via #tile : tensor<2x1xf32> as %bt : tensor<1xf32>,
          %x via #token : tensor<1x4x1xf32> as %xt : tensor<1xf32>)
      outs(%y0 via #token : tensor<1x4x1xf32>)
      states(%s0 via #state : tensor<4x1x1xf32> as %S : tensor<1x1xf32>) {
    %c = arith.constant dense<1.0> : tensor<1xf32>
    %S1 = linattn.write %S at %bt along 0 value %xt : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
    %yt = linattn.read %S1 at %c along 0 : tensor<1x1xf32>, tensor<1xf32>
    linattn.yield %yt, %S1 : tensor<1xf32>, tensor<1x1xf32>
  }
  %r1 = tensor.collapse_shape %y1 [[0, 1], [2]] : tensor<1x4x1xf32> into tensor<4x1xf32>
  %r2 = tensor.collapse_shape %y2 [[0, 1], [2]] : tensor<1x4x1xf32> into tensor<4x1xf32>
  return %r1, %r2 : tensor<4x1xf32>, tensor<4x1xf32>
}
