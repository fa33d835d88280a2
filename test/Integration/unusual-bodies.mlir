// Bodies and maps that no model of the examples has, against NumPy, also without tokens and without
// sequences.
// RUN: %python %S/Inputs/unusual_bodies.py %s

#row = affine_map<(b, t, d) -> (b, t, d)>
#rows = affine_map<(b, t, r, d) -> (b, t, r, d)>
#scalar = affine_map<(b, t) -> (b, t)>
#matrix = affine_map<(b, t, k, v) -> (b, k, v)>
#flipped = affine_map<(b, t, k, v) -> (b, v, k)>
#vector = affine_map<(b, t, k) -> (b, k)>
#channel = affine_map<(d) -> (d)>

// A' = B and B' = A + k v^T.
func.func @swap(%k: tensor<?x?x3xf32>, %v: tensor<?x?x5xf32>, %a0: tensor<?x3x5xf32>, %b0: tensor<?x3x5xf32>)
    -> (tensor<?x?x5xf32>, tensor<?x3x5xf32>, tensor<?x3x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x5xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x5xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x5xf32>
  %o, %a, %b = linattn.recurrence [parallel, time]
      ins(%k via #row : tensor<?x?x3xf32> as %kt : tensor<3xf32>,
          %v via #row : tensor<?x?x5xf32> as %vt : tensor<5xf32>)
      outs(%o0 via #row : tensor<?x?x5xf32>)
      states(%a0 via #matrix : tensor<?x3x5xf32> as %A : tensor<3x5xf32>,
             %b0 via #matrix : tensor<?x3x5xf32> as %B : tensor<3x5xf32>) {
    %A1 = linattn.write %A at %kt along 0 value %vt : tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>
    %ot = linattn.read %A1 at %kt along 0 : tensor<3x5xf32>, tensor<3xf32>
    linattn.yield %ot, %B, %A1 : tensor<5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
  }
  return %o, %a, %b : tensor<?x?x5xf32>, tensor<?x3x5xf32>, tensor<?x3x5xf32>
}

// The last two inputs: o_t = x_t + 2 x_{t-1} + 4 x_{t-2}.
func.func @shift_register(%x: tensor<?x?x5xf32>, %p0: tensor<?x5xf32>, %q0: tensor<?x5xf32>)
    -> (tensor<?x?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x5xf32>
  %tokens = tensor.dim %x, %c1 : tensor<?x?x5xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x5xf32>
  %o, %p, %q = linattn.recurrence [parallel, time]
      ins(%x via #row : tensor<?x?x5xf32> as %xt : tensor<5xf32>)
      outs(%o0 via #row : tensor<?x?x5xf32>)
      states(%p0 via #vector : tensor<?x5xf32> as %P : tensor<5xf32>,
             %q0 via #vector : tensor<?x5xf32> as %Q : tensor<5xf32>) {
    %two = arith.constant dense<2.0> : tensor<5xf32>
    %four = arith.constant dense<4.0> : tensor<5xf32>
    %p2 = arith.mulf %P, %two : tensor<5xf32>
    %q4 = arith.mulf %Q, %four : tensor<5xf32>
    %pq = arith.addf %p2, %q4 : tensor<5xf32>
    %ot = arith.addf %xt, %pq : tensor<5xf32>
    linattn.yield %ot, %xt, %P : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
  }
  return %o, %p, %q : tensor<?x?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>
}

// Each state is updated from the old value of the other: S' = S / 2 + k z^T, z' = z / 2 + S^T k.
func.func @cross_read(%k: tensor<?x?x3xf32>, %s0: tensor<?x3x5xf32>, %z0: tensor<?x5xf32>)
    -> (tensor<?x3x5xf32>, tensor<?x5xf32>) {
  %s, %z = linattn.recurrence [parallel, time]
      ins(%k via #row : tensor<?x?x3xf32> as %kt : tensor<3xf32>)
      states(%s0 via #matrix : tensor<?x3x5xf32> as %S : tensor<3x5xf32>,
             %z0 via #vector : tensor<?x5xf32> as %Z : tensor<5xf32>) {
    %half = arith.constant 0.5 : f32
    %X = linattn.decay %S by linear %half : tensor<3x5xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %Z : tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>
    %r = linattn.read %S at %kt along 0 : tensor<3x5xf32>, tensor<3xf32>
    %Y = linattn.decay %Z by linear %half : tensor<5xf32>, f32
    %Z1 = arith.addf %Y, %r : tensor<5xf32>
    linattn.yield %S1, %Z1 : tensor<3x5xf32>, tensor<5xf32>
  }
  return %s, %z : tensor<?x3x5xf32>, tensor<?x5xf32>
}

// The read comes after the update in the text, but reads the state before it.
func.func @late_read(%k: tensor<?x?x3xf32>, %v: tensor<?x?x5xf32>, %s0: tensor<?x3x5xf32>)
    -> (tensor<?x?x5xf32>, tensor<?x3x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x5xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x5xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x5xf32>
  %o, %s = linattn.recurrence [parallel, time]
      ins(%k via #row : tensor<?x?x3xf32> as %kt : tensor<3xf32>,
          %v via #row : tensor<?x?x5xf32> as %vt : tensor<5xf32>)
      outs(%o0 via #row : tensor<?x?x5xf32>)
      states(%s0 via #matrix : tensor<?x3x5xf32> as %S : tensor<3x5xf32>) {
    %half = arith.constant 0.5 : f32
    %X = linattn.decay %S by linear %half : tensor<3x5xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>
    %before = linattn.read %S at %kt along 0 : tensor<3x5xf32>, tensor<3xf32>
    %after = linattn.read %S1 at %kt along 0 : tensor<3x5xf32>, tensor<3xf32>
    %ot = arith.subf %after, %before : tensor<5xf32>
    linattn.yield %ot, %S1 : tensor<5xf32>, tensor<3x5xf32>
  }
  return %o, %s : tensor<?x?x5xf32>, tensor<?x3x5xf32>
}

// A normaliser z of rank 1 beside a state that is kept as [V, K].
func.func @vector_and_flipped(%k: tensor<?x?x3xf32>, %v: tensor<?x?x5xf32>, %s0: tensor<?x5x3xf32>,
    %z0: tensor<?x3xf32>) -> (tensor<?x?x5xf32>, tensor<?x?xf32>, tensor<?x5x3xf32>, tensor<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x5xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x5xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x5xf32>
  %n0 = tensor.empty(%batch, %tokens) : tensor<?x?xf32>
  %o, %n, %s, %z = linattn.recurrence [parallel, time]
      ins(%k via #row : tensor<?x?x3xf32> as %kt : tensor<3xf32>,
          %v via #row : tensor<?x?x5xf32> as %vt : tensor<5xf32>)
      outs(%o0 via #row : tensor<?x?x5xf32>, %n0 via #scalar : tensor<?x?xf32>)
      states(%s0 via #matrix : tensor<?x5x3xf32> as %S : tensor<5x3xf32>,
             %z0 via #vector : tensor<?x3xf32> as %Z : tensor<3xf32>) {
    %one = arith.constant 1.0 : f32
    %X = linattn.decay %S by %kt along [1] : tensor<5x3xf32>, tensor<3xf32>
    %S1 = linattn.write %X at %kt along 1 value %vt : tensor<5x3xf32>, tensor<3xf32>, tensor<5xf32>
    %ot = linattn.read %S1 at %kt along 1 : tensor<5x3xf32>, tensor<3xf32>
    %Y = linattn.decay %Z by %kt along [0] : tensor<3xf32>, tensor<3xf32>
    %Z1 = linattn.write %Y at %kt along 0 value %one : tensor<3xf32>, tensor<3xf32>, f32
    %nt = linattn.read %Z1 at %kt along 0 : tensor<3xf32>, tensor<3xf32>
    linattn.yield %ot, %nt, %S1, %Z1 : tensor<5xf32>, f32, tensor<5x3xf32>, tensor<3xf32>
  }
  return %o, %n, %s, %z : tensor<?x?x5xf32>, tensor<?x?xf32>, tensor<?x5x3xf32>, tensor<?x3xf32>
}

// K and V are known at run time only; in the body the state is [K, V], in memory [V, K].
func.func @dynamic_sizes(%k: tensor<?x?x?xf32>, %v: tensor<?x?x?xf32>, %s0: tensor<?x?x?xf32>)
    -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x?xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x?xf32>
  %width = tensor.dim %v, %c2 : tensor<?x?x?xf32>
  %o0 = tensor.empty(%batch, %tokens, %width) : tensor<?x?x?xf32>
  %o, %s = linattn.recurrence [parallel, time]
      ins(%k via #row : tensor<?x?x?xf32> as %kt : tensor<?xf32>,
          %v via #row : tensor<?x?x?xf32> as %vt : tensor<?xf32>)
      outs(%o0 via #row : tensor<?x?x?xf32>)
      states(%s0 via #flipped : tensor<?x?x?xf32> as %S : tensor<?x?xf32>) {
    %half = arith.constant 0.5 : f32
    %X = linattn.decay %S by linear %half : tensor<?x?xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<?x?xf32>, tensor<?xf32>
    linattn.yield %ot, %S1 : tensor<?xf32>, tensor<?x?xf32>
  }
  return %o, %s : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}

// Two writes and two reads per token, as one op each.
func.func @matrix_addresses(%k: tensor<?x?x2x3xf32>, %v: tensor<?x?x2x5xf32>, %s0: tensor<?x3x5xf32>)
    -> (tensor<?x?x2x5xf32>, tensor<?x3x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x2x5xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x2x5xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x2x5xf32>
  %o, %s = linattn.recurrence [parallel, time]
      ins(%k via #rows : tensor<?x?x2x3xf32> as %kt : tensor<2x3xf32>,
          %v via #rows : tensor<?x?x2x5xf32> as %vt : tensor<2x5xf32>)
      outs(%o0 via #rows : tensor<?x?x2x5xf32>)
      states(%s0 via #matrix : tensor<?x3x5xf32> as %S : tensor<3x5xf32>) {
    %half = arith.constant 0.5 : f32
    %X = linattn.decay %S by linear %half : tensor<3x5xf32>, f32
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<3x5xf32>, tensor<2x3xf32>, tensor<2x5xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<3x5xf32>, tensor<2x3xf32>
    linattn.yield %ot, %S1 : tensor<2x5xf32>, tensor<3x5xf32>
  }
  return %o, %s : tensor<?x?x2x5xf32>, tensor<?x3x5xf32>
}

// A rotating state, z' = exp(-1/2 + i w) z + x with real x; starts at 0.
func.func @complex_state(%w: tensor<?x?x3xf32>, %x: tensor<?x?x3xf32>) -> (tensor<?x?x3xf32>, tensor<?x?x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %batch = tensor.dim %x, %c0 : tensor<?x?x3xf32>
  %tokens = tensor.dim %x, %c1 : tensor<?x?x3xf32>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x3xf32>
  %p0 = tensor.empty(%batch, %tokens) : tensor<?x?x3xf32>
  %e = tensor.empty(%batch) : tensor<?x3xcomplex<f32>>
  %z0 = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<?x3xcomplex<f32>>) -> tensor<?x3xcomplex<f32>>
  %re, %im, %z = linattn.recurrence [parallel, time]
      ins(%w via #row : tensor<?x?x3xf32> as %wt : tensor<3xf32>,
          %x via #row : tensor<?x?x3xf32> as %xt : tensor<3xf32>)
      outs(%o0 via #row : tensor<?x?x3xf32>, %p0 via #row : tensor<?x?x3xf32>)
      states(%z0 via #vector : tensor<?x3xcomplex<f32>> as %Z : tensor<3xcomplex<f32>>) {
    %e1 = tensor.empty() : tensor<3xcomplex<f32>>
    %e2 = tensor.empty() : tensor<3xf32>
    %half = arith.constant -0.5 : f32
    %one = complex.constant [1.0 : f32, 0.0 : f32] : complex<f32>
    %gt = linalg.generic {indexing_maps = [#channel, #channel], iterator_types = ["parallel"]}
        ins(%wt : tensor<3xf32>) outs(%e1 : tensor<3xcomplex<f32>>) {
    ^bb0(%wi: f32, %o: complex<f32>):
      %gi = complex.create %half, %wi : complex<f32>
      linalg.yield %gi : complex<f32>
    } -> tensor<3xcomplex<f32>>
    %Y = linattn.decay %Z by %gt along [0] : tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>
    %Z1 = linattn.write %Y at %xt along 0 value %one : tensor<3xcomplex<f32>>, tensor<3xf32>, complex<f32>
    %ret, %imt = linalg.generic {indexing_maps = [#channel, #channel, #channel], iterator_types = ["parallel"]}
        ins(%Z1 : tensor<3xcomplex<f32>>) outs(%e2, %e2 : tensor<3xf32>, tensor<3xf32>) {
    ^bb0(%zi: complex<f32>, %p: f32, %q: f32):
      %r = complex.re %zi : complex<f32>
      %i = complex.im %zi : complex<f32>
      linalg.yield %r, %i : f32, f32
    } -> (tensor<3xf32>, tensor<3xf32>)
    linattn.yield %ret, %imt, %Z1 : tensor<3xf32>, tensor<3xf32>, tensor<3xcomplex<f32>>
  }
  return %re, %im : tensor<?x?x3xf32>, tensor<?x?x3xf32>
}

func.func @doubles(%k: tensor<?x?x3xf64>, %v: tensor<?x?x5xf64>, %s0: tensor<?x3x5xf64>)
    -> (tensor<?x?x5xf64>, tensor<?x3x5xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x5xf64>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x5xf64>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x5xf64>
  %o, %s = linattn.recurrence [parallel, time]
      ins(%k via #row : tensor<?x?x3xf64> as %kt : tensor<3xf64>,
          %v via #row : tensor<?x?x5xf64> as %vt : tensor<5xf64>)
      outs(%o0 via #row : tensor<?x?x5xf64>)
      states(%s0 via #matrix : tensor<?x3x5xf64> as %S : tensor<3x5xf64>) {
    %X = linattn.decay %S by %kt along [0] : tensor<3x5xf64>, tensor<3xf64>
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<3x5xf64>, tensor<3xf64>, tensor<5xf64>
    %ot = linattn.read %S1 at %kt along 0 : tensor<3x5xf64>, tensor<3xf64>
    linattn.yield %ot, %S1 : tensor<5xf64>, tensor<3x5xf64>
  }
  return %o, %s : tensor<?x?x5xf64>, tensor<?x3x5xf64>
}

// Half-precision tokens, and a state in half precision too.
func.func @halves(%k: tensor<?x?x3xf16>, %v: tensor<?x?x5xf16>, %s0: tensor<?x3x5xf16>)
    -> (tensor<?x?x5xf16>, tensor<?x3x5xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %v, %c0 : tensor<?x?x5xf16>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x5xf16>
  %o0 = tensor.empty(%batch, %tokens) : tensor<?x?x5xf16>
  %o, %s = linattn.recurrence [parallel, time]
      ins(%k via #row : tensor<?x?x3xf16> as %kt : tensor<3xf16>,
          %v via #row : tensor<?x?x5xf16> as %vt : tensor<5xf16>)
      outs(%o0 via #row : tensor<?x?x5xf16>)
      states(%s0 via #matrix : tensor<?x3x5xf16> as %S : tensor<3x5xf16>) {
    %X = linattn.decay %S by %kt along [0] : tensor<3x5xf16>, tensor<3xf16>
    %S1 = linattn.write %X at %kt along 0 value %vt : tensor<3x5xf16>, tensor<3xf16>, tensor<5xf16>
    %ot = linattn.read %S1 at %kt along 0 : tensor<3x5xf16>, tensor<3xf16>
    linattn.yield %ot, %S1 : tensor<5xf16>, tensor<3x5xf16>
  }
  return %o, %s : tensor<?x?x5xf16>, tensor<?x3x5xf16>
}

// Blocks of 4 tokens lie beside each other, between the heads: the part of one head is no strided
// box. The heads of %v are 3.
#grouped = affine_map<(b, t, h, d) -> (b, t, h, d)>
#blocked = affine_map<(b, t, h, d) -> (b, t floordiv 4, h * 20 + (t mod 4) * 5 + d)>
func.func @blocked_out(%v: tensor<?x?x3x5xf32>, %z0: tensor<?x3x5xf32>) -> (tensor<?x?x60xf32>, tensor<?x3x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %v, %c0 : tensor<?x?x3x5xf32>
  %tokens = tensor.dim %v, %c1 : tensor<?x?x3x5xf32>
  %blocks = arith.ceildivui %tokens, %c4 : index
  %e = tensor.empty(%batch, %blocks) : tensor<?x?x60xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x60xf32>) -> tensor<?x?x60xf32>
  %o, %z = linattn.recurrence [parallel, time, parallel]
      ins(%v via #grouped : tensor<?x?x3x5xf32> as %vt : tensor<5xf32>)
      outs(%o0 via #blocked : tensor<?x?x60xf32>)
      states(%z0 via affine_map<(b, t, h, d) -> (b, h, d)> : tensor<?x3x5xf32> as %Z : tensor<5xf32>) {
    %Z1 = arith.addf %Z, %vt : tensor<5xf32>
    linattn.yield %Z1, %Z1 : tensor<5xf32>, tensor<5xf32>
  }
  return %o, %z : tensor<?x?x60xf32>, tensor<?x3x5xf32>
}

// Only some tokens reach the state A, chosen inside the body; B keeps what A was.
func.func @conditional(%k: tensor<?x?x3xf32>, %v: tensor<?x?x5xf32>, %a0: tensor<?x3x5xf32>, %b0: tensor<?x3x5xf32>)
    -> (tensor<?x3x5xf32>, tensor<?x3x5xf32>) {
  %a, %b = linattn.recurrence [parallel, time]
      ins(%k via #row : tensor<?x?x3xf32> as %kt : tensor<3xf32>,
          %v via #row : tensor<?x?x5xf32> as %vt : tensor<5xf32>)
      states(%a0 via #matrix : tensor<?x3x5xf32> as %A : tensor<3x5xf32>,
             %b0 via #matrix : tensor<?x3x5xf32> as %B : tensor<3x5xf32>) {
    %c0 = arith.constant 0 : index
    %border = arith.constant -0.3 : f32
    %first = tensor.extract %kt[%c0] : tensor<3xf32>
    %reached = arith.cmpf olt, %first, %border : f32
    %A1 = scf.if %reached -> tensor<3x5xf32> {
      %A2 = linattn.write %A at %kt along 0 value %vt : tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>
      scf.yield %A2 : tensor<3x5xf32>
    } else {
      scf.yield %A : tensor<3x5xf32>
    }
    %B1 = arith.select %reached, %A, %B : tensor<3x5xf32>
    linattn.yield %A1, %B1 : tensor<3x5xf32>, tensor<3x5xf32>
  }
  return %a, %b : tensor<?x3x5xf32>, tensor<?x3x5xf32>
}
