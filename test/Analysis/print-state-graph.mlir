// RUN: la-opt %s --linattn-print-state-graph 2>&1 >/dev/null | FileCheck %s

#vec = affine_map<(t, d) -> (t, d)>
#state = affine_map<(t, d) -> (d)>
#mat = affine_map<(t, k, v) -> (k, v)>

// In the order in which they depend on each other: B and D in a circle, then C, then A.
// CHECK:      recurrence at
// CHECK-NEXT: state #1: sequential, states #1 and #3 depend on each other (linattn.write)
// CHECK-NEXT: state #3: sequential, states #1 and #3 depend on each other (linattn.decay)
// CHECK-NEXT: state #2: low-rank along axis 0, 1 writes (1 depend on reads), 1 reads
// CHECK-NEXT: state #0: shift (the token before)
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

// What is composed, beside the reason why it is not low-rank.
// CHECK:      recurrence at
// CHECK-NEXT: state #0: scan (affine), the decay has a multiplier for every entry of the state (linattn.decay)
// CHECK-NEXT: state #1: scan (matrix), its new value does not come from the old one by decays and writes (linalg.matvec)
// CHECK-NEXT: state #2: scan (max-plus), it is a scalar, which only scans work on (linattn.recurrence)
// CHECK-NEXT: state #3: scan (log-add-exp), it is a scalar, which only scans work on (linattn.recurrence)
// CHECK-NEXT: state #4: shift (the last tokens)
// CHECK-NEXT: state #5: sequential, it is a scalar, which only scans work on (linattn.recurrence)
func.func @scans(%k: tensor<?x4xf32>, %g: tensor<?xf32>, %a: tensor<4x4xf32>, %b: tensor<4xf32>, %c: tensor<f32>, %w: tensor<3x4xf32>, %m: tensor<4x4xf32>) {
  %r:6 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>, %g via affine_map<(t) -> (t)> : tensor<?xf32> as %gt : f32,
          %m via #mat : tensor<4x4xf32> as %M : tensor<4x4xf32>)
      states(%a via #mat : tensor<4x4xf32> as %A : tensor<4x4xf32>, %b via #state : tensor<4xf32> as %B : tensor<4xf32>,
             %c via affine_map<(t) -> ()> : tensor<f32> as %C : f32, %c via affine_map<(t) -> ()> : tensor<f32> as %D : f32,
             %w via affine_map<(t, w, d) -> (w, d)> : tensor<3x4xf32> as %W : tensor<3x4xf32>,
             %c via affine_map<(t) -> ()> : tensor<f32> as %E : f32) {
    %X = linattn.decay %A by %M along [0, 1] : tensor<4x4xf32>, tensor<4x4xf32>
    %A1 = linattn.write %X at %kt along 0 value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %B1 = linalg.matvec ins(%M, %B : tensor<4x4xf32>, tensor<4xf32>) outs(%kt : tensor<4xf32>) -> tensor<4xf32>
    %moved = arith.addf %C, %gt : f32
    %C1 = arith.maximumf %moved, %gt : f32
    %sum = arith.addf %D, %gt : f32
    %max = arith.maximumf %sum, %gt : f32
    %difference = arith.subf %sum, %gt : f32
    %distance = math.absf %difference : f32
    %negative = arith.negf %distance : f32
    %ratio = math.exp %negative : f32
    %rest = math.log1p %ratio : f32
    %D1 = arith.addf %max, %rest : f32
    %old = tensor.extract_slice %W[1, 0] [2, 4] [1, 1] : tensor<3x4xf32> to tensor<2x4xf32>
    %row = tensor.expand_shape %kt [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
    %W1 = tensor.concat dim(0) %old, %row : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
    %E1 = arith.mulf %E, %E : f32
    linattn.yield %A1, %B1, %C1, %D1, %W1, %E1 : tensor<4x4xf32>, tensor<4xf32>, f32, f32, tensor<3x4xf32>, f32
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

// Levels: A moves into B where a token says so, and both are decayed and erased alike.
// CHECK-NEXT: recurrence at
// CHECK-NEXT: state #0: low-rank along axis 0, 1 writes (1 depend on reads), 1 reads, one of 2 levels
// CHECK-NEXT: state #1: low-rank along axis 0, 1 writes (1 depend on reads), 1 reads, one of 2 levels
// CHECK-NEXT: state #2: scan (affine), its new value does not come from the old one by decays and writes (arith.addf)
func.func @levels(%k: tensor<?x4xf32>, %p: tensor<?xi1>, %s: tensor<4x4xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via #vec : tensor<?x4xf32> as %kt : tensor<4xf32>, %p via affine_map<(t) -> (t)> : tensor<?xi1> as %pt : i1)
      states(%s via #mat : tensor<4x4xf32> as %A : tensor<4x4xf32>, %s via #mat : tensor<4x4xf32> as %B : tensor<4x4xf32>,
             %s via #mat : tensor<4x4xf32> as %C : tensor<4x4xf32>) {
    %zero = arith.constant dense<0.0> : tensor<4x4xf32>
    %one = arith.constant dense<1.0> : tensor<4x4xf32>
    %A0 = arith.select %pt, %zero, %A : tensor<4x4xf32>
    %both = arith.addf %A, %B : tensor<4x4xf32>
    %B0 = arith.select %pt, %both, %B : tensor<4x4xf32>
    %ra = linattn.read %A0 at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %na = arith.negf %ra : tensor<4xf32>
    %A1 = linattn.write %A0 at %kt along 0 value %na : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %rb = linattn.read %B0 at %kt along 0 : tensor<4x4xf32>, tensor<4xf32>
    %nb = arith.negf %rb : tensor<4xf32>
    %B1 = linattn.write %B0 at %kt along 0 value %nb : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %C1 = arith.addf %C, %one : tensor<4x4xf32>
    linattn.yield %A1, %B1, %C1 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  return
}
