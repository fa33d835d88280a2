// RUN: la-opt %s --linattn-print-state-graph 2>&1 >/dev/null | FileCheck %s

#vec = affine_map<(t, d) -> (t, d)>
#state = affine_map<(t, d) -> (d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// In the order in which they depend on each other: B and D in a circle, then C, then A.
// CHECK:      recurrence at
// CHECK-NEXT: state #1: sequential, states #1 and #3 depend on each other (linattn.write)
// CHECK-NEXT: state #3: sequential, states #1 and #3 depend on each other (linattn.decay)
// CHECK-NEXT: state #2: low-rank along axis 0, 1 writes (1 depend on reads), 1 reads
// CHECK-NEXT: state #0: sequential, its new value does not come from the old one by decays and writes (math.tanh)
// CHECK-NEXT: state #4: low-rank along axis 1, 1 writes (0 depend on reads), 0 reads
func.func @order(%k: tensor<?x4xf32>, %a: tensor<4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>, %d: tensor<4xf32>, %e: tensor<4x4xf32>) {
  %r:5 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>)
      states(%a via #state : tensor<4xf32> as %A : tensor<4xf32>, %b via #mat : tensor<4x4xf32> as %B : tensor<4x4xf32>,
             %c via #mat : tensor<4x4xf32> as %C : tensor<4x4xf32>, %d via #state : tensor<4xf32> as %D : tensor<4xf32>,
             %e via #mat : tensor<4x4xf32> as %E : tensor<4x4xf32>) {
    %rb = linattn.read %B at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %rc = linattn.read %C at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %rd = linattn.read %D at %kt along 0 : tensor<4xf32>, tensor<4xf32>
    %scaled = tensor.splat %rd : tensor<4xf32>
    %A1 = math.tanh %rc : tensor<4xf32>
    %B1 = linattn.write %B at %kt along 0 value %scaled : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %error = arith.subf %rb, %rc : tensor<4xf32>
    %C1 = linattn.write %C at %kt along 0 value %error : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %D1 = linattn.decay %D by %rb along [0] : tensor<4xf32>, tensor<4xf32>
    %E1 = linattn.write %E at %kt along 1 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    linattn.yield %A1, %B1, %C1, %D1, %E1 : tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>
  }
  return
}

// Several rows at once are as many steps.
// CHECK-NEXT: recurrence at
// CHECK-NEXT: state #0: low-rank along axis 0, 2 writes (2 depend on reads), 5 reads
func.func @rows(%w: tensor<?x2x4xf32>, %q: tensor<?x3x4xf32>, %s: tensor<4x4xf32>, %o: tensor<?x3x4xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%w via affine_map<(t, r, d) -> (t, r, d)> : tensor<?x2x4xf32> as %W : tensor<2x4xf32>,
          %q via affine_map<(t, r, d) -> (t, r, d)> : tensor<?x3x4xf32> as %Q : tensor<3x4xf32>)
      outs(%o via affine_map<(t, r, d) -> (t, r, d)> : tensor<?x3x4xf32>)
      states(%s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %rows = linattn.read %S at %W along 0 : tensor<4x4xf32>, tensor<2x4xf32>
    %n = arith.negf %rows : tensor<2x4xf32>
    %X = linattn.write %S at %W along 0 value %n : tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
    %y = linattn.read %X at %Q along 0 : tensor<4x4xf32>, tensor<3x4xf32>
    linattn.yield %y, %X : tensor<3x4xf32>, tensor<4x4xf32>
  }
  return
}

// Reads that feed writes contract axis 1, the output contracts the other.
// CHECK-NEXT: recurrence at
// CHECK-NEXT: state #0: low-rank along axis 1, 1 writes (1 depend on reads), 2 reads (1 along the other axis)
func.func @value_side(%k: tensor<?x4xf32>, %s: tensor<4x4xf32>, %o: tensor<?x4xf32>) {
  %r:2 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>)
      outs(%o via #vec : tensor<?x4xf32>)
      states(%s via #mat : tensor<4x4xf32> as %S : tensor<4x4xf32>) {
    %q = linattn.read %S at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %e = linattn.read %S at %kt along 1 : tensor<4x4xf32>, tensor<4xf32>
    %n = arith.negf %e : tensor<4xf32>
    %X = linattn.write %S at %n along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    linattn.yield %q, %X : tensor<4xf32>, tensor<4x4xf32>
  }
  return
}
