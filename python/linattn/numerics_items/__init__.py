"""Known traps of causal recurrences in float arithmetic, as programs that are compiled and run.

A row is an item of the literature's list of numerics facts, by its number: one input, what was
compiled against float64 NumPy from the formula, and the bound, that of the contract if the item has
none of its own.
"""

from . import decays, deltas, lengths, states

ITEMS = [*decays.ITEMS, *deltas.ITEMS, *lengths.ITEMS, *states.ITEMS]

# The items that are no input of a program, and why.
ELSEWHERE = {
    17: "says in which precision other kernels invert; ours is that of the state (items 14 to 18)",
    31: "is of softmax over selected blocks: no recurrence has a row without keys (27 and 36 are "
        "what comes nearest)",
}
