"""Decays, and the functions that gates are made of."""

import numpy as np

from ..causal_systems.system import V
from ..numerics import sigmoid, softplus
from ..reference import scalar_decay
from ..scan import Result
from .item import Item
from .subjects import body, own, system

BLOCKS = ((64, 16), (64, 64))  # chunks of 64 tokens in four subchunks, and in one


def at(x, token, value):
    """A copy with another value at one token."""
    x = x.copy()
    x[:, token] = value
    return x


def same(name, value):
    return lambda inputs: {name: np.full_like(inputs[name], value)}


def gates(where, value):
    return lambda inputs: {"g": at(inputs["g"], where, value)}


def alternating(inputs):
    """24 strong gates, then 24 mild ones; half of the channels begin with the mild ones."""
    t, *channel = np.indices(inputs["g"].shape[1:])
    return {"g": np.where((t // 24 + channel[-1]) % 2 == 0, -20.3, -0.0137)[None]}


def two_sequences(q, k, v, g, states, cut=7, **options):
    """The tokens from `cut` on as a sequence of their own, which begins with nothing."""
    options = {**options, "cu_seqlens": None}
    parts = [scalar_decay(*(x[:, part] for x in (q, k, v, g)), states=start, **options)
             for part, start in ((slice(cut), states), (slice(cut, None), None))]
    return Result(np.concatenate([p.out for p in parts], axis=1), parts[1].states, [])


@own
class exp2_decay:
    """h' = 2^(g log2 e) h + x;  o = h'."""

    def body(p):
        x, g = p.normal(V), p.uniform(-3, 0)
        factor = p.apply("math.exp2", p.times(1 / np.log(2), g))
        h = p.add(p.decay(p.state("h", (V,)), factor, linear=True), x)
        p.end(h, h=h)

    def step(x, g, h):
        h = np.exp(g) * h + x
        return h, h


@own
class clamped_steps:
    """D = softplus(dt + b), between 0.05 and 0.5;  S' = e^(-e^a D) S + k (D x)^T;  o = S'^T q."""

    def body(p):
        q, k, x, dt = p.normal(4), p.normal(4), p.normal(V), p.uniform(-9, 3)
        bias, a = p.normal(per_token=False), p.normal(per_token=False)
        delta = p.larger(p.softplus(p.add(dt, bias)), p.constant(0.05))
        delta = p.minus(p.larger(p.minus(delta), p.constant(-0.5)))
        S = p.decay(p.state("S", (4, V)), p.minus(p.mul(p.exp(a), delta)))
        S = p.put(S, k, p.scale(delta, x))
        p.end(p.get(S, q), S=S)

    def step(q, k, x, dt, bias, a, S):
        delta = np.clip(softplus(dt + bias), 0.05, 0.5)
        S = np.exp(-np.exp(a) * delta) * S + np.outer(k, delta * x)
        return S.T @ q, S


@own
class rg_lru:
    """log a = -8 softplus(L) s(r);  h' = a h + sqrt(1 - a^2) s(i) x;  o = h'."""

    def body(p):
        x, r, i, L = p.normal(V), p.normal(V), p.normal(V), p.uniform(-30, -28, V, per_token=False)
        log_a = p.times(-8.0, p.mul(p.softplus(L), p.sigmoid(r)))
        beside = p.sqrt(p.minus(p.apply("math.expm1", p.times(2.0, log_a))))
        h = p.decay(p.state("h", (V,), 0), log_a, (0,))
        h = p.add(h, p.mul(beside, p.mul(p.sigmoid(i), x)))
        p.end(h, h=h)

    def step(x, r, i, L, h):
        log_a = -8 * softplus(L) * sigmoid(r)
        h = np.exp(log_a) * h + np.sqrt(-np.expm1(2 * log_a)) * sigmoid(i) * x
        return h, h


def mamba2(dt):
    return lambda: body("mamba2", lambda x: {"dt": np.full_like(x["dt"], dt),
                                             "dt_bias": 0 * x["dt_bias"], "d": 0 * x["d"]}, 0.0)


ITEMS = [
    Item(1, "log-decay -5 at every token and channel", lambda: body("gla", same("g", -5.0))),
    *(Item(1, "log-decay -6 at every token",
           lambda name=name: body(name, same("g", -6.0), tokens=130), (0, 64))
      for name in ("scalar-decay", "gla", "gated-delta", "kda")),
    *(Item(2, "log-decay -200 inside a chunk", lambda name=name: body(name, gates(7, -200.0)))
      for name in ("scalar-decay", "gla", "kda")),
    Item(2, "log-decay -200 against two sequences",
         lambda: body("scalar-decay", gates(7, -200.0), reference=two_sequences)),
    *(Item(3, f"log-decays {what}",
           lambda name=name, change=change: body(name, change, tokens=130), BLOCKS)
      for what, change in (("-5", same("g", -5.0)), ("-20.3 and -0.0137 by turns", alternating))
      for name in ("gla", "kda")),
    Item(4, "log-decay -1000 at every token", lambda: body("scalar-decay", same("g", -1000.0)),
         (0, 64)),
    Item(5, "log-decay -0.08, 65536 tokens",
         lambda: body("scalar-decay", same("g", -0.08), tokens=65536, heads=1, key=2, value=2),
         (0, 64)),
    Item(6, "log-decay -1e-6, key 1 - e^g", lambda: body("hgrn2", same("g", -1e-6), 0.0)),
    Item(6, "log-decay -1e-6, weight 1 - e^g", lambda: body("hgrn", same("g", -1e-6), 0.0)),
    Item(6, "log-decay about -1e-11, weights 1 - e^f",
         lambda: system("gsa", same("x", 23.0), start={"Y": 0, "Z": 0})),
    Item(6, "log-decay about -1e-12, weight sqrt(1 - a^2)", lambda: system(rg_lru)),
    *(Item(7, "log-decay -inf inside a chunk", lambda name=name: body(name, gates(7, -np.inf)))
      for name in ("scalar-decay", "gla", "gated-delta", "kda")),
    Item(8, "2^(g log2 e) for e^g", lambda: system(exp2_decay)),
    Item(9, "softplus of -20", mamba2(-20.0)),
    Item(9, "softplus of 30", mamba2(30.0)),
    Item(10, "steps clamped on both sides", lambda: system(clamped_steps, dtype="f32")),
    Item(10, "decay rate clamped to 1e-4", lambda: system("mamba3", same("a", -20.0))),
    *(Item(11, f"log sigmoid of {x}",
           lambda x=x: system("mlstm_sigmoid", same("f", x), dtype="f32"))
      for x in (-100, 100)),
    Item(12, "log-decay -e^5", lambda: body("rwkv6", same("w", -np.exp(5.0)))),
]
