#!/usr/bin/python3
"""Check the layering rule: IR <- Analysis <- Transforms <- Conversion <- Pipelines <- tools.

Reads what each file includes (#include in C++, include in TableGen) and what each CMake target links, and prints every
edge that the table below does not allow, with its place. Exits with 1 if there is one.
"""

import argparse
import pathlib
import re
import sys

# What a layer may use. Its own files are always allowed, except that conversions never use each other.
IR = {"Utils"}
ANALYSIS = IR | {"IR"}
TRANSFORMS = ANALYSIS | {"Analysis"}
TRANSFORM_OPS = TRANSFORMS | {"Transforms"}
CONVERSION = TRANSFORMS | {"Transforms", "Target"}
COST_MODEL = ANALYSIS | {"Analysis", "Target"}
PIPELINES = CONVERSION | COST_MODEL | {"Conversion", "CostModel"}
RUNNER = PIPELINES | {"Pipelines"}
INIT_ALL = RUNNER | {"Runner", "TransformOps"}
ANYTHING = INIT_ALL | {"InitAll", "CAPI"}
ALLOWED = {
    "Utils": set(),
    "IR": IR,
    "Analysis": ANALYSIS,
    "Target": {"Utils"},
    "CostModel": COST_MODEL,
    "Transforms": TRANSFORMS,
    "TransformOps": TRANSFORM_OPS,
    "Conversion": CONVERSION,
    "Pipelines": PIPELINES,
    "Runner": RUNNER,
    "InitAll": INIT_ALL,
    "CAPI": {"IR", "InitAll"},
    # Above the libraries: they may use any, and no library may use them.
    "tools": ANYTHING - {"CAPI"},
    "benchmarks": ANYTHING,
    "unittests": ANYTHING,
    "test": ANYTHING,
    "examples": ANYTHING,
}
OUTSIDE = ["tools", "benchmarks", "unittests", "test", "examples", "python", "utils"]
SOURCES = {".h", ".cpp", ".c", ".td", ".inc"}

INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]')
TARGET = re.compile(r"\b(add_linattn_library|add_linattn_tool|add_library|add_executable"
                    r"|target_link_libraries)\s*\(\s*([\w-]+)([^)]*)\)")
OUTSIDE_PATH = re.compile(r"_SOURCE_DIR\}/(" + "|".join(OUTSIDE) + r")\b")


def layer_of(path):
    """The layer of a file (a path relative to the root), or None; conversions: 'Conversion/ToLoops'."""
    parts = path.parts
    if parts[0] in OUTSIDE:
        return parts[0]
    if parts[:2] == ("include", "linattn-c"):
        return "CAPI"
    if parts[:2] == ("include", "linattn"):
        parts = parts[2:]
    elif parts[0] == "lib":
        parts = parts[1:]
    else:
        return None
    if len(parts) == 1:  # include/linattn/InitAll.h
        return pathlib.PurePath(parts[0]).stem
    if parts[0] == "Conversion" and len(parts) > 2:
        return f"Conversion/{parts[1]}"
    return parts[0]


def violation(user, used):
    """The broken rule if layer `user` may not use layer `used`, else None."""
    user_kind, used_kind = user.split("/")[0], used.split("/")[0]
    # Conversion itself (Passes.h, Passes.td) is the index of all conversions.
    if user_kind == used_kind == "Conversion":
        if user == used or "Conversion" in (user, used):
            return None
        return "a conversion uses no other conversion; share code through lib/Transforms or lib/Utils"
    if user_kind == used_kind:
        return None
    if used_kind not in ALLOWED:
        return f"'{used_kind}' is not a layer that libraries may use"
    allowed = ALLOWED.get(user_kind)
    if allowed is None:
        return f"'{user_kind}' is not a layer; add it to the table in utils/check-layering.py"
    if used_kind in allowed:
        return None
    return f"{user_kind} may use only: {', '.join(sorted(allowed)) or 'nothing of linattn'}"


class Checker:
    def __init__(self, root):
        self.root = root
        self.edges = 0
        self.violations = []
        self.owner = {}  # CMake target -> layer

    def files(self, wanted):
        """Files of the checked folders, relative to the root."""
        for folder in ["include", "lib", *OUTSIDE[:5]]:
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file() and wanted(path):
                    yield path.relative_to(self.root)

    def edge(self, path, line, user, used, what):
        self.edges += 1
        rule = violation(user, used)
        if rule:
            self.violations.append(f"{path}:{line}: {user} uses {used} ({what}): {rule}")

    def check_includes(self, path):
        user = layer_of(path)
        for number, line in enumerate((self.root / path).read_text(encoding="utf-8").split("\n"), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match.group(1)
            if name.startswith(("linattn/", "linattn-c/")):
                used = layer_of(pathlib.PurePath("include", name))
            else:
                # A path relative to the file ("../IR/Private.h") must not get around the rule.
                target = (self.root / path.parent / name).resolve()
                if not target.is_file() or self.root not in target.parents:
                    if path.parts[:2] == ("include", "linattn-c") and "/" in name and not name.startswith("mlir-c/"):
                        self.violations.append(f"{path}:{number}: a C header includes only mlir-c/ and linattn-c/,"
                                               f" got '{name}'")
                    continue
                used = layer_of(target.relative_to(self.root))
            if used:
                self.edge(path, number, user, used, f'include "{name}"')

    def targets(self, path):
        """Yields (line, rule, target, arguments) of each target command in a CMakeLists.txt."""
        text = re.sub(r"#[^\n]*", "", (self.root / path).read_text(encoding="utf-8"))
        for match in TARGET.finditer(text):
            yield text[: match.start()].count("\n") + 1, match.group(1), match.group(2), match.group(3).split()

    def check_links(self, path):
        user = layer_of(path)
        for line, rule, target, arguments in self.targets(path):
            if rule == "target_link_libraries":
                used_names = arguments
            elif "LINK_LIBS" in arguments:
                used_names = arguments[arguments.index("LINK_LIBS") + 1 :]
            else:
                continue
            for name in used_names:
                if name in self.owner:
                    self.edge(path, line, self.owner.get(target, user), self.owner[name], f"{target} links {name}")
        if path.parts[0] in ("lib", "include"):
            for number, text in enumerate((self.root / path).read_text(encoding="utf-8").split("\n"), 1):
                match = OUTSIDE_PATH.search(text.split("#")[0])
                if match:
                    self.violations.append(f"{path}:{number}: libraries do not use {match.group(1)}/")

    def run(self):
        lists = list(self.files(lambda path: path.name == "CMakeLists.txt"))
        for path in lists:
            for _, rule, target, _ in self.targets(path):
                if rule != "target_link_libraries":
                    self.owner[target] = layer_of(path)
        for path in self.files(lambda path: path.suffix in SOURCES):
            self.check_includes(path)
        for path in lists:
            self.check_links(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    checker = Checker(parser.parse_args().root.resolve())
    checker.run()
    for violation_text in checker.violations:
        print(violation_text)
    if checker.violations:
        print(f"layering: {len(checker.violations)} forbidden uses; move the code to the layer that may use it, or to"
              " lib/Utils if it names no linattn op", file=sys.stderr)
        return 1
    print(f"layering: {checker.edges} uses checked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
