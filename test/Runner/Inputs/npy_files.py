"""Writes the good and bad files of npy.mlir into the current folder."""

import pathlib
import struct

import numpy as np

x = np.arange(6, dtype="f4").reshape(2, 3)
np.save("f4.npy", x)
np.save("fortran.npy", np.asfortranarray(np.arange(4, dtype="f4").reshape(2, 2)))
for version, array in ((2, np.array([1.0, 2.0])), (3, np.int16([1, -2]))):
    with open(f"v{version}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=(version, 0))
np.save("bf16.npy", np.uint16([0x3FC0]).view("V2"))
np.save("bool.npy", np.array([True, False]))
np.save("scalar.npy", np.uint64(2**64 - 1))
np.save("empty.npy", x[:0].reshape(0, 3))


def write(name, header, data=x.tobytes(), version=1, length=None):
    raw = header.encode()
    length = len(raw) if length is None else length
    pathlib.Path(name).write_bytes(
        b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", length) + raw + data)


def fields(descr="'<f4'", order="False", shape="(2, 3)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


pathlib.Path("nothing").write_bytes(b"")
pathlib.Path("magic").write_bytes(b"PK\3\4" + bytes(100))
pathlib.Path("ends").write_bytes(b"\x93NUMPY\1")
pathlib.Path("short").write_bytes(b"\x93NUMPY\2\0\x76\0\0")
write("version", fields(), version=4)
write("length", fields(), length=65535)
write("cut", fields(), x.tobytes()[:-1])
write("long", fields(), x.tobytes() + b"\0")
write("big", fields("'>f4'"))
write("complex", fields("'<c8'"))
write("record", fields("[('a', '<f4')]"))
write("negative", fields(shape="(-1,)"))
write("huge", fields(shape="(4611686018427387904, 4)"))
write("many", fields(shape="(" + "1, " * 65 + ")"))
write("order", fields(order="true"))
write("twice", fields(shape="(2, 3), 'shape': (2, 3)"))
write("missing", "{'descr': '<f4'}")
write("zeros", fields(shape="(02, 3)"))
write("word", "{'descr' '\a\33[31m'}")
write("tail", fields() + "x")
