"""Recurrence bodies as data: written out as MLIR, and run in NumPy from the ops' meaning.

The two readings share nothing but the list of ops (docs/Language.md says what each op means).
"""

from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np

from . import numerics
from .scan import scan

# kind: a step op ("decay", "read", "write"), an elementwise op (a key of ELEMENTWISE), or one of
# "splat", "constant", "position", "extend", "matvec", "dot", "custom".
Op = namedtuple("Op", "kind result operands attributes")

NARROW = {"f64": "f32", "f32": "bf16"}  # the type of inputs that are narrower than the state

ELEMENTWISE = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.negf": np.negative,
    "arith.maximumf": np.maximum,
    "math.exp": np.exp,
    "math.log": np.log,
    "math.log1p": np.log1p,
    "math.absf": np.abs,
    "math.sqrt": np.sqrt,
    "math.tanh": np.tanh,
}


@dataclass
class Input:
    """data: float64 [B, T, H, *shape] with a row per token, [H, *shape] without."""

    name: str
    shape: tuple
    data: np.ndarray
    per_token: bool = True
    narrow: bool = False


@dataclass
class Program:
    """shapes: of every value of the body, state axes in order. outs: the values that are results.
    states: name -> its new value. initial: [N, H, *shape] per state; offsets: packed sequences;
    positions: [N], of each sequence's first token, if that is not 0."""

    name: str
    dtype: str = "f64"
    batch: int = 1
    tokens: int = 0
    heads: int = 1
    reverse: bool = False
    offsets: list = None
    positions: np.ndarray = None
    every: int = 0
    inputs: list = field(default_factory=list)
    states: dict = field(default_factory=dict)
    initial: list = field(default_factory=list)
    ops: list = field(default_factory=list)
    outs: list = field(default_factory=list)
    shapes: dict = field(default_factory=dict)

    def op(self, kind, shape, *operands, **attributes):
        """Appends an op; returns the name of its result."""
        name = f"x{len(self.ops)}"
        self.ops.append(Op(kind, name, operands, attributes))
        self.shapes[name] = tuple(shape)
        return name

    def input(self, data, per_token=True, narrow=False):
        """Adds an input, its values rounded to the type it is stored in."""
        name = f"a{len(self.inputs)}"
        element = NARROW[self.dtype] if narrow else self.dtype
        data = numerics.decode(numerics.encode(data, element), element)
        shape = data.shape[3 if per_token else 1:]
        self.inputs.append(Input(name, shape, data, per_token, narrow))
        self.shapes[name] = shape
        return name

    def is_narrow(self, name):
        return any(i.narrow for i in self.inputs if i.name == name)

    # Step ops and what many bodies use, each one or a few ops -----------------------------------

    def decay(self, state, by, axes=(), linear=False):
        return self.op("decay", self.shapes[state], state, by, axes=tuple(axes), linear=linear)

    def read(self, state, address, axis):
        shape = list(self.shapes[state])
        del shape[axis]
        return self.op("read", self.shapes[address][:-1] + tuple(shape), state, address, axis=axis)

    def write(self, state, address, axis, value):
        return self.op("write", self.shapes[state], state, address, value, axis=axis)

    def apply(self, kind, *operands):
        return self.op(kind, self.shapes[operands[0]], *operands)

    def custom(self, shape, text, numpy, *operands):
        """Any MLIR beside its meaning. text: {name} is the result, {0} .. the operands, {t0} ..
        their types, {type} that of the result; numpy: the operands, [n, *shape], to the result."""
        return self.op("custom", shape, *operands, text=text, numpy=numpy)

    def splat(self, scalar, shape):
        return self.op("splat", shape, scalar) if shape else scalar

    def constant(self, value, shape=()):
        return self.op("constant", shape, value=value)

    def scale(self, factor, value):
        """A number times a tensor."""
        return self.apply("arith.mulf", self.splat(factor, self.shapes[value]), value)

    def softplus(self, x):
        """max(x, 0) + log1p(exp(-|x|))."""
        shape = self.shapes[x]
        small = self.apply("math.exp", self.apply("arith.negf", self.apply("math.absf", x)))
        positive = self.apply("arith.maximumf", x, self.constant(0.0, shape))
        return self.apply("arith.addf", positive, self.apply("math.log1p", small))

    def sigmoid(self, x):
        """1 / (1 + exp(-x))."""
        one = self.constant(1.0, self.shapes[x])
        e = self.apply("math.exp", self.apply("arith.negf", x))
        return self.apply("arith.divf", one, self.apply("arith.addf", one, e))

    def finish(self, **new_states):
        self.states.update(new_states)


