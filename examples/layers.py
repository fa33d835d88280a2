"""Inputs and float64 references of the example layers.

A layer is made from a batch size, a number of tokens and a random generator. `arguments` are those
of its MLIR function, in order, as (element type, float64 array with the values as stored);
`reference()` gives the expected results as a list.
"""

import functools
from dataclasses import dataclass
from typing import Callable

import numpy as np

from linattn import numerics, reference
from linattn.numerics import l2norm, logsigmoid, sigmoid, silu, softplus


@dataclass
class Layer:
    arguments: list
    reference: Callable  # (dtype) -> [out, *states]


def _stored(element, x):
    return element, numerics.decode(numerics.encode(x, element), element)


def _layer(arguments, compute):
    """arguments: (element type, array); compute(*arrays, dtype) -> scan.Result."""
    arguments = [_stored(element, x) for element, x in arguments]

    def run(dtype=np.float64):
        result = compute(*(x for _, x in arguments), dtype=dtype)
        return [result.out, *result.states]

    return Layer(arguments, run)


def _a_log(rng, heads):
    """Log of rates between 1 and 16, as the models initialise them."""
    return np.log(rng.uniform(1, 16, heads))


def _dt_bias(rng, shape):
    """Inverse softplus of steps between 1e-3 and 1e-1."""
    dt = np.exp(rng.uniform(np.log(1e-3), np.log(1e-1), shape))
    return dt + np.log(-np.expm1(-dt))


def gated_delta_net(batch, tokens, rng):
    key_heads, heads, width = 16, 32, 128
    normal, lead = rng.standard_normal, (batch, tokens)

    def compute(q, k, v, a, b, a_log, dt_bias, s0, dtype):
        g = -np.exp(a_log) * softplus(a + dt_bias)
        return reference.gated_delta_rule(l2norm(q) * width ** -0.5, l2norm(k), v, g, sigmoid(b),
                                          states=[s0], dtype=dtype)

    return _layer([("bf16", normal((*lead, key_heads, width))),
                   ("bf16", normal((*lead, key_heads, width))),
                   ("bf16", normal((*lead, heads, width))),
                   ("bf16", normal((*lead, heads))),
                   ("bf16", normal((*lead, heads))),
                   ("f32", _a_log(rng, heads)), ("f32", _dt_bias(rng, heads)),
                   ("f32", 0.1 * normal((batch, heads, width, width)))], compute)


def kda(batch, tokens, rng):
    heads, width = 32, 128
    normal, lead = rng.standard_normal, (batch, tokens)

    def compute(q, k, v, f, b, a_log, dt_bias, s0, dtype):
        g = -np.exp(a_log)[:, None] * softplus(f + dt_bias)
        return reference.kda(l2norm(q) * width ** -0.5, l2norm(k), v, g, sigmoid(b), states=[s0],
                             dtype=dtype)

    return _layer([("bf16", normal((*lead, heads, width))) for _ in range(4)] +
                  [("bf16", normal((*lead, heads))), ("f32", _a_log(rng, heads)),
                   ("f32", _dt_bias(rng, (heads, width))),
                   ("f32", 0.1 * normal((batch, heads, width, width)))], compute)


def gla(batch, tokens, rng):
    heads, key, value = 4, 256, 512
    normal, lead = rng.standard_normal, (batch, tokens)

    def compute(q, k, v, x, s0, dtype):
        return reference.gla(q * key ** -0.5, k, v, logsigmoid(x) / 16, states=[s0], dtype=dtype)

    return _layer([("f32", normal((*lead, heads, key))), ("f32", normal((*lead, heads, key))),
                   ("f32", normal((*lead, heads, value))), ("f32", normal((*lead, heads, key))),
                   ("f32", normal((batch, heads, key, value)))], compute)


