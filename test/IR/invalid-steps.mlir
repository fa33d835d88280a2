// Rules of decay, read and write. A function is named after the rule that it breaks.
//
// RUN: la-opt %s --split-input-file --verify-diagnostics

func.func @decay_of_rank_0(%s: tensor<f32>, %g: f32) {
  // expected-error@below {{'linattn.decay' op expects a state of rank 1 or 2, got 'tensor<f32>'}}
  %0 = linattn.decay %s by %g : tensor<f32>, f32
  return
}

// -----

func.func @decay_of_rank_3(%s: tensor<2x4x8xf32>, %g: f32) {
  // expected-error@below {{'linattn.decay' op expects a state of rank 1 or 2, got 'tensor<2x4x8xf32>'}}
  %0 = linattn.decay %s by %g : tensor<2x4x8xf32>, f32
  return
}

// -----

func.func @decay_of_a_scalar_state(%s: f32, %g: f32) {
  // expected-error@below {{custom op 'linattn.decay' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %0 = linattn.decay %s by %g : f32, f32
  return
}

// -----

func.func @decay_of_integers(%s: tensor<4x8xi32>, %g: f32) {
  // expected-error@below {{'linattn.decay' op operand #0 must be ranked tensor of floating-point or complex type with floating-point elements values, but got 'tensor<4x8xi32>'}}
  %0 = linattn.decay %s by %g : tensor<4x8xi32>, f32
  return
}

// -----

// expected-error@below {{invalid element type for complex}}
func.func @decay_of_complex_integers(%s: tensor<4x8xcomplex<index>>, %g: complex<index>) {
  %0 = linattn.decay %s by %g : tensor<4x8xcomplex<index>>, complex<index>
  return
}

// -----