# ---------------------------------------------------------------------------------------------------
# NumPy
# ---------------------------------------------------------------------------------------------------


def _column(x, axis):
    """[n, A] -> a factor of [n, ..., A at state axis `axis`, ...] with rank-2 states."""
    return x[:, :, None] if axis == 0 else x[:, None, :]


def _decay(state, by, axes, linear):
    factor = by if linear else np.exp(by)
    if not axes:
        factor = factor.reshape(factor.shape[:1] + (1,) * (state.ndim - 1))
    elif len(axes) == 1 and state.ndim == 3:
        factor = _column(factor, axes[0])
    return factor * state


def _read(state, address, axis):
    if state.ndim == 2:  # rank 1: a number, or one per row
        state = state[:, None] if address.ndim == 3 else state
        return np.sum(address * state, axis=-1)
    if address.ndim == 3:  # several rows at once
        return address @ (state if axis == 0 else np.swapaxes(state, -1, -2))
    return np.sum(_column(address, axis) * state, axis=1 + axis)


def _write(state, address, value, axis):
    if state.ndim == 2:
        product = address * value[..., None]
        return state + (product.sum(axis=1) if address.ndim == 3 else product)
    if address.ndim == 3:
        outer = np.swapaxes(address, -1, -2) @ value
        return state + (outer if axis == 0 else np.swapaxes(outer, -1, -2))
    return state + _column(address, axis) * _column(value, 1 - axis)


def _evaluate(op, x, values, dtype):
    """One op; x: its operands, each [n, *shape] (or n = 1); values: everything known so far."""
    attributes = op.attributes
    if op.kind == "decay":
        return _decay(*x, attributes["axes"], attributes["linear"])
    if op.kind == "read":
        return _read(*x, attributes["axis"])
    if op.kind == "write":
        return _write(*x, attributes["axis"])
    if op.kind == "constant":
        return np.full((1, *attributes["shape"]), attributes["value"], dtype)
    if op.kind == "splat":
        scalar = x[0].reshape(x[0].shape[:1] + (1,) * len(attributes["shape"]))
        return np.broadcast_to(scalar, scalar.shape[:1] + attributes["shape"])
    if op.kind == "position":
        return values["position"]
    if op.kind == "extend":
        return x[0]
    if op.kind == "matvec":
        return np.sum(x[0] * x[1][:, None, :], axis=-1)
    if op.kind == "dot":
        return np.sum(x[0] * x[1], axis=-1)
    if op.kind == "custom":
        return attributes["numpy"](*x)
    return ELEMENTWISE[op.kind](*x).astype(dtype, copy=False)


def _positions(program):
    """Each token's position in its sequence: [B, T, H]."""
    index = np.tile(np.arange(program.tokens, dtype=float), (program.batch, 1))
    first = 0 if program.positions is None else program.positions
    if program.offsets is None:
        index += np.reshape(first, (-1, 1))
    else:
        starts, ends = np.array(program.offsets[:-1]), np.array(program.offsets[1:])
        index -= np.repeat(starts - first, ends - starts)
    return np.broadcast_to(index[:, :, None], (program.batch, program.tokens, program.heads))


