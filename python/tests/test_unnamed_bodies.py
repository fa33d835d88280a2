"""Bodies that nobody has named: chunked where the derivation says so, and equal to NumPy."""

import functools
import re

import numpy as np
import pytest

from linattn import programs, runner
from linattn.random_programs import bound, by_head, worst_error
from linattn.refused_bodies import BODIES as OUTSIDE
from linattn.unnamed_bodies import BODIES as INSIDE


@functools.cache
def case(name):
    """The program and its results, heads second."""
    program = INSIDE[name]() if name in INSIDE else OUTSIDE[name][0]()
    want = by_head(program, programs.results(program))
    assert all(np.isfinite(x).all() and np.abs(x).max() > 1e-3 for x in want)
    return program, want


def write(program, folder):
    path = folder / "program.mlir"
    path.write_text(program.text())
    return path


def compare(name, path, chunk):
    program, want = case(name)
    run = runner.run(path, programs.arguments(program), guard=True, threads=1,
                     options=["--pipeline", runner.pipeline(chunk, (chunk + 1) // 2)])
    limit = 1e-12 if program.dtype == "f64" else bound(program, want, chunk, name in INSIDE)
    assert worst_error(by_head(program, run.results), want) <= limit


@pytest.mark.parametrize("name", INSIDE)
def test_is_chunked(name, tmp_path, la_run):
    ir, missed = runner.chunk_ir(write(case(name)[0], tmp_path))
    assert re.search(r"linattn\.recurrence[^{]*\bstep\(", ir) and not missed


@pytest.mark.parametrize("chunk", [1, 3, 8, 16])
@pytest.mark.parametrize("name", INSIDE)
def test_chunks(name, chunk, tmp_path, la_run):
    compare(name, write(case(name)[0], tmp_path), chunk)


# A loop of the body cannot carry a tensor that arith makes: bufferisation stops.
NOT_COMPILED = pytest.mark.xfail(strict=True, raises=runner.RunError)


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=NOT_COMPILED) if name == "read_in_a_loop_with_arith" else name
    for name in OUTSIDE])
def test_is_refused(name, tmp_path, la_run):
    path = write(case(name)[0], tmp_path)
    ir, missed = runner.chunk_ir(path)
    assert len(missed) == 1 and OUTSIDE[name][1] in missed[0] and "step(" not in ir
    compare(name, path, 8)
