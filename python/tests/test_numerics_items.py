"""Known traps of recurrences in float arithmetic."""

import numpy as np
import pytest

from linattn import reference
from linattn.numerics_items import ELSEWHERE, ITEMS, item, states
from linattn.numerics_items.deltas import delta, full_erase, keys
from linattn.numerics_items.lengths import grouped
from linattn.numerics_items.subjects import Subject, body, system


@pytest.mark.parametrize("row", ITEMS, ids=lambda row: f"{row.number}-{row.what}")
def test_item(row, la_run, tmp_path):
    measured = row.measure(tmp_path)
    assert len(measured) == len(row.plans)
    for _, _, error, bound in measured:
        assert error <= bound < 0.03


def test_every_number_has_a_row_or_a_reason():
    measured = {row.number for row in ITEMS}
    assert measured | set(ELSEWHERE) == set(range(1, 45))
    assert not measured & set(ELSEWHERE)


# What the rows must notice -----------------------------------------------------------------------


@pytest.mark.parametrize("number", [6, 9])
def test_small_writes_are_seen(number):
    """What float32 makes of 1 - e^g or of log(1 + e^x) where it is 0 would be beyond the bound."""
    subject = next(row for row in ITEMS if row.number == number).subject()
    want = subject.want()
    assert subject.error([0 * x for x in want]) == 1
    assert np.abs(want[0]).max() < 1e-3


def other(name, change, by, **options):
    """The results of the same inputs by another reference."""
    return body(name, change, reference=by, **options).want()


def without_minus(q, k, v, g, a, b, **options):
    return reference.dplr(q, k, v, g, -a, b, **options)


def state_before(*inputs, **options):
    ones = np.ones(inputs[-1].shape[-1])
    return reference.comba(*inputs, ones, 0 * ones, **options)


def erase_after(q, k, v, g, x, gamma, beta, **options):
    """With the two erases in the other order."""
    return reference.eda(q, x, v, g, k, beta, gamma, **options)


STRONG = keys(None, 2.0, g=-1.0)
WRONG = {
    "20: no minus": (lambda: body("dplr", full_erase(1)),
                     lambda: other("dplr", full_erase(1), without_minus)),
    "21: the state before": (delta(STRONG),
                             lambda: other("gated-delta", STRONG, state_before, tokens=64)),
    "22: the other order": (lambda: body("eda"), lambda: other("eda", None, erase_after)),
    "33: the state on the left": (
        lambda: body("gla", reverse=True),
        lambda: other("gla", None, lambda *x, reverse, **options: reference.gla(*x, **options))),
    "35: tiled": (grouped("kda", 4, "floordiv"), lambda: grouped("kda", 4, "mod")().want()),
    "38: a maximum from 0": (
        lambda: system("rwkv4", states.low_keys, dtype="f32"),
        lambda: system("rwkv4", states.low_keys, {"top": 0}, dtype="f32").loop()),
}


@pytest.mark.parametrize("name", WRONG)
def test_another_convention_is_seen(name):
    right, wrong = WRONG[name]
    assert right().error(wrong()) > 1e-2


def test_small_numbers_in_the_quotients_are_seen(la_run, tmp_path):
    subject = states.mesa("1.0e-5")
    assert subject.error(subject.run(tmp_path, 0)) > 1e-6


@pytest.mark.parametrize("check", [item.every_split, item.same_bits, item.no_leak],
                         ids=lambda check: check.__name__)
def test_a_wrong_run_is_noticed(check, la_run, tmp_path, monkeypatch):
    """A state that is not carried, a bit that depends on the threads, a sum over all sequences."""
    run = Subject.run

    def wrong(self, folder, plan, *args, threads=1, **options):
        if check is item.every_split and len(args) > 3:
            args = (*args[:2], [x * (1 - 1e-9) for x in args[2]], *args[3:])
        results = run(self, folder, plan, *args, threads=threads, **options)
        if check is item.same_bits and threads == 3:
            results[0].flat[5] = np.nextafter(results[0].flat[5], 9)
        if check is item.no_leak:
            results[0] = results[0] + 1e-9 * np.nan_to_num(results[0]).sum()
        return results

    monkeypatch.setattr(Subject, "run", wrong)
    row = next(row for row in ITEMS if row.check is check)
    assert not all(error <= bound for _, _, error, bound in row.measure(tmp_path))
