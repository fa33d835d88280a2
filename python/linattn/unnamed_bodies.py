"""Recurrence bodies that no paper has: decays, erases, reads and writes in orders of our own.

Each function builds one program (MLIR and NumPy at once); its docstring is the step as a formula,
with S the state before the token, r = x^T S a read, and primes after each change of the state.
All have a chunk form by docs/ChunkDerivation.md; axis_bodies.py has more of them, refused_bodies.py
has those without.
"""

import zlib

import numpy as np

from .programs import Program, write_mlir

K, V = 6, 5

BODIES = {}  # name -> a function that builds the Body


def inside(bodies=BODIES, **domain):
    """Registers a body; domain: fields of its Program."""

    def register(function):
        bodies[function.__name__] = lambda: build(function, domain)
        return function

    return register


def build(function, domain, base=None):
    p = (base or Body)(function.__name__, **{"tokens": 37, "heads": 2, **domain})
    function(p)
    return p


class Body(Program):
    """A Program with the inputs that all bodies below draw from; reads contract `axis`."""

    axis = 0
    hidden = None  # a width that the MLIR does not know: it says ? instead

    def __init__(self, name, **domain):
        super().__init__(name, **domain)
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    # Inputs: [B, T, H, *shape], or [H, *shape] if they are not per token ---------------------------

    def drawn(self, draw, shape, per_token=True, narrow=False):
        lead = (self.batch, self.tokens) if per_token else ()
        return self.input(draw((*lead, self.heads, *shape)), per_token, narrow)

    def key(self, size=K, **where):
        """A vector of length 1."""
        def unit(shape):
            x = self.rng.standard_normal(shape)
            return x / np.linalg.norm(x, axis=-1, keepdims=True)
        return self.drawn(unit, (size,), **where)

    def vector(self, size=V, **where):
        return self.drawn(self.rng.standard_normal, (size,), **where)

    def number(self, low=0.0, high=1.0, size=(), **where):
        return self.drawn(lambda shape: self.rng.uniform(low, high, shape), size, **where)

    def gate(self, size=(), **where):
        """A log-decay: mostly mild, at times strong, now and then a reset."""
        def draw(shape):
            mild = -self.rng.exponential(0.2, shape)
            kind = self.rng.random(shape)
            return np.where(kind < 0.02, -np.inf, np.where(kind < 0.05, -15.0, mild))
        return self.drawn(draw, size, **where)

    # States and steps ------------------------------------------------------------------------------

    def state(self, name="S", shape=(K, V)):
        """A state with a random start; its successor is set by `end`."""
        shape = shape[::-1] if self.axis else shape
        sequences = self.batch if self.offsets is None else len(self.offsets) - 1
        self.initial.append(self.rng.standard_normal((sequences, self.heads, *shape)))
        if self.dtype == "f32":
            self.initial[-1] = self.initial[-1].astype(np.float32).astype(float)
        self.shapes[name] = tuple(shape)
        self.states[name] = name
        return name

    def get(self, state, address):
        return self.read(state, address, self.axis)

    def put(self, state, address, value):
        return self.write(state, address, self.axis, value)

    def rows(self, state, gate, linear=False):
        """A decay per channel."""
        return self.decay(state, gate, (self.axis,), linear)

    def add(self, a, b):
        return self.apply("arith.addf", a, b)

    def sub(self, a, b):
        return self.apply("arith.subf", a, b)

    def mul(self, a, b):
        return self.apply("arith.mulf", a, b)

    def div(self, a, b):
        return self.apply("arith.divf", a, b)

    def minus(self, a):
        return self.apply("arith.negf", a)

    def erase(self, state, address, strength, value=None):
        """S + address (strength (value - address^T S))^T."""
        read = self.get(state, address)
        change = self.minus(read) if value is None else self.sub(value, read)
        return self.put(state, address, self.scale(strength, change))

    def end(self, *outs, **states):
        self.outs = list(outs)
        self.finish(**states)

    def text(self):
        text = write_mlir(self)
        return text.replace(f"{self.hidden}x", "?x") if self.hidden else text


# ---------------------------------------------------------------------------------------------------
# Orders of steps
# ---------------------------------------------------------------------------------------------------


@inside()
def read_write_decay_erase_write(p):
    """o = q^T S;  S' = e^g (S + k v^T);  S'' = S' - b w (w^T S')^T + l u^T."""
    S, w = p.state(), p.key()
    o = p.get(S, p.key())
    X = p.decay(p.put(S, p.key(), p.vector()), p.gate())
    X = p.erase(X, w, p.number())
    p.end(o, S=p.put(X, p.key(), p.vector()))


