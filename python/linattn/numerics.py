"""Number formats, gate functions and the error measure of the numerics contract."""

import numpy as np

# Storage type of each MLIR element type. NumPy has no bfloat16: its bits are kept as uint16.
STORAGE = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "i64": np.int64,
    "i32": np.int32,
}


def to_bf16(x):
    """Any float array -> bf16 bits (uint16), round to nearest even; NaN stays NaN."""
    x = np.asarray(x)
    with np.errstate(over="ignore"):  # too large for float32: infinite in bf16 as well
        single = x.astype(np.float32)
    bits = single.view(np.uint32).astype(np.uint64)
    if x.dtype == np.float64:
        # The step through float32 may land on a bf16 tie that the float64 value is not on:
        # move one float32 ulp back towards the true value, so that the tie rule does not apply.
        tie = (bits & 0xFFFF) == 0x8000
        bits = np.where(tie & (np.abs(single) < np.abs(x)), bits + 1, bits)
        bits = np.where(tie & (np.abs(single) > np.abs(x)), bits - 1, bits)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    # Rounding a NaN could carry into the exponent and make it infinite or zero.
    quiet = ((bits >> 16) | 0x40) & 0xFFFF
    return np.where(np.isnan(single), quiet, rounded).astype(np.uint16)


def from_bf16(bits):
    """bf16 bits (uint16) -> float32, exact."""
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def encode(x, element_type):
    """Float or integer array -> the storage array of an MLIR element type."""
    return to_bf16(x) if element_type == "bf16" else np.asarray(x).astype(STORAGE[element_type])


def decode(stored, element_type):
    """Storage array -> float64 values (integers stay integers)."""
    if element_type == "bf16":
        return from_bf16(stored).astype(np.float64)
    return stored if element_type in ("i32", "i64") else np.asarray(stored, np.float64)


def save_npy(path, stored, element_type):
    """Write a storage array; bf16 gets the descriptor '<V2' that ml_dtypes also uses."""
    stored = np.array(stored, order="C")
    with open(path, "wb") as file:  # np.save(path) would append a suffix
        if element_type != "bf16":
            np.save(file, stored)
            return
        header = {"descr": "<V2", "fortran_order": False, "shape": stored.shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(stored.astype("<u2").tobytes())


def load_npy(path):
    """Read a .npy file as float64 (bf16 too) or integers."""
    array = np.load(path)
    if array.dtype.kind == "V" and array.dtype.itemsize == 2:
        return decode(array.view(np.uint16), "bf16")
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def relative_error(x, ref, heads=None):
    """max|x - ref| / max|ref|, with an axis `heads`: of the worst head.

    0 for empty arrays; inf if the shapes differ or x has a NaN."""
    x, ref = np.asarray(x, np.float64), np.asarray(ref, np.float64)
    if x.shape != ref.shape or np.isnan(x).any():
        return np.inf
    if x.size == 0:
        return 0.0
    others = tuple(axis for axis in range(x.ndim) if axis != heads)
    scale = np.max(np.abs(ref), axis=others)
    worst = np.max(np.abs(x - ref), axis=others)
    return float(np.max(worst / np.where(scale > 0, scale, 1)))


def head_errors(x, ref, axis):
    """relative_error of every head; the heads lie along `axis`."""
    x, ref = np.asarray(x), np.asarray(ref)
    if x.shape != ref.shape:
        return np.full(ref.shape[axis], np.inf)
    return np.array([relative_error(x.take(h, axis), ref.take(h, axis))
                     for h in range(ref.shape[axis])])


def contract(dtype, loop_error=0.0, chunk=0, rho=1.0):
    """The largest error that a result of a head may have. chunk = 0: code without chunks.

    loop_error: of float32 NumPy, token by token. rho: the largest ||(I - A)^-1||_inf of a chunk."""
    if dtype == "f32":
        return 2 * loop_error + 1e-6 + 2 * chunk * 2.0**-24 * rho
    return {"f64": 1e-12, "bf16": 2e-2, "f16": 2e-2}[dtype]


def sigmoid(x):
    """1 / (1 + e^-x), without overflow for any x."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


def logsigmoid(x):
    """log(sigmoid(x)) = min(x, 0) - log1p(e^-|x|)."""
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def softplus(x):
    """log(1 + e^x) = max(x, 0) + log1p(e^-|x|)."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def silu(x):
    """x * sigmoid(x)."""
    return x * sigmoid(x)


def elu1(x):
    """elu(x) + 1: x + 1 above 0, e^x below; always positive."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def l2norm(x, eps=1e-6):
    """x / sqrt(sum x^2 + eps) over the last axis; 0 maps to 0."""
    return x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) + eps)
