"""The numerics contract over a grid of gates, keys, strengths, chunk sizes and types.

    python3 -m linattn.numerics_table [--la-run PATH] [--csv FILE] [--quick]

Each entry is one head: errors are max|x - ref| / max|ref| per result and head, against float64
token by token, and bounds those of numerics.contract. Prints a markdown table and every entry
beyond its bound; exit status 1 if there is one.
"""

import argparse
import csv
import itertools
import os
import pathlib
import sys
import tempfile
from dataclasses import dataclass, fields

import numpy as np

from . import numerics, runner
from .bodies import BODIES
from .cases import Case
from .emit import Writer

FORMS = ("scalar-decay", "gla", "gated-delta", "kda")
CHUNKS = (16, 32, 64, 128)
TYPES = ("f32", "bf16", "f64")
KEYS = ("random", "near-parallel", "repeated")
BETAS = (0.5, 1.0, 1.5, 2.0)
LEVELS = (0.0, -0.01, -1.0, -5.0, -20.0, -200.0)
ALTERNATING = "24 x -20.3, 24 x -0.0137"
GATES = (*map(str, LEVELS), "-inf at some", ALTERNATING, "mixture")


@dataclass
class Entry:
    form: str
    dtype: str
    chunk: int  # 0: token by token
    tokens: int
    width: int  # K and V
    gate: str
    keys: str
    beta: float
    result: str  # "out" or "state"
    error: float
    loop_error: float
    rho: float
    bound: float

    @property
    def share(self):
        return self.error / self.bound


def is_delta(form):
    return form in ("gated-delta", "kda")


