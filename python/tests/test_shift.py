"""States that keep what the last tokens brought, beside a running maximum and a matrix in chunks."""

import numpy as np
import pytest

from linattn import runner

PROGRAM = """
#vec = affine_map<(t, d) -> (t, d)>
#s0 = affine_map<(t, d) -> (d)>
#s1 = affine_map<(t, w, d) -> (w, d)>
#s2 = affine_map<(t, k, v) -> (k, v)>
func.func @f(%x: tensor<?x4xf64>, %k: tensor<?x4xf64>, %p: tensor<4xf64>, %win: tensor<3x4xf64>, %m: tensor<f64>, %S: tensor<4x4xf64>, %o: tensor<?x4xf64>, %w: tensor<3x4xf64>) -> (tensor<?x4xf64>, tensor<4xf64>, tensor<3x4xf64>, tensor<f64>, tensor<4x4xf64>) {
  %r:5 = linattn.recurrence [time]
      ins(%x via #vec : tensor<?x4xf64> as %xt : tensor<4xf64>, %k via #vec : tensor<?x4xf64> as %kt : tensor<4xf64>, %w via #s1 : tensor<3x4xf64> as %wt : tensor<3x4xf64>)
      outs(%o via #vec : tensor<?x4xf64>)
      states(%p via #s0 : tensor<4xf64> as %prev : tensor<4xf64>, %win via #s1 : tensor<3x4xf64> as %window : tensor<3x4xf64>,
             %m via affine_map<(t) -> ()> : tensor<f64> as %max : f64, %S via #s2 : tensor<4x4xf64> as %St : tensor<4x4xf64>) {
    %rest = tensor.extract_slice %window[1, 0] [2, 4] [1, 1] : tensor<3x4xf64> to tensor<2x4xf64>
    %row = tensor.expand_shape %xt [[0, 1]] output_shape [1, 4] : tensor<4xf64> into tensor<1x4xf64>
    %window1 = tensor.concat dim(0) %rest, %row : (tensor<2x4xf64>, tensor<1x4xf64>) -> tensor<3x4xf64>
    %z = arith.constant dense<0.0> : tensor<4xf64>
    %conv = linalg.generic {indexing_maps = [affine_map<(w, d) -> (w, d)>, affine_map<(w, d) -> (w, d)>, affine_map<(w, d) -> (d)>], iterator_types = ["reduction", "parallel"]}
      ins(%window1, %wt : tensor<3x4xf64>, tensor<3x4xf64>) outs(%z : tensor<4xf64>) {
      ^bb0(%a: f64, %b: f64, %c: f64):
        %e = arith.mulf %a, %b : f64
        %f = arith.addf %e, %c : f64
        linalg.yield %f : f64
    } -> tensor<4xf64>
    %half = arith.constant dense<0.5> : tensor<4xf64>
    %mixed0 = arith.mulf %prev, %half : tensor<4xf64>
    %mixed = arith.addf %mixed0, %conv : tensor<4xf64>
    %c0 = arith.constant 0 : index
    %x0 = tensor.extract %kt[%c0] : tensor<4xf64>
    %g = arith.constant -0.1 : f64
    %md = arith.addf %max, %g : f64
    %max1 = arith.maximumf %md, %x0 : f64
    %dd = arith.subf %md, %max1 : f64
    %X = linattn.decay %St by %dd : tensor<4x4xf64>, f64
    %S1 = linattn.write %X at %kt along 0 value %mixed : tensor<4x4xf64>, tensor<4xf64>, tensor<4xf64>
    %ot = linattn.read %S1 at %mixed along 0 : tensor<4x4xf64>, tensor<4xf64>
    linattn.yield %ot, %kt, %window1, %max1, %S1 : tensor<4xf64>, tensor<4xf64>, tensor<3x4xf64>, f64, tensor<4x4xf64>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x4xf64>, tensor<4xf64>, tensor<3x4xf64>, tensor<f64>, tensor<4x4xf64>
}
"""


def reference(x, k, previous, window, peak, state, out, taps, reverse):
    previous, window, peak, state, out = (np.array(a) for a in (previous, window, peak, state, out))
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        window = np.vstack([window[1:], x[t]])
        mixed = 0.5 * previous + (window * taps).sum(0)
        moved = peak - 0.1
        peak = np.maximum(moved, k[t, 0])
        state = np.exp(moved - peak) * state + np.outer(k[t], mixed)
        out[t] = state.T @ mixed
        previous = k[t]
    return out, previous, window, peak, state


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("chunk", [None, 1, 4, 8])
@pytest.mark.parametrize("tokens", [0, 1, 2, 8, 19])
def test_values(tokens, chunk, reverse, tmp_path):
    rng = np.random.default_rng(tokens)
    shapes = [(tokens, 4), (tokens, 4), (4,), (3, 4), (), (4, 4), (tokens, 4), (3, 4)]
    arrays = [rng.uniform(-1, 1, shape) for shape in shapes]
    file = tmp_path / "shift.mlir"
    file.write_text(PROGRAM.replace("[time]", "[time] reverse") if reverse else PROGRAM)
    pipeline = "builtin.module(linattn-to-cpu-pipeline{chunk=0})"
    if chunk:
        pipeline = pipeline.replace("(", f"(linattn-chunk{{chunk={chunk} subchunk=4}},", 1)
    results = runner.run(file, [("f64", a) for a in arrays], options=[f"--pipeline={pipeline}"]).results
    for got, want in zip(results, reference(*arrays, reverse)):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
