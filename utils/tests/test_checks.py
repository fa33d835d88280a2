"""The checks of utils/ pass on a clean tree and fail on planted violations, naming the place."""

import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(script, *arguments):
    """Returns (exit code, everything printed)."""
    command = [sys.executable, str(ROOT / "utils" / script), *map(str, arguments)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return result.returncode, result.stdout


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def tree(tmp_path):
    """A copy of the real sources."""
    for folder in ("include", "lib", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


# --- layering ---------------------------------------------------------------------------------


def test_layering_accepts_the_tree(tree):
    code, output = run("check-layering.py", "--root", tree)
    assert code == 0, output


@pytest.mark.parametrize(
    "path, text, user, used",
    [
        ("lib/IR/Planted.cpp", '#include "linattn/Transforms/Passes.h"\n', "IR", "Transforms"),
        ("lib/Utils/Planted.cpp", '#include "linattn/IR/LinAttnOps.h"\n', "Utils", "IR"),
        ("lib/Transforms/Planted.cpp", '#include "linattn/Conversion/Passes.h"\n', "Transforms", "Conversion"),
        ("lib/Pipelines/Planted.cpp", '#include "linattn/Runner/Runner.h"\n', "Pipelines", "Runner"),
        ("lib/Conversion/ToLinalg/Planted.cpp", '#include "linattn/Conversion/ToLoops/ToLoops.h"\n',
         "Conversion/ToLinalg", "Conversion/ToLoops"),
        ("include/linattn/IR/Planted.td", 'include "linattn/Transforms/Passes.td"\n', "IR", "Transforms"),
        ("lib/CAPI/Planted.cpp", '#include "linattn/Pipelines/Passes.h"\n', "CAPI", "Pipelines"),
    ],
)
def test_layering_rejects_include(tree, path, text, user, used):
    write(tree / path, "\n" + text)
    code, output = run("check-layering.py", "--root", tree)
    assert code == 1
    assert f"{path}:2: {user} uses {used} " in output


def test_layering_rejects_relative_include(tree):
    write(tree / "lib/Transforms/Private.h", "\n")
    write(tree / "lib/IR/Planted.cpp", '#include "../Transforms/Private.h"\n')
    code, output = run("check-layering.py", "--root", tree)
    assert code == 1
    assert "lib/IR/Planted.cpp:1: IR uses Transforms " in output


def test_layering_rejects_link(tree):
    write(tree / "lib/Conversion/ToPlanted/CMakeLists.txt", "add_linattn_library(LinAttnToPlanted a.cpp)\n")
    write(tree / "lib/Analysis/CMakeLists.txt",
          "add_linattn_library(LinAttnAnalysis\n  a.cpp\n  LINK_LIBS LinAttnToPlanted)\n")
    code, output = run("check-layering.py", "--root", tree)
    assert code == 1
    assert "lib/Analysis/CMakeLists.txt:1: Analysis uses Conversion/ToPlanted (LinAttnAnalysis links" in output


def test_layering_rejects_link_added_later(tree):
    write(tree / "lib/Conversion/ToPlanted/CMakeLists.txt", "add_linattn_library(LinAttnToPlanted a.cpp)\n")
    write(tree / "lib/Analysis/CMakeLists.txt",
          "add_linattn_library(LinAttnAnalysis a.cpp)\ntarget_link_libraries(LinAttnAnalysis PUBLIC LinAttnToPlanted)\n")
    code, output = run("check-layering.py", "--root", tree)
    assert code == 1
    assert "lib/Analysis/CMakeLists.txt:2: Analysis uses Conversion/ToPlanted " in output


def test_layering_rejects_test_code_in_a_library(tree):
    write(tree / "lib/Analysis/CMakeLists.txt", "configure_file(${PROJECT_SOURCE_DIR}/utils/x y)\n")
    code, output = run("check-layering.py", "--root", tree)
    assert code == 1
    assert "lib/Analysis/CMakeLists.txt:1: libraries do not use utils/" in output


def test_layering_rejects_cxx_in_a_c_header(tree):
    write(tree / "include/linattn-c/Planted.h", '#include "mlir-c/IR.h"\n#include "mlir/IR/Value.h"\n')
    code, output = run("check-layering.py", "--root", tree)
    assert code == 1
    assert "include/linattn-c/Planted.h:2: a C header includes only" in output


def test_layering_rejects_unknown_folder(tree):
    write(tree / "lib/Planted/A.cpp", '#include "linattn/IR/LinAttnOps.h"\n')
    code, output = run("check-layering.py", "--root", tree)
    assert code == 1
    assert "'Planted' is not a layer" in output


# --- diagnostics ------------------------------------------------------------------------------

SOURCE = """\
// emitError("in a comment, so not a diagnostic");
LogicalResult Op::verify() {
  if (rank != 2)
    return emitOpError("expects a state of rank 2, got ") << rank;
  if (missing)
    return emitOpError() << "needs a bare time dim in some map; "
                            "add one to '" << name << "'";
  return success();
}
static Error malformed(const Twine &what) { return createStringError(errc::io_error, "file: " + what); }
static Error fail(const Twine &what) { return createStringError(errc::io_error, what); }
Error read() { return fail("the header is too short"); }
"""
TEST = """\
// expected-error@+1 {{expects a state of rank 2, got 3}}
// CHECK: error: needs a bare time dim in some map; add one to 'q'
// ERR: a.npy: the header is too short
// CHECK-SAME: file: x
"""


@pytest.fixture
def small(tmp_path):
    write(tmp_path / "lib/IR/Op.cpp", SOURCE)
    write(tmp_path / "test/IR/invalid.mlir", TEST)
    return tmp_path


def test_diagnostics_accepts_tested_texts(small):
    code, output = run("check-diagnostics.py", "--root", small, "--list")
    assert code == 0, output
    assert "diagnostics: 4 checked" in output


@pytest.mark.parametrize(
    "line, place, text",
    [
        (0, "lib/IR/Op.cpp:4:", "expects a state of rank 2, got"),
        (1, "lib/IR/Op.cpp:6:", "needs a bare time dim in some map; add one to '"),
        (2, "lib/IR/Op.cpp:12:", "the header is too short"),
    ],
)
def test_diagnostics_rejects_text_without_test(small, line, place, text):
    lines = TEST.splitlines()
    del lines[line]
    write(small / "test/IR/invalid.mlir", "\n".join(lines))
    code, output = run("check-diagnostics.py", "--root", small)
    assert code == 1
    assert f"{place} no test has the text: {text}" in output
    assert "1 of 4 have no test" in output


def test_diagnostics_ignores_prose(small):
    write(small / "test/IR/invalid.mlir", TEST.replace("// expected-error@+1 {{", "// this tests that it "))
    code, output = run("check-diagnostics.py", "--root", small)
    assert code == 1
    assert "expects a state of rank 2" in output


def test_diagnostics_accepts_pytest_and_excuses(small):
    write(small / "lib/Runner/A.cpp", 'auto e = createStringError(c, "cannot read \\"%s\\" twice", p);\n'
          "// no-test: the kernel must run out of memory\n"
          'auto f = createStringError(c, "no memory for an array");\n')
    write(small / "python/tests/test_a.py", 'match = "cannot read \\"a\\" twice; cannot read \\""\n')
    code, output = run("check-diagnostics.py", "--root", small, "--list")
    assert code == 0, output
    assert "A.cpp:3: excused" in output


def test_diagnostics_rejects_planted_text_in_the_tree(tree):
    write(tree / "lib/IR/Planted.cpp", 'void f() { op.emitOpError("expects an unheard-of planted thing"); }\n')
    code, output = run("check-diagnostics.py", "--root", tree)
    assert code == 1
    assert "lib/IR/Planted.cpp:1: no test has the text: expects an unheard-of planted thing" in output


# --- headers ----------------------------------------------------------------------------------

HEADER = """\
//===- A.h - a thing ------------------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_IR_A_H
#define LINATTN_IR_A_H
#endif
"""


@pytest.mark.parametrize(
    "old, new, problem",
    [
        ("", "", None),
        ("A.h - a thing", "B.h - a thing", "names 'B.h', expected 'A.h'"),
        ("//===- A.h", "// A.h", "expected a first line such as"),
        ("SPDX-License", "License", "expected 'SPDX-License"),
        ("LINATTN_IR_A_H", "A_H", "expected the include guard LINATTN_IR_A_H"),
    ],
)
def test_headers(tmp_path, old, new, problem):
    write(tmp_path / "include/linattn/IR/A.h", HEADER.replace(old, new) if old else HEADER)
    code, output = run("check-headers.py", "--root", tmp_path)
    assert code == (1 if problem else 0), output
    assert (problem or "") in output


@pytest.mark.parametrize(
    "banner",
    ["//===- A.h - a thing ----------------------------------*- C++\n//-*-===//\n",
     "//===- A.h - a thing " + "-" * 90 + "*- C++ -*-===//\n"],
)
def test_headers_fix(tmp_path, banner):
    path = tmp_path / "include/linattn/IR/A.h"
    write(path, banner + HEADER.split("\n", 1)[1])
    assert run("check-headers.py", "--root", tmp_path)[0] == 1
    code, output = run("check-headers.py", "--root", tmp_path, "--fix")
    assert code == 0, output
    first, second = path.read_text().split("\n")[:2]
    assert first == "//===- A.h - a thing " + "-" * 64 + "*- C++ -*-===//"
    assert second == "//"


# --- the summary line -------------------------------------------------------------------------

REPORT = """<testsuites><testsuite name="a"><testcase classname="a" name="one"/>
<testcase classname="a" name="two"><skipped message="no GPU"/></testcase>%s</testsuite></testsuites>"""


def test_count_adds_reports(tmp_path):
    write(tmp_path / "a.xml", REPORT % "")
    code, output = run("count-tests.py", "--passed", "3", tmp_path / "a.xml", tmp_path / "a.xml")
    assert code == 0
    assert output.splitlines()[-1] == "5 passed, 0 failed, 2 skipped"


def test_count_reports_failures(tmp_path):
    write(tmp_path / "a.xml", REPORT % '<testcase classname="a" name="three"><failure/></testcase>')
    code, output = run("count-tests.py", "--failed", "check format", tmp_path / "a.xml", tmp_path / "missing.xml")
    assert code == 1
    assert "FAILED: a three" in output
    assert output.splitlines()[-1] == "1 passed, 3 failed, 1 skipped"


def test_count_rejects_an_empty_run(tmp_path):
    write(tmp_path / "a.xml", "<testsuites/>")
    code, output = run("count-tests.py", tmp_path / "a.xml")
    assert code == 1
    assert output.splitlines()[-1] == "0 passed, 0 failed, 0 skipped"
