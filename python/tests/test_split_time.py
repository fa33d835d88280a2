"""Recurrences whose tokens are cut into parts that run in parallel, against NumPy."""

import re
import subprocess

import numpy as np
import pytest

from linattn import numerics, reference, runner
from linattn.bodies import BODIES
from linattn.cases import Case, build as build_case
from linattn.causal_systems.system import Step, System, arguments, error
from linattn.causal_systems.system import reference as system_reference
from linattn.unnamed_bodies import build

pytestmark = pytest.mark.usefixtures("la_run")
SIZES = dict(dtype="f64", batch=2, tokens=65, heads=2, key=6, value=5)
TOKENS = [0, 1, 7, 8, 9, 63, 64, 65, 200]
PARTS = [1, 2, 3, 8]
CASES = [Case(**{**SIZES, **options}) for options in [
    dict(body="linear"),
    dict(body="linear", dtype="bf16", heads=4, group="floordiv"),
    dict(body="scalar-decay", layout="bhtd", group="mod", heads=4),
    dict(body="scalar-decay", reverse=True, initial=False),
    dict(body="retention", layout="fused"),
    dict(body="retention", dtype="f32", reverse=True),
    dict(body="gla", dtype="f32", orient="VK", group="floordiv", heads=4),
    dict(body="gla", reverse=True, layout="bhtd"),
    dict(body="hgrn2"),
    dict(body="rwkv6", orient="VK"),
    dict(body="rwkv6", dtype="bf16", reverse=True),
    dict(body="mamba2", layout="fused", initial=False),
    dict(body="mamba2", dtype="bf16"),
    dict(body="normalised"),
    dict(body="normalised", dtype="f32", reverse=True),
    dict(body="running-mean", reverse=True),
    dict(body="gla", batch=0),
]]


def pipeline(parts, chunk=8):
    options = f"time-parts={parts} chunk={chunk} subchunk={(chunk + 1) // 2}"
    return f"--pipeline=builtin.module(linattn-to-cpu-pipeline{{{options}}})"


