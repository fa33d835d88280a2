// The value columns become the last axis of all tensors of the body; operands stay as they are.

// RUN: la-opt %s --linattn-columns-last --split-input-file | FileCheck %s
// RUN: la-opt %s --linattn-columns-last --split-input-file --remarks-filter=linattn-columns-last --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

#chan = affine_map<(t, h, d) -> (t, h, d)>
#par = affine_map<(t, h, v, k) -> (h, v, k)>
#all = affine_map<(t, h, v, k) -> (t, h, v, k)>

// Named ops, constants and splats; a decay of one axis and of both; a write along the columns.
// CHECK-DAG: #[[CHAN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[PAR:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
// CHECK-DAG: #[[ALL:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
// CHECK-DAG: #[[ROW:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[ID:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func @scan
// CHECK:       linattn.recurrence [time, parallel]
// CHECK-NEXT:    ins(%{{.+}} via #[[CHAN]] : tensor<?x2x48xf32> as %[[X:.+]] : tensor<48xf32>,
// CHECK-NEXT:        %{{.+}} via #[[PAR]] : tensor<2x48x4xf32> as %[[A:.+]] : tensor<4x48xf32>,
// CHECK-NEXT:        %{{.+}} via #[[CHAN]] : tensor<?x2x4xf32> as %[[B:.+]] : tensor<4xf32>,
// CHECK-NEXT:        %{{.+}} via #{{.+}} : tensor<?x2xf32> as %{{.+}} : f32)
// CHECK-NEXT:    outs(%{{.+}} via #[[CHAN]] : tensor<?x2x48xf32>)
// CHECK-NEXT:    states(%{{.+}} via #[[PAR]] : tensor<2x48x4xf32> as %[[S:.+]] : tensor<4x48xf32>)
// CHECK-NEXT:    checkpoints(%{{.+}} via #[[ALL]] : tensor<?x2x48x4xf32>) every 4
// CHECK:         linalg.generic {indexing_maps = [#[[ROW]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]] : tensor<48xf32>) outs(%{{.+}} : tensor<4x48xf32>)
// CHECK:         arith.constant dense<5.000000e-01> : tensor<4x48xf32>
// CHECK:         tensor.splat %{{.+}} : tensor<4x48xf32>
// CHECK:         linattn.decay %[[S]] by %{{.+}} along [0, 1] : tensor<4x48xf32>, tensor<4x48xf32>
// CHECK:         linattn.decay %{{.+}} by %[[X]] along [1] : tensor<4x48xf32>, tensor<48xf32>
// CHECK:         linattn.decay %{{.+}} by %[[B]] along [0] : tensor<4x48xf32>, tensor<4xf32>
// CHECK:         linattn.write %{{.+}} at %[[X]] along 1 value %[[B]]
// CHECK:         linattn.read %{{.+}} at %[[B]] along 0
// CHECK:         linattn.yield %{{.+}} : tensor<48xf32>, tensor<4x48xf32>
// REMARK: [Passed] columns-last | Category:linattn-columns-last | Remark="value columns are the last axis"
func.func @scan(%x: tensor<?x2x48xf32>, %a: tensor<2x48x4xf32>, %b: tensor<?x2x4xf32>, %g: tensor<?x2xf32>, %o: tensor<?x2x48xf32>, %s: tensor<2x48x4xf32>, %c: tensor<?x2x48x4xf32>) -> (tensor<?x2x48xf32>, tensor<2x48x4xf32>, tensor<?x2x48x4xf32>) {
  %r:3 = linattn.recurrence [time, parallel]
      ins(%x via #chan : tensor<?x2x48xf32> as %xt : tensor<48xf32>,
          %a via #par : tensor<2x48x4xf32> as %A : tensor<48x4xf32>,
          %b via #chan : tensor<?x2x4xf32> as %bt : tensor<4xf32>,
          %g via affine_map<(t, h) -> (t, h)> : tensor<?x2xf32> as %gt : f32)
      outs(%o via #chan : tensor<?x2x48xf32>)
      states(%s via #par : tensor<2x48x4xf32> as %S : tensor<48x4xf32>)
      checkpoints(%c via #all : tensor<?x2x48x4xf32>) every 4 {
    %e = tensor.empty() : tensor<48x4xf32>
    %w = linalg.broadcast ins(%xt : tensor<48xf32>) outs(%e : tensor<48x4xf32>) dimensions = [1]
    %half = arith.constant dense<0.5> : tensor<48x4xf32>
    %gs = tensor.splat %gt : tensor<48x4xf32>
    %wA = arith.mulf %w, %A : tensor<48x4xf32>
    %wh = arith.mulf %wA, %half : tensor<48x4xf32>
    %wg = arith.addf %wh, %gs : tensor<48x4xf32>
    %S1 = linattn.decay %S by %wg along [0, 1] : tensor<48x4xf32>, tensor<48x4xf32>
    %S2 = linattn.decay %S1 by %xt along [0] : tensor<48x4xf32>, tensor<48xf32>
    %S3 = linattn.decay %S2 by %bt along [1] : tensor<48x4xf32>, tensor<4xf32>
    %S4 = linattn.write %S3 at %xt along 0 value %bt : tensor<48x4xf32>, tensor<48xf32>, tensor<4xf32>
    %y = linattn.read %S4 at %bt along 1 : tensor<48x4xf32>, tensor<4xf32>
    linattn.yield %y, %S4 : tensor<48xf32>, tensor<48x4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x2x48xf32>, tensor<2x48x4xf32>, tensor<?x2x48x4xf32>
}

// -----

#chan = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, v, k) -> (v, k)>

// The loops of a generic op are interchanged, its indices along another axis with them.
// CHECK:       #[[FIRST:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @generic
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["reduction", "parallel"]
// CHECK-SAME:      ins(%{{.+}} : tensor<4x48xf32>) outs(%{{.+}} : tensor<48xf32>)
// CHECK:           %[[K:.+]] = linalg.index 0
// CHECK:           affine.apply #[[FIRST]](%[[K]], %{{.+}})
func.func @generic(%x: tensor<?x48xf32>, %s: tensor<48x4xf32>) -> (tensor<?x48xf32>, tensor<48x4xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%x via #chan : tensor<?x48xf32> as %xt : tensor<48xf32>)
      outs(%x via #chan : tensor<?x48xf32>)
      states(%s via #mat : tensor<48x4xf32> as %S : tensor<48x4xf32>) {
    %S1 = math.sin %S : tensor<48x4xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(v, k) -> (v, k)>, affine_map<(v, k) -> (v)>], iterator_types = ["parallel", "reduction"]}
        ins(%S1 : tensor<48x4xf32>) outs(%xt : tensor<48xf32>) {
    ^bb0(%in: f32, %sum: f32):
      %k = linalg.index 1 : index
      %i = arith.index_cast %k : index to i32
      %f = arith.sitofp %i : i32 to f32
      %p = arith.mulf %in, %f : f32
      %a = arith.addf %sum, %p : f32
      linalg.yield %a : f32
    } -> tensor<48xf32>
    linattn.yield %y, %S1 : tensor<48xf32>, tensor<48x4xf32>
  }
  return %r#0, %r#1 : tensor<?x48xf32>, tensor<48x4xf32>
}

// -----

#chan = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, v, k) -> (v, k)>

// Named ops that use results of named ops; a tensor whose columns are last already.
// CHECK:       #[[ID:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[NONE:.+]] = affine_map<(d0, d1) -> ()>
// CHECK-DAG:   #[[K:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG:   #[[V:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @named
// CHECK:         %[[ONES:.+]] = linalg.generic {indexing_maps = [#[[NONE]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%{{.+}} : f32) outs(%{{.+}} : tensor<4x48xf32>)
// CHECK:         %[[SIN:.+]] = linalg.generic {{.*}} ins(%{{.+}} : tensor<4x48xf32>) outs(%{{.+}} : tensor<4x48xf32>)
// CHECK:         %[[SUM:.+]] = linalg.generic {{.*}} ins(%[[SIN]], %[[ONES]] : tensor<4x48xf32>, tensor<4x48xf32>)
// CHECK:         %[[T:.+]] = linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[SUM]] : tensor<4x48xf32>) outs(%{{.+}} : tensor<4x48xf32>)
// CHECK:         %[[PLACE:.+]] = linalg.reduce { arith.addf } ins(%[[T]] : tensor<4x48xf32>) outs(%{{.+}} : tensor<48xf32>) dimensions = [0]
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #[[K]], #[[V]]], iterator_types = ["reduction", "parallel"]} ins(%[[SUM]], %{{.+}} : tensor<4x48xf32>, tensor<4xf32>) outs(%[[PLACE]] : tensor<48xf32>)
func.func @named(%x: tensor<?x48xf32>, %c: tensor<?x4xf32>, %s: tensor<48x4xf32>) -> (tensor<?x48xf32>, tensor<48x4xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%x via #chan : tensor<?x48xf32> as %xt : tensor<48xf32>, %c via #chan : tensor<?x4xf32> as %ct : tensor<4xf32>)
      outs(%x via #chan : tensor<?x48xf32>)
      states(%s via #mat : tensor<48x4xf32> as %S : tensor<48x4xf32>) {
    %e = tensor.empty() : tensor<48x4xf32>
    %one = arith.constant 1.0 : f32
    %ones = linalg.fill ins(%one : f32) outs(%e : tensor<48x4xf32>) -> tensor<48x4xf32>
    %sin = linalg.map { math.sin } ins(%S : tensor<48x4xf32>) outs(%e : tensor<48x4xf32>)
    %S1 = linalg.add ins(%sin, %ones : tensor<48x4xf32>, tensor<48x4xf32>) outs(%e : tensor<48x4xf32>) -> tensor<48x4xf32>
    %et = tensor.empty() : tensor<4x48xf32>
    %t = linalg.transpose ins(%S1 : tensor<48x4xf32>) outs(%et : tensor<4x48xf32>) permutation = [1, 0]
    %y = linalg.reduce { arith.addf } ins(%t : tensor<4x48xf32>) outs(%xt : tensor<48xf32>) dimensions = [0]
    %z = linalg.matvec ins(%S1, %ct : tensor<48x4xf32>, tensor<4xf32>) outs(%y : tensor<48xf32>) -> tensor<48xf32>
    linattn.yield %z, %S1 : tensor<48xf32>, tensor<48x4xf32>
  }
  return %r#0, %r#1 : tensor<?x48xf32>, tensor<48x4xf32>
}
