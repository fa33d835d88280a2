"""One object file serves every number of tokens and every packing, in a bounded amount of memory.

The gated delta rule is compiled once, with dynamic numbers of tokens, sequences and heads, linked into a library of its own
(there is no compiler in it) and called with 1 to 512 tokens and with 50 random packings of 4096 tokens. A counter around
malloc sees all that a call allocates. What that is also stands in docs/Benchmarks.md."""

import ctypes
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from linattn import numerics, reference, runner

ROOT = pathlib.Path(__file__).parents[2]
HEADS, SIZE, TOKENS = 2, 64, 4096
CC = shutil.which("clang-22") or shutil.which("cc")

COUNTER = r"""
#include <malloc.h>
#include <stdlib.h>
void *__real_malloc(size_t), *__real_aligned_alloc(size_t, size_t);
void __real_free(void *);
static long now, most;
static void *count(void *p) {
  now += malloc_usable_size(p);
  most = now > most ? now : most;
  return p;
}
void *__wrap_malloc(size_t n) { return count(__real_malloc(n)); }
void *__wrap_aligned_alloc(size_t a, size_t n) { return count(__real_aligned_alloc(a, n)); }
void __wrap_free(void *p) { now -= p ? malloc_usable_size(p) : 0; __real_free(p); }
long most_bytes(void) { return most; }
long bytes_now(void) { return now; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The compiled function in a shared library, and the symbols that it takes from elsewhere."""
    if not CC or not runner.tool("la-compile").exists():
        pytest.skip("there is no C compiler, or la-compile is not built")
    folder = tmp_path_factory.mktemp("once")
    program = subprocess.run([sys.executable, ROOT / "benchmarks/program.py", "f", "gdn", "--size", str(SIZE),
                              "--packed"], capture_output=True, text=True, check=True).stdout
    (folder / "f.mlir").write_text(program)
    (folder / "counter.c").write_text(COUNTER)
    subprocess.run([runner.tool("la-compile"), folder / "f.mlir", "-o", folder / "f.o",
                    "--pipeline=builtin.module(linattn-to-cpu-pipeline{openmp=false})"], check=True)
    wrap = [f"-Wl,--wrap={name}" for name in ("malloc", "aligned_alloc", "free")]
    subprocess.run([CC, "-shared", "-fPIC", folder / "f.o", folder / "counter.c", *wrap, "-lm", "-o", folder / "f.so"],
                   check=True)
    symbols = subprocess.run(["nm", "-u", folder / "f.o"], capture_output=True, text=True, check=True).stdout
    return ctypes.CDLL(str(folder / "f.so")), set(symbols.replace("U", "").split())


class Call:
    """Calls the function; most: the most bytes that one call so far had allocated at a time."""

    def __init__(self, library):
        self.compiled = library

    def __call__(self, inputs, offsets, states):
        arrays = [np.ascontiguousarray(x, np.float32) for x in inputs]
        out, states = np.full_like(arrays[2], np.nan), np.array(states, np.float32)
        arrays += [np.array(offsets, np.int32), out, states]
        # A descriptor: two pointers, an offset, sizes, strides.
        descriptors = [np.array([x.ctypes.data, x.ctypes.data, 0, *x.shape, *(s // x.itemsize for s in x.strides)],
                                np.int64) for x in arrays]
        results = np.zeros(64, np.int64)
        self.compiled._mlir_ciface_f(*[ctypes.c_void_p(x.ctypes.data) for x in (results, *descriptors)])
        assert self.compiled.bytes_now() == 0 and results[1] == out.ctypes.data
        return out, states

    @property
    def most(self):
        return self.compiled.most_bytes()


def make(tokens, seed):
    rng = np.random.default_rng(seed)
    q, k, v = rng.standard_normal((3, tokens, HEADS, SIZE))
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    g, beta = -rng.random((tokens, HEADS)), rng.random((tokens, HEADS))
    return [np.float32(x) for x in (q / 8, k, v, g, beta)]


def random_offsets(rng):
    """Borders anywhere: sequences of one token, of none, and long ones."""
    borders = rng.integers(0, TOKENS + 1, rng.integers(1, 200))
    return [0, *sorted(borders), TOKENS]


def test_needs_no_compiler(library):
    assert library[1] <= {"malloc", "aligned_alloc", "free", "memcpy", "memset", "expf"}


def test_every_length_and_packing(library):
    call = Call(library[0])
    inputs = make(512, seed=1)
    start = np.random.default_rng(2).standard_normal((1, HEADS, SIZE, SIZE))
    # What the first tokens give does not depend on how many follow.
    want = reference.gated_delta_rule(*[np.float64(x)[None] for x in inputs], states=[np.float32(start)], every=1)
    first = 0
    for tokens in range(1, 513):
        out, state = call([x[:tokens] for x in inputs], [0, tokens], start)
        first = first or call.most
        assert numerics.relative_error(out, want.out[0, :tokens]) <= 1e-5
        assert numerics.relative_error(state[0], want.checkpoints[0][0][tokens - 1]) <= 1e-5

    rng = np.random.default_rng(3)
    inputs = make(TOKENS, seed=4)
    for packing in range(50):
        offsets = random_offsets(rng)
        states = rng.standard_normal((len(offsets) - 1, HEADS, SIZE, SIZE))
        out, after = call(inputs, offsets, states)
        assert np.isfinite(out).all() and np.isfinite(after).all()
        if packing % 10 == 0:
            want = reference.gated_delta_rule(*[np.float64(x)[None] for x in inputs], states=[np.float32(states)],
                                              cu_seqlens=offsets)
            assert numerics.relative_error(out, want.out[0]) <= 1e-5
            assert numerics.relative_error(after, want.states[0]) <= 1e-5
    # No call needs more than the very first one, which had a single token (malloc rounds up now and then).
    assert call.most <= first + 64
    stated = int(re.search(r"at most (\d+) bytes of heap", (ROOT / "docs/Benchmarks.md").read_text()).group(1))
    assert call.most <= stated, call.most
