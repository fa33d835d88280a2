"""Flops in matrix products per chunk: by the formulas, and in what linattn-chunk makes of a body.

    python3 -m linattn.flop_table

A product of [m, k] and [k, n] is 2 m k n. The formulas are those of the chunk algorithms in the
literature, term by term; the count walks the printed IR and knows nothing of them. Where the two
differ, the row says by what and why. Numbers are in units of 1024 flops.
"""

import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from typing import Callable
from unittest import mock

from . import runner
from .bodies import BODIES
from .cases import Case
from .causal_systems import SYSTEMS
from .emit import Writer

K, V, SLOTS, SUBCHUNK = 128, 128, 64, 16
CHUNKS = (16, 32)
TERMS = ("reads of S0", "new state", "brackets", "values", "solve")

# ---------------------------------------------------------------------------------------------------
# By hand
# ---------------------------------------------------------------------------------------------------


def square(C, width):
    """[C, width] [width, C], or [C, C] [C, width]."""
    return 2 * C * C * width


def outer(C, rows, columns):
    """[C, rows] [rows, columns], or [rows, C] [C, columns]."""
    return 2 * C * rows * columns


def between(C, width):
    """A square without the pairs of a subchunk, which a decay per channel keeps out of products:
    n (n - 1) / 2 products of two subchunks, n = C / SUBCHUNK."""
    return C // SUBCHUNK * (C // SUBCHUNK - 1) // 2 * square(SUBCHUNK, width)


def terms(*amounts):
    return dict(zip(TERMS, amounts, strict=True))


@dataclass(frozen=True)
class Operator:
    """body: a key of BODIES or SYSTEMS. by_hand: C -> flops of every term; extra: those of them that
    our code has beyond the formula (or less), for the reason `why`."""

    name: str
    body: str
    by_hand: Callable
    extra: Callable = lambda C: terms(0, 0, 0, 0, 0)
    why: str = ""


def scalar_decay(C):
    """O = diag(e^G) Q S0 + (P * Q K^T) V;  S' = e^G_C S0 + K^T diag(e^(G_C - G)) V."""
    return terms(outer(C, K, V), outer(C, K, V), square(C, K), square(C, V), 0)


def channel_decay(C):
    """As above with A_ij = sum_d Q_id K_jd e^(G_id - G_jd) for P * Q K^T."""
    return terms(outer(C, K, V), outer(C, K, V), between(C, K), square(C, V), 0)


def delta(bracket):
    """T = (I + L)^-1;  U = T C;  Z = T (r * e^G);  V~ = U - Z S0;
    O = (Q * e^G) S0 + A V~;  S' = diag(e^G_C) S0 + (w * e^(G_C - G))^T V~."""
    return lambda C: terms(2 * outer(C, K, V), outer(C, K, V), 2 * bracket(C, K), square(C, V),
                           square(C, V) + square(C, K))


def diagonal_plus_rank_one(C):
    """R = (I - A_ab)^-1 (A_ak V + (a * e^G) S0);  O = A_qk V + A_qb R + (q * e^G) S0;
    S' = diag(e^G_C) S0 + (k * e^(G_C - G))^T V + (b * e^(G_C - G))^T R."""
    return terms(2 * outer(C, K, V), 2 * outer(C, K, V), 4 * between(C, K), 3 * square(C, V),
                 square(C, V))


def two_passes(C):
    """O1_im = ((Q S0) * e^G)_im + sum_j (Q K^T)_ij s_jm e^(G_im - G_jm) over M slots;
    then as with a decay per channel, queries softmax(O1), keys s and values V."""
    return terms(outer(C, K, SLOTS) + outer(C, SLOTS, V), outer(C, K, SLOTS) + outer(C, SLOTS, V),
                 square(C, K) + between(C, SLOTS), between(C, SLOTS) + square(C, V), 0)


def second_moments(C):
    """W = Q P0;  L = tril(Q K^T);  O = W C0 - Q G0 + (tril(W Q^T) + tril(L L^T)) V;
    R = K C0 + stril(K Q^T) V;  P' = P0 + K^T K;  C' = C0 + Q^T V;  G' = G0 + K^T R.

    K Q^T is Q K^T transposed; what W lacks of the keys of the chunk, times C0, cancels against
    what G0 lacks of them. The decay is one number per pair."""
    return terms(outer(C, K, K) + 3 * outer(C, K, V), outer(C, K, K) + 2 * outer(C, K, V),
                 2 * square(C, K), square(C, C) + 2 * square(C, V), 0)


def value_side(C):
    """The delta rule with keys and values exchanged; then
    O_iv = ((Q S0) * e^G)_iv + sum_j (Q U~^T)_ij v_jv e^(G_iv - G_jv)."""
    return terms(2 * outer(C, K, V), outer(C, K, V), between(C, V) + square(C, K), between(C, V),
                 square(C, K) + square(C, V))


def substituted(widths):
    """A solve of as many columns as the first width by blocks, not products with an inverse."""
    return lambda C: terms(0, 0, 0, 0,
                           between(C, widths()[0]) - sum(square(C, w) for w in widths()))


SOLVE = ("reads S0 first and then solves for the written values by forward substitution, where the "
         "formula multiplies two right-hand sides by an inverse")

