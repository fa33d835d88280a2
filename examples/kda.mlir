// Kimi Delta Attention (KDA): the delta rule with a decay per key channel.
//
//   q, k = l2norm(q) / sqrt(K), l2norm(k)
//   g    = -exp(A_log) softplus(f + dt_bias), per channel;  beta = sigmoid(b)
//   X    = diag(exp(g)) S;   S = X + k (beta (v - k^T X))^T;   o = S^T q
//
// Formula: "Kimi Linear: An Expressive, Efficient Attention Architecture", 2025. Shapes of its 48B
// model: 32 heads, K = V = 128.
//
// Run: examples/run.py kda --tokens 1024 --check

#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#gate = affine_map<(b, t, h) -> (b, t, h)>
#head = affine_map<(b, t, h) -> (h)>
#channel = affine_map<(b, t, h, d) -> (h, d)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

func.func @kda(
    %q: tensor<?x?x32x128xbf16>, %k: tensor<?x?x32x128xbf16>, %v: tensor<?x?x32x128xbf16>,
    %f: tensor<?x?x32x128xbf16>, %b: tensor<?x?x32xbf16>,
    %a_log: tensor<32xf32>, %dt_bias: tensor<32x128xf32>, %s0: tensor<?x32x128x128xf32>)
    -> (tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x32x128xbf16>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x32x128xbf16>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x32x128xbf16>

  %o, %s = linattn.recurrence [parallel, time, parallel]
      ins(%q via #token : tensor<?x?x32x128xbf16> as %qt : tensor<128xbf16>,
          %k via #token : tensor<?x?x32x128xbf16> as %kt : tensor<128xbf16>,
          %v via #token : tensor<?x?x32x128xbf16> as %vt : tensor<128xbf16>,
          %f via #token : tensor<?x?x32x128xbf16> as %ft : tensor<128xbf16>,
          %b via #gate : tensor<?x?x32xbf16> as %bt : bf16,
          %a_log via #head : tensor<32xf32> as %A_log : f32,
          %dt_bias via #channel : tensor<32x128xf32> as %bias : tensor<128xf32>)
      outs(%o0 via #token : tensor<?x?x32x128xbf16>)
      states(%s0 via #state : tensor<?x32x128x128xf32> as %S : tensor<128x128xf32>) {
    %one = arith.constant 1.0 : f32
    %eps = arith.constant 1.0e-6 : f32
    %scale = arith.constant 0.08838834764831845 : f32
    %sum0 = arith.constant dense<0.0> : tensor<f32>
    %zero = arith.constant dense<0.0> : tensor<128xf32>

    // l2norm of q, with the query scale, and of k.
    %qf = arith.extf %qt : tensor<128xbf16> to tensor<128xf32>
    %qq = linalg.dot ins(%qf, %qf : tensor<128xf32>, tensor<128xf32>) outs(%sum0 : tensor<f32>) -> tensor<f32>
    %q2 = tensor.extract %qq[] : tensor<f32>
    %q3 = arith.addf %q2, %eps : f32
    %q4 = math.rsqrt %q3 : f32
    %q5 = arith.mulf %q4, %scale : f32
    %q6 = tensor.splat %q5 : tensor<128xf32>
    %qn = arith.mulf %qf, %q6 : tensor<128xf32>
    %kf = arith.extf %kt : tensor<128xbf16> to tensor<128xf32>
    %kk = linalg.dot ins(%kf, %kf : tensor<128xf32>, tensor<128xf32>) outs(%sum0 : tensor<f32>) -> tensor<f32>
    %k2 = tensor.extract %kk[] : tensor<f32>
    %k3 = arith.addf %k2, %eps : f32
    %k4 = math.rsqrt %k3 : f32
    %k5 = tensor.splat %k4 : tensor<128xf32>
    %kn = arith.mulf %kf, %k5 : tensor<128xf32>

    // g = -exp(A_log) softplus(f + dt_bias) for each channel.
    %ff = arith.extf %ft : tensor<128xbf16> to tensor<128xf32>
    %x = arith.addf %ff, %bias : tensor<128xf32>
    %x0 = arith.maximumf %x, %zero : tensor<128xf32>
    %x1 = math.absf %x : tensor<128xf32>
    %x2 = arith.negf %x1 : tensor<128xf32>
    %x3 = math.exp %x2 : tensor<128xf32>
    %x4 = math.log1p %x3 : tensor<128xf32>
    %softplus = arith.addf %x0, %x4 : tensor<128xf32>
    %A = math.exp %A_log : f32
    %nA = arith.negf %A : f32
    %rate = tensor.splat %nA : tensor<128xf32>
    %g = arith.mulf %rate, %softplus : tensor<128xf32>

    // beta = sigmoid(b).
    %bf = arith.extf %bt : bf16 to f32
    %nb = arith.negf %bf : f32
    %eb = math.exp %nb : f32
    %db = arith.addf %one, %eb : f32
    %beta = arith.divf %one, %db : f32

    %X = linattn.decay %S by %g along [0] : tensor<128x128xf32>, tensor<128xf32>
    %r = linattn.read %X at %kn along 0 : tensor<128x128xf32>, tensor<128xf32>
    %vf = arith.extf %vt : tensor<128xbf16> to tensor<128xf32>
    %e = arith.subf %vf, %r : tensor<128xf32>
    %bv = tensor.splat %beta : tensor<128xf32>
    %d = arith.mulf %bv, %e : tensor<128xf32>
    %S1 = linattn.write %X at %kn along 0 value %d : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
    %of = linattn.read %S1 at %qn along 0 : tensor<128x128xf32>, tensor<128xf32>
    %ot = arith.truncf %of : tensor<128xf32> to tensor<128xbf16>
    linattn.yield %ot, %S1 : tensor<128xbf16>, tensor<128x128xf32>
  }
  return %o, %s : tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>
}
