"""Bodies of states that are mixed: each begins a token as a sum of the old ones.

More of unnamed_bodies.py, in its notation.
"""

import numpy as np

from .unnamed_bodies import K, V, inside as register

BODIES = {}


def inside(**domain):
    return register(BODIES, **domain)


def choose(p, number, above, below):
    """One of two states: `above` where the number is over 1/2."""
    return p.custom(p.shapes[above], """
{name}_h = arith.constant 0.5 : {t0}
{name}_c = arith.cmpf ogt, {0}, {name}_h : {t0}
{name} = arith.select {name}_c, {1}, {2} : {type}
""", lambda x, a, b: np.where(x.reshape(-1, *(1,) * (a.ndim - 1)) > 0.5, a, b),
                    number, above, below)


def nothing(p, state):
    return p.constant(0.0, p.shapes[state])


def combine(p, A, B):
    """a A + b B."""
    return p.add(p.scale(p.number(-0.5, 0.5), A), p.scale(p.number(-0.5, 0.5), B))


def shared_steps(p):
    """Decays per row, and an erase, alike for every state that they are applied to."""
    gate, key, strength, value = p.gate((K,)), p.key(), p.number(), p.vector()
    return lambda S: p.erase(p.rows(S, gate), key, strength, value)


@inside(batch=2)
def two_mixed_states(p):
    """A' = a A + b B, B' = c A + d B, decayed and erased alike; A' has a write of its own. Reads
    before, between and behind these."""
    A, B, gate, key, strength, value = (p.state("A"), p.state("B"), p.gate((K,)), p.key(),
                                        p.number(), p.vector())
    outs = []

    def step(S):
        outs.append(p.get(S, p.key()))
        S = p.rows(S, gate)
        outs.append(p.get(S, p.key()))
        return p.erase(S, key, strength, value)
    A1, B1 = (step(combine(p, A, B)) for _ in range(2))
    A2 = p.put(A1, p.key(), p.vector())
    q = p.key()
    p.end(*outs, p.get(A1, q), p.get(A2, q), p.get(B1, q), A=A2, B=B1)


@inside(offsets=[0, 5, 5, 24, 37], reverse=True)
def states_that_move_on(p):
    """A moves into B, and B into C or nowhere; A' = k v^T. Two erases, one of two writes."""
    p.axis = 1
    A, B, C = p.state("A"), p.state("B"), p.state("C")
    gates, keys, strengths = ([p.gate(), p.gate((K,))], [p.key() for _ in range(4)],
                              [p.number() for _ in range(3)])

    def step(S):
        S = p.erase(p.decay(S, gates[0]), keys[0], strengths[0])
        S = p.rows(S, gates[1])
        r = p.get(S, keys[1])
        S = p.put(S, keys[2], p.scale(strengths[1], r))
        return p.put(S, keys[3], p.minus(p.scale(strengths[2], p.add(r, p.get(S, keys[3])))))
    move, number = p.number(), p.number()
    A1 = p.put(p.constant(0.0, p.shapes[A]), p.key(), p.vector())
    B1 = step(choose(p, move, A, B))
    C1 = step(choose(p, move, p.add(C, choose(p, number, B, nothing(p, B))), C))
    q = p.key()
    p.end(p.get(A1, q), p.get(B1, q), p.get(C1, p.key()), A=A1, B=B1, C=C1)


@inside(every=12)
def state_that_begins_anew(p):
    """S' = S or nothing, erased; a state of one level, with checkpoints."""
    S = p.state()
    X = p.decay(choose(p, p.number(0, 0.6), nothing(p, S), S), p.gate())
    X = p.erase(X, p.key(), p.number(), p.vector())
    p.end(p.get(X, p.key()), S=X)


@inside(offsets=[0, 3, 20, 37])
def mixed_states_of_rank_1(p):
    """a' = x a - y b, b' = x b + y a, decayed alike, and each with a key."""
    a, b, x, y, gate = p.state("a", (K,)), p.state("b", (K,)), p.number(), p.number(), p.gate((K,))
    one = p.constant(1.0)
    step = lambda s: p.write(p.rows(s, gate), p.key(), 0, one)
    a1 = step(p.sub(p.scale(x, a), p.scale(y, b)))
    b1 = step(p.add(p.scale(x, b), p.scale(y, a)))
    p.end(p.read(a1, p.key(), 0), p.read(b1, p.key(), 0), a=a1, b=b1)


@inside(batch=2)
def mixed_by_what_another_state_reads(p):
    """The numbers of A and B are read from Z, and what is read from A is written to S."""
    A, B, Z, S = p.state("A"), p.state("B"), p.state("Z"), p.state("S")
    Z1 = p.erase(p.decay(Z, p.gate()), p.key(), p.number(), p.vector())
    number = p.sigmoid(p.op("dot", (), p.get(Z1, p.key()), p.vector()))
    step = shared_steps(p)
    A1 = step(p.add(p.scale(number, A), p.scale(p.number(-0.5, 0), B)))
    B1 = step(choose(p, number, B, nothing(p, B)))
    S1 = p.erase(p.decay(S, p.gate()), p.key(), p.number(), p.get(A1, p.key()))
    p.end(p.get(S1, p.key()), p.get(B1, p.key()), A=A1, B=B1, Z=Z1, S=S1)


@inside(dtype="f32")
def mixed_states_with_narrow_inputs(p):
    """Keys and values in bf16; B' has what was in A."""
    A, B, gate = p.state("A"), p.state("B"), p.gate((K,))
    A1 = p.put(p.rows(combine(p, A, B), gate), p.key(narrow=True), p.vector(narrow=True))
    B1 = p.rows(p.scale(p.number(-0.5, 0.5), A), gate)
    p.end(p.get(A1, p.key(narrow=True)), p.get(B1, p.key()), A=A1, B=B1)
