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


# ---------------------------------------------------------------------------------------------------
# Both axes
# ---------------------------------------------------------------------------------------------------


def across(p, state, address):
    """The read of the other axis: S r."""
    return p.read(state, address, 1 - p.axis)


def columns(p, state, gate, linear=False):
    """A decay per channel of the other axis."""
    return p.decay(state, gate, (1 - p.axis,), linear)


def value_side_erase(p, state, address, strength, keys_):
    """S + b (k - S v) v^T."""
    change = p.scale(strength, p.sub(keys_, across(p, state, address)))
    return p.write(state, address, 1 - p.axis, change)


@inside(batch=2)
def gated_oja(p):
    """S' = S diag(e^g);  S'' = S' + b (k - S' v) v^T;  o = q^T S''."""
    X = columns(p, p.state(), p.gate((V,)))
    X = value_side_erase(p, X, p.key(V), p.number(), p.key())
    p.end(p.get(X, p.key()), S=X)


@inside(offsets=[0, 0, 9, 10, 37], reverse=True)
def gated_oja_transposed(p):
    """The same for V x K, read before and after, and along the axis of the erase, too."""
    p.axis = 1
    S = p.state()
    X = p.decay(columns(p, S, p.gate((V,))), p.gate())
    Y = value_side_erase(p, X, p.key(V), p.number(), p.key())
    p.end(p.get(S, p.key()), p.get(X, p.key()), across(p, Y, p.key(V)), p.get(Y, p.key()), S=Y)


@inside()
def two_value_side_erases(p):
    """Two erases along axis 1 around a decay and a plain write; reads of both axes between."""
    X = value_side_erase(p, p.state(), p.key(V), p.number(0, 2), p.key())
    X = p.put(columns(p, X, p.gate((V,))), p.key(), p.vector())
    o = p.get(X, p.key())
    X = value_side_erase(p, p.decay(X, p.gate()), p.key(V), p.number(), p.key())
    p.end(o, across(p, X, p.key(V)), p.get(X, p.key()), S=X)


@inside(batch=2)
def reads_of_both_axes(p):
    """S' = e^g S;  S'' = S' + w (b (u - w^T S'))^T;  o = S'' x, y^T S''."""
    X = p.erase(p.decay(p.state(), p.gate()), p.key(), p.number(), p.vector())
    p.end(across(p, X, p.key(V)), p.get(X, p.key()), S=X)


@inside(reverse=True)
def reads_of_both_axes_with_channels(p):
    """The same with a decay per channel, of which reads of the other axis see the outer side."""
    S = p.state()
    o = across(p, S, p.key(V))
    X = p.rows(S, p.gate((K,)))
    a = across(p, X, p.key(V))
    X = p.erase(X, p.key(), p.number(), p.vector())
    b = across(p, X, p.key(V))
    X = p.put(p.rows(p.decay(X, p.gate()), p.gate((K,))), p.key(), p.vector())
    p.end(o, a, b, across(p, X, p.key(V)), p.get(X, p.key()), S=X)


@inside(offsets=[0, 5, 24, 37])
def reads_across_of_branches(p):
    """Branches with writes and decays of their own, read along the other axis."""
    S = p.state()
    branch = p.rows(p.put(p.decay(S, p.gate()), p.key(), p.vector()), p.gate((K,)))
    X = p.erase(p.rows(S, p.gate((K,))), p.key(), p.number(), p.vector())
    p.end(across(p, branch, p.key(V)), p.get(branch, p.key()), across(p, X, p.key(V)),
          across(p, p.put(branch, p.key(), p.vector()), p.key(V)), S=X)


@inside(batch=2)
def decay_of_columns(p):
    """S' = S diag(e^g) + k v^T;  o = q^T S'."""
    X = p.put(columns(p, p.state(), p.gate((V,))), p.key(), p.vector())
    p.end(p.get(X, p.key()), S=X)


@inside(offsets=[0, 1, 24, 37], reverse=True)
def decay_of_columns_transposed(p):
    """Writes and reads on both sides of a decay of columns and one of the whole state."""
    p.axis = 1
    S = p.state()
    X = p.put(S, p.key(), p.vector())
    X = p.decay(columns(p, X, p.gate((V,))), p.gate())
    o = p.get(X, p.key())
    X = p.put(columns(p, X, p.number(-1, 1, (V,)), linear=True), p.key(), p.vector())
    p.end(p.get(S, p.key()), o, p.get(X, p.key()), S=X)


@inside()
def decays_of_both_axes(p):
    """S' = diag(e^g) S diag(e^h) + k v^T, read along both axes before, between and after."""
    S = p.state()
    X = p.rows(S, p.gate((K,)))
    o, a = p.get(X, p.key()), across(p, X, p.key(V))
    Y = p.put(columns(p, X, p.gate((V,))), p.key(), p.vector())
    Z = p.decay(columns(p, Y, p.gate((V,))), p.gate())
    p.end(o, a, across(p, Y, p.key(V)), p.get(Z, p.key()), across(p, Z, p.key(V)), S=Z)


@inside(every=12)
def decay_of_columns_and_rows_written(p):
    """S' = S diag(e^g) + W^T U of two rows, checkpoints."""
    X = p.put(columns(p, p.state(), p.gate((V,))), keys(p, 2), p.number(-1, 1, (2, V)))
    p.end(p.get(X, keys(p, 2)), S=X)


def softmax(p, x, size):
    """exp(x) / sum(exp(x)), after a tanh that keeps it small."""
    e = p.apply("math.exp", p.apply("math.tanh", x))
    total = p.op("dot", (), e, p.constant(1.0, (size,)))
    return p.div(e, p.splat(total, (size,)))


