"""Random bodies of which a part has no chunk form of its own.

    python3 -m linattn.mixed_programs --seeds 0:500 [the options of linattn.random_programs]

Beside the states of random_programs.py there are others, run token by token inside the chunk. All
feed each other: values, gates and addresses are computed from what earlier states hold. Loops and
branches are among what is computed.
"""

import numpy as np

from . import numerics, random_programs

SCALAR = "it is a scalar, which only scans work on"
NEW_VALUE = "its new value does not come from the old one by decays and writes"
CIRCLE = "depend on each other"
NEEDED = "needs it at every token"

LOOP = """
{name}_a = arith.constant 0 : index
{name}_b = arith.constant 3 : index
{name}_c = arith.constant 1 : index
{name} = scf.for {name}_i = {name}_a to {name}_b step {name}_c iter_args({name}_v = {0}) -> ({type}) {{
  {name}_s = arith.addf {name}_v, {0} : {type}
  {name}_t = math.tanh {name}_s : {type}
  scf.yield {name}_t : {type}
}}
"""
CHOICE = """
{name}_0 = arith.constant 0.0 : {t0}
{name}_p = arith.cmpf ogt, {0}, {name}_0 : {t0}
{name} = scf.if {name}_p -> ({type}) {{
  {name}_s = arith.addf {1}, {2} : {type}
  scf.yield {name}_s : {type}
}} else {{
  {name}_d = arith.mulf {1}, {3} : {type}
  scf.yield {name}_d : {type}
}}
"""
HALVING = """
{name}_1 = arith.constant 0.125 : {type}
{name}_2 = arith.constant 0.5 : {type}
{name} = scf.while ({name}_v = {0}) : ({type}) -> {type} {{
  {name}_p = arith.cmpf ogt, {name}_v, {name}_1 : {type}
  scf.condition({name}_p) {name}_v : {type}
}} do {{
^bb0({name}_w: {type}):
  {name}_h = arith.mulf {name}_w, {name}_2 : {type}
  scf.yield {name}_h : {type}
}}
"""
# The position inside the region; the operand {1} only says it to NumPy.
POSITION = """
{name}_1 = arith.constant 1.0 : {type}
{name}_p = arith.cmpf olt, {0}, {name}_1 : {type}
{name} = scf.if {name}_p -> ({type}) {{
  {name}_t = linattn.index 1
  {name}_j = arith.index_cast {name}_t : index to i32
  {name}_f = arith.sitofp {name}_j : i32 to {type}
  {name}_s = arith.addf {0}, {name}_f : {type}
  scf.yield {name}_s : {type}
}} else {{
  {name}_d = arith.subf {0}, {name}_1 : {type}
  scf.yield {name}_d : {type}
}}
"""


def loop(x):
    value = x
    for _ in range(3):
        value = np.tanh(value + x)
    return value


def choice(number, x, added, factor):
    number = number.reshape(number.shape + (1,) * (x.ndim - 1))
    return np.where(number > 0, x + added, x * factor)


def halving(x):
    x = x.copy()
    while (x > 0.125).any():
        x = np.where(x > 0.125, x * 0.5, x)
    return x


