"""Code for CPUs with fewer and smaller registers than this machine's: every operator, every plan.

LINATTN_CPU=x86-64-v3 before a test run does the same to all other tests."""

import platform

import pytest

from linattn import cases, numerics, runner
from linattn.bodies import BODIES

# None: what la-run does by default, chunks and the last tokens one by one.
PLANS = [None, (0, 0, "token"), (16, 8, "chunk"), (4, 4, "sweep")]
# Rows that are no multiple of a register, of 128 bits to 512.
SIZE = dict(tokens=21, batch=1, heads=2, key=20, value=37)
RUNS = [("x86-64-v3", body, PLANS[i % 4]) for i, body in enumerate(BODIES)]
RUNS += [("x86-64-v3", "gated-delta", plan) for plan in PLANS]
RUNS += [("x86-64-v2", body, None) for body in ("gla", "gated-delta", "dplr")]

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the CPUs are x86-64's")


def run(case, plan, folder):
    program = cases.build(case)
    path = folder / "case.mlir"
    path.write_text(program.text)
    options = [runner.pipeline(*plan)] if plan else []
    done = runner.run(path, program.args, guard=True, threads=1, options=options)
    for got, (_, want) in zip(done.results, program.expected, strict=True):
        assert numerics.relative_error(got, want) <= program.tolerance


@pytest.mark.parametrize("cpu, body, plan", RUNS, ids=str)
def test_operators(cpu, body, plan, tmp_path, la_run, monkeypatch):
    monkeypatch.setenv("LINATTN_CPU", cpu)
    run(cases.Case(body, dtype="f32", **SIZE), plan, tmp_path)


@pytest.mark.parametrize("features", ["-avx512bf16,-amx-bf16", "+prefer-256-bit"])
def test_features(features, tmp_path, la_run):
    """This machine with less; bf16 is converted by instructions or by arithmetic."""
    case = cases.Case("gated-delta", dtype="bf16", **SIZE)
    program = cases.build(case)
    path = tmp_path / "case.mlir"
    path.write_text(program.text)
    done = runner.run(path, program.args, options=[f"--features={features}"])
    for got, (_, want) in zip(done.results, program.expected, strict=True):
        assert numerics.relative_error(got, want) <= program.tolerance


def test_the_variable_counts(tmp_path, la_run, monkeypatch):
    monkeypatch.setenv("LINATTN_CPU", "no-such-cpu")
    with pytest.raises(runner.RunError, match="LLVM knows no CPU 'no-such-cpu'"):
        run(cases.Case("linear", dtype="f32", **SIZE), None, tmp_path)
