import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))


@pytest.fixture(scope="session")
def la_run():
    """For tests that compile."""
    from linattn import runner
    if not runner.tool("la-run").exists():
        pytest.skip(f"{runner.tool('la-run')} is not built")
