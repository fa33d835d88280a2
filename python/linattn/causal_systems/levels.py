"""Log-linear attention: a state per level of a Fenwick tree of tokens, read with its own weight.

Token s is on level bit_length(t xor s) for token t, 0 for s = t; the last level holds all others.
There are two ways to write it. The states of the levels are merged like a binary counter; or those
of all tokens up to a level are kept: they belong to the block of 2^level tokens around t, and begin
afresh with it.
"""

import numpy as np

from .system import K, LOW_RANK, V, system

TOP = 4  # levels 0 .. TOP
FENWICK = {f"S{level}": LOW_RANK for level in range(TOP + 1)}
BLOCKS = {f"P{level}": LOW_RANK for level in range(1, TOP + 1)}

# The zeros at the end of the token's position; many if that is 0.
ZEROS = """
~t = linattn.index 1
~i = arith.index_cast ~t : index to i64
~z = math.cttz ~i : i64
{name} = arith.sitofp ~z : i64 to f64
"""

# {0}: zeros, {1}: the state of level L + 1, {2}: the sum of all levels below, which moves into it
# after L zeros; after more it has moved on itself.
CARRY = """
~l = arith.constant L.0 : f64
~0 = arith.constant dense<0.0> : {type}
~stays = arith.cmpf olt, {0}, ~l : f64
~gets = arith.cmpf oeq, {0}, ~l : f64
~new = arith.select ~gets, {2}, ~0 : {type}
{name} = arith.select ~stays, {1}, ~new : {type}
"""
CARRY_TO_TOP = """
~l = arith.constant L.0 : f64
~stays = arith.cmpf olt, {0}, ~l : f64
~sum = arith.addf {1}, {2} : {type}
{name} = arith.select ~stays, {1}, ~sum : {type}
"""

# 1 inside the block of 2^L tokens, 0 at its first one; {0}: zeros.
INSIDE = """
~l = arith.constant L.0 : f64
~p = arith.cmpf olt, {0}, ~l : f64
{name} = arith.uitofp ~p : i1 to f64
"""
ENTRY = """
~i = arith.constant L : index
{name} = tensor.extract {0}[~i] : {t0}
"""


def inputs(p, delta):
    """q, k, v, the log-decay, the weights of the levels, and the strength of a delta rule."""
    p.positions = np.zeros(len(p.offsets) - 1 if p.offsets else p.batch, int)
    made = (p.normal(K), p.key() if delta else p.normal(K), p.normal(V), p.uniform(-0.3, 0),
            p.uniform(0, 1, TOP + 1))
    return (*made, p.number() if delta else None, p.mlir((), ZEROS))


def transition(p, S, k, g, b):
    """e^g S, or e^g (S - b k k^T S)."""
    X = p.decay(S, g)
    return X if b is None else p.put(X, k, p.minus(p.scale(b, p.get(X, k))))


def fenwick(p, delta):
    q, k, v, g, weights, b, zeros = inputs(p, delta)
    names = list(FENWICK)
    old = [p.state(name, start=0) for name in names]
    v = v if b is None else p.scale(b, v)
    new, below = [p.put(p.constant(0.0, (K, V)), k, v)], old[0]
    for level in range(1, TOP + 1):
        carry = (CARRY if level < TOP else CARRY_TO_TOP).replace("L.0", f"{level - 1}.0")
        S = p.mlir((K, V), carry, zeros, old[level], below)
        new.append(transition(p, S, k, g, b))
        below = p.add(below, old[level])
    reads = [p.scale(p.mlir((), ENTRY.replace("L", str(level)), weights), p.get(S, q))
             for level, S in enumerate(new)]
    out = reads[0]
    for read in reads[1:]:
        out = p.add(out, read)
    p.end(out, **dict(zip(names, new)))


def blocks(p, delta):
    q, k, v, g, weights, b, zeros = inputs(p, delta)
    weights = [p.mlir((), ENTRY.replace("L", str(level)), weights) for level in range(TOP + 1)]
    v = v if b is None else p.scale(b, v)
    out = p.scale(p.mul(p.sub(*weights[:2]), p.dot(q, k)), v)
    new = {}
    for level in range(1, TOP + 1):
        P = p.state(f"P{level}", start=0)
        if level < TOP:
            P = p.decay(P, p.mlir((), INSIDE.replace("L.0", f"{level}.0"), zeros), linear=True)
        P = new[f"P{level}"] = p.put(transition(p, P, k, g, b), k, v)
        weight = p.sub(*weights[level:level + 2]) if level < TOP else weights[TOP]
        out = p.add(out, p.scale(weight, p.get(P, q)))
    p.end(out, **new)


def level_of(T):
    """[T, T]: of token s for token t."""
    t = np.arange(T)
    length = np.vectorize(lambda n: int(n).bit_length(), otypes=[int])
    return np.minimum(length(np.bitwise_xor.outer(t, t)), TOP)


def dense(q, k, v, g, weights, b):
    """(tril(Q K^T) (I + tril(diag(b) K K^T, -1))^-1 * weight of the level * decay) diag(b) V,
    and the state of every level at the end."""
    T, total = len(q), np.cumsum(g)
    level, seen = level_of(T), np.tri(T, dtype=bool)
    decay = np.exp(np.where(seen, np.subtract.outer(total, total), -np.inf))
    scores = np.tril(q @ k.T)
    keys = k
    if b is not None:
        scores = scores @ np.linalg.inv(np.eye(T) + np.tril(b[:, None] * (k @ k.T), -1))
        v, keys, after = b[:, None] * v, k.copy(), np.eye(K)
        for s in reversed(range(T)):
            keys[s] = after @ k[s]
            after = after @ (np.eye(K) - b[s] * np.outer(k[s], k[s]))
    out = (scores * decay * weights[np.arange(T)[:, None], level]) @ v
    if not T:
        return out, [np.zeros((K, V))] * (TOP + 1)
    last = decay[-1] * (level[-1] == np.arange(TOP + 1)[:, None])  # [TOP + 1, T]
    return out, list(np.einsum("ns,sk,sv->nkv", last, keys, v))


def up_to(result):
    out, ends = result
    return out, list(np.cumsum(ends, axis=0)[1:])


@system(**FENWICK)
class log_linear_mamba2:
    """Every level: S' = e^g S, merged before;  S_0 = k v^T;  o = the sum of w_l S_l'^T q."""

    def body(p):
        fenwick(p, delta=False)

    def sequence(q, k, v, g, weights, *_):
        return dense(q, k, v, g, weights, None)


@system(**BLOCKS)
class log_linear_mamba2_blocks:
    """The same with the states of the blocks of 2, 4, 8 .. tokens, the largest without end."""

    def body(p):
        blocks(p, delta=False)

    def sequence(q, k, v, g, weights, *_):
        return up_to(dense(q, k, v, g, weights, None))


@system(**FENWICK)
class log_linear_gdn:
    """Every level: S' = e^g (I - b k k^T) S, merged before;  S_0 = b k v^T;  o as above."""

    def body(p):
        fenwick(p, delta=True)

    def sequence(q, k, v, g, weights, b, *_):
        return dense(q, k, v, g, weights, b)


@system(**BLOCKS)
class log_linear_gdn_blocks:
    """The same with the states of blocks: gated delta rules that begin afresh with their block."""

    def body(p):
        blocks(p, delta=True)

    def sequence(q, k, v, g, weights, b, *_):
        return up_to(dense(q, k, v, g, weights, b))
