#!/usr/bin/python3
"""Add up JUnit reports (lit and pytest both write them) and end with `N passed, M failed, K skipped`.

Exits with 1 unless something passed and nothing failed. A report that is missing or broken counts as one failure:
its runner died before it could write it.
"""

import argparse
import sys
import xml.etree.ElementTree as ElementTree

MOST_NAMES = 40


def read_report(path):
    """Returns (passed, names of the failed tests, skipped) of one report."""
    passed, failed, skipped = 0, [], 0
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(f"{case.get('classname', '')} {case.get('name', '')}".strip())
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", nargs="+", help="JUnit XML files")
    parser.add_argument("--passed", type=int, default=0, help="further passes, counted by the caller")
    parser.add_argument("--failed", action="append", default=[], help="a further failure: its name")
    options = parser.parse_args()

    passed, failed, skipped = options.passed, list(options.failed), 0
    for path in options.reports:
        try:
            counts = read_report(path)
        except (OSError, ElementTree.ParseError) as error:
            failed.append(f"no report: {error}")
            continue
        passed += counts[0]
        failed += counts[1]
        skipped += counts[2]

    for name in failed[:MOST_NAMES]:
        print(f"FAILED: {name}")
    if len(failed) > MOST_NAMES:
        print(f"FAILED: and {len(failed) - MOST_NAMES} more, see {', '.join(options.reports)}")
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped", flush=True)
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
