"""Float64 references of linear-attention systems, token by token, from their published formulas.

Shapes, per function unless stated: q, k [B, T, Hk, K]; v [B, T, H, V]; scalar gates [B, T, H];
states [N, H, K, V] (key axis first). g is a natural-log decay (<= 0). The options of every function
are those of `scan.scan`: states (initial), cu_seqlens, reverse, every, dtype; and `grouping`
("interleave" or "tile") when Hk < H. Each returns a `scan.Result`.
dtype=np.float32 gives the float32 run whose error is the yardstick of the numerics contract.
"""

import numpy as np

from .numerics import elu1, l2norm, sigmoid, softplus
from .scan import expand_heads, scan


def _read(s, k):
    """k^T S: [n, K, V], [n, K] -> [n, V]."""
    return (k[:, None, :] @ s)[:, 0]


def _read_value(s, v):
    """S v: [n, K, V], [n, V] -> [n, K]."""
    return (s @ v[:, :, None])[:, :, 0]


def _outer(k, v):
    """k v^T: [n, K], [n, V] -> [n, K, V]."""
    return k[:, :, None] * v[:, None, :]


def _rows(g):
    """A gate per row ([n]), as a factor of a vector or of a matrix's rows."""
    return g[:, None]


def _scale(s, g):
    """e^g S with one gate per head."""
    return np.exp(g)[:, None, None] * s


def _run(step, keys, values, shapes, grouping="interleave", **options):
    """keys: arrays with key heads; values: arrays with value heads."""
    heads = values[0].shape[2]
    tokens = [expand_heads(x, heads, grouping) for x in keys] + list(values)
    # scan reads batch, length and heads from the first array; all agree after the expansion.
    return scan(step, tokens, shapes, **options)


def _matrix(k, v):
    return [(k.shape[-1], v.shape[-1])]


def linear_attention(q, k, v, **options):
    """S = S + k v^T; o = S^T q."""

    def step(states, tokens, _):
        (s,), (q, k, v) = states, tokens
        s = s + _outer(k, v)
        return _read(s, q), [s]

    return _run(step, [q, k], [v], _matrix(k, v), **options)


def scalar_decay(q, k, v, g, **options):
    """S = e^g S + k v^T; o = S^T q. g [B, T, H]."""

    def step(states, tokens, _):
        (s,), (q, k, v, g) = states, tokens
        s = _scale(s, g) + _outer(k, v)
        return _read(s, q), [s]

    return _run(step, [q, k], [v, g], _matrix(k, v), **options)


def retention(q, k, v, log_gamma, **options):
    """RetNet: S = gamma_h S + k v^T; o = S^T q. log_gamma [H]."""

    def step(states, tokens, params):
        (s,), (q, k, v) = states, tokens
        s = _scale(s, params[0]) + _outer(k, v)
        return _read(s, q), [s]

    return _run(step, [q, k], [v], _matrix(k, v), params=[log_gamma], **options)


def retnet_log_gamma(heads):
    """RetNet's fixed decays: log(1 - 2^(-5 - h)), [H]."""
    return np.log1p(-(2.0 ** (-5 - np.arange(heads))))


def gla(q, k, v, g, **options):
    """GLA: S = diag(e^g) S + k v^T; o = S^T q. g [B, T, H, K]."""

    def step(states, tokens, _):
        (s,), (q, k, v, g) = states, tokens
        s = np.exp(g)[:, :, None] * s + _outer(k, v)
        return _read(s, q), [s]

    return _run(step, [q, k], [v, g], _matrix(k, v), **options)


def hgrn2(q, g, v, **options):
    """HGRN2: f = e^g; S = diag(f) S + (1 - f) v^T; o = S^T q. q, g [B, T, H, K]."""

    def step(states, tokens, _):
        (s,), (q, g, v) = states, tokens
        s = np.exp(g)[:, :, None] * s + _outer(-np.expm1(g), v)
        return _read(s, q), [s]

    return _run(step, [q, g], [v], _matrix(q, v), **options)


