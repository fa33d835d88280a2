"""Writes a small .npy file from the command line, for tests.

    python3 -m linattn.npy FILE TYPE SHAPE VALUE...

TYPE is f64, f32, f16, bf16, i64 or i32; SHAPE is like 2x1x3; one value fills the array.
"""

import sys

import numpy as np

from . import numerics


def main(arguments):
    path, element, shape, *values = arguments
    shape = [int(size) for size in shape.split("x")]
    x = np.array([float(value) for value in values])
    x = np.broadcast_to(x, shape) if x.size == 1 else x.reshape(shape)
    numerics.save_npy(path, numerics.encode(x, element), element)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(sys.argv[1:])