@inside()
def erase_decay_erase(p):
    """Two erases with different keys around a decay per channel; o reads the end."""
    S = p.state()
    X = p.erase(S, p.key(), p.number(), p.vector())
    X = p.rows(X, p.gate((K,)))
    X = p.erase(X, p.key(), p.number(0, 2))
    p.end(p.get(X, p.key()), S=X)


@inside()
def three_decays_one_negative(p):
    """S' = diag(e^g) (a (e^h S)) + k v^T with a in [-1, 0.2], zeros among them; o between them."""
    S = p.state()
    a = p.drawn(lambda s: np.where(p.rng.random(s) < 0.1, 0, p.rng.uniform(-1, 0.2, s)), ())
    X = p.decay(p.decay(S, p.gate()), a, linear=True)
    o = p.get(X, p.key())
    X = p.put(p.rows(X, p.gate((K,))), p.key(), p.vector())
    p.end(o, p.get(X, p.key()), S=X)


@inside()
def read_before_decay_feeds_write_after(p):
    """r = x^T S;  S' = e^h diag(e^g) S + k (b (v - r))^T."""
    S = p.state()
    r = p.get(S, p.key())
    X = p.decay(p.rows(S, p.gate((K,))), p.gate())
    X = p.put(X, p.key(), p.scale(p.number(), p.sub(p.vector(), r)))
    p.end(p.get(X, p.key()), S=X)


@inside()
def erase_mixes_two_reads(p):
    """r0 = x^T S, S' = e^g S + k v^T, r1 = y^T S';  S'' = S' + w (a r0 - b r1)^T."""
    S = p.state()
    r0 = p.get(S, p.key())
    X = p.put(p.decay(S, p.gate()), p.key(), p.vector())
    r1 = p.get(X, p.key())
    mixed = p.sub(p.scale(p.number(-0.6, 0.6), r0), p.scale(p.number(), r1))
    X = p.put(X, p.key(), mixed)
    p.end(p.get(X, p.key()), S=X)


@inside()
def own_write_decayed_before_it_is_read(p):
    """S' = diag(e^g) (S + k v^T);  o = q^T S': a token sees its own write through its own decay."""
    X = p.put(p.state(), p.key(), p.vector())
    X = p.rows(X, p.gate((K,)))
    p.end(p.get(X, p.key()), S=X)


@inside()
def decay_between_read_and_write_it_feeds(p):
    """r = w^T (diag(e^g) S);  S' = diag(e^h) diag(e^g) S + w (b (v - r))^T, and o between."""
    S, w = p.state(), p.key()
    X = p.rows(S, p.gate((K,)))
    r = p.get(X, w)
    X = p.rows(X, p.gate((K,)))
    o = p.get(X, p.key())
    p.end(o, S=p.put(X, w, p.scale(p.number(), p.sub(p.vector(), r))))


@inside()
def old_read_after_everything(p):
    """r from the start of the token feeds the write at its end, past two writes and two decays."""
    S = p.state()
    r = p.get(S, p.key())
    X = p.erase(p.rows(S, p.gate((K,))), p.key(), p.number(), p.vector())
    X = p.put(p.decay(X, p.gate()), p.key(), p.vector())
    p.end(p.get(X, p.key()), S=p.put(X, p.key(), p.scale(p.number(-0.5, 0.5), r)))


@inside()
def one_read_feeds_three_writes(p):
    """r = w^T S;  S' = e^g (S - b w r^T) + c x r^T;  S'' = S' + d y (v + r)^T."""
    S, w = p.state(), p.key()
    r = p.get(S, w)
    X = p.put(S, w, p.scale(p.number(), p.minus(r)))
    X = p.put(p.decay(X, p.gate()), p.key(), p.scale(p.number(-0.4, 0.4), r))
    X = p.put(X, p.key(), p.scale(p.number(0, 0.4), p.add(p.vector(), r)))
    p.end(p.get(X, p.key()), r, S=X)


@inside()
def decays_and_reads_only(p):
    """S' = diag(e^g) S: nothing is written."""
    S = p.state()
    X = p.rows(S, p.number(-0.2, 0, (K,)))
    p.end(p.get(S, p.key()), p.get(X, p.key()), S=X)


@inside()
def state_that_stays(p):
    """M is read and never changes; what is read of it is written to S."""
    M, S = p.state("M"), p.state("S")
    X = p.put(p.decay(S, p.gate()), p.key(), p.get(M, p.key()))
    p.end(p.get(X, p.key()), S=X)


