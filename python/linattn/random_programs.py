"""Random recurrence bodies: compiled token by token and in chunks, against NumPy.

    python3 -m linattn.random_programs --seeds 0:500 [--la-run PATH] [--chunk 8] [--jobs 2]
    python3 -m linattn.random_programs --seeds 7:8 --print

One seed is one body: decays of all axes, writes, erases at any point, gates computed from inputs,
feature maps, branches, several states, segments, reverse, checkpoints. Beside low-rank states there
are scans and shifts (scan_states.py), and all feed each other. Most low-rank states have a chunk form
by construction; the others break one rule of it, and must then run token by token: as a whole if
there is no low-rank state, else inside the chunk of the others. The compiler's class of each state
is compared with the one by construction.
Prints what the bodies covered; exit status 1 and the programs if any result differs.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from . import numerics, programs, runner
from .scan_states import AFFINE, ScanStates

# What breaks the chunk form -> words of the compiler's remark.
BREAKS = {
    "decay along the other axis from read to write": "along another axis than a read before it",
    "decay of every entry": "a multiplier for every entry",
    "decay from a read": "the decay depends on what was read",
    "write address from a read": "the address of a write depends on",
    "address of a feeding read from a read": "the address of a read that feeds a write depends",
    "product of reads": "product of values that were read",
    "function of a read": "not affine in what was read",
    "coefficient per column": "factor that differs along the other axis",
    "erases along both axes": "reads that contract different axes feed writes",
    "dependent write in a branch": "a write that only a branch sees depends",
}
CLASS = r"low-rank along axis \d|shift \([^)]*\)|scan \([^)]*\)|sequential"
# Of these, the affine scans, if nothing is erased.
SCANS = {"decay of every entry", "dependent write in a branch"}


class Generator(ScanStates):
    """Builds one program from a seed. expected: the class of each state, by construction."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.features = set()
        self.broken = None  # the key of BREAKS that was applied
        self.p = programs.Program(f"seed {seed}")
        self.choose_domain()
        self.wanted = str(self.rng.choice(list(BREAKS))) if self.rng.random() < 0.18 else None
        self.outs, self.known = [], []  # known: reads of earlier states
        self.expected, self.logs = {}, []
        for index in range(1 + int(self.rng.random() < 0.4) + int(self.rng.random() < 0.1)):
            self.part(f"s{index}")
        self.p.outs = self.outs
        if self.p.offsets is not None:
            self.uses("segments")
        if len(self.p.states) > 1:
            self.uses("several states")

    def part(self, name):
        """A low-rank state, at times with scans and shifts before and behind it."""
        for place in ("before", "state", "behind"):
            if place == "state":
                self.state(name)
            elif self.chance(0.25):
                self.scan_or_shift(f"{name}_{place}")

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, *items):
        return items[int(self.rng.integers(len(items)))]

    def uses(self, feature):
        self.features.add(feature)

    def choose_domain(self):
        p, rng = self.p, self.rng
        p.dtype = "f32" if self.chance(0.2) else "f64"
        p.tokens, p.heads = int(rng.integers(0, 41)), int(rng.integers(1, 3))
        p.batch, p.reverse = int(rng.integers(1, 3)), self.chance(0.3)
        if self.chance(0.25):
            inner = sorted(int(x) for x in rng.integers(0, p.tokens + 1, rng.integers(0, 4)))
            p.batch, p.offsets = 1, [0, *inner, p.tokens]
        elif self.chance(0.25):
            p.every = self.pick(1, 4, 8, 12)
            self.uses("checkpoints")
        for flag, feature in ((p.reverse, "reverse"), (p.tokens == 0, "no tokens"),
                              (p.dtype == "f32", "f32")):
            if flag:
                self.uses(feature)

    # Values that do not depend on the state ----------------------------------------------------

    def input(self, make, shape, gate=False):
        """An input with a row per token or, at times, one for all; in f32 or bf16 if narrow."""
        per_token = not self.p.inputs or not self.chance(0.12)
        lead = ((self.p.batch, self.p.tokens, self.p.heads) if per_token else (self.p.heads,))
        narrow = not gate and self.chance(0.2)
        if narrow:
            self.uses("narrow inputs")
        return self.p.input(make(lead + shape), per_token, narrow)

    def wide(self, name):
        """In the type of the state, for arith."""
        return self.p.op("extend", self.p.shapes[name], name) if self.p.is_narrow(name) else name

    def gate(self, shape):
        """A log-decay, at most 0."""
        p, rng = self.p, self.rng
        if self.logs and self.chance(0.3):
            self.uses("gate: from a running maximum or sum")
            return p.splat(self.pick(*self.logs), shape)
        kind = self.pick("input", "input", "-softplus", "log sigmoid", "-exp", "position")
        self.uses(f"gate: {kind}")
        if kind == "input":
            def strong(s):
                g = -rng.exponential(0.2, s)
                strongest = self.pick(-12.0, -200.0, -np.inf, 0.0)
                g = np.where(rng.random(s) < 0.08, strongest, g)
                if np.isneginf(g).any():
                    self.uses("gate: -inf")
                return g
            return self.input(strong, shape, gate=True)
        if kind == "position":
            step = p.op("constant", (), value=-0.01)
            return p.splat(p.apply("arith.mulf", p.op("position", ()), step), shape)
        x = self.wide(self.input(rng.standard_normal, shape))
        if kind == "-softplus":
            return p.apply("arith.negf", p.softplus(x))
        if kind == "log sigmoid":
            return p.apply("arith.negf", p.softplus(p.apply("arith.negf", x)))
        return p.apply("arith.negf", p.apply("math.exp", x))

    def multiplier(self, shape):
        """Of a linear decay: magnitude at most 1."""
        p, rng = self.p, self.rng
        kind = self.pick("input", "sigmoid", "exp of a gate")
        self.uses(f"multiplier: {kind}")
        if kind == "input":
            return self.input(lambda s: np.where(rng.random(s) < 0.05, 0, rng.uniform(-1, 1, s)),
                              shape, gate=True)
        if kind == "sigmoid":
            return p.sigmoid(self.wide(self.input(rng.standard_normal, shape)))
        return p.apply("math.exp", self.gate(shape))

    def coefficient(self, low=-0.7, high=0.7):
        """A number per token: a strength or the factor of a read."""
        p, rng = self.p, self.rng
        kind = self.pick("input", "input", "sigmoid", "constant")
        if kind == "input":
            return self.input(lambda s: rng.uniform(low, high, s), (), gate=True)
        if kind == "sigmoid":
            return p.sigmoid(self.wide(self.input(rng.standard_normal, ())))
        return p.constant(float(rng.uniform(low, high)))

    def address(self, size):
        """A vector of norm about 1, raw or through a feature map."""
        p, rng = self.p, self.rng

        def unit(s):
            x = rng.standard_normal(s)
            x = np.where(rng.random(s[:-1] + (1,)) < 0.05, 0, x)  # zero keys too
            return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-9)

        base = self.input(unit, (size,))
        kind = self.pick("raw", "raw", "raw", "exp", "matvec", "normalised", "tanh", "strength")
        self.uses(f"address: {kind}")
        if kind == "raw":
            return base
        base = self.wide(base)
        if kind == "exp":
            shift = p.constant(-1.0, (size,))
            return p.apply("math.exp", p.apply("arith.addf", base, shift))
        if kind == "matvec":
            scale = 1 / np.sqrt(size)
            matrix = p.input(rng.uniform(-scale, scale, (p.heads, size, size)), per_token=False)
            return p.op("matvec", (size,), matrix, base)
        if kind == "normalised":
            norm = p.apply("arith.addf", p.op("dot", (), base, base), p.constant(1e-6))
            root = p.splat(p.apply("math.sqrt", norm), (size,))
            return p.apply("arith.divf", base, root)
        if kind == "tanh":
            return p.apply("math.tanh", base)
        return p.scale(self.coefficient(), base)

    def value(self, shape):
        """What a write adds, apart from what it erases."""
        p = self.p
        related = [r for r in self.known if p.shapes[r] == shape]
        if related and self.chance(0.7):
            self.uses("one state feeds another")
            read = p.apply("math.tanh", self.pick(*related))  # not affine: another component
            if len(related) > 1 and self.chance(0.5):
                read = p.apply("arith.mulf", read, p.apply("math.tanh", related[-1]))
            return read
        x = self.input(self.rng.standard_normal, shape)
        if self.chance(0.25):
            self.uses("computed value")
            return p.apply("math.tanh", self.wide(x))
        return x

    # One state ---------------------------------------------------------------------------------

    def state(self, name):
        p, rng = self.p, self.rng
        sizes = (1, 2, 3, 4, 5, 8, 9)
        self.size, width = self.pick(*sizes), self.pick(*sizes)
        self.axis = int(self.chance(0.4))
        self.free = () if self.chance(0.2) else (width,)
        if self.free:
            shape = (self.size, width) if self.axis == 0 else (width, self.size)
        else:
            shape, self.axis = (self.size,), 0
        self.uses(f"rank {len(shape)}" + f", axis {self.axis}" * len(self.free))
        self.start(name, shape, 1.0)
        self.current, self.reads, self.crossed = name, [], []
        self.feeds, broken = False, self.broken  # feeds: what is read feeds what is written
        # Decays along the other axis, which may not lie between a read and a write that it feeds.
        self.columns = bool(self.free) and self.chance(0.25)
        kinds = ["decay", "write", "erase", "erase", "read", "branch", "across", "rows"]
        events = list(rng.choice(kinds, rng.integers(1, 5)))
        events.insert(int(rng.integers(len(events) + 1)), self.pick("write", "erase"))
        events.insert(int(rng.integers(len(events) + 1)), "read")
        if self.columns:
            events.insert(int(rng.integers(len(events) + 1)), "decay")
        for event in events:
            getattr(self, event)()
        breakable = self.wanted and not self.broken and not self.columns
        if breakable and (self.free or "ax" not in self.wanted):
            self.break_chunk_form()
        elif self.chance(0.25):
            self.corrected_read()
        p.states[name] = self.current
        self.expected[name] = "low-rank"
        if self.broken != broken:
            is_scan = self.broken in SCANS and not self.feeds
            self.expected[name] = AFFINE if is_scan else "sequential"
        self.known += self.reads + self.crossed

    def decayed(self, state):
        p = self.p
        axes = (self.axis,) if self.chance(0.45) else ()
        shape = (self.size,) if axes else ()
        linear = self.chance(0.3)
        if self.columns and self.chance(0.6):
            axes, shape = (1 - self.axis,), self.free
            self.uses("decay along the other axis")
            if self.feeds:
                self.uses("decay along the other axis, erase")
        self.uses(f"decay: {'linear ' * linear}{'per channel' if axes else 'scalar'}")
        by = self.multiplier(shape) if linear else self.gate(shape)
        return p.decay(state, by, axes, linear)

    def decay(self):
        self.current = self.decayed(self.current)

    def independent_write(self, state):
        p, address, value = self.p, self.address(self.size), self.value(self.free)
        if self.free and self.chance(0.2):  # the same outer product, named from the other side
            self.uses("write along the other axis")
            return p.write(state, value, 1 - self.axis, address)
        return p.write(state, address, self.axis, value)

    def write(self):
        self.uses("write")
        self.current = self.independent_write(self.current)

    def new_read(self, state, address=None):
        read = self.p.read(state, address or self.address(self.size), self.axis)
        self.reads.append(read)
        return read

    def read(self):
        self.uses("read")
        self.outs.append(self.new_read(self.current))

    def across(self):
        """A read of the other axis, which feeds no write."""
        if not self.free:
            return self.read()
        self.uses("read along the other axis")
        self.crossed.append(self.p.read(self.current, self.address(self.free[0]), 1 - self.axis))
        self.outs.append(self.crossed[-1])

    def rows(self):
        """A write of several rows at once, which erases what its rows read, or a read."""
        p, count = self.p, self.pick(1, 2, 3)
        shape = (count, *self.free)
        matrix = lambda: self.input(
            lambda s: self.rng.uniform(-1, 1, s) / np.sqrt(count * self.size), (count, self.size))
        kind = self.pick("read", "write", "erase")
        self.uses(f"several rows: {kind}")
        if kind == "read":
            self.outs.append(p.read(self.current, matrix(), self.axis))
            return
        address, value = matrix(), self.input(self.rng.standard_normal, shape)
        if kind == "erase":
            self.feeds = True
            read = p.read(self.current, address, self.axis)
            value = p.apply("arith.subf", self.wide(value), read)
            value = p.apply("arith.mulf", p.splat(self.coefficient(), shape), value)
        self.current = p.write(self.current, address, self.axis, value)

    def branch(self):
        """Decays and writes that only this token's read sees."""
        state = self.current
        if self.chance(0.5):
            state = self.decayed(state)
        state = self.independent_write(state)
        if self.chance(0.3):
            state = self.decayed(state)
        self.uses("branch")
        self.outs.append(self.new_read(state))

    def affine(self, read):
        """A combination of reads with uniform coefficients, plus a constant part."""
        p = self.p
        form = self.pick("beta (v - r)", "-a r", "v - a r / b", "a r", "r r'", "a b r")
        self.uses(f"erase: {form}")
        scaled = lambda x: p.scale(self.coefficient(), x)
        if form == "beta (v - r)":
            return scaled(p.apply("arith.subf", self.wide(self.value(self.free)), read))
        if form == "-a r":
            return p.apply("arith.negf", scaled(read))
        if form == "a r":
            return scaled(read)
        if form == "v - a r / b":
            divisor = p.apply("arith.addf", p.sigmoid(self.coefficient()), p.constant(1.0))
            quotient = p.apply("arith.divf", scaled(read), p.splat(divisor, self.free))
            return p.apply("arith.subf", self.wide(self.value(self.free)), quotient)
        if form == "a b r":  # two uniform tensors multiplied first
            both = p.apply("arith.mulf", p.splat(self.coefficient(), self.free),
                           p.constant(0.8, self.free))
            return p.apply("arith.mulf", both, read)
        other = read if self.columns else self.pick(*self.reads)
        return p.apply("arith.addf", scaled(read), p.apply("arith.negf", scaled(other)))

    def erase(self):
        """A write that depends on a read of the state as it is now, or was earlier in the token."""
        self.feeds = True
        if self.reads and not self.columns and self.chance(0.35):
            self.uses("erase from an earlier read")
            read, address = self.pick(*self.reads), self.address(self.size)
        else:
            address = self.address(self.size)
            # Mostly the address that is read is the one that is written.
            read = self.new_read(self.current, address if self.chance(0.6) else None)
        value = self.affine(read)
        if self.free and self.chance(0.15):
            self.uses("write along the other axis")
            self.current = self.p.write(self.current, value, 1 - self.axis, address)
        else:
            self.current = self.p.write(self.current, address, self.axis, value)

    def number_from(self, read):
        """A number that depends on a read."""
        return self.p.op("dot", (), read, read) if self.free else read

    def corrected_read(self):
        """The address depends on a read, which is allowed where the read feeds no write."""
        p = self.p
        self.uses("address from a read")
        strength = p.sigmoid(self.number_from(self.new_read(self.current)))
        address = p.scale(strength, self.wide(self.address(self.size)))
        self.outs.append(self.new_read(self.current, address))

    def break_chunk_form(self):
        p, kind = self.p, self.wanted
        read = self.new_read(self.current)
        strength = p.sigmoid(self.number_from(read))
        write = lambda state, value: p.write(state, self.address(self.size), self.axis, value)
        if kind == "decay along the other axis from read to write":
            self.current = p.decay(self.current, self.gate(self.free), (1 - self.axis,))
            self.current = write(self.current, p.scale(self.coefficient(), read))
        elif kind == "decay of every entry":
            axes = (0, 1) if self.free else (0,)
            if not self.free:
                return
            self.current = p.decay(self.current, self.gate(p.shapes[self.current]), axes)
        elif kind == "decay from a read":
            self.current = p.decay(self.current, strength, linear=True)
        elif kind == "write address from a read":
            address = p.scale(strength, self.wide(self.address(self.size)))
            self.current = p.write(self.current, address, self.axis, self.value(self.free))
        elif kind == "address of a feeding read from a read":
            address = p.scale(strength, self.wide(self.address(self.size)))
            second = self.new_read(self.current, address)
            self.current = write(self.current, p.scale(self.coefficient(), second))
        elif kind == "product of reads":
            # Bounded, or the recurrence would blow up.
            product = p.apply("arith.mulf", p.scale(strength, read), p.constant(0.1, self.free))
            self.current = write(self.current, product)
        elif kind == "function of a read":
            self.current = write(self.current, p.apply("math.tanh", read))
        elif kind == "coefficient per column":
            if not self.free:
                return
            factor = self.input(lambda s: self.rng.uniform(-0.7, 0.7, s), self.free, gate=True)
            self.current = write(self.current, p.apply("arith.mulf", factor, read))
        elif kind == "erases along both axes":
            self.current = write(self.current, p.scale(self.coefficient(), read))
            address = self.address(self.free[0])
            erased = p.scale(self.coefficient(), p.read(self.current, address, 1 - self.axis))
            self.current = p.write(self.current, address, 1 - self.axis, erased)
        else:
            branch = write(self.current, p.scale(self.coefficient(), read))
            self.outs.append(self.new_read(branch))
        self.broken = kind
        self.uses(f"refused: {kind}")

    def problems(self, report):
        """Where the compiler's classes are not those that were built into the body."""
        got = dict(zip(self.p.states, report.classes))
        found = [f"expected {name} to be {word}, got: {got.get(name)}"
                 for name, word in self.expected.items() if not got.get(name, "").startswith(word)]
        # Beside a low-rank state others are run token by token inside its chunk.
        chunks = "low-rank" in self.expected.values()
        if chunks == bool(report.refused):
            found.append(f"expected {'a chunk form' if chunks else 'a refusal'}, "
                         f"got: {report.refused}")
        words = BREAKS[self.broken] if self.broken else ""
        if self.broken and not any(words in x for x in report.remarks):
            found.append(f"expected a remark '{words}', got: {report.remarks}")
        return found


