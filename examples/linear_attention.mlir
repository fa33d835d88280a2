// Linear attention with the elu + 1 feature map and its normaliser: two states, a quotient of reads.
//
//   f(x) = elu(x) + 1;   S = S + f(k) v^T;   z = z + f(k);   o = S^T f(q) / (f(q) . z + 1e-10)
//
// Formula: Katharopoulos et al., "Transformers are RNNs", 2020. Shapes of its language model: 8
// heads, K = V = 64.
//
// Run: examples/run.py linear_attention --tokens 1024 --check

#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>
#sum = affine_map<(b, t, h, k) -> (b, h, k)>

func.func @linear_attention(
    %q: tensor<?x?x8x64xf32>, %k: tensor<?x?x8x64xf32>, %v: tensor<?x?x8x64xf32>,
    %s0: tensor<?x8x64x64xf32>, %z0: tensor<?x8x64xf32>)
    -> (tensor<?x?x8x64xf32>, tensor<?x8x64x64xf32>, tensor<?x8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x8x64xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x8x64xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x8x64xf32>

  %o, %s, %z = linattn.recurrence [parallel, time, parallel]
      ins(%q via #token : tensor<?x?x8x64xf32> as %qt : tensor<64xf32>,
          %k via #token : tensor<?x?x8x64xf32> as %kt : tensor<64xf32>,
          %v via #token : tensor<?x?x8x64xf32> as %vt : tensor<64xf32>)
      outs(%o0 via #token : tensor<?x?x8x64xf32>)
      states(%s0 via #state : tensor<?x8x64x64xf32> as %S : tensor<64x64xf32>,
             %z0 via #sum : tensor<?x8x64xf32> as %Z : tensor<64xf32>) {
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %one = arith.constant dense<1.0> : tensor<64xf32>
    %unit = arith.constant 1.0 : f32
    %eps = arith.constant 1.0e-10 : f32

    // elu(x) + 1 is x + 1 above 0 and exp(x) below.
    %q1 = arith.cmpf ogt, %qt, %zero : tensor<64xf32>
    %q2 = arith.addf %qt, %one : tensor<64xf32>
    %q3 = arith.minimumf %qt, %zero : tensor<64xf32>
    %q4 = math.exp %q3 : tensor<64xf32>
    %fq = arith.select %q1, %q2, %q4 : tensor<64xi1>, tensor<64xf32>
    %k1 = arith.cmpf ogt, %kt, %zero : tensor<64xf32>
    %k2 = arith.addf %kt, %one : tensor<64xf32>
    %k3 = arith.minimumf %kt, %zero : tensor<64xf32>
    %k4 = math.exp %k3 : tensor<64xf32>
    %fk = arith.select %k1, %k2, %k4 : tensor<64xi1>, tensor<64xf32>

    %S1 = linattn.write %S at %fk along 0 value %vt : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    %Z1 = linattn.write %Z at %fk along 0 value %unit : tensor<64xf32>, tensor<64xf32>, f32
    %num = linattn.read %S1 at %fq along 0 : tensor<64x64xf32>, tensor<64xf32>
    %sum = linattn.read %Z1 at %fq along 0 : tensor<64xf32>, tensor<64xf32>
    %den = arith.addf %sum, %eps : f32
    %dv = tensor.splat %den : tensor<64xf32>
    %ot = arith.divf %num, %dv : tensor<64xf32>
    linattn.yield %ot, %S1, %Z1 : tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>
  }
  return %o, %s, %z : tensor<?x?x8x64xf32>, tensor<?x8x64x64xf32>, tensor<?x8x64xf32>
}
