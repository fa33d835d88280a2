"""Functions of f32 vectors are polynomials: their accuracy, and what they make of extremes."""

import numpy as np
import pytest

from linattn import runner

FUNCTIONS = {
    "math.exp": (np.exp, [-np.inf, -200, -104, -87, -0.0, 0, 88.7, 89, np.inf, np.nan]),
    "math.expm1": (np.expm1, [-np.inf, -200, -1e-3, -1e-6, -1e-8, 0, 1e-8, 1e-7, 1e-3, np.nan]),
    "math.log": (np.log, [0, 1e-37, 1, np.inf, np.nan]),
    "math.log1p": (np.log1p, [0, 1e-30, 1e-7, 1, np.inf, np.nan]),
    "math.tanh": (np.tanh, [-np.inf, -20, -1e-20, 0, 1e-20, 9, np.inf, np.nan]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_accuracy(name, tmp_path):
    function, extremes = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    ordinary = rng.uniform(-20, 20, 2000) if name in ("math.exp", "math.tanh") else 10 ** rng.uniform(
        -30, 30, 2000)
    x = np.concatenate([ordinary, extremes]).astype(np.float32)
    file = tmp_path / "f.mlir"
    file.write_text(f"""func.func @f(%x: tensor<{x.size}xf32>) -> tensor<{x.size}xf32> {{
      %y = {name} %x : tensor<{x.size}xf32>
      return %y : tensor<{x.size}xf32>
    }}""")
    got = runner.run(file, [("f32", x)]).results[0]
    with np.errstate(all="ignore"):
        want = function(x.astype(np.float64))
        single = want.astype(np.float32)
        special = ~np.isfinite(single) | (single == 0)
    assert np.array_equal(got[special].astype(np.float32), single[special], equal_nan=True)
    ulps = np.abs(got[~special] - want[~special]) / np.spacing(np.abs(single[~special]))
    assert ulps.max() < 4


def test_logistic(tmp_path):
    """1 / (1 + e^-x) without a division; from -87 on down it stays at 2^-126 instead of 0."""
    extremes = [-np.inf, -104, -88.8, -87.4, -87.3, -0.0, 0, 88.7, 200, np.inf, np.nan]
    x = np.concatenate([np.linspace(-90, 90, 2000), extremes]).astype(np.float32)
    file = tmp_path / "f.mlir"
    type = f"tensor<{x.size}xf32>"
    file.write_text(f"""func.func @f(%x: {type}) -> {type} {{
      %one = arith.constant dense<1.0> : {type}
      %n = arith.negf %x : {type}
      %e = math.exp %n : {type}
      %d = arith.addf %one, %e : {type}
      %y = arith.divf %one, %d : {type}
      return %y : {type}
    }}""")
    got = runner.run(file, [("f32", x)]).results[0]
    want = 1 / (1 + np.exp(np.minimum(-x.astype(np.float64), 700)))
    assert np.isnan(got[-1]) and np.isfinite(got[:-1]).all()
    assert (np.abs(got - want)[:-1] <= 4 * np.spacing(want[:-1].astype(np.float32)) + 2.0**-126).all()
