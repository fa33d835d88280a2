"""The numerics contract over a grid of gates, keys, strengths, chunk sizes and types.

    python3 -m linattn.numerics_table [--la-run PATH] [--csv FILE] [--quick]

Each entry is one head: errors are max|x - ref| / max|ref| per result and head, against float64 token
by token. Bounds: f64 1e-12; bf16 inputs 2e-2; f32 2 e_loop + 1e-6 + 2 C 2^-24 rho, with e_loop the
error of float32 NumPy token by token and rho the largest ||(I - A)^-1||_inf of the chunks. Prints a
markdown table and every entry beyond its bound; exit status 1 if there is one.
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
GATES = (*map(str, LEVELS), "-inf at some", "24 x -20.3, 24 x -0.0137", "mixture")
WIDTH = 32  # K and V


@dataclass
class Entry:
    form: str
    dtype: str
    chunk: int  # 0: token by token
    tokens: int
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
    if name.startswith("24"):
        rows = np.where(np.arange(shape[0]) // 24 % 2 == 0, -20.3, -0.0137)
        return np.broadcast_to(rows.reshape(-1, *[1] * (len(shape) - 1)), shape)
    return np.full(shape, float(name))


def make_keys(name, tokens, rng):
    """[T, K] unit keys."""
    noise = rng.standard_normal((tokens, WIDTH))
    base = rng.standard_normal(WIDTH) / WIDTH**0.5
    keys = {"random": noise, "near-parallel": base + 0.05 * noise / WIDTH**0.5,
            "repeated": np.broadcast_to(base, noise.shape)}[name]
    return keys / np.linalg.norm(keys, axis=-1, keepdims=True)


def make_inputs(form, heads, tokens):
    """heads: (gate, keys, beta) each. name -> [1, T, H, ...], and the initial state."""
    rng = np.random.default_rng(3)
    channels = (WIDTH,) if form in ("gla", "kda") else ()
    stack = lambda rows: np.stack(rows, axis=1)[None]
    inputs = {
        "q": rng.standard_normal((1, tokens, len(heads), WIDTH)) * WIDTH**-0.5,
        "k": stack([make_keys(keys, tokens, rng) for _, keys, _ in heads]),
        "v": rng.standard_normal((1, tokens, len(heads), WIDTH)),
        "g": stack([make_gate(gate, (tokens, *channels), rng) for gate, _, _ in heads]),
    }
    if is_delta(form):
        inputs["beta"] = stack([np.full(tokens, beta) for _, _, beta in heads])
    return inputs, rng.standard_normal((1, len(heads), WIDTH, WIDTH))


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


def measure(form, dtype, chunks, heads, tokens, folder):
    """The entries of one form and type, for each chunk size."""
    case = Case(form, heads=len(heads), batch=1, tokens=tokens, key=WIDTH, value=WIDTH, dtype=dtype)
    writer, body = Writer(case), BODIES[form]
    path = pathlib.Path(folder) / f"{form}.{dtype}.mlir"
    path.write_text(writer.text())
    inputs, state = make_inputs(form, heads, tokens)
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
        got = runner.run(path, arguments, options=[runner.pipeline(chunk)]).results
        rho = solve_norms(inputs, chunk) if chunk and is_delta(form) else np.ones(len(heads))
        for result, error in (("out", numerics.head_errors(got[0], want.out, 2)),
                              ("state", numerics.head_errors(got[1], want.states[0], 1))):
            for h, (gate, keys, beta) in enumerate(heads):
                loop_error = loop_errors[result][h]
                bound = numerics.contract(dtype, loop_error, chunk, rho[h])
                entries.append(Entry(form, dtype, chunk, tokens, gate, keys, beta, result,
                                     float(error[h]), float(loop_error), float(rho[h]),
                                     float(bound)))
    return entries


def grid(form, gates=GATES, betas=BETAS):
    betas = betas if is_delta(form) else (1.0,)
    return list(itertools.product(gates, KEYS, betas))


def all_entries(folder, quick=False):
    """quick: one chunk size and fewer gates and strengths."""
    for form, dtype in itertools.product(FORMS, TYPES):
        if quick:
            gates = ("0.0", "-20.0", "-inf at some", "24 x -20.3, 24 x -0.0137", "mixture")
            yield from measure(form, dtype, [32], grid(form, gates, (1.0, 2.0)), 96, folder)
            continue
        yield from measure(form, dtype, [0, *CHUNKS], grid(form), 256, folder)
        long = grid(form, ("0.0", "-0.01", "mixture"), (1.0, 2.0))
        yield from measure(form, dtype, [64], long, 2048, folder)


def markdown(entries):
    """One row per form, type, length and chunk size; then the entries beyond their bounds."""
    lines = ["| form | type | T | C | entries | largest error | largest rho | largest share of bound "
             "| beyond |", "|---|---|---|---|---|---|---|---|---|"]
    key = lambda e: (FORMS.index(e.form), TYPES.index(e.dtype), e.tokens, e.chunk)
    for (form, dtype, tokens, chunk), group in itertools.groupby(sorted(entries, key=key), key):
        group = list(group)
        beyond = sum(not e.share <= 1 for e in group)
        lines += [f"| {FORMS[form]} | {TYPES[dtype]} | {tokens} | {chunk or 'token'} | {len(group)} "
                  f"| {max(e.error for e in group):.2g} | {max(e.rho for e in group):.3g} "
                  f"| {max(e.share for e in group):.2g} | {beyond} |"]
    lines += ["", "Beyond the bound:", ""]
    bad = [e for e in entries if not e.share <= 1]
    lines += [f"- {e.form} {e.dtype} T={e.tokens} C={e.chunk} gate {e.gate}, {e.keys} keys, "
              f"beta {e.beta}, {e.result}: error {e.error:.3g}, bound {e.bound:.3g}, "
              f"e_loop {e.loop_error:.2g}, rho {e.rho:.3g}" for e in bad] or ["none"]
    return "\n".join(lines)


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
        entries = list(all_entries(folder, options.quick))
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow([f.name for f in fields(Entry)])
            rows.writerows([[getattr(e, f.name) for f in fields(Entry)] for e in entries])
    print(markdown(entries))
    sys.exit(any(not e.share <= 1 for e in entries))


if __name__ == "__main__":
    main()
