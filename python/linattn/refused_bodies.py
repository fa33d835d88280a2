"""Bodies that break a rule of docs/ChunkDerivation.md, one each.

BODIES are refused; of PARTLY, something is run token by token inside the chunk of the rest. Both map
a name to a function that builds the program and to words of the remark. Notation as in
unnamed_bodies.py.
"""

import numpy as np

from .level_bodies import combine
from .loop_bodies import both_iterated, iterated, times
from .unnamed_bodies import K, V, build

BODIES, PARTLY = {}, {}


def outside(remark, bodies=BODIES, **domain):
    """Registers a body with words of the remark; domain: fields of its Program."""

    def register(function):
        bodies[function.__name__] = (lambda: build(function, domain), remark)
        return function

    return register


def after(p, S, *outs, size=V):
    """An ordinary end: erase, then read."""
    X = p.erase(p.decay(S, p.gate()), p.key(), p.number(), p.vector(size))
    p.end(p.get(X, p.key()), *outs, S=X)


@outside("it is a scalar, which only scans work on")
def scalar_state(p):
    """h' = a h + x."""
    h = p.state("h", ())
    new = p.add(p.mul(p.number(), h), p.number(-1, 1))
    p.end(new, h=new)


@outside("chunks need a state of floats with a static shape")
def dynamic_key_width(p):
    """A gated delta rule whose K is known at run time only."""
    S, p.hidden = p.state("S", (7, V)), 7
    X = p.erase(p.decay(S, p.gate()), p.key(7), p.number(), p.vector())
    p.end(p.get(X, p.key(7)), S=X)


@outside("its new value does not come from the old one by decays and writes")
def function_of_the_state(p):
    """S' = tanh(S + k v^T)."""
    X = p.apply("math.tanh", p.put(p.state(), p.key(), p.vector()))
    p.end(p.get(X, p.key()), S=X)


@outside("the state itself is an operand of this op")
def state_as_an_ordinary_operand(p):
    """z' = e^g z + k;  o = z'^T z'."""
    X = p.write(p.decay(p.state("z", (K,)), p.gate()), p.key(), 0, p.constant(1.0))
    p.end(p.op("dot", (), X, X), z=X)


@outside("a read in a loop whose bounds may differ from token to token")
def read_in_a_loop_of_the_tokens_length(p):
    """o = x^T S, n times, n = 1 where a < 1/2, else 3."""
    S = p.state()
    after(p, S, p.custom((V,), """
{name}_0 = arith.constant dense<0.0> : {type}
{name}_a = arith.constant 0 : index
{name}_b = arith.constant 1 : index
{name}_c = arith.constant 3 : index
{name}_h = arith.constant 0.5 : {t2}
{name}_l = arith.cmpf olt, {2}, {name}_h : {t2}
{name}_n = arith.select {name}_l, {name}_b, {name}_c : index
{name} = scf.for {name}_i = {name}_a to {name}_n step {name}_b
    iter_args({name}_s = {name}_0) -> ({type}) {{
  {name}_r = linattn.read {0} at {1} along 0 : {t0}, {t1}
  {name}_t = arith.addf {name}_s, {name}_r : {type}
  scf.yield {name}_t : {type}
}}
""", lambda state, x, a: np.where(a < 0.5, 1, 3)[:, None] * times(state, x), S, p.key(),
                           p.number()))


@outside("a read inside a region that is no loop")
def read_in_a_branch_of_control_flow(p):
    """o = x^T S where a > 1/2, else v."""
    S = p.state()
    after(p, S, p.custom((V,), """
{name}_h = arith.constant 0.5 : {t2}
{name}_c = arith.cmpf ogt, {2}, {name}_h : {t2}
{name} = scf.if {name}_c -> ({type}) {{
  {name}_r = linattn.read {0} at {1} along 0 : {t0}, {t1}
  scf.yield {name}_r : {type}
}} else {{
  scf.yield {3} : {type}
}}
""", lambda state, x, a, v: np.where(a[:, None] > 0.5, times(state, x), v), S, p.key(),
                           p.number(), p.vector()))


