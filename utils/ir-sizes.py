#!/usr/bin/python3
"""Show how large a program is after each stage of the compiler: operations, lines, and the dialects that it uses.

Runs la-opt once with a pipeline and reads the IR that it prints after every pass that changed something.
"""

import argparse
import collections
import os
import re
import subprocess
import sys

# Generic form: one operation per line, its name in quotes before the operands.
OPERATION = re.compile(r'^\s*(?:%[\w:, %#]+ = )?"(\w+)\.[\w.]+"[ (<]', re.MULTILINE)
DUMP = re.compile(r"^// -----// IR Dump After \S+ \((.*?)\) ?.*?//----- //$", re.MULTILINE)


def size_of(generic_ir):
    """Returns (operations, non-empty lines, {dialect: operations}) of IR in generic form."""
    dialects = collections.Counter(OPERATION.findall(generic_ir))
    lines = sum(1 for line in generic_ir.split("\n") if line.strip() and not line.startswith("#"))
    return sum(dialects.values()), lines, dialects


def run(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        errors = [line for line in result.stderr.split("\n") if "error: " in line or line.startswith("PLEASE")]
        sys.exit("\n".join([f"ir-sizes: failed: {' '.join(command)}", *errors[:10]]))
    return result.stdout, result.stderr


def stages(la_opt, pipeline, path):
    """Returns [(stage name, generic IR)], the input first; consecutive dumps of one pass count once."""
    generic, _ = run([la_opt, path, "--mlir-print-op-generic"])
    found = [("input", generic)]
    _, dumps = run([la_opt, path, pipeline, "-o", os.devnull, "--mlir-print-ir-after-all", "--mlir-print-ir-after-change",
                    "--mlir-print-op-generic",
                    "--mlir-print-ir-module-scope", "--mlir-disable-threading"])
    parts = DUMP.split(dumps)
    for flag, text in zip(parts[1::2], parts[2::2]):
        flag = flag.split("{")[0].strip()
        if found[-1][0] == flag:
            found.pop()
        found.append((flag, text))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="an .mlir file")
    parser.add_argument("--la-opt", default="build/bin/la-opt", help="the tool (default: %(default)s)")
    parser.add_argument("--pipeline", default="--linattn-to-cpu-pipeline", help="flag of it (default: %(default)s)")
    parser.add_argument("--all", action="store_true", help="every pass that changed the IR, not only the main stages")
    options = parser.parse_args()

    found = stages(options.la_opt, options.pipeline, options.file)
    last = len(found) - 1
    print(f"{'stage':32} {'operations':>10} {'lines':>7}  dialects")
    for index, (name, text) in enumerate(found):
        if options.all or index in (0, last) or name.startswith("linattn-") or name == "one-shot-bufferize":
            operations, lines, dialects = size_of(text)
            label = f"{name} (end)" if index == last else name
            most = ", ".join(f"{dialect} {count}" for dialect, count in dialects.most_common(4))
            print(f"{label:32} {operations:10} {lines:7}  {most}")


if __name__ == "__main__":
    main()