def recurrences(path, *options):
    """How many there are behind linattn-split-time, and the reasons of its remarks."""
    command = [runner.tool("la-opt"), path, *options, "--remark-format=emitRemark",
               "--remarks-filter-missed=linattn-split-time"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return done.stdout.count("linattn.recurrence"), re.findall(r"\[Missed\].*", done.stderr)


def run(text, args, folder, *options, threads=2):
    path = folder / "program.mlir"
    path.write_text(text)
    return runner.run(path, args, guard=True, threads=threads, options=options).results


def check(got, want, tolerance):
    for x, (_, y) in zip(got, want, strict=True):
        assert numerics.relative_error(x, y) <= tolerance


@pytest.mark.parametrize("chunk", [0, 8])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bodies(case, chunk, tmp_path):
    program = build_case(case)
    (tmp_path / "case.mlir").write_text(program.text)
    split = "--linattn-split-time=parts=3 chunk=8"
    assert recurrences(tmp_path / "case.mlir", split) == (3, [])
    got = run(program.text, program.args, tmp_path, pipeline(3, chunk))
    check(got, program.expected, program.tolerance)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("tokens", TOKENS)
def test_tokens(tokens, parts, tmp_path):
    """Parts of all lengths, empty ones and such that are no whole chunk."""
    case = Case("gla", **{**SIZES, "tokens": tokens, "batch": 1})
    program = build_case(case)
    got = run(program.text, program.args, tmp_path, pipeline(parts))
    check(got, program.expected, program.tolerance)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("body", ["scalar-decay", "gla"])
def test_extreme_decays(body, reverse, tmp_path):
    """Products of decays that are 0, in every part, in one of them, or nowhere."""
    case = Case(body, reverse=reverse, **SIZES)
    program = build_case(case)
    *rows, (element, g), (_, state) = program.args
    rng = np.random.default_rng(0)
    for values in ([0], [-5], [-200], [-np.inf], [0, -5, -200, -np.inf], [0, 0, 0, 0, 0, -np.inf]):
        gate = rng.choice(np.array(values, float), g.shape)
        inputs = [x for _, x in rows] + [gate]
        with np.errstate(invalid="ignore"):
            want = BODIES[body].reference(*inputs, states=[state], reverse=reverse)
        args = [*rows, (element, gate), (element, state)]
        got = run(program.text, args, tmp_path, pipeline(3))
        assert all(np.isfinite(x).all() for x in got)
        check(got, [("f64", want.out), ("f64", want.states[0])], 1e-12)


def many_decays():
    """S' = diag(e^g) (a e^h (S diag(e^c) + p k v^T)) + k2 v2^T with a in {-1, 0, 1} and the position p;
    z' = e^h z + k; D' = A * D + k v^T, A in [-1, 1] for each entry; E stays.  o = S'^T q + (z . q) v + D^T q + E^T q."""
    K, V = 6, 5

    def body(p):
        k, v, q, k2, v2 = (p.normal(n) for n in (K, V, K, K, V))
        g, h, c = p.gate((K,)), p.gate(), p.gate((V,))
        a = p.drawn(lambda shape: p.rng.choice([-1.0, 1.0, 1.0, 1.0, 0.0], shape), ())
        A = p.uniform(-1, 1, K, V)
        S = p.decay(p.state("S", (K, V)), c, (1,))
        S = p.decay(p.decay(p.write(S, k, 0, p.scale(p.op("position", ()), v)), h), a, (), True)
        S = p.write(p.decay(S, g, (0,)), k2, 0, v2)
        z = p.decay(p.state("z", (K,)), h)
        z = p.write(z, k, 0, p.constant(1.0))
        D = p.write(p.decay(p.state("D", (K, V)), A, (0, 1), True), k, 0, v)
        E = p.state("E", (K, V))
        o = p.add(p.read(S, q, 0), p.scale(p.read(z, q, 0), v))
        p.end(p.add(o, p.add(p.read(D, q, 0), p.read(E, q, 0))), S=S, z=z, D=D, E=E)

    def sequence(k, v, q, k2, v2, g, h, c, a, A, S, z, D, E):
        outs = []
        for t in range(len(k)):
            S = a[t] * np.exp(h[t]) * (S * np.exp(c[t]) + t * np.outer(k[t], v[t]))
            S = np.exp(g[t])[:, None] * S + np.outer(k2[t], v2[t])
            z = np.exp(h[t]) * z + k[t]
            D = A[t] * D + np.outer(k[t], v[t])
            outs.append(S.T @ q[t] + (z @ q[t]) * v[t] + D.T @ q[t] + E.T @ q[t])
        return np.array(outs).reshape(len(k), V), [S, z, D, E]

    return System("many_decays", many_decays.__doc__, body, {}, sequence=sequence)


@pytest.mark.parametrize("chunk", [0, 4])
@pytest.mark.parametrize("tokens", [3, 41])
def test_all_kinds_of_decays(tokens, chunk, tmp_path):
    system = many_decays()
    program = build(system.body, dict(tokens=tokens, batch=2), Step)
    got = run(program.text(), arguments(program), tmp_path, pipeline(3, chunk))
    assert error(got, system_reference(system, program)) <= numerics.contract("f64")


@pytest.mark.parametrize("body", ["gla", "retention", "normalised"])
def test_same_bits(body, tmp_path):
    """The number of parts is in the program; that of the threads has no influence."""
    program = build_case(Case(body, **{**SIZES, "dtype": "f32"}))
    one, *others = (run(program.text, program.args, tmp_path, pipeline(4), threads=threads)
                    for threads in (1, 2, 3))
    assert all(np.array_equal(x, y) for other in others for x, y in zip(one, other, strict=True))


@pytest.mark.parametrize("body, options", [
    ("delta", {}), ("kda", {}), ("delta-product", {}), ("gla", dict(layout="packed")),
    ("gla", dict(every=5)), ("hla", {}), ("hgrn", {})])
def test_stays_whole(body, options, tmp_path):
    """With a remark, and with the right results."""
    case = Case(body, **SIZES, **options)
    program = build_case(case)
    (tmp_path / "case.mlir").write_text(program.text)
    count, missed = recurrences(tmp_path / "case.mlir", "--linattn-split-time=parts=2")
    assert count == 1 and len(missed) == 1
    got = run(program.text, program.args, tmp_path, pipeline(2))
    check(got, program.expected, program.tolerance)


@pytest.mark.parametrize("plan", ["strategy = chunk, chunk = 4, subchunk = 2, split = 3",
                                  "strategy = sweep, chunk = 4, subchunk = 4, split = 3",
                                  "strategy = token, split = 3",
                                  "strategy = chunk, chunk = 8, value_tile = 2, split = 3"])
def test_plans(plan, tmp_path):
    """A plan's split wins over the option, and the parts keep what else it says."""
    case = Case("gla", **{**SIZES, "value": 4})
    program = build_case(case)
    text = program.text.replace("\n  {\n", f" attributes {{plan = #linattn.plan<{plan}>}} {{\n")
    assert "split = 3" in text
    (tmp_path / "case.mlir").write_text(text)
    assert recurrences(tmp_path / "case.mlir", "--linattn-split-time=parts=2") == (3, [])
    got = run(text, program.args, tmp_path, pipeline(2))
    check(got, program.expected, program.tolerance)


@pytest.mark.parametrize("body", ["gla", "delta", "normalised", "hgrn"])
def test_tasks(body, tmp_path):
    """Value columns and parts of time together: the same bits for any number of threads."""
    program = build_case(Case(body, **{**SIZES, "value": 8}))
    (tmp_path / "case.mlir").write_text(program.text)
    count, _ = recurrences(tmp_path / "case.mlir", "--linattn-split-tasks=tasks=16 columns=4 chunk=8")
    assert count == {"gla": 3, "delta": 1, "normalised": 3, "hgrn": 1}[body]
    options = ["--pipeline=builtin.module(linattn-split-tasks{tasks=16 columns=4 chunk=8},linattn-to-cpu-pipeline)"]
    one, *others = (run(program.text, program.args, tmp_path, *options, threads=threads)
                    for threads in (1, 2, 3))
    check(one, program.expected, program.tolerance)
    assert all(np.array_equal(x, y) for other in others for x, y in zip(one, other, strict=True))
