#!/usr/bin/env python3
"""Feeds damaged .npy files to `la-run --check-npy`: it may refuse them, it may not crash.

Each batch of files goes to one process. A death by a signal, a sanitizer's report, or a missing
line for a file is a failure; the files of that batch are kept and the guilty one is named.
"""

import argparse
import io
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np

DESCRS = ["<f4", "<f8", "<f2", "<V2", "|V2", "<u2", "|b1", "|i1", "<i8", ">f4", "<c8", "|O", "<U5",
          "|S7", "<M8[ns]", "f4", "", "<f", "<f16", "<f4" * 50, "\u00e9", "\x00", "|V0"]
SIZES = ["0", "1", "2", "-1", "-0", "3", "1000000", str(2**31), str(2**32 + 1), str(2**62),
         str(2**63 - 1), str(2**63), str(2**64), "9" * 400, "007", "1_0", "2L", "1.5", "True",
         "(2,)", "0x10", "+3", "", "nan"]
VALUES = ["True", "False", "true", "0", "None", "'x'", "(", "[]", "{}", "\u2028", "False,,"]


def header(rng):
    """A header of the right kind whose fields are often wrong."""
    shape = ", ".join(rng.choice(SIZES) for _ in range(rng.choice([0, 1, 1, 2, 3, 5, 40, 100])))
    comma = rng.choice(["", ",", ",", ",,"])
    fields = [f"'descr': '{rng.choice(DESCRS)}'", f"'fortran_order': {rng.choice(VALUES[:3])}",
              f"'shape': ({shape}{comma})"]
    if rng.random() < 0.2:
        fields.append(f"'extra': {rng.choice(VALUES)}")
    if rng.random() < 0.1:
        fields[rng.randrange(3)] = fields[rng.randrange(3)]
    if rng.random() < 0.2:
        fields[0] = "'descr': " + rng.choice(["[('a', '<f4')]", "{" * 3000, "[" * 20000, "'", '"<f4"'])
    rng.shuffle(fields)
    return rng.choice(["{", "{", "{", "", "{{", "("]) + ", ".join(fields) + rng.choice(["}", ", }", "", "}}"])


def encode(rng, text):
    """A file with this header: sometimes of another version, with a wrong length or wrong data."""
    raw = (text + " " * rng.randrange(20) + rng.choice(["\n", ""])).encode("utf-8")
    major = rng.choice([1, 1, 2, 3, 0, 4, 255])
    length = rng.choice([len(raw)] * 6 + [0, 1, len(raw) + 1, 0xFFFF, 0xFFFFFFFF])
    packed = struct.pack("<H", length & 0xFFFF) if major == 1 else struct.pack("<I", length)
    data = rng.choice([b"", bytes(16), bytes(24), bytes(1000)])
    return b"\x93NUMPY" + bytes([major, rng.choice([0, 0, 0, 1])]) + packed + raw + data


def valid(rng):
    """A file that NumPy itself wrote."""
    shape = tuple(rng.randrange(5) for _ in range(rng.randrange(4)))
    dtype = rng.choice(["f4", "f8", "f2", "V2", "u2", "?", "i1", "i8", "u4"])
    x = np.frombuffer(rng.randbytes(8 * 64), np.uint8)[:int(np.prod(shape)) * np.dtype(dtype).itemsize]
    x = x.view(dtype).reshape(shape)
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asfortranarray(x) if rng.random() < 0.3 else x,
                              version=rng.choice([(1, 0), (2, 0), (3, 0)]))
    return file.getvalue()


def mutate(rng, data):
    """Truncates, flips, repeats or splices bytes."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            del data[at:]
        elif kind == 1 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2 and at < len(data):
            data[at] = rng.choice(b"\x00\xff(){}[]'\":,-0919 \n")
        elif kind == 3:
            data[at:at] = rng.randbytes(rng.randrange(20))
        elif kind == 4:
            data[at:at] = rng.choice(SIZES).encode()
        else:
            del data[at:at + rng.randrange(8)]
    return bytes(data)


def make(rng):
    kind = rng.random()
    if kind < 0.5:
        return mutate(rng, valid(rng))
    if kind < 0.95:
        return encode(rng, header(rng))
    return rng.choice([b"", b"\x93NUMPY", rng.randbytes(rng.randrange(200)), valid(rng)])


def judge(command, files, contents):
    """Runs one batch; returns (number of files read, what went wrong or None)."""
    done = subprocess.run([command, "--check-npy", *files], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600)
    output, errors = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if done.returncode not in (0, 1) or re.search(r"Sanitizer|runtime error:", errors):
        return 0, f"exit status {done.returncode}\n{errors[-3000:]}"
    lines = output.splitlines()
    if len(lines) != len(files):
        return 0, f"{len(files)} files gave {len(lines)} lines"
    read = 0
    for file, content, line in zip(files, contents, lines):
        if line.startswith("error: "):
            continue
        read += 1
        # What was read must be what NumPy reads.
        try:
            x = np.load(io.BytesIO(content))
        except Exception as error:  # NumPy names no common base for what it raises here
            return 0, f"{file}: read, but NumPy says: {error}\n{line}"
        shape = f"[{','.join(map(str, x.shape))}]"
        if f" {shape} " not in line:
            return 0, f"{file}: NumPy reads the shape {shape}\n{line}"
    return read, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--la-run", required=True, help="path of the tool")
    parser.add_argument("--count", type=int, default=10000, help="number of files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=500, help="files per process")
    options = parser.parse_args()

    rng = random.Random(options.seed)
    total = read = 0
    with tempfile.TemporaryDirectory() as folder:
        while total < options.count:
            contents = [make(rng) for _ in range(min(options.batch, options.count - total))]
            files = []
            for i, content in enumerate(contents):
                files.append(str(pathlib.Path(folder, f"{i}.npy")))
                pathlib.Path(files[-1]).write_bytes(content)
            good, problem = judge(options.la_run, files, contents)
            if problem:
                for file, content in zip(files, contents):
                    _, single = judge(options.la_run, [file], [content])
                    if single:
                        kept = f"fuzz-npy-{options.seed}.npy"
                        pathlib.Path(kept).write_bytes(content)
                        problem = f"{single}\nkept as {kept}"
                        break
                sys.exit(f"after {total} files: {problem}")
            total, read = total + len(files), read + good
    print(f"{total} files, {read} read, {total - read} refused, none crashed")


if __name__ == "__main__":
    main()
