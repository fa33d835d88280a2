// Legal bodies that a lowering may get wrong, against closed forms; token by token and in chunks with
// a rest (21 = 2 * 8 + 5).
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/../Runner/Inputs/arrays.py 't = np.arange(21)' 'x = (t + 1).astype("f4")' \
// RUN:   'a = np.full(2, 3, "f4")' 'b = np.full(2, 7, "f4")' \
// RUN:   'swapped = np.stack([np.where(t % 2, 7, 3)] * 2, 1).astype("f4")' \
// RUN:   'shifted = np.arange(21, dtype="f4")' 'last = np.float32(21)' \
// RUN:   'sums = np.full((2, 3), 21, "f4")' 'sumsofsums = np.full(3, 21 * 22, "f4")' \
// RUN:   'before = np.stack([2 * t] * 3, 1).astype("f4")' 'after = before + np.float32(2)' \
// RUN:   'flipped = np.full((3, 2), 21, "f4")' 'count = np.full(2, 21, "f4")' 'norm = (2 * t + 2).astype("f4")' \
// RUN:   'rows = np.stack([np.stack([4 * t + 4] * 3, 1)] * 2, 1).astype("f4")' 'twice = np.full((2, 3), 42, "f4")' \
// RUN:   're = np.array([1, 1, 0, 0] * 6, "f4")[:21]' 'im = np.array([0, 1, 1, 0] * 6, "f4")[:21]' \
// RUN:   'mixed = (np.arange(42) // 2 + 1).astype("f4")' 'heads = np.full(2, 21, "f4")'
// DEFINE: %{chunk} = --pipeline "builtin.module(linattn-chunk{chunk=8 subchunk=4},linattn-to-cpu-pipeline)"
// DEFINE: %{run} = la-run %s --guard --rtol 0 --atol 0 --function

// DEFINE: %{swap} = %{run} swap --fill 0=1 --shape 0=21 --fill 1=3 --fill 2=7 --expect swapped.npy --expect b.npy --expect a.npy
// RUN: %{swap}
// RUN: %{swap} %{chunk}
// DEFINE: %{shift} = %{run} shift --arg x.npy --fill 1=0 --expect shifted.npy --expect last.npy
// RUN: %{shift}
// RUN: %{shift} %{chunk}
// DEFINE: %{chain} = %{run} chain --fill 0=1 --shape 0=21x2 --fill 1=1 --shape 1=21x3 --expect sums.npy --expect sumsofsums.npy
// RUN: %{chain}
// RUN: %{chain} %{chunk}
// DEFINE: %{late} = %{run} late_read --fill 0=1 --shape 0=21x2 --fill 1=1 --shape 1=21x3 --expect before.npy --expect after.npy
// RUN: %{late}
// RUN: %{late} %{chunk}
// DEFINE: %{flip} = %{run} flipped --fill 0=1 --shape 0=21x2 --fill 1=1 --shape 1=21x3 --expect after.npy --expect norm.npy --expect flipped.npy --expect count.npy
// RUN: %{flip}
// RUN: %{flip} %{chunk}
// DEFINE: %{dyn} = %{run} dynamic --fill 0=1 --shape 0=21x2 --fill 1=1 --shape 1=21x3 --fill 2=0 --shape 2=2x3 --expect after.npy --expect sums.npy
// RUN: %{dyn}
// RUN: %{dyn} %{chunk}
// DEFINE: %{rows} = %{run} rows --fill 0=1 --shape 0=21x2x2 --fill 1=1 --shape 1=21x2x3 --expect rows.npy --expect twice.npy
// RUN: %{rows}
// RUN: %{rows} %{chunk}
// DEFINE: %{turn} = %{run} quarter_turns --fill 0=1 --shape 0=21x1 --expect re.npy --expect im.npy
// RUN: %{turn}
// RUN: %{turn} %{chunk}
// DEFINE: %{mix} = %{run} mixed --fill 0=1 --shape 0=21x2 --fill 1=0 --shape 1=42 --expect mixed.npy --expect heads.npy
// RUN: %{mix}
// RUN: %{mix} %{chunk}

