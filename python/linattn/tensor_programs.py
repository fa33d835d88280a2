"""Functions on whole tensors, op by op, as a frontend would write what surrounds a recurrence.

A dim is a letter; those without a size in `sizes` are dynamic. Arithmetic is in f32: entries of
bf16 tensors are extended where they are read and rounded where they are written."""

from dataclasses import dataclass

FREE = "fastmath<contract, nsz>"


@dataclass
class Value:
    name: str
    dims: str
    element: str = "f32"


class Entry:
    """Ops on one entry, inside of linalg.generic: each method returns a name."""

    def __init__(self, program):
        self.program = program
        self.lines = []

    def op(self, text, element="f32"):
        name = self.program.new_name()
        self.lines.append(f"{name} = {text} : {element}")
        return name

    def constant(self, number):
        return self.op(f"arith.constant {float(number):.17e}")

    def add(self, a, b):
        return self.op(f"arith.addf {a}, {b}")

    def sub(self, a, b):
        return self.op(f"arith.subf {a}, {b}")

    def mul(self, *factors):
        product = factors[0]
        for factor in factors[1:]:
            product = self.op(f"arith.mulf {product}, {factor}")
        return product

    def neg(self, a):
        return self.op(f"arith.negf {a}")

    def exp(self, a):
        return self.op(f"math.exp {a}")

    def rsqrt(self, a):
        return self.op(f"math.rsqrt {a}")

    def sigmoid(self, a):
        return self.op(f"arith.divf {(one := self.constant(1))}, "
                       f"{self.add(one, self.exp(self.neg(a)))}")

    def silu(self, a):
        return self.mul(a, self.sigmoid(a))

    def softplus(self, a):
        """max(a, 0) + log1p(exp(-|a|))"""
        tail = self.op(f"math.log1p {self.exp(self.neg(self.op(f'math.absf {a}')))}")
        return self.add(self.op(f"arith.maximumf {a}, {self.constant(0)}"), tail)


