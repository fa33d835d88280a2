"""Every example layer, at a few tokens, against its float64 reference."""

import pathlib
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "python")]

import layers
import run
from linattn import runner


def test_every_file_is_a_layer():
    assert {path.stem for path in FOLDER.glob("*.mlir")} == set(layers.LAYERS)


@pytest.mark.parametrize("name", layers.LAYERS)
def test_layer(name):
    if not runner.tool("la-run").exists():
        pytest.skip(f"{runner.tool('la-run')} is not built")
    assert run.run(name, tokens=40, batch=1, check=True)
