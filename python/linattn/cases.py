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
from dataclasses import dataclass, field, replace

import numpy as np

from . import numerics
from .bodies import BODIES

TOLERANCE = {"f64": 1e-12, "f32": 1e-5, "bf16": 2e-2, "f16": 2e-2}


@dataclass(frozen=True)
class Case:
    """layout: bthd, bhtd, fused (one [B, T, width] buffer) or packed ([T, H, D] with offsets).
    group: none, floordiv or mod. every: tokens per checkpoint, 0 for none."""

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

    @property
    def name(self):
        flags = [self.layout, self.group, self.orient, self.dtype]
        flags += ["reverse"] * self.reverse + ["zero"] * (not self.initial)
        flags += [f"every{self.every}"] * (self.every > 0)
        size = f"B{self.batch}T{self.tokens}H{self.heads}K{self.key}V{self.value}"
        return ".".join([self.body, *flags, size])

    @property
    def key_heads(self):
        return self.heads if self.group == "none" else self.heads // 2

    @property
    def state_type(self):
        return "f64" if self.dtype == "f64" else "f32"

    @property
    def offsets(self):
        """Packed sequences over the tokens, with empty ones first, inside and last."""
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
        fused = [i for i in body.inputs if _fusable(i)]
        return self.layout != "fused" or len(fused) > 1


@dataclass
class Program:
    """A case written out: text, and (element type, array) of arguments and expected results."""

    text: str
    args: list = field(default_factory=list)
    expected: list = field(default_factory=list)
    tolerance: float = 0.0


def _fusable(operand):
    return operand.heads != "param" and not operand.gate and len(operand.dims) == 1