def hgrn(x, g, **options):
    """HGRN: h = e^g h + (1 - e^g) x; o = h, elementwise. x, g [B, T, H, V]; state [N, H, V]."""

    def step(states, tokens, _):
        (h,), (x, g) = states, tokens
        h = np.exp(g) * h - np.expm1(g) * x
        return h, [h]

    return _run(step, [], [x, g], [x.shape[3:]], **options)


def delta_rule(q, k, v, beta, **options):
    """DeltaNet: S = (I - beta k k^T) S + beta k v^T; o = S^T q."""

    def step(states, tokens, _):
        (s,), (q, k, v, beta) = states, tokens
        s = s + _outer(k, _rows(beta) * (v - _read(s, k)))
        return _read(s, q), [s]

    return _run(step, [q, k], [v, beta], _matrix(k, v), **options)


def gated_delta_rule(q, k, v, g, beta, **options):
    """Gated DeltaNet: X = e^g S; S = X + k (beta (v - k^T X))^T; o = S^T q. g, beta [B, T, H]."""

    def step(states, tokens, _):
        (s,), (q, k, v, g, beta) = states, tokens
        x = _scale(s, g)
        x += _outer(k, _rows(beta) * (v - _read(x, k)))
        return _read(x, q), [x]

    return _run(step, [q, k], [v, g, beta], _matrix(k, v), **options)


def kda(q, k, v, g, beta, **options):
    """KDA: X = diag(e^g) S; S = X + k (beta (v - k^T X))^T; o = S^T q. g [B, T, H, K]."""

    def step(states, tokens, _):
        (s,), (q, k, v, g, beta) = states, tokens
        x = np.exp(g)[:, :, None] * s
        x += _outer(k, _rows(beta) * (v - _read(x, k)))
        return _read(x, q), [x]

    return _run(step, [q, k], [v, g, beta], _matrix(k, v), **options)


def comba(q, k, v, g, beta, p_gate, q_gate, **options):
    """Comba: p = p_gate k; S' = e^g S + k (beta (v - p^T S))^T; o = S'^T (q - q_gate p).

    The erase reads the state before its decay. p_gate, q_gate [H]."""

    def step(states, tokens, params):
        (s,), (q, k, v, g, beta), (p_gate, q_gate) = states, tokens, params
        p = _rows(p_gate) * k
        d = _rows(beta) * (v - _read(s, p))
        s = _scale(s, g) + _outer(k, d)
        return _read(s, q - _rows(q_gate) * p), [s]

    return _run(step, [q, k], [v, g, beta], _matrix(k, v), params=[p_gate, q_gate], **options)


def gated_oja(q, k, v, g, beta, **options):
    """Gated Oja: X = S diag(e^g); S = X + beta (k - X v) v^T; o = S^T q. g [B, T, H, V]."""

    def step(states, tokens, _):
        (s,), (q, k, v, g, beta) = states, tokens
        x = s * np.exp(g)[:, None, :]
        s = x + _outer(_rows(beta) * (k - _read_value(x, v)), v)
        return _read(s, q), [s]

    return _run(step, [q, k], [v, g, beta], _matrix(k, v), **options)


def dplr(q, k, v, g, a, b, **options):
    """DPLR: S = diag(e^g) S + b (a^T S) + k v^T; o = S^T q. g, a, b [B, T, H, K]."""

    def step(states, tokens, _):
        (s,), (q, k, v, g, a, b) = states, tokens
        s = np.exp(g)[:, :, None] * s + _outer(b, _read(s, a)) + _outer(k, v)
        return _read(s, q), [s]

    return _run(step, [q, k], [v, g, a, b], _matrix(k, v), **options)


def rwkv6(r, k, v, w, u, **options):
    """RWKV-6: o = (S + diag(u) k v^T)^T r; S = diag(e^w) S + k v^T.

    w [B, T, H, K] is the log-decay, -exp(.) of the model's raw value; u [H, K] is the bonus."""

    def step(states, tokens, params):
        (s,), (r, k, v, w) = states, tokens
        kv = _outer(k, v)
        o = _read(s + params[0][:, :, None] * kv, r)
        return o, [np.exp(w)[:, :, None] * s + kv]

    return _run(step, [r, k], [v, w], _matrix(k, v), params=[u], **options)


