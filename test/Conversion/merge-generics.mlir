// A write and the read after it walk over the state once.

// RUN: la-opt %s --linattn-to-loops --linattn-merge-generics --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @write_and_read(
// CHECK:         scf.for {{.*}}tensor<8x16xf32>)
// CHECK:           linalg.generic {{.*}} outs(%{{.+}}, %{{.+}} : tensor<8x16xf32>, tensor<16xf32>)
// CHECK-NOT:       linalg.generic
// CHECK:         return
// CHECK-LABEL: func.func @read_and_write(
// The write depends on what was read: two passes.
// CHECK-COUNT-2:   linalg.generic
// CHECK:         return
func.func @write_and_read(%k: tensor<?x8xf32>, %v: tensor<?x16xf32>, %o0: tensor<?x16xf32>, %s0: tensor<8x16xf32>)
    -> (tensor<?x16xf32>, tensor<8x16xf32>) {
  %o, %s = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x16xf32> as %vt : tensor<16xf32>)
      outs(%o0 via affine_map<(t, d) -> (t, d)> : tensor<?x16xf32>)
      states(%s0 via affine_map<(t, k, v) -> (k, v)> : tensor<8x16xf32> as %S : tensor<8x16xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<8x16xf32>, tensor<8xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<8x16xf32>
  }
  return %o, %s : tensor<?x16xf32>, tensor<8x16xf32>
}
func.func @read_and_write(%k: tensor<?x8xf32>, %v: tensor<?x16xf32>, %o0: tensor<?x16xf32>, %s0: tensor<8x16xf32>)
    -> (tensor<?x16xf32>, tensor<8x16xf32>) {
  %o, %s = linattn.recurrence [time]
      ins(%k via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x16xf32> as %vt : tensor<16xf32>)
      outs(%o0 via affine_map<(t, d) -> (t, d)> : tensor<?x16xf32>)
      states(%s0 via affine_map<(t, k, v) -> (k, v)> : tensor<8x16xf32> as %S : tensor<8x16xf32>) {
    %ot = linattn.read %S at %kt along 0 : tensor<8x16xf32>, tensor<8xf32>
    %S1 = linattn.write %S at %kt along 0 value %ot : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
    linattn.yield %ot, %S1 : tensor<16xf32>, tensor<8x16xf32>
  }
  return %o, %s : tensor<?x16xf32>, tensor<8x16xf32>
}
