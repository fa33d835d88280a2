"""The numerics contract on a small grid, token by token and in chunks of 16 and 64."""

import numpy as np
import pytest

from linattn import numerics_table, runner
from linattn.bodies import BODIES


@pytest.mark.parametrize("dtype", numerics_table.TYPES)
@pytest.mark.parametrize("form", numerics_table.FORMS)
def test_no_entry_is_beyond_its_bound(form, dtype, tmp_path, la_run):
    entries = list(numerics_table.entries_of(form, dtype, tmp_path, quick=True))
    assert {(e.chunk, e.result) for e in entries} == {
        (chunk, result) for chunk in (0, 16, 64) for result in ("out", "state")}
    assert not numerics_table.beyond(entries)


@pytest.mark.parametrize("form", ["gated-delta", "kda"])
def test_reflections_of_one_key(form, tmp_path, la_run):
    """beta 2 and one key: a rounding of k . k in a chunk is the same for all pairs of tokens."""
    heads = [("-0.01", keys, 2.0) for keys in ("near-parallel", "repeated") for _ in range(8)]
    entries = numerics_table.measure(form, "f32", (0, 16, 64), heads, tmp_path, width=64)
    assert not numerics_table.beyond(entries)


# What the table must notice, with NumPy in the place of compiled code ---------------------------


@pytest.mark.parametrize("form", ["gla", "gated-delta"])
@pytest.mark.parametrize("dtype, error", [("f64", 1e-10), ("f32", 1e-3), ("bf16", 1),
                                          ("f64", np.nan), ("f64", 0)])
@pytest.mark.parametrize("result", ["out", "state"])
def test_a_wrong_number_is_noticed(form, dtype, error, result, tmp_path, monkeypatch):
    def run(path, arguments, options):
        *inputs, state = (x for _, x in arguments)
        right = BODIES[form].reference(*inputs, states=[state])
        results = {"out": right.out, "state": right.states[0]}
        results[result][(0, 20, 1, 3) if result == "out" else (0, 1, 3, 3)] += error
        return runner.Run(list(results.values()), None, "")

    monkeypatch.setattr(runner, "run", run)
    heads = [("0.0", "random", 1.0), ("-0.01", "random", 1.0), ("-1.0", "random", 1.0)]
    entries = numerics_table.measure(form, dtype, (0, 16), heads, tmp_path, tokens=40)
    assert len(entries) == 12
    wrong = [(e.chunk, e.gate, e.result) for e in entries if not e.share <= 1]
    assert wrong == ([] if error == 0 else [(0, "-0.01", result), (16, "-0.01", result)])
    assert len(numerics_table.beyond(entries).splitlines()) == len(wrong)
    assert numerics_table.markdown(entries).count(" | 1 |\n") == len(wrong)


def test_norm_of_the_solve():
    """One key, no decay, beta 2: the inverse has 1 on its diagonal and +-2 below, so that the last
    of C rows adds up to 2 C - 1. Two keys: 1 + beta |k_0 e^g k_1|."""
    keys = numerics_table.make_keys("repeated", (32, 8), np.random.default_rng(0))
    inputs = {"k": keys[None, :, None], "beta": np.full((1, 32, 1), 2.0), "g": np.zeros((1, 32, 1))}
    assert np.allclose(numerics_table.solve_norms(inputs, 16), 2 * 16 - 1)
    assert np.allclose(numerics_table.solve_norms(inputs, 1), 1)

    rng = np.random.default_rng(1)
    k, g = rng.standard_normal((1, 2, 1, 8)), -rng.random((1, 2, 1, 8))
    inputs = {"k": k, "beta": np.full((1, 2, 1), 0.7), "g": g}
    want = 1 + 0.7 * abs(np.sum(k[0, 0] * np.exp(g[0, 1]) * k[0, 1]))
    assert np.allclose(numerics_table.solve_norms(inputs, 2), want)


def test_the_grid():
    """What the table says that it covers."""
    rng = np.random.default_rng(2)
    for shape in ((100,), (100, 4)):
        gates = {name: numerics_table.make_gate(name, shape, rng) for name in numerics_table.GATES}
        assert all(g.shape == shape and (g <= 0).all() for g in gates.values())
        for level in numerics_table.LEVELS:
            assert (gates[str(level)] == level).all() and (gates["mixture"] == level).any()
        assert np.isneginf(gates["mixture"]).any()
        assert 0 < np.isneginf(gates["-inf at some"]).sum() < 0.3 * np.prod(shape)
        alternating = gates[numerics_table.ALTERNATING].reshape(100, -1)
        assert (alternating[:24, 0] == -20.3).all() and (alternating[24:48, 0] == -0.0137).all()
    assert (alternating[:24, 1] == -0.0137).all() and (alternating[24:48, 1] == -20.3).all()

    near = numerics_table.make_keys("near-parallel", (50, 32), rng)
    assert np.allclose((near * near).sum(-1), 1)
    assert 0.99 < (near @ near.T).min() < 0.9999
    assert len(numerics_table.grid("kda")) == 9 * 3 * 4 and len(numerics_table.grid("gla")) == 9 * 3