@outside("a read in a loop with this op, which has no form for several tokens at once")
def read_in_a_loop_with_control_flow(p):
    """o = x^T S, or 0 where a < 1/2, from a loop of one iteration."""
    S = p.state()
    after(p, S, p.custom((V,), """
{name}_0 = arith.constant dense<0.0> : {type}
{name}_a = arith.constant 0 : index
{name}_b = arith.constant 1 : index
{name}_h = arith.constant 0.5 : {t2}
{name}_c = arith.cmpf ogt, {2}, {name}_h : {t2}
{name} = scf.for {name}_i = {name}_a to {name}_b step {name}_b
    iter_args({name}_s = {name}_0) -> ({type}) {{
  {name}_r = linattn.read {0} at {1} along 0 : {t0}, {t1}
  {name}_t = scf.if {name}_c -> ({type}) {{
    scf.yield {name}_r : {type}
  }} else {{
    scf.yield {name}_s : {type}
  }}
  scf.yield {name}_t : {type}
}}
""", lambda state, x, a: np.where(a[:, None] > 0.5, times(state, x), 0), S, p.key(), p.number()))


@outside("a written value is not affine in what was read")
def update_from_a_loop_of_reads(p):
    """S' = e^g S + k (x_4)^T with x_i+1 = tanh(x_i^T S) + y."""
    S = p.state("S", (K, K))
    after(p, p.put(S, p.key(), iterated(p, S, p.key(), p.key())), size=K)


@outside("the decay depends on what was read from the state")
def decay_from_a_read(p):
    S = p.state()
    r = p.get(S, p.key())
    after(p, p.decay(S, p.sigmoid(p.op("dot", (), r, r)), linear=True))


@outside("the decay is along another axis than a read before it that feeds a write behind it")
def decay_of_columns_between_read_and_write(p):
    """S' = S diag(e^g) + w (v - b w^T S)^T: every column has a transition of its own."""
    S, w = p.state(), p.key()
    change = p.sub(p.vector(), p.scale(p.number(), p.get(S, w)))
    X = p.put(p.decay(S, p.gate((V,)), (1,)), w, change)
    p.end(p.get(X, p.key()), S=X)


@outside("the decay is along another axis than a read before it that feeds a write behind it")
def decay_of_columns_of_a_branch_that_feeds(p):
    S, w = p.state(), p.key()
    read = p.get(p.decay(S, p.gate((V,)), (1,)), w)
    X = p.put(p.decay(S, p.gate()), w, p.sub(p.vector(), p.scale(p.number(), read)))
    p.end(p.get(X, p.key()), S=X)


@outside("a read of a branch with writes of its own feeds a write, and there are decays along")
def branch_with_a_write_feeds_a_state_with_decays_of_columns(p):
    S, w = p.state(), p.key()
    X = p.decay(S, p.gate((V,)), (1,))
    read = p.get(p.put(X, p.key(), p.vector()), w)
    X = p.put(X, w, p.sub(p.vector(), p.scale(p.number(), read)))
    p.end(p.get(X, p.key()), S=X)


@outside("the decay has a multiplier for every entry of the state")
def decay_of_every_entry(p):
    """S' = e^G S + k v^T with a matrix G."""
    X = p.put(p.decay(p.state(), p.gate((K, V)), (0, 1)), p.key(), p.vector())
    p.end(p.get(X, p.key()), S=X)


@outside("a written value is a product of values that were read")
def product_of_two_reads(p):
    S = p.state()
    both = p.mul(p.get(S, p.key()), p.scale(p.number(0, 0.1), p.get(S, p.key())))
    after(p, p.put(p.decay(S, p.number(-2, -1)), p.key(), both))


@outside("multiplied by a factor that differs along the other axis")
def strength_per_column(p):
    S, w = p.state(), p.key()
    after(p, p.put(S, w, p.mul(p.number(-1, 0, (V,)), p.get(S, w))))


@outside("divided by values that differ along the other axis")
def divisor_per_column(p):
    S, w = p.state(), p.key()
    after(p, p.put(S, w, p.div(p.get(S, w), p.number(-3, -1, (V,)))))


@outside("a written value is not affine in what was read")
def tanh_of_own_read(p):
    S = p.state()
    after(p, p.put(S, p.key(), p.apply("math.tanh", p.get(S, p.key()))))


@outside("the address of a write depends on what was read from the state")
def write_address_from_a_read(p):
    S = p.state("S", (V, V))
    address = p.apply("math.tanh", p.get(S, p.key(V)))
    X = p.put(p.decay(S, p.number(-1, -0.5)), address, p.vector())
    p.end(p.get(X, p.key(V)), S=X)


