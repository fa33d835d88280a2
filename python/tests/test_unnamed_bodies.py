"""Bodies that nobody has named: chunked where the derivation says so, and equal to NumPy."""

import functools
import re

import numpy as np
import pytest

from linattn import numerics, programs, runner
from linattn.axis_bodies import BODIES as AXES
from linattn.level_bodies import BODIES as LEVELS
from linattn.loop_bodies import BODIES as LOOPS
from linattn.random_programs import all_errors, heads_second
from linattn.refused_bodies import BODIES as OUTSIDE, PARTLY
from linattn.unnamed_bodies import BODIES as UNNAMED

INSIDE = UNNAMED | AXES | LOOPS | LEVELS
BUILDERS = INSIDE | {name: make for name, (make, _) in {**OUTSIDE, **PARTLY}.items()}


@functools.cache
def case(name):
    """The program and its results, heads second."""
    program = BUILDERS[name]()
    want = heads_second(program, programs.results(program))
    assert all(np.isfinite(x).all() and np.abs(x).max() > 1e-3 for x in want)
    return program, want


def write(program, folder):
    path = folder / "program.mlir"
    path.write_text(program.text())
    return path


def compare(name, path, chunk, strategy="chunk"):
    program, want = case(name)
    run = runner.run(path, programs.arguments(program), guard=True, threads=1,
                     options=[runner.pipeline(chunk, (chunk + 1) // 2, strategy)])
    loop, rho = 0.0, 1.0
    if program.dtype == "f32":
        loop = all_errors(heads_second(program, programs.results(program, np.float32)), want)
        rho = programs.solve_norm(program, chunk)
    errors = all_errors(heads_second(program, run.results), want)
    assert (errors <= numerics.contract(program.dtype, loop, chunk, rho)).all()


def has_step(ir):
    return bool(re.search(r"linattn\.recurrence[^{]*\bstep\(", ir))


@pytest.mark.parametrize("name", INSIDE)
def test_is_chunked(name, tmp_path, la_run):
    ir, missed = runner.chunk_ir(write(case(name)[0], tmp_path))
    assert has_step(ir) and not missed


@pytest.mark.parametrize("chunk", [1, 3, 8, 16])
@pytest.mark.parametrize("name", INSIDE)
def test_chunks(name, chunk, tmp_path, la_run):
    compare(name, write(case(name)[0], tmp_path), chunk)


@pytest.mark.parametrize("chunk", [2, 4])
@pytest.mark.parametrize("name", INSIDE)
def test_sweeps(name, chunk, tmp_path, la_run):
    compare(name, write(case(name)[0], tmp_path), chunk, "sweep")


@pytest.mark.parametrize("name", OUTSIDE)
def test_is_refused(name, tmp_path, la_run):
    path = write(case(name)[0], tmp_path)
    ir, missed = runner.chunk_ir(path)
    assert not has_step(ir) and OUTSIDE[name][1] in missed[0]
    compare(name, path, 8)


@pytest.mark.parametrize("name", PARTLY)
def test_is_partly_chunked(name, tmp_path, la_run):
    ir, missed = runner.chunk_ir(write(case(name)[0], tmp_path))
    assert has_step(ir) and PARTLY[name][1] in missed[0]


@pytest.mark.parametrize("chunk", [3, 16])
@pytest.mark.parametrize("name", PARTLY)
def test_partly_in_chunks(name, chunk, tmp_path, la_run):
    compare(name, write(case(name)[0], tmp_path), chunk)
