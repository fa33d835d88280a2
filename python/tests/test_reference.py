"""The references against closed forms, chunk forms and each other."""

import numpy as np
import pytest

from linattn import reference
from linattn.bodies import BODIES
from linattn.cases import Case, build
from linattn.numerics import relative_error

LN_09 = np.log(0.9)


def ones(tokens, heads=1):
    return np.ones((1, tokens, heads, 1))


def decayed_count(tokens, g, **options):
    """q = k = v = 1: the state is a decayed count of tokens."""
    return reference.scalar_decay(ones(tokens), ones(tokens), ones(tokens),
                                  np.full((1, tokens, 1), g), **options)


def random_inputs(name, tokens=21, batch=2, heads=4, **sizes):
    """The arrays of a generated case: [B, T, H, ...]."""
    body = BODIES[name]
    rng = np.random.default_rng(5)
    dims = {"K": 6, "V": 5, "R": 2, "N": 3, **sizes}
    arrays = {}
    for operand in body.inputs:
        lead = () if operand.heads == "param" else (batch, tokens)
        shape = (*lead, heads, *(dims[d] for d in operand.dims))
        arrays[operand.name] = operand.data(rng, shape, arrays)
    return arrays


def run(name, arrays, **options):
    return BODIES[name].reference(*arrays.values(), **options)


def part(name, arrays, lo, hi):
    heads = {o.name: o.heads for o in BODIES[name].inputs}
    return {n: x if heads[n] == "param" else x[:, lo:hi] for n, x in arrays.items()}


def test_decayed_counts():
    assert decayed_count(10, LN_09).states[0].item() == pytest.approx(6.513216, abs=1e-6)
    whole = decayed_count(96, np.log(0.99))
    assert whole.out[0, -1].item() == pytest.approx(61.895288, abs=1e-6)
    first = decayed_count(40, np.log(0.99))
    assert first.states[0].item() == pytest.approx(33.102824, abs=1e-6)
    rest = decayed_count(56, np.log(0.99), states=first.states)
    assert rest.out[0, -1].item() == pytest.approx(61.895288, abs=1e-6)


def test_packed_counts():
    offsets = [0, 5, 14, 20]
    got = decayed_count(20, LN_09, cu_seqlens=offsets).states[0].ravel()
    assert got == pytest.approx([4.0951, 6.125795, 4.68559], abs=1e-6)
    start = np.array([1.0, 2, 3]).reshape(3, 1, 1, 1)
    got = decayed_count(20, LN_09, cu_seqlens=offsets, states=[start]).states[0].ravel()
    assert got == pytest.approx([4.68559, 6.900636, 6.279913], abs=1e-6)
    assert start.ravel().tolist() == [1, 2, 3]


def test_checkpoints():
    kept = decayed_count(130, 0.0, every=64).checkpoints[0]
    assert kept[0].ravel().tolist() == [64, 128]
    kept = decayed_count(130, 0.0, every=64, reverse=True).checkpoints[0]
    assert kept[0].ravel().tolist() == [130, 66]


def test_one_delta_token():
    out, states, _ = reference.gated_delta_rule(
        2 * ones(1), ones(1), 3 * ones(1), np.full((1, 1, 1), -1.0), np.full((1, 1, 1), 0.5))
    assert out.item() == 3 and states[0].item() == 1.5


def test_groups():
    b = np.array([1.0, 10]).reshape(1, 1, 2, 1)
    x, dt = np.ones((1, 1, 4, 1)), np.zeros((1, 1, 4))
    zeros, bias = np.zeros(4), np.full(4, np.log(np.e - 1))  # softplus(bias) = 1
    run = lambda grouping: reference.mamba2(x, dt, b, np.ones_like(b), zeros, bias, zeros,
                                            grouping=grouping).out.ravel()
    assert run("interleave") == pytest.approx([1, 1, 10, 10])
    assert run("tile") == pytest.approx([1, 10, 1, 10])


def test_scalar_decay_chunk_form():
    a = random_inputs("scalar-decay")
    q, k, v, g = (np.moveaxis(x, 2, 1) for x in a.values())
    cumulative = np.cumsum(g, axis=-1)
    difference = cumulative[..., :, None] - cumulative[..., None, :]
    mask = np.tril(np.ones(difference.shape[-2:], bool))
    scores = np.where(mask, np.exp(np.where(mask, difference, 0)), 0) * (q @ np.swapaxes(k, -1, -2))
    assert relative_error(run("scalar-decay", a).out, np.moveaxis(scores @ v, 1, 2)) < 1e-12


def test_kda_solve_form():
    """(I + L) D = C with L_ij = sum_d beta_i k_id k_jd e^(G_id - G_jd), one unit-triangular solve."""
    a = random_inputs("kda")
    q, k, v, g, beta = (np.moveaxis(x, 2, 1) for x in a.values())
    cumulative = np.cumsum(g, axis=-2)
    pair = np.exp(np.minimum(cumulative[..., :, None, :] - cumulative[..., None, :, :], 0))
    erase = np.tril(np.einsum("bhid,bhjd,bhijd->bhij", beta[..., None] * k, k, pair), -1)
    d = np.linalg.solve(np.eye(erase.shape[-1]) + erase, beta[..., None] * v)
    read = np.tril(np.einsum("bhid,bhjd,bhijd->bhij", q, k, pair))
    assert relative_error(run("kda", a).out, np.moveaxis(read @ d, 1, 2)) < 1e-12


