// Tasks for the threads: value columns first, then parts of time.

// RUN: la-opt %s --linattn-split-tasks="tasks=4 columns=16" | FileCheck %s --check-prefixes=CHECK,FOUR
// RUN: la-opt %s --linattn-split-tasks="tasks=32 columns=16 chunk=8" | FileCheck %s --check-prefixes=CHECK,MANY
// RUN: la-opt %s --linattn-split-tasks="tasks=2" | FileCheck %s --check-prefix=ENOUGH
// RUN: not la-opt %s --linattn-split-tasks="tasks=0" 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not la-opt %s --linattn-split-tasks="columns=0" 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: not la-opt %s --linattn-split-tasks="chunk=0" 2>&1 | FileCheck %s --check-prefix=CHUNK

// ERROR: error: tasks must be positive, got 0
// COLUMNS: error: columns must be positive, got 0
// CHUNK: error: chunk must be positive, got 0

#token = affine_map<(t, h, d) -> (t, h, d)>
#state = affine_map<(t, h, k, v) -> (h, k, v)>

// Two heads of 64 columns are 4 tasks with tiles of 32. Many tasks: tiles of 16 make 8, times 4 parts of time.
// CHECK-LABEL: func.func @additive(
// FOUR:          linattn.recurrence [time, parallel, parallel]
// FOUR:            states({{.*}} as %{{.+}} : tensor<16x32xf32>)
// FOUR-NOT:      linattn.recurrence
// MANY:          tensor<5xi64>
// MANY:          linattn.recurrence [time, parallel, parallel, segment]
// MANY:            states({{.*}} as %{{.+}} : tensor<16x16xf32>
// MANY:          linattn.recurrence [time, parallel, parallel]
// MANY:          linattn.recurrence [time, parallel, parallel, segment]
// ENOUGH-LABEL: func.func @additive(
// ENOUGH:        linattn.recurrence [time, parallel]
func.func @additive(%k: tensor<?x2x16xf32>, %v: tensor<?x2x64xf32>, %o: tensor<?x2x64xf32>, %s: tensor<2x16x64xf32>)
    -> (tensor<?x2x64xf32>, tensor<2x16x64xf32>) {
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via #token : tensor<?x2x16xf32> as %kt : tensor<16xf32>, %v via #token : tensor<?x2x64xf32> as %vt : tensor<64xf32>)
      outs(%o via #token : tensor<?x2x64xf32>)
      states(%s via #state : tensor<2x16x64xf32> as %S : tensor<16x64xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<16x64xf32>, tensor<16xf32>, tensor<64xf32>
    %y = linattn.read %S1 at %kt along 0 : tensor<16x64xf32>, tensor<16xf32>
    linattn.yield %y, %S1 : tensor<64xf32>, tensor<16x64xf32>
  }
  return %r#0, %r#1 : tensor<?x2x64xf32>, tensor<2x16x64xf32>
}

// A delta rule has no parts of time: as many tasks as it has columns for.
// CHECK-LABEL: func.func @delta(
// FOUR:          linattn.recurrence [time, parallel, parallel]
// FOUR:            states({{.*}} as %{{.+}} : tensor<16x32xf32>)
// MANY:          linattn.recurrence [time, parallel, parallel]
// MANY:            states({{.*}} as %{{.+}} : tensor<16x16xf32>)
// MANY-NOT:      segment
func.func @delta(%k: tensor<?x2x16xf32>, %v: tensor<?x2x64xf32>, %o: tensor<?x2x64xf32>, %s: tensor<2x16x64xf32>)
    -> (tensor<?x2x64xf32>, tensor<2x16x64xf32>) {
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via #token : tensor<?x2x16xf32> as %kt : tensor<16xf32>, %v via #token : tensor<?x2x64xf32> as %vt : tensor<64xf32>)
      outs(%o via #token : tensor<?x2x64xf32>)
      states(%s via #state : tensor<2x16x64xf32> as %S : tensor<16x64xf32>) {
    %old = linattn.read %S at %kt along 0 : tensor<16x64xf32>, tensor<16xf32>
    %new = arith.subf %vt, %old : tensor<64xf32>
    %S1 = linattn.write %S at %kt along 0 value %new : tensor<16x64xf32>, tensor<16xf32>, tensor<64xf32>
    %y = linattn.read %S1 at %kt along 0 : tensor<16x64xf32>, tensor<16xf32>
    linattn.yield %y, %S1 : tensor<64xf32>, tensor<16x64xf32>
  }
  return %r#0, %r#1 : tensor<?x2x64xf32>, tensor<2x16x64xf32>
}

// No columns: parts of time alone.
// CHECK-LABEL: func.func @no_columns(
// FOUR:          tensor<5xi64>
// FOUR-COUNT-3:  linattn.recurrence
func.func @no_columns(%k: tensor<?x16xf32>, %o: tensor<?xf32>, %z: tensor<16xf32>) -> (tensor<?xf32>, tensor<16xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, k) -> (t, k)> : tensor<?x16xf32> as %kt : tensor<16xf32>)
      outs(%o via affine_map<(t) -> (t)> : tensor<?xf32>)
      states(%z via affine_map<(t, k) -> (k)> : tensor<16xf32> as %Z : tensor<16xf32>) {
    %c = arith.constant 1.0 : f32
    %Z1 = linattn.write %Z at %kt along 0 value %c : tensor<16xf32>, tensor<16xf32>, f32
    %y = linattn.read %Z1 at %kt along 0 : tensor<16xf32>, tensor<16xf32>
    linattn.yield %y, %Z1 : f32, tensor<16xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<16xf32>
}

// What a plan says stays; heads that nobody has counted may be one.
// CHECK-LABEL: func.func @planned(
// CHECK:         linattn.recurrence [time, parallel]
// CHECK-NOT:     linattn.recurrence
// CHECK-LABEL: func.func @dynamic_heads(
// CHECK:         tensor<{{5|33}}xi64>
// CHECK:         linattn.recurrence [time, parallel, segment]
func.func @planned(%k: tensor<?x2x16xf32>, %o: tensor<?x2x16xf32>, %s: tensor<2x16x16xf32>) -> (tensor<?x2x16xf32>, tensor<2x16x16xf32>) {
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via #token : tensor<?x2x16xf32> as %kt : tensor<16xf32>) outs(%o via #token : tensor<?x2x16xf32>)
      states(%s via #state : tensor<2x16x16xf32> as %S : tensor<16x16xf32>) attributes {plan = #linattn.plan<strategy = token>} {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    linattn.yield %kt, %S1 : tensor<16xf32>, tensor<16x16xf32>
  }
  return %r#0, %r#1 : tensor<?x2x16xf32>, tensor<2x16x16xf32>
}

func.func @dynamic_heads(%k: tensor<?x?x16xf32>, %o: tensor<?x?x16xf32>, %s: tensor<?x16x16xf32>) -> (tensor<?x?x16xf32>, tensor<?x16x16xf32>) {
  %r:2 = linattn.recurrence [time, parallel]
      ins(%k via #token : tensor<?x?x16xf32> as %kt : tensor<16xf32>) outs(%o via #token : tensor<?x?x16xf32>)
      states(%s via #state : tensor<?x16x16xf32> as %S : tensor<16x16xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %kt : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    linattn.yield %kt, %S1 : tensor<16xf32>, tensor<16x16xf32>
  }
  return %r#0, %r#1 : tensor<?x?x16xf32>, tensor<?x16x16xf32>
}
