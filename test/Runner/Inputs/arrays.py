"""Writes the arrays of one test into the current folder: arrays.py 'name = numpy expression' ..."""

import sys

import numpy as np


def bf16(values):
    """The upper halves of float32 numbers (truncated), as NumPy stores bfloat16: type <V2."""
    bits = np.asarray(values, np.float32).view(np.uint32) >> 16
    return bits.astype(np.uint16).view("V2")


names = {"np": np, "bf16": bf16}
for assignment in sys.argv[1:]:
    name, expression = assignment.split(" = ", 1)
    names[name] = np.asanyarray(eval(expression, names))
    np.save(name + ".npy", names[name])