# ---------------------------------------------------------------------------------------------------
# Branches, several states, addresses
# ---------------------------------------------------------------------------------------------------


@inside()
def two_branches(p):
    """o0 = q^T (e^g (S + u v^T));  o1 reads another branch after the trunk's decay."""
    S = p.state()
    o0 = p.get(p.decay(p.put(S, p.key(), p.vector()), p.gate()), p.key())
    X = p.rows(S, p.gate((K,)))
    o1 = p.get(p.rows(p.put(X, p.key(), p.vector()), p.gate((K,))), p.key())
    X = p.erase(X, p.key(), p.number(), p.vector())
    p.end(o0, o1, p.get(X, p.key()), S=X)


@inside()
def branch_feeds_trunk(p):
    """r = x^T (e^g S + u v^T) is read in a branch;  S' = diag(e^h) S - b w r^T."""
    S = p.state()
    branch = p.put(p.decay(S, p.gate()), p.key(), p.vector())
    r = p.get(branch, p.key())
    X = p.rows(S, p.gate((K,)))
    X = p.put(X, p.key(), p.scale(p.number(), p.minus(r)))
    p.end(p.get(X, p.key()), S=X)


@inside()
def tanh_of_another_states_read(p):
    """Z' = e^g Z + k v^T;  S' = S + b x (tanh(y^T Z') - x^T S)^T."""
    Z, S = p.state("Z"), p.state("S", (V, V))
    Z1 = p.put(p.decay(Z, p.gate()), p.key(), p.vector())
    value = p.apply("math.tanh", p.get(Z1, p.key()))
    X = p.erase(S, p.key(V), p.number(), value)
    p.end(p.get(X, p.key(V)), Z=Z1, S=X)


@inside()
def another_state_steers(p):
    """r = x^T Z sets the decay of S, the address of its erase and the erase's strength."""
    Z, S = p.state("Z", (K, V)), p.state("S", (V, V))
    r = p.apply("math.tanh", p.get(Z, p.key()))
    Z1 = p.put(p.rows(Z, p.gate((K,))), p.key(), p.vector())
    X = p.rows(S, p.sigmoid(r), linear=True)
    strength = p.sigmoid(p.op("dot", (), r, r))
    unit = p.div(r, p.splat(p.apply("math.sqrt", p.add(p.op("dot", (), r, r), p.constant(1.0))),
                            (V,)))
    X = p.erase(X, unit, strength, p.vector())
    p.end(p.get(X, p.key(V)), Z=Z1, S=X)


@inside()
def address_from_a_state_that_this_one_feeds(p):
    """Z' = e^g Z + k (x^T A)^T;  o = (y^T Z')^T A: the read of A waits for Z, which waits for A."""
    A, Z = p.state("A", (V, V)), p.state("Z", (K, V))
    Z1 = p.put(p.decay(Z, p.gate()), p.key(), p.get(A, p.key(V)))
    o = p.get(A, p.apply("math.tanh", p.get(Z1, p.key())))
    p.end(o, A=p.erase(A, p.key(V), p.number(), p.vector()), Z=Z1)


@inside()
def normaliser_with_its_own_erase(p):
    """z' = diag(e^g) z, z'' = z' + w (b (1 - w^T z'));  o = (q^T S') / (1 + (q^T z'')^2)."""
    S, z, q, w = p.state("S"), p.state("z", (K,)), p.key(), p.key()
    X = p.put(p.decay(S, p.gate()), p.key(), p.vector())
    y = p.decay(z, p.gate((K,)), (0,))
    error = p.sub(p.constant(1.0), p.read(y, w, 0))
    y = p.write(y, w, 0, p.mul(p.number(), error))
    read = p.read(y, q, 0)
    below = p.add(p.constant(1.0), p.mul(read, read))
    p.end(p.div(p.get(X, q), p.splat(below, (V,))), S=X, z=y)


@inside()
def read_address_from_a_read(p):
    """Reads whose addresses are what was read of the same state; they feed no write."""
    S = p.state()
    X = p.erase(p.rows(S, p.gate((K,))), p.key(), p.number(), p.vector())
    r = p.get(X, p.key())
    corrected = p.scale(p.sigmoid(p.op("dot", (), r, p.vector())), p.key())
    again = p.get(X, p.sub(p.key(), corrected))
    p.end(p.get(S, p.scale(p.sigmoid(p.op("dot", (), again, again)), p.key())), again, S=X)