func.func @swap(%x: tensor<?xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %o = tensor.empty(%n) : tensor<?x2xf32>
  %r:3 = linattn.recurrence [time]
      ins(%x via affine_map<(t) -> (t)> : tensor<?xf32> as %xt : f32)
      outs(%o via affine_map<(t, d) -> (t, d)> : tensor<?x2xf32>)
      states(%a via affine_map<(t, d) -> (d)> : tensor<2xf32> as %A : tensor<2xf32>,
             %b via affine_map<(t, d) -> (d)> : tensor<2xf32> as %B : tensor<2xf32>) {
    linattn.yield %A, %B, %A : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>
}

func.func @shift(%x: tensor<?xf32>, %p: tensor<f32>) -> (tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %o = tensor.empty(%n) : tensor<?xf32>
  %r:2 = linattn.recurrence [time]
      ins(%x via affine_map<(t) -> (t)> : tensor<?xf32> as %xt : f32)
      outs(%o via affine_map<(t) -> (t)> : tensor<?xf32>)
      states(%p via affine_map<(t) -> ()> : tensor<f32> as %P : f32) {
    linattn.yield %P, %xt : f32, f32
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<f32>
}

#row = affine_map<(t, d) -> (t, d)>
#vec = affine_map<(t, d) -> (d)>
#mat = affine_map<(t, i, j) -> (i, j)>
func.func @chain(%k: tensor<?x2xf32>, %v: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %s = arith.constant dense<0.0> : tensor<2x3xf32>
  %z = arith.constant dense<0.0> : tensor<3xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via #row : tensor<?x2xf32> as %kt : tensor<2xf32>, %v via #row : tensor<?x3xf32> as %vt : tensor<3xf32>)
      states(%s via #mat : tensor<2x3xf32> as %S : tensor<2x3xf32>, %z via #vec : tensor<3xf32> as %Z : tensor<3xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>
    %read = linattn.read %S1 at %kt along 0 : tensor<2x3xf32>, tensor<2xf32>
    %Z1 = arith.addf %Z, %read : tensor<3xf32>
    linattn.yield %S1, %Z1 : tensor<2x3xf32>, tensor<3xf32>
  }
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<3xf32>
}

func.func @late_read(%k: tensor<?x2xf32>, %v: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : tensor<?x2xf32>
  %o = tensor.empty(%n) : tensor<?x3xf32>
  %s = arith.constant dense<0.0> : tensor<2x3xf32>
  %r:3 = linattn.recurrence [time]
      ins(%k via #row : tensor<?x2xf32> as %kt : tensor<2xf32>, %v via #row : tensor<?x3xf32> as %vt : tensor<3xf32>)
      outs(%o via #row : tensor<?x3xf32>, %o via #row : tensor<?x3xf32>)
      states(%s via #mat : tensor<2x3xf32> as %S : tensor<2x3xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>
    %new = linattn.read %S1 at %kt along 0 : tensor<2x3xf32>, tensor<2xf32>
    %old = linattn.read %S at %kt along 0 : tensor<2x3xf32>, tensor<2xf32>
    linattn.yield %old, %new, %S1 : tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>
  }
  return %r#0, %r#1 : tensor<?x3xf32>, tensor<?x3xf32>
}

func.func @flipped(%k: tensor<?x2xf32>, %v: tensor<?x3xf32>)
    -> (tensor<?x3xf32>, tensor<?xf32>, tensor<3x2xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : tensor<?x2xf32>
  %o = tensor.empty(%n) : tensor<?x3xf32>
  %l = tensor.empty(%n) : tensor<?xf32>
  %s = arith.constant dense<0.0> : tensor<3x2xf32>
  %z = arith.constant dense<0.0> : tensor<2xf32>
  %r:4 = linattn.recurrence [time]
      ins(%k via #row : tensor<?x2xf32> as %kt : tensor<2xf32>, %v via #row : tensor<?x3xf32> as %vt : tensor<3xf32>)
      outs(%o via #row : tensor<?x3xf32>, %l via affine_map<(t) -> (t)> : tensor<?xf32>)
      states(%s via #mat : tensor<3x2xf32> as %S : tensor<3x2xf32>, %z via #vec : tensor<2xf32> as %Z : tensor<2xf32>) {
    %one = arith.constant 1.0 : f32
    %S1 = linattn.write %S at %kt along 1 value %vt : tensor<3x2xf32>, tensor<2xf32>, tensor<3xf32>
    %Z1 = linattn.write %Z at %kt along 0 value %one : tensor<2xf32>, tensor<2xf32>, f32
    %ot = linattn.read %S1 at %kt along 1 : tensor<3x2xf32>, tensor<2xf32>
    %lt = linattn.read %Z1 at %kt along 0 : tensor<2xf32>, tensor<2xf32>
    linattn.yield %ot, %lt, %S1, %Z1 : tensor<3xf32>, f32, tensor<3x2xf32>, tensor<2xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x3xf32>, tensor<?xf32>, tensor<3x2xf32>, tensor<2xf32>
}

func.func @dynamic(%k: tensor<?x?xf32>, %v: tensor<?x?xf32>, %s: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %k, %c0 : tensor<?x?xf32>
  %d = tensor.dim %v, %c1 : tensor<?x?xf32>
  %o = tensor.empty(%n, %d) : tensor<?x?xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via #row : tensor<?x?xf32> as %kt : tensor<?xf32>, %v via #row : tensor<?x?xf32> as %vt : tensor<?xf32>)
      outs(%o via #row : tensor<?x?xf32>)
      states(%s via #mat : tensor<?x?xf32> as %S : tensor<?x?xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<?x?xf32>, tensor<?xf32>
    linattn.yield %ot, %S1 : tensor<?xf32>, tensor<?x?xf32>
  }
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?x?xf32>
}

#rows = affine_map<(t, r, d) -> (t, r, d)>
func.func @rows(%k: tensor<?x2x2xf32>, %v: tensor<?x2x3xf32>) -> (tensor<?x2x3xf32>, tensor<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : tensor<?x2x2xf32>
  %o = tensor.empty(%n) : tensor<?x2x3xf32>
  %s = arith.constant dense<0.0> : tensor<2x3xf32>
  %r:2 = linattn.recurrence [time]
      ins(%k via #rows : tensor<?x2x2xf32> as %kt : tensor<2x2xf32>, %v via #rows : tensor<?x2x3xf32> as %vt : tensor<2x3xf32>)
      outs(%o via #rows : tensor<?x2x3xf32>)
      states(%s via #mat : tensor<2x3xf32> as %S : tensor<2x3xf32>) {
    %S1 = linattn.write %S at %kt along 0 value %vt : tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x3xf32>
    %ot = linattn.read %S1 at %kt along 0 : tensor<2x3xf32>, tensor<2x2xf32>
    linattn.yield %ot, %S1 : tensor<2x3xf32>, tensor<2x3xf32>
  }
  return %r#0, %r#1 : tensor<?x2x3xf32>, tensor<2x3xf32>
}

// h = i h + x, with real x.
func.func @quarter_turns(%x: tensor<?x1xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1xf32>
  %o = tensor.empty(%n) : tensor<?xf32>
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %s = tensor.from_elements %zero : tensor<1xcomplex<f32>>
  %r:3 = linattn.recurrence [time]
      ins(%x via #row : tensor<?x1xf32> as %xt : tensor<1xf32>)
      outs(%o via affine_map<(t) -> (t)> : tensor<?xf32>, %o via affine_map<(t) -> (t)> : tensor<?xf32>)
      states(%s via #vec : tensor<1xcomplex<f32>> as %S : tensor<1xcomplex<f32>>) {
    %i = complex.constant [0.0 : f32, 1.0 : f32] : complex<f32>
    %one = arith.constant 1.0 : f32
    %X = linattn.decay %S by linear %i : tensor<1xcomplex<f32>>, complex<f32>
    %S1 = linattn.write %X at %xt along 0 value %one : tensor<1xcomplex<f32>>, tensor<1xf32>, f32
    %ot = linattn.read %S1 at %xt along 0 : tensor<1xcomplex<f32>>, tensor<1xf32>
    %re = complex.re %ot : complex<f32>
    %im = complex.im %ot : complex<f32>
    linattn.yield %re, %im, %S1 : f32, f32, tensor<1xcomplex<f32>>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// An out whose one dim mixes time and heads.
func.func @mixed(%x: tensor<?x2xf32>, %o: tensor<?xf32>) -> (tensor<?xf32>, tensor<2xf32>) {
  %s = arith.constant dense<0.0> : tensor<2xf32>
  %r:2 = linattn.recurrence [time, parallel]
      ins(%x via affine_map<(t, h) -> (t, h)> : tensor<?x2xf32> as %xt : f32)
      outs(%o via affine_map<(t, h) -> (t * 2 + h)> : tensor<?xf32>)
      states(%s via affine_map<(t, h) -> (h)> : tensor<2xf32> as %S : f32) {
    %S1 = arith.addf %S, %xt : f32
    linattn.yield %S1, %S1 : f32, f32
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<2xf32>
}
