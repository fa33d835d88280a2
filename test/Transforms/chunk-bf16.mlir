// Which operands of matrix products a plan rounds to bf16, and that bf16 inputs are not rounded twice.
//
// RUN: la-opt %s --linattn-chunk="chunk=8 subchunk=4 operand-precision=bf16" | FileCheck %s --check-prefixes=CHECK,SOME
// RUN: la-opt %s --linattn-chunk="chunk=8 subchunk=4 operand-precision=all_bf16" | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: la-opt %s --linattn-chunk="chunk=8 subchunk=4" | FileCheck %s --check-prefix=NONE

#token = affine_map<(t, d) -> (t, d)>
#gate = affine_map<(t) -> (t)>
#state = affine_map<(t, k, v) -> (k, v)>

// NONE-NOT: arith.truncf
// NONE-NOT: bf16_operands

// No write depends on a read: everything is rounded but the diagonal, and inputs are taken as they are.
// CHECK-LABEL: func.func @additive
// CHECK:       ins(%{{.*}} as %[[Q:.*]] : tensor<8x4xbf16>,
// CHECK:           %{{.*}} as %[[V:.*]] : tensor<8x6xbf16>,
// CHECK:       states(%{{.*}} as %[[S:.*]] : tensor<4x6xf32>)
// CHECK:       %[[NARROW:.*]] = arith.truncf %[[S]] : tensor<4x6xf32> to tensor<4x6xbf16>
// CHECK:       %[[ROUNDED:.*]] = arith.extf %[[NARROW]]
// CHECK:       linattn.read %[[ROUNDED]] at %[[Q]] along 0 : tensor<4x6xf32>, tensor<8x4xbf16>
// CHECK:       %[[B:.*]] = linattn.bracket {{.*}} bf16_operands
// CHECK:       %[[WEIGHTS:.*]] = arith.truncf %[[B]] : tensor<8x8xf32> to tensor<8x8xbf16>
// CHECK:       linalg.matmul ins(%[[WEIGHTS]], %[[V]] : tensor<8x8xbf16>, tensor<8x6xbf16>) outs(%{{.*}} : tensor<8x6xf32>)
// CHECK:       %[[X:.*]] = linattn.decay %[[S]]
// CHECK:       %[[K:.*]] = arith.truncf %{{.*}} : tensor<8x4xf32> to tensor<8x4xbf16>
// CHECK:       linattn.write %[[X]] at %[[K]] along 0 value %[[V]] : tensor<4x6xf32>, tensor<8x4xbf16>, tensor<8x6xbf16>
func.func @additive(%q: tensor<?x4xbf16>, %k: tensor<?x4xbf16>, %v: tensor<?x6xbf16>, %g: tensor<?xf32>,
                    %out: tensor<?x6xf32>, %s: tensor<4x6xf32>) -> (tensor<?x6xf32>, tensor<4x6xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%q via #token : tensor<?x4xbf16> as %qt : tensor<4xbf16>, %v via #token : tensor<?x6xbf16> as %vt : tensor<6xbf16>,
          %k via #token : tensor<?x4xbf16> as %kt : tensor<4xbf16>, %g via #gate : tensor<?xf32> as %gt : f32)
      outs(%out via #token : tensor<?x6xf32>) states(%s via #state : tensor<4x6xf32> as %S : tensor<4x6xf32>) {
    %X = linattn.decay %S by %gt : tensor<4x6xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<4x6xf32>, tensor<4xbf16>, tensor<6xbf16>
    %o = linattn.read %S1 at %qt along 0 : tensor<4x6xf32>, tensor<4xbf16>
    linattn.yield %o, %S1 : tensor<6xf32>, tensor<4x6xf32>
  }
  return %r#0, %r#1 : tensor<?x6xf32>, tensor<4x6xf32>
}

