"""Known traps of recurrences in float arithmetic."""

import numpy as np
import pytest

from linattn import numerics_items
from linattn.numerics_items import CHUNKS, ITEMS


@pytest.mark.parametrize("item", ITEMS, ids=lambda i: f"{i.number}-{i.body}")
def test_item(item, la_run, tmp_path):
    measured = numerics_items.measure(item, tmp_path)
    assert len(measured) == len(CHUNKS)
    for error, bound in measured:
        assert error <= bound


@pytest.mark.parametrize("number", [6, 9])
def test_small_writes_are_seen(number, la_run, tmp_path, monkeypatch):
    """What float32 makes of 1 - e^g or of log(1 + e^x) where it is 0 would be beyond the bound."""
    item = next(i for i in ITEMS if i.number == number)
    _, inputs, states = numerics_items.inputs_of(item)
    want = numerics_items.BODIES[item.body].reference(*inputs.values(), states=states)
    assert numerics_items.worst([0 * want.out, *(0 * s for s in want.states)], want) == 1
    assert np.abs(want.out).max() < 1e-3
