"""Recurrences split along their value columns, then run by token and by chunk, against NumPy."""

import subprocess

import pytest

from linattn import runner
from linattn.cases import Case, write

TILE = 5
SIZES = dict(dtype="f64", batch=2, tokens=19, heads=2, key=12, value=15)
SPLIT = [Case(**{**SIZES, **options}) for options in [
    dict(body="delta"),
    dict(body="delta", layout="packed"),
    dict(body="delta", reverse=True, every=5),
    dict(body="delta", layout="packed", reverse=True, orient="VK"),
    dict(body="delta", layout="fused", group="floordiv"),
    dict(body="gla"),
    dict(body="gla", layout="packed", group="mod"),
    dict(body="gla", reverse=True, orient="VK"),
    dict(body="gla", layout="packed", reverse=True),
    dict(body="gla", layout="fused", every=5, initial=False),
    dict(body="kda", layout="bhtd", reverse=True),
    dict(body="gated-delta", tokens=0),
    dict(body="dplr"),
    dict(body="rwkv6"),
    dict(body="mamba2"),
    # A state of rank 1; slices of matrices; a step of several tokens; a position.
    dict(body="hgrn"),
    dict(body="delta-product"),
    dict(body="block-causal", reverse=True),
    dict(body="running-mean", layout="packed"),
]]
# Reads along both axes; a normaliser whose final value is a result.
WHOLE = [Case(body, **SIZES) for body in ["gated-oja", "normalised"]]
pytestmark = pytest.mark.skipif(not runner.tool("la-run").exists(), reason="la-run is not built")
PIPELINES = {"tokens": "chunk=0", "chunks": "chunk=8 subchunk=4"}


def is_split(case, folder):
    folder = write(case, folder)
    command = [runner.tool("la-opt"), "case.mlir", f"--linattn-split-value=tile={TILE}"]
    text = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
    return "tensor.empty() : tensor<3xi1>" in text


def run(case, folder, options):
    folder = write(case, folder)
    split, lower = f"linattn-split-value{{tile={TILE}}}", f"linattn-to-cpu-pipeline{{{options}}}"
    pipeline = f"builtin.module({split},{lower})"
    flags = (folder / "command").read_text().split()
    runner.call([*flags, "--guard", "--threads", "2", "--pipeline", pipeline], folder)


@pytest.mark.parametrize("case", SPLIT, ids=lambda case: case.name)
def test_is_split(case, tmp_path):
    assert is_split(case, tmp_path)


@pytest.mark.parametrize("options", PIPELINES.values(), ids=PIPELINES)
@pytest.mark.parametrize("case", SPLIT, ids=lambda case: case.name)
def test_values(case, options, tmp_path):
    run(case, tmp_path, options)


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: case.name)
def test_stays_whole(case, tmp_path):
    assert not is_split(case, tmp_path)
    run(case, tmp_path, "chunk=8")


SCHEDULE = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linattn.recurrence"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %split = transform.linattn.split_value %op tile 5 : (!transform.any_op) -> !transform.any_op
    %tiled:4 = transform.structured.tile_using_for %split tile_sizes [1, 2, 2]
        : (!transform.any_op)
        -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    %chunk = transform.linattn.chunk %tiled#0 {chunk = 8, subchunk = 4}
        : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""


def test_schedule(tmp_path):
    """A transform script that splits, tiles along all parallel dims and chunks the tile."""
    case = Case("kda", layout="fused", group="floordiv", **{**SIZES, "heads": 4})
    folder = write(case, tmp_path)
    (folder / "schedule.mlir").write_text(SCHEDULE)
    library = "transform-preload-library{transform-library-paths=schedule.mlir}"
    flags = (folder / "command").read_text().split()
    runner.call([*flags, "--guard", "--pipeline", f"builtin.module({library},transform-interpreter,"
                 "linattn-to-cpu-pipeline{chunk=0})"], folder)
