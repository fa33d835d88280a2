"""Gated linear attention in both directions, and over a grid in rows and columns, against NumPy."""

import subprocess

import numpy as np
import pytest

from linattn import runner

PASSES = {
    "tokens": "linattn-to-cpu-pipeline{chunk=0}",
    "chunks": "linattn-chunk{chunk=8 subchunk=4},linattn-to-cpu-pipeline{chunk=0}",
    "few": "linattn-to-cpu-pipeline{chunk=8 subchunk=4}",
}
every_pipeline = pytest.mark.parametrize("passes", PASSES.values(), ids=PASSES)

MAPS = """
#token = affine_map<(b, t, h, d) -> (b, t, h, d)>
#gate = affine_map<(b, t, h) -> (b, t, h)>
#state = affine_map<(b, t, h, k, v) -> (b, h, k, v)>
#rows = affine_map<(b, t, h, d) -> (b, t floordiv 5, t mod 5, h, d)>
#columns = affine_map<(b, t, h, d) -> (b, t mod 3, t floordiv 3, h, d)>
"""
WRITE = ("%S1 = linattn.write %X at %kt along 0 value %vt"
         " : tensor<4x6xf64>, tensor<4xf64>, tensor<6xf64>")
READ = "%ot = linattn.read {} at %qt along 0 : tensor<4x6xf64>, tensor<4xf64>"
INCLUSIVE = [WRITE, READ.format("%S1")]
EXCLUSIVE = [READ.format("%X"), WRITE]


def scan(name, lead, order, body, reverse=False):
    """A recurrence over q, k, v with their dims before the heads as in lead, token t at `order`."""
    key, value = f"tensor<{lead}x2x4xf64>", f"tensor<{lead}x2x6xf64>"
    lines = "\n    ".join(body)
    return f"""
  %{name}, %state_{name} = linattn.recurrence [parallel, time, parallel]{" reverse" * reverse}
      ins(%q via {order} : {key} as %qt : tensor<4xf64>,
          %k via {order} : {key} as %kt : tensor<4xf64>,
          %v via {order} : {value} as %vt : tensor<6xf64>,
          %g via #gate : tensor<?x?x2xf64> as %gt : f64)
      outs(%out_{name} via {order} : {value})
      states(%init_{name} via #state : tensor<?x2x4x6xf64> as %S : tensor<4x6xf64>) {{
    %X = linattn.decay %S by %gt : tensor<4x6xf64>, f64
    {lines}
    linattn.yield %ot, %S1 : tensor<6xf64>, tensor<4x6xf64>
  }}"""


def function(lead, first, second, end):
    """Both scans and what joins their outs, %a and %b, to %o; returns the final states, too."""
    key, value, state = (f"tensor<{s}xf64>" for s in (f"{lead}x2x4", f"{lead}x2x6", "?x2x4x6"))
    return f"""{MAPS}
func.func @f(%q: {key}, %k: {key}, %v: {value}, %g: tensor<?x?x2xf64>,
    %out_a: {value}, %out_b: {value}, %init_a: {state}, %init_b: {state}) -> ({value}, {state}, {state}) {{{first}{second}
  {end.format(type=value)}
  return %o, %state_a, %state_b : {value}, {state}, {state}
}}
"""


SUM = "%o = arith.addf %a, %b : {type}"
AVERAGE = """%sum = arith.addf %a, %b : {type}
  %half = arith.constant 0.5 : f64
  %halves = tensor.splat %half[%n] : {type}
  %o = arith.mulf %sum, %halves : {type}"""


def arrays(batch, tokens, lead):
    rng = np.random.default_rng(tokens)
    shapes = [(*lead, 2, 4), (*lead, 2, 4), (*lead, 2, 6)]
    q, k, v = (rng.uniform(-1, 1, shape) for shape in shapes)
    g = rng.uniform(-1, 0, (batch, tokens, 2))
    states = [rng.uniform(-1, 1, (batch, 2, 4, 6)) for _ in range(2)]
    return [q, k, v, g, np.zeros(v.shape), np.zeros(v.shape), *states]


