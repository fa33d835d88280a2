"""Calls la-run: compile a function of an .mlir file, run it on arrays, read the results back."""

import os
import pathlib
import re
import subprocess
import tempfile
from dataclasses import dataclass

from . import numerics

_ROOT = pathlib.Path(__file__).resolve().parents[2]


def tool(name):
    """Path of a built tool: in $LINATTN_BUILD_DIR/bin, by default build/bin of this checkout."""
    build = pathlib.Path(os.environ.get("LINATTN_BUILD_DIR", _ROOT / "build"))
    return build / "bin" / name


@dataclass
class Run:
    """results: float64 (or integer) arrays; milliseconds: median of the timed runs, or None."""

    results: list
    milliseconds: float
    text: str


class RunError(RuntimeError):
    """la-run failed; the message has the command and all that it printed."""


def call(arguments, folder=None):
    """Runs la-run with these arguments, in a folder; returns what it printed."""
    command = [str(tool("la-run")), *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    if done.returncode:
        place = f"cd {folder}; " if folder else ""
        raise RunError(f"{place}{' '.join(command)}\nexit status {done.returncode}\n{done.stdout}")
    return done.stdout


def chunk_ir(path, chunk=8):
    """The file after linattn-chunk, and the reasons of its remarks where it did nothing."""
    command = [tool("la-opt"), path, f"--linattn-chunk=chunk={chunk} subchunk=4",
               "--remark-format=emitRemark", "--remarks-filter-missed=linattn-chunk"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise RunError(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout, re.findall(r"\[Missed\].*", done.stderr)


def pipeline(chunk=0, subchunk=16, strategy="chunk", precision="f32", target=""):
    """The option of la-run for code that runs token by token or, for any number of tokens, in
    chunks; without it, la-run has the default plan: chunks, and the last tokens one by one.
    target: options of the pipeline."""
    plan = f"chunk={chunk} subchunk={subchunk} strategy={strategy} operand-precision={precision}"
    passes = [f"linattn-chunk{{{plan}}}"] if chunk else []
    passes += [f"linattn-to-cpu-pipeline{{chunk=0 {target}}}"]
    return f"--pipeline=builtin.module({','.join(passes)})"


def run(path, arguments, function=None, guard=False, threads=None, repeat=None, options=()):
    """path: an .mlir file. arguments: (element type, array) in order."""
    with tempfile.TemporaryDirectory() as folder:
        flags = [path, "--out", f"{folder}/out", *options]
        for i, (element, x) in enumerate(arguments):
            file = f"{folder}/arg{i}.npy"
            numerics.save_npy(file, numerics.encode(x, element), element)
            flags += ["--arg", file]
        flags += ["--function", function] if function else []
        flags += ["--guard"] if guard else []
        flags += ["--threads", threads] if threads else []
        flags += ["--repeat", repeat] if repeat else []
        text = call(flags)
        count = len(re.findall(r"^result \d+:", text, re.MULTILINE))
        results = [numerics.load_npy(f"{folder}/out{i}.npy") for i in range(count)]
    median = re.search(r"median ([\d.e+-]+) ms", text)
    return Run(results, float(median.group(1)) if median else None, text)
