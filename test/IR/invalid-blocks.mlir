// RUN: la-opt %s --split-input-file --verify-diagnostics

func.func @product_of_dynamic_rows(%a: tensor<?xf32>) {
  // expected-error @below {{expects factors of static shape [C] or [C, K], got 'tensor<?xf32>'}}
  %p = linattn.running_product %a : tensor<?xf32>
  return
}

// -----

func.func @bracket_of_vectors(%r: tensor<8xf32>) {
  // expected-error @below {{linattn.bracket expects reads of shape [C, K], got 'tensor<8xf32>'}}
  %b = linattn.bracket %r, %r : tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @bracket_widths_differ(%r: tensor<8x4xf32>, %w: tensor<8x5xf32>) {
  // expected-error @below {{expects reads and writes of one static shape [C, K], got 'tensor<8x4xf32>' and 'tensor<8x5xf32>'}}
  %b = linattn.bracket %r, %w : tensor<8x4xf32>, tensor<8x5xf32>
  return
}

// -----

func.func @bracket_decay_per_column(%r: tensor<8x4xf32>, %a: tensor<4xf32>) {
  // expected-error @below {{expects a decay of type 'tensor<8xf32>' (one per token) or 'tensor<8x4xf32>' (one per token and channel), got 'tensor<4xf32>'}}
  %b = linattn.bracket %r, %r decay %a : tensor<8x4xf32>, tensor<8x4xf32> decay tensor<4xf32>
  return
}

// -----

func.func @bracket_long_diagonal(%r: tensor<8x4xf32>, %d: tensor<9xf32>) {
  // expected-error @below {{expects a diagonal of type 'tensor<8xf32>', got 'tensor<9xf32>'}}
  %b = linattn.bracket %r, %r diagonal %d : tensor<8x4xf32>, tensor<8x4xf32> diagonal tensor<9xf32>
  return
}

// -----

func.func @bracket_subchunk_of_no_rows(%r: tensor<8x4xf32>) {
  // expected-error @below {{'linattn.bracket' op expects a subchunk of at least 1 row, got 0}}
  %b = linattn.bracket %r, %r subchunk 0 : tensor<8x4xf32>, tensor<8x4xf32>
  return
}

// -----

func.func @sum_rectangle(%b: tensor<8x4xf32>, %c: tensor<8x2xf32>) {
  // expected-error @below {{'linattn.weighted_sum' op expects a square matrix of static shape, got 'tensor<8x4xf32>'}}
  %x = linattn.weighted_sum %b, %c decay %c : tensor<8x4xf32>, tensor<8x2xf32>
  return
}

// -----

func.func @sum_rows_differ(%b: tensor<8x8xf32>, %c: tensor<4x2xf32>) {
  // expected-error @below {{expects values of static shape [8, V] and element type 'f32', got 'tensor<4x2xf32>'}}
  %x = linattn.weighted_sum %b, %c decay %c : tensor<8x8xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @sum_of_numbers(%b: tensor<8x8xf32>, %c: tensor<8xf32>) {
  // expected-error @below {{expects values of static shape [8, V] and element type 'f32', got 'tensor<8xf32>'}}
  %x = linattn.weighted_sum %b, %c decay %c : tensor<8x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @sum_subchunk_of_no_rows(%b: tensor<8x8xf32>, %c: tensor<8x2xf32>) {
  // expected-error @below {{'linattn.weighted_sum' op expects a subchunk of at least 1 row, got 0}}
  %x = linattn.weighted_sum %b, %c decay %c subchunk 0 : tensor<8x8xf32>, tensor<8x2xf32>
  return
}

// -----

func.func @solve_rectangle(%a: tensor<8x4xf32>, %r: tensor<8x2xf32>) {
  // expected-error @below {{expects a square matrix of static shape, got 'tensor<8x4xf32>'}}
  %x = linattn.solve %a, %r : tensor<8x4xf32>, tensor<8x2xf32>
  return
}

// -----

func.func @solve_rows_differ(%a: tensor<8x8xf32>, %r: tensor<4x2xf32>) {
  // expected-error @below {{expects a right-hand side of 8 rows and element type 'f32', got 'tensor<4x2xf32>'}}
  %x = linattn.solve %a, %r : tensor<8x8xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @solve_subchunk_of_no_rows(%a: tensor<8x8xf32>, %r: tensor<8x2xf32>) {
  // expected-error @below {{'linattn.solve' op expects a subchunk of at least 1 row, got -1}}
  %x = linattn.solve %a, %r subchunk -1 : tensor<8x8xf32>, tensor<8x2xf32>
  return
}

// -----

func.func @bracket_rounds_f64(%r: tensor<8x4xf64>) {
  // expected-error @below {{rounds operands of f32 to bf16, got 'f64'; drop 'bf16_operands'}}
  %b = linattn.bracket %r, %r bf16_operands : tensor<8x4xf64>, tensor<8x4xf64>
  return
}

// -----

func.func @sum_rounds_bf16(%b: tensor<8x8xbf16>, %c: tensor<8x4xbf16>) {
  // expected-error @below {{rounds operands of f32 to bf16, got 'bf16'; drop 'bf16_operands'}}
  %o = linattn.weighted_sum %b, %c decay %c bf16_operands : tensor<8x8xbf16>, tensor<8x4xbf16>
  return
}
