"""Checks the results of random.mlir: runs a (seed 1), b (seed 1, another range), c (seed 2)."""

import numpy as np


def load(name):
    x = np.load(name + ".npy")
    if x.dtype == "V2":
        return (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return x


a0, a1, a2, a3 = (load(f"a{i}") for i in range(4))
assert (a0 == load("b0")).all() and (a0 != load("c0")).mean() > 0.99
for x in (a0, a1):  # uniform in [-1, 1): mean 0, standard deviation 0.577
    assert -1 <= x.min() < -0.98 and 0.98 < x.max() <= 1
    assert abs(x.mean()) < 0.06 and abs(x.std() - 0.577) < 0.03
assert np.abs(a0 - a1).max() > 1
b1 = load("b1")
assert 5 <= b1.min() < 5.1 and 5.9 < b1.max() <= 6
assert (load("c1") == -np.inf).all()
assert a2.dtype == np.int8 and set(a2) == set(range(-3, 4))  # both ends included
assert a3.dtype == np.bool_ and 400 < a3.sum() < 600
