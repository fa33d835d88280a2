// a x + y, written over y; and the number of rows.
#id = affine_map<(i, j) -> (i, j)>
func.func @axpy(%a: f32, %x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, index) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%y : tensor<?x4xf32>) {
  ^bb0(%xi: f32, %yi: f32):
    %m = arith.mulf %a, %xi : f32
    %s = arith.addf %m, %yi : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  return %r, %rows : tensor<?x4xf32>, index
}
