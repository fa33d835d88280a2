// The share of the state's flops that a chunk spends in matmuls, counted by hand.

// RUN: la-opt %s --linattn-chunk="chunk=8 subchunk=4" --remarks-filter=linattn-chunk --remark-format=emitRemark --split-input-file --verify-diagnostics

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// C = 8, K = 16, V = 8.
//   matmul: read 2 C K V = 2048, bracket C (C - 1) K = 896, bracket x v 2 C C V = 1024, write 2048: 6016
//   other: diagonal of the bracket 2 C K = 256
//   6016 / 6272 = 95.9 %
func.func @no_decay(%k: tensor<?x16xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<16x8xf32>) -> (tensor<?x8xf32>, tensor<16x8xf32>) {
  // expected-remark @below {{chunks of 8 tokens, 96 % of the state's flops in matmuls}}
  %r:2 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<16x8xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<16x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<16x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// C = 8 in 2 blocks of s = 4, K = 16, V = 8.
//   matmul: read 2048, bracket 896, solve 2 s s V = 256, write 2048: 5248
//   other: -1 times what is read C V = 64, plus v 64, -1 times the bracket C C = 64,
//     solve 2 s (s - 1) V = 192: 384
//   5248 / 5632 = 93.2 %
func.func @erase(%k: tensor<?x16xf32>, %v: tensor<?x8xf32>, %s: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark @below {{chunks of 8 tokens, 93 % of the state's flops in matmuls}}
  %r = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>, %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) {
    %r = linattn.read %S at %kt along 0 : tensor<16x8xf32>, tensor<16xf32>
    %d = arith.subf %vt, %r : tensor<8xf32>
    %S1 = linattn.write %S at %kt along 0 value %d : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// C = 8, K = 16, V = 8, a bracket of 2 leaves of s = 4 and the block between them.
//   matmul: read 2048, block 2 s s K = 512, bracket x v 1024, write 2048: 5632
//   other: exp C K = 128, 2 running products of (C - 1) K = 112: 224, rows of q times multipliers for
//     the read 128 and the bracket 128, rows of k for the write 128, diagonal 2 C K = 256, both sides of
//     the block scaled 2 C K = 256, leaves 2 x 3 K x 6 pairs = 576, the whole chunk's decay K = 16 and
//     K V = 128: 1968
//   5632 / 7600 = 74.1 %
func.func @channel_decay(%q: tensor<?x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x8xf32>, %g: tensor<?x16xf32>, %o: tensor<?x8xf32>, %s: tensor<16x8xf32>) -> (tensor<?x8xf32>, tensor<16x8xf32>) {
  // expected-remark @below {{chunks of 8 tokens, 74 % of the state's flops in matmuls}}
  %r:2 = linattn.recurrence [time]
      ins(%q via #vec : tensor<?x16xf32> as %qt : tensor<16xf32>, %k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>,
          %v via #vec : tensor<?x8xf32> as %vt : tensor<8xf32>, %g via #vec : tensor<?x16xf32> as %gt : tensor<16xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via #mat : tensor<16x8xf32> as %S : tensor<16x8xf32>) {
    %X = linattn.decay %S by %gt along [0] : tensor<16x8xf32>, tensor<16xf32>
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<16x8xf32>, tensor<16xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<16x8xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<16x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<16x8xf32>
}

// -----

#vec = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, k) -> (k)>

// A state of rank 1: products with vectors only.
func.func @vector(%k: tensor<?x16xf32>, %s: tensor<16xf32>) -> tensor<16xf32> {
  // expected-remark @below {{chunks of 8 tokens, 0 % of the state's flops in matmuls}}
  %r = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x16xf32> as %kt : tensor<16xf32>)
      states(%s via #mat : tensor<16xf32> as %S : tensor<16xf32>) {
    %one = arith.constant 1.0 : f32
    %S1 = linattn.write %S at %kt along 0 value %one : tensor<16xf32>, tensor<16xf32>, f32
    linattn.yield %S1 : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}

// -----

// Reversed; 8 flops of each token are in a loop over the tokens: 64 beside 256.
func.func @token_by_token_inside(%k: tensor<?x4xf32>, %n: tensor<4xf32>, %s: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  // expected-remark @below {{chunks of 8 tokens, 80 % of the state's flops in matmuls}}
  %r:2 = linattn.recurrence [time] reverse
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x4xf32> as %kt : tensor<4xf32>)
      states(%n via affine_map<(t, d) -> (d)> : tensor<4xf32> as %N : tensor<4xf32>, %s via affine_map<(t, k, v) -> (k, v)> : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %sum = arith.addf %N, %kt : tensor<4xf32>
    // expected-remark @below {{state #0 is run token by token}}
    %N1 = math.tanh %sum : tensor<4xf32>
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    linattn.yield %N1, %S1 : tensor<4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4x4xf32>
}
