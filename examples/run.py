#!/usr/bin/python3
"""Compiles and runs an example layer on generated data.

    examples/run.py NAME [--tokens T] [--batch B] [--threads N] [--check]
    examples/run.py --all [--tokens T] --check

--check compares with a float64 NumPy reference, token by token, written from the layer's formula:
error is max|x - ref| / max|ref| of the worst head, and must be at most 1e-5 for layers with f32
inputs, 2e-2 with bf16.
"""

import argparse
import pathlib
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "python"))

import layers
from linattn import numerics, runner

TOLERANCE = {"f32": 1e-5, "bf16": 2e-2}


def run(name, tokens, batch, check, threads=None, repeat=None):
    """Runs one layer and prints what it measured; returns True if the results are right."""
    layer = layers.make(name, batch, tokens)
    result = runner.run(FOLDER / f"{name}.mlir", layer.arguments, threads=threads,
                        guard=check and not repeat, repeat=repeat)
    good = True
    line = [f"{name}: batch {batch}, {tokens} tokens"]
    if check:
        start = time.monotonic()
        expected = layer.reference()
        seconds = time.monotonic() - start
        # The out is [B, T, H, V]; states are [B, H, ...].
        errors = [numerics.relative_error(x, y, heads=1 if i else 2)
                  for i, (x, y) in enumerate(zip(result.results, expected))]
        tolerance = TOLERANCE[layer.arguments[0][0]]
        good = len(errors) == len(expected) and max(errors) <= tolerance
        line += [f"error {errors[0]:.2e}, states {', '.join(f'{e:.2e}' for e in errors[1:])} "
                 f"({'ok' if good else 'TOO LARGE'}, limit {tolerance:g}; "
                 f"reference took {seconds:.1f} s)"]
    if result.milliseconds:
        line += [f"{1e3 * batch * tokens / result.milliseconds:.0f} tokens/s"]
    print("; ".join(line), flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=sorted(layers.LAYERS))
    parser.add_argument("--all", action="store_true", help="every layer, 256 tokens by default")
    parser.add_argument("--tokens", type=int, help="default: 4096")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, help="OpenMP threads (default: the runtime's)")
    parser.add_argument("--repeat", type=int, default=3, help="timed runs; 0 to skip the timing")
    parser.add_argument("--check", action="store_true", help="compare with the reference")
    options = parser.parse_args()
    if bool(options.name) == options.all:
        parser.error("expected one layer name or --all")
    if not runner.tool("la-run").exists():
        sys.exit(f"{runner.tool('la-run')} does not exist; build first: utils/dev build")
    names = list(layers.LAYERS) if options.all else [options.name]
    tokens = options.tokens if options.tokens is not None else 256 if options.all else 4096
    try:
        good = [run(name, tokens, options.batch, options.check, options.threads, options.repeat)
                for name in names]
    except runner.RunError as error:
        sys.exit(str(error))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