@inside()
def writes_along_the_other_axis(p):
    """k v^T written as v k^T, and an erase whose address is what was read."""
    S, k = p.state(), p.key()
    X = p.write(p.decay(S, p.gate()), p.vector(), 1, p.key())
    r = p.get(X, k)
    X = p.write(X, p.scale(p.number(), p.minus(r)), 1, k)
    p.end(p.get(X, p.key()), S=X)


@inside()
def address_from_a_loop(p):
    """k = tanh(.. tanh(0 + x) .. + x), three times;  S' = e^g S, erased at k / 3."""
    k = p.custom((K,), """
{name}_0 = arith.constant dense<0.0> : {type}
{name}_a = arith.constant 0 : index
{name}_b = arith.constant 1 : index
{name}_c = arith.constant 3 : index
{name} = scf.for {name}_i = {name}_a to {name}_c step {name}_b
    iter_args({name}_s = {name}_0) -> ({type}) {{
  {name}_t = arith.addf {name}_s, {0} : {type}
  {name}_u = math.tanh {name}_t : {type}
  scf.yield {name}_u : {type}
}}
""", lambda x: np.tanh(np.tanh(np.tanh(x) + x) + x), p.key())
    X = p.erase(p.decay(p.state(), p.gate()), p.scale(p.constant(1 / 3), k), p.number(), p.vector())
    p.end(p.get(X, p.key()), S=X)


# ---------------------------------------------------------------------------------------------------
# Coefficients and where they come from
# ---------------------------------------------------------------------------------------------------


@inside()
def coefficients_from_divisions(p):
    """value = (v - r / (1 + a)) / (2 + b) - (c r) / 3."""
    S, w = p.state(), p.key()
    r = p.get(S, w)
    one, two, three = (p.constant(x) for x in (1.0, 2.0, 3.0))
    value = p.sub(p.vector(), p.div(r, p.splat(p.add(one, p.number()), (V,))))
    value = p.div(value, p.splat(p.add(two, p.number()), (V,)))
    value = p.sub(value, p.div(p.scale(p.number(-1, 1), r), p.splat(three, (V,))))
    X = p.put(p.decay(S, p.gate()), w, value)
    p.end(p.get(X, p.key()), S=X)


@inside(offsets=[0, 5, 24, 37])
def divisions_by_an_input(p):
    """All is divided by inputs that are 0 in rows without a token: 0 / 0 and 1 / 0 must not spread.

    S' = (a / s) diag(e^(-b / s)) S;  S'' = S' + k / s (v / s - r / s)^T;  o = q^T S'' / s."""
    S, s = p.state(), lambda: p.number(1, 2)
    over = lambda x, size: p.div(x, p.splat(s(), (size,)))
    X = p.decay(S, p.div(p.number(0.8), s()), linear=True)
    X = p.rows(X, p.minus(p.div(p.number(size=(K,)), p.number(1, 2, (K,)))))
    k = over(p.key(), K)
    value = p.sub(over(p.vector(), V), over(p.get(X, k), V))
    branch = p.decay(p.put(S, over(p.key(), K), over(p.vector(), V)), p.minus(p.div(s(), s())))
    X = p.put(X, k, value)
    p.end(over(p.get(X, p.key()), V), p.get(branch, over(p.key(), K)), S=X)


@inside()
def branch_of_garbage_feeds_another_state(p):
    """r = q^T (S + k / s (v / s)^T), where 1 / s is infinite in rows without a token;
    Z' = Z + y r^T."""
    S, Z, s = p.state("S"), p.state("Z"), p.number(1, 2)
    over = lambda x, size: p.div(x, p.splat(s, (size,)))
    r = p.get(p.put(S, over(p.key(), K), over(p.vector(), V)), p.key())
    Z1 = p.put(Z, p.key(), r)
    p.end(p.get(Z1, p.key()), S=p.put(S, p.key(), p.vector()), Z=Z1)


@inside()
def coefficients_as_whole_tensors(p):
    """Uniform tensors multiplied with each other before they meet the read."""
    S, w = p.state(), p.key()
    a, b = p.splat(p.number(), (V,)), p.constant(0.75, (V,))
    both = p.mul(p.apply("math.exp", p.minus(a)), b)
    X = p.rows(S, p.gate((K,)))
    X = p.put(X, w, p.minus(p.mul(both, p.add(p.get(X, w), p.mul(b, p.vector())))))
    p.end(p.get(X, p.key()), S=X)


