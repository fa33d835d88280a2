"""utils/make-docs.py: blocks of tutorials are what their commands print, and what is wrong is named."""

import importlib.util
import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / os.environ.get("LINATTN_BUILD_DIR", "build") / "bin"
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))

spec = importlib.util.spec_from_file_location("make_docs", ROOT / "utils/make-docs.py")
make_docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_docs)


def make(*lines):
    return make_docs.tutorial_page("\n".join(lines), TOOLS, "Page.md").split("\n")


def test_marked_blocks_are_replaced():
    page = make("# A", "<!-- generated: printf 'one  \\ntwo\\n' | sed s/two/2/ -->", "```mlir", "old", "```", "text", "```", "kept", "```", "")
    assert page == ["# A", "<!-- generated: printf 'one  \\ntwo\\n' | sed s/two/2/ -->", "```mlir", "one", "2", "```", "text",
                    "```", "kept", "```", ""]


def test_a_page_that_is_up_to_date_stays():
    page = make("<!-- generated: echo new -->", "```", "old", "", "older", "```", "")
    assert page[2] == "new"
    assert make(*page) == page


def test_commands_run_in_the_project_with_our_tools_first(tmp_path):
    tool = tmp_path / "la-opt"
    tool.write_text("#!/bin/sh\ncat utils/packages.txt\n")
    tool.chmod(0o755)
    page = make_docs.tutorial_page("<!-- generated: la-opt -->\n```\n```\n", tmp_path, "Page.md")
    assert page == f"<!-- generated: la-opt -->\n```\n{(ROOT / 'utils/packages.txt').read_text().strip()}\n```\n"


@pytest.mark.parametrize(
    "lines, text",
    [
        (["<!-- generated: echo bad >&2; false | cat -->", "```", "```"], "Page.md:1: `echo bad >&2; false | cat` failed with 1:\nbad"),
        (["text", "<!-- generated: true -->", "```", "```"], "Page.md:2: `true` prints nothing"),
        (["<!-- generated: echo -->", "", "```", "```"], "Page.md:1: expected a fenced block on the line after the mark"),
        (["<!-- generated: echo -->"], "Page.md:1: expected a fenced block on the line after the mark"),
        (["<!-- generated: echo -->", "```mlir", "x"], "Page.md:1: the fenced block has no end"),
    ],
)
def test_what_is_wrong_is_named(lines, text):
    with pytest.raises(SystemExit) as error:
        make(*lines)
    assert text in str(error.value)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.name)
def test_all_ir_of_a_tutorial_is_generated(page):
    lines = page.read_text("utf-8").split("\n")
    blocks = [row for row, line in enumerate(lines) if line == "```mlir"]
    assert blocks
    for row in blocks:
        assert make_docs.MARK.match(lines[row - 1]), f"{page.name}:{row + 1}: IR without a command that prints it"


@pytest.mark.skipif(not (TOOLS / "la-opt").exists(), reason="la-opt is not built")
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.name)
def test_tutorials_are_up_to_date(page):
    text = page.read_text("utf-8")
    assert make_docs.tutorial_page(text, TOOLS, page.name) == text


def test_utils_dev_compares_the_tutorials():
    assert re.search(r"for page in .*tutorials/\*\.md", (ROOT / "utils/dev").read_text())
