"""Generated cases, compiled and run under guard pages, against their float64 references."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from linattn import cases, runner

CASES = cases.all_cases(full=bool(os.environ.get("LINATTN_FULL_TESTS")))


def run(name, directory):
    folder = cases.write(CASES[name], directory)
    flags = (folder / "command").read_text().split()
    runner.call([*flags, "--guard", "--threads", "2"], folder)
    shutil.rmtree(folder)  # a failed case stays, to be run by hand


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory):
    """The selected cases, each a process, as many at a time as there are cores."""
    if not runner.tool("la-run").exists():
        pytest.skip(f"{runner.tool('la-run')} is not built")
    directory = tmp_path_factory.mktemp("cases")
    names = [item.callspec.params["name"] for item in request.session.items
             if getattr(item, "originalname", "") == "test_case"]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {name: pool.submit(run, name, directory) for name in names}
        yield futures
        for future in futures.values():
            future.cancel()


@pytest.mark.parametrize("name", CASES)
def test_case(name, runs):
    runs[name].result()
