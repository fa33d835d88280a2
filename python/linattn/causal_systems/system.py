"""What a causal system is here: a body as its user would write it, and its formula in NumPy.

The NumPy side is written for one head of one sequence and shares nothing with the builder of the
body: what `programs.interpret` thinks of the body is not used.
"""

import re
import subprocess
from dataclasses import dataclass
from typing import Callable

import numpy as np

from .. import numerics, programs, runner
from ..unnamed_bodies import Body, K, V, build

LOW_RANK, SCAN, SHIFT, SEQUENTIAL = "low-rank", "scan", "shift", "sequential"
BOUND = numerics.contract("f64")

SYSTEMS = {}  # name -> System


@dataclass
class System:
    """classes: of each state, as the mathematics has it and as the compiler prints it.

    step: the inputs at one token in the order in which the body takes them, then the states; gives
    the outs, then the new states. sequence: for references that are no recurrence; the inputs at
    all tokens of a sequence, then the states; gives the outs, then all new states in one list."""

    name: str
    formula: str
    body: Callable
    classes: dict
    step: Callable = None
    sequence: Callable = None

    def program(self, **domain):
        return build(self.body, domain, Step)


def system(**classes):
    """Registers a class with the functions `body` and `step` or `sequence` as a System."""

    def register(made):
        parts = {name: getattr(made, name) for name in ("body", "step", "sequence")
                 if hasattr(made, name)}
        parts["body"].__name__ = made.__name__
        SYSTEMS[made.__name__] = System(made.__name__, made.__doc__, classes=classes,
                                        **parts)
        return made

    return register


class Step(Body):
    """A body with the functions that gates, feature maps and norms are made of."""

    def normal(self, *shape, per_token=True):
        return self.drawn(self.rng.standard_normal, shape, per_token)

    def uniform(self, low, high, *shape, per_token=True):
        return self.number(low, high, shape, per_token=per_token)

    def state(self, name="S", shape=(K, V), start=None):
        """start: a number or an array for all heads, otherwise random."""
        super().state(name, shape)
        if start is not None:
            self.initial[-1] = np.broadcast_to(np.float64(start), self.initial[-1].shape).copy()
        return name

    def mlir(self, shape, text, *operands):
        """MLIR for which NumPy has no word here; ~x in it is a name of its own."""
        return self.custom(shape, text.replace("~", "{name}_"), None, *operands)

    def exp(self, x):
        return self.apply("math.exp", x)

    def log(self, x):
        return self.apply("math.log", x)

    def sqrt(self, x):
        return self.apply("math.sqrt", x)

    def tanh(self, x):
        return self.apply("math.tanh", x)

    def cos(self, x):
        return self.apply("math.cos", x)

    def sin(self, x):
        return self.apply("math.sin", x)

    def abs(self, x):
        return self.apply("math.absf", x)

    def larger(self, x, y):
        return self.apply("arith.maximumf", x, y)

    def plus(self, number, x):
        """A literal plus a tensor."""
        return self.add(self.constant(number, self.shapes[x]), x)

    def times(self, number, x):
        """A literal times a tensor."""
        return self.mul(self.constant(number, self.shapes[x]), x)

    def over(self, x, number):
        """A tensor over a number."""
        return self.div(x, self.splat(number, self.shapes[x]))

    def dot(self, x, y):
        return self.op("dot", (), x, y)

    def matvec(self, matrix, x):
        return self.op("matvec", self.shapes[matrix][:1], matrix, x)

    def log_sigmoid(self, x):
        return self.minus(self.softplus(self.minus(x)))

    def silu(self, x):
        return self.mul(x, self.sigmoid(x))

    def elu1(self, x):
        """elu(x) + 1 = max(x, 0) + e^min(x, 0)."""
        below = self.minus(self.larger(self.minus(x), self.constant(0.0, self.shapes[x])))
        return self.add(self.larger(x, self.constant(0.0, self.shapes[x])), self.exp(below))

    def log_add_exp(self, x, y):
        top = self.larger(x, y)
        terms = [self.exp(self.sub(a, top)) for a in (x, y)]
        return self.add(top, self.log(self.add(*terms)))

    def reduce(self, kind, start, x):
        """Of a vector: a number."""
        return self.mlir((), f"""
~0 = arith.constant dense<{start}> : tensor<f64>
~r = linalg.reduce {{{{ {kind} }}}} ins({{0}} : {{t0}}) outs(~0 : tensor<f64>)
    dimensions = [0]
{{name}} = tensor.extract ~r[] : tensor<f64>
""", x)

    def sum(self, x):
        return self.reduce("arith.addf", "0.0", x)

    def softmax(self, x):
        top = self.reduce("arith.maximumf", "0xFFF0000000000000", x)
        e = self.exp(self.sub(x, self.splat(top, self.shapes[x])))
        return self.over(e, self.sum(e))

    def length(self, x, eps=0.0):
        return self.sqrt(self.plus(eps, self.dot(x, x)))

    def unit(self, x):
        return self.over(x, self.length(x))

    def slice(self, x, offsets, sizes, strides, shape):
        numbers = " ".join(str(list(n)) for n in (offsets, sizes, strides))
        text = f"{{name}} = tensor.extract_slice {{0}}{numbers} : {{t0}} to {{type}}"
        return self.mlir(shape, text, x)


