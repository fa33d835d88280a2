"""Prints each causal system with its states, their classes and the error of what was compiled.

    python3 -m linattn.causal_systems [NAME ...] [--mlir]
"""

import argparse
import pathlib
import sys
import tempfile

from . import SYSTEMS
from .system import BOUND, arguments, error, printed_classes, reference, run, run_split


def measure(system, folder):
    """The classes that the compiler prints, and the largest error of all ways to run the system."""
    path = pathlib.Path(folder) / f"{system.name}.mlir"
    program = system.program()
    path.write_text(program.text())
    want = reference(system, program)
    runs = [run(path, arguments(program), chunk) for chunk in (0, 4, 16)]
    runs.append(run_split(path, program, 4, 11))
    return printed_classes(path, program), max(error(got, want) for got in runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="systems; default: all")
    parser.add_argument("--mlir", action="store_true", help="print the programs instead")
    options = parser.parse_args()
    names = options.names or list(SYSTEMS)
    if options.mlir:
        print("\n".join(SYSTEMS[name].program().text() for name in names))
        return
    failed = False
    print(f"{'system':26}{'error':>9}{'bound':>9}  states [what the compiler says instead]")
    for name in names:
        system = SYSTEMS[name]
        with tempfile.TemporaryDirectory() as folder:
            printed, worst = measure(system, folder)
        failed |= not worst <= BOUND or printed != system.classes
        states = [f"{state} {word}" + (f" [{printed[state]}]" if printed[state] != word else "")
                  for state, word in system.classes.items()]
        print(f"{name:26}{worst:9.1e}{BOUND:9.0e}  {', '.join(states)}", flush=True)
    sys.exit(failed)


main()
