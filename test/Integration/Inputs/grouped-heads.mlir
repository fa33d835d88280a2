// Two value heads per key head, v in a fused buffer, and a gate that depends on the head's index.
#qk  = affine_map<(b, t, h, d) -> (b, t, h floordiv 2, d)>
#tok = affine_map<(b, t, h, d) -> (b, t, h, d)>
#fused = affine_map<(b, t, h, d) -> (b, t, h * 8 + d)>
#sca = affine_map<(b, t, h) -> (b, t, h)>
#st  = affine_map<(b, t, h, k, v) -> (b, h, k, v)>
func.func @grouped(%q: tensor<?x?x4x8xf32>, %v: tensor<?x?x64xf32>, %g: tensor<?x?x8xf32>,
    %o_init: tensor<?x?x8x8xf32>, %s0: tensor<?x8x8x8xf32>) -> (tensor<?x?x8x8xf32>, tensor<?x8x8x8xf32>) {
  %o, %sT = linattn.recurrence [parallel, time, parallel]
      ins(%q via #qk : tensor<?x?x4x8xf32> as %qt : tensor<8xf32>,
          %v via #fused : tensor<?x?x64xf32> as %vt : tensor<8xf32>,
          %g via #sca : tensor<?x?x8xf32> as %gt : f32)
      outs(%o_init via #tok : tensor<?x?x8x8xf32>)
      states(%s0 via #st : tensor<?x8x8x8xf32> as %S : tensor<8x8xf32>) {
    %h = linattn.index 2
    %hi = arith.index_cast %h : index to i32
    %hf = arith.sitofp %hi : i32 to f32
    %gh = arith.mulf %gt, %hf : f32
    %X = linattn.decay %S by %gh : tensor<8x8xf32>, f32
    %S1 = linattn.write %X at %qt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<8x8xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %o, %sT : tensor<?x?x8x8xf32>, tensor<?x8x8x8xf32>
}
