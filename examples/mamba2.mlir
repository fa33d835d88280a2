// Mamba-2 (state-space duality) with its gates, after the short convolution and before the norm.
//
//   D = softplus(dt + dt_bias),  A = -exp(A_log)
//   S = exp(D A) S + B (D x)^T;   y = (S^T C + skip x) silu(z)
//
// Formula: Dao and Gu, "Transformers are SSMs", 2024. Shapes of its 2.7B model: 80 heads of width
// 64, state width 128, one group: B and C are shared by all heads, so their maps have no h.
//
// Run: examples/run.py mamba2 --tokens 1024 --check

#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#shared = affine_map<(b, t, h, d) -> (b, t, d)>
#gate = affine_map<(b, t, h) -> (b, t, h)>
#head = affine_map<(b, t, h) -> (h)>
#state = affine_map<(b, t, h, n, p) -> (b, h, n, p)>

func.func @mamba2(
    %x: tensor<?x?x80x64xbf16>, %z: tensor<?x?x80x64xbf16>, %dt: tensor<?x?x80xbf16>,
    %B: tensor<?x?x128xbf16>, %C: tensor<?x?x128xbf16>,
    %a_log: tensor<80xf32>, %dt_bias: tensor<80xf32>, %skip: tensor<80xf32>,
    %s0: tensor<?x80x128x64xf32>)
    -> (tensor<?x?x80x64xbf16>, tensor<?x80x128x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x80x64xbf16>
  %tokens = tensor.dim %x, %c1 : tensor<?x?x80x64xbf16>
  %y0 = tensor.empty(%batch, %tokens) : tensor<?x?x80x64xbf16>

  %y, %s = linattn.recurrence [parallel, time, parallel]
      ins(%x via #token : tensor<?x?x80x64xbf16> as %xt : tensor<64xbf16>,
          %z via #token : tensor<?x?x80x64xbf16> as %zt : tensor<64xbf16>,
          %dt via #gate : tensor<?x?x80xbf16> as %dtt : bf16,
          %B via #shared : tensor<?x?x128xbf16> as %Bt : tensor<128xbf16>,
          %C via #shared : tensor<?x?x128xbf16> as %Ct : tensor<128xbf16>,
          %a_log via #head : tensor<80xf32> as %A_log : f32,
          %dt_bias via #head : tensor<80xf32> as %bias : f32,
          %skip via #head : tensor<80xf32> as %Dh : f32)
      outs(%y0 via #token : tensor<?x?x80x64xbf16>)
      states(%s0 via #state : tensor<?x80x128x64xf32> as %S : tensor<128x64xf32>) {
    // softplus(x) = max(x, 0) + log1p(exp(-|x|)), once.
    %zero = arith.constant 0.0 : f32
    %dtf = arith.extf %dtt : bf16 to f32
    %t0 = arith.addf %dtf, %bias : f32
    %t1 = arith.maximumf %t0, %zero : f32
    %t2 = math.absf %t0 : f32
    %t3 = arith.negf %t2 : f32
    %t4 = math.exp %t3 : f32
    %t5 = math.log1p %t4 : f32
    %delta = arith.addf %t1, %t5 : f32
    %a0 = math.exp %A_log : f32
    %a1 = arith.mulf %delta, %a0 : f32
    %g = arith.negf %a1 : f32

    // The step size multiplies x, not B.
    %xf = arith.extf %xt : tensor<64xbf16> to tensor<64xf32>
    %dv = tensor.splat %delta : tensor<64xf32>
    %dx = arith.mulf %dv, %xf : tensor<64xf32>
    %X = linattn.decay %S by %g : tensor<128x64xf32>, f32
    %S1 = linattn.write %X at %Bt along 0 value %dx : tensor<128x64xf32>, tensor<128xbf16>, tensor<64xf32>
    %r = linattn.read %S1 at %Ct along 0 : tensor<128x64xf32>, tensor<128xbf16>
    %Dv = tensor.splat %Dh : tensor<64xf32>
    %Dx = arith.mulf %Dv, %xf : tensor<64xf32>
    %y1 = arith.addf %r, %Dx : tensor<64xf32>

    // silu(z) = z / (1 + exp(-z)).
    %one = arith.constant dense<1.0> : tensor<64xf32>
    %zf = arith.extf %zt : tensor<64xbf16> to tensor<64xf32>
    %nz = arith.negf %zf : tensor<64xf32>
    %ez = math.exp %nz : tensor<64xf32>
    %dz = arith.addf %one, %ez : tensor<64xf32>
    %gz = arith.divf %zf, %dz : tensor<64xf32>
    %yf = arith.mulf %y1, %gz : tensor<64xf32>
    %yt = arith.truncf %yf : tensor<64xf32> to tensor<64xbf16>
    linattn.yield %yt, %S1 : tensor<64xbf16>, tensor<128x64xf32>
  }
  return %y, %s : tensor<?x?x80x64xbf16>, tensor<?x80x128x64xf32>
}