@outside("the address of a read that feeds a write depends")
def feeding_address_from_a_read(p):
    S = p.state("S", (V, V))
    second = p.get(S, p.apply("math.tanh", p.get(S, p.key(V))))
    X = p.put(p.decay(S, p.number(-1, -0.5)), p.key(V), p.scale(p.number(0, 0.3), second))
    X = p.put(X, p.key(V), p.vector())
    p.end(p.get(X, p.key(V)), S=X)


@outside("a write that only a branch sees depends on what was read")
def dependent_write_in_a_branch(p):
    S = p.state()
    branch = p.put(S, p.key(), p.scale(p.number(), p.get(S, p.key())))
    after(p, S, p.get(branch, p.key()))


@outside("reads that contract different axes feed writes")
def erases_from_both_sides(p):
    """S' = S - b w (w^T S)^T;  S'' = S' - c (S' u) u^T."""
    S, u = p.state(), p.key(V)
    X = p.erase(p.decay(S, p.gate()), p.key(), p.number(), p.vector())
    X = p.write(X, u, 1, p.scale(p.number(-1, 0), p.read(X, u, 1)))
    p.end(p.get(X, p.key()), S=X)


@outside("reads that contract different axes feed writes")
def value_from_a_read_of_the_other_axis(p):
    """S' = e^g S + w (v - b S x)^T of a square state, and an ordinary erase."""
    S = p.state("S", (V, V))
    X = p.decay(S, p.number(-2, -1))
    X = p.put(X, p.key(V), p.scale(p.number(0, 0.5), p.read(S, p.key(V), 1)))
    X = p.erase(X, p.key(V), p.number(), p.vector())
    p.end(p.get(X, p.key(V)), S=X)


@outside("states #0 and #1 depend on each other")
def states_in_a_circle(p):
    """A' = e^g A + k (b (y^T Z))^T;  Z' = e^h Z + x (v - u^T A')^T."""
    A, Z = p.state("A"), p.state("Z")
    A1 = p.put(p.decay(A, p.number(-2, -1)), p.key(), p.scale(p.number(0, 0.5), p.get(Z, p.key())))
    Z1 = p.put(p.decay(Z, p.number(-2, -1)), p.key(), p.sub(p.vector(), p.get(A1, p.key())))
    p.end(p.get(Z1, p.key()), A=A1, Z=Z1)


def mixed(p, step):
    """A and B are mixed, and `step` changes each of them."""
    A, B = p.state("A"), p.state("B")
    A1, B1 = step(0, combine(p, A, B)), step(1, combine(p, A, B))
    p.end(p.get(A1, p.key()), p.get(B1, p.key()), A=A1, B=B1)


@outside("its new value does not come from the old one by decays and writes")
def mixed_states_with_decays_of_their_own(p):
    mixed(p, lambda _, S: p.put(p.rows(S, p.gate((K,))), p.key(), p.vector()))


@outside("its new value does not come from the old one by decays and writes")
def mixed_states_with_erases_of_their_own(p):
    key = p.key()
    mixed(p, lambda _, S: p.erase(S, key, p.number(), p.vector()))


@outside("its new value does not come from the old one by decays and writes")
def mixed_states_of_which_one_is_erased(p):
    key, strength = p.key(), p.number()
    mixed(p, lambda n, S: p.erase(S, key, strength) if n else p.put(S, key, p.vector()))


@outside("its new value does not come from the old one by decays and writes")
def mixed_states_with_one_read(p):
    """Both write what is read from A."""
    A, B, key, strength = p.state("A"), p.state("B"), p.key(), p.number(-0.3, 0)
    A1, B1 = combine(p, A, B), combine(p, A, B)
    r = p.scale(strength, p.get(A1, key))
    A1, B1 = (p.put(p.put(S, key, r), p.key(), p.vector()) for S in (A1, B1))
    p.end(p.get(A1, p.key()), p.get(B1, p.key()), A=A1, B=B1)


@outside("its new value does not come from the old one by decays and writes")
def mixed_states_with_a_write_before_a_decay(p):
    gate = p.gate((K,))
    mixed(p, lambda _, S: p.rows(p.put(S, p.key(), p.vector()), gate))


@outside("the state itself is an operand of this op")
def mixed_state_that_goes_on_as_another(p):
    """A' = A + k v^T + x u^T, B' = A + k v^T."""
    A, B = p.state("A"), p.state("B")
    B1 = p.put(A, p.key(), p.vector())
    A1 = p.put(B1, p.key(), p.vector())
    p.end(p.get(A1, p.key()), A=A1, B=B1)


