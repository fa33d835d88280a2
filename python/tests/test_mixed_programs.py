"""Random programs of which a part is run token by token inside the chunk of the rest."""

import os

import pytest

from linattn import mixed_programs, programs, random_programs

from seeds import choose_seeds

POOL, COUNT = range(300), 16
PLANS = ((8, 4), (3, 2), (16, 8), (1, 1))  # chunk and subchunk, in turn
FEATURES = {seed: mixed_programs.MixedGenerator(seed).features for seed in POOL}
# What random_programs does not cover.
WANTED = {name for names in FEATURES.values() for name in names
          if name.startswith(("token by token", "value", "position", "gate: from", "address: from"))
          or name in ("segments", "reverse", "checkpoints", "f32")}


SEEDS = choose_seeds(FEATURES, COUNT, WANTED)


@pytest.fixture(scope="module")
def reports(la_run):
    plan = lambda seed: PLANS[SEEDS.index(seed) % len(PLANS)]
    checked = random_programs.check_seeds(SEEDS, plan, os.cpu_count(),
                                          mixed_programs.MixedGenerator)
    return {seed: report for seed, (report, _) in zip(SEEDS, checked)}


@pytest.mark.parametrize("seed", SEEDS)
def test_seed(seed, reports):
    report = reports[seed]
    assert not report.problems, programs.write_mlir(report.program)
    assert set(report.errors) == {"token by token", *(() if report.refused else ("in chunks",))}


def test_every_feature_is_covered(reports):
    assert len(WANTED) >= 15 and WANTED <= set().union(*(FEATURES[seed] for seed in SEEDS))
    mixed = [report for report in reports.values()
             if "in chunks" in report.errors and any("state #" in x for x in report.remarks)]
    assert len(mixed) >= 8
    assert any("'scf.if' is run token by token" in x for r in reports.values() for x in r.remarks)


def test_another_class_is_noticed():
    generators = (mixed_programs.MixedGenerator(s) for s in POOL if len(FEATURES[s]) > 20)
    generator = next(g for g in generators if all(g.words) and len({*g.words}) == len(g.words) > 0)
    low_rank = len(generator.p.states) - len(generator.words) - generator.shifts
    assert low_rank and generator.words
    remarks = [f"state #0 is run token by token: {word}" for word in generator.words]
    report = random_programs.Report(generator.p, remarks=remarks, classes=["low-rank"] * low_rank)
    assert not generator.problems(report)
    report.classes[-1] = "sequential"
    assert len(generator.problems(report)) == 1
    report.classes[-1] = "low-rank"
    report.remarks = remarks[:-1]
    assert generator.problems(report)
    report.remarks = remarks + ["state #1 is run token by token"]
    report.refused = "refused"
    assert len(generator.problems(report)) == 2
