"""What an item runs: a function in MLIR, its arguments, and its results by the formula.

Two kinds of programs become a Subject: generated cases of `bodies`, and causal systems."""

import copy
import functools
import inspect
import pathlib
from dataclasses import dataclass, replace
from typing import Callable

import numpy as np

from .. import cases, numerics, programs, runner
from ..bodies import BODIES
from ..causal_systems import SYSTEMS
from ..causal_systems.system import System, reference as system_reference
from ..emit import Writer
from ..numerics_table import solve_norms
from ..scan import expand_heads

SOLVED = {"delta", "gated-delta", "kda"}  # bodies whose bound depends on the inverse


@dataclass
class Subject:
    """inputs: (element, [1, T, H, ...] or [H, ...], whether it is per token); states: (element,
    array). text: of the function, packed sequences or not. want: results by the formula, `outs` of
    them outs; loop: those of float32 NumPy token by token, None for other types; rho: chunk ->
    that of the contract."""

    name: str
    dtype: str
    text: Callable
    inputs: list
    states: list
    outs: int
    want: Callable
    loop: Callable = None
    rho: Callable = lambda chunk: 1.0
    offsets: list = None
    positions: bool = False

    def run(self, folder, plan, rows=None, offsets=None, states=None, first=None, threads=1):
        """Compiled with a plan: 0, or the chunk's size, or that and the subchunk's.

        rows: the tokens that are taken, of packed sequences with these offsets and states, the
        first token of each at a position `first`. Sequences come out packed, one after another."""
        offsets = self.offsets if offsets is None else offsets
        packed = offsets is not None
        rows = slice(None) if rows is None else rows
        path = pathlib.Path(folder) / f"{self.name}.{'packed' if packed else 'dense'}.mlir"
        path.write_text(self.text(packed))
        states = [x for _, x in self.states] if states is None else states
        arrays = [(e, x if not per_token else x[0, rows] if packed else x[:, rows])
                  for e, x, per_token in self.inputs]
        arrays += [("i32", np.array(offsets))] * packed
        if self.positions:
            count = len(states[0])
            arrays += [("i64", np.zeros(count, int) if first is None else np.array(first))]
        arrays += [(e, x) for (e, _), x in zip(self.states, states)]
        options = [runner.pipeline(*plan) if isinstance(plan, tuple) else runner.pipeline(plan)]
        results = runner.run(path, arrays, options=options, threads=threads).results
        return [x[None] if packed else x for x in results[:self.outs]] + results[self.outs:]

    def error(self, results, want=None):
        """The largest error of a head of the outs and of the states."""
        want, worst = self.want() if want is None else want, 0.0
        for n, (x, y) in enumerate(zip(results, want, strict=True)):
            worst = max(worst, _head_error(x, y, 2 if n < self.outs else 1))
        return worst

    def bound(self, plan):
        chunk = plan[0] if isinstance(plan, tuple) else plan
        loop = self.error(self.loop()) if self.loop else 0.0
        return float(numerics.contract(self.dtype, loop, chunk, self.rho(chunk)))


def _head_error(x, want, axis):
    """Infinite values, which running maxima begin with, must agree."""
    infinite = np.isinf(want)
    if x.shape == want.shape and infinite.any():
        if not np.array_equal(x[infinite], want[infinite]):
            return np.inf
        x, want = np.where(infinite, 0, x), np.where(infinite, 0, want)
    return float(numerics.head_errors(x, want, axis).max(initial=0))


def stored(x, element):
    """The values that x has when stored as `element`."""
    return numerics.decode(numerics.encode(x, element), element)