class _Writer:
    """Shapes, maps and text of one case."""

    def __init__(self, case):
        self.case, self.body = case, BODIES[case.body]
        self.sizes = {"K": case.key, "V": case.value, "R": 2, "H": case.heads, "G": case.key_heads}
        self.packed = case.layout == "packed"
        self.lead = "s" if self.packed else "b"

    # Shapes -----------------------------------------------------------------------------------
    def heads(self, operand):
        return self.case.key_heads if operand.heads == "key" else self.case.heads

    def element(self, operand):
        return self.case.state_type if operand.gate else self.case.dtype

    def slice(self, dims):
        return [self.sizes[d] for d in dims]

    def state_dims(self, dims):
        return dims[::-1] if self.case.orient == "VK" else dims

    def tensor(self, shape, element):
        return f"tensor<{''.join(f'{d}x' for d in shape)}{element}>" if shape else element

    def token_shape(self, heads, dims, dynamic=("?", "?")):
        """Shape of an operand with a row per token: dynamic = (batch, time)."""
        b, t = dynamic
        inner = self.slice(dims)
        if self.packed:
            return [t, heads, *inner]
        return [b, heads, t, *inner] if self.case.layout == "bhtd" else [b, t, heads, *inner]

    # Maps -------------------------------------------------------------------------------------
    def head(self, operand):
        if operand is None or operand.heads != "key" or self.case.group == "none":
            return "h"
        ratio = self.case.heads // self.case.key_heads
        return f"h floordiv {ratio}" if self.case.group == "floordiv" else f"h mod {self.case.key_heads}"

    def domain(self, names):
        return f"({', '.join([self.lead, 't', 'h', *names])})"

    def token_map(self, operand, dims, fused_offset=None):
        names = [f"d{i}" for i in range(len(dims))]  # the leading dim of a step is implied
        head = self.head(operand)
        if fused_offset is not None:
            width = self.sizes[dims[0]]
            row = f"({head}) * {width} + {names[0]}" + (f" + {fused_offset}" if fused_offset else "")
            result = [self.lead, "t", row]
        elif self.packed:
            result = ["t", head, *names]
        elif self.case.layout == "bhtd":
            result = [self.lead, head, "t", *names]
        else:
            result = [self.lead, "t", head, *names]
        return f"affine_map<{self.domain(names)} -> ({', '.join(result)})>"

    def other_map(self, prefix, dims):
        names = [f"d{i}" for i in range(len(dims))]
        return f"affine_map<{self.domain(names)} -> ({', '.join([*prefix, 'h', *names])})>"

    # Text -------------------------------------------------------------------------------------
    def operands(self):
        """(operand, argument name, argument type, map, slice type) of each input; and the
        arguments of the function in order as (name, type)."""
        rows, arguments, offset = [], [], 0
        fused = [i for i in self.body.inputs if _fusable(i)] if self.case.layout == "fused" else []
        if fused:
            width = sum(self.heads(i) * self.sizes[i.dims] for i in fused)
            arguments.append(("qkv", self.tensor(["?", "?", width], self.case.dtype)))
        for operand in self.body.inputs:
            element, dims = self.element(operand), operand.dims
            block = [self.body.block] if self.body.block and operand.heads != "param" else []
            inner = self.tensor(block + self.slice(dims), element)
            if operand in fused:
                rows.append((operand, *arguments[0], self.token_map(operand, dims, offset), inner))
                offset += self.heads(operand) * self.sizes[dims]
                continue
            if operand.heads == "param":
                shape, map_ = [self.case.heads, *self.slice(dims)], self.other_map([], dims)
            else:
                shape = self.token_shape(self.heads(operand), dims)
                map_ = self.token_map(operand, dims)
            argument = (f"{operand.name}_all", self.tensor(shape, element))
            arguments.append(argument)
            rows.append((operand, *argument, map_, inner))
        return rows, arguments

    def text(self):
        case, body, e = self.case, self.body, self.case.state_type
        rows, arguments = self.operands()
        states = {n: self.state_dims(d) for n, d in body.states.items()}
        out_type = self.tensor(self.token_shape(case.heads, "V"), case.dtype)
        state_types = {n: self.tensor(["?", case.heads, *self.slice(d)], e) for n, d in states.items()}
        first, first_type = next((n, t) for o, n, t, _, _ in rows if o.heads != "param")
        time_dim = 0 if self.packed else 2 if case.layout == "bhtd" else 1

        if self.packed:
            arguments.append(("cu", "tensor<?xi32>"))
        if case.initial:
            arguments += [(f"{n}_init", t) for n, t in state_types.items()]
        setup = ["%c0 = arith.constant 0 : index", f"%ct = arith.constant {time_dim} : index",
                 f"%T = tensor.dim %{first}, %ct : {first_type}"]
        if self.packed:
            setup += ["%c1 = arith.constant 1 : index", "%N1 = tensor.dim %cu, %c0 : tensor<?xi32>",
                      "%N = arith.subi %N1, %c1 : index"]
        else:
            setup += [f"%N = tensor.dim %{first}, %c0 : {first_type}"]
        setup += [f"%o_init = tensor.empty({'%T' if self.packed else '%N, %T'}) : {out_type}"]
        if not case.initial:
            setup += [f"%zero_init = arith.constant 0.0 : {e}"]
            for n, t in state_types.items():
                setup += [f"%{n}_empty = tensor.empty(%N) : {t}",
                          f"%{n}_init = linalg.fill ins(%zero_init : {e}) outs(%{n}_empty : {t}) -> {t}"]

        out_inner = self.tensor(([body.block] if body.block else []) + self.slice("V"), case.dtype)
        lines = ["linattn.recurrence "
                 f"[{'segment' if self.packed else 'parallel'}, time, parallel]"]
        if case.reverse:
            lines += ["reverse"]
        if body.block:
            lines += [f"step(%live of {body.block})"]
        ins, preamble = [], []
        for operand, argument, type_, map_, inner in rows:
            name = operand.name
            if not operand.raw and self.element(operand) != e:
                name = f"{operand.name}_io"
                preamble += [f"%{operand.name} = arith.extf %{name} : {inner} to {self.wide(inner)}"]
            ins += [f"%{argument} via {map_} : {type_}\n            as %{name} : {inner}"]
        lines += ["ins(" + ",\n        ".join(ins) + ")"]
        if self.packed:
            lines += ["segments(%cu : tensor<?xi32>)"]
        lines += [f"outs(%o_init via {self.token_map(None, 'V')} : {out_type})"]
        lines += ["states(" + ",\n           ".join(
            f"%{n}_init via {self.other_map([self.lead], states[n])} : {t}\n"
            f"               as %{n} : {self.tensor(self.slice(states[n]), e)}"
            for n, t in state_types.items()) + ")"]
        kept_types = []
        if case.every:
            kept_types = [self.tensor(["?", "?", case.heads, *self.slice(d)], e)
                          for d in states.values()]
            setup += [f"%every = arith.constant {case.every} : index",
                      "%count = arith.divui %T, %every : index"]
            setup += [f"%{n}_kept = tensor.empty(%N, %count) : {t}"
                      for n, t in zip(states, kept_types)]
            lines += ["checkpoints(" + ", ".join(
                f"%{n}_kept via {self.other_map([self.lead, 't'], states[n])} : {t}"
                for n, t in zip(states, kept_types)) + f") every {case.every}"]

        results = [out_type, *state_types.values(), *kept_types]
        value = self.out_value()
        yielded = [value[0], *(f"%{n}1" for n in states)]
        yielded_types = [out_inner, *(self.tensor(self.slice(d), e) for d in states.values())]
        inner_lines = preamble + self.filled_body() + value[1]
        inner_lines += [f"linattn.yield {', '.join(yielded)} : {', '.join(yielded_types)}"]
        names = [f"%r{i}" for i in range(len(results))]
        signature = ", ".join(f"%{n}: {t}" for n, t in arguments)
        return "\n".join([
            f"// {case.name}",
            f"func.func @main({signature})\n    -> ({', '.join(results)}) {{",
            *(f"  {line}" for line in setup),
            f"  {', '.join(names)} = {lines[0]}",
            *(f"      {line}" for line in lines[1:]),
            "  {",
            *(f"    {line}" for line in inner_lines),
            "  }",
            f"  return {', '.join(names)} : {', '.join(results)}",
            "}", ""])

    def wide(self, inner):
        return re.sub(r"(bf16|f16|f32)(>?)$", self.case.state_type + r"\2", inner)

    def filled_body(self):
        e, axes = self.case.state_type, self.state_dims("KV")
        fields = {"e": e, "K": self.case.key, "V": self.case.value, "C": self.body.block,
                  "tK": self.tensor(self.slice("K"), e), "tV": self.tensor(self.slice("V"), e),
                  "rowk": self.tensor(self.slice("K"), self.case.dtype),
                  "aK": axes.index("K"), "aV": axes.index("V")}
        for n, d in self.body.states.items():
            fields[n] = self.tensor(self.slice(self.state_dims(d)), e)
        for operand, _, _, _, inner in self.operands()[0]:
            fields[operand.name] = inner if operand.raw else self.wide(inner)
        return self.body.text.format(**fields).strip().splitlines()

    def out_value(self):
        """The yielded out in the data type, and the conversion to it."""
        if self.case.dtype == self.case.state_type:
            return self.body.out, []
        inner = self.tensor(([self.body.block] if self.body.block else []) + self.slice("V"),
                            self.case.dtype)
        return "%out", [f"%out = arith.truncf {self.body.out} : {self.wide(inner)} to {inner}"]


