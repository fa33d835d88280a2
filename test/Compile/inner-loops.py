# RUN: %python %s
# REQUIRES: x86_64
"""The innermost loops of the examples: multiply-adds on whole registers, and what spills today.

For each example and target the largest number of spills of vectors in one innermost loop; none where the table says
nothing. What spills are polynomials (log and exp of entries need more constants and values than there are registers) and,
on AVX2 and NEON, trees of shuffles that add the lanes of dot products; on AVX2 the write that decays from token to token
(16 registers of it for 128 channels); on NEON products of matrices, a little. No product of matrices does on x86-64.
A smaller number than the table's is progress: then lower it there.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "utils"))

import inner_loops

# register kind: the flags, what the largest loop without spills has at least, and who spills how much
TARGETS = {
    "zmm": ("--triple=x86_64-linux-gnu --cpu=x86-64-v4", 16, {"gla": 18, "kda": 8}),
    "ymm": ("--triple=x86_64-linux-gnu --cpu=x86-64-v3", 16,
            {"mamba2": 2, "gla": 80, "kda": 29, "rwkv7": 5, "rwkv6": 5}),
    "v": ("--triple=aarch64-linux-gnu --cpu=neoverse-n1", 16,
          {"mamba2": 14, "gla": 82, "kda": 34, "gated_delta_net": 12, "rwkv7": 20, "rwkv6": 25, "retnet": 12,
           "linear_attention": 7}),
}
EXAMPLES = ["mamba2", "gla", "gated_delta_net", "kda", "rwkv7", "rwkv6", "retnet", "linear_attention"]

compiler = pathlib.Path(os.environ["LINATTN_BUILD_DIR"]) / "bin" / "la-compile"
bad = []
for width, (flags, fmas, spills) in TARGETS.items():
    for example in EXAMPLES:
        command = [compiler, ROOT / "examples" / f"{example}.mlir", *flags.split(), "--emit=asm"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if "LLVM has no 64-bit target" in done.stderr:
            print(f"{width} is not checked: this LLVM has no backend for {flags}")
            break
        assert done.returncode == 0, done.stderr
        loops = [loop for loop in inner_loops.inner_loops(done.stdout) if loop.fmas]
        bad += [f"{example}: {text}" for text in inner_loops.complaints(loops, width, spills.get(example, 0))]
        largest = max((loop.fmas for loop in loops if not loop.spills), default=0)
        if largest < fmas:
            bad.append(f"{example}: the largest loop without spills has {largest} {width} FMAs, expected {fmas}")
print("\n".join(bad))
sys.exit(1 if bad else 0)
