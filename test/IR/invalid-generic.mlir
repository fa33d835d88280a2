// Nonsense that only the generic form can say. A function is named after the rule that it breaks.
//
// RUN: la-opt %s --split-input-file --verify-diagnostics

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @operand_segment_sizes_missing(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op operand count (2) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %r:1 = "linattn.recurrence"(%x, %x) <{iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @operand_segment_sizes_too_few(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{invalid properties {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], operandSegmentSizes = array<i32: 1, 0, 0, 1>} for op linattn.recurrence: size mismatch in attribute conversion: 4 vs 6}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @operand_segment_sizes_of_other_sum(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op operand count (2) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 2, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @operand_segment_sizes_negative(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op 'operandSegmentSizes' attribute cannot have negative elements}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 3, 0, 0, -1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @two_segments_operands(%c: tensor<3xi32>) {
  // expected-error@below {{'linattn.recurrence' op operand group starting at #0 requires 0 or 1 element, but found 2}}
  "linattn.recurrence"(%c, %c) <{operandSegmentSizes = array<i32: 0, 2, 0, 0, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<3xi32>, tensor<3xi32>) -> ()
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @iterators_missing(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op requires attribute 'iterators'}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @iterators_of_other_attribute(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op attribute 'iterators' failed to satisfy constraint: iterator kinds, one per iteration dim}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [0, 1], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @iterators_of_strings(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op attribute 'iterators' failed to satisfy constraint: iterator kinds, one per iteration dim}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = ["parallel", "time"], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

func.func @maps_missing(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op requires attribute 'indexing_maps'}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @maps_too_few(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects one indexing map per operand except segments (2), got 1}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @maps_too_many(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects one indexing map per operand except segments (2), got 3}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @maps_of_other_attribute(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op attribute 'indexing_maps' failed to satisfy constraint: AffineMap array attribute}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, 3]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @result_missing(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> ()
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @result_of_other_type(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expected type of operand #1 ('tensor<2x16x8xf32>') to match type of corresponding result ('tensor<2x16x9xf32>')}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x9xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @out_is_a_memref(%x: tensor<2x16x8xf32>, %y: memref<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op operand #1 must be variadic of ranked tensor of a number values, but got 'memref<2x16x8xf32>'}}
  "linattn.recurrence"(%x, %y) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, memref<2x16x8xf32>) -> ()
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @out_is_unranked(%x: tensor<2x16x8xf32>, %y: tensor<*xf32>) {
  // expected-error@below {{'linattn.recurrence' op operand #1 must be variadic of ranked tensor of a number values, but got 'tensor<*xf32>'}}
  %r:1 = "linattn.recurrence"(%x, %y) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<*xf32>) -> (tensor<*xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @input_is_a_vector(%x: tensor<2x16x8xf32>, %y: vector<2xf32>) {
  // expected-error@below {{'linattn.recurrence' op operand #0 must be variadic of a number or a ranked tensor of numbers, but got 'vector<2xf32>'}}
  %r:1 = "linattn.recurrence"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (vector<2xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @input_of_complex_integers(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xcomplex<i32>>) {
  // expected-error@below {{'linattn.recurrence' op operand #0 must be variadic of a number or a ranked tensor of numbers, but got 'tensor<2x16x8xcomplex<i32>>'}}
  %r:1 = "linattn.recurrence"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xcomplex<i32>>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @reverse_of_other_attribute(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{invalid properties {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, reverse = 1 : i64} for op linattn.recurrence: Invalid attribute `reverse` in property conversion: 1 : i64}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m], reverse = 1 : i64}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @step_of_other_attribute(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op attribute 'step' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m], step = 4 : i32}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @interval_without_checkpoints(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects checkpoints and their interval together, got only the interval}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m], checkpoint_interval = 4 : i64}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @checkpoints_missing_interval(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects checkpoints and their interval together, got no interval}}
  %r:2 = "linattn.recurrence"(%x, %y) <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 1, 1>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>, tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @plan_of_other_kind(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{invalid properties {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, plan = "chunk"} for op linattn.recurrence: Invalid attribute `plan` in property conversion: "chunk"}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m], plan = "chunk"}> ({
    ^bb0(%xt: tensor<8xf32>):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @body_missing(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @body_without_terminator(%x: tensor<2x16x8xf32>) {
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    // expected-error@below {{block with no terminator, has %1 = "arith.constant"() <{value = 0 : i32}> : () -> i32}}
    %c = "arith.constant"() <{value = 0 : i32}> : () -> i32
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @body_of_two_blocks(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects region #0 to have 0 or 1 blocks}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>):
    "cf.br"()[^bb1] : () -> ()
    ^bb1:
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @too_few_block_arguments(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects 1 block arguments (one per input and state), got 0}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    %c = "arith.constant"() <{value = dense<0.0> : tensor<8xf32>}> : () -> tensor<8xf32>
    "linattn.yield"(%c) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @too_many_block_arguments(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects 1 block arguments (one per input and state), got 2}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m]}> ({
    ^bb0(%xt: tensor<8xf32>, %S: f32):
    "linattn.yield"(%xt) : (tensor<8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @live_rows_of_other_type(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects the number of live rows to be of type index, got 'i64'}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m], step = 4 : i64}> ({
    ^bb0(%live: i64, %xt: tensor<4x8xf32>):
    "linattn.yield"(%xt) : (tensor<4x8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

#m = affine_map<(b, t, d) -> (b, t, d)>
func.func @live_rows_missing(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects 2 block arguments (the number of live rows, one per input and state), got 1}}
  %r:1 = "linattn.recurrence"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>, iterators = [#linattn.iterator<parallel>, #linattn.iterator<time>], indexing_maps = [#m, #m], step = 4 : i64}> ({
    ^bb0(%xt: tensor<4x8xf32>):
    "linattn.yield"(%xt) : (tensor<4x8xf32>) -> ()
  }) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>)
  return
}

// -----

func.func @decay_without_operand(%s: tensor<4xf32>) {
  // expected-error@below {{'linattn.decay' op expected 2 operands, but found 1}}
  %0 = "linattn.decay"(%s) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @decay_result_differs(%s: tensor<4xf32>, %g: f32) {
  // expected-error@below {{'linattn.decay' op failed to verify that all of {state, result} have same type}}
  %0 = "linattn.decay"(%s, %g) : (tensor<4xf32>, f32) -> tensor<5xf32>
  return
}

// -----

func.func @decay_axes_of_other_attribute(%s: tensor<4xf32>, %g: f32) {
  // expected-error@below {{invalid properties {axes = [0]} for op linattn.decay: Invalid attribute `axes` in property conversion: [0]}}
  %0 = "linattn.decay"(%s, %g) <{axes = [0]}> : (tensor<4xf32>, f32) -> tensor<4xf32>
  return
}

// -----

func.func @read_axis_missing(%s: tensor<4xf32>) {
  // expected-error@below {{'linattn.read' op requires attribute 'axis'}}
  %0 = "linattn.read"(%s, %s) : (tensor<4xf32>, tensor<4xf32>) -> f32
  return
}

// -----

func.func @read_result_differs(%s: tensor<4x8xf32>, %r: tensor<4xf32>) {
  // expected-error@+2 {{'linattn.read' op inferred type(s) 'tensor<8xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error@below {{'linattn.read' op failed to infer returned types}}
  %0 = "linattn.read"(%s, %r) <{axis = 0 : i64}> : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @write_axis_missing(%s: tensor<4xf32>, %c: f32) {
  // expected-error@below {{'linattn.write' op requires attribute 'axis'}}
  %0 = "linattn.write"(%s, %s, %c) : (tensor<4xf32>, tensor<4xf32>, f32) -> tensor<4xf32>
  return
}

// -----

func.func @write_result_differs(%s: tensor<4xf32>, %c: f32) {
  // expected-error@below {{'linattn.write' op failed to verify that all of {state, result} have same type}}
  %0 = "linattn.write"(%s, %s, %c) <{axis = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>, f32) -> tensor<4xf64>
  return
}

// -----

func.func @index_dim_missing() {
  // expected-error@below {{'linattn.index' op requires attribute 'dim'}}
  %0 = "linattn.index"() : () -> index
  return
}