# --------------------------------------------------------------------------------------------------
# NumPy
# --------------------------------------------------------------------------------------------------


def reference(s, program):
    """The results of the program's function by the formula: outs, then final states."""
    inputs, sequences = program.inputs, program.initial[0].shape[0]
    outs = [np.zeros((program.batch, program.tokens, program.heads, *program.shapes[o]))
            for o in program.outs]
    finals = [x.copy() for x in program.initial]
    for n in range(sequences):
        b, lo, hi = (n, 0, program.tokens)
        if program.offsets is not None:
            b, lo, hi = 0, program.offsets[n], program.offsets[n + 1]
        for h in range(program.heads):
            rows = [i.data[b, lo:hi, h] if i.per_token else i.data[h] for i in inputs]
            states = [x[n, h] for x in program.initial]
            if s.sequence:
                *made, states = s.sequence(*rows, *states)
                for out, x in zip(outs, made, strict=True):
                    out[b, lo:hi, h] = x
            for t in range(lo, hi) if s.step else ():
                now = [row[t - lo] if i.per_token else row for i, row in zip(inputs, rows)]
                made = s.step(*now, *states)
                states = made[len(outs):]
                for out, x in zip(outs, made):
                    out[b, t, h] = x
            for final, x in zip(finals, states, strict=True):
                final[n, h] = x
    return [x[0] if program.offsets is not None else x for x in outs] + finals


# --------------------------------------------------------------------------------------------------
# Compiled
# --------------------------------------------------------------------------------------------------


def arguments(program, first=0, last=None, initial=None):
    """Of the program's function, for tokens first .. last - 1 and these initial states."""
    arrays = programs.arguments(program)
    if initial is None:
        return arrays
    count = len(program.inputs)
    arrays[:count] = [(element, x[:, first:last] if i.per_token else x)
                      for i, (element, x) in zip(program.inputs, arrays)]
    states = len(arrays) - len(initial)
    if program.positions is not None:
        arrays[states - 1] = ("i64", program.positions + first)
    return arrays[:states] + [(program.dtype, x) for x in initial]


def run(path, arrays, chunk):
    """chunk: tokens per chunk, 0 for none, None for the pipeline's own plan."""
    options = [] if chunk is None else [runner.pipeline(chunk, (chunk + 1) // 2)]
    return runner.run(path, arrays, guard=True, threads=1, options=options).results


def run_split(path, program, chunk, at):
    """The results of two runs, the second from where the first ended, as those of one."""
    outs = len(program.outs)
    start = run(path, arguments(program, 0, at, program.initial), chunk)
    rest = run(path, arguments(program, at, None, start[outs:]), chunk)
    return [np.concatenate(pair, axis=1) for pair in zip(start[:outs], rest)] + rest[outs:]


def error(got, want):
    """The largest error of a result, relative to its largest value; infinite maxima must agree."""
    worst = 0.0 if len(got) == len(want) else np.inf
    for x, y in zip(got, want):
        finite = np.isfinite(y)
        same = x.shape == y.shape and (x[~finite] == y[~finite]).all()
        worst = max(worst, numerics.relative_error(x[finite], y[finite]) if same else np.inf)
    return worst


def printed_classes(path, program):
    """state -> its class as linattn-print-state-graph says it."""
    command = [runner.tool("la-opt"), path, "--linattn-print-state-graph"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise runner.RunError(f"{' '.join(map(str, command))}\n{done.stderr}")
    found = re.findall(r"state #(\d+): ([\w-]+)", done.stderr)
    names = list(program.states)
    return {names[int(index)]: word for index, word in sorted(found, key=lambda x: int(x[0]))}
