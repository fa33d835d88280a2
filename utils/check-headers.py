#!/usr/bin/python3
"""Check the head of every C++ and TableGen file: the LLVM-style banner, the licence, the include guard."""

import argparse
import pathlib
import re
import sys

FOLDERS = ["include", "lib", "tools", "test", "unittests", "benchmarks", "examples"]
SUFFIXES = {".h", ".cpp", ".c", ".td"}
WIDTH = 100
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def include_guard(path):
    """The guard that a header of include/ must have: LINATTN_RUNNER_NUMPYFILE_H."""
    words = [re.sub(r"\W", "_", part).upper() for part in path.parts]
    if words[0] == "INCLUDE":
        words = words[1:]
    if not words[0].startswith("LINATTN"):
        words.insert(0, "LINATTN")
    return "_".join(words)


def fix_banner(text, name):
    """Puts a banner that was broken over two lines, or is longer than WIDTH, back on one line of WIDTH columns."""
    match = re.match(r"//===-+ (\S+ - .*?\S) -+\*-\s*(?:\n// ?)?(C\+\+|tablegen)\s*(?:\n// ?)?-\*-===//\n", text)
    if not match or pathlib.PurePath(match.group(1).split()[0]).name != name:
        return text
    left, right = f"//===- {match.group(1)} ", f"*- {match.group(2)} -*-===//\n"
    return left + "-" * max(1, WIDTH + 1 - len(left) - len(right)) + right + text[match.end() :]


def problems(root, path):
    """Yields what is wrong with the head of `path` (relative to `root`)."""
    text = (root / path).read_text(encoding="utf-8")
    head = text.split("\n", 12)[:12]
    banner = re.fullmatch(r"(?://|/\*)===-+ (\S+) - \S.*===(?://|\*/)", head[0])
    if len(head[0]) > WIDTH:
        yield f"the first line is longer than {WIDTH} columns"
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
    parser.add_argument("--fix", action="store_true", help="mend banners that are broken or too long")
    options = parser.parse_args()
    root = options.root
    bad = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                if options.fix:
                    text = path.read_text(encoding="utf-8")
                    fixed = fix_banner(text, path.name)
                    if fixed != text:
                        path.write_text(fixed, encoding="utf-8")
                for problem in problems(root, path.relative_to(root)):
                    print(f"{path.relative_to(root)}:1: {problem}")
                    bad += 1
    if bad:
        print(f"headers: {bad} problems; utils/dev check --fix mends long lines, else copy the head of a neighbour", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
