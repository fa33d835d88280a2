// 2048 packed sequences of one token with 32 heads, and 65536 rows of one head: q = k = the first unit
// vector, v = the number of the sequence, so the output is that number.
// RUN: mkdir -p %t
// RUN: %python -m linattn.npy %t/o f32 3 0 1234 2047
// RUN: la-run %s --guard --function packed --expect %t/o --rtol 0 --atol 0
// RUN: %python -m linattn.npy %t/o f32 3 0 1234 65535
// RUN: la-run %s --guard --function decode --expect %t/o --rtol 0 --atol 0

#seq = affine_map<(s, t, h, d) -> (t, h, d)>
#unit = affine_map<(s, t, h, d) -> (d)>
#seq_state = affine_map<(s, t, h, k, v) -> (s, h, k, v)>
#row = affine_map<(b, t, d) -> (b, t, d)>
#row_unit = affine_map<(b, t, d) -> (d)>
#row_state = affine_map<(b, t, k, v) -> (b, k, v)>

func.func @packed() -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c15 = arith.constant 15 : index
  %c31 = arith.constant 31 : index
  %c1234 = arith.constant 1234 : index
  %c2047 = arith.constant 2047 : index
  %unit = arith.constant dense<[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<16xf32>
  %f0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2048x32x16x16xf32>
  %s0 = linalg.fill ins(%f0 : f32) outs(%empty : tensor<2048x32x16x16xf32>) -> tensor<2048x32x16x16xf32>
  %cu = tensor.generate {
  ^bb0(%n: index):
    %i = arith.index_cast %n : index to i32
    tensor.yield %i : i32
  } : tensor<2049xi32>
  %v = tensor.generate {
  ^bb0(%n: index, %h: index, %d: index):
    %i = arith.index_cast %n : index to i32
    %f = arith.sitofp %i : i32 to f32
    tensor.yield %f : f32
  } : tensor<2048x32x16xf32>
  %cus = tensor.cast %cu : tensor<2049xi32> to tensor<?xi32>
  %o0 = tensor.empty() : tensor<2048x32x16xf32>
  %o, %s = linattn.recurrence [segment, time, parallel]
      ins(%unit via #unit : tensor<16xf32> as %qk : tensor<16xf32>,
          %v via #seq : tensor<2048x32x16xf32> as %vt : tensor<16xf32>)
      segments(%cus : tensor<?xi32>)
      outs(%o0 via #seq : tensor<2048x32x16xf32>)
      states(%s0 via #seq_state : tensor<2048x32x16x16xf32> as %S : tensor<16x16xf32>) {
    %S1 = linattn.write %S at %qk along 0 value %vt : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    %ot = linattn.read %S1 at %qk along 0 : tensor<16x16xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<16x16xf32>
  }
  %a = tensor.extract %o[%c0, %c31, %c0] : tensor<2048x32x16xf32>
  %b = tensor.extract %o[%c1234, %c7, %c15] : tensor<2048x32x16xf32>
  %c = tensor.extract %o[%c2047, %c31, %c15] : tensor<2048x32x16xf32>
  %r = tensor.from_elements %a, %b, %c : tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @decode() -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c15 = arith.constant 15 : index
  %c1234 = arith.constant 1234 : index
  %c65535 = arith.constant 65535 : index
  %unit = arith.constant dense<[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<16xf32>
  %f0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<65536x16x16xf32>
  %s0 = linalg.fill ins(%f0 : f32) outs(%empty : tensor<65536x16x16xf32>) -> tensor<65536x16x16xf32>
  %v = tensor.generate {
  ^bb0(%n: index, %t: index, %d: index):
    %i = arith.index_cast %n : index to i32
    %f = arith.sitofp %i : i32 to f32
    tensor.yield %f : f32
  } : tensor<65536x1x16xf32>
  %o0 = tensor.empty() : tensor<65536x1x16xf32>
  %o, %s = linattn.recurrence [parallel, time]
      ins(%unit via #row_unit : tensor<16xf32> as %qk : tensor<16xf32>,
          %v via #row : tensor<65536x1x16xf32> as %vt : tensor<16xf32>)
      outs(%o0 via #row : tensor<65536x1x16xf32>)
      states(%s0 via #row_state : tensor<65536x16x16xf32> as %S : tensor<16x16xf32>) {
    %S1 = linattn.write %S at %qk along 0 value %vt : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    %ot = linattn.read %S1 at %qk along 0 : tensor<16x16xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<16x16xf32>
  }
  %a = tensor.extract %o[%c0, %c0, %c0] : tensor<65536x1x16xf32>
  %b = tensor.extract %o[%c1234, %c0, %c15] : tensor<65536x1x16xf32>
  %c = tensor.extract %o[%c65535, %c0, %c15] : tensor<65536x1x16xf32>
  %r = tensor.from_elements %a, %b, %c : tensor<3xf32>
  return %r : tensor<3xf32>
}
