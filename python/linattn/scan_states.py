"""States of random programs that are scans or shifts: what the class of each is, by construction.

All take values that may be computed from other states, and give some to others: as values, and as
log-decays.
"""

import numpy as np

from . import numerics

AFFINE, MATRIX = "scan (affine)", "scan (matrix)"
MAX_PLUS, LOG_ADD_EXP = "scan (max-plus)", "scan (log-add-exp)"
LAST, WINDOW = "shift (the token before)", "shift (the last tokens)"

WINDOW_TEXT = """
{name}_r = tensor.extract_slice {0}[1, 0] [REST, SIZE] [1, 1]
    : {t0} to tensor<RESTxSIZExTYPE>
{name}_e = tensor.expand_shape {1} [[0, 1]] output_shape [1, SIZE] : {t1} into tensor<1xSIZExTYPE>
{name} = tensor.concat dim(0) {name}_r, {name}_e
    : (tensor<RESTxSIZExTYPE>, tensor<1xSIZExTYPE>) -> {type}
"""


def window(rows, row):
    row = np.broadcast_to(row, (len(rows), *row.shape[1:]))
    return np.concatenate([rows[:, 1:], row[:, None]], axis=1)


class ScanStates:
    """A part of random_programs.Generator. logs: log-decays that a state gives."""

    KINDS = "elementwise", "full_decay", "matrix", "maximum", "log_sum", "last_token", "window"

    def scan_or_shift(self, name):
        kind = self.pick(*self.KINDS)
        self.uses(f"state: {kind.replace('_', ' ')}")
        getattr(self, kind)(f"{name}_{kind}")

    def start(self, name, shape):
        p = self.p
        sequences = p.batch if p.offsets is None else len(p.offsets) - 1
        initial = 0.5 * self.rng.standard_normal((sequences, p.heads, *shape))
        p.initial.append(numerics.decode(numerics.encode(initial, p.dtype), p.dtype))
        p.shapes[name], p.states[name] = shape, name
        return name

    def close(self, name, new, word, *seen):
        self.p.states[name] = new
        self.expected[name] = word
        self.known += seen
        self.outs += [x for x in seen if not self.outs or self.chance(0.4)]

    def elementwise(self, name):
        """h' = a h + b or b - a h, entry by entry."""
        p, shape = self.p, self.pick((), (3,), (4,), (8,))
        h, b = self.start(name, shape), self.wide(self.value(shape))
        kept = p.apply("arith.mulf", self.multiplier(shape), h)
        new = p.apply(*self.pick(("arith.addf", kept, b), ("arith.subf", b, kept)))
        self.close(name, new, AFFINE, h, new)

    def full_decay(self, name):
        """S' = A * S + k v^T with a multiplier for every entry; reads along both axes."""
        p, shape = self.p, (self.pick(2, 3, 8), self.pick(1, 4, 5))
        S, linear = self.start(name, shape), self.chance(0.5)
        by = self.multiplier(shape) if linear else self.gate(shape)
        new = p.write(p.decay(S, by, (0, 1), linear), self.address(shape[0]), 0,
                      self.value(shape[1:]))
        reads = [p.read(self.pick(S, new), self.address(shape[n]), n) for n in (0, 1)]
        self.close(name, new, AFFINE, *reads)

    def matrix(self, name):
        """h' = A h + b; the rows of A sum to at most 1."""
        p, size = self.p, self.pick(2, 3, 4, 8)
        h, b = self.start(name, (size,)), self.wide(self.value((size,)))
        draw = lambda shape: self.rng.uniform(-1 / size, 1 / size, shape)
        A = self.input(draw, (size, size), gate=True)
        new = p.apply("arith.addf", p.op("matvec", (size,), A, h), b)
        self.close(name, new, MATRIX, h, new)

    def maximum(self, name):
        """m' = max(m + f, i)."""
        p, shape = self.p, self.pick((), (), (4,))
        m = self.start(name, shape)
        decayed = p.apply("arith.addf", m, self.gate(shape))
        new = p.apply("arith.maximumf", decayed, self.wide(self.value(shape)))
        if not shape:
            self.logs.append(p.apply("arith.subf", decayed, new))
        self.close(name, new, MAX_PLUS, m, new)

    def log_sum(self, name):
        """z' = log(e^(z + f) + e^x), with the maximum taken out."""
        p, shape = self.p, self.pick((), (), (4,))
        z, x = self.start(name, shape), self.wide(self.value(shape))
        decayed = p.apply("arith.addf", z, self.gate(shape))
        top = p.apply("arith.maximumf", decayed, x)
        if self.chance(0.5):
            terms = [p.apply("math.exp", p.apply("arith.subf", y, top)) for y in (decayed, x)]
            more = p.apply("math.log", p.apply("arith.addf", *terms))
        else:
            apart = p.apply("math.absf", p.apply("arith.subf", decayed, x))
            more = p.apply("math.log1p", p.apply("math.exp", p.apply("arith.negf", apart)))
        new = p.apply("arith.addf", top, more)
        if not shape:
            self.logs.append(p.apply("arith.subf", decayed, new))
        self.close(name, new, LOG_ADD_EXP, z, new)

    def last_token(self, name):
        shape = self.pick((), (3,), (4,), (8,))
        z = self.start(name, shape)
        self.close(name, self.p.apply("math.tanh", self.wide(self.value(shape))), LAST, z)

    def window(self, name):
        """The last rows, read as a matrix."""
        p, shape = self.p, (self.pick(2, 3, 4), self.pick(1, 3, 4))
        rows, row = self.start(name, shape), self.wide(self.value(shape[1:]))
        text = WINDOW_TEXT.replace("REST", str(shape[0] - 1)).replace("SIZE", str(shape[1]))
        new = p.custom(shape, text.replace("TYPE", p.dtype), window, rows, row)
        reads = [p.read(self.pick(rows, new), self.address(shape[n]), n) for n in (0, 1)]
        self.close(name, new, WINDOW, *reads)