func.func @decay_without_axes_by_a_tensor(%s: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@below {{'linattn.decay' op expects the decay to be a scalar (without 'along'), got 'tensor<4xf32>'}}
  %0 = linattn.decay %s by %g : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @decay_along_an_axis_by_a_scalar(%s: tensor<4x8xf32>, %g: f32) {
  // expected-error@below {{'linattn.decay' op expects the decay to be a tensor of shape [4] (one entry per index of the axes), got 'f32'}}
  %0 = linattn.decay %s by %g along [0] : tensor<4x8xf32>, f32
  return
}

// -----

func.func @decay_of_other_extent(%s: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error@below {{'linattn.decay' op expects the decay to be a tensor of shape [4] (one entry per index of the axes), got 'tensor<8xf32>'}}
  %0 = linattn.decay %s by %g along [0] : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @decay_along_both_of_one_extent(%s: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@below {{'linattn.decay' op expects the decay to be a tensor of shape [4, 8] (one entry per index of the axes), got 'tensor<4xf32>'}}
  %0 = linattn.decay %s by %g along [0, 1] : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @decay_axis_too_large(%s: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@below {{'linattn.decay' op expects an axis between 0 and 1 of 'tensor<4x8xf32>', got 2}}
  %0 = linattn.decay %s by %g along [2] : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @decay_axis_negative(%s: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@below {{'linattn.decay' op expects an axis between 0 and 1 of 'tensor<4x8xf32>', got -1}}
  %0 = linattn.decay %s by %g along [-1] : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @decay_axes_not_increasing(%s: tensor<4x8xf32>, %g: tensor<8x4xf32>) {
  // expected-error@below {{'linattn.decay' op expects increasing axes, got 0 after 1}}
  %0 = linattn.decay %s by %g along [1, 0] : tensor<4x8xf32>, tensor<8x4xf32>
  return
}

// -----

func.func @decay_axis_twice(%s: tensor<4x8xf32>, %g: tensor<4x4xf32>) {
  // expected-error@below {{'linattn.decay' op expects increasing axes, got 0 after 0}}
  %0 = linattn.decay %s by %g along [0, 0] : tensor<4x8xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @decay_wider_than_the_state(%s: tensor<4x8xf32>, %g: f64) {
  // expected-error@below {{'linattn.decay' op expects a decay of the state's element type 'f32' or of a narrower one, got 'f64'; truncate it explicitly}}
  %0 = linattn.decay %s by %g : tensor<4x8xf32>, f64
  return
}

// -----

func.func @decay_of_other_type_of_equal_width(%s: tensor<4x8xf16>, %g: bf16) {
  // expected-error@below {{'linattn.decay' op expects a decay of the state's element type 'f16' or of a narrower one, got 'bf16'; truncate it explicitly}}
  %0 = linattn.decay %s by %g : tensor<4x8xf16>, bf16
  return
}

// -----

func.func @complex_decay_of_a_real_state(%s: tensor<4x8xf32>, %g: complex<f16>) {
  // expected-error@below {{'linattn.decay' op expects a decay of the state's element type 'f32' or of a narrower one, got 'complex<f16>'; truncate it explicitly}}
  %0 = linattn.decay %s by %g : tensor<4x8xf32>, complex<f16>
  return
}

// -----

func.func @integer_decay(%s: tensor<4x8xf32>, %g: i32) {
  // expected-error@below {{'linattn.decay' op operand #1 must be a float or complex number or a ranked tensor of them, but got 'i32'}}
  %0 = linattn.decay %s by %g : tensor<4x8xf32>, i32
  return
}

// -----

func.func @read_of_rank_3(%s: tensor<4x8x2xf32>, %r: tensor<4xf32>) {
  // expected-error@below {{linattn.read expects a state of rank 1 or 2, one of its axes and an address of rank 1 or 2, got 'tensor<4x8x2xf32>', axis 0 and 'tensor<4xf32>'}}
  %0 = linattn.read %s at %r along 0 : tensor<4x8x2xf32>, tensor<4xf32>
  return
}

// -----

func.func @read_of_rank_0(%s: tensor<f32>, %r: tensor<4xf32>) {
  // expected-error@below {{linattn.read expects a state of rank 1 or 2, one of its axes and an address of rank 1 or 2, got 'tensor<f32>', axis 0 and 'tensor<4xf32>'}}
  %0 = linattn.read %s at %r along 0 : tensor<f32>, tensor<4xf32>
  return
}

// -----

func.func @read_axis_too_large(%s: tensor<4x8xf32>, %r: tensor<4xf32>) {
  // expected-error@below {{linattn.read expects a state of rank 1 or 2, one of its axes and an address of rank 1 or 2, got 'tensor<4x8xf32>', axis 2 and 'tensor<4xf32>'}}
  %0 = linattn.read %s at %r along 2 : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @read_axis_negative(%s: tensor<4x8xf32>, %r: tensor<4xf32>) {
  // expected-error@below {{linattn.read expects a state of rank 1 or 2, one of its axes and an address of rank 1 or 2, got 'tensor<4x8xf32>', axis -1 and 'tensor<4xf32>'}}
  %0 = linattn.read %s at %r along -1 : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @read_of_other_extent(%s: tensor<4x8xf32>, %r: tensor<8xf32>) {
  // expected-error@below {{'linattn.read' op expects the address to be a tensor of shape [4] (the state's extent along axis 0), got 'tensor<8xf32>'}}
  %0 = linattn.read %s at %r along 0 : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @read_matrix_of_other_extent(%s: tensor<4x8xf32>, %r: tensor<4x8xf32>) {
  // expected-error@below {{'linattn.read' op expects the address to be a tensor of shape [4, 4] (the state's extent along axis 0), got 'tensor<4x8xf32>'}}
  %0 = linattn.read %s at %r along 0 : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @read_address_of_rank_3(%s: tensor<4x8xf32>, %r: tensor<2x2x4xf32>) {
  // expected-error@below {{linattn.read expects a state of rank 1 or 2, one of its axes and an address of rank 1 or 2, got 'tensor<4x8xf32>', axis 0 and 'tensor<2x2x4xf32>'}}
  %0 = linattn.read %s at %r along 0 : tensor<4x8xf32>, tensor<2x2x4xf32>
  return
}

// -----

func.func @read_address_of_rank_0(%s: tensor<4x8xf32>, %r: tensor<f32>) {
  // expected-error@below {{linattn.read expects a state of rank 1 or 2, one of its axes and an address of rank 1 or 2, got 'tensor<4x8xf32>', axis 0 and 'tensor<f32>'}}
  %0 = linattn.read %s at %r along 0 : tensor<4x8xf32>, tensor<f32>
  return
}

// -----

func.func @read_address_wider_than_the_state(%s: tensor<4x8xf32>, %r: tensor<4xf64>) {
  // expected-error@below {{'linattn.read' op expects an address of the state's element type 'f32' or of a narrower one, got 'tensor<4xf64>'; truncate it explicitly}}
  %0 = linattn.read %s at %r along 0 : tensor<4x8xf32>, tensor<4xf64>
  return
}

// -----

func.func @read_by_a_scalar(%s: tensor<4x8xf32>, %r: f32) {
  // expected-error@below {{custom op 'linattn.read' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %0 = linattn.read %s at %r along 0 : tensor<4x8xf32>, f32
  return
}

// -----

func.func @write_of_rank_3(%s: tensor<4x8x2xf32>, %w: tensor<4xf32>, %c: f32) {
  // expected-error@below {{'linattn.write' op expects a state of rank 1 or 2, got 'tensor<4x8x2xf32>'}}
  %0 = linattn.write %s at %w along 0 value %c : tensor<4x8x2xf32>, tensor<4xf32>, f32
  return
}

// -----

func.func @write_axis_too_large(%s: tensor<4x8xf32>, %w: tensor<4xf32>, %c: tensor<8xf32>) {
  // expected-error@below {{'linattn.write' op expects an axis between 0 and 1 of 'tensor<4x8xf32>', got 2}}
  %0 = linattn.write %s at %w along 2 value %c : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>
  return
}

// -----

func.func @write_address_of_other_extent(%s: tensor<4x8xf32>, %w: tensor<8xf32>, %c: tensor<8xf32>) {
  // expected-error@below {{'linattn.write' op expects the address to be a tensor of shape [4] (the state's extent along axis 0), got 'tensor<8xf32>'}}
  %0 = linattn.write %s at %w along 0 value %c : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @write_address_of_rank_3(%s: tensor<4x8xf32>, %w: tensor<2x2x4xf32>, %c: tensor<8xf32>) {
  // expected-error@below {{'linattn.write' op expects an address of rank 1, or of rank 2 for several writes at once, got 'tensor<2x2x4xf32>'}}
  %0 = linattn.write %s at %w along 0 value %c : tensor<4x8xf32>, tensor<2x2x4xf32>, tensor<8xf32>
  return
}

// -----

func.func @write_value_of_other_extent(%s: tensor<4x8xf32>, %w: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error@below {{'linattn.write' op expects the value to be a tensor of shape [8] (the state's other axis, once per row of the address), got 'tensor<4xf32>'}}
  %0 = linattn.write %s at %w along 0 value %c : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @write_value_is_a_scalar(%s: tensor<4x8xf32>, %w: tensor<4xf32>, %c: f32) {
  // expected-error@below {{'linattn.write' op expects the value to be a tensor of shape [8] (the state's other axis, once per row of the address), got 'f32'}}
  %0 = linattn.write %s at %w along 0 value %c : tensor<4x8xf32>, tensor<4xf32>, f32
  return
}

// -----

func.func @write_matrix_with_one_value(%s: tensor<4x8xf32>, %w: tensor<3x4xf32>, %c: tensor<8xf32>) {
  // expected-error@below {{'linattn.write' op expects the value to be a tensor of shape [3, 8] (the state's other axis, once per row of the address), got 'tensor<8xf32>'}}
  %0 = linattn.write %s at %w along 0 value %c : tensor<4x8xf32>, tensor<3x4xf32>, tensor<8xf32>
  return
}

// -----

func.func @write_rows_differ(%s: tensor<4x8xf32>, %w: tensor<3x4xf32>, %c: tensor<2x8xf32>) {
  // expected-error@below {{'linattn.write' op expects the value to be a tensor of shape [3, 8] (the state's other axis, once per row of the address), got 'tensor<2x8xf32>'}}
  %0 = linattn.write %s at %w along 0 value %c : tensor<4x8xf32>, tensor<3x4xf32>, tensor<2x8xf32>
  return
}

// -----

func.func @write_tensor_value_to_a_vector_state(%s: tensor<4xf32>, %w: tensor<4xf32>, %c: tensor<1xf32>) {
  // expected-error@below {{'linattn.write' op expects the value to be a scalar (the state's other axis, once per row of the address), got 'tensor<1xf32>'}}
  %0 = linattn.write %s at %w along 0 value %c : tensor<4xf32>, tensor<4xf32>, tensor<1xf32>
  return
}

// -----

func.func @write_address_wider_than_the_state(%s: tensor<4x8xf32>, %w: tensor<4xf64>, %c: tensor<8xf32>) {
  // expected-error@below {{'linattn.write' op expects an address of the state's element type 'f32' or of a narrower one, got 'tensor<4xf64>'; truncate it explicitly}}
  %0 = linattn.write %s at %w along 0 value %c : tensor<4x8xf32>, tensor<4xf64>, tensor<8xf32>
  return
}

// -----

func.func @write_value_wider_than_the_state(%s: tensor<4x8xf32>, %w: tensor<4xf32>, %c: tensor<8xf64>) {
  // expected-error@below {{'linattn.write' op expects a value of the state's element type 'f32' or of a narrower one, got 'tensor<8xf64>'; truncate it explicitly}}
  %0 = linattn.write %s at %w along 0 value %c : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf64>
  return
}
