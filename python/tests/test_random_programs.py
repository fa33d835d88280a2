"""Fifty random programs in all, each compiled in two forms, against NumPy."""

import copy
import os

import numpy as np
import pytest

from linattn import programs, random_programs, runner

from seeds import choose_seeds

POOL, COUNT = range(500), 50
PLANS = ((8, 4), (1, 1), (3, 2), (16, 8), (3, 1), (2, 1))  # chunk and subchunk, in turn
FEATURES = {seed: random_programs.Generator(seed).features for seed in POOL}


SEEDS = choose_seeds(FEATURES, COUNT)


@pytest.fixture(scope="module")
def reports(la_run):
    plan = lambda seed: PLANS[SEEDS.index(seed) % len(PLANS)]
    checked = random_programs.check_seeds(SEEDS, plan, jobs=os.cpu_count())
    return {seed: report for seed, (report, _) in zip(SEEDS, checked)}


@pytest.mark.parametrize("seed", SEEDS)
def test_seed(seed, reports):
    report = reports[seed]
    assert not report.problems, programs.write_mlir(report.program)
    assert set(report.errors) == {"token by token", *(() if report.refused else ("in chunks",))}


def test_most_have_a_chunk_form(reports):
    chunked = [report for report in reports.values() if "in chunks" in report.errors]
    assert len(chunked) >= 0.7 * len(SEEDS) == 35


def test_every_feature_and_class_is_covered(reports):
    covered = set().union(*(FEATURES[seed] for seed in SEEDS))
    assert covered == set().union(*FEATURES.values())
    assert covered >= {f"refused: {kind}" for kind in random_programs.BREAKS}
    classes = {name for report in reports.values() for name in report.classes}
    assert classes == {"low-rank along axis 0", "low-rank along axis 1", "sequential",
                       "scan (affine)", "scan (matrix)", "scan (max-plus)", "scan (log-add-exp)",
                       "shift (the token before)", "shift (the last tokens)"}


def test_summary(reports):
    text = random_programs.summary([(reports[seed], FEATURES[seed]) for seed in SEEDS])
    low_rank = sum(not report.refused for report in reports.values())
    assert f"50 seeds, {low_rank} low-rank ({2 * low_rank}%)" in text
    assert text.endswith("\n0 seeds differ")
    for words in ("sequential", "f32 in chunks", *set().union(*FEATURES.values())):
        assert words in text


# What the comparison must notice ----------------------------------------------------------------


def delta_rule(dtype):
    """Over 20 tokens, in f64 or f32."""
    rng = np.random.default_rng(1)
    p = programs.Program("delta rule", dtype, tokens=20, heads=2)
    k, v, beta = (p.input(rng.uniform(-0.5, 0.5, (1, 20, 2, *shape))) for shape in ((4,), (3,), ()))
    p.shapes["s"], p.initial = (4, 3), [rng.standard_normal((1, 2, 4, 3)).astype(np.float32)]
    error = p.apply("arith.subf", v, p.read("s", k, 0))
    p.states["s"] = p.write("s", k, 0, p.scale(beta, error))
    p.outs = [p.read(p.states["s"], k, 0)]
    return p


@pytest.fixture(scope="module", params=["f64", "f32"])
def delta(request, la_run, tmp_path_factory):
    """A program, a folder, and the runs of its two forms in order."""
    runs, run = [], runner.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "run", lambda *args, **kwargs: runs.append(run(*args, **kwargs)) or
                      runs[-1])
        program, folder = delta_rule(request.param), tmp_path_factory.mktemp("delta")
        report = random_programs.check(program, folder)
    assert not report.problems and len(runs) == len(report.errors) == 2
    return program, folder, runs


@pytest.mark.parametrize("change", ["rounding", "a NaN", "one result fewer"])
def test_a_wrong_number_is_noticed(change, delta, monkeypatch):
    program, folder, runs = delta
    by = np.nan if change == "a NaN" else {"f64": 1e-11, "f32": 3e-5}[program.dtype]

    def with_error(wrong):
        planted = iter(copy.deepcopy(runs))

        def run(*args, **kwargs):
            done = next(planted)
            if change == "one result fewer":
                done.results.pop()
            else:
                done.results[wrong].flat[7] += by
            return done
        return run

    for wrong in range(2):  # the outs, the final state
        monkeypatch.setattr(runner, "run", with_error(wrong))
        problems = random_programs.check(program, folder).problems
        assert [p.split(":")[0] for p in problems] == ["token by token", "in chunks"]


def test_another_program_is_noticed(tmp_path, la_run, monkeypatch):
    write = programs.write_mlir
    monkeypatch.setattr(programs, "write_mlir", lambda p: write(p).replace("subf", "addf"))
    problems = random_programs.check(delta_rule("f64"), tmp_path).problems
    assert [p.split(":")[0] for p in problems] == ["token by token", "in chunks"]
    monkeypatch.setattr(programs, "write_mlir", lambda p: write(p).replace("subf", "no_op"))
    (problem,) = random_programs.check(delta_rule("f64"), tmp_path).problems
    assert "no_op" in problem


def test_another_class_is_noticed():
    """Of a state; a refusal of what has a chunk form; and no word on what has none."""
    for broken in (True, False):
        seed = next(s for s in POOL if broken == any("refused" in f for f in FEATURES[s])
                    and len(random_programs.Generator(s).p.states) > 2)
        generator = random_programs.Generator(seed)
        report = random_programs.Report(generator.p, classes=list(generator.expected.values()))
        report.remarks = [random_programs.BREAKS.get(generator.broken, "")]
        assert not generator.problems(report)
        for i, word in enumerate(report.classes):
            report.classes[i] = "scan (another)"
            assert len(generator.problems(report)) == 1
            report.classes[i] = word
        report.refused = "refused"
        assert len(generator.problems(report)) == 1
        report.refused, report.remarks = "", ["other words"]
        assert len(generator.problems(report)) == int(broken)


def test_a_difference_is_the_exit_status(monkeypatch, capsys):
    report = random_programs.Report(delta_rule("f64"), problems=["in chunks: error"])
    monkeypatch.setattr(random_programs, "check_seed", lambda *_: (report, set()))
    monkeypatch.setattr("sys.argv", ["random_programs", "--seeds", "0:2"])
    with pytest.raises(SystemExit) as exit_:
        random_programs.main()
    text = capsys.readouterr().out
    assert exit_.value.code and "2 seeds differ" in text and "// delta rule" in text