class MixedGenerator(random_programs.Generator):
    """words: of the remark of every state that is run token by token."""

    def __init__(self, seed):
        self.words = []
        super().__init__(seed)
        if self.broken:
            self.words.append(random_programs.BREAKS[self.broken])
        self.words += [word[4:] for word in self.expected.values() if word.startswith("scan (")]

    def part(self, name):
        self.state(name)

    def state(self, name):
        if self.chance(0.4):
            super().state(name)
        kind = self.pick("maximum", "bounded_vector", "bounded_matrix", "last_token", "switched",
                         "positions", "circle", "pointer")
        self.uses(f"token by token: {kind.replace('_', ' ')}")
        getattr(self, kind)(f"{name}_{kind}")
        if self.chance(0.7):
            super().state(f"{name}_after")

    # What is computed in between -------------------------------------------------------------------

    def gate(self, shape):
        p, numbers = self.p, [x for x in self.known if self.p.shapes[x] == ()]
        if numbers and self.chance(0.3):
            self.uses("gate: from another state")
            number = p.apply("arith.negf", p.softplus(p.apply("math.tanh", self.pick(*numbers))))
            return p.splat(number, shape)
        return super().gate(shape)

    def address(self, size):
        vectors = [x for x in self.known if self.p.shapes[x] == (size,)]
        if vectors and self.chance(0.4):
            self.uses("address: from another state")
            vector = self.p.apply("math.tanh", self.pick(*vectors))
            return self.p.scale(self.p.constant(size**-0.5), vector)
        return super().address(size)

    def value(self, shape):
        p, kind = self.p, self.pick("plain", "plain", "plain", "plain", "loop", "choice", "halving")
        x = super().value(shape)
        if kind == "plain" or (kind == "halving" and shape):
            return x
        self.uses(f"value: {kind}")
        x = self.wide(x)
        if kind == "loop":
            return p.custom(shape, LOOP, loop, x)
        if kind == "halving":
            return p.custom(shape, HALVING, halving, x)
        return self.chosen(x)

    def chosen(self, x):
        """x + y for some tokens, else x / 2."""
        p, shape = self.p, self.p.shapes[x]
        added = self.wide(self.input(self.rng.standard_normal, shape))
        return p.custom(shape, CHOICE, choice, self.coefficient(), x, added, p.constant(0.5, shape))

    # States without a chunk form -------------------------------------------------------------------

    def end(self, name, new, *seen, words=NEW_VALUE):
        self.p.states[name] = new
        self.words.append(words)
        self.known += seen
        self.outs += [x for x in seen if not self.outs or self.chance(0.4)]

    def bounded_vector(self, name):
        p, shape = self.p, (self.pick(1, 3, 4, 8),)
        z = self.start(name, shape)
        new = p.apply("math.tanh", p.apply("arith.addf", z, self.wide(self.value(shape))))
        read = p.read(new, self.address(*shape), 0)
        self.end(name, new, z, new, read)

    def bounded_matrix(self, name):
        p, shape = self.p, (self.pick(2, 3, 8), self.pick(1, 4, 5))
        z = self.start(name, shape)
        new = p.apply("math.tanh", p.write(z, self.address(shape[0]), 0, self.value(shape[1:])))
        reads = [p.read(self.pick(z, new), self.address(shape[axis]), axis) for axis in (0, 1, 0)]
        self.end(name, new, *reads)

    def switched(self, name):
        shape = self.pick((), (3,), (2, 4))
        z = self.start(name, shape)
        new = self.chosen(z)
        seen = [z, new] if len(shape) < 2 else [self.p.read(new, self.address(2), 0)]
        self.end(name, new, *seen, words=NEW_VALUE if shape else SCALAR)

    def positions(self, name):
        p, z = self.p, self.start(name, ())
        self.uses("position inside a region")
        moved = p.custom((), POSITION, lambda x, at: np.where(x < 1, x + at, x - 1), z,
                         p.op("position", ()))
        new = p.apply("arith.addf", moved, self.wide(self.value(())))
        self.end(name, new, z, new, words=SCALAR)

    def circle(self, name):
        """Two states, each written what is read of the other."""
        p, n = self.p, self.pick(2, 4)
        a, b = self.start(f"{name}_a", (n, 3)), self.start(f"{name}_b", (n, 3))
        half = p.constant(0.5)
        of_b = p.read(b, self.address(n), 0)
        new_a = p.write(p.decay(a, half, linear=True), self.address(n), 0, p.scale(half, of_b))
        of_a = p.read(self.pick(a, new_a), self.address(n), 0)
        new_b = p.write(p.decay(b, self.gate(())), self.address(n), 0, p.scale(half, of_a))
        self.end(a, new_a, of_a, words=CIRCLE)
        self.end(b, new_b, of_b, words="")  # or not affine: by way of the new A

    def pointer(self, name):
        """z' = tanh(z^T A'), so that A cannot be a chunk."""
        p, n = self.p, self.pick(3, 4)
        a, z = self.start(f"{name}_a", (n, n)), self.start(f"{name}_z", (n,))
        new = p.write(p.decay(a, self.gate(())), self.address(n), 0, self.value((n,)))
        read = p.read(new, z, 0)
        self.end(a, new, read, words=NEEDED)
        self.end(z, p.apply("math.tanh", read), z)

    # ------------------------------------------------------------------------------------------------

    def problems(self, report):
        shifts = sum(word.startswith("shift") for word in self.expected.values())
        chunks = len(self.p.states) - len(self.words) - shifts
        found = []
        if sum(name.startswith("low-rank") for name in report.classes) != chunks:
            found.append(f"expected {chunks} low-rank states, got: {report.classes}")
        if bool(report.refused) != (chunks == 0):
            found.append(f"expected {chunks} states in chunks, refused: {report.refused}")
        for word in ["", *self.words]:
            count = sum(word in x for x in report.remarks if "state #" in x)
            if count < self.words.count(word) or (not word and count != len(self.words)):
                found.append(f"expected another number of remarks '{word}': {report.remarks}")
        return found


if __name__ == "__main__":
    random_programs.main(MixedGenerator)
