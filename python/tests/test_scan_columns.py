"""Scans whose states have an axis that reads contract: any layout, width and tile, against NumPy."""

import numpy as np
import pytest

from linattn import numerics, runner
from linattn.causal_systems.system import Step, System, arguments, error, reference
from linattn.unnamed_bodies import build

pytestmark = pytest.mark.usefixtures("la_run")
# Columns, entries of each: vectors and tiles that are full or not, one column, rows that are longer.
SIZES = [(1, 1), (16, 4), (17, 1), (33, 16), (64, 60), (100, 4), (150, 16), (5, 60)]


def scan(columns, entries, is_transposed):
    """h' = e^(dt A) h + (dt x) B^T;  y = h' C + d x, with h as [columns, entries] or transposed."""
    shape = (entries, columns) if is_transposed else (columns, entries)
    axis = int(is_transposed)

    def body(p):
        x, dt = p.normal(columns), p.uniform(0, 1, columns)
        B, C = p.normal(entries), p.normal(entries)
        A, d = p.uniform(-3, 0, *shape, per_token=False), p.normal(columns, per_token=False)
        wide = p.mlir(shape, f"""
~0 = tensor.empty() : {{type}}
{{name}} = linalg.broadcast ins({{0}} : {{t0}}) outs(~0 : {{type}}) dimensions = [{1 - axis}]
""", dt)
        h = p.decay(p.state("h", shape), p.mul(wide, A), (0, 1))
        h = p.write(h, p.mul(dt, x), axis, B)
        p.end(p.add(p.read(h, C, 1 - axis), p.mul(d, x)), h=h)

    def step(x, dt, B, C, A, d, h):
        outer = (lambda a, b: np.outer(b, a)) if is_transposed else np.outer
        h = np.exp((dt if is_transposed else dt[:, None]) * A) * h + outer(dt * x, B)
        return (C @ h if is_transposed else h @ C) + d * x, h

    return System("scan", scan.__doc__, body, {}, step=step)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("columns, entries", SIZES)
def test_results(columns, entries, is_transposed, dtype, tmp_path):
    system = scan(columns, entries, is_transposed)
    program = build(system.body, dict(tokens=19, batch=2, dtype=dtype), Step)
    path = tmp_path / "program.mlir"
    path.write_text(program.text())
    want = reference(system, program)
    whole = None
    for tile in (2**20, 4096, 1):
        options = [f"--pipeline=builtin.module(linattn-to-cpu-pipeline{{tile-bytes={tile}}})"]
        got = runner.run(path, arguments(program), guard=True, threads=2, options=options).results
        assert error(got, want) <= numerics.contract(dtype)
        whole = whole or got
        assert all(np.array_equal(x, y) for x, y in zip(got, whole))  # the same bits


def test_packed(tmp_path):
    """Sequences of 5, 0 and 14 tokens, with tiles and a rest."""
    system = scan(100, 4, False)
    program = build(system.body, dict(tokens=19, offsets=[0, 5, 5, 19]), Step)
    path = tmp_path / "program.mlir"
    path.write_text(program.text())
    options = ["--pipeline=builtin.module(linattn-to-cpu-pipeline{tile-bytes=4096})"]
    got = runner.run(path, arguments(program), guard=True, threads=2, options=options).results
    assert error(got, reference(system, program)) <= numerics.contract("f64")
