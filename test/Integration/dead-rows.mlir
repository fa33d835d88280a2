// What a state reads where there is no token reaches no other state: 10 tokens are a chunk of 8 and a rest.
// There the reads' addresses are 1 and -inf.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/../Runner/Inputs/arrays.py 'k = np.full((10, 2), 0.125, "f4")' 'states = 0.125 * np.arange(1, 11)' \
// RUN:   'a = np.full(2, states[-1], "f4")' 'b = np.full(2, np.exp(-2 * np.exp(0.125) * states.sum()), "f4")' \
// RUN:   'c = np.full(2, 2 * np.log(0.125) ** 2 * states.sum(), "f4")'
// DEFINE: %{run} = la-run %s --guard --arg k.npy --fill 1=0 --fill 2=1 --fill 3=0 --expect a.npy --expect b.npy --expect c.npy --rtol 1e-5 --atol 0 --pipeline
// RUN: %{run} "builtin.module(linattn-to-cpu-pipeline{chunk=0})"
// RUN: %{run} "builtin.module(linattn-chunk{chunk=8 subchunk=4},linattn-to-cpu-pipeline)"

#row = affine_map<(t, d) -> (t, d)>
#state = affine_map<(t, d) -> (d)>
func.func @main(%k: tensor<?x2xf32>, %a0: tensor<2xf32>, %b0: tensor<2xf32>, %c0: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %r:3 = linattn.recurrence [time]
      ins(%k via #row : tensor<?x2xf32> as %kt : tensor<2xf32>)
      states(%a0 via #state : tensor<2xf32> as %A : tensor<2xf32>,
             %b0 via #state : tensor<2xf32> as %B : tensor<2xf32>,
             %c0 via #state : tensor<2xf32> as %C : tensor<2xf32>) {
    %one = arith.constant 1.0 : f32
    %e = math.exp %kt : tensor<2xf32>
    %l = math.log %kt : tensor<2xf32>
    %A1 = linattn.write %A at %kt along 0 value %one : tensor<2xf32>, tensor<2xf32>, f32
    %re = linattn.read %A1 at %e along 0 : tensor<2xf32>, tensor<2xf32>
    %g = arith.negf %re : f32
    %B1 = linattn.decay %B by %g : tensor<2xf32>, f32
    %rl = linattn.read %A1 at %l along 0 : tensor<2xf32>, tensor<2xf32>
    %C1 = linattn.write %C at %l along 0 value %rl : tensor<2xf32>, tensor<2xf32>, f32
    linattn.yield %A1, %B1, %C1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
