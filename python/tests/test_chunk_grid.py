"""Numbers of tokens around the chunk, widths that nothing divides, all layouts: chunked under guard
pages, against the token by token run in NumPy."""

import os

import pytest

from linattn import cases, numerics, runner

GRID = cases.chunk_grid(full=bool(os.environ.get("LINATTN_FULL_TESTS")))


@pytest.mark.parametrize("name", GRID)
def test_chunks(name, tmp_path, la_run):
    case, chunk = GRID[name]
    program = cases.build(case)
    path = tmp_path / "case.mlir"
    path.write_text(program.text)
    run = runner.run(path, program.args, guard=True, threads=1,
                     options=[runner.pipeline(chunk, chunk // 2)])
    # Errors are those of the worst head; states have their heads second.
    heads = [{"bhtd": 1, "packed": 1}.get(case.layout, 2)] + [1] * (len(program.expected) - 1)
    for got, (_, want), axis in zip(run.results, program.expected, heads, strict=True):
        assert numerics.relative_error(got, want, heads=axis) <= program.tolerance
