"""A row of the table, and the kinds of checks that a row may be."""

from dataclasses import dataclass, replace
from typing import Callable

import numpy as np


def against_formula(subject, plan, folder):
    """The results, as the contract bounds them."""
    return subject.error(subject.run(folder, plan)), subject.bound(plan)


def every_split(subject, plan, folder):
    """Any number of tokens, then the others from where those ended, against the whole run.

    Two runs do it: all beginnings are one packed buffer, and so are all ends."""
    tokens = subject.inputs[0][1].shape[1]
    cuts = range(tokens + 1)
    repeated = [np.repeat(x, len(cuts), axis=0) for _, x in subject.states]
    begin = [np.arange(t) for t in cuts]
    end = [np.arange(t, tokens) for t in cuts]
    starts = [_offsets(part) for part in (begin, end)]
    first = subject.run(folder, plan, np.concatenate(begin), starts[0], repeated)
    rest = subject.run(folder, plan, np.concatenate(end), starts[1], first[subject.outs:], cuts)
    want, worst = subject.want(), 0.0
    for t in cuts:
        outs = [np.concatenate([x[:, o[t]:o[t + 1]] for x, o in zip(pair, starts)], axis=1)
                for pair in zip(first[:subject.outs], rest)]
        states = [x[t:t + 1] for x in rest[subject.outs:]]
        worst = max(worst, subject.error(outs + states, want))
    return worst, subject.bound(plan)


def _offsets(parts):
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])])


def same_bits(subject, plan, folder):
    """The share of numbers that another number of threads changes: none may."""
    one = subject.run(folder, plan)
    return max(_share(one, subject.run(folder, plan, threads=n)) for n in (2, 3)), 0.0


def no_leak(subject, plan, folder):
    """The share of numbers of other sequences that 1e4 on all inputs of one changes: none may."""
    before, worst, arrays = subject.run(folder, plan), 0.0, subject.inputs
    for n, (low, high) in enumerate(zip(subject.offsets, subject.offsets[1:])):
        if low == high:
            continue
        loud = np.zeros((1, subject.offsets[-1]))
        loud[:, low:high] = 1e4
        changed = [(e, x + loud.reshape(loud.shape + (1,) * (x.ndim - 2)) if per_token else x,
                    per_token) for e, x, per_token in arrays]
        states = [x.copy() for _, x in subject.states]
        for x in states:
            x[n] += 1e4
        after = replace(subject, inputs=changed).run(folder, plan, states=states)
        rows, others = np.r_[:low, high:subject.offsets[-1]], np.arange(len(states[0])) != n
        quiet = [[x[:, rows] for x in results[:subject.outs]] +
                 [x[others] for x in results[subject.outs:]] for results in (before, after)]
        worst = max(worst, _share(*quiet))
        assert _share(before, after) > 0
    return worst, 0.0


def _share(one, other):
    pairs = list(zip(one, other, strict=True))
    return sum(np.sum(x != y) for x, y in pairs) / max(1, sum(x.size for x, _ in pairs))


@dataclass
class Item:
    """subject: makes what runs. plans: chunk sizes, 0 for token by token, with the size of the
    subchunks where that is not 16. bound: in place of the contract's."""

    number: int
    what: str
    subject: Callable
    plans: tuple = (0, 16)
    check: Callable = against_formula
    bound: float = None

    def measure(self, folder):
        """[(plan, name and type, error, bound)]"""
        subject = self.subject()
        rows = []
        for plan in self.plans:
            error, bound = self.check(subject, plan, folder)
            bound = bound if self.bound is None else self.bound
            rows.append((plan, f"`{subject.name}` {subject.dtype}", float(error), bound))
        return rows


def row(item, plan, name, error, bound):
    """Of the table, in markdown."""
    plan = "/".join(map(str, plan)) if isinstance(plan, tuple) else plan or "token"
    return f"| {item.number} | {item.what} | {name} | {plan} | {error:.2g} | {bound:.2g} |"