@outside("its new value does not come from the old one by decays and writes")
def mixed_by_what_is_read_from_them(p):
    """The number of B is read from A'."""
    A, B = p.state("A"), p.state("B")
    A1 = p.put(combine(p, A, B), p.key(), p.vector())
    number = p.sigmoid(p.op("dot", (), p.get(A1, p.key()), p.vector()))
    B1 = p.put(p.scale(number, B), p.key(), p.vector())
    p.end(p.get(B1, p.key()), A=A1, B=B1)


@outside("its new value does not come from the old one by decays and writes")
def sum_of_mixed_states_is_read(p):
    """o = q^T (A + B) of the old states, which are mixed."""
    A, B = p.state("A"), p.state("B")
    o = p.get(p.add(A, B), p.key())
    A1, B1 = (p.put(combine(p, A, B), p.key(), p.vector()) for _ in range(2))
    p.end(o, p.get(A1, p.key()), p.get(B1, p.key()), A=A1, B=B1)


@outside("depend on each other")
def mixed_states_in_a_circle(p):
    """A' has what is read from Z', and Z' what is read from A'."""
    A, B, Z = p.state("A"), p.state("B"), p.state("Z")
    A1 = p.put(combine(p, A, B), p.key(), p.scale(p.number(0, 0.3), p.get(Z, p.key())))
    B1 = p.put(combine(p, A, B), p.key(), p.vector())
    Z1 = p.put(p.decay(Z, p.number(-2, -1)), p.key(), p.get(A1, p.key()))
    p.end(p.get(Z1, p.key()), A=A1, B=B1, Z=Z1)


# ---------------------------------------------------------------------------------------------------
# With something that runs token by token inside the chunk
# ---------------------------------------------------------------------------------------------------


@outside("'scf.if' is run token by token", PARTLY, offsets=[0, 11, 12, 37])
def control_flow_by_token(p):
    """The strength of an erase is a where a > 1/2, else 0."""
    strength = p.custom((), """
{name}_h = arith.constant 0.5 : {type}
{name}_z = arith.constant 0.0 : {type}
{name}_c = arith.cmpf ogt, {0}, {name}_h : {type}
{name} = scf.if {name}_c -> ({type}) {{
  scf.yield {0} : {type}
}} else {{
  scf.yield {name}_z : {type}
}}
""", lambda a: np.where(a > 0.5, a, 0), p.number())
    S = p.state()
    X = p.erase(p.decay(S, p.gate()), p.key(), strength, p.vector())
    p.end(p.get(X, p.key()), S=X)


@outside("the decay depends on what was read from the state", PARTLY)
def branch_decay_from_a_state_that_this_one_feeds(p):
    """Z' = e^g Z + k (x^T A)^T;  o = q^T (a A) with a from a read of Z'."""
    A, Z = p.state("A"), p.state("Z")
    Z1 = p.put(p.decay(Z, p.gate()), p.key(), p.get(A, p.key()))
    decay = p.sigmoid(p.op("dot", (), p.get(Z1, p.key()), p.vector()))
    o = p.get(p.decay(A, decay, linear=True), p.key())
    p.end(o, A=p.erase(A, p.key(), p.number(), p.vector()), Z=Z1)


@outside("a written value is not affine in what was read", PARTLY, reverse=True)
def chunked_state_feeds_another(p):
    """Z' = erased Z;  S' = e^g S + k tanh(x^T S + y^T Z')^T."""
    Z, S = p.state("Z"), p.state("S")
    Z1 = p.erase(p.rows(Z, p.gate((K,))), p.key(), p.number(), p.vector())
    both = p.add(p.get(S, p.key()), p.get(Z1, p.key()))
    X = p.put(p.decay(S, p.gate()), p.key(), p.apply("math.tanh", both))
    p.end(p.get(X, p.key()), Z=Z1, S=X)


@outside("a written value is not affine in what was read", PARTLY, every=16)
def chunked_state_is_steered(p):
    """S' = S + k tanh(x^T S)^T;  a read of S' sets decay, strength and value of an erase of Z."""
    S, Z = p.state("S"), p.state("Z")
    X = p.put(p.decay(S, p.gate()), p.key(), p.apply("math.tanh", p.get(S, p.key())))
    r = p.apply("math.tanh", p.get(X, p.key()))
    Y = p.decay(Z, p.sigmoid(p.op("dot", (), r, p.vector())), linear=True)
    Y = p.erase(Y, p.key(), p.sigmoid(p.op("dot", (), r, r)), r)
    p.end(p.get(Y, p.key()), S=X, Z=Y)


