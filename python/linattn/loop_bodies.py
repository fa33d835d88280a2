"""Bodies with loops that read states: all tokens of a chunk go through them at once.

More of unnamed_bodies.py, in its notation.
"""

import numpy as np

from .unnamed_bodies import K, V, inside as register

BODIES = {}


def inside(**domain):
    return register(BODIES, **domain)


def times(state, x):
    """x^T S of every head."""
    return np.einsum("nk,nkv->nv", x, state)


BEGIN = """
{{name}}_0 = arith.constant 0 : index
{{name}}_1 = arith.constant 1 : index
{{name}}_n = arith.constant {count} : index
{{name}} = scf.for {{name}}_i = {{name}}_0 to {{name}}_n step {{name}}_1
    iter_args({{name}}_s = {start}) -> ({{type}}) {{{{"""
END = """
  scf.yield {name}_t : {type}
}}
"""


def summed_by_a_loop(p, S, addition):
    """3 x^T S, as three reads in a loop."""
    zero = "\n{name}_z = arith.constant dense<0.0> : {type}"
    return p.custom((V,), zero + BEGIN.format(count=3, start="{name}_z") + f"""
  {{name}}_r = linattn.read {{0}} at {{1}} along 0 : {{t0}}, {{t1}}
  {{name}}_t = {addition}""" + END, lambda state, x: 3 * times(state, x), S, p.key())


def after(p, S, *outs):
    """An ordinary end: erase, then read."""
    X = p.erase(p.decay(S, p.gate()), p.key(), p.number(), p.vector())
    p.end(p.get(X, p.key()), *outs, S=X)


@inside()
def read_in_a_loop(p):
    """o = 3 x^T S, before an erase."""
    S = p.state()
    after(p, S, summed_by_a_loop(p, S, "linalg.add ins({name}_r, {name}_s : {type}, {type}) "
                                       "outs({name}_s : {type}) -> {type}"))


@inside(reverse=True)
def read_in_a_loop_with_arith(p):
    S = p.state()
    after(p, S, summed_by_a_loop(p, S, "arith.addf {name}_s, {name}_r : {type}"))


# {0}: S, {1}: x, {2}: y.
ITERATED = BEGIN.format(count=4, start="{1}") + """
  {name}_r = linattn.read {0} at {name}_s along AXIS : {t0}, {type}
  {name}_h = math.tanh {name}_r : {type}
  {name}_t = arith.addf {name}_h, {2} : {type}""" + END


def iterated(p, S, x, y, axis=0):
    """x <- tanh(x^T S) + y, four times."""
    def numpy(state, x, y):
        for _ in range(4):
            x = np.tanh(times(state if axis == 0 else np.swapaxes(state, -1, -2), x)) + y
        return x
    return p.custom((K,), ITERATED.replace("AXIS", str(axis)), numpy, S, x, y)


@inside(offsets=[0, 5, 5, 24, 37], reverse=True)
def address_from_the_iteration_before(p):
    """S' = diag(e^g) S, erased;  o = x_4 with x_i+1 = tanh(x_i^T S') + y;  Z' = Z + x_4 v^T."""
    S, Z = p.state("S", (K, K)), p.state("Z")
    X = p.erase(p.rows(S, p.gate((K,))), p.key(), p.number(), p.key())
    x = iterated(p, X, p.key(), p.key())
    Y = p.put(p.decay(Z, p.gate()), x, p.vector())
    p.end(x, p.get(Y, p.key()), S=X, Z=Y)


@inside(batch=2)
def iterations_of_a_branch_across(p):
    """The same with reads along the other axis of a branch that decays its rows and writes."""
    S = p.state("S", (K, K))
    X = p.erase(p.decay(S, p.gate()), p.key(), p.number(), p.key())
    B = p.put(p.rows(X, p.gate((K,))), p.key(), p.key())
    p.end(iterated(p, B, p.key(), p.key(), 1), p.get(X, p.key()), S=X)


# {0}: S, {1}: Z, {2}: x, {3}: a vector that is the same for all tokens.
NESTED = BEGIN.format(count=2, start="{2}") + """
  {name}_a = linattn.read {1} at {3} along 0 : {t1}, {t3}
  {name}_t = scf.for {name}_j = {name}_i to {name}_n step {name}_1
      iter_args({name}_u = {name}_s) -> ({type}) {{
    {name}_r = linattn.read {0} at {name}_u along 0 : {t0}, {type}
    {name}_v = arith.mulf {name}_r, {name}_a : {type}
    {name}_w = math.tanh {name}_v : {type}
    scf.yield {name}_w : {type}
  }}""" + END


def both_iterated(p, S, Z, x, y):
    """x <- tanh((x^T S) (y^T Z)), 2 + 1 times."""
    def numpy(S, Z, x, y):
        for _ in range(3):
            x = np.tanh(times(S, x) * times(Z, y))
        return x
    return p.custom((K,), NESTED, numpy, S, Z, x, y)


@inside(offsets=[0, 1, 24, 37])
def two_states_in_nested_loops(p):
    """x <- tanh((x^T S') (y^T Z)) as above, y the same for all tokens;  Z is erased."""
    S, Z = p.state("S", (K, K)), p.state("Z", (K, K))
    X = p.put(p.decay(S, p.gate()), p.key(), p.key())
    x = both_iterated(p, X, Z, p.key(), p.key(per_token=False))
    Y = p.erase(p.rows(Z, p.gate((K,))), p.key(), p.number(), p.key())
    p.end(x, S=X, Z=Y)
