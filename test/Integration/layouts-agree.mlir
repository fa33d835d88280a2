// One fused [B, T, 3 H D] buffer, and [B, H, T, D], give the bits that contiguous [B, T, H, D] gives.
// RUN: mkdir -p %t
// RUN: %python -m linattn.npy %t/zero f32 2x37x3x16 0
// RUN: la-run %s --guard --random 1 --shape 0=2x37x144 --expect %t/zero --expect %t/zero --rtol 0 --atol 0

#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#head_major = affine_map<(b, t, h, d) -> (b, h, t, d)>
#fused_q = affine_map<(b, t, h, d) -> (b, t, h * 16 + d)>
#fused_k = affine_map<(b, t, h, d) -> (b, t, h * 16 + d + 48)>
#fused_v = affine_map<(b, t, h, d) -> (b, t, h * 16 + d + 96)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

func.func @main(%qkv: tensor<2x37x144xf32>) -> (tensor<2x37x3x16xf32>, tensor<2x37x3x16xf32>) {
  %s0 = arith.constant dense<0.0> : tensor<2x3x16x16xf32>
  %o0 = tensor.empty() : tensor<2x37x3x16xf32>
  %fused, %s1 = linattn.recurrence [parallel, time, parallel]
      ins(%qkv via #fused_q : tensor<2x37x144xf32> as %qt : tensor<16xf32>,
          %qkv via #fused_k : tensor<2x37x144xf32> as %kt : tensor<16xf32>,
          %qkv via #fused_v : tensor<2x37x144xf32> as %vt : tensor<16xf32>)
      outs(%o0 via #token : tensor<2x37x3x16xf32>)
      states(%s0 via #state : tensor<2x3x16x16xf32> as %S : tensor<16x16xf32>) {
    %g = arith.constant -0.1 : f32
    %X = linattn.decay %S by %g : tensor<16x16xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<16x16xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<16x16xf32>
  }

  // Contiguous copies.
  %q1 = tensor.extract_slice %qkv[0, 0, 0] [2, 37, 48] [1, 1, 1] : tensor<2x37x144xf32> to tensor<2x37x48xf32>
  %k1 = tensor.extract_slice %qkv[0, 0, 48] [2, 37, 48] [1, 1, 1] : tensor<2x37x144xf32> to tensor<2x37x48xf32>
  %v1 = tensor.extract_slice %qkv[0, 0, 96] [2, 37, 48] [1, 1, 1] : tensor<2x37x144xf32> to tensor<2x37x48xf32>
  %q = tensor.expand_shape %q1 [[0], [1], [2, 3]] output_shape [2, 37, 3, 16] : tensor<2x37x48xf32> into tensor<2x37x3x16xf32>
  %k = tensor.expand_shape %k1 [[0], [1], [2, 3]] output_shape [2, 37, 3, 16] : tensor<2x37x48xf32> into tensor<2x37x3x16xf32>
  %v = tensor.expand_shape %v1 [[0], [1], [2, 3]] output_shape [2, 37, 3, 16] : tensor<2x37x48xf32> into tensor<2x37x3x16xf32>
  %plain, %s2 = linattn.recurrence [parallel, time, parallel]
      ins(%q via #token : tensor<2x37x3x16xf32> as %qt : tensor<16xf32>,
          %k via #token : tensor<2x37x3x16xf32> as %kt : tensor<16xf32>,
          %v via #token : tensor<2x37x3x16xf32> as %vt : tensor<16xf32>)
      outs(%o0 via #token : tensor<2x37x3x16xf32>)
      states(%s0 via #state : tensor<2x3x16x16xf32> as %S : tensor<16x16xf32>) {
    %g = arith.constant -0.1 : f32
    %X = linattn.decay %S by %g : tensor<16x16xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<16x16xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<16x16xf32>
  }

  // Head-major copies.
  %e = tensor.empty() : tensor<2x3x37x16xf32>
  %qh = linalg.transpose ins(%q : tensor<2x37x3x16xf32>) outs(%e : tensor<2x3x37x16xf32>) permutation = [0, 2, 1, 3]
  %kh = linalg.transpose ins(%k : tensor<2x37x3x16xf32>) outs(%e : tensor<2x3x37x16xf32>) permutation = [0, 2, 1, 3]
  %vh = linalg.transpose ins(%v : tensor<2x37x3x16xf32>) outs(%e : tensor<2x3x37x16xf32>) permutation = [0, 2, 1, 3]
  %major, %s3 = linattn.recurrence [parallel, time, parallel]
      ins(%qh via #head_major : tensor<2x3x37x16xf32> as %qt : tensor<16xf32>,
          %kh via #head_major : tensor<2x3x37x16xf32> as %kt : tensor<16xf32>,
          %vh via #head_major : tensor<2x3x37x16xf32> as %vt : tensor<16xf32>)
      outs(%o0 via #token : tensor<2x37x3x16xf32>)
      states(%s0 via #state : tensor<2x3x16x16xf32> as %S : tensor<16x16xf32>) {
    %g = arith.constant -0.1 : f32
    %X = linattn.decay %S by %g : tensor<16x16xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<16x16xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<16x16xf32>
  }
  %d1 = arith.subf %fused, %plain : tensor<2x37x3x16xf32>
  %d2 = arith.subf %major, %plain : tensor<2x37x3x16xf32>
  return %d1, %d2 : tensor<2x37x3x16xf32>, tensor<2x37x3x16xf32>
}