class TensorProgram:
    def __init__(self, **sizes):
        self.sizes = sizes
        self.arguments, self.lines = [], ["%c0 = arith.constant 0 : index",
                                          "%c1 = arith.constant 1 : index",
                                          "%zero = arith.constant 0.0 : f32"]
        self.extents = {}
        self.count = 0

    def new_name(self):
        self.count += 1
        return f"%x{self.count}"

    def type(self, dims, element="f32"):
        shape = "".join(f"{self.sizes.get(dim, '?')}x" for dim in dims)
        return f"tensor<{shape}{element}>"

    def type_of(self, value):
        return self.type(value.dims, value.element)

    def argument(self, name, dims, element="f32"):
        value = Value(f"%{name}", dims, element)
        self.arguments.append(value)
        for position, dim in enumerate(dims):
            if dim not in self.sizes and dim not in self.extents:
                self.extents[dim] = f"%size_{dim}"
                self.lines += [f"%at_{dim} = arith.constant {position} : index",
                               f"%size_{dim} = tensor.dim {value.name}, %at_{dim} : "
                               f"{self.type_of(value)}"]
        return value

    def add(self, text, dims, element="f32"):
        value = Value(self.new_name(), dims, element)
        self.lines.append(f"{value.name} = {text}")
        return value

    def empty(self, dims, element="f32"):
        sizes = ", ".join(self.extents[dim] for dim in dims if dim not in self.sizes)
        return self.add(f"tensor.empty({sizes}) : {self.type(dims, element)}", dims, element)

    def generic(self, dims, reads, init, body, reduced=""):
        """reads: (value, indices) pairs; body(entry, *read, old value) returns the new one."""
        loops = dims + reduced
        maps = [f"affine_map<({', '.join(loops)}) -> ({', '.join(indices)})>"
                for _, indices in [*reads, (init, dims)]]
        kinds = ["parallel"] * len(dims) + ["reduction"] * len(reduced)
        entry = Entry(self)
        args = [self.new_name() for _ in reads] + [self.new_name()]
        numbers = []
        for (value, _), arg in zip(reads, args):
            numbers.append(arg if value.element == "f32" else
                           entry.op(f"arith.extf {arg} : {value.element} to f32", None))
        entry_types = [value.element for value, _ in reads] + [init.element]
        result = body(entry, *numbers, *([args[-1]] if reduced else []))
        if init.element != "f32":
            result = entry.op(f"arith.truncf {result} : f32 to {init.element}", None)
        lines = "\n    ".join(line.removesuffix(" : None") for line in entry.lines)
        block = ", ".join(f"{arg}: {type}" for arg, type in zip(args, entry_types))
        types = ", ".join(self.type_of(value) for value, _ in reads)
        names = ", ".join(value.name for value, _ in reads)
        quoted = ", ".join(f'"{kind}"' for kind in kinds)
        return self.add(f"""linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{quoted}]}}
      ins({names} : {types}) outs({init.name} : {self.type_of(init)}) {{
  ^bb0({block}):
    {lines}
    linalg.yield {result} : {init.element}
  }} -> {self.type_of(init)}""", dims, init.element)

    def each(self, dims, body, *values, element="f32", out=None):
        """body on each entry; a value has some of the dims. out: a tensor that is overwritten."""
        init = out or self.empty(dims, element)
        return self.generic(dims, [(v, list(v.dims)) for v in values], init, body)

    def sum(self, dims, body, *values):
        """The sum of body over the dims that the values have and the result has not."""
        reduced = "".join(dict.fromkeys(dim for v in values for dim in v.dims if dim not in dims))
        empty = self.empty(dims)
        init = self.add(f"linalg.fill ins(%zero : f32) outs({empty.name} : {self.type(dims)}) -> "
                        f"{self.type(dims)}", dims)
        return self.generic(dims, [(v, list(v.dims)) for v in values], init,
                            lambda e, *args: e.add(args[-1], body(e, *args[:-1])), reduced)

    def slice(self, value, dim, offset, new_dim):
        """`value` from `offset` on along `dim`, as many entries as `new_dim` has."""
        dims = value.dims.replace(dim, new_dim)
        offsets = ", ".join(str(offset) if d == dim else "0" for d in value.dims)
        sizes = ", ".join(str(self.sizes.get(d, self.extents.get(d))) for d in dims)
        ones = ", ".join("1" for _ in dims)
        return self.add(f"tensor.extract_slice {value.name}[{offsets}] [{sizes}] [{ones}] : "
                        f"{self.type_of(value)} to {self.type(dims, value.element)}", dims,
                        value.element)

    def split(self, value, dim, parts):
        """`dim` as two."""
        dims = value.dims.replace(dim, parts)
        groups, position = [], 0
        for d in value.dims:
            count = len(parts) if d == dim else 1
            groups.append(str(list(range(position, position + count))))
            position += count
        sizes = ", ".join(str(self.sizes.get(d, self.extents.get(d))) for d in dims)
        return self.add(f"tensor.expand_shape {value.name} [{', '.join(groups)}] output_shape "
                        f"[{sizes}] : {self.type_of(value)} into "
                        f"{self.type(dims, value.element)}", dims, value.element)

    def join(self, value, parts, dim):
        """Two dims as one."""
        start = value.dims.index(parts)
        dims = value.dims.replace(parts, dim)
        groups = [str([i] if i < start else [i, i + 1] if i == start else [i + 1])
                  for i in range(len(dims))]
        return self.add(f"tensor.collapse_shape {value.name} [{', '.join(groups)}] : "
                        f"{self.type_of(value)} into {self.type(dims, value.element)}", dims,
                        value.element)

    def behind(self, past, value):
        """The tokens of `value` behind those of `past`; along a new dim T."""
        dims = value.dims.replace("t", "T")
        return self.add(f"tensor.concat dim({value.dims.index('t')}) {past.name}, {value.name} : "
                        f"({self.type_of(past)}, {self.type_of(value)}) -> "
                        f"{self.type(dims, value.element)}", dims, value.element)

    def behind_zeros(self, value, count):
        dims = value.dims.replace("t", "T")
        zero = self.add(f"arith.constant 0.0 : {value.element}", "")
        low = ", ".join(str(count) if dim == "t" else "0" for dim in value.dims)
        high = ", ".join("0" for _ in value.dims)
        args = ", ".join(f"%i{i}: index" for i in range(len(dims)))
        return self.add(f"""tensor.pad {value.name} low[{low}] high[{high}] {{
  ^bb0({args}):
    tensor.yield {zero.name} : {value.element}
  }} : {self.type_of(value)} to {self.type(dims, value.element)}""", dims, value.element)

    def convolve(self, rows, weights, bias=None):
        """out[b, t, c] = bias[c] + sum over w of rows[b, t + w, c] weights[w, c] (or [c, w]). As with
        the named ops for convolutions, rounding is up to the compiler."""
        dims = rows.dims.replace("T", "t")
        if bias:
            init = self.each(dims, lambda e, x: x, bias)
        else:
            empty = self.empty(dims)
            init = self.add(f"linalg.fill ins(%zero : f32) outs({empty.name} : {self.type(dims)})"
                            f" -> {self.type(dims)}", dims)
        indices = ["t + w" if dim == "T" else dim for dim in rows.dims]
        return self.generic(dims, [(rows, indices), (weights, list(weights.dims))], init,
                            lambda e, x, w, acc: e.op(
                                f"arith.addf {acc}, {e.op(f'arith.mulf {x}, {w} {FREE}')} {FREE}"),
                            "w")

    def recurrence(self, inputs, out, state, body):
        """inputs: (value, name, map); out: (dims, element); state: a value over b, h and two more.
        body: lines that define %ot and %S1 from the names and %S."""
        init = self.empty(*out)
        ins = []
        for value, name, indices in inputs:
            inner = [index for index in indices.split(", ") if index[0] not in "bth"]
            sizes = [d for d, index in zip(value.dims, indices.split(", ")) if index[0] not in "bth"]
            type = self.type("".join(sizes), value.element) if sizes else value.element
            domain = ", ".join(["b", "t", "h", *inner])
            ins.append(f"{value.name} via affine_map<({domain}) -> ({indices})> : "
                       f"{self.type_of(value)} as %{name} : {type}")
        out_map = f"affine_map<({', '.join(out[0])}) -> ({', '.join(out[0])})>"
        state_map = "affine_map<(b, t, h, k, v) -> (b, h, k, v)>"
        state_slice = self.type(state.dims[2:])
        name = self.new_name()
        lines = "\n    ".join(line.replace("STATE", state_slice) for line in body)
        joined = ",\n          ".join(ins)
        self.lines.append(f"""{name}:2 = linattn.recurrence [parallel, time, parallel]
      ins({joined})
      outs({init.name} via {out_map} : {self.type(*out)})
      states({state.name} via {state_map} : {self.type_of(state)} as %S : {state_slice}) {{
    {lines}
    linattn.yield %ot, %S1 : {self.type(out[0][3:], out[1])}, {state_slice}
  }}""")
        return Value(f"{name}#0", *out), Value(f"{name}#1", state.dims)

    def function(self, name, results, attributes=""):
        arguments = ", ".join(f"{v.name}: {self.type_of(v)}" for v in self.arguments)
        types = ", ".join(self.type_of(v) for v in results)
        names = ", ".join(v.name for v in results)
        body = "\n  ".join(self.lines)
        return (f"func.func @{name}({arguments}) -> ({types}){attributes} {{\n  {body}\n"
                f"  return {names} : {types}\n}}\n")