def _rounded(x, element):
    """The float64 values that x has when stored as `element`."""
    return numerics.decode(numerics.encode(x, element), element)


def build(case):
    """Case -> Program with generated inputs and the float64 expectation."""
    writer, body = _Writer(case), BODIES[case.body]
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    batch = 1 if writer.packed else case.batch
    sequences = len(case.offsets) - 1 if writer.packed else case.batch
    e = case.state_type

    # Inputs as [B, T, H, ...] (or [H, ...]), with the values that the compiled code sees.
    inputs = {}
    for operand in body.inputs:
        lead = () if operand.heads == "param" else (batch, case.tokens)
        shape = (*lead, writer.heads(operand), *writer.slice(operand.dims))
        inputs[operand.name] = _rounded(operand.data(rng, shape, inputs), writer.element(operand))
    states = None
    if case.initial:
        states = [_rounded(rng.standard_normal((sequences, case.heads, *writer.slice(d))), e)
                  for d in body.states.values()]
    result = body.reference(*inputs.values(), states=states, reverse=case.reverse,
                            every=case.every or None,
                            grouping="tile" if case.group == "mod" else "interleave",
                            cu_seqlens=case.offsets if writer.packed else None)

    program = Program(writer.text(), tolerance=TOLERANCE[case.dtype])
    fused = [i for i in body.inputs if _fusable(i)] if case.layout == "fused" else []
    if fused:
        flat = [inputs[i.name].reshape(batch, case.tokens, -1 if inputs[i.name].size else
                                       writer.heads(i) * writer.sizes[i.dims]) for i in fused]
        program.args.append((case.dtype, np.concatenate(flat, axis=-1)))
    for operand in body.inputs:
        if operand in fused:
            continue
        x = inputs[operand.name]
        program.args.append((writer.element(operand), x if operand.heads == "param" else
                             _store(case, x)))
    if writer.packed:
        program.args.append(("i32", np.array(case.offsets)))
    turn = lambda s, rank: np.swapaxes(s, -1, -2) if case.orient == "VK" and rank == 2 else s
    ranks = [len(d) for d in body.states.values()]
    if case.initial:
        program.args += [(e, turn(s, r)) for s, r in zip(states, ranks)]
    program.expected.append((case.dtype, _store(case, result.out)))
    program.expected += [(e, turn(s, r)) for s, r in zip(result.states, ranks)]
    if case.every:
        kept = [np.stack(c) if c else np.zeros((0, case.tokens // case.every) + s.shape[1:])
                for c, s in zip(result.checkpoints, result.states)]
        program.expected += [(e, turn(c, r)) for c, r in zip(kept, ranks)]
    return program


def _store(case, x):
    """[B, T, H, ...] -> the case's layout."""
    if case.layout == "packed":
        return x[0]
    return np.swapaxes(x, 1, 2) if case.layout == "bhtd" else x


AXES = {
    "body": list(BODIES),
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
    return Case(**named)


def pairwise():
    """A small set in which every pair of values of two axes occurs in some case, if it can."""
    rng = np.random.default_rng(1)
    axes = list(AXES.values())
    names = list(AXES)
    sizes = {names.index("batch"), names.index("tokens")}

    def pairs_of(pick):
        values = dict(zip(names, ([x[p] for x, p in zip(axes, pick)])))
        # A run without tokens, or of one, tells nothing about two other axes.
        runs = values["batch"] > 0 and values["tokens"] > 1
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
            if gain > best_gain and _case([x[p] for x, p in zip(axes, pick)]).valid():
                best, best_gain = pick, gain
        if best is None:  # the two values exclude each other
            missing.discard((i, a, j, b))
            continue
        missing -= pairs_of(best)
        cases.append(_case([x[p] for x, p in zip(axes, best)]))
    return cases


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
    product = {n: v for n, v in AXES.items() if n not in ("size", "batch", "tokens", "initial", "every")}
    product["dtype"] = ["f32", "bf16"]
    turns = itertools.cycle(itertools.product([False, True], [0, 5], AXES["size"]))
    cases = []
    for values in itertools.product(*product.values()):
        initial, every, (key, value) = next(turns)
        cases.append(Case(**dict(zip(product, values)), batch=3, tokens=33, key=key, value=value,
                          initial=initial, every=every))
    return [c for c in cases if c.valid()]


def all_cases(full=False):
    cases = pairwise() + odd_widths() + long_runs() + (every_combination() if full else [])
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
