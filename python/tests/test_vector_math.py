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
