// Rules of iterators and clauses. A function is named after the rule that it breaks.
//
// RUN: la-opt %s --split-input-file --verify-diagnostics

func.func @no_time_iterator(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects exactly one 'time' iterator, got 0}}
  %r:1 = linattn.recurrence [parallel, parallel]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @two_time_iterators(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects exactly one 'time' iterator, got 2}}
  %r:1 = linattn.recurrence [time, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @no_iterators(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects exactly one 'time' iterator, got 0}}
  %r:1 = linattn.recurrence []
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @unknown_iterator(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{custom op 'linattn.recurrence' expects iterator 'parallel', 'time' or 'segment', got 'reduction'}}
  %r:1 = linattn.recurrence [parallel, reduction]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @two_segment_iterators(%x: tensor<16x8xf32>, %cu: tensor<3xi32>) {
  // expected-error@below {{'linattn.recurrence' op expects at most one 'segment' iterator, got 2}}
  %r:1 = linattn.recurrence [segment, time, segment]
      ins(%x via affine_map<(n, t, m, d) -> (t, d)> : tensor<16x8xf32> as %xt : tensor<8xf32>)
      segments(%cu : tensor<3xi32>)
      outs(%x via affine_map<(n, t, m, d) -> (t, d)> : tensor<16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @segment_iterator_without_segments(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op has a 'segment' iterator but no segments; add a segments(...) clause with the offsets of the packed sequences or make the dim 'parallel'}}
  %r:1 = linattn.recurrence [segment, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @segments_without_iterator(%x: tensor<2x16x8xf32>, %cu: tensor<3xi32>) {
  // expected-error@below {{'linattn.recurrence' op has segments but no 'segment' iterator to number their states; add one}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      segments(%cu : tensor<3xi32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @segments_of_rank_2(%x: tensor<2x16x8xf32>, %cu: tensor<3x1xi32>) {
  // expected-error@below {{'linattn.recurrence' op expects segments to be offsets of rank 1, got 'tensor<3x1xi32>'}}
  %r:1 = linattn.recurrence [segment, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      segments(%cu : tensor<3x1xi32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @segments_without_offsets(%x: tensor<2x16x8xf32>, %cu: tensor<0xi32>) {
  // expected-error@below {{'linattn.recurrence' op expects at least one segment offset (number of sequences plus one), got 'tensor<0xi32>'}}
  %r:1 = linattn.recurrence [segment, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      segments(%cu : tensor<0xi32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @segments_of_floats(%x: tensor<2x16x8xf32>, %cu: tensor<3xf32>) {
  // expected-error@below {{'linattn.recurrence' op operand #1 must be ranked tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<3xf32>'}}
  %r:1 = linattn.recurrence [segment, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      segments(%cu : tensor<3xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @segment_extent_differs_from_offsets(%x: tensor<2x16x8xf32>, %cu: tensor<4xi32>) {
  // expected-error@below {{'linattn.recurrence' op input #0: expects dim 0 to have the extent 3 of iteration dim #0, got 'tensor<2x16x8xf32>'}}
  %r:1 = linattn.recurrence [segment, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      segments(%cu : tensor<4xi32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @two_position_offsets(%x: tensor<2x16x8xf32>, %p: tensor<2xi64>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      // expected-error@below {{custom op 'linattn.recurrence' expects one position offset, got 2}}
      position_offset(%p via affine_map<(b, t) -> (b)> : tensor<2xi64>, %p via affine_map<(b, t) -> (b)> : tensor<2xi64>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @position_offset_uses_time(%x: tensor<2x16x8xf32>, %p: tensor<16xi64>) {
  // expected-error@below {{'linattn.recurrence' op position offset: expects a map that does not use the time dim #1, got (d0, d1) -> (d1)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      position_offset(%p via affine_map<(b, t) -> (t)> : tensor<16xi64>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @position_offset_has_slice_dims(%x: tensor<2x16x8xf32>, %p: tensor<2x8xi64>) {
  // expected-error@below {{'linattn.recurrence' op position offset: expects one integer per state, got the slice dims of (d0, d1, d2) -> (d0, d2)}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      position_offset(%p via affine_map<(b, t, d) -> (b, d)> : tensor<2x8xi64>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @position_offset_of_floats(%x: tensor<2x16x8xf32>, %p: tensor<2xf32>) {
  // expected-error@below {{'linattn.recurrence' op position offset: expects an integer or index element type, got 'tensor<2xf32>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      position_offset(%p via affine_map<(b, t) -> (b)> : tensor<2xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @position_offset_out_of_bounds(%x: tensor<2x16x8xf32>, %p: tensor<2xi64>) {
  // expected-error@below {{'linattn.recurrence' op position offset: map result d0 * 2 reaches index 2, outside of dim 0 of 'tensor<2xi64>'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      position_offset(%p via affine_map<(b, t) -> (b * 2)> : tensor<2xi64>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @step_of_no_tokens(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects a step of at least 1 token, got 0}}
  %r:1 = linattn.recurrence [parallel, time] step(%live of 0)
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @negative_step(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects a step of at least 1 token, got -4}}
  %r:1 = linattn.recurrence [parallel, time] step(%live of -4)
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @checkpoints_every_0(%x: tensor<2x16x8xf32>, %s: tensor<2x8x8xf32>, %c: tensor<2x4x8x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects checkpoints every 1 or more tokens, got every 0}}
  %r:3 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>)
      checkpoints(%c via affine_map<(b, c, k, v) -> (b, c, k, v)> : tensor<2x4x8x8xf32>) every 0 {
    linattn.yield %xt, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return
}

// -----

func.func @fewer_checkpoints_than_states(%x: tensor<2x16x8xf32>, %s: tensor<2x8x8xf32>, %c: tensor<2x4x8x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects one checkpoint output per state (2), got 1}}
  %r:4 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>, %s via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<2x8x8xf32> as %Z : tensor<8x8xf32>)
      checkpoints(%c via affine_map<(b, c, k, v) -> (b, c, k, v)> : tensor<2x4x8x8xf32>) every 4 {
    linattn.yield %xt, %S, %Z : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return
}

// -----

func.func @interval_is_no_multiple_of_the_step(%x: tensor<2x16x8xf32>, %s: tensor<2x8x8xf32>, %c: tensor<2x4x8x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects the checkpoint interval to be a multiple of the step of 3 tokens, got 4}}
  %r:3 = linattn.recurrence [parallel, time] step(%live of 3)
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<3x8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>)
      checkpoints(%c via affine_map<(b, c, k, v) -> (b, c, k, v)> : tensor<2x4x8x8xf32>) every 4 {
    linattn.yield %xt, %S : tensor<3x8xf32>, tensor<8x8xf32>
  }
  return
}

// -----

func.func @checkpoints_without_interval(%x: tensor<2x16x8xf32>, %s: tensor<2x8x8xf32>, %c: tensor<2x4x8x8xf32>) {
  %r:3 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>)
      // expected-error@below {{custom op 'linattn.recurrence' expected 'every'}}
      checkpoints(%c via affine_map<(b, c, k, v) -> (b, c, k, v)> : tensor<2x4x8x8xf32>) {
    linattn.yield %xt, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return
}

// -----

func.func @checkpoint_out_of_bounds(%x: tensor<2x16x8xf32>, %s: tensor<2x8x8xf32>, %c: tensor<2x4x8x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op checkpoint #0: map result d1 reaches index 4, outside of dim 1 of 'tensor<2x4x8x8xf32>'}}
  %r:3 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>)
      checkpoints(%c via affine_map<(b, c, k, v) -> (b, c, k, v)> : tensor<2x4x8x8xf32>) every 3 {
    linattn.yield %xt, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return
}

// -----

func.func @checkpoints_share_elements(%x: tensor<2x16x8xf32>, %s: tensor<2x8x8xf32>, %c: tensor<2x8x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op checkpoint #0: expects an injective map, but (d0, d1, d2, d3) -> (d0, d2, d3) does not determine iteration dim #1: several steps would share an element}}
  %r:3 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>)
      checkpoints(%c via affine_map<(b, c, k, v) -> (b, k, v)> : tensor<2x8x8xf32>) every 4 {
    linattn.yield %xt, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return
}

// -----

func.func @checkpoint_of_other_element_type(%x: tensor<2x16x8xf32>, %s: tensor<2x8x8xf32>, %c: tensor<2x4x8x8xbf16>) {
  // expected-error@below {{'linattn.recurrence' op checkpoint #0: expects a slice of element type 'bf16', got 'tensor<8x8xf32>'}}
  %r:3 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>)
      checkpoints(%c via affine_map<(b, c, k, v) -> (b, c, k, v)> : tensor<2x4x8x8xbf16>) every 4 {
    linattn.yield %xt, %S : tensor<8xf32>, tensor<8x8xf32>
  }
  return
}