OPERATORS = [
    Operator("A scalar decay", "scalar-decay", scalar_decay),
    Operator("B decay per channel", "gla", channel_decay),
    Operator("C delta rule", "delta", delta(square), substituted(lambda: (V, K)), SOLVE),
    Operator("C gated delta rule", "gated-delta", delta(square), substituted(lambda: (V, K)),
             SOLVE),
    Operator("C the same per channel", "kda", delta(between), substituted(lambda: (V, K)), SOLVE),
    Operator("D diagonal plus rank one", "dplr", diagonal_plus_rank_one, substituted(lambda: (V,)),
             "solves by forward substitution, where the formula multiplies by an inverse"),
    Operator("E two passes", "gsa", two_passes),
    Operator("F second moments", "hla", second_moments,
             lambda C: terms(0, 0, 2 * square(C, K), square(C, K) + square(C, V) - square(C, C), 0),
             "reads P, C and G in turn, with a bracket and its product with values for each of the "
             "four reads, where the formula uses one Q K^T three times and a product of squares"),
    Operator("I two-token write", "mamba3", scalar_decay,
             lambda C: terms(0, outer(C, K, V), square(C, K), square(C, V), 0),
             "the body writes the last token and this one, and a write is a term each, where the "
             "formula adds up what a token writes at both times"),
    Operator("L value side", "gated-oja", value_side, substituted(lambda: (K, V)), SOLVE),
]

# ---------------------------------------------------------------------------------------------------
# Counted
# ---------------------------------------------------------------------------------------------------


def chunk_text(body, chunk):
    """What linattn-chunk makes of a body."""
    if body in BODIES:
        text = Writer(Case(body, key=K, value=V)).text()
    else:
        module = sys.modules[SYSTEMS[body].body.__module__]
        sizes = {name: size for name, size in (("K", K), ("V", V), ("M", SLOTS))
                 if hasattr(module, name)}
        with mock.patch.multiple(module, **sizes):
            text = SYSTEMS[body].program(tokens=1).text()
    command = [runner.tool("la-opt"), "-", f"--linattn-chunk=chunk={chunk} subchunk={SUBCHUNK}"]
    return subprocess.run(list(map(str, command)), input=text, capture_output=True, text=True,
                          check=True).stdout


def shapes(text):
    return [[int(x) for x in shape.split("x")[:-1]]
            for shape in re.findall(r"tensor<((?:\d+x)*\w+)>", text)]


def triangle(rows, width):
    """Products of a triangle that is halved until a subchunk is left."""
    if rows <= SUBCHUNK:
        return 0
    lower = rows // 2
    upper = rows - lower
    return 2 * upper * lower * width + triangle(upper, width) + triangle(lower, width)


def count_line(line):
    """(term, flops in matrix products) of one line of IR; None without a product."""
    found = re.search(r"= (linattn\.\w+|linalg\.\w+) (.*)", line)
    if not found:
        return None
    op, rest = found.groups()
    if "subchunk" in rest:
        raise ValueError(f"another subchunk than {SUBCHUNK}: {line}")
    types = shapes(rest[rest.find(":"):])
    if op in ("linattn.read", "linattn.write"):
        (rows, columns), address = types[:2]
        term = "reads of S0" if op == "linattn.read" else "new state"
        return (term, 2 * address[0] * rows * columns) if len(address) == 2 else None
    if op == "linattn.bracket":
        (rows, width), decay = types[0], types[2] if " decay " in rest else ()
        return "brackets", triangle(rows, width) if len(decay) == 2 else 2 * rows * rows * width
    if op == "linattn.weighted_sum":
        return "values", triangle(*types[1])
    if op == "linattn.solve":
        rows, width = types[1]
        done = range(0, rows, SUBCHUNK)  # the rows before each block
        return "solve", sum(2 * min(SUBCHUNK, rows - n) * n * width for n in done)
    if op == "linalg.matmul":
        (m, k), (_, n) = types[:2]
        return "values", 2 * m * k * n
    iterators = re.search(r"iterator_types = \[(.*?)\]", rest)
    parallel = iterators.group(1).count("parallel") if iterators else 0
    if "matmul" in op or (parallel > 1 and "reduction" in iterators.group(1)):
        raise ValueError(f"a product that is not counted: {line}")
    return None


def counted(body, chunk):
    amounts = dict.fromkeys(TERMS, 0)
    for line in chunk_text(body, chunk).splitlines():
        term, flops = count_line(line) or ("solve", 0)
        amounts[term] += flops
    return amounts


# ---------------------------------------------------------------------------------------------------


def cell(expected, got):
    units = [f"{x / 1024:g}" for x in (expected, got)]
    return units[0] if expected == got else " / ".join(units)


def markdown():
    lines = [f"| operator | C | {' | '.join(TERMS)} | all |", "|---" * (len(TERMS) + 3) + "|"]
    for operator in OPERATORS:
        for chunk in CHUNKS:
            want, got = operator.by_hand(chunk), counted(operator.body, chunk)
            cells = [cell(want[term], got[term]) for term in TERMS]
            cells += [cell(sum(want.values()), sum(got.values()))]
            lines += [f"| {operator.name}, `{operator.body}` | {chunk} | {' | '.join(cells)} |"]
    reasons = {}
    for operator in OPERATORS:
        if operator.why:
            reasons.setdefault(operator.why, []).append(operator.name)
    lines += ["", "What is not equal, our code beside the formula:", ""]
    for why, names in reasons.items():
        lines += textwrap.wrap(f"- {'; '.join(names)}: {why}.", 100, subsequent_indent="  ")
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown())