@inside()
def tied_complement_with_erase(p):
    """f = e^g per channel;  S' = diag(f) S;  S'' = S' + (1 - f) (b (v - (1 - f)^T S'))^T."""
    S, g = p.state(), p.number(-3, 0, (K,))
    f = p.apply("math.exp", g)
    rest = p.sub(p.constant(1.0, (K,)), f)
    # As long as a key can be with a strength of at most 1.
    rest = p.mul(rest, p.constant(K**-0.5, (K,)))
    X = p.erase(p.rows(S, g), rest, p.number(), p.vector())
    p.end(p.get(X, p.key()), S=X)


@inside(batch=2)
def inputs_without_time(p):
    """Decay, erase address, strength and one written value are the same for all tokens."""
    S, once = p.state(), dict(per_token=False)
    X = p.decay(S, p.number(-0.5, 0, **once))
    X = p.rows(X, p.number(-0.5, 0, (K,), **once))
    X = p.erase(X, p.key(**once), p.number(**once), p.vector())
    X = p.put(X, p.key(), p.vector(**once))
    p.end(p.get(X, p.key(**once)), S=X)


@inside(offsets=[0, 5, 5, 21, 37])
def strengths_from_positions(p):
    """t counts inside the sequence: decay e^(-t/40), erase of strength 1 / (1 + t)."""
    S, t = p.state(), p.op("position", ())
    X = p.decay(S, p.mul(t, p.constant(-1 / 40)))
    one = p.constant(1.0)
    X = p.erase(X, p.key(), p.div(one, p.add(one, t)), p.vector())
    p.end(p.scale(t, p.get(X, p.key())), S=X)


# ---------------------------------------------------------------------------------------------------
# Sequences and sizes
# ---------------------------------------------------------------------------------------------------


def mixed(p, key=K, value=V, **narrow):
    """r = x^T S, S' = diag(e^g) S, two writes of which one erases, e^h, read at the end."""
    S = p.state("S", (key, value))
    wide = lambda x: p.op("extend", p.shapes[x], x) if p.is_narrow(x) else x
    r, w = p.get(S, p.key(key, **narrow)), p.key(key, **narrow)
    X = p.rows(S, p.gate((key,)))
    both = p.add(p.get(X, w), p.scale(p.number(-0.5, 0.5), r))
    value_ = p.sub(wide(p.vector(value, **narrow)), both)
    X = p.decay(p.put(X, w, p.scale(p.number(), value_)), p.gate())
    X = p.put(X, p.key(key, **narrow), p.vector(value, **narrow))
    p.end(p.get(X, p.key(key, **narrow)), S=X)


@inside(tokens=61, offsets=[0, 0, 3, 4, 37, 45, 61, 61])
def mixed_packed(p):
    mixed(p)


@inside(tokens=45, offsets=[0, 17, 20, 20, 45], reverse=True)
def mixed_packed_reverse(p):
    mixed(p)


@inside(reverse=True, batch=2, every=16)
def mixed_checkpoints_reverse(p):
    mixed(p)


@inside(every=12)
def checkpoints_of_two_states(p):
    """Z' = e^g Z + k v^T and z' = z + k: both states after every 12 tokens."""
    Z, z, k = p.state("Z"), p.state("z", (K,)), p.key()
    X = p.put(p.decay(Z, p.gate()), k, p.vector())
    y = p.write(z, k, 0, p.constant(1.0))
    p.end(p.scale(p.read(y, k, 0), p.get(X, p.key())), Z=X, z=y)


@inside()
def one_key_channel(p):
    mixed(p, key=1)


@inside()
def one_value_channel(p):
    mixed(p, value=1)


@inside()
def value_axis_first(p):
    """The same with reads along axis 1, and widths that no vector divides."""
    p.axis = 1
    mixed(p, key=9, value=19)


@inside(dtype="f32")
def narrow_inputs(p):
    """Keys and values in bf16, state and gates in f32."""
    mixed(p, key=9, value=17, narrow=True)


@inside()
def write_of_the_token_before(p):
    """l and u are the key and value of the token before:  S' = e^g S + a l u^T + b k v^T."""
    l, u, S, k, v = p.state("l", (K,)), p.state("u", (V,)), p.state(), p.key(), p.vector()
    X = p.put(p.decay(S, p.gate()), l, p.scale(p.number(), u))
    X = p.put(X, k, p.scale(p.number(), v))
    copy = lambda x, size: p.add(x, p.constant(0.0, (size,)))
    p.end(p.get(X, p.key()), l=copy(k, K), u=copy(v, V), S=X)
