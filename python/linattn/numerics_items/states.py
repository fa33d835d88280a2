"""States beside a sum of writes: normalisers, running maxima, angles, solves, moments, levels."""

from dataclasses import replace

import numpy as np

from ..causal_systems.system import K, V
from .decays import at, same
from .item import Item, every_split
from .subjects import body, own, system


def normaliser(name, divisor, numpy_divisor):
    """f = max(x, 0);  S' = S + f(k) v^T, z' = z + f(k);  o = S'^T f(q) / divisor(z'^T f(q))."""

    class made:
        def body(p):
            zero = p.constant(0.0, (K,))
            q, k = (p.larger(x, zero) for x in (p.normal(K), p.normal(K)))
            S = p.put(p.state("S", start=0), k, p.normal(V))
            z = p.write(p.state("z", (K,), 0), k, 0, p.constant(1.0))
            n = p.plus(1.0, p.op("position", ()))
            o, sum_ = p.get(S, q), p.read(z, q, 0)
            p.end(divisor(p, o, sum_, n), S=S, z=z)

        def sequence(q, k, v, S, z):
            q, k = np.maximum(q, 0), np.maximum(k, 0)
            weights, n = np.tril(q @ k.T), 1 + np.arange(len(q))
            out = numpy_divisor(weights @ v, weights.sum(axis=1)[:, None], n[:, None])
            return out, [k.T @ v, k.sum(axis=0)]

    made.__name__, made.__doc__ = name, normaliser.__doc__
    return own(made)


SUM = normaliser("sum_of_weights", lambda p, o, s, n: p.over(o, p.plus(1e-10, s)),
                 lambda o, s, n: o / (s + 1e-10))
MEAN = normaliser("mean_of_weights",
                  lambda p, o, s, n: p.over(p.over(o, n), p.plus(1e-6, p.div(s, n))),
                  lambda o, s, n: o / n / (s / n + 1e-6))
CLAMP = normaliser("clamped_weights",
                   lambda p, o, s, n: p.over(o, p.larger(s, p.constant(1e-6))),
                   lambda o, s, n: o / np.maximum(s, 1e-6))


def small_keys(x):
    """Keys of size 1e-7; to the first one, the first query is orthogonal."""
    return {"q": at(x["q"], 0, -x["k"][:, 0]), "k": 1e-7 * x["k"]}


@own
class padded_lightnet:
    """z' = log(e^z + e^k), m = max(z', -1e38);  S' = diag(e^(z - m)) S + e^(k - m) v^T;
    o = S'^T q.  k = -inf is padding, also in front."""

    def body(p):
        q, k, v = p.normal(K), p.uniform(-5, 5, K), p.normal(V)
        z, S, low = p.state("z", (K,), -np.inf), p.state("S", (K, V), 0), p.constant(-1e38, (K,))
        top = p.larger(p.larger(z, k), low)
        new = p.add(top, p.log(p.add(*(p.exp(p.sub(x, top)) for x in (z, k)))))
        m = p.larger(new, low)
        S = p.put(p.rows(S, p.sub(z, m)), p.exp(p.sub(k, m)), v)
        p.end(p.get(S, q), z=new, S=S)

    def sequence(q, k, v, z, S):
        """What is written without the padding; 0 is read before the first token."""
        logs = np.where(np.tri(len(q), dtype=bool)[:, :, None], k[None], -np.inf)
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - np.where(np.isfinite(top), top, 0))
        total = weights.sum(axis=1, keepdims=True)
        states = np.einsum("tsk,sv->tkv", weights / np.where(total > 0, total, 1), v)
        return np.einsum("tk,tkv->tv", q, states), (np.logaddexp.reduce(k), states[-1])


def padded(*tokens):
    def change(x):
        k = x["k"].copy()
        k[:, list(tokens)] = -np.inf
        return {"k": k}
    return change


def as_from_nothing(subject, plan, folder):
    """The same outs and end as from a running maximum of -inf."""
    want = mlstm(positive, m=-np.inf)().want()
    return subject.error(subject.run(folder, plan), want), subject.bound(plan)


def positive(x):
    return {"i": np.abs(x["i"])}


def mlstm(change, **start):
    """From empty states."""
    return lambda: system("mlstm_exponential", change, {"C": 0, "n": 0, **start}, dtype="f32")


def low_keys(x):
    """The first ones such that e^k is 0 in float32."""
    return {"k": np.where(np.arange(x["k"].shape[1])[:, None, None] < 8, -120.0, x["k"])}


def whole_turns(subject, plan, folder):
    """Three turns more at the start change nothing but the angle."""
    (_, angle), *others = subject.states
    results = subject.run(folder, plan, states=[angle + 6 * np.pi, *(x for _, x in others)])
    results[subject.outs] = results[subject.outs] - 6 * np.pi
    return subject.error(results), subject.bound(plan)


def strong_moments(x):
    """Nothing is forgotten, and the ridge is 1/4: the condition of the matrix grows."""
    return {name: np.full_like(x[name], value) for name, value in dict(g=6, b=6, l=-20).items()}


def mesa(divisor=None):
    """divisor: what is added to those of the conjugate gradients, as text."""
    made = system("mesa", strong_moments, tokens=100)
    if divisor is None:
        return made
    return replace(made, text=lambda packed: made.text(packed).replace("1.0e-300", divisor))


LEVELS = ("log_linear_mamba2", "log_linear_mamba2_blocks", "log_linear_gdn",
          "log_linear_gdn_blocks")

ITEMS = [
    *(Item(36, "keys of size 1e-7, a first denominator of 0",
           lambda made=made: system(made, small_keys, dtype="f32")) for made in (SUM, MEAN, CLAMP)),
    Item(37, "input gate 80 at every token", mlstm(same("i", 80.0))),
    Item(37, "input gates 80 and -80 by turns", mlstm(lambda x: {
        "i": 80.0 * (-1) ** np.arange(37)[None, :, None] + 0 * x["i"]})),
    Item(37, "forget gate -80 inside a chunk", mlstm(lambda x: {"f": at(x["f"], 7, -80.0)})),
    Item(37, "a running maximum from -20", mlstm(positive, m=-20.0), check=as_from_nothing),
    Item(38, "first keys of -120, maximum from -1e38",
         lambda: system("rwkv4", low_keys, dtype="f32")),
    Item(39, "padding inside", lambda: system("lightnet", padded(7), dtype="f32")),
    Item(39, "padding inside", lambda: system("abc", lambda x: {"x": at(x["x"], 7, -np.inf)})),
    Item(39, "padding in front and inside",
         lambda: system(padded_lightnet, padded(0, 1, 7), dtype="f32")),
    *(Item(40, "every split", lambda name=name: system(name, tokens=21), (8,), every_split)
      for name in ("mamba3", "mamba3_rank_2")),
    Item(40, "three turns more at the start", lambda: system("mamba3"), check=whole_turns),
    Item(41, "conjugate gradients against a solve", mesa),
    Item(41, "the same, 1e-5 in the quotients", lambda: mesa("1.0e-5"), bound=5e-3),
    Item(42, "second moments with decay", lambda: body("hla")),
    Item(42, "second moments without decay, 2048 tokens",
         lambda: body("hla", same("log_gamma", 0.0), 0.0, tokens=2048), (0, 64)),
    *(Item(43, "sequences of 1, 2, 3, 63, 64 and 65 tokens",
           lambda name=name: system(name, tokens=198, offsets=[0, 1, 3, 6, 69, 133, 198]))
      for name in LEVELS),
]
