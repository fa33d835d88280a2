// RWKV-7 (Goose) time mixing: diagonal plus rank one, with the erase reading the undecayed state.
//
//   g = -0.606531 sigmoid(w),  a = sigmoid(a),  kappa = l2norm(k xi),  k = k (1 + (a - 1) alpha)
//   S = diag(exp(g)) S + (kappa a) (-kappa)^T S + k v^T;   o = S^T r
//
// Formula: Peng et al., "RWKV-7 'Goose' with Expressive Dynamic State Evolution", 2025. Shapes of its
// 1.5B model: 32 heads, K = V = 64. The group norm and the (r k rho) v bonus follow outside.
//
// Run: examples/run.py rwkv7 --tokens 1024 --check

#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#channel = affine_map<(b, t, h, d) -> (h, d)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

func.func @rwkv7(
    %r: tensor<?x?x32x64xf32>, %w: tensor<?x?x32x64xf32>, %k: tensor<?x?x32x64xf32>,
    %v: tensor<?x?x32x64xf32>, %a: tensor<?x?x32x64xf32>,
    %xi: tensor<32x64xf32>, %alpha: tensor<32x64xf32>, %s0: tensor<?x32x64x64xf32>)
    -> (tensor<?x?x32x64xf32>, tensor<?x32x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x32x64xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x32x64xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x32x64xf32>

  %o, %s = linattn.recurrence [parallel, time, parallel]
      ins(%r via #token : tensor<?x?x32x64xf32> as %rt : tensor<64xf32>,
          %w via #token : tensor<?x?x32x64xf32> as %wt : tensor<64xf32>,
          %k via #token : tensor<?x?x32x64xf32> as %kt : tensor<64xf32>,
          %v via #token : tensor<?x?x32x64xf32> as %vt : tensor<64xf32>,
          %a via #token : tensor<?x?x32x64xf32> as %at : tensor<64xf32>,
          %xi via #channel : tensor<32x64xf32> as %x : tensor<64xf32>,
          %alpha via #channel : tensor<32x64xf32> as %al : tensor<64xf32>)
      outs(%o0 via #token : tensor<?x?x32x64xf32>)
      states(%s0 via #state : tensor<?x32x64x64xf32> as %S : tensor<64x64xf32>) {
    %one = arith.constant dense<1.0> : tensor<64xf32>
    %floor = arith.constant dense<-0.606531> : tensor<64xf32>
    %eps = arith.constant 1.0e-12 : f32
    %sum0 = arith.constant dense<0.0> : tensor<f32>

    // sigmoid(x) = 1 / (1 + exp(-x)), for the decay and for the in-context learning rate.
    %w1 = arith.negf %wt : tensor<64xf32>
    %w2 = math.exp %w1 : tensor<64xf32>
    %w3 = arith.addf %one, %w2 : tensor<64xf32>
    %g = arith.divf %floor, %w3 : tensor<64xf32>
    %a1 = arith.negf %at : tensor<64xf32>
    %a2 = math.exp %a1 : tensor<64xf32>
    %a3 = arith.addf %one, %a2 : tensor<64xf32>
    %rate = arith.divf %one, %a3 : tensor<64xf32>

    // The removal key is normalised, the replacement key is not.
    %kx = arith.mulf %kt, %x : tensor<64xf32>
    %kk = linalg.dot ins(%kx, %kx : tensor<64xf32>, tensor<64xf32>) outs(%sum0 : tensor<f32>) -> tensor<f32>
    %n2 = tensor.extract %kk[] : tensor<f32>
    %n3 = arith.addf %n2, %eps : f32
    %n4 = math.rsqrt %n3 : f32
    %n5 = tensor.splat %n4 : tensor<64xf32>
    %kappa = arith.mulf %kx, %n5 : tensor<64xf32>
    %minus = arith.negf %kappa : tensor<64xf32>
    %m1 = arith.subf %rate, %one : tensor<64xf32>
    %m2 = arith.mulf %m1, %al : tensor<64xf32>
    %m3 = arith.addf %one, %m2 : tensor<64xf32>
    %kn = arith.mulf %kt, %m3 : tensor<64xf32>

    %e = linattn.read %S at %minus along 0 : tensor<64x64xf32>, tensor<64xf32>
    %X = linattn.decay %S by %g along [0] : tensor<64x64xf32>, tensor<64xf32>
    %b = arith.mulf %kappa, %rate : tensor<64xf32>
    %Y = linattn.write %X at %b along 0 value %e : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    %S1 = linattn.write %Y at %kn along 0 value %vt : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    %ot = linattn.read %S1 at %rt along 0 : tensor<64x64xf32>, tensor<64xf32>
    linattn.yield %ot, %S1 : tensor<64xf32>, tensor<64x64xf32>
  }
  return %o, %s : tensor<?x?x32x64xf32>, tensor<?x32x64x64xf32>
}
