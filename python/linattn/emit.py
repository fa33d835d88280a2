"""Writes a case as an MLIR function over tensors of dynamic batch and time."""

import re
from collections import namedtuple

from .bodies import BODIES

# One input of the recurrence: its bodies.Input, the function argument, and how the op sees it.
Operand = namedtuple("Operand", "input argument type map slice")


def fusable(operand):
    """True for what a fused query-key-value buffer holds."""
    return operand.heads != "param" and not operand.gate and len(operand.dims) == 1


def tensor(shape, element):
    """The type of a tensor, or of a scalar if the shape is empty."""
    return f"tensor<{''.join(f'{d}x' for d in shape)}{element}>" if shape else element


class Writer:
    """Shapes, maps and text of one case."""

    def __init__(self, case):
        self.case, self.body = case, BODIES[case.body]
        self.state = "f64" if case.dtype == "f64" else "f32"  # element type of states and gates
        self.sizes = {"K": case.key, "V": case.value, "R": 2, "N": 3}
        self.packed = case.layout == "packed"
        self.lead = "s" if self.packed else "b"
        self.step = [self.body.block] if self.body.block else []
        self.states = {name: dims[::-1] if case.orient == "VK" else dims
                       for name, dims in self.body.states.items()}
        inputs = self.body.inputs
        self.fused = [i for i in inputs if fusable(i)] if case.layout == "fused" else []

    def heads(self, operand):
        return self.case.key_heads if operand.heads == "key" else self.case.heads

    def element(self, operand):
        return self.state if operand.gate else self.case.dtype

    def shape(self, dims):
        return [self.sizes[d] for d in dims]

    # Types and maps ---------------------------------------------------------------------------

    def token_type(self, heads, dims, element):
        """An operand with a row per token, in the case's layout."""
        lead = {"packed": ["?", heads], "bhtd": ["?", heads, "?"]}.get(self.case.layout,
                                                                       ["?", "?", heads])
        return tensor(lead + self.shape(dims), element)

    def map(self, dims, results):
        slice_dims = [f"d{i}" for i in range(len(dims))]
        domain = ", ".join([self.lead, "t", "h", *slice_dims])
        return f"affine_map<({domain}) -> ({', '.join([*results, *slice_dims])})>"

    def token_map(self, dims, head="h"):
        lead = {"packed": ["t", head], "bhtd": [self.lead, head, "t"]}
        return self.map(dims, lead.get(self.case.layout, [self.lead, "t", head]))

    def fused_map(self, head, width, offset):
        return (f"affine_map<({self.lead}, t, h, d0) -> "
                f"({self.lead}, t, ({head}) * {width} + d0 + {offset})>")

    def head(self, operand):
        """The head of an operand that serves value head h."""
        if operand.heads != "key" or self.case.group == "none":
            return "h"
        ratio, keys = self.case.heads // self.case.key_heads, self.case.key_heads
        return f"h floordiv {ratio}" if self.case.group == "floordiv" else f"h mod {keys}"

    # Parts of the function --------------------------------------------------------------------

    def operands(self):
        """The inputs in order; those of a fused buffer share its argument."""
        width = sum(self.heads(i) * self.sizes[i.dims] for i in self.fused)
        operands, offset = [], 0
        for i in self.body.inputs:
            element, dims, name = self.element(i), i.dims, f"{i.name}_all"
            step = [] if i.heads == "param" else self.step
            if i in self.fused:
                name, type_ = "qkv", tensor(["?", "?", width], element)
                map_ = self.fused_map(self.head(i), self.sizes[dims], offset)
                offset += self.heads(i) * self.sizes[dims]
            elif i.heads == "param":
                type_ = tensor([self.case.heads, *self.shape(dims)], element)
                map_ = self.map(dims, ["h"])
            else:
                type_ = self.token_type(self.heads(i), dims, element)
                map_ = self.token_map(dims, self.head(i))
            operands.append(Operand(i, name, type_, map_, tensor(step + self.shape(dims), element)))
        return operands

    def state_type(self, name, lead):
        return tensor([*lead, self.case.heads, *self.shape(self.states[name])], self.state)

    def setup(self, operands):
        """Extents, and the inits of outs, checkpoints and, if they are not arguments, states."""
        source, type_ = next((o.argument, o.type) for o in operands if o.input.heads != "param")
        time = {"packed": 0, "bhtd": 2}.get(self.case.layout, 1)
        lines = ["%c0 = arith.constant 0 : index", f"%ct = arith.constant {time} : index",
                 f"%T = tensor.dim %{source}, %ct : {type_}"]
        if self.packed:
            lines += ["%c1 = arith.constant 1 : index",
                      "%N1 = tensor.dim %cu, %c0 : tensor<?xi32>",
                      "%N = arith.subi %N1, %c1 : index"]
        else:
            lines += [f"%N = tensor.dim %{source}, %c0 : {type_}"]
        out = self.token_type(self.case.heads, "V", self.case.dtype)
        lines += [f"%o_init = tensor.empty({'%T' if self.packed else '%N, %T'}) : {out}"]
        if not self.case.initial:
            lines += [f"%zero_init = arith.constant 0.0 : {self.state}"]
            for name in self.states:
                t = self.state_type(name, "?")
                lines += [f"%{name}_empty = tensor.empty(%N) : {t}",
                          f"%{name}_init = linalg.fill ins(%zero_init : {self.state}) "
                          f"outs(%{name}_empty : {t}) -> {t}"]
        if self.case.every:
            lines += [f"%every = arith.constant {self.case.every} : index",
                      "%count = arith.divui %T, %every : index"]
            lines += [f"%{name}_kept = tensor.empty(%N, %count) : {self.state_type(name, '??')}"
                      for name in self.states]
        return lines

    def clauses(self, operands):
        lines = ["reverse"] if self.case.reverse else []
        lines += [f"step(%live of {self.body.block})"] if self.body.block else []
        group = lambda keyword, items: f"{keyword}(" + f",\n{' ' * 9}".join(items) + ")"
        lines += [group("ins", [f"%{o.argument} via {o.map} : {o.type}\n{' ' * 11}"
                                f"as %{self.slice_name(o)} : {o.slice}" for o in operands])]
        lines += ["segments(%cu : tensor<?xi32>)"] if self.packed else []
        out = self.token_type(self.case.heads, "V", self.case.dtype)
        lines += [f"outs(%o_init via {self.token_map('V')} : {out})"]
        lines += [group("states", [
            f"%{name}_init via {self.map(dims, [self.lead, 'h'])} : {self.state_type(name, '?')}\n"
            f"{' ' * 11}as %{name} : {tensor(self.shape(dims), self.state)}"
            for name, dims in self.states.items()])]
        if self.case.every:
            lines += [group("checkpoints", [
                f"%{name}_kept via {self.map(dims, [self.lead, 't', 'h'])} : "
                f"{self.state_type(name, '??')}" for name, dims in self.states.items()]) +
                f" every {self.case.every}"]
        return lines

    def is_extended(self, operand):
        return not operand.input.raw and self.element(operand.input) != self.state

    def slice_name(self, operand):
        return f"{operand.input.name}_io" if self.is_extended(operand) else operand.input.name

    def wide(self, type_):
        return re.sub(r"(bf16|f16|f32)(>?)$", self.state + r"\2", type_)

    def step_body(self, operands):
        """The body's template filled in, with conversions from and to the data type around it."""
        axes = "VK" if self.case.orient == "VK" else "KV"
        vector = lambda d, element: tensor(self.shape(d), element)
        fields = {"e": self.state, "K": self.case.key, "V": self.case.value,
                  "tK": vector("K", self.state), "tV": vector("V", self.state),
                  "rowk": vector("K", self.case.dtype),
                  "aK": axes.index("K"), "aV": axes.index("V")}
        fields.update({name: vector(dims, self.state) for name, dims in self.states.items()})
        lines = []
        for o in operands:
            fields[o.input.name] = o.slice if o.input.raw else self.wide(o.slice)
            if self.is_extended(o):
                lines += [f"%{o.input.name} = arith.extf %{self.slice_name(o)} : "
                          f"{o.slice} to {self.wide(o.slice)}"]
        lines += self.body.text.format(**fields).strip().splitlines()

        out, out_type = self.body.out, tensor(self.step + self.shape("V"), self.case.dtype)
        if self.case.dtype != self.state:
            lines += [f"%out = arith.truncf {out} : {self.wide(out_type)} to {out_type}"]
            out = "%out"
        names = [out, *(f"%{name}1" for name in self.states)]
        types = [out_type, *(vector(dims, self.state) for dims in self.states.values())]
        return [*lines, f"linattn.yield {', '.join(names)} : {', '.join(types)}"]

    def text(self):
        operands = self.operands()
        arguments = dict.fromkeys((o.argument, o.type) for o in operands)  # each once, in order
        arguments = [f"%{name}: {type_}" for name, type_ in arguments]
        arguments += ["%cu: tensor<?xi32>"] if self.packed else []
        if self.case.initial:
            arguments += [f"%{n}_init: {self.state_type(n, '?')}" for n in self.states]
        results = [self.token_type(self.case.heads, "V", self.case.dtype)]
        results += [self.state_type(name, "?") for name in self.states]
        results += [self.state_type(name, "??") for name in self.states if self.case.every]
        names = ", ".join(f"%r{i}" for i in range(len(results)))
        types = ", ".join(results)
        kinds = f"[{'segment' if self.packed else 'parallel'}, time, parallel]"
        return "\n".join([
            f"// {self.case.name}",
            f"func.func @main({', '.join(arguments)})\n    -> ({types}) {{",
            *(f"  {line}" for line in self.setup(operands)),
            f"  {names} = linattn.recurrence {kinds}",
            *(f"      {line}" for line in self.clauses(operands)),
            "  {",
            *(f"    {line}" for line in self.step_body(operands)),
            "  }",
            f"  return {names} : {types}",
            "}", ""])