def interpret(program, dtype=np.float64, outs=None, bumps=None):
    """Runs the program token by token: a scan.Result whose outs are one flat vector per token.

    outs: the values to return instead of the program's. bumps: name of a write -> [B, T, H], added
    to what it writes."""
    outs = program.outs if outs is None else outs
    bumps = bumps or {}
    tokens = [i for i in program.inputs if i.per_token]
    params = [i for i in program.inputs if not i.per_token]
    ops = [op._replace(attributes={**op.attributes, "shape": program.shapes[op.result]})
           for op in program.ops]

    def step(states, rows, param_rows):
        rows = list(rows)
        values = dict(zip(program.states, states))
        values.update(zip([i.name for i in tokens], rows))
        values.update(zip([i.name for i in params], param_rows))
        values["position"] = rows[len(tokens)]
        added = dict(zip(bumps, rows[len(tokens) + 1:]))
        for op in ops:
            x = [values[name] for name in op.operands]
            if op.result in added:
                bump = added[op.result]
                x[2] = x[2] + bump.reshape(bump.shape + (1,) * (x[2].ndim - 1))
                values[f"{op.result}.value"] = x[2]
            values[op.result] = _evaluate(op, x, values, dtype)
        n = len(states[0])
        flat = [np.broadcast_to(values[o], (n,) + values[o].shape[1:]).reshape(n, -1) if n
                else np.zeros((0, int(np.prod(values[o].shape[1:])))) for o in outs]
        return np.concatenate(flat, axis=-1), [values[s] for s in program.states.values()]

    with np.errstate(all="ignore"):
        return scan(step, [*(i.data for i in tokens), _positions(program), *bumps.values()],
                    [s.shape[2:] for s in program.initial], states=program.initial,
                    params=[i.data for i in params], reverse=program.reverse,
                    every=program.every or None, cu_seqlens=program.offsets, dtype=dtype)


def results(program, dtype=np.float64):
    """What the MLIR function returns: outs [B, T, H, ...], final states, checkpoints."""
    run = interpret(program, dtype)
    shapes = [program.shapes[o] for o in program.outs]
    borders = np.cumsum([int(np.prod(s)) for s in shapes])[:-1]
    arrays = [part.reshape(part.shape[:-1] + shape)
              for part, shape in zip(np.split(run.out, borders, axis=-1), shapes)]
    if program.offsets is not None:
        arrays = [x[0] for x in arrays]
    return arrays + run.states + ([np.stack(c) for c in run.checkpoints] if program.every else [])


def solve_norm(program, chunk):
    """rho of the numerics contract: the largest row sum of |(I - A)^-1| over the chunks.

    Column u of the inverse is what all written values answer to 1 added to the value of write u:
    found by running the token loop with and without it, which is exact for affine writes."""
    reads, writes, depends = set(), [], set()
    for op in program.ops:
        if op.kind == "read" or depends & set(op.operands[1:] if op.kind == "write" else
                                              op.operands):
            depends.add(op.result)
        if op.kind == "write" and op.operands[2] in depends:
            writes.append(op)
    if not writes or not program.tokens:
        return 1.0
    # The state that a write belongs to.
    home = {name: name for name in program.states}
    for op in program.ops:
        if op.kind in ("decay", "write"):
            home[op.result] = home[op.operands[0]]
    rho = 1.0
    offsets = program.offsets or [0, program.tokens]
    for b in range(program.batch):
        for n, (lo, hi) in enumerate(zip(offsets, offsets[1:])):
            length, columns = hi - lo, [(t, w) for t in range(hi - lo) for w in range(len(writes))]
            if not length:
                continue
            rows = len(columns) + 1
            part = Program(program.name, program.dtype, rows, length, program.heads,
                           program.reverse, ops=program.ops, states=program.states,
                           shapes=program.shapes)
            repeat = lambda x: np.repeat(x[None], rows, axis=0)
            part.inputs = [Input(i.name, i.shape, repeat(i.data[b, lo:hi]) if i.per_token
                                 else i.data, i.per_token) for i in program.inputs]
            part.initial = [repeat(s[n if program.offsets else b]) for s in program.initial]
            bumps = {w.result: np.zeros((rows, length, program.heads)) for w in writes}
            for column, (t, w) in enumerate(columns):
                bumps[writes[w].result][column + 1, t] = 1
            names = [f"{w.result}.value" for w in writes]
            widths = [int(np.prod(program.shapes[w.operands[2]])) for w in writes]
            values = np.split(interpret(part, outs=names, bumps=bumps).out,
                              np.cumsum(widths)[:-1], axis=-1)
            for w, value in enumerate(values):  # [rows, T, H, width]
                answer = np.abs(value[1:] - value[:1]).max(axis=-1)
                for t in range(length):
                    same = [c for c, (u, other) in enumerate(columns) if u // chunk == t // chunk
                            and home[writes[other].result] == home[writes[w].result]]
                    rho = max(rho, float(answer[same, t].sum(axis=0).max()))
    return rho


