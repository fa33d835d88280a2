// Tiles of value columns give the bits of the whole op, token by token and in chunks, in a body whose
// normaliser every tile computes for itself.

// DEFINE: %{tile} = 4
// DEFINE: %{chunk} = 0
// DEFINE: %{args} = %s --guard --random 1 --shape 0=2x11x3x8 --shape 1=2x11x3x12 --shape 2=2x11x3 --range 2=-1:0 --shape 3=2x11x3x12 --shape 4=2x3x8x12 --shape 5=2x3x8 --range 0=0:1 --range 5=1:2
// DEFINE: %{whole} = la-run %{args} --out %t/whole%{chunk}- --pipeline="builtin.module(linattn-to-cpu-pipeline{chunk=%{chunk}})"
// DEFINE: %{split} = la-run %{args} --rtol 0 --atol 0 --expect %t/whole%{chunk}-0.npy --expect %t/whole%{chunk}-1.npy --pipeline="builtin.module(linattn-split-value{tile=%{tile}},linattn-to-cpu-pipeline{chunk=%{chunk}})"

// RUN: rm -rf %t && mkdir -p %t
// RUN: la-opt %s --linattn-split-value=tile=4 | FileCheck %s
// RUN: %{whole}
// RUN: %{split}
// REDEFINE: %{tile} = 1
// RUN: %{split}
// REDEFINE: %{chunk} = 4
// RUN: %{whole}
// RUN: %{split}
// REDEFINE: %{tile} = 6
// RUN: %{split}

// CHECK: linalg.broadcast ins(%{{.+}} : tensor<?x3x8xf64>) outs(%{{.+}} : tensor<3x?x3x8xf64>) dimensions = [0]
// CHECK: linattn.recurrence [parallel, time, parallel, parallel]

#tok = affine_map<(b, t, h, d) -> (b, t, h, d)>
#sca = affine_map<(b, t, h) -> (b, t, h)>
#st = affine_map<(b, t, h, k, v) -> (b, h, k, v)>
#norm = affine_map<(b, t, h, k) -> (b, h, k)>
func.func @main(%k: tensor<?x?x3x8xf64>, %v: tensor<?x?x3x12xf64>, %g: tensor<?x?x3xf64>, %o: tensor<?x?x3x12xf64>,
    %s: tensor<?x3x8x12xf64>, %z: tensor<?x3x8xf64>) -> (tensor<?x?x3x12xf64>, tensor<?x3x8x12xf64>) {
  %r:3 = linattn.recurrence [parallel, time, parallel]
      ins(%k via #tok : tensor<?x?x3x8xf64> as %kt : tensor<8xf64>,
          %v via #tok : tensor<?x?x3x12xf64> as %vt : tensor<12xf64>,
          %g via #sca : tensor<?x?x3xf64> as %gt : f64)
      outs(%o via #tok : tensor<?x?x3x12xf64>)
      states(%s via #st : tensor<?x3x8x12xf64> as %S : tensor<8x12xf64>,
             %z via #norm : tensor<?x3x8xf64> as %Z : tensor<8xf64>) {
    %one = arith.constant 1.0 : f64
    %X = linattn.decay %S by %gt : tensor<8x12xf64>, f64
    %r = linattn.read %X at %kt along 0 : tensor<8x12xf64>, tensor<8xf64>
    %d = arith.subf %vt, %r : tensor<12xf64>
    %S1 = linattn.write %X at %kt along 0 value %d : tensor<8x12xf64>, tensor<8xf64>, tensor<12xf64>
    %Y = linattn.decay %Z by %gt : tensor<8xf64>, f64
    %Z1 = linattn.write %Y at %kt along 0 value %one : tensor<8xf64>, tensor<8xf64>, f64
    %num = linattn.read %S1 at %kt along 0 : tensor<8x12xf64>, tensor<8xf64>
    %den = linattn.read %Z1 at %kt along 0 : tensor<8xf64>, tensor<8xf64>
    %dv = tensor.splat %den : tensor<12xf64>
    %ot = arith.divf %num, %dv : tensor<12xf64>
    linattn.yield %ot, %S1, %Z1 : tensor<12xf64>, tensor<8x12xf64>, tensor<8xf64>
  }
  return %r#0, %r#1 : tensor<?x?x3x12xf64>, tensor<?x3x8x12xf64>
}