def test_normalised_closed_form():
    a = random_inputs("normalised")
    phi = lambda x: np.where(x > 0, x + 1, np.exp(x))
    q, k, v = (np.moveaxis(x, 2, 1) for x in a.values())
    weights = np.tril(phi(q) @ np.swapaxes(phi(k), -1, -2))
    want = weights @ v / weights.sum(-1, keepdims=True)
    assert relative_error(run("normalised", a).out, np.moveaxis(want, 1, 2)) < 1e-9


def test_second_order_closed_form():
    """o_i = sum over s <= j <= i of (q_i k_j) (q_s k_j) v_s gamma^(i - j) gamma^(i - s)."""
    a = random_inputs("hla")
    q, k, v = (np.moveaxis(x, 2, 1) for x in list(a.values())[:3])
    t = np.arange(q.shape[2])
    decay = np.tril(np.exp(a["log_gamma"][:, None, None] * (t[:, None] - t)))
    scores = np.tril(q @ np.swapaxes(k, -1, -2))
    want = ((scores * decay) @ np.swapaxes(np.tril(scores), -1, -2) * decay) @ v
    assert relative_error(run("hla", a).out, np.moveaxis(want, 1, 2)) < 1e-12


def test_second_order_normaliser():
    a = random_inputs("hla-normalised")
    q, k, v = (np.moveaxis(x, 2, 1) for x in a.values())
    scores = np.tril(q @ np.swapaxes(k, -1, -2))
    weights = np.tril(scores @ np.swapaxes(scores, -1, -2))
    want = weights @ v / weights.sum(-1, keepdims=True)
    assert relative_error(run("hla-normalised", a).out, np.moveaxis(want, 1, 2)) < 1e-11


def test_special_cases_agree():
    a = random_inputs("gated-delta")
    q, k, v, g, beta = a.values()
    base = run("gated-delta", a)
    wide = np.repeat(g[..., None], 6, -1)
    assert relative_error(reference.kda(q, k, v, wide, beta).out, base.out) < 1e-12
    other = reference.dplr(q, k, beta[..., None] * v, wide, -k, (beta * np.exp(g))[..., None] * k)
    assert relative_error(other.out, base.out) < 1e-12
    # Comba erases what it reads before the decay: p = e^g k makes up for it, p = k does not.
    level = np.array([-0.1, -0.2, -0.3, -0.4])
    steady = reference.gated_delta_rule(q, k, v, 0 * g + level, beta).out
    comba = lambda p_gate: reference.comba(q, k, v, 0 * g + level, beta, p_gate, np.zeros(4)).out
    assert relative_error(comba(np.exp(level)), steady) < 1e-12
    assert relative_error(comba(np.ones(4)), steady) > 1e-3
    zero = reference.gated_delta_rule(q, k, v, 0 * g, beta)
    assert relative_error(reference.delta_rule(q, k, v, beta).out, zero.out) == 0
    # Oja is the delta rule with the two sides of the state exchanged.
    oja = reference.gated_oja(np.zeros_like(v), v, k, wide, beta)
    assert relative_error(np.swapaxes(oja.states[0], -1, -2), base.states[0]) < 1e-12
    product = reference.delta_product(q, np.stack([k, k], 3), np.stack([v, v], 3), g,
                                      np.stack([beta, 0 * beta], -1))
    assert relative_error(product.out, base.out) < 1e-12


@pytest.mark.parametrize("name", list(BODIES))
@pytest.mark.parametrize("reverse", [False, True])
def test_splits_packing_and_types(name, reverse):
    block = BODIES[name].block
    a = random_inputs(name)
    whole = run(name, a, reverse=reverse)
    for split in () if name == "running-mean" else (0, 5 if block else 8, 21):
        order = [(split, 21), (0, split)] if reverse else [(0, split), (split, 21)]
        states, outs = None, {}
        for lo, hi in order:
            result = run(name, part(name, a, lo, hi), states=states, reverse=reverse)
            states, outs[lo, hi] = result.states, result.out
        joined = np.concatenate([outs[0, split], outs[split, 21]], axis=1)
        assert relative_error(joined, whole.out) < 1e-12
        for got, want in zip(states, whole.states):
            assert relative_error(got, want) < 1e-12

    one = {n: x if x.shape[0] != 2 or o.heads == "param" else x[:1]
           for (n, x), o in zip(a.items(), BODIES[name].inputs)}
    offsets = [0, 0, 5, 5, 21]
    packed = run(name, one, reverse=reverse, cu_seqlens=offsets)
    for n, (lo, hi) in enumerate(zip(offsets, offsets[1:])):
        alone = run(name, part(name, one, lo, hi), reverse=reverse)
        assert np.array_equal(packed.out[:, lo:hi], alone.out)
        assert np.array_equal(packed.states[0][n], alone.states[0][0])

    single = run(name, a, reverse=reverse, dtype=np.float32)
    assert single.out.dtype == np.float32
    assert 0 < relative_error(single.out, whole.out) < 1e-4


def test_cases_are_deterministic():
    case = Case("gated-delta", group="mod", dtype="bf16")
    first, second = build(case), build(case)
    assert first.text == second.text
    for (_, x), (_, y) in zip(first.args + first.expected, second.args + second.expected):
        assert np.array_equal(x, y)
