// A read that feeds a write of the decayed state reads the state before the decay.

// RUN: la-opt %s --linattn-to-loops --canonicalize --cse --split-input-file | FileCheck %s

#token = affine_map<(t, d) -> (t, d)>
#gate = affine_map<(t) -> (t)>
#state = affine_map<(t, k, v) -> (k, v)>

// CHECK-LABEL: func @scalar(
// CHECK:       scf.for {{.+}} iter_args(%{{.+}}, %[[S:.+]] = %{{.+}}) -> (tensor<?x16xf32>, tensor<8x16xf32>)
// CHECK:         %[[M:.+]] = math.exp
// CHECK:         %[[READ:.+]] = linalg.generic {{.+}} ins(%{{.+}}, %[[S]] : tensor<8xf32>, tensor<8x16xf32>)
// CHECK:         %[[SPLAT:.+]] = tensor.splat %[[M]]
// CHECK:         %[[OLD:.+]] = arith.mulf %[[READ]], %[[SPLAT]]
// CHECK:         arith.subf %{{.+}}, %[[OLD]]
func.func @scalar(%k: tensor<?x8xf32>, %v: tensor<?x16xf32>, %g: tensor<?xf32>, %o0: tensor<?x16xf32>, %s0: tensor<8x16xf32>)
    -> (tensor<?x16xf32>, tensor<8x16xf32>) {
  %o, %s = linattn.recurrence [time]
      ins(%k via #token : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via #token : tensor<?x16xf32> as %vt : tensor<16xf32>,
          %g via #gate : tensor<?xf32> as %gt : f32)
      outs(%o0 via #token : tensor<?x16xf32>)
      states(%s0 via #state : tensor<8x16xf32> as %S : tensor<8x16xf32>) {
    %X = linattn.decay %S by %gt : tensor<8x16xf32>, f32
    %old = linattn.read %X at %kt along 0 : tensor<8x16xf32>, tensor<8xf32>
    %u = arith.subf %vt, %old : tensor<16xf32>
    %S1 = linattn.write %X at %kt along 0 value %u : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
    linattn.yield %old, %S1 : tensor<16xf32>, tensor<8x16xf32>
  }
  return %o, %s : tensor<?x16xf32>, tensor<8x16xf32>
}

// -----

#token = affine_map<(t, d) -> (t, d)>
#state = affine_map<(t, k, v) -> (k, v)>

// A multiplier per channel scales the address, extended to the state's type; those of columns what comes out.
// CHECK-LABEL: func @channels(
// CHECK:       scf.for {{.+}} iter_args(%{{.+}}, %[[S:.+]] = %{{.+}}) -> (tensor<?x16xf32>, tensor<8x16xf32>)
// CHECK:         %[[COLUMNS:.+]] = tensor.extract_slice %{{.+}} to tensor<16xf32>
// CHECK:         %[[READ:.+]] = linalg.generic {{.+}} ins(%{{.+}}, %[[S]] : tensor<8xbf16>, tensor<8x16xf32>)
// CHECK:         arith.mulf %[[READ]], %[[COLUMNS]] : tensor<16xf32>
// CHECK:         linalg.generic {{.+}} ins(%[[COLUMNS]] : tensor<16xf32>) outs(%[[S]] : tensor<8x16xf32>)
// CHECK:         %[[S1:.+]] = linalg.generic {{.+}} outs(%{{.+}} : tensor<8x16xf32>)
// CHECK:         %[[M:.+]] = math.exp %{{.+}} : tensor<8xf32>
// CHECK:         %[[WIDE:.+]] = arith.extf %{{.+}} : tensor<8xbf16> to tensor<8xf32>
// CHECK:         %[[AT:.+]] = arith.mulf %[[WIDE]], %[[M]]
// CHECK:         linalg.generic {{.+}} ins(%[[AT]], %[[S1]] : tensor<8xf32>, tensor<8x16xf32>)
// CHECK:         linalg.generic {{.+}} ins(%[[M]] : tensor<8xf32>) outs(%[[S1]] : tensor<8x16xf32>)
func.func @channels(%k: tensor<?x8xbf16>, %c: tensor<?x16xf32>, %g: tensor<?x8xf32>, %o0: tensor<?x16xf32>, %s0: tensor<8x16xf32>)
    -> (tensor<?x16xf32>, tensor<8x16xf32>) {
  %o, %s = linattn.recurrence [time]
      ins(%k via #token : tensor<?x8xbf16> as %kt : tensor<8xbf16>,
          %c via #token : tensor<?x16xf32> as %ct : tensor<16xf32>,
          %g via #token : tensor<?x8xf32> as %gt : tensor<8xf32>)
      outs(%o0 via #token : tensor<?x16xf32>)
      states(%s0 via #state : tensor<8x16xf32> as %S : tensor<8x16xf32>) {
    %Y = linattn.decay %S by linear %ct along [1] : tensor<8x16xf32>, tensor<16xf32>
    %old = linattn.read %Y at %kt along 0 : tensor<8x16xf32>, tensor<8xbf16>
    %S1 = linattn.write %Y at %kt along 0 value %old : tensor<8x16xf32>, tensor<8xbf16>, tensor<16xf32>
    %X = linattn.decay %S1 by %gt along [0] : tensor<8x16xf32>, tensor<8xf32>
    %r = linattn.read %X at %kt along 0 : tensor<8x16xf32>, tensor<8xbf16>
    %S2 = linattn.write %X at %kt along 0 value %r : tensor<8x16xf32>, tensor<8xbf16>, tensor<16xf32>
    linattn.yield %r, %S2 : tensor<16xf32>, tensor<8x16xf32>
  }
  return %o, %s : tensor<?x16xf32>, tensor<8x16xf32>
}

// -----

#token = affine_map<(t, d) -> (t, d)>
#gate = affine_map<(t) -> (t)>
#state = affine_map<(t, k, v) -> (k, v)>

// Decay and read are one pass if no write waits for the read.
// CHECK-LABEL: func @output_only(
// CHECK:         %[[X:.+]] = linalg.generic {{.+}} outs(%{{.+}} : tensor<8x16xf32>)
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %[[X]] : tensor<8xf32>, tensor<8x16xf32>)
func.func @output_only(%k: tensor<?x8xf32>, %v: tensor<?x16xf32>, %g: tensor<?xf32>, %o0: tensor<?x16xf32>, %s0: tensor<8x16xf32>)
    -> (tensor<?x16xf32>, tensor<8x16xf32>) {
  %o, %s = linattn.recurrence [time]
      ins(%k via #token : tensor<?x8xf32> as %kt : tensor<8xf32>,
          %v via #token : tensor<?x16xf32> as %vt : tensor<16xf32>,
          %g via #gate : tensor<?xf32> as %gt : f32)
      outs(%o0 via #token : tensor<?x16xf32>)
      states(%s0 via #state : tensor<8x16xf32> as %S : tensor<8x16xf32>) {
    %X = linattn.decay %S by %gt : tensor<8x16xf32>, f32
    %old = linattn.read %X at %kt along 0 : tensor<8x16xf32>, tensor<8xf32>
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
    linattn.yield %old, %S1 : tensor<16xf32>, tensor<8x16xf32>
  }
  return %o, %s : tensor<?x16xf32>, tensor<8x16xf32>
}
