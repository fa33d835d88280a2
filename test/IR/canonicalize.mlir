// RUN: la-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(canonicalize{test-convergence}))' | FileCheck %s

// CHECK-LABEL: func.func @decay_by_zero(
// CHECK-SAME:    %[[S:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:  return %[[S]] : tensor<4x8xf32>
func.func @decay_by_zero(%S: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<4xbf16>
  %X = linattn.decay %S by %zero : tensor<4x8xf32>, f32
  %Y = linattn.decay %X by %zeros along [0] : tensor<4x8xf32>, tensor<4xbf16>
  return %Y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @linear_decay_by_one(
// CHECK-SAME:    %[[S:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:  return %[[S]] : tensor<4x8xf32>
func.func @linear_decay_by_one(%S: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = arith.constant 1.0 : f32
  %X = linattn.decay %S by linear %one : tensor<4x8xf32>, f32
  return %X : tensor<4x8xf32>
}

// exp(1) and a multiplier of 0 are not the identity.
// CHECK-LABEL: func.func @other_constant_decays(
// CHECK:         linattn.decay
// CHECK:         linattn.decay %{{.*}} by linear
func.func @other_constant_decays(%S: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %X = linattn.decay %S by %one : tensor<4x8xf32>, f32
  %Y = linattn.decay %X by linear %zero : tensor<4x8xf32>, f32
  return %Y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @write_of_zero(
// CHECK-SAME:    %[[S:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-NEXT:  return %[[S]] : tensor<4x8xf32>
func.func @write_of_zero(%S: tensor<4x8xf32>, %w: tensor<4xf32>, %c: tensor<8xf32>) -> tensor<4x8xf32> {
  %zeros4 = arith.constant dense<0.0> : tensor<4xf32>
  %zeros8 = arith.constant dense<0.0> : tensor<8xf32>
  %X = linattn.write %S at %w along 0 value %zeros8 : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>
  %Y = linattn.write %X at %zeros4 along 0 value %c : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>
  return %Y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @merged_decays(
// CHECK-SAME:    %[[S:[a-z0-9]+]]: tensor<4x8xf32>, %[[G0:[a-z0-9]+]]: f32, %[[G1:[a-z0-9]+]]: f32, %[[A0:[a-z0-9]+]]: tensor<4xf32>, %[[A1:[a-z0-9]+]]: tensor<4xf32>)
// CHECK-NEXT:  %[[G:.*]] = arith.addf %[[G0]], %[[G1]] : f32
// CHECK-NEXT:  %[[X:.*]] = linattn.decay %[[S]] by %[[G]] : tensor<4x8xf32>, f32
// CHECK-NEXT:  %[[A:.*]] = arith.mulf %[[A0]], %[[A1]] : tensor<4xf32>
// CHECK-NEXT:  %[[Y:.*]] = linattn.decay %[[X]] by linear %[[A]] along [0] : tensor<4x8xf32>, tensor<4xf32>
// CHECK-NEXT:  return %[[Y]]
func.func @merged_decays(%S: tensor<4x8xf32>, %g0: f32, %g1: f32, %a0: tensor<4xf32>, %a1: tensor<4xf32>)
    -> tensor<4x8xf32> {
  %0 = linattn.decay %S by %g0 : tensor<4x8xf32>, f32
  %1 = linattn.decay %0 by %g1 : tensor<4x8xf32>, f32
  %2 = linattn.decay %1 by linear %a0 along [0] : tensor<4x8xf32>, tensor<4xf32>
  %3 = linattn.decay %2 by linear %a1 along [0] : tensor<4x8xf32>, tensor<4xf32>
  return %3 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @decays_with_another_use_stay(
// CHECK-COUNT-2: linattn.decay
func.func @decays_with_another_use_stay(%S: tensor<4x8xf32>, %g0: f32, %g1: f32) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = linattn.decay %S by %g0 : tensor<4x8xf32>, f32
  %1 = linattn.decay %0 by %g1 : tensor<4x8xf32>, f32
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A sum in bf16 would round more than two decays in f32.
// CHECK-LABEL: func.func @narrow_decays_stay(
// CHECK-NOT:     arith.addf
// CHECK-COUNT-2: linattn.decay
func.func @narrow_decays_stay(%S: tensor<4x8xf32>, %g0: bf16, %g1: bf16) -> tensor<4x8xf32> {
  %0 = linattn.decay %S by %g0 : tensor<4x8xf32>, bf16
  %1 = linattn.decay %0 by %g1 : tensor<4x8xf32>, bf16
  return %1 : tensor<4x8xf32>
}

// -----

#tok = affine_map<(b, t, d) -> (b, t, d)>
#st = affine_map<(b, t, d) -> (b, d)>

// CHECK-LABEL: func.func @unused_input(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x?x8xf32>, %[[Y:[a-z0-9]+]]: tensor<2x?x8xf32>)
// CHECK:         ins(%[[X]] via #{{.*}} : tensor<2x?x8xf32> as %[[XT:.*]] : tensor<8xf32>)
// CHECK-NEXT:    outs
// CHECK-NEXT:    linattn.yield %[[XT]] : tensor<8xf32>
func.func @unused_input(%x: tensor<2x?x8xf32>, %y: tensor<2x?x8xf32>) -> tensor<2x?x8xf32> {
  %o = linattn.recurrence [parallel, time]
      ins(%y via #tok : tensor<2x?x8xf32> as %yt : tensor<8xf32>, %x via #tok : tensor<2x?x8xf32> as %xt : tensor<8xf32>)
      outs(%x via #tok : tensor<2x?x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return %o : tensor<2x?x8xf32>
}

// Of the unused inputs one gives the extent of time; the first that can go does.
// CHECK-LABEL: func.func @input_that_gives_an_extent(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x8xf32>, %[[B:[a-z0-9]+]]: tensor<?xf32>, %[[C:[a-z0-9]+]]: tensor<2x?xf32>)
// CHECK:         ins(%[[C]] via
// CHECK-NEXT:    states(%[[A]] via
// CHECK-NOT:     %[[B]]
func.func @input_that_gives_an_extent(%a: tensor<2x8xf32>, %b: tensor<?xf32>, %c: tensor<2x?xf32>) -> tensor<2x8xf32> {
  %s = linattn.recurrence [parallel, time]
      ins(%a via #st : tensor<2x8xf32> as %at : tensor<8xf32>,
          %b via affine_map<(b, t) -> (t)> : tensor<?xf32> as %bt : f32,
          %c via affine_map<(b, t) -> (b, t)> : tensor<2x?xf32> as %ct : f32)
      states(%a via #st : tensor<2x8xf32> as %S : tensor<8xf32>) {
    %S1 = arith.addf %S, %S : tensor<8xf32>
    linattn.yield %S1 : tensor<8xf32>
  }
  return %s : tensor<2x8xf32>
}

// The 16 heads are known from %y alone, and the out's map is injective only because of them.
// CHECK-LABEL: func.func @input_that_gives_a_static_extent(
// CHECK:         ins(%{{.*}} : tensor<?x?xf32> as %{{.*}} : f32,
// CHECK-NEXT:        %{{.*}} : tensor<16xf32> as %{{.*}} : f32)
func.func @input_that_gives_a_static_extent(%x: tensor<?x?xf32>, %y: tensor<16xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linattn.recurrence [time, parallel]
      ins(%x via affine_map<(t, h) -> (t, h)> : tensor<?x?xf32> as %xt : f32,
          %y via affine_map<(t, h) -> (h)> : tensor<16xf32> as %yt : f32)
      outs(%o via affine_map<(t, h) -> (t * 16 + h)> : tensor<?xf32>) {
    linattn.yield %xt : f32
  }
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @unused_out(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x?x8xf32>, %[[Y:[a-z0-9]+]]: tensor<2x?x8xf32>)
// CHECK:         %[[R:.*]] = linattn.recurrence
// CHECK:         outs(%[[Y]] via #{{[a-z0-9]+}} : tensor<2x?x8xf32>) {
// CHECK:         linattn.yield %{{[a-z0-9]+}} : tensor<8xf32>
// CHECK:         return %[[R]]
func.func @unused_out(%x: tensor<2x?x8xf32>, %y: tensor<2x?x8xf32>) -> tensor<2x?x8xf32> {
  %o:2 = linattn.recurrence [parallel, time]
      ins(%x via #tok : tensor<2x?x8xf32> as %xt : tensor<8xf32>)
      outs(%x via #tok : tensor<2x?x8xf32>, %y via #tok : tensor<2x?x8xf32>) {
    %yt = arith.addf %xt, %xt : tensor<8xf32>
    linattn.yield %xt, %yt : tensor<8xf32>, tensor<8xf32>
  }
  return %o#1 : tensor<2x?x8xf32>
}

// -----

#tok = affine_map<(b, t, d) -> (b, t, d)>
#st = affine_map<(b, t, d) -> (b, d)>

// The state goes with the ops that it feeds; the attributes stay.
// CHECK-LABEL: func.func @dead_state(
// CHECK:         linattn.recurrence [parallel, time] reverse
// CHECK-NOT:     states
// CHECK:         attributes {layer = 1 : i64, plan = #linattn.plan<strategy = token>} {
// CHECK-NEXT:    linattn.yield %{{.*}} : tensor<8xf32>
func.func @dead_state(%x: tensor<2x?x8xf32>, %g: f32, %s: tensor<2x8xf32>) -> tensor<2x?x8xf32> {
  %o:2 = linattn.recurrence [parallel, time] reverse
      ins(%x via #tok : tensor<2x?x8xf32> as %xt : tensor<8xf32>, %g via affine_map<(b, t) -> ()> : f32 as %gt : f32)
      outs(%x via #tok : tensor<2x?x8xf32>)
      states(%s via #st : tensor<2x8xf32> as %S : tensor<8xf32>)
      attributes {layer = 1, plan = #linattn.plan<strategy = token>} {
    %true = arith.constant true
    %X = linattn.decay %S by %gt : tensor<8xf32>, f32
    %Y = scf.if %true -> tensor<8xf32> {
      %Z = arith.addf %X, %xt : tensor<8xf32>
      scf.yield %Z : tensor<8xf32>
    } else {
      scf.yield %X : tensor<8xf32>
    }
    linattn.yield %xt, %Y : tensor<8xf32>, tensor<8xf32>
  }
  return %o#0 : tensor<2x?x8xf32>
}

// Checkpoints of a dead state go with it, those of the other one stay.
// CHECK-LABEL: func.func @dead_state_with_checkpoints(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<2x16x8xf32>, %[[S:[a-z0-9]+]]: tensor<2x8xf32>, %[[C0:[a-z0-9]+]]: tensor<2x4x8xf32>, %[[C1:[a-z0-9]+]]: tensor<2x4x8xf32>)
// CHECK:         %[[R:.*]]:2 = linattn.recurrence
// CHECK:         states(%[[S]] via #{{[a-z0-9]+}} : tensor<2x8xf32> as %{{.*}} : tensor<8xf32>)
// CHECK-NEXT:    checkpoints(%[[C1]] via #{{[a-z0-9]+}} : tensor<2x4x8xf32>) every 4
// CHECK:         return %[[R]]#1
func.func @dead_state_with_checkpoints(%x: tensor<2x16x8xf32>, %s: tensor<2x8xf32>, %c0: tensor<2x4x8xf32>, %c1: tensor<2x4x8xf32>)
    -> tensor<2x4x8xf32> {
  %r:4 = linattn.recurrence [parallel, time]
      ins(%x via #tok : tensor<2x16x8xf32> as %xt : tensor<8xf32>)
      states(%s via #st : tensor<2x8xf32> as %S : tensor<8xf32>, %s via #st : tensor<2x8xf32> as %Z : tensor<8xf32>)
      checkpoints(%c0 via #tok : tensor<2x4x8xf32>, %c1 via #tok : tensor<2x4x8xf32>) every 4 {
    %S1 = arith.mulf %S, %xt : tensor<8xf32>
    %Z1 = arith.addf %Z, %xt : tensor<8xf32>
    linattn.yield %S1, %Z1 : tensor<8xf32>, tensor<8xf32>
  }
  return %r#3 : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @states_that_feed_others_stay(
// CHECK:         states(%{{.*}} : tensor<2x8xf32> as %{{.*}} : tensor<8xf32>,
// CHECK-NEXT:           %{{.*}} : tensor<2x8xf32> as %{{.*}} : tensor<8xf32>)
func.func @states_that_feed_others_stay(%x: tensor<2x?x8xf32>, %s: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %r:2 = linattn.recurrence [parallel, time]
      ins(%x via #tok : tensor<2x?x8xf32> as %xt : tensor<8xf32>)
      states(%s via #st : tensor<2x8xf32> as %S : tensor<8xf32>, %s via #st : tensor<2x8xf32> as %Z : tensor<8xf32>) {
    %S1 = arith.addf %S, %xt : tensor<8xf32>
    linattn.yield %S1, %S : tensor<8xf32>, tensor<8xf32>
  }
  return %r#1 : tensor<2x8xf32>
}

// -----

#tok = affine_map<(t, d) -> (t, d)>

// CHECK-LABEL: func.func @constants_in_the_body(
// CHECK:         ins(%{{.*}} via #{{.*}} : tensor<16x8xf32> as %[[XT:.*]] : tensor<8xf32>)
// CHECK-NEXT:    outs
// CHECK-DAG:     %[[ROW:.*]] = arith.constant dense<3.000000e+00> : tensor<8xf32>
// CHECK-DAG:     %[[G:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:         %[[A:.*]] = arith.addf %[[XT]], %[[ROW]] : tensor<8xf32>
// CHECK:         linattn.decay %[[A]] by %[[G]] : tensor<8xf32>, f32
func.func @constants_in_the_body(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %g = arith.constant 2.0 : f32
  %c = arith.constant dense<3.0> : tensor<16x8xf32>
  %o = linattn.recurrence [time]
      ins(%x via #tok : tensor<16x8xf32> as %xt : tensor<8xf32>, %c via #tok : tensor<16x8xf32> as %ct : tensor<8xf32>,
          %g via affine_map<(t) -> ()> : f32 as %gt : f32)
      outs(%x via #tok : tensor<16x8xf32>) {
    %a = arith.addf %xt, %ct : tensor<8xf32>
    %b = linattn.decay %a by %gt : tensor<8xf32>, f32
    linattn.yield %b : tensor<8xf32>
  }
  return %o : tensor<16x8xf32>
}

// Dead rows of a step read as 0: only a constant that does not vary with time may move. Other constants are no fill.
// CHECK-LABEL: func.func @constants_that_stay(
// CHECK:         ins(%{{.*}} : tensor<16x2xf32> as %[[CT:[a-z0-9]+]] : tensor<4x2xf32>,
// CHECK-NEXT:        %{{.*}} : tensor<2xf32> as %[[FT:[a-z0-9]+]] : tensor<2xf32>)
// CHECK:         %[[D:.*]] = arith.constant dense<5.000000e+00> : tensor<2xf32>
// CHECK-NEXT:    arith.addf %[[FT]], %[[D]] : tensor<2xf32>
func.func @constants_that_stay(%s: tensor<2xf32>, %o: tensor<16x2xf32>) -> (tensor<16x2xf32>, tensor<2xf32>) {
  %c = arith.constant dense<3.0> : tensor<16x2xf32>
  %d = arith.constant dense<5.0> : tensor<2xf32>
  %f = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r:2 = linattn.recurrence [time] step(%live of 4)
      ins(%c via #tok : tensor<16x2xf32> as %ct : tensor<4x2xf32>,
          %d via affine_map<(t, d) -> (d)> : tensor<2xf32> as %dt : tensor<2xf32>,
          %f via affine_map<(t, d) -> (d)> : tensor<2xf32> as %ft : tensor<2xf32>)
      outs(%o via #tok : tensor<16x2xf32>)
      states(%s via affine_map<(t, d) -> (d)> : tensor<2xf32> as %S : tensor<2xf32>) {
    %a = arith.addf %ft, %dt : tensor<2xf32>
    %b = arith.addf %a, %S : tensor<2xf32>
    linattn.yield %ct, %b : tensor<4x2xf32>, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<16x2xf32>, tensor<2xf32>
}

// -----

#tok = affine_map<(b, t, d) -> (b, t, d)>

// A recurrence whose results are unused goes as a whole.
// CHECK-LABEL: func.func @unused_results(
// CHECK-NEXT:    return
func.func @unused_results(%x: tensor<2x?x8xf32>) {
  %o = linattn.recurrence [parallel, time]
      ins(%x via #tok : tensor<2x?x8xf32> as %xt : tensor<8xf32>)
      outs(%x via #tok : tensor<2x?x8xf32>) {
    linattn.yield %xt : tensor<8xf32>
  }
  return
}

// Entries that are all the same number are that number.
// CHECK-LABEL: func.func @uniform_decays(
// CHECK-SAME:      %[[S:[^:]*]]: tensor<4x8xf32>, %[[G:[^:]*]]: f32
// CHECK:         %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK:         %[[X:.*]] = linattn.decay %[[S]] by %[[G]] : tensor<4x8xf32>, f32
// CHECK:         %[[Y:.*]] = linattn.decay %[[X]] by linear %[[HALF]] : tensor<4x8xf32>, f32
// CHECK:         linattn.decay %[[Y]] by %[[G]] : tensor<4x8xf32>, f32
func.func @uniform_decays(%S: tensor<4x8xf32>, %g: f32) -> tensor<4x8xf32> {
  %splat = tensor.splat %g : tensor<4xf32>
  %0 = linattn.decay %S by %splat along [0] : tensor<4x8xf32>, tensor<4xf32>
  %half = arith.constant dense<0.5> : tensor<8xf32>
  %1 = linattn.decay %0 by linear %half along [1] : tensor<4x8xf32>, tensor<8xf32>
  %empty = tensor.empty() : tensor<4x8xf32>
  %all = linalg.fill ins(%g : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = linattn.decay %1 by %all along [0, 1] : tensor<4x8xf32>, tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
