// One token of linear attention with scalar decay: B = 8, H = 16, K = V = 128, f32. The state is updated
// in place: 8 MiB are read and written once.
#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#gate = affine_map<(b, t, h) -> (b, t, h)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

func.func @decode(%q: tensor<8x1x16x128xf32>, %k: tensor<8x1x16x128xf32>, %v: tensor<8x1x16x128xf32>,
                  %g: tensor<8x1x16xf32>, %o: tensor<8x1x16x128xf32>, %s: tensor<8x16x128x128xf32>)
    -> (tensor<8x1x16x128xf32>, tensor<8x16x128x128xf32>) attributes {llvm.emit_c_interface} {
  %r:2 = linattn.recurrence [parallel, time, parallel]
      ins(%q via #token : tensor<8x1x16x128xf32> as %qt : tensor<128xf32>,
          %k via #token : tensor<8x1x16x128xf32> as %kt : tensor<128xf32>,
          %v via #token : tensor<8x1x16x128xf32> as %vt : tensor<128xf32>,
          %g via #gate : tensor<8x1x16xf32> as %gt : f32)
      outs(%o via #token : tensor<8x1x16x128xf32>)
      states(%s via #state : tensor<8x16x128x128xf32> as %S : tensor<128x128xf32>) {
    %X = linattn.decay %S by %gt : tensor<128x128xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
    %ot = linattn.read %S1 at %qt along 0 : tensor<128x128xf32>, tensor<128xf32>
    linattn.yield %ot, %S1 : tensor<128xf32>, tensor<128x128xf32>
  }
  return %r#0, %r#1 : tensor<8x1x16x128xf32>, tensor<8x16x128x128xf32>
}