def rwkv7(r, w, k, v, a, xi, alpha, **options):
    """RWKV-7 time mixing from raw gates w and a, [B, T, H, K]; xi, alpha [H, K].

    w -> -0.606531 sigmoid(w); a -> sigmoid(a); kappa = l2norm(k xi); k -> k (1 + (a - 1) alpha);
    S = diag(e^w) S + (kappa a) (-kappa)^T S + k v^T; o = S^T r."""

    def step(states, tokens, params):
        (s,), (r, w, k, v, a), (xi, alpha) = states, tokens, params
        w, a = -0.606531 * sigmoid(w), sigmoid(a)
        kappa = l2norm(k * xi, eps=1e-12)
        k = k * (1 + (a - 1) * alpha)
        s = np.exp(w)[:, :, None] * s + _outer(kappa * a, _read(s, -kappa)) + _outer(k, v)
        return _read(s, r), [s]

    return _run(step, [], [r, w, k, v, a], _matrix(k, v), params=[xi, alpha], **options)


def mamba2(x, dt, b, c, a_log, dt_bias, d, **options):
    """Mamba-2 (SSD): D = softplus(dt + dt_bias); S = e^(D A) S + B (D x)^T; y = S^T C + d x.

    A = -exp(a_log). x [B, T, H, V]; dt [B, T, H]; b, c [B, T, G, K]; a_log, dt_bias, d [H]."""

    def step(states, tokens, params):
        (s,), (b, c, x, dt), (a_log, dt_bias, d) = states, tokens, params
        dt = softplus(dt + dt_bias)
        s = _scale(s, -dt * np.exp(a_log)) + _outer(b, _rows(dt) * x)
        return _read(s, c) + _rows(d) * x, [s]

    return _run(step, [b, c], [x, dt], _matrix(b, x), params=[a_log, dt_bias, d], **options)


def normalised_linear_attention(q, k, v, eps=1e-10, **options):
    """f = elu + 1; S = S + f(k) v^T; z = z + f(k); o = S^T f(q) / (f(q) . z + eps).

    States: S [N, H, K, V] and z [N, H, K]."""

    def step(states, tokens, _):
        (s, z), (q, k, v) = states, tokens
        q, k = elu1(q), elu1(k)
        s, z = s + _outer(k, v), z + k
        return _read(s, q) / _rows(np.sum(q * z, axis=-1) + eps), [s, z]

    return _run(step, [q, k], [v], _matrix(k, v) + [k.shape[3:]], **options)


def delta_product(q, k, v, g, beta, **options):
    """Gated DeltaProduct: X = e^g S; then X = X + k_j (beta_j (v_j - k_j^T X))^T for j = 1..n;
    o = X^T q. q [B, T, Hk, K]; k [B, T, Hk, n, K]; v [B, T, H, n, V]; beta [B, T, H, n]."""

    def step(states, tokens, _):
        (s,), (q, k, v, g, beta) = states, tokens
        x = _scale(s, g)
        for j in range(k.shape[1]):
            x = x + _outer(k[:, j], _rows(beta[:, j]) * (v[:, j] - _read(x, k[:, j])))
        return _read(x, q), [x]

    return _run(step, [q, k], [v, g, beta], _matrix(k, v), **options)


def gdn2(q, k, v, f, b, w, a_log, dt_bias, **options):
    """Gated DeltaNet-2 from raw gates: g = -e^a_log softplus(f + dt_bias); b, w -> sigmoid;
    k -> l2norm; X = diag(e^g) S; S = X + k (w v - (b k)^T X)^T; o = S^T q.

    f, b [B, T, H, K]; w [B, T, H, V]; a_log [H]; dt_bias [H, K]."""

    def step(states, tokens, params):
        (s,), (q, k, v, f, b, w), (a_log, dt_bias) = states, tokens, params
        k, b, w = l2norm(k), sigmoid(b), sigmoid(w)
        x = np.exp(-_rows(np.exp(a_log)) * softplus(f + dt_bias))[:, :, None] * s
        s = x + _outer(k, w * v - _read(x, b * k))
        return _read(s, q), [s]

    return _run(step, [q, k], [v, f, b, w], _matrix(k, v), params=[a_log, dt_bias], **options)


