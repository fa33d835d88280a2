// Rules of indexing maps and slices. A function is named after the rule that it breaks.
//
// RUN: la-opt %s --split-input-file --verify-diagnostics

func.func @map_with_symbols(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects an indexing map without symbols, got (d0, d1, d2)[s0] -> (d0, d1, d2)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d)[s] -> (b, t, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @map_misses_iteration_dims(%x: tensor<2x16x8xf32>, %y: tensor<2xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects an indexing map over the 2 iteration dims followed by slice dims, got (d0) -> (d0)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b) -> (b)> : tensor<2xf32> as %yt : f32)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @map_results_do_not_match_rank(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects one map result per dim of 'tensor<2x16x8xf32>', got (d0, d1, d2) -> (d0, d2)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @scalar_with_map_results(%x: tensor<2x16x8xf32>, %y: f32) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects one map result per dim of 'f32', got (d0, d1) -> (d0)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t) -> (b)> : f32 as %yt : f32)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @map_with_ceildiv(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects map results that are sums of dims, of 'dim floordiv N' and 'dim mod N', and of constants, got d1 ceildiv 2 in (d0, d1, d2) -> (d0, d1 ceildiv 2, d2)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t ceildiv 2, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @map_with_digit_of_a_sum(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects map results that are sums of dims, of 'dim floordiv N' and 'dim mod N', and of constants, got d1 floordiv 2 + (d0 + d1) mod 3 in (d0, d1, d2) -> (d0, d1 floordiv 2 + (d0 + d1) mod 3, d2)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t floordiv 2 + (t + b) mod 3, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @slice_dim_never_used(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects slice dim d3 to occur exactly once and with coefficient 1, got (d0, d1, d2, d3) -> (d0, d1, d2)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d, e) -> (b, t, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @slice_dim_used_twice(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects slice dim d2 to occur exactly once and with coefficient 1, got (d0, d1, d2) -> (d0, d2, d2)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, d, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @slice_dim_scaled(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects slice dim d2 to occur exactly once and with coefficient 1, got (d0, d1, d2) -> (d0, d1, d2 * 2)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t, d * 2)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @slice_dim_divided(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects slice dim d2 to occur exactly once and with coefficient 1, got (d0, d1, d2) -> (d0, d1, d2 floordiv 2)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t, d floordiv 2)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @two_slice_dims_in_one_result(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects at most one slice dim per map result, got (d0, d1, d2, d3) -> (d0, d1, d2 + d3)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d, e) -> (b, t, d + e)> : tensor<2x16x8xf32> as %yt : tensor<4x4xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @extents_differ(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects dim 0 to have the extent 16 of iteration dim #1, got 'tensor<2x16x8xf32>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (t, b, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @extent_nowhere_bare(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op cannot tell the extent of iteration dim #1: expects it to occur bare, as a map result of its own, in some operand's map}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t * 2, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t + 1, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @extent_of_time_only_in_checkpoints(%x: tensor<8xf32>, %c: tensor<4x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op cannot tell the extent of iteration dim #0: expects it to occur bare, as a map result of its own, in some operand's map}}
  %r:2 = linattn.recurrence [time]
      ins(%x via affine_map<(t, d) -> (d)> : tensor<8xf32> as %xt : tensor<8xf32>)
      states(%x via affine_map<(t, d) -> (d)> : tensor<8xf32> as %S : tensor<8xf32>)
      checkpoints(%c via affine_map<(t, d) -> (t, d)> : tensor<4x8xf32>) every 4 {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @out_does_not_use_a_dim(%x: tensor<2x16x8xf32>, %y: tensor<16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op out #0: expects an injective map, but (d0, d1, d2) -> (d1, d2) does not determine iteration dim #0: several steps would share an element}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%y via affine_map<(b, t, d) -> (t, d)> : tensor<16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @out_groups_tokens(%x: tensor<2x16x8xf32>, %y: tensor<2x8x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op out #0: expects an injective map, but (d0, d1, d2) -> (d0, d1 floordiv 2, d2) does not determine iteration dim #1: several steps would share an element}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%y via affine_map<(b, t, d) -> (b, t floordiv 2, d)> : tensor<2x8x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @out_overlaps_slices(%x: tensor<2x16x8xf32>, %y: tensor<2x68xf32>) {
  // expected-error@below {{'linattn.recurrence' op out #0: expects an injective map, but (d0, d1, d2) -> (d0, d1 * 4 + d2) does not determine iteration dim #1: several steps would share an element}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%y via affine_map<(b, t, d) -> (b, t * 4 + d)> : tensor<2x68xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @out_index_of_two_dims_is_ambiguous(%x: tensor<2x16x8xf32>, %y: tensor<17x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op out #0: expects an injective map, but (d0, d1, d2) -> (d0 + d1, d2) does not determine iteration dim #0: several steps would share an element}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%y via affine_map<(b, t, d) -> (b + t, d)> : tensor<17x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @state_uses_time(%x: tensor<2x16x8xf32>, %s: tensor<2x16x8x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op state #0: expects a map that does not use the time dim #1, got (d0, d1, d2, d3) -> (d0, d1, d2, d3)}}
  %r:2 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v) -> (b, t, k, v)> : tensor<2x16x8x8xf32> as %S : tensor<8x8xf32>) {
    linattn.yield %xt, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return
}

// -----

func.func @states_share_elements(%x: tensor<2x16x8xf32>, %s: tensor<8x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op state #0: expects an injective map, but (d0, d1, d2, d3) -> (d2, d3) does not determine iteration dim #0: several steps would share an element}}
  %r:2 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v) -> (k, v)> : tensor<8x8xf32> as %S : tensor<8x8xf32>) {
    linattn.yield %xt, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return
}

// -----

func.func @state_of_rank_3(%x: tensor<2x16x8xf32>, %s: tensor<2x8x8x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op state #0: expects a state of rank 0, 1 or 2, got 'tensor<8x8x8xf32>'}}
  %r:2 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v, w) -> (b, k, v, w)> : tensor<2x8x8x8xf32> as %S : tensor<8x8x8xf32>) {
    linattn.yield %xt, %S : tensor<8xf32>, tensor<8x8x8xf32>
  }
  return
}

// -----

func.func @input_reaches_past_the_end(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: map result d1 + 1 reaches index 16, outside of dim 1 of 'tensor<2x16x8xf32>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t + 1, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @input_reaches_before_the_start(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: map result d1 - 1 reaches index -1, outside of dim 1 of 'tensor<2x16x8xf32>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t - 1, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @index_overflows_64_bits(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: map result d1 * 4611686018427387904 reaches index 9223372036854775807, outside of dim 1 of 'tensor<2x16x8xf32>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t * 4611686018427387904, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @slice_larger_than_operand(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: map result d2 reaches index 8, outside of dim 2 of 'tensor<2x16x8xf32>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %yt : tensor<9xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @dynamic_slice_in_a_sum(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects a static extent for slice dim d2 of (d0, d1, d2) -> (d0, d1, d2 + 1), got 'tensor<?xf32>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t, d + 1)> : tensor<2x16x8xf32> as %yt : tensor<?xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @slice_of_wrong_rank(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects a slice that is a tensor of rank 1, got 'tensor<8x1xf32>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %yt : tensor<8x1xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @slice_is_a_scalar(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects a slice that is a tensor of rank 1, got 'f32'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %yt : f32)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @scalar_slice_as_tensor(%x: tensor<2x16x8xf32>, %y: tensor<2x16xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects a slice that is a scalar, got 'tensor<f32>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t) -> (b, t)> : tensor<2x16xf32> as %yt : tensor<f32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @slice_of_other_element_type(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #1: expects a slice of element type 'f32', got 'tensor<8xf64>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %y via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %yt : tensor<8xf64>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @slice_without_step(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #0: expects a slice that is a tensor of rank 2 (the step and the slice dims), got 'tensor<8xf32>'}}
  %r:1 = linattn.recurrence [parallel, time] step(%live of 4)
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @slice_of_other_step(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op input #0: expects a slice of 4 rows, one per token of the step, got 'tensor<5x8xf32>'}}
  %r:1 = linattn.recurrence [parallel, time] step(%live of 4)
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<5x8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<5x8xf32>
  }
  return
}

// -----

func.func @yielded_out_of_wrong_type(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op out #0: expects a slice of element type 'f32', got 'tensor<4xf16>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    %y = tensor.extract_slice %xt[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %z = arith.truncf %y : tensor<4xf32> to tensor<4xf16>
    linattn.yield %z : tensor<4xf16>
  }
  return
}