# --------------------------------------------------------------------------------------------------
# Running
# --------------------------------------------------------------------------------------------------


@dataclass
class Report:
    """refused: the compiler's remark, or "" if the body was chunked. remarks: all of them, also on
    what is run token by token inside the chunk. classes: of each state, in the compiler's words.
    errors: form -> the largest error, and the largest share of what the contract allows. problems:
    what is wrong, in words."""

    program: programs.Program
    refused: str = ""
    classes: list = field(default_factory=list)
    errors: dict = field(default_factory=dict)
    problems: list = field(default_factory=list)
    remarks: list = field(default_factory=list)


def classify(path, chunk, subchunk):
    """The classes of a recurrence's states; "" if linattn-chunk takes it, or its remark; all
    remarks."""
    passes = f"linattn-print-state-graph,linattn-chunk{{chunk={chunk} subchunk={subchunk}}}"
    command = [runner.tool("la-opt"), path, "--remark-format=emitRemark",
               "--remarks-filter-missed=linattn-chunk",
               f"--pass-pipeline=builtin.module({passes})"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise runner.RunError(f"{' '.join(map(str, command))}\n{done.stderr}")
    found = re.findall(fr"state #(\d+): ({CLASS})", done.stderr)
    classes = [name for _, name in sorted(found, key=lambda x: int(x[0]))]
    remarks = re.findall(r"remark: (.*)", done.stderr)
    if re.search(r"\bstep\(", done.stdout):
        return classes, "", remarks
    return classes, remarks[0] if remarks else "no remark", remarks


def heads_second(program, arrays):
    """The results with the head axis second, as states have it."""
    outs = len(program.outs)
    kept = outs + len(program.states)
    return [x if program.offsets is not None or outs <= i < kept else np.swapaxes(x, 1, 2)
            for i, x in enumerate(arrays)]


def all_errors(got, want):
    """Of every head of every result."""
    if len(got) != len(want):
        return np.array([np.inf])
    return np.concatenate([numerics.head_errors(x, y, axis=1) for x, y in zip(got, want)])


def check(program, folder, chunk=8, subchunk=4):
    """Compiles and runs a program token by token and, if it can be, in chunks: a Report."""
    report = Report(program)
    path = pathlib.Path(folder) / "program.mlir"
    path.write_text(programs.write_mlir(program))
    want = heads_second(program, programs.results(program))
    if not all(np.isfinite(x).all() for x in want):
        report.problems.append("the reference is not finite")
        return report
    try:
        report.classes, report.refused, report.remarks = classify(path, chunk, subchunk)
    except runner.RunError as error:
        report.problems.append(str(error))
        return report
    loop_errors, rho = 0.0, 1.0
    if program.dtype == "f32":
        loop = heads_second(program, programs.results(program, np.float32))
        loop_errors = all_errors(loop, want)
        rho = 1.0 if report.refused else programs.solve_norm(program, chunk)
    for form, size in (("token by token", 0), ("in chunks", chunk)):
        if size and report.refused:
            continue
        try:
            run = runner.run(path, programs.arguments(program), guard=True, threads=1,
                             options=[runner.pipeline(size, subchunk)])
        except runner.RunError as error:
            report.problems.append(f"{form}: {error}")
            continue
        errors = all_errors(heads_second(program, run.results), want)
        shares = errors / numerics.contract(program.dtype, loop_errors, size, rho)
        report.errors[form] = errors.max(initial=0), shares.max(initial=0)
        if not report.errors[form][1] <= 1:
            report.problems.append(f"{form}: error {errors[shares.argmax()]:.3g}, "
                                   f"{shares.max():.3g} times what the contract allows")
    return report


def check_seed(seed, folder, chunk=8, subchunk=4, make=Generator):
    """(Report, features) of a seed; also checks that the class is the one built into the body."""
    generator = make(seed)
    place = pathlib.Path(folder) / f"seed{seed}"
    place.mkdir(parents=True)
    report = check(generator.p, place, chunk, subchunk)
    report.problems += generator.problems(report)
    return report, generator.features


def check_seeds(seeds, plan, jobs, make=Generator):
    """check_seed of every seed, in order; plan: seed -> (chunk, subchunk)."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda seed: check_seed(seed, folder, *plan(seed), make), seeds)


def summary(reports):
    """What the seeds covered, and how many of them differ."""
    every, chunked, classes = Counter(), Counter(), Counter()
    for report, features in reports:
        every.update(features)
        chunked.update(features if not report.refused else ())
        classes.update(report.classes)
    lines = [f"{'feature':50} seeds  in chunks"]
    lines += [f"{name:50} {every[name]:5}  {chunked[name]:9}" for name in sorted(every)]
    lines += ["", f"{'class':50} states"]
    lines += [f"{name:50} {classes[name]:6}" for name in sorted(classes)] + [""]
    for dtype in ("f64", "f32"):
        for form in ("token by token", "in chunks"):
            errors = [r.errors[form] for r, _ in reports
                      if r.program.dtype == dtype and form in r.errors]
            if errors:
                error, share = map(max, zip(*errors))
                lines += [f"{dtype} {form}: {len(errors)} seeds, largest error {error:.2g}, "
                          f"largest share of what the contract allows {share:.2g}"]
    low_rank = sum(not report.refused for report, _ in reports)
    lines += [f"{len(reports)} seeds, {low_rank} low-rank ({low_rank / max(1, len(reports)):.0%}), "
              f"{len(reports) - low_rank} token by token only",
              f"{sum(bool(report.problems) for report, _ in reports)} seeds differ"]
    return "\n".join(lines)


def main(make=Generator):
    parser = argparse.ArgumentParser(description=sys.modules[make.__module__].__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:50", help="FIRST:END")
    parser.add_argument("--la-run", help="path of la-run; la-opt lies beside it")
    parser.add_argument("--chunk", type=int, default=8)
    parser.add_argument("--subchunk", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--print", action="store_true", help="only print the programs")
    options = parser.parse_args()
    seeds = range(*map(int, options.seeds.split(":")))
    if options.print:
        for seed in seeds:
            print(programs.write_mlir(make(seed).p))
        return
    if options.la_run:
        binaries = pathlib.Path(options.la_run).resolve().parent
        os.environ["LINATTN_BUILD_DIR"] = str(binaries.parent)
    reports = []
    for report, features in check_seeds(seeds, lambda _: (options.chunk, options.subchunk),
                                        options.jobs, make):
        reports.append((report, features))
        if report.problems:
            print(*report.problems, programs.write_mlir(report.program), sep="\n", flush=True)
    print(summary(reports))
    sys.exit(any(report.problems for report, _ in reports))


if __name__ == "__main__":
    main()
