#!/usr/bin/python3
"""Check the head of every C++ and TableGen file: the LLVM-style banner, the licence, the include guard."""

import argparse
import pathlib
import re
import sys

FOLDERS = ["include", "lib", "tools", "test", "unittests", "benchmarks", "examples"]
SUFFIXES = {".h", ".cpp", ".c", ".td"}
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def include_guard(path):
    """The guard that a header of include/ must have: LINATTN_RUNNER_NUMPYFILE_H."""
    words = [re.sub(r"\W", "_", part).upper() for part in path.parts]
    if words[0] == "INCLUDE":
        words = words[1:]
    if not words[0].startswith("LINATTN"):
        words.insert(0, "LINATTN")
    return "_".join(words)


def problems(root, path):
    """Yields what is wrong with the head of `path` (relative to `root`)."""
    text = (root / path).read_text(encoding="utf-8")
    head = text.split("\n", 12)[:12]
    banner = re.fullmatch(r"(?://|/\*)===-+ (\S+) - \S.*===(?://|\*/)", head[0])
    if not banner:
        yield f"expected a first line such as '//===- {path.name} - what it is ---*- C++ -*-===//'"
    elif pathlib.PurePath(banner.group(1)).name != path.name:
        yield f"the first line names '{banner.group(1)}', expected '{path.name}'"
    if not any(LICENCE in line for line in head):
        yield f"expected '{LICENCE}' among the first {len(head)} lines"
    if path.suffix == ".h" and path.parts[0] == "include":
        guard = include_guard(path)
        if not re.search(rf"^#ifndef {guard}\n#define {guard}$", text, re.MULTILINE):
            yield f"expected the include guard {guard}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    root = parser.parse_args().root
    bad = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                for problem in problems(root, path.relative_to(root)):
                    print(f"{path.relative_to(root)}:1: {problem}")
                    bad += 1
    if bad:
        print(f"headers: {bad} problems; copy the head of a neighbouring file", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
