"""Runs a step function over tokens: the one loop that all references share."""

from collections import namedtuple

import numpy as np

# out: [B, T, H, ...]; states: list of [N, H, ...]; checkpoints: one list of [count, H, ...] arrays
# (count = floor(length / every)) per sequence, in the order of the states.
Result = namedtuple("Result", "out states checkpoints")

# Rows of a state (batch times heads) are independent; so many bytes of state at a time keep the
# loop inside the second-level cache, which is several times faster for large states.
_STATE_BYTES = 1 << 18


def expand_heads(x, heads, grouping="interleave"):
    """[B, T, Hk, ...] -> [B, T, H, ...]: value head h uses key head h // (H / Hk) for
    "interleave" and h % Hk for "tile"."""
    ratio = heads // x.shape[2]
    if ratio == 1:
        return x
    if grouping == "interleave":
        return np.repeat(x, ratio, axis=2)
    return np.tile(x, (1, 1, ratio) + (1,) * (x.ndim - 3))


def scan(step, tokens, state_shapes, states=None, params=(), cu_seqlens=None, reverse=False,
         block=None, every=None, dtype=np.float64):
    """Visit every sequence token by token.

    step(states, tokens, params) -> (out, states), each array with a leading dim of n rows.
    tokens: [B, T, H, ...] arrays. params: [H, ...] arrays. states: [N, H, *shape] or None (zeros);
    N is B, or len(cu_seqlens) - 1 with B = 1 for packed sequences.
    block = C: a step takes C tokens of one sequence, [n, C, ...] zero-padded, and a last token
    argument `live`, the number of real ones. every = n: also keep the state after every n tokens
    (in reverse: once token c n has been visited), floor(length / n) of them.
    """
    batch, length, heads = tokens[0].shape[:3]
    count = batch if cu_seqlens is None else len(cu_seqlens) - 1
    if states is None:
        states = [np.zeros((count, heads) + tuple(shape)) for shape in state_shapes]
    states = [np.array(s, dtype=dtype) for s in states]  # a copy: the caller's stay unchanged
    params = [np.asarray(p, dtype=dtype) for p in params]

    # A run on no rows tells the shape of an output, also when there is no token.
    lead = (0,) if block is None else (0, block)
    probe = [np.zeros(lead + x.shape[3:], dtype) for x in tokens] + ([0] if block else [])
    out_shape = step([s[0:0].reshape((0,) + s.shape[2:]) for s in states], probe,
                     [p[0:0] for p in params])[0].shape[len(lead):]
    out = np.zeros((batch, length, heads) + out_shape, dtype)

    checkpoints = [[] for _ in states]
    for n in range(count):
        b, lo, hi = (n, 0, length) if cu_seqlens is None else (0, cu_seqlens[n], cu_seqlens[n + 1])
        kept = (hi - lo) // every if every else 0
        for c, s in zip(checkpoints, states):
            c.append(np.zeros((kept,) + s.shape[1:], dtype))
        row_bytes = sum(s[n, 0].nbytes for s in states) if heads else 1
        rows = max(1, _STATE_BYTES // max(1, row_bytes))
        for h in range(0, heads, rows):
            part = slice(h, min(h + rows, heads))
            xs = [np.ascontiguousarray(x[b, lo:hi, part], dtype) for x in tokens]
            _scan_rows(step, xs, [s[n, part] for s in states], [p[part] for p in params],
                       out[b, lo:hi, part], [c[n][:, part] for c in checkpoints], reverse, block,
                       every)
    return Result(out, states, checkpoints)


def _scan_rows(step, tokens, states, params, out, checkpoints, reverse, block, every):
    """One sequence, a few heads: tokens [len, n, ...]; out, states and checkpoints are written."""
    length, size = len(out), block or 1
    starts = list(range(0, length, size))
    live_states = [s.copy() for s in states]
    for start in reversed(starts) if reverse else starts:
        live = min(size, length - start)
        if block is None:
            o, live_states = step(live_states, [x[start] for x in tokens], params)
            out[start] = o
        else:
            xs = []
            for x in tokens:
                tile = np.zeros((size,) + x.shape[1:], x.dtype)
                tile[:live] = x[start:start + live]
                xs.append(np.moveaxis(tile, 0, 1))
            o, live_states = step(live_states, xs + [live], params)
            out[start:start + live] = np.moveaxis(o, 1, 0)[:live]
        # Checkpoint c has seen tokens 0 .. (c + 1) every - 1; in reverse, c every .. length - 1.
        position = start if reverse else start + live
        if every and position % every == 0:
            index = position // every - (0 if reverse else 1)
            for c, s in zip(checkpoints, live_states):
                if index < len(c):
                    c[index] = s
    for s, final in zip(states, live_states):
        s[...] = final