def mamba2(batch, tokens, rng):
    heads, width, state = 80, 64, 128
    normal, lead = rng.standard_normal, (batch, tokens)

    def compute(x, z, dt, b, c, a_log, dt_bias, skip, s0, dtype):
        result = reference.mamba2(x, dt, b[:, :, None], c[:, :, None], a_log, dt_bias, skip,
                                  states=[s0], dtype=dtype)
        return result._replace(out=result.out * silu(z.astype(dtype)))

    return _layer([("bf16", normal((*lead, heads, width))), ("bf16", normal((*lead, heads, width))),
                   ("bf16", normal((*lead, heads))), ("bf16", normal((*lead, state))),
                   ("bf16", normal((*lead, state))), ("f32", _a_log(rng, heads)),
                   ("f32", _dt_bias(rng, heads)), ("f32", np.ones(heads)),
                   ("f32", 0.1 * normal((batch, heads, state, width)))], compute)


def _rotate(x, cos, sin):
    """Rotary embedding on the two halves of the last axis; cos and sin [T, K / 2]."""
    first, second = np.split(x, 2, axis=-1)
    cos, sin = cos[None, :, None], sin[None, :, None]
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def retnet(batch, tokens, rng):
    heads, key, value = 8, 256, 512
    normal, lead = rng.standard_normal, (batch, tokens)
    angle = np.arange(tokens)[:, None] * 10000.0 ** (-np.arange(key // 2) / (key // 2))

    def compute(q, k, v, cos, sin, log_gamma, s0, dtype):
        return reference.retention(_rotate(q * key ** -0.5, cos, sin), _rotate(k, cos, sin), v,
                                   log_gamma, states=[s0], dtype=dtype)

    return _layer([("f32", normal((*lead, heads, key))), ("f32", normal((*lead, heads, key))),
                   ("f32", normal((*lead, heads, value))), ("f32", np.cos(angle)),
                   ("f32", np.sin(angle)), ("f32", reference.retnet_log_gamma(heads)),
                   ("f32", normal((batch, heads, key, value)))], compute)


def rwkv6(batch, tokens, rng):
    heads, width = 32, 64
    normal, lead = rng.standard_normal, (batch, tokens)

    def compute(r, k, v, w, u, s0, dtype):
        return reference.rwkv6(r, k, v, -np.exp(w), u, states=[s0], dtype=dtype)

    vector = (*lead, heads, width)
    return _layer([("f32", normal(vector)), ("f32", normal(vector)), ("f32", normal(vector)),
                   ("f32", rng.uniform(-6, 1, vector)), ("f32", normal((heads, width))),
                   ("f32", normal((batch, heads, width, width)))], compute)


def rwkv7(batch, tokens, rng):
    heads, width = 32, 64
    normal, lead = rng.standard_normal, (batch, tokens)

    def compute(*arrays, dtype):
        *arrays, s0 = arrays
        return reference.rwkv7(*arrays, states=[s0], dtype=dtype)

    vector = (*lead, heads, width)
    return _layer([("f32", normal(vector)), ("f32", normal(vector) - 2), ("f32", normal(vector)),
                   ("f32", normal(vector)), ("f32", normal(vector)),
                   ("f32", rng.uniform(0.5, 1, (heads, width))),
                   ("f32", rng.uniform(0, 1, (heads, width))),
                   ("f32", normal((batch, heads, width, width)))], compute)


def linear_attention(batch, tokens, rng):
    heads, width = 8, 64
    normal, vector = rng.standard_normal, (batch, tokens, heads, width)

    def compute(q, k, v, s0, z0, dtype):
        return reference.normalised_linear_attention(q, k, v, states=[s0, z0], dtype=dtype)

    # The state of an earlier part of the text: a sum over keys that are positive.
    return _layer([("f32", normal(vector)), ("f32", normal(vector)), ("f32", normal(vector)),
                   ("f32", normal((batch, heads, width, width))),
                   ("f32", rng.uniform(1, 2, (batch, heads, width)))], compute)


LAYERS = {f.__name__: f for f in (gated_delta_net, kda, gla, mamba2, retnet, rwkv6, rwkv7,
                                  linear_attention)}


@functools.lru_cache(maxsize=1)
def make(name, batch, tokens, seed=0):
    """The layer `name`; tokens may be 0."""
    return LAYERS[name](batch, tokens, np.random.default_rng(seed))
