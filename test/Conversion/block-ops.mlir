// RUN: la-opt %s --linattn-to-loops --canonicalize --cse --split-input-file | FileCheck %s --implicit-check-not=linattn.

// p_0 = 1, p_i = p_(i-1) a_(i-1).
// CHECK: #[[$BEFORE:.+]] = affine_map<(d0) -> (d0 - 1)>
// CHECK-LABEL: func.func @running_product(
// CHECK-SAME:      %[[A:[^:]+]]: tensor<8xf32>
// CHECK:         %[[ONES:.+]] = linalg.fill ins(%cst : f32)
// CHECK:         scf.for %[[I:[^ ]+]] = %c1 to %c8 step %c1 iter_args(%[[P:.+]] = %[[ONES]])
// CHECK:           %[[BEFORE:.+]] = affine.apply #[[$BEFORE]](%[[I]])
// CHECK:           %[[PRODUCT:.+]] = tensor.extract %[[P]][%[[BEFORE]]]
// CHECK:           %[[FACTOR:.+]] = tensor.extract %[[A]][%[[BEFORE]]]
// CHECK:           %[[NEXT:.+]] = arith.mulf %[[PRODUCT]], %[[FACTOR]]
// CHECK:           tensor.insert %[[NEXT]] into %[[P]][%[[I]]]
func.func @running_product(%a: tensor<8xf32>) -> tensor<8xf32> {
  %p = linattn.running_product %a : tensor<8xf32>
  return %p : tensor<8xf32>
}

// -----

// p_7 = 1, p_i = p_(i+1) a_(i+1), in rows of channels.
// CHECK-DAG: #[[$ROW:.+]] = affine_map<(d0) -> (-d0 + 7)>
// CHECK-DAG: #[[$BEHIND:.+]] = affine_map<(d0) -> (-d0 + 8)>
// CHECK-LABEL: func.func @running_product_reverse(
// CHECK-SAME:      %[[A:[^:]+]]: tensor<8x4xf32>
// CHECK:         scf.for %[[I:[^ ]+]] = %c1 to %c8 step %c1 iter_args(%[[P:.+]] = %{{.+}})
// CHECK-DAG:       %[[ROW:.+]] = affine.apply #[[$ROW]](%[[I]])
// CHECK-DAG:       %[[BEHIND:.+]] = affine.apply #[[$BEHIND]](%[[I]])
// CHECK-DAG:       tensor.extract_slice %[[P]][%[[BEHIND]], 0] [1, 4]
// CHECK-DAG:       tensor.extract_slice %[[A]][%[[BEHIND]], 0] [1, 4]
// CHECK:           tensor.insert_slice %{{.+}} into %[[P]][%[[ROW]], 0] [1, 4]
func.func @running_product_reverse(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %p = linattn.running_product reverse %a : tensor<8x4xf32>
  return %p : tensor<8x4xf32>
}

// -----

