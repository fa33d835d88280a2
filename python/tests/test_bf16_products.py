"""Matrix products whose operands are rounded to bf16, against float64 token by token, as f32
multiply-adds and as dot instructions."""

import pathlib

import pytest

from linattn import cases, numerics, runner
from linattn.cases import Case

ADDITIVE = ("linear", "scalar-decay", "gla", "rwkv6", "normalised", "mamba2")
ERASING = ("delta", "gated-delta", "kda", "dplr", "comba", "eda", "gated-oja", "iplr")
OTHER = ("hla", "running-mean")

# key, value, tokens, chunk, diagonal blocks
SHAPES = ((128, 128, 40, 16, 8), (60, 100, 33, 8, 8), (100, 60, 37, 32, 8), (8, 8, 17, 16, 4),
          (1, 8, 9, 8, 4), (8, 1, 9, 8, 4), (7, 13, 23, 7, 3))

TARGETS = {"fma": "", "dot": "bf16-dot native-bf16"}


@pytest.fixture(params=TARGETS)
def target(request):
    info = pathlib.Path("/proc/cpuinfo")
    if request.param == "dot" and (not info.exists() or " avx512_bf16" not in info.read_text()):
        pytest.skip("this CPU has no dot instruction for bf16 (avx512_bf16)")
    return TARGETS[request.param]


def error(case, folder, precision, chunk=16, subchunk=8, target=""):
    """Of the worst result and head."""
    program = cases.build(case)
    path = folder / "case.mlir"
    path.write_text(program.text)
    run = runner.run(path, program.args, guard=True, threads=1,
                     options=[runner.pipeline(chunk, subchunk, "chunk", precision, target)])
    heads = [{"bhtd": 1, "packed": 1}.get(case.layout, 2)] + [1] * (len(program.expected) - 1)
    return max(numerics.relative_error(got, want, heads=axis)
               for got, (_, want), axis in zip(run.results, program.expected, heads, strict=True))


@pytest.mark.parametrize("key, value, tokens, chunk, subchunk", SHAPES)
@pytest.mark.parametrize("body", ADDITIVE + ERASING + OTHER)
def test_shapes(body, key, value, tokens, chunk, subchunk, tmp_path, target, la_run):
    case = Case(body, tokens=tokens, heads=2, batch=1, key=key, value=value, dtype="bf16")
    assert error(case, tmp_path, "bf16", chunk, subchunk, target) <= numerics.contract("bf16")
