"""One plan gives one result: any number of threads, any place in the batch, the same bits."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from linattn import cases, runner

BODIES = ["scalar-decay", "delta", "kda"]  # scalar decay, delta rule, both with channel decay
DENSE = dict(tokens=43, batch=8, heads=3, key=24, value=20)
# Eight sequences, of which number 5 crosses borders of chunks that others have.
OFFSETS = [0, 9, 9, 50, 51, 83, 126, 139, 160]


@functools.cache
def program(case):
    return cases.build(case)


def run(case, args, folder, threads):
    path = folder / "case.mlir"
    path.write_text(program(case).text)
    return runner.run(path, args, guard=True, threads=threads,
                      options=[runner.pipeline(16, 8)]).results


def same(one, other):
    return all(np.isfinite(x).all() and np.array_equal(x, y)
               for x, y in zip(one, other, strict=True))


@pytest.fixture(scope="module", params=BODIES)
def batch(request, tmp_path_factory, la_run):
    """A case and its results with one thread."""
    case = cases.Case(request.param, **DENSE)
    folder = tmp_path_factory.mktemp(request.param)
    return case, run(case, program(case).args, folder, threads=1)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads(batch, threads, tmp_path):
    case, want = batch
    assert same(run(case, program(case).args, tmp_path, threads), want)


@pytest.mark.parametrize("threads", [1, 8])
def test_alone(batch, threads, tmp_path):
    case, want = batch
    args = [(element, x[5:6]) for element, x in program(case).args]
    got = run(replace(case, batch=1), args, tmp_path, threads)
    assert same(got, [x[5:6] for x in want])


@pytest.mark.parametrize("body", BODIES)
def test_packed(body, tmp_path, la_run):
    """A sequence of a packed buffer against the same rows alone."""
    case = cases.Case(body, **{**DENSE, "batch": 1, "tokens": OFFSETS[-1]}, layout="packed")
    rng = np.random.default_rng(3)
    *inputs, _, (element, _) = program(case).args
    states = rng.standard_normal((8, 3, 24, 20))
    rows = slice(*OFFSETS[5:7])

    packed = run(case, [*inputs, ("i32", np.array(OFFSETS)), (element, states)], tmp_path, 3)
    alone = [(e, x[rows]) for e, x in inputs]
    alone += [("i32", np.array([0, OFFSETS[6] - OFFSETS[5]])), (element, states[5:6])]
    assert same(run(case, alone, tmp_path, 1), [packed[0][rows], packed[1][5:6]])
