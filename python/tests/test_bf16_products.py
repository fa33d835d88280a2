"""Matrix products whose operands are rounded to bf16, against float64 token by token, as f32
multiply-adds and as dot instructions."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from linattn import cases, numerics, numerics_table, runner
from linattn.cases import Case

BODIES = ("scalar-decay", "gla", "gated-delta", "kda", "dplr")
OTHERS = ("linear", "rwkv6", "normalised", "mamba2", "delta", "comba", "eda", "gated-oja", "iplr",
          "hla", "running-mean")

# key, value, tokens, chunk, diagonal blocks
SHAPES = ((128, 128, 40, 16, 8), (60, 100, 33, 8, 8), (100, 60, 37, 32, 8), (8, 8, 17, 16, 4),
          (1, 8, 9, 8, 4), (8, 1, 9, 8, 4), (7, 13, 23, 7, 3))
FULL = bool(os.environ.get("LINATTN_FULL_TESTS"))

# Extended on the way to multiply-adds, for registers of 512 and of 256 bits; dot instructions.
TARGETS = {"fma": "", "fma256": "vector-bits=256", "dot": "bf16-dot",
           "dot256": "bf16-dot vector-bits=256"}


def options(target):
    info = pathlib.Path("/proc/cpuinfo")
    if "dot" in target and (os.environ.get("LINATTN_CPU") or not info.exists()
                            or " avx512_bf16" not in info.read_text()):
        pytest.skip("this CPU has no dot instruction for bf16 (avx512_bf16), or another one was asked for")
    return TARGETS[target]


def error(case, folder, precision="bf16", chunk=16, subchunk=8, target="dot"):
    """Of the worst result and head."""
    program = cases.build(case)
    path = folder / "case.mlir"
    path.write_text(program.text)
    plan = runner.pipeline(chunk, subchunk, "chunk", precision, options(target))
    run = runner.run(path, program.args, guard=True, threads=1, options=[plan])
    heads = [{"bhtd": 1, "packed": 1}.get(case.layout, 2)] + [1] * (len(program.expected) - 1)
    return max(numerics.relative_error(got, want, heads=axis)
               for got, (_, want), axis in zip(run.results, program.expected, heads, strict=True))


def case(body, key=60, value=100, tokens=33, **what):
    return Case(body, key=key, value=value, tokens=tokens,
                **{"heads": 2, "batch": 1, "dtype": "bf16", **what})


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("body", BODIES if FULL else BODIES[1:3])
def test_targets(body, target, tmp_path, la_run):
    assert error(case(body), tmp_path, target=target) <= numerics.contract("bf16")


@pytest.mark.parametrize("key, value, tokens, chunk, subchunk", SHAPES)
@pytest.mark.parametrize("body", BODIES if FULL else BODIES[:1] + BODIES[3:4])
def test_shapes(body, key, value, tokens, chunk, subchunk, tmp_path, la_run):
    found = error(case(body, key, value, tokens), tmp_path, "bf16", chunk, subchunk)
    assert found <= numerics.contract("bf16")


@pytest.mark.parametrize("body", OTHERS)
def test_other_bodies(body, tmp_path, la_run):
    assert error(case(body, 20, 24), tmp_path) <= numerics.contract("bf16")


LAYOUTS = ({"orient": "VK"}, {"layout": "packed"}, {"layout": "fused"}, {"reverse": True},
           {"group": "floordiv"}, {"every": 16}, {"tokens": 0}, {"tokens": 1})


@pytest.mark.parametrize("what", LAYOUTS, ids=str)
@pytest.mark.parametrize("body", ("gla", "gated-delta"))
def test_layouts(body, what, tmp_path, la_run):
    assert error(case(body, 20, 24, **{"tokens": 37, **what}), tmp_path) <= numerics.contract("bf16")


@pytest.mark.parametrize("dtype", ("f32", "f16"))
@pytest.mark.parametrize("body", BODIES)
def test_wider_inputs(body, dtype, tmp_path, la_run):
    """What the plan asks for, whatever the inputs: the bound is that of bf16, and it is needed."""
    found = error(case(body, dtype=dtype), tmp_path)
    assert 1e-4 < found <= numerics.contract("bf16")


def test_f64_is_never_rounded(tmp_path, la_run):
    assert error(case("gated-delta", dtype="f64"), tmp_path) <= numerics.contract("f64")


@pytest.mark.parametrize("body", BODIES)
def test_all_products(body, tmp_path, la_run):
    """Random unit keys do not amplify errors, so that the bound of bf16 holds here as well."""
    assert error(case(body), tmp_path, "all_bf16") <= numerics.contract("bf16")


@pytest.mark.parametrize("form", ("gated-delta", "kda"))
def test_amplified_errors(form, tmp_path, la_run):
    """Where keys repeat and are erased twice over, rounding everything is beyond the bound, but what
    a plan of bf16 rounds is not."""
    heads = numerics_table.grid(form, ("0.0", "-0.01", numerics_table.ALTERNATING), (1.0, 2.0))
    shares = {precision: max(entry.share for entry in numerics_table.measure(
                  form, "bf16", (16,), heads, tmp_path,
                  plan=(8, "chunk", precision, options("dot"))))
              for precision in ("bf16", "all_bf16")}
    assert shares["bf16"] <= 1 < shares["all_bf16"]


def test_the_solve_keeps_its_digits(tmp_path, la_run):
    """The state of a delta rule does not depend on what reads for outputs are rounded to."""
    program = cases.build(case("gated-delta", dtype="f32"))
    path = tmp_path / "case.mlir"
    path.write_text(program.text)
    for precision, low, high in (("bf16", 0, 1e-5), ("all_bf16", 1e-4, 2e-2)):
        plan = runner.pipeline(16, 8, "chunk", precision, options("dot"))
        state = runner.run(path, program.args, options=[plan]).results[1]
        assert low <= numerics.relative_error(state, program.expected[1][1], heads=1) <= high


@pytest.mark.parametrize("precision, products", (("f32", 0), ("bf16", 1), ("all_bf16", 6)))
def test_products_become_dots(precision, products, tmp_path, la_run):
    """Of a delta rule: what outputs read of the old state; all but the solve: what they see of the
    chunk (bracket and sum), the erase's read and bracket, and the new state, too."""
    path = tmp_path / "case.mlir"
    path.write_text(cases.build(case("gated-delta")).text)
    plan = runner.pipeline(16, 8, "chunk", precision, TARGETS["dot"])
    done = subprocess.run([runner.tool("la-opt"), path, plan.replace("--pipeline", "--pass-pipeline"),
                           "--mlir-print-ir-after=linattn-pack-pairs", "-o", os.devnull],
                          capture_output=True, text=True, check=True)
    pairs = done.stdout + done.stderr
    packed = sum("linalg.generic" in line and "i32>, tensor" in line for line in pairs.splitlines())
    brackets = sum("linalg.generic" in line and "reduction" in line and "bf16>, tensor" in line
                   for line in pairs.splitlines())
    assert packed + brackets == 2 * products  # of whole chunks, and of the last one


