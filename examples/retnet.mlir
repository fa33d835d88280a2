// RetNet's retention with rotary embeddings: a fixed decay per head.
//
//   gamma_h = 1 - 2^(-5-h);   q, k rotated by the position
//   S = gamma_h S + k v^T;   o = S^T q / sqrt(K)
//
// Formula: Sun et al., "Retentive Network", 2023. Shapes of its 1.3B model: 8 heads, K = 256,
// V = 512. cos and sin are the model's tables, [tokens, K / 2]: their maps have only the time.
//
// Run: examples/run.py retnet --tokens 1024 --check

#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#table = affine_map<(b, t, h, d) -> (t, d)>
#head = affine_map<(b, t, h) -> (h)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

func.func @retnet(
    %q: tensor<?x?x8x256xf32>, %k: tensor<?x?x8x256xf32>, %v: tensor<?x?x8x512xf32>,
    %cos: tensor<?x128xf32>, %sin: tensor<?x128xf32>, %log_gamma: tensor<8xf32>,
    %s0: tensor<?x8x256x512xf32>)
    -> (tensor<?x?x8x512xf32>, tensor<?x8x256x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x8x512xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x8x512xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x8x512xf32>

  %o, %s = linattn.recurrence [parallel, time, parallel]
      ins(%q via #token : tensor<?x?x8x256xf32> as %qt : tensor<256xf32>,
          %k via #token : tensor<?x?x8x256xf32> as %kt : tensor<256xf32>,
          %v via #token : tensor<?x?x8x512xf32> as %vt : tensor<512xf32>,
          %cos via #table : tensor<?x128xf32> as %c : tensor<128xf32>,
          %sin via #table : tensor<?x128xf32> as %s_ : tensor<128xf32>,
          %log_gamma via #head : tensor<8xf32> as %g : f32)
      outs(%o0 via #token : tensor<?x?x8x512xf32>)
      states(%s0 via #state : tensor<?x8x256x512xf32> as %S : tensor<256x512xf32>) {
    // (x1, x2) -> (x1 cos - x2 sin, x1 sin + x2 cos) on the two halves; q also takes the scale.
    %scale = arith.constant dense<0.0625> : tensor<256xf32>
    %empty = tensor.empty() : tensor<256xf32>
    %qs = arith.mulf %qt, %scale : tensor<256xf32>
    %q1 = tensor.extract_slice %qs[0] [128] [1] : tensor<256xf32> to tensor<128xf32>
    %q2 = tensor.extract_slice %qs[128] [128] [1] : tensor<256xf32> to tensor<128xf32>
    %q3 = arith.mulf %q1, %c : tensor<128xf32>
    %q4 = arith.mulf %q2, %s_ : tensor<128xf32>
    %q5 = arith.subf %q3, %q4 : tensor<128xf32>
    %q6 = arith.mulf %q1, %s_ : tensor<128xf32>
    %q7 = arith.mulf %q2, %c : tensor<128xf32>
    %q8 = arith.addf %q6, %q7 : tensor<128xf32>
    %q9 = tensor.insert_slice %q5 into %empty[0] [128] [1] : tensor<128xf32> into tensor<256xf32>
    %qr = tensor.insert_slice %q8 into %q9[128] [128] [1] : tensor<128xf32> into tensor<256xf32>
    %k1 = tensor.extract_slice %kt[0] [128] [1] : tensor<256xf32> to tensor<128xf32>
    %k2 = tensor.extract_slice %kt[128] [128] [1] : tensor<256xf32> to tensor<128xf32>
    %k3 = arith.mulf %k1, %c : tensor<128xf32>
    %k4 = arith.mulf %k2, %s_ : tensor<128xf32>
    %k5 = arith.subf %k3, %k4 : tensor<128xf32>
    %k6 = arith.mulf %k1, %s_ : tensor<128xf32>
    %k7 = arith.mulf %k2, %c : tensor<128xf32>
    %k8 = arith.addf %k6, %k7 : tensor<128xf32>
    %k9 = tensor.insert_slice %k5 into %empty[0] [128] [1] : tensor<128xf32> into tensor<256xf32>
    %kr = tensor.insert_slice %k8 into %k9[128] [128] [1] : tensor<128xf32> into tensor<256xf32>

    %X = linattn.decay %S by %g : tensor<256x512xf32>, f32
    %S1 = linattn.write %X at %kr along 0 value %vt : tensor<256x512xf32>, tensor<256xf32>, tensor<512xf32>
    %ot = linattn.read %S1 at %qr along 0 : tensor<256x512xf32>, tensor<256xf32>
    linattn.yield %ot, %S1 : tensor<512xf32>, tensor<256x512xf32>
  }
  return %o, %s : tensor<?x?x8x512xf32>, tensor<?x8x256x512xf32>
}
