"""Known traps of causal recurrences in float arithmetic, each run token by token and in chunks.

    python3 -m linattn.numerics_items

A row is an item of the literature's list of numerics facts, by its number: one input, what was
compiled at chunk 0 and 16 against float64 NumPy from the formula, and the bound of the contract.
"""

import pathlib
import sys
import tempfile
from dataclasses import dataclass
from typing import Callable

import numpy as np

from . import numerics, runner
from .bodies import BODIES
from .cases import Case
from .emit import Writer
from .numerics_table import solve_norms

CHUNKS = (0, 16)
SOLVED = {"gated-delta"}  # bodies whose bound depends on the inverse


@dataclass(frozen=True)
class Item:
    """change: the inputs by name, [B, T, H, ...], to those that are replaced. start: the size of the
    initial state; 0 where tokens write so little that it would hide them."""

    number: int
    what: str
    body: str
    change: Callable = lambda inputs: {}
    tokens: int = 40
    dtype: str = "f32"
    start: float = 1.0


def at(x, token, value):
    """A copy with another value at one token."""
    x = x.copy()
    x[:, token] = value
    return x


def alike(x, noise=0.0):
    """The first key at every token, with noise, of length 1."""
    x = x[:, :1] + noise * x
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def same(name, value):
    return lambda inputs: {name: np.full_like(inputs[name], value)}


ITEMS = [
    Item(1, "log-decay -5 at every token and channel", "gla", same("g", -5.0)),
    Item(2, "log-decay -200 inside a chunk", "gla", lambda x: {"g": at(x["g"], 7, -200.0)}),
    Item(2, "log-decay -200 inside a chunk", "scalar-decay",
         lambda x: {"g": at(x["g"], 7, -200.0)}),
    Item(4, "log-decay -1000 at every token", "scalar-decay", same("g", -1000.0)),
    Item(5, "log-decay -0.08, 4096 tokens", "scalar-decay", same("g", -0.08), tokens=4096),
    Item(6, "log-decay -1e-6, key 1 - e^g", "hgrn2", same("g", -1e-6), start=0.0),
    Item(7, "log-decay -inf inside a chunk", "gated-delta",
         lambda x: {"g": at(x["g"], 7, -np.inf)}),
    Item(9, "softplus of -20", "mamba2", lambda x: {
        "dt": np.full_like(x["dt"], -20.0), "dt_bias": 0 * x["dt_bias"],
        "d": 0 * x["d"]}, start=0.0),
    Item(12, "log-decay -e^5", "rwkv6", same("w", -np.exp(5.0))),
    Item(14, "one key at every token, beta 1, no decay", "gated-delta", lambda x: {
        "k": alike(x["k"]), "beta": np.ones_like(x["beta"]), "g": 0 * x["g"]}, tokens=64),
    Item(15, "keys with 5 % noise, beta 1.99, no decay", "gated-delta", lambda x: {
        "k": alike(x["k"], 0.05), "beta": np.full_like(x["beta"], 1.99), "g": 0 * x["g"]},
         tokens=64),
    Item(16, "random keys, beta 1", "gated-delta", same("beta", 1.0), tokens=64),
    Item(23, "beta 2: the key's sign turns", "gated-delta", lambda x: {
        "k": alike(x["k"]), "beta": np.full_like(x["beta"], 2.0), "g": 0 * x["g"]}),
    Item(27, "no token", "gated-delta", tokens=0),
    Item(28, "one token", "gated-delta", tokens=1),
    Item(29, "17 tokens", "gated-delta", tokens=17),
    Item(32, "bf16 inputs, f32 state", "linear", dtype="bf16"),
    Item(42, "second moments with decay", "hla"),
]


def inputs_of(item):
    """(Writer, name -> array as it is stored, initial states)."""
    rng = np.random.default_rng(item.number)
    writer = Writer(Case(item.body, tokens=item.tokens, heads=2, batch=1, dtype=item.dtype))
    inputs = {}
    for i in writer.body.inputs:
        lead = (2,) if i.heads == "param" else (1, item.tokens, 2)
        inputs[i.name] = i.data(rng, (*lead, *writer.shape(i.dims)), inputs)
    inputs.update(item.change(inputs))
    states = [item.start * rng.standard_normal((1, 2, *writer.shape(dims))) for dims in writer.states.values()]
    stored = lambda x, element: numerics.decode(numerics.encode(x, element), element)
    inputs = {i.name: stored(inputs[i.name], writer.element(i)) for i in writer.body.inputs}
    return writer, inputs, [stored(x, writer.state) for x in states]


def worst(results, want):
    """The largest error of a head of the outs and of the states."""
    wanted = [want.out, *want.states]
    errors = [numerics.head_errors(x, y, 2 if n == 0 else 1)
              for n, (x, y) in enumerate(zip(results, wanted, strict=True))]
    return float(max(e.max(initial=0) for e in errors))


def measure(item, folder):
    """[(error, bound)] at the sizes of CHUNKS."""
    writer, inputs, states = inputs_of(item)
    path = pathlib.Path(folder) / "item.mlir"
    path.write_text(writer.text())
    arguments = [(writer.element(i), inputs[i.name]) for i in writer.body.inputs]
    arguments += [(writer.state, x) for x in states]
    reference = BODIES[item.body].reference
    with np.errstate(all="ignore"):
        want = reference(*inputs.values(), states=states)
        loop = reference(*inputs.values(), states=states, dtype=np.float32)
    loop_error, measured = worst([loop.out, *loop.states], want), []
    for chunk in CHUNKS:
        rho = 1.0
        if chunk and item.tokens and item.body in SOLVED:
            rho = float(np.max(solve_norms(inputs, chunk)))
        got = runner.run(path, arguments, options=[runner.pipeline(chunk)]).results
        measured.append((worst(got, want),
                         float(numerics.contract(item.dtype, loop_error, chunk, rho))))
    return measured


def rows():
    """(item, chunk, error, bound) of all items."""
    with tempfile.TemporaryDirectory() as folder:
        for item in ITEMS:
            for chunk, (error, bound) in zip(CHUNKS, measure(item, folder)):
                yield item, chunk, error, bound


def main():
    failed = False
    print("| item | input | body | chunk | error | bound |\n|---|---|---|---|---|---|")
    for item, chunk, error, bound in rows():
        failed |= not error <= bound
        print(f"| {item.number} | {item.what} | `{item.body}` {item.dtype} | {chunk or 'token'} "
              f"| {error:.2g} | {bound:.2g} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