// The erase depends on a read, so its read, its system, what it writes and the state keep f32. The solve always does.
// CHECK-LABEL: func.func @delta
// CHECK:       states(%{{.*}} as %[[S:.*]] : tensor<4x6xf32>)
// SOME:        linattn.read %[[S]] at %{{.*}} along 0 : tensor<4x6xf32>, tensor<8x4xf32>
// SOME-NOT:    bf16_operands
// ALL:         %[[NARROW:.*]] = arith.truncf %[[S]]
// ALL:         %[[ROUNDED:.*]] = arith.extf %[[NARROW]]
// ALL:         linattn.read %[[ROUNDED]] at %{{.*}} along 0 : tensor<4x6xf32>, tensor<8x4xbf16>
// ALL:         linattn.bracket {{.*}} bf16_operands
// CHECK:       linattn.solve %{{.*}} : tensor<8x8xf32>, tensor<8x6xf32>
// CHECK:       linattn.read %{{.*}} along 0 : tensor<4x6xf32>, tensor<8x4xbf16>
// SOME-NOT:    bf16_operands
// SOME:        linalg.matmul ins(%{{.*}} : tensor<8x8xf32>, tensor<8x6xf32>)
// ALL:         linattn.bracket {{.*}} bf16_operands
// ALL:         linalg.matmul ins(%{{.*}} : tensor<8x8xbf16>, tensor<8x6xbf16>)
// SOME:        linattn.write %{{.*}} : tensor<4x6xf32>, tensor<8x4xf32>, tensor<8x6xf32>
// ALL:         linattn.write %{{.*}} : tensor<4x6xf32>, tensor<8x4xbf16>, tensor<8x6xbf16>
func.func @delta(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %out: tensor<?x6xf32>,
                 %s: tensor<4x6xf32>) -> (tensor<?x6xf32>, tensor<4x6xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%q via #token : tensor<?x4xf32> as %qt : tensor<4xf32>, %k via #token : tensor<?x4xf32> as %kt : tensor<4xf32>,
          %v via #token : tensor<?x6xf32> as %vt : tensor<6xf32>)
      outs(%out via #token : tensor<?x6xf32>) states(%s via #state : tensor<4x6xf32> as %S : tensor<4x6xf32>) {
    %old = linattn.read %S at %kt along 0 : tensor<4x6xf32>, tensor<4xf32>
    %new = arith.subf %vt, %old : tensor<6xf32>
    %S1 = linattn.write %S at %kt along 0 value %new : tensor<4x6xf32>, tensor<4xf32>, tensor<6xf32>
    %o = linattn.read %S1 at %qt along 0 : tensor<4x6xf32>, tensor<4xf32>
    linattn.yield %o, %S1 : tensor<6xf32>, tensor<4x6xf32>
  }
  return %r#0, %r#1 : tensor<?x6xf32>, tensor<4x6xf32>
}

// No write of the first state depends on a read, but what is written to the second one is read from it.
// CHECK-LABEL: func.func @moments
// SOME:        linattn.read %{{.*}} : tensor<4x4xf32>, tensor<8x4xf32>
// ALL:         linattn.read %{{.*}} : tensor<4x4xf32>, tensor<8x4xbf16>
// CHECK:       linattn.read %{{.*}} : tensor<4x4xf32>, tensor<8x4xbf16>
// SOME:        linattn.write %{{.*}} : tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
// ALL:         linattn.write %{{.*}} : tensor<4x4xf32>, tensor<8x4xbf16>, tensor<8x4xbf16>
// CHECK:       linattn.write %{{.*}} : tensor<4x4xf32>, tensor<8x4xbf16>, tensor<8x4xbf16>
func.func @moments(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %out: tensor<?x4xf32>, %s: tensor<4x4xf32>)
    -> tensor<?x4xf32> {
  %r:3 = linattn.recurrence [time]
      ins(%q via #token : tensor<?x4xf32> as %qt : tensor<4xf32>, %k via #token : tensor<?x4xf32> as %kt : tensor<4xf32>)
      outs(%out via #token : tensor<?x4xf32>)
      states(%s via #state : tensor<4x4xf32> as %P : tensor<4x4xf32>, %s via #state : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %P1 = linattn.write %P at %kt along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %m = linattn.read %P1 at %qt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %S1 = linattn.write %S at %kt along 0 value %m : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %o = linattn.read %S1 at %qt along 0 : tensor<4x4xf32>, tensor<4xf32>
    linattn.yield %o, %P1, %S1 : tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %r#0 : tensor<?x4xf32>
}

// Other states than matrices of f32 have nothing to gain.
// CHECK-LABEL: func.func @counts
// CHECK-NOT:   bf16
func.func @counts(%k: tensor<?x4xf32>, %out: tensor<?xf32>, %z: tensor<4xf32>) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %r:2 = linattn.recurrence [time]
      ins(%k via #token : tensor<?x4xf32> as %kt : tensor<4xf32>, %one via affine_map<(t) -> ()> : f32 as %c : f32)
      outs(%out via #gate : tensor<?xf32>)
      states(%z via affine_map<(t, k) -> (k)> : tensor<4xf32> as %S : tensor<4xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %c : tensor<4xf32>, tensor<4xf32>, f32
    %o = linattn.read %S1 at %kt along 0 : tensor<4xf32>, tensor<4xf32>
    linattn.yield %o, %S1 : f32, tensor<4xf32>
  }
  return %r#0 : tensor<?xf32>
}
