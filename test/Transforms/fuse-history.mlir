// Tokens before the current one: a state that keeps them, instead of a tensor with rows in front.

// RUN: la-opt %s --linattn-fuse --split-input-file | FileCheck %s
// RUN: la-opt %s --linattn-fuse --linattn-print-state-graph --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=CLASS

#vec = affine_map<(b, t, h, d) -> (b, t, h, d)>
#st = affine_map<(b, t, h, k, v) -> (b, h, k, v)>

// A convolution of four tokens that begins with the last three of the call before: three rows of a
// state and the token itself, each with its weights. What it hands on is taken from both parts.

// CHECK-LABEL: @convolution
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x?x32xf32>, %[[PAST:[^:]+]]: tensor<?x3x32xf32>, %[[W:[^:]+]]: tensor<4x32xf32>
// CHECK-NOT: tensor.concat
// CHECK: tensor.insert_slice
// CHECK: %[[NEXT:.+]] = tensor.insert_slice
// CHECK: %[[INIT:.+]] = linalg.generic {{.*}} ins(%[[PAST]] : tensor<?x3x32xf32>) outs(%{{.*}} : tensor<?x4x3x8xf32>)
// CHECK: %[[R:.+]]:3 = linattn.recurrence
// CHECK-DAG: %[[X]] via #{{.*}} : tensor<?x?x32xf32> as %[[XT:.+]] : tensor<8xf32>
// CHECK-DAG: %[[W]] via #{{.*}} : tensor<4x32xf32> as %[[WT:.+]] : tensor<4x8xf32>
// CHECK: %[[INIT]] via #{{.*}} : tensor<?x4x3x8xf32> as %[[OLD:.+]] : tensor<3x8xf32>
// CHECK: %[[X0:.+]] = tensor.extract_slice %[[OLD]][0, 0] [1, 8]
// CHECK: %[[ROW:.+]] = tensor.expand_shape %[[XT]] {{.*}} into tensor<1x8xf32>
// CHECK: %[[LINE:.+]] = tensor.concat dim(0) %[[OLD]], %[[ROW]]
// CHECK: %[[NEW:.+]] = tensor.extract_slice %[[LINE]][1, 0] [3, 8]
// CHECK: %[[W0:.+]] = tensor.extract_slice %[[WT]][0, 0] [1, 8]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[X0]], %[[W0]],
// CHECK: arith.mulf {{.*}} fastmath<nsz,contract>
// CHECK: %[[X2:.+]] = tensor.extract_slice %[[OLD]][2, 0] [1, 8]
// CHECK: linalg.generic {{.*}}ins(%[[X2]], %{{.+}}, %{{.+}} :
// CHECK: %[[W3:.+]] = tensor.extract_slice %[[WT]][3, 0] [1, 8]
// CHECK: %[[KT:.+]] = linalg.generic {{.*}}ins(%[[XT]], %[[W3]], %{{.+}} :
// CHECK: linattn.write %{{.*}} at %[[KT]]
// CHECK: linattn.yield %{{.*}}, %{{.*}}, %[[NEW]]
// CHECK: return %[[R]]#0, %[[R]]#1, %[[NEXT]]
// CLASS: state #1: shift (the last tokens)
func.func @convolution(%x: tensor<?x?x32xf32>, %past: tensor<?x3x32xf32>, %w: tensor<4x32xf32>, %o: tensor<?x?x4x8xf32>, %s: tensor<?x4x8x8xf32>)
    -> (tensor<?x?x4x8xf32>, tensor<?x4x8x8xf32>, tensor<?x3x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %B = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %all = tensor.concat dim(1) %past, %x : (tensor<?x3x32xf32>, tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %next = tensor.extract_slice %all[0, %T, 0] [%B, 3, 32] [1, 1, 1] : tensor<?x?x32xf32> to tensor<?x3x32xf32>
  %e = tensor.empty(%B, %T) : tensor<?x?x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %c = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%all, %w : tensor<?x?x32xf32>, tensor<4x32xf32>) outs(%f : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %k = tensor.expand_shape %c [[0], [1], [2, 3]] output_shape [%B, %T, 4, 8] : tensor<?x?x32xf32> into tensor<?x?x4x8xf32>
  %r:2 = linattn.recurrence [parallel, time, parallel]
      ins(%k via #vec : tensor<?x?x4x8xf32> as %kt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x?x4x8xf32>)
      states(%s via #st : tensor<?x4x8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1, %next : tensor<?x?x4x8xf32>, tensor<?x4x8x8xf32>, tensor<?x3x32xf32>
}

// -----

// The token before: a state without rows. Before the first one are zeros.

#vec = affine_map<(t, d) -> (t, d)>

// CHECK-LABEL: @shift
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8xf32>
// CHECK-NOT: tensor.pad
// CHECK: %[[ZEROS:.+]] = linalg.fill
// CHECK: linattn.recurrence
// CHECK: %[[X]] via #{{.*}} : tensor<?x8xf32> as %[[XT:.+]] : tensor<8xf32>
// CHECK: %[[ZEROS]] via #{{.*}} as %[[BEFORE:.+]] : tensor<8xf32>
// CHECK: %[[MIX:.+]] = arith.subf %[[XT]], %[[BEFORE]] : tensor<8xf32>
// CHECK: linattn.yield %[[MIX]], %{{.*}}, %[[XT]]
// CLASS: state #1: shift (the token before)
func.func @shift(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %x, %c0 : tensor<?x8xf32>
  %zero = arith.constant 0.0 : f32
  %all = tensor.pad %x low[1, 0] high[0, 0] {
  ^bb0(%t: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  %before = tensor.extract_slice %all[0, 0] [%T, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %k = arith.subf %x, %before : tensor<?x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

// The third token before, of a number per token.

#sca = affine_map<(t) -> (t)>

// CHECK-LABEL: @delay
// CHECK: linattn.recurrence
// CHECK: as %[[AT:.+]] : f32
// CHECK: as %[[OLD:.+]] : tensor<3xf32>
// CHECK: %[[ROW:.+]] = tensor.from_elements %[[AT]] : tensor<1xf32>
// CHECK: %[[LINE:.+]] = tensor.concat dim(0) %[[OLD]], %[[ROW]]
// CHECK: %[[G:.+]] = tensor.extract %[[LINE]][%c0]
// CHECK: linattn.decay %{{.*}} by %[[G]]
// CLASS: state #1: shift (the last tokens)
func.func @delay(%a: tensor<?xf32>, %v: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %a, %c0 : tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %all = tensor.pad %a low[3] high[0] {
  ^bb0(%t: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  %g = tensor.extract_slice %all[0] [%T] [1] : tensor<?xf32> to tensor<?xf32>
  %r:2 = linattn.recurrence [time]
      ins(%g via #sca : tensor<?xf32> as %gt : f32, %a via #sca : tensor<?xf32> as %at : f32,
          %v via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32> as %vt : tensor<8xf32>)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %X = linattn.decay %S by %gt : tensor<8x8xf32>, f32
    %Y = linattn.decay %X by %at : tensor<8x8xf32>, f32
    %S1 = linattn.write %Y at %vt along 0 value %vt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %vt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}

// -----

// The rows of the call before, and the tokens, inserted into one tensor.

#vec = affine_map<(t, d) -> (t, d)>

// CHECK-LABEL: @inserted
// CHECK-NOT: tensor.insert_slice
// CHECK: linattn.recurrence
// CHECK: as %{{.+}} : tensor<2x8xf32>
// CLASS: state #1: shift (the last tokens)
func.func @inserted(%x: tensor<?x8xf32>, %past: tensor<2x8xf32>, %w: tensor<3x8xf32>, %e: tensor<?x8xf32>, %o: tensor<?x8xf32>, %s: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %T = tensor.dim %x, %c0 : tensor<?x8xf32>
  %all = arith.addi %T, %c2 : index
  %rows0 = tensor.empty(%all) : tensor<?x8xf32>
  %rows1 = tensor.insert_slice %past into %rows0[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<?x8xf32>
  %rows = tensor.insert_slice %x into %rows1[2, 0] [%T, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
  %k = linalg.generic {indexing_maps = [affine_map<(t, d, w) -> (t + w, d)>, affine_map<(t, d, w) -> (w, d)>, affine_map<(t, d, w) -> (t, d)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %w : tensor<?x8xf32>, tensor<3x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x8xf32> as %kt : tensor<8xf32>)
      outs(%o via #vec : tensor<?x8xf32>)
      states(%s via affine_map<(t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    linattn.yield %kt, %S1 : tensor<8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<8x8xf32>
}
