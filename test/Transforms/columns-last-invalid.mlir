// Why value columns stay where they are.

// RUN: la-opt %s --linattn-columns-last --remarks-filter=linattn-columns-last --remark-format=emitRemark --split-input-file --verify-diagnostics

#chan = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, v, k) -> (v, k)>

// Low-rank states run in chunks, where products of matrices take any layout.
func.func @chunks(%x: tensor<?x48xf32>, %b: tensor<?x4xf32>, %s: tensor<48x4xf32>) -> (tensor<?x48xf32>, tensor<48x4xf32>) {
  // expected-remark @below {{it is run in chunks}}
  %r:2 = linattn.recurrence [time]
      ins(%x via #chan : tensor<?x48xf32> as %xt : tensor<48xf32>, %b via #chan : tensor<?x4xf32> as %bt : tensor<4xf32>)
      outs(%x via #chan : tensor<?x48xf32>)
      states(%s via #mat : tensor<48x4xf32> as %S : tensor<48x4xf32>) {
    %S1 = linattn.write %S at %bt along 1 value %xt : tensor<48x4xf32>, tensor<4xf32>, tensor<48xf32>
    %y = linattn.read %S1 at %bt along 1 : tensor<48x4xf32>, tensor<4xf32>
    linattn.yield %y, %S1 : tensor<48xf32>, tensor<48x4xf32>
  }
  return %r#0, %r#1 : tensor<?x48xf32>, tensor<48x4xf32>
}

// -----

#chan = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, v, k) -> (v, k)>

func.func @few_columns(%b: tensor<?x8xf32>, %o: tensor<?x4xf32>, %s: tensor<4x8xf32>) -> (tensor<?x4xf32>, tensor<4x8xf32>) {
  // expected-remark @below {{its rows are longer than its columns are many}}
  %r:2 = linattn.recurrence [time]
      ins(%b via #chan : tensor<?x8xf32> as %bt : tensor<8xf32>)
      outs(%o via #chan : tensor<?x4xf32>)
      states(%s via #mat : tensor<4x8xf32> as %S : tensor<4x8xf32>) {
    %S1 = math.sin %S : tensor<4x8xf32>
    %y = linattn.read %S1 at %bt along 1 : tensor<4x8xf32>, tensor<8xf32>
    linattn.yield %y, %S1 : tensor<4xf32>, tensor<4x8xf32>
  }
  return %r#0, %r#1 : tensor<?x4xf32>, tensor<4x8xf32>
}

// -----

#chan = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, v, k) -> (v, k)>
#rows = affine_map<(t, v, k) -> (t, v, k)>

func.func @gate_of_rows(%g: tensor<?x48x4xf32>, %b: tensor<?x4xf32>, %o: tensor<?x48xf32>, %s: tensor<48x4xf32>) -> (tensor<?x48xf32>, tensor<48x4xf32>) {
  // expected-remark @below {{an input of every token has its rows across the value columns}}
  %r:2 = linattn.recurrence [time]
      ins(%g via #rows : tensor<?x48x4xf32> as %gt : tensor<48x4xf32>, %b via #chan : tensor<?x4xf32> as %bt : tensor<4xf32>)
      outs(%o via #chan : tensor<?x48xf32>)
      states(%s via #mat : tensor<48x4xf32> as %S : tensor<48x4xf32>) {
    %S1 = linattn.decay %S by %gt along [0, 1] : tensor<48x4xf32>, tensor<48x4xf32>
    %y = linattn.read %S1 at %bt along 1 : tensor<48x4xf32>, tensor<4xf32>
    linattn.yield %y, %S1 : tensor<48xf32>, tensor<48x4xf32>
  }
  return %r#0, %r#1 : tensor<?x48xf32>, tensor<48x4xf32>
}

// -----

#mat = affine_map<(t, v, k) -> (v, k)>
#rows = affine_map<(t, v, k) -> (t, v, k)>

func.func @out_of_rows(%k: tensor<4xf32>, %o: tensor<?x48x4xf32>, %s: tensor<48x4xf32>) -> (tensor<?x48x4xf32>, tensor<48x4xf32>) {
  // expected-remark @below {{an out has its rows across the value columns}}
  %r:2 = linattn.recurrence [time]
      ins(%k via affine_map<(t, k) -> (k)> : tensor<4xf32> as %kt : tensor<4xf32>)
      outs(%o via #rows : tensor<?x48x4xf32>)
      states(%s via #mat : tensor<48x4xf32> as %S : tensor<48x4xf32>) {
    %D = math.sin %S : tensor<48x4xf32>
    %d = linattn.read %D at %kt along 1 : tensor<48x4xf32>, tensor<4xf32>
    %S1 = linattn.decay %D by %d along [0] : tensor<48x4xf32>, tensor<48xf32>
    linattn.yield %S1, %S1 : tensor<48x4xf32>, tensor<48x4xf32>
  }
  return %r#0, %r#1 : tensor<?x48x4xf32>, tensor<48x4xf32>
}

// -----

#chan = affine_map<(t, d) -> (t, d)>
#mat = affine_map<(t, v, k) -> (v, k)>

func.func @slice(%b: tensor<?x4xf32>, %o: tensor<?x48xf32>, %s: tensor<48x4xf32>) -> (tensor<?x48xf32>, tensor<48x4xf32>) {
  // expected-remark @below {{an op has no form with its columns last}}
  %r:2 = linattn.recurrence [time]
      ins(%b via #chan : tensor<?x4xf32> as %bt : tensor<4xf32>)
      outs(%o via #chan : tensor<?x48xf32>)
      states(%s via #mat : tensor<48x4xf32> as %S : tensor<48x4xf32>) {
    %S1 = math.sin %S : tensor<48x4xf32>
    %y = tensor.extract_slice %S1[0, 1] [48, 1] [1, 1] : tensor<48x4xf32> to tensor<48xf32>
    linattn.yield %y, %S1 : tensor<48xf32>, tensor<48x4xf32>
  }
  return %r#0, %r#1 : tensor<?x48xf32>, tensor<48x4xf32>
}
