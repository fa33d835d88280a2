"""What the documents show is true: programs parse, links lead somewhere, named files exist."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LA_OPT = ROOT / os.environ.get("LINATTN_BUILD_DIR", "build") / "bin" / "la-opt"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Fragments of a program are for reading; a whole one must parse.
PROGRAMS = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}-{index}")
    for page in PAGES
    for index, block in enumerate(re.findall(r"^```mlir\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    if "func.func" in block
]


@pytest.mark.skipif(not LA_OPT.exists(), reason="la-opt is not built")
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("option", ["--verify-roundtrip", "--linattn-to-loops"])
def test_program(program, option):
    result = subprocess.run([str(LA_OPT), "-", option], input=program, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_readme_has_a_program():
    assert any("README" in program.id for program in PROGRAMS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"


# Generated pages are compared with their source instead; see `utils/dev docs --check`.
@pytest.mark.parametrize("page", [page for page in PAGES if not page.name.startswith("LinAttn")],
                         ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files(page):
    folders = "include|lib|tools|test|utils|examples|docs|python|cmake"
    for name in re.findall(rf"`((?:{folders})/[\w./-]*)[^`]*`", page.read_text("utf-8")):
        assert (ROOT / name).exists(), f"{page.name} names {name}, which does not exist"
