"""Bodies with several rows at once, and with steps along both axes of a state.

More of unnamed_bodies.py, in its notation. W, Y and so on are matrices of rows.
"""

import numpy as np

from .unnamed_bodies import K, V, inside as register

BODIES = {}


def inside(**domain):
    return register(BODIES, **domain)


# ---------------------------------------------------------------------------------------------------
# Several rows at once
# ---------------------------------------------------------------------------------------------------


def rows_of(p, numbers, rows, size):
    """A number per row, [R], as a matrix [R, size]."""
    return p.custom((rows, size), """
{name}_e = tensor.empty() : {type}
{name} = linalg.broadcast ins({0} : {t0}) outs({name}_e : {type}) dimensions = [1]
""", lambda x: np.repeat(x[:, :, None], size, axis=2), numbers)


def to_rows(p, vector, rows):
    """The same vector in every row."""
    size = p.shapes[vector][0]
    return p.custom((rows, size), """
{name}_e = tensor.empty() : {type}
{name} = linalg.broadcast ins({0} : {t0}) outs({name}_e : {type}) dimensions = [0]
""", lambda x: np.repeat(x[:, None, :], rows, axis=1), vector)


def keys(p, rows, size=K):
    """Rows with a sum of squares of 1."""
    def draw(shape):
        x = p.rng.standard_normal(shape)
        return x / np.linalg.norm(x, axis=(-1, -2), keepdims=True)
    return p.drawn(draw, (rows, size))


def erase_rows(p, state, addresses, strengths, values=None):
    """S + W^T (b (U - W S)): all rows are read before one is written."""
    rows, size = p.shapes[addresses][0], p.shapes[state][1 - p.axis]
    read = p.get(state, addresses)
    change = p.minus(read) if values is None else p.sub(values, read)
    return p.put(state, addresses, p.mul(rows_of(p, strengths, rows, size), change))


@inside(batch=2, reverse=True)
def two_rows_written_and_read(p):
    """S' = e^g S + W^T U;  O = Q S', all of two rows."""
    X = p.put(p.decay(p.state(), p.gate()), keys(p, 2), p.number(-1, 1, (2, V)))
    p.end(p.get(X, keys(p, 2)), S=X)


@inside(offsets=[0, 5, 24, 37])
def two_rows_erased(p):
    """S' = diag(e^g) S;  S'' = S' + W^T (b (U - W S')), a number b for each of two rows."""
    X = p.rows(p.state(), p.gate((K,)))
    X = erase_rows(p, X, keys(p, 2), p.number(size=(2,)), p.number(-1, 1, (2, V)))
    p.end(p.get(X, p.key()), S=X)


@inside()
def three_rows_erased_then_one(p):
    """Three rows with one strength and one value, transposed, then an ordinary erase."""
    p.axis = 1
    S = p.state()
    W = keys(p, 3)
    change = p.sub(to_rows(p, p.vector(), 3), p.get(S, W))
    X = p.put(S, W, p.scale(p.number(), change))
    X = p.erase(p.decay(X, p.gate()), p.key(), p.number(), p.vector())
    p.end(p.get(X, keys(p, 2)), S=X)


@inside()
def rows_computed_from_one_read(p):
    """r = x^T S is written, scaled, at both rows of W;  z, of rank 1, is erased at the same rows."""
    S, z, W = p.state(), p.state("z", (K,)), keys(p, 2)
    r = to_rows(p, p.get(S, p.key()), 2)
    change = p.mul(r, rows_of(p, p.number(-0.5, 0.5, (2,)), 2, V))
    X = p.put(p.decay(S, p.number(-0.4, 0)), W, p.add(change, p.number(-1, 1, (2, V))))
    error = p.sub(p.number(-1, 1, (2,)), p.read(z, W, 0))
    y = p.write(p.decay(z, p.gate()), W, 0, p.scale(p.number(), error))
    p.end(p.get(X, p.key()), p.read(y, W, 0), S=X, z=y)


@inside(dtype="f32")
def narrow_rows(p):
    """S' = e^g S + W^T U;  O = tanh(Q) S', W and U in bf16."""
    W = p.drawn(lambda shape: p.rng.uniform(-0.4, 0.4, shape), (2, K), narrow=True)
    X = p.decay(p.state(), p.gate())
    X = p.put(X, W, p.drawn(p.rng.standard_normal, (2, V), narrow=True))
    Q = p.apply("math.tanh", p.number(-1, 1, (2, K)))
    p.end(p.get(X, Q), S=X)
