// Rules of the attributes. A function is named after the rule that it breaks.
//
// RUN: la-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @strategy_missing() {
  // expected-error@below {{struct is missing required parameter: strategy}}
  "test.op"() {plan = #linattn.plan<chunk = 4>} : () -> ()
  return
}

// -----

func.func @unknown_strategy() {
  // expected-error@+2 {{expected one of [token, sweep, chunk] for how a recurrence is executed, got: fast}}
  // expected-error@below {{failed to parse LinAttn_PlanAttr parameter 'strategy' which is to be a `::mlir::linattn::Strategy`}}
  "test.op"() {plan = #linattn.plan<strategy = fast>} : () -> ()
  return
}

// -----

func.func @unknown_parameter() {
  // expected-error@below {{duplicate or unknown struct parameter name: speed}}
  "test.op"() {plan = #linattn.plan<strategy = token, speed = 3>} : () -> ()
  return
}

// -----

func.func @parameter_twice() {
  // expected-error@below {{duplicate or unknown struct parameter name: strategy}}
  "test.op"() {plan = #linattn.plan<strategy = token, strategy = token>} : () -> ()
  return
}

// -----

func.func @chunk_of_no_tokens() {
  // expected-error@below {{plan: expects a chunk of at least 1 token, got 0}}
  "test.op"() {plan = #linattn.plan<strategy = chunk, chunk = 0>} : () -> ()
  return
}

// -----

func.func @token_with_a_chunk() {
  // expected-error@below {{plan: strategy 'token' takes one token at a time, got a chunk of 8; use 'sweep' or 'chunk'}}
  "test.op"() {plan = #linattn.plan<strategy = token, chunk = 8>} : () -> ()
  return
}

// -----

func.func @subchunk_larger_than_chunk() {
  // expected-error@below {{plan: expects a subchunk between 1 and the chunk of 8 tokens, got 16}}
  "test.op"() {plan = #linattn.plan<strategy = chunk, chunk = 8, subchunk = 16>} : () -> ()
  return
}

// -----

func.func @subchunk_of_no_tokens() {
  // expected-error@below {{plan: expects a subchunk between 1 and the chunk of 8 tokens, got 0}}
  "test.op"() {plan = #linattn.plan<strategy = chunk, chunk = 8, subchunk = 0>} : () -> ()
  return
}

// -----

func.func @negative_value_tile() {
  // expected-error@below {{plan: expects value_tile to be 0 (all value columns) or a number of columns, got -1}}
  "test.op"() {plan = #linattn.plan<strategy = token, value_tile = -1>} : () -> ()
  return
}

// -----

func.func @split_into_nothing() {
  // expected-error@below {{plan: expects to split time into at least 1 part, got 0}}
  "test.op"() {plan = #linattn.plan<strategy = token, split = 0>} : () -> ()
  return
}

// -----

func.func @chunk_of_65_bits() {
  // expected-error@+2 {{integer value too large}}
  // expected-error@below {{failed to parse LinAttn_PlanAttr parameter 'chunk' which is to be a `int64_t`}}
  "test.op"() {plan = #linattn.plan<strategy = chunk, chunk = 36893488147419103232>} : () -> ()
  return
}

// -----

func.func @unknown_operand_precision() {
  // expected-error@+2 {{expected one of [f32, bf16, all_bf16] for how the operands of a matrix product are rounded, got: f8}}
  // expected-error@below {{failed to parse LinAttn_PlanAttr parameter 'operand_precision' which is to be a `::mlir::linattn::OperandPrecision`}}
  "test.op"() {plan = #linattn.plan<strategy = token, operand_precision = f8>} : () -> ()
  return
}

// -----

func.func @rounded_operands_token_by_token() {
  // expected-error@below {{plan: operand_precision 'bf16' rounds the operands of matrix products, which strategy 'token' has not; use 'f32', or strategy 'chunk'}}
  "test.op"() {plan = #linattn.plan<strategy = token, operand_precision = bf16>} : () -> ()
  return
}

// -----

func.func @rounded_operands_in_a_sweep() {
  // expected-error@below {{plan: operand_precision 'all_bf16' rounds the operands of matrix products, which strategy 'sweep' has not; use 'f32', or strategy 'chunk'}}
  "test.op"() {plan = #linattn.plan<strategy = sweep, chunk = 4, operand_precision = all_bf16>} : () -> ()
  return
}

// -----

func.func @unknown_source() {
  // expected-error@+2 {{expected one of [user, tuned, model, analytic, constant] for who chose a plan, got: guess}}
  // expected-error@below {{failed to parse LinAttn_PlanAttr parameter 'source' which is to be a `::mlir::linattn::PlanSource`}}
  "test.op"() {plan = #linattn.plan<strategy = token, source = guess>} : () -> ()
  return
}

// -----

func.func @iterator_of_unknown_kind() {
  // expected-error@+2 {{expected one of [parallel, time, segment] for what an iteration dim of a recurrence counts, got: reduction}}
  // expected-error@below {{failed to parse LinAttn_IteratorKindAttr parameter 'value' which is to be a `::mlir::linattn::IteratorKind`}}
  "test.op"() {i = #linattn.iterator<reduction>} : () -> ()
  return
}