@pytest.mark.skipif(not shutil.which("clang-22"), reason="clang-22 is not installed")
def test_dots_stay_in_registers(tmp_path, la_run):
    """Blocks of 16 sums and more, in whole registers, none of which comes from or goes to the stack."""
    path, lowered, code = (tmp_path / f"case.{end}" for end in ("mlir", "llvm.mlir", "ll"))
    path.write_text(cases.build(case("scalar-decay", 128, 128)).text)
    plan = runner.pipeline(16, 8, "chunk", "bf16", TARGETS["dot"]).replace("--", "--pass-")
    clang = pathlib.Path(shutil.which("clang-22")).resolve()
    subprocess.run([runner.tool("la-opt"), path, plan, "-o", lowered], check=True)
    subprocess.run([clang.parent / "mlir-translate", "--mlir-to-llvmir", lowered, "-o", code],
                   check=True)
    assembly = subprocess.run([clang, "-O3", "-march=sapphirerapids", "-Wno-override-module", "-S",
                               code, "-o", "-"], capture_output=True, text=True, check=True).stdout
    blocks = [block for block in re.split(r"\n\.LBB\w+:|\n# %bb", assembly)
              if block.count("vdpbf16ps") >= 16]
    assert len(blocks) >= 3  # the read, the sum and the new state
    for block in blocks:
        assert not re.search(r"vdpbf16ps.*[xy]mm|zmm.*(Spill|Reload)", block)