def eda(q, k, v, g, x, gamma, beta, **options):
    """Erase then delta: Y = diag(e^g) S; X = Y - gamma x (x^T Y); S = X + beta k (v - k^T X)^T;
    o = S^T q. g, x [B, T, H, K]; gamma, beta [B, T, H]."""

    def step(states, tokens, _):
        (s,), (q, k, v, g, x, gamma, beta) = states, tokens
        s = np.exp(g)[:, :, None] * s
        s = s - _outer(x, _rows(gamma) * _read(s, x))
        s = s + _outer(k, _rows(beta) * (v - _read(s, k)))
        return _read(s, q), [s]

    return _run(step, [q, k], [v, g, x, gamma, beta], _matrix(k, v), **options)


def iplr(q, k, v, a, b, **options):
    """IPLR: S = S + b (a^T S) + k v^T; o = S^T q. a, b [B, T, H, K]."""

    def step(states, tokens, _):
        (s,), (q, k, v, a, b) = states, tokens
        s = s + _outer(b, _read(s, a)) + _outer(k, v)
        return _read(s, q), [s]

    return _run(step, [q, k], [v, a, b], _matrix(k, v), **options)


def hla(q, k, v, log_gamma, **options):
    """Second-order attention with decay c = e^log_gamma [H]: G = c^2 G + k (k^T c C)^T, then
    P = c P + k k^T; C = c C + q v^T; o = q^T (P C - G). States P [N, H, K, K]; C, G [N, H, K, V]."""

    def step(states, tokens, params):
        (p, c, g), (q, k, v), gamma = states, tokens, np.exp(params[0])[:, None, None]
        p, c = gamma * p, gamma * c
        g = gamma**2 * g + _outer(k, _read(c, k))
        p, c = p + _outer(k, k), c + _outer(q, v)
        return _read(p @ c - g, q), [p, c, g]

    shapes = [2 * k.shape[3:]] + 2 * _matrix(k, v)
    return _run(step, [q, k], [v], shapes, params=[log_gamma], **options)


def hla_normalised(q, k, v, **options):
    """Second-order attention over its sum of weights: as `hla` without decay; with v = 1, m for C
    and h for G: h = h + k (k . m); m = m + q; o = q^T (P C - G) / (q^T (P m - h))."""

    def step(states, tokens, _):
        (p, c, g, m, h), (q, k, v) = states, tokens
        g, h = g + _outer(k, _read(c, k)), h + k * _rows(np.sum(k * m, axis=-1))
        p, c, m = p + _outer(k, k), c + _outer(q, v), m + q
        below = np.sum(q * (_read_value(p, m) - h), axis=-1)
        return _read(p @ c - g, q) / _rows(below), [p, c, g, m, h]

    shapes = [2 * k.shape[3:]] + 2 * _matrix(k, v) + 2 * [k.shape[3:]]
    return _run(step, [q, k], [v], shapes, **options)


def running_mean(q, k, v, cu_seqlens=None, **options):
    """S = S + k v^T; o = S^T q / (t + 1), t counted inside the sequence, in memory order."""
    batch, tokens, heads = v.shape[:3]
    t = np.arange(tokens)
    if cu_seqlens is not None and tokens:
        starts = np.asarray(cu_seqlens)
        t = t - starts[np.searchsorted(starts, t, side="right") - 1]
    position = np.broadcast_to(t[None, :, None], (batch, tokens, heads))

    def step(states, tokens, _):
        (s,), (q, k, v, t) = states, tokens
        s = s + _outer(k, v)
        return _read(s, q) / _rows(t + 1), [s]

    return _run(step, [q, k], [v, position], _matrix(k, v), cu_seqlens=cu_seqlens, **options)


def block_causal(q, k, v, log_gamma, block, **options):
    """Block-causal linear attention: all tokens of a block of `block` see the whole block.

    S = gamma_h^live S + sum_block k v^T; o = S^T q. log_gamma [H]; live = real tokens of the block.
    """

    def step(states, tokens, params):
        (s,), (q, k, v, live) = states, tokens
        s = _scale(s, live * params[0]) + np.swapaxes(k, 1, 2) @ v
        return q @ s, [s]

    return _run(step, [q, k], [v], _matrix(k, v), params=[log_gamma], block=block, **options)
