"""Matrix products of a chunk, counted in the printed IR, are those of the formulas."""

import pathlib

import numpy as np
import pytest

from linattn import flop_table, runner
from linattn.bodies import BODIES
from linattn.flop_table import CHUNKS, OPERATORS, TERMS

needs_tools = pytest.mark.skipif(not runner.tool("la-opt").exists(), reason="la-opt is not built")


@needs_tools
@pytest.mark.parametrize("key, value, chunks", [(128, 128, CHUNKS), (32, 48, (32,))])
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.body)
def test_counted_is_by_hand(operator, key, value, chunks, monkeypatch):
    monkeypatch.setattr(flop_table, "K", key)
    monkeypatch.setattr(flop_table, "V", value)
    for chunk in chunks:
        want, extra = operator.by_hand(chunk), operator.extra(chunk)
        got = flop_table.counted(operator.body, chunk)
        assert got == {term: want[term] + extra[term] for term in TERMS}
        assert bool(operator.why) == any(extra.values())


@needs_tools
def test_documented():
    text = pathlib.Path(__file__).parents[2] / "docs" / "ChunkDerivation.md"
    assert flop_table.markdown() in text.read_text()


def test_lines():
    """K = 4, V = 3, C = 32."""
    rows, values, square = "tensor<32x4xf32>", "tensor<32x3xf32>", "tensor<32x32xf32>"
    state, per_token = "tensor<4x3xf32>", "tensor<32xf32>"
    for line, want in {
            f"linattn.read %S at %q along 0 : {state}, {rows}": ("reads of S0", 768),
            f"linattn.read %S at %q along 0 : {state}, tensor<4xf32>": None,
            f"linattn.write %S at %k along 0 value %v : {state}, {rows}, {values}":
                ("new state", 768),
            f"linattn.bracket %q, %k : {rows}, {rows}": ("brackets", 8192),
            f"linattn.bracket %q, %k decay %a : {rows}, {rows} decay {per_token}":
                ("brackets", 8192),
            f"linattn.bracket %q, %k decay %a diagonal %d : {rows}, {rows} decay {rows} "
            f"diagonal {per_token}": ("brackets", 2048),
            f"linattn.weighted_sum %B, %v decay %a : {square}, {values}": ("values", 1536),
            f"linattn.solve %A, %b : {square}, {values}": ("solve", 1536),
            f"linalg.matmul ins(%B, %v : {square}, {values}) outs(%o : {values}) -> {values}":
                ("values", 6144),
            f"arith.mulf %a, %b : {rows}": None}.items():
        assert flop_table.count_line(f"%x = {line}") == want
    for line in (f"linattn.bracket %q, %k subchunk 8 : {rows}, {rows}",
                 'linalg.generic {iterator_types = ["parallel", "parallel", "reduction"]} ins(',
                 "linalg.batch_matmul ins("):
        with pytest.raises(ValueError):
            flop_table.count_line(f"%x = {line}")


def test_second_moments_formula():
    """A whole sequence as one chunk, by the formula that is counted, and token by token."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 7, 1, n)) for n in (4, 4, 3))
    P, C, G = (rng.standard_normal((1, 1, 4, n)) for n in (4, 3, 3))
    run = BODIES["hla"].reference(q, k, v, np.zeros(1), states=[P, C, G])
    Q, keys, values = (x[0, :, 0] for x in (q, k, v))
    P, C, G = (x[0, 0] for x in (P, C, G))
    L, W = np.tril(Q @ keys.T), Q @ P
    out = W @ C - Q @ G + (np.tril(W @ Q.T) + np.tril(L @ L.T)) @ values
    R = keys @ C + np.tril((Q @ keys.T).T, -1) @ values
    for got, want in ((out, run.out[0, :, 0]), (P + keys.T @ keys, run.states[0][0, 0]),
                      (C + Q.T @ values, run.states[1][0, 0]),
                      (G + keys.T @ R, run.states[2][0, 0])):
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11)