def attend(q, k, v, g, state, exclusive=False):
    """o_t = q_t^T (exp(g_1 + ... + g_t) S_0 + sum_{s <= t} exp(g_{s+1} + ... + g_t) k_s v_s^T);
    without s = t if exclusive. Arrays are [batch, token, head, ...]."""
    total = np.cumsum(g, axis=1).transpose(0, 2, 1)
    tokens = total.shape[-1]
    reaches = np.tri(tokens, k=-1 if exclusive else 0, dtype=bool)
    weights = np.exp(np.where(reaches, total[..., :, None] - total[..., None, :], -np.inf))
    weights *= np.einsum("bthd,bshd->bhts", q, k)
    out = np.einsum("bhts,bshv->bthv", weights, v)
    out += np.einsum("bht,bthd,bhdv->bthv", np.exp(total), q, state)
    left = np.exp(total[..., -1:] - total)
    final = np.exp(total[..., -1])[..., None, None] * state
    final += np.einsum("bhs,bshd,bshv->bhdv", left, k, v)
    return out, final


def backward(*inputs, exclusive):
    *tokens, state = inputs
    out, final = attend(*(x[:, ::-1] for x in tokens), state, exclusive)
    return out[:, ::-1], final


def check(text, passes, inputs, want, folder, loops=1):
    file = folder / "both.mlir"
    file.write_text(text)
    command = [runner.tool("la-opt"), file, "--linattn-to-loops", "--linattn-fuse-parallel-loops"]
    ir = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert ir.count("= scf.forall (") == loops
    option = f"--pipeline=builtin.module({passes})"
    inputs = [("f64", x) for x in inputs]
    results = runner.run(file, inputs, guard=True, threads=2, options=[option]).results
    for got, wanted in zip(results, want, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


@every_pipeline
@pytest.mark.parametrize("diagonal", ["once", "twice"])
@pytest.mark.parametrize("join", ["sum", "average"])
@pytest.mark.parametrize("tokens", [1, 7, 19])
def test_directions(tokens, join, diagonal, passes, tmp_path):
    exclusive = diagonal == "once"
    second = scan("b", "?x?", "#token", EXCLUSIVE if exclusive else INCLUSIVE, reverse=True)
    end = SUM
    if join == "average":
        end = "%c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n" + "".join(
            f"  %n{i} = tensor.dim %a, %c{i} : {{type}}\n" for i in range(2)) + "  " + AVERAGE
        end = end.replace("[%n]", "[%n0, %n1]")
    text = function("?x?", scan("a", "?x?", "#token", INCLUSIVE), second, end)
    inputs = arrays(2, tokens, (2, tokens))
    *_, first, last = inputs
    a, state_a = attend(*inputs[:4], first)
    b, state_b = backward(*inputs[:4], last, exclusive=exclusive)
    scale = 0.5 if join == "average" else 1
    check(text, passes, inputs, [scale * (a + b), state_a, state_b], tmp_path)


@every_pipeline
@pytest.mark.parametrize("reverse", [False, True])
def test_rows_and_columns_of_a_grid(reverse, passes, tmp_path):
    """Token t of a 3 x 5 grid is (t / 5, t % 5) in rows, and (t % 3, t / 3) in columns."""
    lead = "?x3x5"
    text = function(lead, scan("a", lead, "#rows", INCLUSIVE),
                    scan("b", lead, "#columns", INCLUSIVE, reverse), SUM)
    inputs = arrays(2, 15, (2, 3, 5))
    q, k, v, g, *_, first, last = inputs
    a, state_a = attend(*(x.reshape(2, 15, *x.shape[3:]) for x in (q, k, v)), g, first)
    columns = [x.swapaxes(1, 2).reshape(2, 15, *x.shape[3:]) for x in (q, k, v)]
    b, state_b = (backward(*columns, g, last, exclusive=False) if reverse
                  else attend(*columns, g, last))
    out = a.reshape(2, 3, 5, 2, 6) + b.reshape(2, 5, 3, 2, 6).swapaxes(1, 2)
    check(text, passes, inputs, [out, state_a, state_b], tmp_path)
