"""The inverse that a chunk of a delta rule needs, and delta rules' signs and orders."""

import numpy as np

from .. import reference
from ..numerics import l2norm, sigmoid
from ..scan import Result
from .item import Item
from .subjects import body, own, system

SIZES = (0, 16, 32, 64)
C = 64  # tokens of the inverse that is looked at


def alike(x, noise=0.0):
    """The first key at every token, with noise, of length 1."""
    x = x[:, :1] + noise * x
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def keys(noise, beta, **gates):
    """Keys alike up to noise, or random ones, and one beta."""
    def change(x):
        made = {name: np.full_like(x[name], g) for name, g in {"beta": beta, **gates}.items()}
        return made if noise is None else {**made, "k": alike(x["k"], noise)}
    return change


def delta(change, **options):
    return lambda: body("gated-delta", change, **{"tokens": C, **options})


@own
class inverse:
    """d = b (v - k^T S);  S' = S + k d^T;  o = d.  With S = 0 and v = e_t, o is a row of
    (I + tril(diag(b) K K^T, -1))^-1 diag(b)."""

    def body(p):
        k, b = p.key(32), p.number(1, 1)
        v = p.drawn(lambda shape: np.eye(C)[None, :, None] + np.zeros(shape), (C,))
        S = p.state("S", (32, C), 0)
        d = p.scale(b, p.sub(v, p.get(S, k)))
        p.end(d, S=p.put(S, k, d))

    def sequence(k, b, v, S):
        rows = np.linalg.inv(np.eye(C) + np.tril(b[:, None] * (k @ k.T), -1)) @ (b[:, None] * v)
        return rows, [k.T @ rows]


def entries(beta, length=1.0, noise=None):
    def change(x):
        return {"k": length * (x["k"] if noise is None else alike(x["k"], noise)),
                "b": np.full_like(x["b"], beta)}
    return lambda: system(inverse, change, tokens=C, dtype="f32")


def largest_entry(subject, plan, folder):
    """By how much that of the inverse, which is what is read over beta, is beyond beta."""
    beta = subject.inputs[1][1][..., None]
    return max(0, np.abs(subject.run(folder, plan)[0] / beta).max() - beta.max()), 1e-6


@own
class rwkv7:
    """w = -0.606531 s(w_0), a = s(a_0), n = unit(k m);  S' = diag(e^w) S - (n a) (n^T S) + k' v^T,
    k' = k (1 + (a - 1) l);  o = S'^T r."""

    def body(p):
        r, w, k, v, a = (p.normal(8) for _ in range(5))
        m, l = p.normal(8, per_token=False), p.normal(8, per_token=False)
        w, a, km = p.times(-0.606531, p.sigmoid(w)), p.sigmoid(a), p.mul(k, m)
        n = p.over(km, p.length(km, eps=1e-12))
        k = p.mul(k, p.plus(1.0, p.mul(p.plus(-1.0, a), l)))
        S = p.state("S", (8, 8))
        X = p.put(p.rows(S, w), p.mul(n, a), p.get(S, p.minus(n)))
        S = p.put(X, k, v)
        p.end(p.get(S, r), S=S)

    def step(r, w, k, v, a, m, l, S):
        w, a, n = -0.606531 * sigmoid(w), sigmoid(a), l2norm(k * m, eps=1e-12)
        S = (np.diag(np.exp(w)) - np.outer(n * a, n)) @ S + np.outer(k * (1 + (a - 1) * l), v)
        return r @ S, S


def full_erase(sign):
    """RWKV-7's transition with a = 1: the minus at the key that is read, or at the one written."""
    return lambda x: {"g": np.full_like(x["g"], -0.6065), "a": sign * x["a"], "b": -sign * x["a"]}


def minus_moved(q, k, v, g, a, b, **options):
    return reference.dplr(q, k, v, g, -a, -b, **options)


def reads_what_is_written(q, k, v, g, x, gamma, beta, states, **options):
    """The key e = k of length 1 is erased before the write, and so k^T S' = beta v."""
    result = reference.eda(q, k, v, g, x, gamma, beta, states=states, **options)
    return Result(beta[..., None] * v, result.states, [])


def erase_at_the_key(x):
    return {"q": x["k"], "x": x["k"], "gamma": np.ones_like(x["gamma"])}


ITEMS = [
    *(Item(13, f"the inverse: {what}, beta {beta}", entries(beta, length, noise), (0, 64))
      for what, length, noise, beta in (("random unit keys", 1, None, 1), ("one key", 1, 0.0, 2),
                                        ("keys of length 2", 2, None, 1))),
    *(Item(13, f"an entry of it beyond {beta}: {what}, beta {beta}", entries(beta, 1, noise),
           (0, 64), largest_entry)
      for what, noise, beta in (("random unit keys", None, 1), ("keys with 5 % noise", 0.05, 1),
                                ("one key", 0.0, 1), ("one key", 0.0, 2))),
    Item(14, "one key at every token, beta 1, no decay", delta(keys(0.0, 1.0, g=0)), SIZES),
    *(Item(15, f"keys with 5 % noise, beta {beta}, no decay", delta(keys(0.05, beta, g=0)), SIZES)
      for beta in (1, 1.99)),
    Item(16, "random keys, beta 1", delta(keys(None, 1.0)), (0, 64)),
    Item(18, "keys with 5 % noise in bf16, beta 1, no decay",
         delta(keys(0.05, 1.0, g=0), dtype="bf16"), (0, 64)),
    Item(20, "decay and sign as RWKV-7, a full erase", lambda: body("dplr", full_erase(1))),
    Item(20, "the same, its minus at the write",
         lambda: body("dplr", full_erase(-1), reference=minus_moved)),
    Item(20, "raw gates", lambda: system(rwkv7, dtype="f32")),
    Item(21, "log-decay -1, beta 2: reads the decayed state", delta(keys(None, 2.0, g=-1.0))),
    Item(21, "log-decay -1, beta 2: reads the state before",
         lambda: body("comba", keys(None, 2.0, g=-1.0))),
    Item(22, "erases e = k with strength 1 before the write",
         lambda: body("eda", erase_at_the_key, reference=reads_what_is_written)),
    Item(23, "beta 2: the key's sign turns", delta(keys(0.0, 2.0, g=0), tokens=40)),
    *(Item(24, "17 tokens of a system whose public references disagree",
           lambda name=name: body(name, tokens=17), (16,))
      for name in ("comba", "hgrn", "rwkv6", "delta-product")),
    Item(25, "a step that changes no input", lambda: system("ttt_linear")),
]
