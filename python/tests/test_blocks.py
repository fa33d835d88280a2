"""Whole token mixers as programs on tensors: fused into one recurrence, they compute what their
formulas say, and what they compute unfused."""

import re
import subprocess

import numpy as np
import pytest

from linattn import numerics, runner
from linattn.blocks import BLOCKS

pytestmark = pytest.mark.usefixtures("la_run")
TOKENS = [0, 1, 7, 8, 9, 33]


def run(block, tmp_path, fuse=True):
    path = tmp_path / "block.mlir"
    path.write_text(block.text)
    option = f"--pipeline=builtin.module(linattn-to-cpu-pipeline{{fuse={str(fuse).lower()}}})"
    return runner.run(path, block.arguments, options=[option], guard=True).results


def errors(block, results):
    assert [x.shape for x in results] == [x.shape for x in block.expected]
    return [numerics.relative_error(x, y) for x, y in zip(results, block.expected)]


@pytest.mark.parametrize("tokens", TOKENS)
@pytest.mark.parametrize("name", BLOCKS)
def test_block(name, tokens, tmp_path):
    block = BLOCKS[name](tokens, batch=2)
    fused = run(block, tmp_path)
    assert max(errors(block, fused)) <= 1e-5
    if tokens in (0, 9):
        unfused = run(block, tmp_path, fuse=False)
        assert max(errors(block, unfused)) <= 1e-5
        assert all(numerics.relative_error(x, y) <= 2e-6 for x, y in zip(fused, unfused))


@pytest.mark.parametrize("name", BLOCKS)
def test_bf16_inputs(name, tmp_path):
    block = BLOCKS[name](33, element="bf16")
    out, *rest = errors(block, run(block, tmp_path))
    assert out <= 2e-2
    assert max(rest) <= 1e-5 # what is kept is in f32, and the inputs are exact


@pytest.mark.parametrize("name", BLOCKS)
def test_nothing_of_all_tokens_is_left(name, tmp_path):
    """One recurrence, in front of which the out is the only new tensor with a row per token."""
    path = tmp_path / "block.mlir"
    path.write_text(BLOCKS[name](4).text)
    done = subprocess.run([runner.tool("la-opt"), path, "--linattn-fuse", "--remark-format=emitRemark",
                           "--remarks-filter-missed=linattn-fuse"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not re.findall(r"\[Missed\].*", done.stderr)
    assert done.stdout.count("linattn.recurrence [") == 1
    made = re.findall(r"= ([a-z._]+).*(?:: |-> )tensor<\?x\?x[^ ]*$", done.stdout, re.MULTILINE)
    views = ("tensor.dim", "tensor.extract_slice") # the latter: a few rows that are handed on
    assert [op for op in made if op not in views] == ["tensor.empty"]
