// RWKV-6 (Finch) time mixing: a decay per key channel, and a bonus for the current token.
//
//   decay = exp(-exp(w));   o = (S + diag(u) k v^T)^T r;   S = diag(decay) S + k v^T
//
// Formula: Peng et al., "Eagle and Finch", 2024. Shapes of its 1.6B model: 32 heads, K = V = 64.
// The bonus is a write that only this token's read sees: the state that goes on does not have it.
//
// Run: examples/run.py rwkv6 --tokens 1024 --check

#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#channel = affine_map<(b, t, h, d) -> (h, d)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

func.func @rwkv6(
    %r: tensor<?x?x32x64xf32>, %k: tensor<?x?x32x64xf32>, %v: tensor<?x?x32x64xf32>,
    %w: tensor<?x?x32x64xf32>, %u: tensor<32x64xf32>, %s0: tensor<?x32x64x64xf32>)
    -> (tensor<?x?x32x64xf32>, tensor<?x32x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x32x64xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x32x64xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x32x64xf32>

  %o, %s = linattn.recurrence [parallel, time, parallel]
      ins(%r via #token : tensor<?x?x32x64xf32> as %rt : tensor<64xf32>,
          %k via #token : tensor<?x?x32x64xf32> as %kt : tensor<64xf32>,
          %v via #token : tensor<?x?x32x64xf32> as %vt : tensor<64xf32>,
          %w via #token : tensor<?x?x32x64xf32> as %wt : tensor<64xf32>,
          %u via #channel : tensor<32x64xf32> as %bonus : tensor<64xf32>)
      outs(%o0 via #token : tensor<?x?x32x64xf32>)
      states(%s0 via #state : tensor<?x32x64x64xf32> as %S : tensor<64x64xf32>) {
    %uk = arith.mulf %bonus, %kt : tensor<64xf32>
    %Y = linattn.write %S at %uk along 0 value %vt : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    %ot = linattn.read %Y at %rt along 0 : tensor<64x64xf32>, tensor<64xf32>

    %w1 = math.exp %wt : tensor<64xf32>
    %g = arith.negf %w1 : tensor<64xf32>
    %X = linattn.decay %S by %g along [0] : tensor<64x64xf32>, tensor<64xf32>
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    linattn.yield %ot, %S1 : tensor<64xf32>, tensor<64x64xf32>
  }
  return %o, %s : tensor<?x?x32x64xf32>, tensor<?x32x64x64xf32>
}
