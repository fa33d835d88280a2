"""Prints the table of the numerics items, and which of them are no input of a program.

    python3 -m linattn.numerics_items [NUMBER ...]
"""

import argparse
import sys
import tempfile

from . import ELSEWHERE, ITEMS
from .item import row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("numbers", nargs="*", type=int, help="items; default: all")
    numbers = parser.parse_args().numbers
    chosen = [item for item in ITEMS if not numbers or item.number in numbers]
    failed = False
    print("| item | input | program | chunk | error | bound |\n|---|---|---|---|---|---|")
    for item in sorted(chosen, key=lambda item: item.number):
        with tempfile.TemporaryDirectory() as folder:
            for plan, name, error, bound in item.measure(folder):
                failed |= not error <= bound
                print(row(item, plan, name, error, bound), flush=True)
    if not numbers:
        print("\nNo input of a program:\n")
        print("\n".join(f"- {number}: {why}" for number, why in ELSEWHERE.items()))
    sys.exit(failed)


main()
