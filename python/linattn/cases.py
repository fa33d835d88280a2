"""Generated cases: one MLIR function and its NumPy float64 expectation from the same description.

    python3 -m linattn.cases --list [--filter REGEX] [--full]
    python3 -m linattn.cases --out DIR [--filter REGEX] [--full]

--out writes, per case, DIR/NAME/{case.mlir, arg*.npy, expect*.npy, command}, where
`command` is the command line of la-run in that folder.
"""

import argparse
import itertools
import pathlib
import re
import zlib
from dataclasses import dataclass, field

import numpy as np

from . import numerics
from .bodies import BODIES
from .emit import Writer, fusable

TOLERANCE = {"f64": 1e-12, "f32": 1e-5, "bf16": 2e-2, "f16": 2e-2}


@dataclass(frozen=True)
class Case:
    """layout: bthd, bhtd, fused (one [B, T, width] buffer) or packed ([T, H, D] with offsets).
    group: none, or floordiv or mod: `ratio` heads to one of the keys. every: tokens per checkpoint,
    0 for none. lengths: of packed sequences, which add up to `tokens`; by default a few of about a
    third, and empty ones."""

    body: str
    layout: str = "bthd"
    group: str = "none"
    orient: str = "KV"
    reverse: bool = False
    batch: int = 2
    tokens: int = 33
    heads: int = 4
    key: int = 8
    value: int = 8
    dtype: str = "f32"
    initial: bool = True
    every: int = 0
    lengths: tuple = ()
    ratio: int = 2

    @property
    def name(self):
        flags = [self.layout, self.group, self.orient, self.dtype]
        flags += ["reverse"] * self.reverse + ["zero"] * (not self.initial)
        flags += [f"every{self.every}"] * (self.every > 0)
        flags += [f"ratio{self.ratio}"] * (self.ratio != 2)
        flags += ["-".join(map(str, self.lengths))] * bool(self.lengths)
        size = f"B{self.batch}T{self.tokens}H{self.heads}K{self.key}V{self.value}"
        return ".".join([self.body, *flags, size])

    @property
    def key_heads(self):
        return self.heads if self.group == "none" else self.heads // self.ratio

    @property
    def offsets(self):
        """Packed sequences over the tokens, with empty ones first, inside and last."""
        if self.lengths:
            return [0, *itertools.accumulate(self.lengths)]
        t = self.tokens
        return [0, 0, t // 3, t // 3, t // 3 + t // 2, t, t] if self.batch else [0]

    def valid(self):
        body = BODIES[self.body]
        if self.every and self.layout == "packed":
            return False  # sequences have different numbers of checkpoints
        if self.every and body.block and self.every % body.block:
            return False
        if self.layout == "packed" and not self.batch and self.tokens:
            return False  # no sequence can hold the tokens
        fused = [i for i in body.inputs if fusable(i)]
        return self.layout != "fused" or len(fused) > 1


@dataclass
class Program:
    """A case written out: text, and (element type, array) of arguments and expected results."""

    text: str
    args: list = field(default_factory=list)
    expected: list = field(default_factory=list)
    tolerance: float = 0.0


def _rounded(x, element):
    """The float64 values that x has when stored as `element`."""
    return numerics.decode(numerics.encode(x, element), element)


def build(case):
    """Case -> Program with generated inputs and the float64 expectation."""
    writer, body = Writer(case), BODIES[case.body]
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    packed = case.layout == "packed"
    batch = 1 if packed else case.batch
    sequences = len(case.offsets) - 1 if packed else case.batch

    # Inputs as [B, T, H, ...] (or [H, ...]), with the values that the compiled code sees.
    inputs = {}
    for operand in body.inputs:
        lead = () if operand.heads == "param" else (batch, case.tokens)
        shape = (*lead, writer.heads(operand), *writer.shape(operand.dims))
        inputs[operand.name] = _rounded(operand.data(rng, shape, inputs), writer.element(operand))
    states = None
    if case.initial:
        states = [_rounded(rng.standard_normal((sequences, case.heads, *writer.shape(dims))),
                           writer.state) for dims in body.states.values()]
    result = body.reference(*inputs.values(), states=states, reverse=case.reverse,
                            every=case.every or None,
                            grouping="tile" if case.group == "mod" else "interleave",
                            cu_seqlens=case.offsets if packed else None)

    def state_arrays(arrays):
        """In the case's orientation."""
        turn = case.orient == "VK"
        return [(writer.state, np.swapaxes(x, -1, -2) if turn and len(dims) == 2 else x)
                for x, dims in zip(arrays, body.states.values())]

    program = Program(writer.text(), tolerance=TOLERANCE[case.dtype])
    if writer.fused:
        parts = [inputs[i.name] for i in writer.fused]
        parts = [x.reshape(*x.shape[:2], x.shape[2] * x.shape[3]) for x in parts]
        program.args.append((case.dtype, np.concatenate(parts, axis=-1)))
    for operand in body.inputs:
        if operand not in writer.fused:
            x = inputs[operand.name]
            x = x if operand.heads == "param" else _store(case, x)
            program.args.append((writer.element(operand), x))
    if packed:
        program.args.append(("i32", np.array(case.offsets)))
    if case.initial:
        program.args += state_arrays(states)
    program.expected.append((case.dtype, _store(case, result.out)))
    program.expected += state_arrays(result.states)
    if case.every:
        count = case.tokens // case.every
        program.expected += state_arrays(
            [np.stack(kept) if kept else np.zeros((0, count, *final.shape[1:]))
             for kept, final in zip(result.checkpoints, result.states)])
    return program


def _store(case, x):
    """[B, T, H, ...] -> the case's layout."""
    if case.layout == "packed":
        return x[0]
    return np.swapaxes(x, 1, 2) if case.layout == "bhtd" else x


# Systems whose steps combine what others have: tests/test_zoo.py runs them in fewer forms.
COMBINED = ("gdn2", "eda", "iplr", "hla", "hla-normalised", "delta-product-3")

AXES = {
    "body": [name for name in BODIES if name not in COMBINED],
    "layout": ["bthd", "bhtd", "fused", "packed"],
    "group": ["none", "floordiv", "mod"],
    "orient": ["KV", "VK"],
    "reverse": [False, True],
    "batch": [2, 1, 3, 0],
    "tokens": [33, 0, 1, 2],
    "size": [(8, 8), (1, 8), (8, 1), (60, 100), (100, 60), (257, 8), (8, 257)],
    "dtype": ["f32", "bf16", "f64"],
    "initial": [True, False],
    "every": [0, 5],
}


def _case(values):
    named = dict(zip(AXES, values))
    named["key"], named["value"] = named.pop("size")
    case = Case(**named)
    return case if case.valid() else None


def pairwise(axes, make, tells):
    """A small set in which every pair of values of two axes occurs in some case, if it can.

    make: values, in the order of the axes, to a case or None. tells: whether a run with these
    values says something about two axes other than its number of tokens and sequences."""
    rng = np.random.default_rng(1)
    names, axes = list(axes), list(axes.values())
    sizes = {i for i, name in enumerate(names) if name in ("batch", "tokens")}

    def values_of(pick):
        return [x[p] for x, p in zip(axes, pick)]

    def pairs_of(pick):
        runs = tells(dict(zip(names, values_of(pick))))
        return {(i, pick[i], j, pick[j]) for i, j in itertools.combinations(range(len(axes)), 2)
                if runs or sizes & {i, j}}

    missing = {(i, a, j, b) for i, j in itertools.combinations(range(len(axes)), 2)
               for a in range(len(axes[i])) for b in range(len(axes[j]))}
    cases = []
    while missing:
        i, a, j, b = min(missing)
        best, best_gain = None, 0
        for _ in range(60):
            pick = [int(rng.integers(len(axis))) for axis in axes]
            pick[i], pick[j] = a, b
            gain = len(missing & pairs_of(pick))
            if gain > best_gain and make(values_of(pick)):
                best, best_gain = pick, gain
        if best is None:  # the two values exclude each other
            missing.discard((i, a, j, b))
            continue
        missing -= pairs_of(best)
        cases.append(make(values_of(best)))
    return cases


# What chunks depend on. tokens: a name, and the number for chunks of C tokens.
TOKENS = {"0": lambda c: 0, "1": lambda c: 1, "C-1": lambda c: c - 1, "C": lambda c: c,
          "C+1": lambda c: c + 1, "2C+7": lambda c: 2 * c + 7}
WIDTHS = [100, 1, 8, 60, 128, 257]
GRID = {
    "body": ["gated-delta", "scalar-decay", "gla", "kda", "dplr", "rwkv6", "normalised",
             "delta-product"],
    "layout": AXES["layout"],
    "group": AXES["group"],
    "orient": AXES["orient"],
    "reverse": AXES["reverse"],
    "dtype": ["f64", "f32", "bf16"],
    "chunk": [16, 8, 32],
    "tokens": ["2C+7", "C+1", "C-1", "C", "0", "1"],
    "key": WIDTHS,
    "value": WIDTHS,
}


def _grid_case(values):
    """(Case, chunk), or None."""
    named = dict(zip(GRID, values))
    chunk, tokens = named.pop("chunk"), named["tokens"]
    named["tokens"] = TOKENS[tokens](chunk)
    if named["layout"] == "packed":  # sequences of all lengths, in turns
        first = list(TOKENS).index(tokens)
        lengths = [TOKENS[name](chunk) for name in TOKENS]
        named["lengths"] = tuple(lengths[first:] + lengths[:first])
        named["tokens"] = sum(lengths)
    case = Case(**named, batch=1)
    return (case, chunk) if case.valid() else None


def chunk_grid(full=False):
    """name -> (Case, chunk): numbers of tokens around the chunk and widths that nothing divides.

    full: all combinations of chunk, tokens and widths; what the other axes are is drawn."""
    if full:
        rng, (drawn, crossed) = np.random.default_rng(4), np.split(list(GRID), [6])
        grid = []
        for sizes in itertools.product(*(GRID[name] for name in crossed)):
            case = None
            while case is None:
                others = [GRID[name][rng.integers(len(GRID[name]))] for name in drawn]
                case = _grid_case([*others, *sizes])
            grid.append(case)
    else:
        grid = pairwise(GRID, _grid_case, lambda values: values["tokens"] not in ("0", "1"))
    return {f"{case.name}.C{chunk}": (case, chunk) for case, chunk in grid}


def long_runs():
    """4096 tokens, one row per system that a model of that length uses."""
    base = dict(tokens=4096, batch=1, heads=2, key=16, value=16)
    return [Case("gated-delta", group="floordiv", **base),
            Case("kda", dtype="bf16", **base),
            Case("gla", layout="packed", **base),
            Case("dplr", orient="VK", **base),
            Case("mamba2", layout="fused", reverse=True, **base)]


def odd_widths():
    """Widths that no tile divides, at one token, a few, and one more than a chunk."""
    return [Case(body, key=width, value=width, tokens=tokens, heads=2, batch=1)
            for body in ("gla", "kda") for width in (60, 100) for tokens in (1, 3, 65)]


def every_combination():
    """The product of what a program can be; the axes that only change data take turns."""
    names = ("body", "layout", "group", "orient", "reverse")
    product = {name: AXES[name] for name in names} | {"dtype": ["f32", "bf16"]}
    turns = itertools.cycle(itertools.product([False, True], [0, 5], AXES["size"]))
    cases = []
    for values in itertools.product(*product.values()):
        initial, every, (key, value) = next(turns)
        cases.append(Case(**dict(zip(product, values)), batch=3, tokens=33, key=key, value=value,
                          initial=initial, every=every))
    return [c for c in cases if c.valid()]


def all_cases(full=False):
    # A run without tokens, or of one, tells nothing about two other axes.
    tells = lambda values: values["batch"] > 0 and values["tokens"] > 1
    cases = pairwise(AXES, _case, tells) + odd_widths() + long_runs()
    cases += every_combination() if full else []
    return {c.name: c for c in cases}


def write(case, directory):
    """Write one case as files; returns its folder."""
    program = build(case)
    folder = pathlib.Path(directory) / case.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "case.mlir").write_text(program.text)
    flags = ["--norm-tol", program.tolerance]
    for i, (element, x) in enumerate(program.args):
        numerics.save_npy(folder / f"arg{i}.npy", numerics.encode(x, element), element)
        flags += ["--arg", f"arg{i}.npy"]
    for i, (_, x) in enumerate(program.expected):
        numerics.save_npy(folder / f"expect{i}.npy", x, "f64")
        flags += ["--expect", f"expect{i}.npy"]
    # What to give la-run, in this folder.
    (folder / "command").write_text(" ".join(map(str, ["case.mlir", *flags])) + "\n")
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print case names")
    parser.add_argument("--out", help="write the cases to this folder")
    parser.add_argument("--filter", default="", help="only names that this regex finds")
    parser.add_argument("--full", action="store_true", help="also the full grid")
    options = parser.parse_args()
    for name, case in all_cases(options.full).items():
        if not re.search(options.filter, name):
            continue
        if options.list or not options.out:
            print(name)
        if options.out:
            write(case, options.out)


if __name__ == "__main__":
    main()
