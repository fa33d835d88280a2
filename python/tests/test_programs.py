"""What a Program means in NumPy, against the published formulas of reference.py."""

import numpy as np
import pytest

from linattn import programs, reference
from linattn.numerics import relative_error
from linattn.unnamed_bodies import Body

def test_positions():
    """They go on from the first one of each sequence."""
    for domain, want in (({"batch": 2}, [[5, 6, 7, 8], [1, 2, 3, 4]]),
                         ({"offsets": [0, 3, 4]}, [5, 6, 7, 1])):
        p = Body("positions", tokens=4, heads=1, positions=np.array([5, 1]), **domain)
        p.number()
        p.end(p.op("position", ()), S=p.state())
        assert programs.results(p)[0][..., 0].tolist() == want


DOMAINS = [{}, {"reverse": True}, {"offsets": [0, 4, 4, 19], "batch": 1}]


def data(program, *names):
    arrays = {i.name: i.data for i in program.inputs}
    return [arrays[n] for n in names]


def agree(program, want):
    """want: a scan.Result with the out and states of the program."""
    got = programs.results(program)
    out = want.out[0] if program.offsets else want.out
    for x, y in zip(got, [out, *want.states], strict=True):
        assert relative_error(x, y) < 1e-13


@pytest.mark.parametrize("domain", DOMAINS)
class TestReferences:
    def make(self, domain):
        self.p = p = Body("reference", **{"tokens": 19, "heads": 2, "batch": 2, **domain})
        self.options = dict(reverse=p.reverse, cu_seqlens=p.offsets)
        return p, p.key(), p.key(), p.vector()

    def run(self, function, *names):
        arrays = data(self.p, *names)
        return function(*arrays, states=self.p.initial, **self.options)

    def test_gated_delta(self, domain):
        p, q, k, v = self.make(domain)
        g, beta = p.gate(), p.number()
        X = p.erase(p.decay(p.state(), g), k, beta, v)
        p.end(p.get(X, q), S=X)
        agree(p, self.run(reference.gated_delta_rule, q, k, v, g, beta))

    def test_diagonal_plus_rank_one(self, domain):
        p, q, k, v = self.make(domain)
        g, a, b, S = p.gate((6,)), p.key(), p.key(), p.state()
        X = p.put(p.put(p.rows(S, g), b, p.get(S, a)), k, v)
        p.end(p.get(X, q), S=X)
        agree(p, self.run(reference.dplr, q, k, v, g, a, b))

    def test_bonus(self, domain):
        p, r, k, v = self.make(domain)
        w, u, S = p.gate((6,)), p.vector(6, per_token=False), p.state()
        o = p.get(p.put(S, p.mul(u, k), v), r)
        p.end(o, S=p.put(p.rows(S, w), k, v))
        arrays = data(p, r, k, v, w, u)
        agree(p, reference.rwkv6(*arrays, states=p.initial, **self.options))

    def test_value_side(self, domain):
        p, q, k, v = self.make(domain)
        g, beta = p.gate((5,)), p.number()
        X = p.decay(p.state(), g, (1,))
        change = p.scale(beta, p.sub(k, p.read(X, v, 1)))
        X = p.write(X, v, 1, change)
        p.end(p.read(X, q, 0), S=X)
        agree(p, self.run(reference.gated_oja, q, k, v, g, beta))

    def test_normaliser(self, domain):
        p, q, k, v = self.make(domain)
        positive = lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
        elu1 = lambda x: p.custom((6,), "", positive, x)
        S, z = p.state(), p.state("z", (6,))
        S1, z1 = p.put(S, elu1(k), v), p.write(z, elu1(k), 0, p.constant(1.0))
        below = p.add(p.read(z1, elu1(q), 0), p.constant(1e-10))
        p.end(p.div(p.get(S1, elu1(q)), p.splat(below, (5,))), S=S1, z=z1)
        agree(p, self.run(reference.normalised_linear_attention, q, k, v))

    def test_position(self, domain):
        p, q, k, v = self.make(domain)
        X = p.put(p.state(), k, v)
        count = p.add(p.op("position", ()), p.constant(1.0))
        p.end(p.div(p.get(X, q), p.splat(count, (5,))), S=X)
        agree(p, self.run(reference.running_mean, q, k, v))
