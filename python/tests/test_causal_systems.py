"""Causal systems: compiled token by token and in chunks, against their formulas; their classes."""

import functools

import numpy as np
import pytest

from linattn.causal_systems import SYSTEMS
from linattn.causal_systems.system import (BOUND, arguments, error, printed_classes, reference, run,
                                           run_split)

pytestmark = [pytest.mark.usefixtures("la_run"), pytest.mark.parametrize("name", SYSTEMS)]


@functools.cache
def case(name, offsets=None):
    """The program, its results by the formula, and the outs alone."""
    program = SYSTEMS[name].program(offsets=offsets and list(offsets))
    want = reference(SYSTEMS[name], program)
    outs = want[:len(program.outs)]
    assert all(np.isfinite(x).all() and np.abs(x).max() > 1e-3 for x in outs)
    return program, want


def write(program, folder):
    path = folder / "program.mlir"
    path.write_text(program.text())
    return path


def test_classes(name, tmp_path):
    """What the compiler prints is what the mathematics has."""
    program, system = case(name)[0], SYSTEMS[name]
    assert printed_classes(write(program, tmp_path), program) == system.classes
    assert set(system.classes) == set(program.states)


@pytest.mark.parametrize("chunk", [0, 4, 16, None])
def test_results(name, chunk, tmp_path):
    program, want = case(name)
    assert error(run(write(program, tmp_path), arguments(program), chunk), want) <= BOUND


@pytest.mark.parametrize("chunk, at", [(0, 11), (4, 11), (4, 1), (None, 20)])
def test_split(name, chunk, at, tmp_path):
    """Some tokens, then the others from the states after those."""
    program, want = case(name)
    assert error(run_split(write(program, tmp_path), program, chunk, at), want) <= BOUND


def test_segments(name, tmp_path):
    """Sequences of 5, 0, 19 and 13 tokens."""
    program, want = case(name, (0, 5, 5, 24, 37))
    assert error(run(write(program, tmp_path), arguments(program), 4), want) <= BOUND