@outside("its new value does not come from the old one by decays and writes", PARTLY)
def between_two_chunked_states(p):
    """A' = erased A;  S' = tanh(S + k (x^T A')^T);  Z' = e^g Z + y (q^T S')^T."""
    A, S, Z = p.state("A"), p.state("S"), p.state("Z")
    A1 = p.erase(p.decay(A, p.gate()), p.key(), p.number(), p.vector())
    X = p.apply("math.tanh", p.put(S, p.key(), p.get(A1, p.key())))
    Z1 = p.erase(p.rows(Z, p.gate((K,))), p.key(), p.number(), p.get(X, p.key()))
    p.end(p.get(Z1, p.key()), A=A1, S=X, Z=Z1)


@outside("state #1, which is run token by token, needs it at every token", PARTLY)
def state_needed_at_every_token(p):
    """r = x^T S;  S' = e^g S + k tanh(Z'^T tanh(r))^T, so Z' = erased Z is read inside S's loop;
    A' = e^h A + y (q^T S')^T stays in chunks."""
    Z, S, A = p.state("Z", (V, V)), p.state("S"), p.state("A")
    Z1 = p.erase(p.decay(Z, p.gate()), p.key(V), p.number(), p.vector())
    r = p.apply("math.tanh", p.get(S, p.key()))
    X = p.put(p.decay(S, p.number(-0.3, 0)), p.key(), p.apply("math.tanh", p.get(Z1, r)))
    Y = p.put(p.decay(A, p.number(-0.3, 0)), p.key(), p.get(X, p.key()))
    p.end(p.get(Y, p.key()), Z=Z1, S=X, A=Y)


@outside("a loop that reads it reads a state that is run token by token, too", PARTLY)
def loop_reads_a_chunk_and_a_scan(p):
    """S' = S + k y^T, Z' = tanh(Z + k x^T): both are read in one loop; A' = A + k v^T."""
    S, Z, A = p.state("S", (K, K)), p.state("Z", (K, K)), p.state("A")
    S1 = p.put(p.decay(S, p.gate()), p.key(), p.key())
    Z1 = p.apply("math.tanh", p.put(Z, p.key(), p.key()))
    A1 = p.put(p.decay(A, p.gate()), p.key(), p.vector())
    p.end(both_iterated(p, S1, Z1, p.key(), p.key(per_token=False)), p.get(A1, p.key()), S=S1, Z=Z1,
          A=A1)


@outside("depend on each other", PARTLY, offsets=[0, 3, 20, 37], reverse=True)
def circle_beside_a_chunked_state(p):
    """A and Z feed each other; what is read of Z is written to S."""
    A, Z, S = p.state("A"), p.state("Z"), p.state("S")
    A1 = p.put(p.decay(A, p.number(-2, -1)), p.key(), p.scale(p.number(0, 0.5), p.get(Z, p.key())))
    Z1 = p.put(p.decay(Z, p.number(-2, -1)), p.key(), p.sub(p.vector(), p.get(A1, p.key())))
    X = p.erase(p.decay(S, p.gate()), p.key(), p.number(), p.get(Z1, p.key()))
    p.end(p.get(X, p.key()), A=A1, Z=Z1, S=X)


@outside("it is a scalar, which only scans work on", PARTLY)
def running_maximum(p):
    """m' = max(m + f, i);  S' = e^(m + f - m') S + e^(i - m') k v^T;  o = q^T S'."""
    m, S, f, i = p.state("m", ()), p.state("S"), p.number(-0.5, 0), p.vector(1)
    i = p.custom((), """
{name}_0 = arith.constant 0 : index
{name} = tensor.extract {0}[{name}_0] : {t0}
""", lambda x: x[:, 0], i)
    decayed = p.add(m, f)
    m1 = p.apply("arith.maximumf", decayed, i)
    X = p.decay(S, p.sub(decayed, m1))
    X = p.put(X, p.key(), p.scale(p.apply("math.exp", p.sub(i, m1)), p.vector()))
    p.end(p.get(X, p.key()), m=m1, S=X)