def make_gate(name, shape, rng):
    """[T, ...] log-decays, with channels if the shape has them."""
    if name == "-inf at some":
        return np.where(rng.random(shape) < 0.1, -np.inf, -0.05)
    if name == "mixture":
        return rng.choice([*LEVELS, -np.inf], shape)
    if name == ALTERNATING:  # half of the channels begin with the mild gates
        t, *channel = np.indices(shape)
        return np.where((t // 24 + sum(channel)) % 2 == 0, -20.3, -0.0137)
    return np.full(shape, float(name))


def make_keys(name, shape, rng):
    """[T, K] unit keys."""
    noise, base = rng.standard_normal(shape), rng.standard_normal(shape[1]) / shape[1]**0.5
    keys = {"random": noise, "near-parallel": base + 0.05 * noise / shape[1]**0.5,
            "repeated": np.broadcast_to(base, noise.shape)}[name]
    return keys / np.linalg.norm(keys, axis=-1, keepdims=True)


def make_inputs(form, heads, tokens, width):
    """heads: (gate, keys, beta) each. name -> [1, T, H, ...], and the initial state."""
    rng = np.random.default_rng(3)
    channels = (width,) if form in ("gla", "kda") else ()
    stack = lambda rows: np.stack(rows, axis=1)[None]
    inputs = {
        "q": rng.standard_normal((1, tokens, len(heads), width)) * width**-0.5,
        "k": stack([make_keys(keys, (tokens, width), rng) for _, keys, _ in heads]),
        "v": rng.standard_normal((1, tokens, len(heads), width)),
        "g": stack([make_gate(gate, (tokens, *channels), rng) for gate, _, _ in heads]),
    }
    if is_delta(form):
        inputs["beta"] = stack([np.full(tokens, beta) for _, _, beta in heads])
    return inputs, rng.standard_normal((1, len(heads), width, width))


def solve_norms(inputs, chunk):
    """||(I - A)^-1||_inf of the worst chunk, per head: A_ij = -beta_i k_i . (decays) . k_j."""
    k, beta, g = (inputs[name][0] for name in ("k", "beta", "g"))
    g = g if g.ndim == 3 else np.broadcast_to(g[..., None], k.shape)
    rho = np.ones(k.shape[1])
    for start in range(0, len(k), chunk):
        keys, factors = (np.moveaxis(x[start:start + chunk], 0, 1) for x in (k, np.exp(g)))
        size = keys.shape[1]
        matrix = np.broadcast_to(np.eye(size), (len(keys), size, size)).copy()
        decayed = np.zeros_like(keys)  # row j: key j times the decays since
        for i in range(size):
            decayed *= factors[:, i, None]
            scores = (decayed[:, :i] @ keys[:, i, :, None])[..., 0]
            matrix[:, i, :i] = beta[start + i, :, None] * scores
            decayed[:, i] = keys[:, i]
        rho = np.maximum(rho, np.abs(np.linalg.inv(matrix)).sum(-1).max(-1))
    return rho


def measure(form, dtype, chunks, heads, folder, tokens=256, width=32, plan=()):
    """The entries of one form and type, for each chunk size. plan: more of runner.pipeline."""
    case = Case(form, heads=len(heads), batch=1, tokens=tokens, key=width, value=width, dtype=dtype)
    writer, body = Writer(case), BODIES[form]
    path = pathlib.Path(folder) / f"{form}.{dtype}.mlir"
    path.write_text(writer.text())
    inputs, state = make_inputs(form, heads, tokens, width)
    types = {i.name: writer.element(i) for i in body.inputs}
    inputs = {name: numerics.decode(numerics.encode(inputs[name], types[name]), types[name])
              for name in types}
    state = numerics.decode(numerics.encode(state, writer.state), writer.state)
    arguments = [(types[name], x) for name, x in inputs.items()] + [(writer.state, state)]
    with np.errstate(all="ignore"):
        want = body.reference(*inputs.values(), states=[state])
        loop = body.reference(*inputs.values(), states=[state], dtype=np.float32)
    loop_errors = {"out": numerics.head_errors(loop.out, want.out, 2),
                   "state": numerics.head_errors(loop.states[0], want.states[0], 1)}
    entries = []
    for chunk in chunks:
        got = runner.run(path, arguments, options=[runner.pipeline(chunk, *plan)]).results
        rho = solve_norms(inputs, chunk) if chunk and is_delta(form) else np.ones(len(heads))
        for result, error in (("out", numerics.head_errors(got[0], want.out, 2)),
                              ("state", numerics.head_errors(got[1], want.states[0], 1))):
            for h, (gate, keys, beta) in enumerate(heads):
                loop_error = loop_errors[result][h]
                bound = numerics.contract(dtype, loop_error, chunk, rho[h])
                entries.append(Entry(form, dtype, chunk, tokens, width, gate, keys, beta, result,
                                     float(error[h]), float(loop_error), float(rho[h]),
                                     float(bound)))
    return entries


def grid(form, gates=GATES, betas=BETAS):
    betas = betas if is_delta(form) else (1.0,)
    return list(itertools.product(gates, KEYS, betas))


def entries_of(form, dtype, folder, quick=False):
    """quick: fewer gates, strengths and chunk sizes."""
    if quick:
        gates = ("0.0", "-0.01", "-20.0", "-inf at some", ALTERNATING, "mixture")
        yield from measure(form, dtype, (0, 16, 64), grid(form, gates, (1.0, 2.0)), folder, 160)
        return
    for tokens in (256, 2048):
        yield from measure(form, dtype, (0, *CHUNKS), grid(form), folder, tokens)
    yield from measure(form, dtype, (0, 64), grid(form, betas=(1.0, 2.0)), folder, width=128)


def markdown(entries):
    """One row per form, type, length, width and chunk size; then what is beyond its bound."""
    lines = ["| form | type | T | K, V | C | entries | largest error | e_loop | rho "
             "| share of bound | beyond |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    key = lambda e: (FORMS.index(e.form), TYPES.index(e.dtype), e.width, e.tokens, e.chunk)
    for (form, dtype, width, tokens, chunk), group in itertools.groupby(sorted(entries, key=key),
                                                                        key):
        group = list(group)
        largest = [f"{max(getattr(e, name) for e in group):.2g}"
                   for name in ("error", "loop_error", "rho", "share")]
        row = [FORMS[form], TYPES[dtype], tokens, width, chunk or "token", len(group), *largest,
               sum(not e.share <= 1 for e in group)]
        lines += [f"| {' | '.join(map(str, row))} |"]
    return "\n".join([*lines, "", "Beyond the bound:", "", beyond(entries) or "none"])


def beyond(entries):
    """The entries beyond their bounds, a line each."""
    return "\n".join(f"- {e.form} {e.dtype} T={e.tokens} K={e.width} C={e.chunk} gate {e.gate}, "
                     f"{e.keys} keys, beta {e.beta}, {e.result}: error {e.error:.3g}, bound "
                     f"{e.bound:.3g}, e_loop {e.loop_error:.2g}, rho {e.rho:.3g}"
                     for e in entries if not e.share <= 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--la-run", help="path of la-run")
    parser.add_argument("--csv", help="write every entry to this file")
    parser.add_argument("--quick", action="store_true", help="a small grid")
    options = parser.parse_args()
    if options.la_run:
        binaries = pathlib.Path(options.la_run).resolve().parent
        os.environ["LINATTN_BUILD_DIR"] = str(binaries.parent)
    with tempfile.TemporaryDirectory() as folder:
        entries = [e for form, dtype in itertools.product(FORMS, TYPES)
                   for e in entries_of(form, dtype, folder, options.quick)]
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow([f.name for f in fields(Entry)])
            rows.writerows([[getattr(e, f.name) for f in fields(Entry)] for e in entries])
    print(markdown(entries))
    sys.exit(any(not e.share <= 1 for e in entries))


if __name__ == "__main__":
    main()