def body(name, change=None, start=1.0, reference=None, **options):
    """A case of BODIES. change: the inputs by name to those that are replaced; start: the size of
    the initial state, 0 where tokens write so little that it would hide them; reference: in place
    of the body's; options: of the Case."""
    case = cases.Case(name, **{"tokens": 40, "heads": 2, **options, "batch": 1})
    writer, made = Writer(case), BODIES[name]
    rng, inputs = np.random.default_rng(len(name)), {}
    for i in made.inputs:
        lead = () if i.heads == "param" else (1, case.tokens)
        shape = (*lead, writer.heads(i), *writer.shape(i.dims))
        inputs[i.name] = i.data(rng, shape, inputs)
    inputs.update(change(inputs) if change else {})
    inputs = {i.name: stored(inputs[i.name], writer.element(i)) for i in made.inputs}
    offsets = case.offsets if case.layout == "packed" else None
    states = [stored(start * rng.standard_normal((len(offsets) - 1 if offsets else 1, case.heads,
                                                  *writer.shape(dims))), writer.state)
              for dims in writer.states.values()]
    grouping = "tile" if case.group == "mod" else "interleave"

    @functools.cache
    def run(dtype=np.float64):
        by = reference or made.reference
        with np.errstate(all="ignore"):
            result = by(*inputs.values(), states=states, dtype=dtype, reverse=case.reverse,
                        cu_seqlens=offsets, grouping=grouping)
        return [result.out, *result.states]

    @functools.cache
    def rho(chunk):
        if not chunk or not case.tokens or name not in SOLVED:
            return 1.0
        keys = expand_heads(inputs["k"], case.heads, grouping)
        gates = inputs.get("g", np.zeros(inputs["beta"].shape))
        return float(np.max(solve_norms({**inputs, "k": keys, "g": gates}, chunk)))

    def text(packed):
        layout = "packed" if packed else "bthd"
        return Writer(replace(case, layout=layout)).text()

    return Subject(name, case.dtype, text,
                   [(writer.element(i), inputs[i.name], i.heads != "param") for i in made.inputs],
                   [(writer.state, x) for x in states], outs=1, want=run,
                   loop=(lambda: run(np.float32)) if case.dtype == "f32" else None, rho=rho,
                   offsets=offsets)


def system(made, change=None, start=None, **domain):
    """A causal system: a System or the name of one. change: as above, by the names that its
    reference gives the inputs; start: of states, by name; domain: of the Program."""
    made = made if isinstance(made, System) else SYSTEMS[made]
    program = made.program(**{"dtype": "f64", **domain})
    names = list(inspect.signature(made.step or made.sequence).parameters)
    by_name = dict(zip(names, program.inputs))
    for name, x in (change({n: i.data for n, i in by_name.items()}) if change else {}).items():
        by_name[name].data = stored(x, program.dtype)
    for name, x in (start or {}).items():
        index = list(program.states).index(name)
        shape = program.initial[index].shape
        program.initial[index] = stored(np.broadcast_to(np.float64(x), shape), program.dtype)

    @functools.cache
    def want():
        with np.errstate(all="ignore"):
            return [x[None] if program.offsets and n < len(program.outs) else x
                    for n, x in enumerate(system_reference(made, program))]

    def text(packed):
        laid_out = copy.copy(program)
        laid_out.offsets = [0] if packed else None
        return laid_out.text()

    @functools.cache
    def loop():
        return [x[None] if program.offsets and n < len(program.outs) else x
                for n, x in enumerate(programs.results(program, np.float32))]

    f32 = program.dtype == "f32"
    return Subject(made.name, program.dtype, text,
                   [(program.dtype, i.data, i.per_token) for i in program.inputs],
                   [(program.dtype, x) for x in program.initial], len(program.outs), want,
                   loop=loop if f32 else None,
                   rho=lambda chunk: programs.solve_norm(program, chunk) if f32 and chunk else 1.0,
                   offsets=program.offsets, positions=program.positions is not None)


def own(made):
    """A class with `body` and `step` or `sequence`, as those of causal_systems, as a System."""
    parts = {name: getattr(made, name) for name in ("body", "step", "sequence")
             if hasattr(made, name)}
    parts["body"].__name__ = made.__name__
    return System(made.__name__, made.__doc__, classes={}, **parts)
