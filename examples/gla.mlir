// Gated linear attention (GLA): a decay per key channel, no erase.
//
//   g = logsigmoid(x) / 16;   S = diag(exp(g)) S + k v^T;   o = S^T q / sqrt(K)
//
// Formula: Yang et al., "Gated Linear Attention Transformers with Hardware-Efficient Training", 2023.
// Shapes of its 1.3B model: 4 heads, K = 256, V = 512. x is the output of the low-rank gate
// projection.
//
// Run: examples/run.py gla --tokens 1024 --check

#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

func.func @gla(
    %q: tensor<?x?x4x256xf32>, %k: tensor<?x?x4x256xf32>, %v: tensor<?x?x4x512xf32>,
    %x: tensor<?x?x4x256xf32>, %s0: tensor<?x4x256x512xf32>)
    -> (tensor<?x?x4x512xf32>, tensor<?x4x256x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x4x512xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x4x512xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x4x512xf32>

  %o, %s = linattn.recurrence [parallel, time, parallel]
      ins(%q via #token : tensor<?x?x4x256xf32> as %qt : tensor<256xf32>,
          %k via #token : tensor<?x?x4x256xf32> as %kt : tensor<256xf32>,
          %v via #token : tensor<?x?x4x512xf32> as %vt : tensor<512xf32>,
          %x via #token : tensor<?x?x4x256xf32> as %xt : tensor<256xf32>)
      outs(%o0 via #token : tensor<?x?x4x512xf32>)
      states(%s0 via #state : tensor<?x4x256x512xf32> as %S : tensor<256x512xf32>) {
    // logsigmoid(x) = min(x, 0) - log1p(exp(-|x|)).
    %zero = arith.constant dense<0.0> : tensor<256xf32>
    %x0 = arith.minimumf %xt, %zero : tensor<256xf32>
    %x1 = math.absf %xt : tensor<256xf32>
    %x2 = arith.negf %x1 : tensor<256xf32>
    %x3 = math.exp %x2 : tensor<256xf32>
    %x4 = math.log1p %x3 : tensor<256xf32>
    %x5 = arith.subf %x0, %x4 : tensor<256xf32>
    %normaliser = arith.constant dense<0.0625> : tensor<256xf32>
    %g = arith.mulf %x5, %normaliser : tensor<256xf32>

    %scale = arith.constant dense<0.0625> : tensor<256xf32>
    %qs = arith.mulf %qt, %scale : tensor<256xf32>
    %X = linattn.decay %S by %g along [0] : tensor<256x512xf32>, tensor<256xf32>
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<256x512xf32>, tensor<256xf32>, tensor<512xf32>
    %ot = linattn.read %S1 at %qs along 0 : tensor<256x512xf32>, tensor<256xf32>
    linattn.yield %ot, %S1 : tensor<512xf32>, tensor<256x512xf32>
  }
  return %o, %s : tensor<?x?x4x512xf32>, tensor<?x4x256x512xf32>
}