// All pairs at once; row i is masked with 1 for every earlier token.
// CHECK-LABEL: func.func @bracket(
// CHECK-SAME:      %[[R:[^:]+]]: tensor<8x4xf32>, %[[W:[^:]+]]: tensor<8x4xf32>
// CHECK:         %[[FLIPPED:.+]] = linalg.transpose ins(%[[W]] : tensor<8x4xf32>)
// CHECK:         %[[ALL:.+]] = linalg.matmul ins(%[[R]], %[[FLIPPED]] :
// CHECK:         scf.for %[[I:[^ ]+]] = %c0 to %c8 step %c1 iter_args(%[[PAIRS:.+]] = %[[ALL]], %[[MASK:.+]] = %{{.+}})
// CHECK:           %[[ROW:.+]] = tensor.extract_slice %[[PAIRS]][%[[I]], 0] [1, 8]
// CHECK:           %[[MASKED:.+]] = arith.mulf %[[ROW]], %[[MASK]]
// CHECK:           tensor.insert_slice %[[MASKED]] into %[[PAIRS]][%[[I]], 0]
// CHECK:           tensor.insert %{{.+}} into %[[MASK]][%[[I]]]
// CHECK:           scf.yield
func.func @bracket(%r: tensor<8x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x8xf32> {
  %b = linattn.bracket %r, %w : tensor<8x4xf32>, tensor<8x4xf32>
  return %b : tensor<8x8xf32>
}

// -----

// The mask of the next row is scaled by this token's decay; then the diagonal.
// CHECK-LABEL: func.func @bracket_scalar_decay(
// CHECK-SAME:      %[[A:[^:]+]]: tensor<8xf32>, %[[D:[^:]+]]: tensor<8xf32>)
// CHECK:         linalg.matmul
// CHECK:         %[[B:.+]]:2 = scf.for %[[I:[^ ]+]] = %c0 to %c8 step %c1 iter_args(%{{.+}} = %{{.+}}, %[[MASK:.+]] = %{{.+}})
// CHECK:           arith.mulf %{{.+}}, %[[MASK]]
// CHECK:           %[[FACTOR:.+]] = tensor.extract %[[A]][%[[I]]]
// CHECK:           %[[FACTORS:.+]] = tensor.splat %[[FACTOR]]
// CHECK:           %[[DECAYED:.+]] = arith.mulf %[[MASK]], %[[FACTORS]]
// CHECK:           tensor.insert %{{.+}} into %[[DECAYED]][%[[I]]]
// CHECK:         scf.for %[[J:[^ ]+]] = %c0 to %c8 step %c1 iter_args(%[[WHOLE:.+]] = %[[B]]#0)
// CHECK:           %[[ENTRY:.+]] = tensor.extract %[[D]][%[[J]]]
// CHECK:           tensor.insert %[[ENTRY]] into %[[WHOLE]][%[[J]], %[[J]]]
func.func @bracket_scalar_decay(%r: tensor<8x4xf32>, %w: tensor<8x4xf32>, %a: tensor<8xf32>, %d: tensor<8xf32>) -> tensor<8x8xf32> {
  %b = linattn.bracket %r, %w decay %a diagonal %d : tensor<8x4xf32>, tensor<8x4xf32> decay tensor<8xf32> diagonal tensor<8xf32>
  return %b : tensor<8x8xf32>
}

// -----

// Two triangles of 4 rows token by token, and one product for the square below them: reads moved to the
// border from behind, writes from before.
// CHECK-LABEL: func.func @bracket_channel_decay(
// CHECK-SAME:      %[[R:[^:]+]]: tensor<8x2xf32>, %[[W:[^:]+]]: tensor<8x2xf32>, %[[A:[^:]+]]: tensor<8x2xf32>)
// CHECK:         %[[UPPER:.+]]:3 = scf.for %{{.+}} = %c0 to %c4
// CHECK:           linalg.generic
// CHECK:         %[[WITH_UPPER:.+]] = tensor.insert_slice %[[UPPER]]#0 into %{{.+}}[0, 0] [4, 4]
// CHECK:         %[[LOWER:.+]]:3 = scf.for %{{.+}} = %c0 to %c4
// CHECK:         %[[WITH_LOWER:.+]] = tensor.insert_slice %[[LOWER]]#0 into %[[WITH_UPPER]][4, 4] [4, 4]
// CHECK:         %[[READ_PRODUCT:.+]] = scf.for
// CHECK:         %[[READS:.+]] = arith.mulf %{{.+}}, %[[READ_PRODUCT]]
// CHECK:         %[[WRITE_PRODUCT:.+]] = scf.for
// CHECK:         %[[WRITES:.+]] = arith.mulf %{{.+}}, %[[WRITE_PRODUCT]]
// CHECK:         %[[FLIPPED:.+]] = linalg.transpose ins(%[[WRITES]] :
// CHECK:         %[[SQUARE:.+]] = linalg.matmul ins(%[[READS]], %[[FLIPPED]] :
// CHECK:         tensor.insert_slice %[[SQUARE]] into %[[WITH_LOWER]][4, 0] [4, 4]
func.func @bracket_channel_decay(%r: tensor<8x2xf32>, %w: tensor<8x2xf32>, %a: tensor<8x2xf32>) -> tensor<8x8xf32> {
  %b = linattn.bracket %r, %w decay %a subchunk 4 : tensor<8x2xf32>, tensor<8x2xf32> decay tensor<8x2xf32>
  return %b : tensor<8x8xf32>
}

// -----

// Row i from the rows before it.
// CHECK-LABEL: func.func @solve_one_block(
// CHECK-SAME:      %[[A:[^:]+]]: tensor<8x8xf32>, %[[RHS:[^:]+]]: tensor<8x4xf32>)
// CHECK-NOT:     linalg.matmul
// CHECK:         scf.for %[[I:[^ ]+]] = %c1 to %c8 step %c1 iter_args(%[[X:.+]] = %[[RHS]])
// CHECK:           %[[WEIGHTS:.+]] = tensor.extract_slice %[[A]][%[[I]], 0] [1, %[[I]]]
// CHECK:           %[[EARLIER:.+]] = tensor.extract_slice %[[X]][0, 0] [%[[I]], 4]
// CHECK:           %[[ROW:.+]] = tensor.extract_slice %[[X]][%[[I]], 0] [1, 4]
// CHECK:           %[[SOLVED:.+]] = linalg.vecmat ins(%[[WEIGHTS]], %[[EARLIER]] :{{.*}} outs(%[[ROW]] :
// CHECK:           tensor.insert_slice %[[SOLVED]] into %[[X]][%[[I]], 0] [1, 4]
func.func @solve_one_block(%a: tensor<8x8xf32>, %r: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %x = linattn.solve %a, %r : tensor<8x8xf32>, tensor<8x4xf32>
  return %x : tensor<8x4xf32>
}

// -----

// The second block starts from what the first one contributes.
// CHECK-LABEL: func.func @solve_two_blocks(
// CHECK-SAME:      %[[A:[^:]+]]: tensor<7x7xf32>, %[[RHS:[^:]+]]: tensor<7x4xf32>)
// CHECK:         %[[FIRST:.+]] = scf.for %{{.+}} = %c1 to %c4
// CHECK:         %[[ROWS:.+]] = tensor.extract_slice %[[A]][4, 0] [3, 7]
// CHECK:         %[[PART:.+]] = tensor.extract_slice %[[ROWS]][0, 0] [3, 4]
// CHECK:         %[[START:.+]] = linalg.matmul ins(%[[PART]], %[[FIRST]] :
// CHECK:         %[[SECOND:.+]] = scf.for %{{.+}} = %c1 to %c3 step %c1 iter_args(%{{.+}} = %[[START]])
// CHECK:         tensor.insert_slice %[[SECOND]] into %{{.+}}[4, 0] [3, 4]
func.func @solve_two_blocks(%a: tensor<7x7xf32>, %r: tensor<7x4xf32>) -> tensor<7x4xf32> {
  %x = linattn.solve %a, %r subchunk 4 : tensor<7x7xf32>, tensor<7x4xf32>
  return %x : tensor<7x4xf32>
}

// -----

// One number per token is a column.
// CHECK-LABEL: func.func @solve_numbers(
// CHECK-SAME:      %[[RHS:[^:]+]]: tensor<8xf32>)
// CHECK:         %[[COLUMN:.+]] = tensor.expand_shape %[[RHS]] {{\[\[}}0, 1]] output_shape [8, 1]
// CHECK:         %[[X:.+]] = scf.for {{.*}} iter_args(%{{.+}} = %[[COLUMN]])
// CHECK:         tensor.collapse_shape %{{.+}} {{\[\[}}0, 1]] : tensor<8x1xf32> into tensor<8xf32>
func.func @solve_numbers(%a: tensor<8x8xf32>, %r: tensor<8xf32>) -> tensor<8xf32> {
  %x = linattn.solve %a, %r : tensor<8x8xf32>, tensor<8xf32>
  return %x : tensor<8xf32>
}