# ---------------------------------------------------------------------------------------------------
# MLIR
# ---------------------------------------------------------------------------------------------------


def _tensor(shape, element):
    return f"tensor<{''.join(f'{d}x' for d in shape)}{element}>" if shape else element


class _Writer:
    def __init__(self, program):
        self.p, self.packed = program, program.offsets is not None
        self.lead = "n" if self.packed else "b"

    def element(self, name):
        return NARROW[self.p.dtype] if self.p.is_narrow(name) else self.p.dtype

    def type(self, name):
        return _tensor(self.p.shapes[name], self.element(name))

    def rows(self, shape, element):
        """One row per token, head by head."""
        return _tensor([*("?" if self.packed else "??"), self.p.heads, *shape], element)

    def map(self, dims, shape):
        slices = [f"d{i}" for i in range(len(shape))]
        return (f"affine_map<({', '.join([self.lead, 't', 'h', *slices])}) -> "
                f"({', '.join([*dims, *slices])})>")

    def row_map(self, shape):
        return self.map("th" if self.packed else "bth", shape)

    def state_type(self, name, lead="?"):
        return _tensor([*lead, self.p.heads, *self.p.shapes[name]], self.p.dtype)

    def op(self, op):
        """The lines of one op."""
        t, name = self.type, f"%{op.result}"
        of = [f"%{o}" for o in op.operands]
        types = ", ".join(t(o) for o in op.operands)
        result, element = t(op.result), self.element(op.result)
        if op.kind == "decay":
            linear = "linear " if op.attributes["linear"] else ""
            axes = op.attributes["axes"]
            along = f" along [{', '.join(map(str, axes))}]" if axes else ""
            return [f"{name} = linattn.decay {of[0]} by {linear}{of[1]}{along} : {types}"]
        if op.kind == "read":
            return [f"{name} = linattn.read {of[0]} at {of[1]} along {op.attributes['axis']}"
                    f" : {types}"]
        if op.kind == "write":
            return [f"{name} = linattn.write {of[0]} at {of[1]} along {op.attributes['axis']}"
                    f" value {of[2]} : {types}"]
        if op.kind == "constant":
            number = f"{op.attributes['value']:.17e}"
            number = f"dense<{number}>" if self.p.shapes[op.result] else number
            return [f"{name} = arith.constant {number} : {result}"]
        if op.kind == "splat":
            return [f"{name} = tensor.splat {of[0]} : {result}"]
        if op.kind == "extend":
            return [f"{name} = arith.extf {of[0]} : {t(op.operands[0])} to {result}"]
        if op.kind == "position":
            return [f"{name}_t = linattn.index 1",
                    f"{name}_i = arith.index_cast {name}_t : index to i32",
                    f"{name} = arith.sitofp {name}_i : i32 to {element}"]
        if op.kind in ("matvec", "dot"):
            tensor = _tensor(self.p.shapes[op.result], element)
            tensor = tensor if self.p.shapes[op.result] else f"tensor<{element}>"
            into = f"{name}_sum" if op.kind == "dot" else name
            return [f"{name}_0 = arith.constant dense<0.0> : {tensor}",
                    f"{into} = linalg.{op.kind} ins({', '.join(of)} : {types}) "
                    f"outs({name}_0 : {tensor}) -> {tensor}",
                    *([f"{name} = tensor.extract {into}[] : {tensor}"] * (op.kind == "dot"))]
        if op.kind == "custom":
            named = {f"t{i}": t(o) for i, o in enumerate(op.operands)}
            text = op.attributes["text"].format(*of, name=name, type=result, **named)
            return text.strip().splitlines()
        return [f"{name} = {op.kind} {', '.join(of)} : {result}"]

    def setup(self):
        p, source = self.p, next(i for i in self.p.inputs if i.per_token)
        type_ = self.rows(source.shape, self.element(source.name))
        lines = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index",
                 f"%T = tensor.dim %{source.name}_all, {'%c0' if self.packed else '%c1'} : {type_}"]
        if not self.packed:
            lines += [f"%N = tensor.dim %{source.name}_all, %c0 : {type_}"]
        for o, name in enumerate(p.outs):
            lines += [f"%out{o} = tensor.empty({'%T' if self.packed else '%N, %T'}) : "
                      f"{self.rows(p.shapes[name], p.dtype)}"]
        if p.every:
            lines += [f"%every = arith.constant {p.every} : index",
                      "%count = arith.divui %T, %every : index"]
            lines += [f"%{s}_kept = tensor.empty(%N, %count) : {self.state_type(s, '??')}"
                      for s in p.states]
        return lines

    def clauses(self):
        p, lines = self.p, ["reverse"] if self.p.reverse else []
        ins = []
        for i in p.inputs:
            element = self.element(i.name)
            type_ = (self.rows(i.shape, element) if i.per_token
                     else _tensor([p.heads, *i.shape], element))
            map_ = self.row_map(i.shape) if i.per_token else self.map("h", i.shape)
            ins += [f"%{i.name}_all via {map_} : {type_} as %{i.name} : {self.type(i.name)}"]
        lines += [f"ins({', '.join(ins)})"]
        lines += ["segments(%cu : tensor<?xi32>)"] if self.packed else []
        lines += [f"position_offset(%first via affine_map<({self.lead}, t, h) -> ({self.lead})> "
                  ": tensor<?xi64>)"] * (p.positions is not None)
        outs = [f"%out{o} via {self.row_map(p.shapes[n])} : {self.rows(p.shapes[n], p.dtype)}"
                for o, n in enumerate(p.outs)]
        lines += [f"outs({', '.join(outs)})"] if outs else []
        states = [f"%{s}_init via {self.map(self.lead + 'h', p.shapes[s])} : {self.state_type(s)} "
                  f"as %{s} : {self.type(s)}" for s in p.states]
        lines += [f"states({', '.join(states)})"]
        if p.every:
            kept = [f"%{s}_kept via {self.map('bth', p.shapes[s])} : {self.state_type(s, '??')}"
                    for s in p.states]
            lines += [f"checkpoints({', '.join(kept)}) every {p.every}"]
        return lines

    def text(self):
        p = self.p
        arguments = [f"%{i.name}_all: " + (self.rows(i.shape, self.element(i.name)) if i.per_token
                     else _tensor([p.heads, *i.shape], self.element(i.name))) for i in p.inputs]
        arguments += ["%cu: tensor<?xi32>"] if self.packed else []
        arguments += ["%first: tensor<?xi64>"] * (p.positions is not None)
        arguments += [f"%{s}_init: {self.state_type(s)}" for s in p.states]
        types = [self.rows(p.shapes[o], p.dtype) for o in p.outs]
        types += [self.state_type(s) for s in p.states]
        types += [self.state_type(s, "??") for s in p.states if p.every]
        names = ", ".join(f"%r{i}" for i in range(len(types)))
        yielded = [*p.outs, *p.states.values()]
        return "\n".join([
            f"// {p.name}",
            f"func.func @main({', '.join(arguments)})",
            f"    -> ({', '.join(types)}) {{",
            *(f"  {line}" for line in self.setup()),
            f"  {names} = linattn.recurrence "
            f"[{'segment' if self.packed else 'parallel'}, time, parallel]",
            *(f"      {line}" for line in self.clauses()),
            "  {",
            *(f"    {line}" for op in p.ops for line in self.op(op)),
            f"    linattn.yield {', '.join('%' + y for y in yielded)} : "
            f"{', '.join(self.type(y) for y in yielded)}",
            "  }",
            f"  return {names} : {', '.join(types)}",
            "}", ""])


def write_mlir(program):
    """The program as a function @main; arguments: inputs, offsets if packed, positions if any,
    initial states."""
    return _Writer(program).text()


def arguments(program):
    """(element type, array) of the arguments of @main."""
    args = []
    for i in program.inputs:
        element = NARROW[program.dtype] if i.narrow else program.dtype
        packed = program.offsets is not None and i.per_token
        args.append((element, i.data[0] if packed else i.data))
    if program.offsets is not None:
        args.append(("i32", np.array(program.offsets)))
    if program.positions is not None:
        args.append(("i64", program.positions))
    return args + [(program.dtype, s) for s in program.initial]