@inside(batch=2)
def two_passes_with_softmax(p):
    """Slots: A' = A diag(e^g) + k (1 - e^g)^T, p = softmax(q^T A');  B' = diag(e^g) B + (1 - e^g) v^T,
    o = p^T B'."""
    slots = 4
    A, B, g = p.state("A", (K, slots)), p.state("B", (slots, V)), p.gate((slots,))
    rest = p.sub(p.constant(1.0, (slots,)), p.apply("math.exp", g))
    A1 = p.put(p.decay(A, g, (1,)), p.key(), rest)
    B1 = p.put(p.rows(B, g), rest, p.vector())
    p.end(p.get(B1, softmax(p, p.get(A1, p.key()), slots)), A=A1, B=B1)


@inside(offsets=[0, 3, 20, 37])
def two_passes_of_which_the_second_erases(p):
    """The same with an erase along the slots of B, whose strength comes from the first pass."""
    slots = 5
    A, B, g = p.state("A", (K, slots)), p.state("B", (slots, V)), p.gate((slots,))
    A1 = p.put(p.decay(A, g, (1,)), p.key(), p.vector(slots))
    weights = softmax(p, p.get(A1, p.key()), slots)
    X = p.erase(p.rows(B, g), weights, p.number(), p.vector())
    p.end(p.get(X, weights), across(p, X, p.key(V)), A=A1, B=X)


@inside()
def one_state_steers_another_across(p):
    """What is read across Z, an erased state, is erased from S."""
    Z, S = p.state("Z", (V, K)), p.state("S", (V, V))
    Z1 = p.erase(p.rows(Z, p.gate((V,))), p.key(V), p.number(), p.key())
    X = p.erase(S, p.key(V), p.number(), across(p, Z1, p.key()))
    p.end(p.get(X, p.key(V)), Z=Z1, S=X)


@inside()
def branches_with_decays_of_columns(p):
    """A branch decays its columns before and behind a write of its own; the trunk does not."""
    S = p.state()
    X = p.put(p.rows(S, p.gate((K,))), p.key(), p.vector())
    branch = p.put(columns(p, X, p.gate((V,))), p.key(), p.vector())
    a = across(p, branch, p.key(V))
    branch = p.decay(columns(p, branch, p.gate((V,))), p.gate())
    p.end(a, p.get(branch, p.key()), p.get(columns(p, S, p.gate((V,))), p.key()), S=X)


@inside(dtype="f32", batch=2)
def narrow_value_side_erase(p):
    """Values in bf16, keys computed;  S' = S diag(e^g) + b (tanh(k) - S' v) v^T."""
    X = columns(p, p.state(), p.gate((V,)))
    wide = p.op("extend", (V,), p.key(V, narrow=True))
    X = value_side_erase(p, X, wide, p.number(), p.apply("math.tanh", p.key()))
    p.end(p.get(X, p.key(narrow=True)), S=X)


# ---------------------------------------------------------------------------------------------------
# Decays of columns around erases
# ---------------------------------------------------------------------------------------------------


@inside(batch=2)
def decay_of_columns_with_an_erase(p):
    """S' = S diag(e^g);  S'' = S' + w (b (v - w^T S'))^T."""
    X = p.erase(columns(p, p.state(), p.gate((V,))), p.key(), p.number(), p.vector())
    p.end(p.get(X, p.key()), S=X)


@inside(offsets=[0, 5, 5, 24, 37], reverse=True)
def erases_between_decays_of_both_axes(p):
    """Two erases with columns decayed before, between and behind them, and rows as well. Reads of
    both axes after each step."""
    p.axis = 1
    X, outs = p.state(), []

    def see(state):
        outs.extend([p.get(state, p.key()), across(p, state, p.key(V))])
        return state
    X = see(columns(p, see(X), p.gate((V,))))
    X = see(p.erase(p.rows(X, p.gate((K,))), p.key(), p.number()))
    X = see(columns(p, p.decay(X, p.gate()), p.number(-1, 1, (V,)), linear=True))
    X = see(p.put(X, p.key(), p.vector()))
    X = see(p.erase(X, p.key(), p.number(), p.vector()))
    X = see(columns(p, X, p.gate((V,))))
    p.end(*outs, S=X)


@inside(every=12)
def one_read_feeds_two_writes_between_decays_of_columns(p):
    """r = w^T S' is written twice, with a plain write and a decay of rows between;  S' has columns
    decayed. A branch decays columns for what is read only."""
    S = p.state()
    X = p.put(columns(p, S, p.gate((V,))), p.key(), p.vector())
    r = p.get(X, p.key())
    X = p.put(X, p.key(), p.scale(p.number(-0.5, 0), r))
    X = p.put(p.rows(X, p.gate((K,))), p.key(), p.vector())
    X = p.put(X, p.key(), p.sub(p.vector(), p.scale(p.number(), r)))
    branch = p.put(columns(p, X, p.gate((V,))), p.key(), p.vector())
    p.end(p.get(branch, p.key()), p.get(X, p.key()), S=X)


@inside()
def branch_decays_columns_behind_an_erase(p):
    """An ordinary erase;  what is read of a branch has columns decayed."""
    X = p.erase(p.rows(p.state(), p.gate((K,))), p.key(), p.number(), p.vector())
    branch = columns(p, X, p.gate((V,)))
    p.end(p.get(branch, p.key()), across(p, branch, p.key(V)), S=X)


@inside(dtype="f32")
def narrow_decay_of_columns_with_an_erase(p):
    """Keys and values in bf16."""
    X = columns(p, p.state(), p.gate((V,)))
    v = p.op("extend", (V,), p.vector(narrow=True))
    X = p.erase(X, p.key(narrow=True), p.number(), v)
    p.end(p.get(X, p.key(narrow=True)), S=X)
