// Rules of the body, and of the syntax. A function is named after the rule that it breaks.
//
// RUN: la-opt %s --split-input-file --verify-diagnostics

func.func @empty_body(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{custom op 'linattn.recurrence' expects a body that ends in linattn.yield, got an empty region}}
  linattn.recurrence [parallel, time] {
  }
  return
}

// -----

func.func @empty_body_with_arguments(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects a non-empty block}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
  }
  return
}

// -----

func.func @no_yield(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    // expected-error@below {{block with no terminator, has %1 = "arith.constant"() <{value = 0 : index}> : () -> index}}
    %c = arith.constant 0 : index
  }
  return
}

// -----

func.func @other_terminator(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    // expected-error@below {{'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
    scf.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @other_terminator_without_parent_rule(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects a body that ends in linattn.yield, got 'llvm.unreachable'}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    llvm.unreachable
  }
  return
}

// -----

func.func @several_blocks(%x: tensor<2x16x8xf32>) {
  // expected-error@below {{'linattn.recurrence' op expects region #0 to have 0 or 1 blocks}}
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    cf.br ^bb1
    ^bb1:
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @too_few_yielded_values(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    // expected-error@below {{'linattn.yield' op expects one value per out and state (1), got 0}}
    linattn.yield
  }
  return
}

// -----

func.func @too_many_yielded_values(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    // expected-error@below {{'linattn.yield' op expects one value per out and state (1), got 2}}
    linattn.yield %xt, %xt : tensor<8xf32>, tensor<8xf32>
  }
  return
}

// -----

func.func @new_state_of_other_type(%x: tensor<2x16x8xf32>, %s: tensor<2x8x8xf32>) {
  %r:2 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      states(%s via affine_map<(b, t, k, v) -> (b, k, v)> : tensor<2x8x8xf32> as %S : tensor<8x8xf32>) {
    // expected-error@below {{'linattn.yield' op state #0: expects the new state to have the type 'tensor<8x8xf32>' of the old one, got 'tensor<8xf32>'}}
    linattn.yield %xt, %xt : tensor<8xf32>, tensor<8xf32>
  }
  return
}

// -----

func.func @uses_value_from_above(%x: tensor<2x16x8xf32>, %above: tensor<8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    // expected-error@below {{use of undeclared SSA value name}}
    linattn.yield %above : tensor<8xf32>
  }
  return
}

// -----

func.func @side_effect(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    // expected-error@below {{'memref.alloc' op is not allowed in the body of a recurrence: expects ops without side effects on memory}}
    %m = memref.alloc() : memref<8xf32>
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @side_effect_in_a_nested_region(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    %true = arith.constant true
    scf.if %true {
      // expected-error@below {{'vector.print' op is not allowed in the body of a recurrence: expects ops without side effects on memory}}
      vector.print str "x"
    }
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func private @callee(tensor<8xf32>) -> tensor<8xf32>
func.func @call_of_unknown_effects(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    // expected-error@below {{'func.call' op is not allowed in the body of a recurrence: expects ops without side effects on memory}}
    %y = func.call @callee(%xt) : (tensor<8xf32>) -> tensor<8xf32>
    linattn.yield %y : tensor<8xf32>
  }
  return
}

// -----

func.func @yield_outside(%x: f32) {
  // expected-error@below {{'linattn.yield' op expects parent op 'linattn.recurrence'}}
  linattn.yield %x : f32
  return
}

// -----

func.func @yield_below_another_op(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    %true = arith.constant true
    scf.if %true {
      // expected-error@below {{'linattn.yield' op expects parent op 'linattn.recurrence'}}
      linattn.yield %xt : tensor<8xf32>
    }
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @index_outside() {
  // expected-error@below {{'linattn.index' op expects to be in the body of a linattn.recurrence}}
  %i = linattn.index 0
  return
}

// -----

func.func @index_of_no_dim(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    // expected-error@below {{'linattn.index' op expects an iteration dim below 2, got 2}}
    %i = linattn.index 2
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @index_is_negative(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    // expected-error@below {{'linattn.index' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
    %i = linattn.index -1
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @argument_named_like_another(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      // expected-error@+2 {{region entry argument '%xt' is already in use}}
      // expected-note@below {{previously referenced here}}
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>, %x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @input_without_argument(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      // expected-error@below {{custom op 'linattn.recurrence' expected 'as'}}
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @input_without_map(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      // expected-error@below {{custom op 'linattn.recurrence' expected 'via'}}
      ins(%x : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @map_of_other_attribute(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      // expected-error@below {{integer literal not valid for specified type}}
      ins(%x via 3 : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @clauses_in_other_order(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      // expected-error@below {{expected '{' to begin a region}}
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @attribute_that_is_a_clause(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      // expected-error@below {{custom op 'linattn.recurrence' attribute 'reverse' has a clause of its own and cannot be given here}}
      attributes {reverse} {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// -----

func.func @plan_of_other_attribute(%x: tensor<2x16x8xf32>) {
  %r:1 = linattn.recurrence [parallel, time]
      ins(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      outs(%x via affine_map<(b, t, d) -> (b, t, d)> : tensor<2x16x8xf32>)
      // expected-error@below {{custom op 'linattn.recurrence' expects plan to be a #linattn.plan attribute, got 3 : i64}}
      attributes {plan = 3} {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}
