"""Published systems as their users would write them: chunked, and equal to their references."""

import re

import pytest

from linattn import cases, numerics, runner

SYSTEMS = ["gdn2", "eda", "iplr", "dplr", "hla", "hla-normalised", "comba", "delta-product-3"]
FORMS = {
    "dense": dict(orient="VK", every=16, dtype="f64", batch=1, heads=2, key=6, value=5),
    "packed": dict(layout="packed", reverse=True, group="floordiv", heads=2, key=9, value=12),
}


def build(name, form, folder):
    case = cases.Case(name, tokens=53, **FORMS[form])
    program = cases.build(case)
    path = folder / "case.mlir"
    path.write_text(program.text)
    return program, path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_is_chunked(name, form, tmp_path, la_run):
    ir, missed = runner.chunk_ir(build(name, form, tmp_path)[1])
    assert re.search(r"linattn\.recurrence[^{]*\bstep\(", ir) and not missed


@pytest.mark.parametrize("plan", [(8, 4, "chunk"), (16, 8, "chunk"), (4, 4, "sweep")], ids=str)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_chunks(name, form, plan, tmp_path, la_run):
    program, path = build(name, form, tmp_path)
    run = runner.run(path, program.args, guard=True, threads=1,
                     options=[runner.pipeline(*plan)])
    for got, (_, want) in zip(run.results, program.expected, strict=True):
        assert numerics.relative_error(got, want) <= program.tolerance
