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

// In rows of channels: one pass with the product so far in a row of its own, which ends as the
// product of all rows.
// CHECK-LABEL: func.func @running_product_channels(
// CHECK-SAME:      %[[A:[^:]+]]: tensor<8x4xf32>
// CHECK:         %[[ONE:.+]] = linalg.fill ins(%cst : f32) outs(%{{.+}} : tensor<4xf32>)
// CHECK:         %[[PASS:.+]]:2 = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[A]] : tensor<8x4xf32>) outs(%[[ONE]], %{{.+}} :
// CHECK:         ^bb0(%[[FACTOR:.+]]: f32, %[[SO_FAR:.+]]: f32, %{{.+}}: f32):
// CHECK:           %[[NEXT:.+]] = arith.mulf %[[SO_FAR]], %[[FACTOR]]
// CHECK:           linalg.yield %[[NEXT]], %[[SO_FAR]]
// CHECK:         return %[[PASS]]#1, %[[PASS]]#0
func.func @running_product_channels(%a: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %p = linattn.running_product %a : tensor<8x4xf32>
  %last_product = tensor.extract_slice %p[7, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
  %last_factor = tensor.extract_slice %a[7, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
  %whole = arith.mulf %last_product, %last_factor : tensor<4xf32>
  return %p, %whole : tensor<8x4xf32>, tensor<4xf32>
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

// All pairs at once, of which those below the diagonal count.
// CHECK-LABEL: func.func @bracket(
// CHECK-SAME:      %[[R:[^:]+]]: tensor<8x4xf32>, %[[W:[^:]+]]: tensor<8x4xf32>
// CHECK:         %[[ALL:.+]] = linalg.matmul indexing_maps = {{.*}} ins(%[[R]], %[[W]] :
// CHECK:         linalg.generic {{.*}} ins(%[[ALL]] :
// CHECK-DAG:       %[[ROW:.+]] = linalg.index 0
// CHECK-DAG:       %[[COLUMN:.+]] = linalg.index 1
// CHECK:           %[[BELOW:.+]] = arith.cmpi ugt, %[[ROW]], %[[COLUMN]]
// CHECK:           arith.select %[[BELOW]], %{{.+}}, %cst
func.func @bracket(%r: tensor<8x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x8xf32> {
  %b = linattn.bracket %r, %w : tensor<8x4xf32>, tensor<8x4xf32>
  return %b : tensor<8x8xf32>
}

// -----

// Column j of the multipliers is 1 up to row j, so that its running product is that of the tokens between;
// then the diagonal.
// CHECK-LABEL: func.func @bracket_scalar_decay(
// CHECK-SAME:      %[[A:[^:]+]]: tensor<8xf32>, %[[D:[^:]+]]: tensor<8xf32>)
// CHECK:         %[[ALL:.+]] = linalg.matmul
// CHECK:         %[[FACTORS:.+]] = linalg.generic {{.*}} ins(%[[A]] :
// CHECK:           arith.cmpi ugt
// CHECK:         %[[BETWEEN:.+]]:2 = linalg.generic {{.*}} ins(%[[FACTORS]] :
// CHECK:         %[[BELOW:.+]] = linalg.generic {{.*}} ins(%[[ALL]], %[[BETWEEN]]#1 :
// CHECK:           arith.mulf
// CHECK:           arith.select
// CHECK:         linalg.generic {{.*}} ins(%[[BELOW]], %[[D]] :
// CHECK:           arith.cmpi eq
func.func @bracket_scalar_decay(%r: tensor<8x4xf32>, %w: tensor<8x4xf32>, %a: tensor<8xf32>, %d: tensor<8xf32>) -> tensor<8x8xf32> {
  %b = linattn.bracket %r, %w decay %a diagonal %d : tensor<8x4xf32>, tensor<8x4xf32> decay tensor<8xf32> diagonal tensor<8xf32>
  return %b : tensor<8x8xf32>
}

// -----

// Two triangles of 4 rows pair by pair, in which the write decays from row to row, and one product for the
// square below them: reads moved to the border from behind, writes from before.
// CHECK-LABEL: func.func @bracket_channel_decay(
// CHECK-SAME:      %[[R:[^:]+]]: tensor<8x2xf32>, %[[W:[^:]+]]: tensor<8x2xf32>, %[[A:[^:]+]]: tensor<8x2xf32>)
// CHECK:         %[[UPPER:.+]]:2 = scf.for %[[J:[^ ]+]] = %c0 to %c3 step %c1 iter_args(
// CHECK:           %[[WRITE:.+]] = tensor.extract_slice %[[W]][%[[J]], 0] [1, 2]
// CHECK:           %[[NEXT:.+]] = arith.addi %[[J]], %c1
// CHECK:           scf.for %[[I:[^ ]+]] = %[[NEXT]] to %c4 step %c1 iter_args(%[[PAIRS:[^ ]+]] = %{{[^ ]+}}, %[[DECAYED:[^ ]+]] =
// CHECK-DAG:         %[[READ:.+]] = tensor.extract_slice %[[R]][%[[I]], 0] [1, 2]
// CHECK-DAG:         %[[DECAY:.+]] = tensor.extract_slice %[[A]][%[[I]], 0] [1, 2]
// CHECK:             linalg.generic {{.*}} ins(%[[READ]], %[[DECAY]] : {{.*}} outs(%{{.+}}, %[[DECAYED]] :
// CHECK:             tensor.insert %{{.+}} into %[[PAIRS]][%[[I]], %[[J]]]
// CHECK:         %[[LOWER:.+]]:2 = scf.for %{{.+}} = %c4 to %c7
// CHECK:           scf.for
// CHECK:         %[[WRITE_PRODUCT:[^ :]+]] = scf.for
// CHECK:         %[[WRITES:.+]] = arith.mulf %{{.+}}, %[[WRITE_PRODUCT]]
// CHECK:         %[[READ_PRODUCT:[^ :]+]]:2 = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]
// CHECK:         %[[READS:.+]] = arith.mulf %{{.+}}, %[[READ_PRODUCT]]#1
// CHECK:         %[[SQUARE:.+]] = linalg.matmul indexing_maps = {{.*}} ins(%[[READS]], %[[WRITES]] :
// CHECK:         tensor.insert_slice %[[SQUARE]] into %[[LOWER]]#0[4, 0] [4, 4]
func.func @bracket_channel_decay(%r: tensor<8x2xf32>, %w: tensor<8x2xf32>, %a: tensor<8x2xf32>) -> tensor<8x8xf32> {
  %b = linattn.bracket %r, %w decay %a subchunk 4 : tensor<8x2xf32>, tensor<8x2xf32> decay tensor<8x2xf32>
  return %b : tensor<8x8xf32>
}

// -----

// Two reads see the same write as it decays; after the last row it is moved to the end.
// CHECK-LABEL: func.func @brackets_of_one_write(
// CHECK-SAME:      %[[Q:[^:]+]]: tensor<8x2xf32>, %[[R:[^:]+]]: tensor<8x2xf32>, %[[W:[^:]+]]: tensor<8x2xf32>, %[[A:[^:]+]]: tensor<8x2xf32>)
// CHECK:         %[[LEAF:.+]]:4 = scf.for %[[J:[^ ]+]] = %c0 to %c8 step %c1 iter_args(%{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}}, %[[MOVED:[^ ]+]] =
// CHECK:           %[[INNER:.+]]:3 = scf.for %[[I:[^ ]+]] = %{{.+}} to %c8
// CHECK-DAG:         %[[FIRST:.+]] = tensor.extract_slice %[[Q]][%[[I]], 0]
// CHECK-DAG:         %[[SECOND:.+]] = tensor.extract_slice %[[R]][%[[I]], 0]
// CHECK:             linalg.generic {{.*}} ins(%[[FIRST]], %[[SECOND]], %{{.+}} :
// CHECK:           tensor.insert_slice %[[INNER]]#2 into %[[MOVED]][%[[J]], 0] [1, 2]
// CHECK-NOT:     scf.for
// CHECK:         return %[[LEAF]]#0, %[[LEAF]]#1, %[[LEAF]]#3
func.func @brackets_of_one_write(%q: tensor<8x2xf32>, %r: tensor<8x2xf32>, %w: tensor<8x2xf32>, %a: tensor<8x2xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x2xf32>) {
  %b = linattn.bracket %q, %w decay %a subchunk 8 : tensor<8x2xf32>, tensor<8x2xf32> decay tensor<8x2xf32>
  %c = linattn.bracket %r, %w decay %a subchunk 8 : tensor<8x2xf32>, tensor<8x2xf32> decay tensor<8x2xf32>
  %behind = linattn.running_product reverse %a : tensor<8x2xf32>
  %moved = arith.mulf %w, %behind : tensor<8x2xf32>
  return %b, %c, %moved : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x2xf32>
}

// -----

// What the second one reads is solved for with another bracket: that has to be lowered where it is.
// CHECK-LABEL: func.func @bracket_behind_a_solve(
// CHECK-COUNT-2: scf.for %{{[^ ]+}} = %c0 to %c7
func.func @bracket_behind_a_solve(%r: tensor<8x2xf32>, %w: tensor<8x2xf32>, %a: tensor<8x2xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %b = linattn.bracket %r, %w decay %a subchunk 8 : tensor<8x2xf32>, tensor<8x2xf32> decay tensor<8x2xf32>
  %m = linattn.bracket %r, %r : tensor<8x2xf32>, tensor<8x2xf32>
  %x = linattn.solve %m, %r subchunk 8 : tensor<8x8xf32>, tensor<8x2xf32>
  %c = linattn.bracket %x, %w decay %a subchunk 8 : tensor<8x2xf32>, tensor<8x2xf32> decay tensor<8x2xf32>
  return %b, %c : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Row i from the values before it, which decay from row to row; those behind it are 0 still.
// CHECK-LABEL: func.func @weighted_sum_leaf(
// CHECK-SAME:      %[[B:[^:]+]]: tensor<8x8xf32>, %[[C:[^:]+]]: tensor<8x4xf32>, %[[A:[^:]+]]: tensor<8x4xf32>)
// CHECK-NOT:     linalg.matmul
// CHECK:         %[[LOWER:.+]] = linalg.generic {{.*}} ins(%[[B]] :
// CHECK:           arith.cmpi ugt
// CHECK:         %[[FIRST:.+]] = tensor.extract_slice %[[C]][0, 0] [1, 4]
// CHECK:         %[[START:.+]] = tensor.insert_slice %[[FIRST]] into %{{.+}}[0, 0] [1, 4]
// CHECK:         scf.for %[[I:[^ ]+]] = %c1 to %c8 step %c1 iter_args(%[[SUMS:.+]] = %{{.+}}, %[[SEEN:.+]] = %[[START]])
// CHECK:           %[[WEIGHTS:.+]] = tensor.extract_slice %[[LOWER]][%[[I]], 0] [1, 8]
// CHECK:           %[[SUM:.+]] = linalg.vecmat ins(%[[WEIGHTS]], %[[SEEN]] :
// CHECK:           %[[FACTORS:.+]] = tensor.extract_slice %[[A]][%[[I]], 0] [1, 4]
// CHECK:           %[[DECAYED:.+]] = linalg.generic {{.*}} ins(%[[FACTORS]] :{{.*}} outs(%[[SEEN]] :
// CHECK:           tensor.insert_slice %[[SUM]] into %[[SUMS]][%[[I]], 0] [1, 4]
// CHECK:           %[[NEXT:.+]] = tensor.extract_slice %[[C]][%[[I]], 0] [1, 4]
// CHECK:           tensor.insert_slice %[[NEXT]] into %[[DECAYED]][%[[I]], 0] [1, 4]
func.func @weighted_sum_leaf(%b: tensor<8x8xf32>, %c: tensor<8x4xf32>, %a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %o = linattn.weighted_sum %b, %c decay %a : tensor<8x8xf32>, tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}

// -----

// Below the border of 7 rows, at 4: the values move forward to it, the sums on from it.
// CHECK-LABEL: func.func @weighted_sum_halved(
// CHECK-SAME:      %[[B:[^:]+]]: tensor<7x7xf32>, %[[C:[^:]+]]: tensor<7x4xf32>, %[[A:[^:]+]]: tensor<7x4xf32>)
// CHECK:         %[[BEFORE:.+]] = tensor.extract_slice %[[C]][0, 0] [4, 4]
// CHECK:         %[[FIRST:.+]] = tensor.extract_slice %[[A]][0, 0] [4, 4]
// CHECK:         scf.for %{{.+}} = %c1 to %c4
// CHECK:         %[[SECOND:.+]] = tensor.extract_slice %[[A]][4, 0] [3, 4]
// CHECK:         scf.for %{{.+}} = %c1 to %c3
// CHECK:         %[[BEHIND:.+]] = scf.for
// CHECK:           tensor.extract_slice %[[FIRST]]
// CHECK:         %[[MOVED:.+]] = arith.mulf %[[BEFORE]], %[[BEHIND]]
// CHECK:         %[[PART:.+]] = tensor.extract_slice %[[B]][4, 0] [3, 4]
// CHECK:         %[[SUMS:.+]] = linalg.matmul ins(%[[PART]], %[[MOVED]] :
// CHECK:         %[[AHEAD:.+]]:2 = linalg.generic {{.*}} ins(%[[SECOND]] :
// CHECK:         %[[SCALED:.+]] = arith.mulf %[[SUMS]], %[[AHEAD]]
// CHECK:         %[[BOTH:.+]] = arith.addf %{{.+}}, %[[SCALED]]
// CHECK:         tensor.insert_slice %[[BOTH]] into %{{.+}}[4, 0] [3, 4]
func.func @weighted_sum_halved(%b: tensor<7x7xf32>, %c: tensor<7x4xf32>, %a: tensor<7x4xf32>) -> tensor<7x4xf32> {
  %o = linattn.weighted_sum %b, %c decay %a subchunk 4 : tensor<7x7xf32>, tensor<7x4xf32>
  return %o : tensor<7x4xf32>
}

// -----

// Row i from the rows before it, the others times 0.
// CHECK-LABEL: func.func @solve_one_block(
// CHECK-SAME:      %[[A:[^:]+]]: tensor<8x8xf32>, %[[RHS:[^:]+]]: tensor<8x4xf32>)
// CHECK-NOT:     linalg.matmul
// CHECK:         %[[LOWER:.+]] = linalg.generic {{.*}} ins(%[[A]] :
// CHECK:           arith.cmpi ugt
// CHECK:         scf.for %[[I:[^ ]+]] = %c1 to %c8 step %c1 iter_args(%[[X:.+]] = %[[RHS]])
// CHECK:           %[[WEIGHTS:.+]] = tensor.extract_slice %[[LOWER]][%[[I]], 0] [1, 8]
// CHECK:           %[[ROW:.+]] = tensor.extract_slice %[[X]][%[[I]], 0] [1, 4]
// CHECK:           %[[SOLVED:.+]] = linalg.vecmat ins(%[[WEIGHTS]], %[[X]] :{{.*}} outs(%[[ROW]] :
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
