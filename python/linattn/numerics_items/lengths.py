"""Numbers of tokens, sequences, states that are carried on, directions, heads and threads."""

import numpy as np

from ..bodies import BODIES
from ..scan import Result
from .item import Item, every_split, no_leak, same_bits
from .subjects import body, own, system

PADDED = 24  # tokens before the padding


def padding(x):
    """k = v = 0, beta = 0, no decay."""
    late = np.arange(x["v"].shape[1]) >= PADDED
    return {name: np.where(late.reshape(-1, *[1] * (x[name].ndim - 2)), 0, x[name])
            for name in ("k", "v", "g", "beta")}


def without_padding(q, k, v, g, beta, **options):
    """The tokens before it; those in it read what these left."""
    made = BODIES["gated-delta"].reference(*(x[:, :PADDED] for x in (q, k, v, g, beta)), **options)
    late = np.einsum("bthk,bhkv->bthv", q[:, PADDED:].astype(made.out.dtype), made.states[0])
    return Result(np.concatenate([made.out, late], axis=1), made.states, [])


def flipped(name):
    """The reference on the tokens in reverse order."""
    def run(*inputs, reverse, **options):
        made = BODIES[name].reference(*(x[:, ::-1] for x in inputs), **options)
        return Result(made.out[:, ::-1], made.states, [])
    return run


@own
class direction:
    """S' = e^g S + k v^T;  o = S'^T q."""

    def body(p):
        q, k, v, g = p.normal(6), p.key(), p.normal(5), p.uniform(-1, 0)
        X = p.decay(p.state("S", start=0), g)
        S = p.put(X, k, v)
        p.end(p.get(X if p.reverse else S, q), S=S)

    def sequence(q, k, v, g, S):
        """Both directions, the token itself once."""
        total = np.cumsum(g)
        before = np.exp(-np.abs(np.subtract.outer(total, total)))
        late = np.abs(np.subtract.outer(total - g, total - g))  # what a token from behind meets
        weights = np.where(np.tri(len(q), dtype=bool), before, np.exp(-late)) * (q @ k.T)
        return weights @ v, [(np.exp(total[-1] - total)[:, None] * k).T @ v]


def both_directions(subject, plan, folder):
    """With a run from the right that reads before it writes."""
    results = subject.run(folder, plan)
    back = system(direction, reverse=True).run(folder, plan)
    return subject.error([results[0] + back[0], results[1]]), subject.bound(plan)


def grouped(name, ratio, group):
    return lambda: body(name, heads=8, ratio=ratio, group=group)


PACKED = dict(layout="packed", tokens=21, lengths=(0, 5, 0, 16))
SYSTEMS = ("hgrn", "gsa", "rwkv4", "mlstm_exponential", "log_linear_gdn_blocks", "mesa", "vla")

ITEMS = [
    Item(19, "16 tokens of padding at the end",
         lambda: body("gated-delta", padding, reference=without_padding)),
    *(Item(26, "every split",
           lambda name=name: body(name, dtype="f64", tokens=21), (8,), every_split)
      for name in ("gated-delta", "kda", "rwkv6", "mamba2", "normalised", "delta-product")),
    *(Item(26, "every split", lambda name=name: system(name, tokens=21), (8,), every_split)
      for name in SYSTEMS),
    Item(27, "no token", lambda: body("gated-delta", tokens=0)),
    Item(27, "no token", lambda: system("gsa", tokens=0)),
    Item(28, "one token", lambda: body("gated-delta", tokens=1)),
    Item(28, "one token", lambda: system("slice_block_diagonal", tokens=1)),
    *(Item(29, "17 tokens", lambda name=name: body(name, tokens=17))
      for name in ("gated-delta", "gla")),
    *(Item(30, "sequences of 0, 5, 0 and 16 tokens", lambda name=name: body(name, **PACKED))
      for name in ("gated-delta", "gla", "rwkv6")),
    *(Item(30, "share of numbers that other sequences change",
           lambda name=name: body(name, **PACKED), (16,), no_leak)
      for name in ("gated-delta", "gla", "rwkv6")),
    *(Item(30, "share of numbers that other sequences change",
           lambda name=name: system(name, tokens=21, offsets=[0, 0, 5, 5, 21]), (8,), no_leak)
      for name in ("rwkv4", "gsa")),
    Item(32, "bf16 inputs, f32 state", lambda: body("linear", dtype="bf16")),
    *(Item(33, "in reverse: the state enters on the right",
           lambda name=name: body(name, reverse=True, reference=flipped(name)))
      for name in ("gla", "gated-delta")),
    Item(34, "both directions, the token itself once", lambda: system(direction),
         check=both_directions),
    *(Item(35, f"{ratio} heads of values to one of keys, {word}",
           grouped(name, ratio, group), (16,))
      for name in ("gated-delta", "kda")
      for ratio, group, word in ((1, "none", "plain"), (2, "floordiv", "interleaved"),
                                 (2, "mod", "tiled"), (4, "floordiv", "interleaved"),
                                 (4, "mod", "tiled"))),
    *(Item(44, "share of numbers that differ with 1, 2 and 3 threads",
           lambda name=name: body(name, heads=6), (16,), same_bits)
      for name in ("scalar-decay", "gated-delta", "kda", "mamba2")),
]
