"""The functions of unusual-bodies.mlir against NumPy: token by token, for several sizes.

    unusual_bodies.py FILE

Sizes: B sequences of T tokens, K = 3 (key), V = 5 (value); a reference gets one sequence.
"""

import pathlib
import re
import sys
import tempfile

import numpy as np

from linattn import numerics, runner


def swap(k, v, a, b):
    outs = []
    for kt, vt in zip(k, v):
        a = a + np.outer(kt, vt)
        outs.append(kt @ a)
        a, b = b, a
    return outs, a, b


def shift_register(x, p, q):
    outs = []
    for xt in x:
        outs.append(xt + 2 * p + 4 * q)
        p, q = xt, p
    return outs, p, q


def cross_read(k, s, z):
    for kt in k:
        s, z = s / 2 + np.outer(kt, z), z / 2 + kt @ s
    return s, z


def late_read(k, v, s):
    outs = []
    for kt, vt in zip(k, v):
        before, s = s, s / 2 + np.outer(kt, vt)
        outs.append(kt @ s - kt @ before)
    return outs, s


def vector_and_flipped(k, v, s, z):
    outs, norms = [], []
    for kt, vt in zip(k, v):
        s = s * np.exp(kt) + np.outer(vt, kt)
        z = z * np.exp(kt) + kt
        outs.append(s @ kt)
        norms.append(z @ kt)
    return outs, norms, s, z


def dynamic_sizes(k, v, s):
    outs = []
    for kt, vt in zip(k, v):
        s = s / 2 + np.outer(vt, kt)
        outs.append(s @ kt)
    return outs, s


def matrix_addresses(k, v, s):
    outs = []
    for kt, vt in zip(k, v):
        s = s / 2 + kt.T @ vt
        outs.append(kt @ s)
    return outs, s


def complex_state(w, x):
    z, states = np.zeros(3, complex), []
    for wt, xt in zip(w, x):
        z = np.exp(-0.5 + 1j * wt) * z + xt
        states.append(z)
    return np.real(states), np.imag(states)


def decayed(k, v, s):
    outs = []
    for kt, vt in zip(k, v):
        s = np.exp(kt)[:, None] * s + np.outer(kt, vt)
        outs.append(kt @ s)
    return outs, s


def blocked_out(v, z):
    blocks = np.zeros((-(-len(v) // 4), 3, 4, 5))
    for t, vt in enumerate(v):
        z = z + vt
        blocks[t // 4, :, t % 4] = z
    return blocks.reshape(len(blocks), 60), z


def conditional(k, v, a, b):
    for kt, vt in zip(k, v):
        if kt[0] < -0.3:
            a, b = a + np.outer(kt, vt), a
    return a, b


# Shapes per token of the sequences, shapes of the states, shapes per row of the outs.
K, V, S = (3,), (5,), (3, 5)
PROGRAMS = {
    "swap": (swap, "f32", [K, V], [S, S], [V]),
    "shift_register": (shift_register, "f32", [V], [V, V], [V]),
    "cross_read": (cross_read, "f32", [K], [S, V], []),
    "late_read": (late_read, "f32", [K, V], [S], [V]),
    "vector_and_flipped": (vector_and_flipped, "f32", [K, V], [(5, 3), K], [V, ()]),
    "dynamic_sizes": (dynamic_sizes, "f32", [K, V], [(5, 3)], [V]),
    "matrix_addresses": (matrix_addresses, "f32", [(2, 3), (2, 5)], [S], [(2, 5)]),
    "complex_state": (complex_state, "f32", [K, K], [], [K, K]),
    "doubles": (decayed, "f64", [K, V], [S], [V]),
    "halves": (decayed, "f16", [K, V], [S], [V]),
    "conditional": (conditional, "f32", [K, V], [S, S], []),
    "blocked_out": (blocked_out, "f32", [(3, 5)], [(3, 5)], [(60,)]),
}
# (B, T); the last one is long enough for chunks.
SIZES = [(2, 7), (1, 1), (2, 0), (0, 7), (1, 70)]
TOLERANCE = {"f64": 1e-13, "f32": 1e-5, "f16": 2e-2}


def extract(text, name):
    """One function of the file with all map aliases: compiles faster than the whole file."""
    aliases = re.findall(r"^#.*$", text, re.MULTILINE)
    function = re.search(rf"^func.func @{name}\(.*?^}}$", text, re.MULTILINE | re.DOTALL)
    return "\n".join([*aliases, function.group(0), ""])


def check(path, name, batch, tokens):
    """Runs one program on one size; returns the largest relative error of its results."""
    reference, element, rows, states, outs = PROGRAMS[name]
    rng = np.random.default_rng(batch * 1000 + tokens)

    def draw(shape):
        # Negative: keys serve as log-decays too. Small: not all states decay.
        x = rng.uniform(-0.7, 0, shape)
        return numerics.decode(numerics.encode(x, element), element)

    arrays = [draw((batch, tokens, *shape)) for shape in rows] + [draw((batch, *shape)) for shape in states]
    got = runner.run(path, [(element, x) for x in arrays], function=name, guard=True).results
    expected = list(zip(*(reference(*parts) for parts in zip(*arrays))))
    if batch == 0:
        count = -(-tokens // 4) if name == "blocked_out" else tokens
        expected = [np.zeros((0, count, *shape)) for shape in outs] + [np.zeros((0, *s)) for s in states]
    assert len(got) == len(expected), f"{name}: {len(got)} results, expected {len(expected)}"
    shapes = [x.shape for x in got]
    return max(numerics.relative_error(x, np.reshape(y, shape))
               for x, y, shape in zip(got, expected, shapes))


def main():
    failures = 0
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    folder = tempfile.TemporaryDirectory()
    for name in PROGRAMS:
        path = pathlib.Path(folder.name, f"{name}.mlir")
        path.write_text(extract(text, name), encoding="utf-8")
        for batch, tokens in SIZES:
            try:
                error = check(path, name, batch, tokens)
                passed = error <= TOLERANCE[PROGRAMS[name][1]]
                message = "" if passed else f"relative error {error:.3g}"
            except runner.RunError as failure:
                passed, message = False, str(failure)
            if not passed:
                failures += 1
                print(f"{name}: B = {batch}, T = {tokens}: {message}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
