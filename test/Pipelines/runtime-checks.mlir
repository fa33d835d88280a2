// Offsets that the program computes are checked in the generated code on request.

// RUN: la-opt %s --generate-runtime-verification | FileCheck %s
// RUN: not --crash la-run %s --random 1 --shape 0=6x8 --pipeline "builtin.module(linattn-to-cpu-pipeline{runtime-checks=true openmp=false})" 2>&1 | FileCheck %s --check-prefix=ABORT
// RUN: la-run %s --random 1 --shape 0=3x8 --pipeline "builtin.module(linattn-to-cpu-pipeline{runtime-checks=true openmp=false})"

// CHECK-LABEL: func @packed
// CHECK:     cf.assert %{{.+}}, "{{.*}}segment offsets do not start at 0
// CHECK:     cf.assert %{{.+}}, "{{.*}}segment offsets do not end at the number of tokens
// CHECK:     scf.for
// CHECK:       cf.assert %{{.+}}, "{{.*}}segment offsets decrease
// CHECK:     linattn.recurrence
// ABORT: segment offsets do not end at the number of tokens

func.func @packed(%k: tensor<?x8xf32>) -> tensor<2x8x8xf32> {
  %cu = arith.constant dense<[0, 1, 3]> : tensor<3xi32>
  %s = arith.constant dense<0.0> : tensor<2x8x8xf32>
  %r = linattn.recurrence [segment, time]
      ins(%k via affine_map<(n, t, d) -> (t, d)> : tensor<?x8xf32> as %kt : tensor<8xf32>)
      segments(%cu : tensor<3xi32>)
      states(%s via affine_map<(n, t, k, v) -> (n, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %S1 : tensor<8x8xf32>
  }
  return %r : tensor<2x8x8xf32>
}
