"""Systems that keep the previous token: writes of two tokens, with an angle that adds up."""

import numpy as np

from ..numerics import sigmoid, softplus
from .scans import complex_product
from .system import K, LOW_RANK, SCAN, SHIFT, V, system

RANK = 2


def gates(p, dt, bias, a, trap):
    """The step D, the log-decay A D and the share of the token itself."""
    delta = p.softplus(p.add(dt, bias))
    A = p.minus(p.larger(p.softplus(a), p.constant(1e-4)))
    return delta, p.mul(A, delta), p.sigmoid(trap)


def turn(p, theta, phi, delta):
    """The angles after this token: t' = t + pi tanh(phi) D."""
    return p.add(theta, p.times(np.pi, p.scale(delta, p.tanh(phi))))


def numpy_gates(dt, bias, a, trap, phi, theta):
    """Of all tokens: D, running sums of A D, shares and angles."""
    delta = softplus(dt + bias)
    total = np.cumsum(-np.maximum(softplus(a), 1e-4) * delta)
    angle = theta + np.cumsum(np.pi * np.tanh(phi) * delta[:, None], axis=0)
    return delta, total, sigmoid(trap), angle


def weights(delta, total, share):
    """[T, T]: of what token s wrote, for token t. Its second part is written by token s + 1, which
    token s itself does not see."""
    T = len(delta)
    own, late = share * delta, np.append(((1 - share) * delta)[1:], 0)
    seen = np.tri(T, dtype=bool)
    decay = np.exp(np.where(seen, np.subtract.outer(total, total), -np.inf))
    return decay * (own + np.where(np.eye(T, dtype=bool), 0, late))


def rms(p, x, weight, bias):
    """x / sqrt(mean x^2 + 1e-5) * w + b."""
    mean = p.times(1 / K, p.dot(x, x))
    return p.add(p.mul(p.over(x, p.sqrt(p.plus(1e-5, mean))), weight), bias)


def numpy_rms(x, weight, bias):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5) * weight + bias


def turned(p, x, angle):
    """Channels 2 i and 2 i + 1 turned by angle i."""
    parts = [p.slice(x, (i,), (K // 2,), (2,), (K // 2,)) for i in range(2)]
    parts = complex_product(p, parts, (p.cos(angle), p.sin(angle)))
    return p.mlir((K,), f"""
~0 = tensor.insert_slice {{0}} into {{2}}[0] [{K // 2}] [2] : {{t0}} into {{type}}
{{name}} = tensor.insert_slice {{1}} into ~0[1] [{K // 2}] [2] : {{t1}} into {{type}}
""", *parts, x)


@system(theta=SCAN, S=LOW_RANK, k0=SHIFT, v0=SHIFT)
class mamba3:
    """t' = t + pi tanh(phi) D;  k, q turned by t' pair by pair;
    S' = e^(A D) (S + D (1 - l) k_0 v_0^T) + D l k v^T;  y = S'^T q + d v;  k_0' = k, v_0' = v."""

    def body(p):
        C, B, v, phi = p.normal(K), p.normal(K), p.normal(V), p.normal(K // 2)
        dt, a, trap = p.normal(), p.normal(), p.normal()
        bias, d, w, c = (p.normal(*shape, per_token=False) for shape in ((), (), (K,), (K,)))
        theta, S = p.state("theta", (K // 2,), 0), p.state("S", (K, V), 0)
        k0, v0 = p.state("k0", (K,), 0), p.state("v0", (V,), 0)
        delta, g, share = gates(p, dt, bias, a, trap)
        theta = turn(p, theta, phi, delta)
        q, k = (turned(p, rms(p, x, w, c), theta) for x in (C, B))
        late = p.mul(delta, p.plus(1.0, p.minus(share)))
        X = p.decay(p.put(S, k0, p.scale(late, v0)), g)
        X = p.put(X, k, p.scale(p.mul(delta, share), v))
        p.end(p.add(p.get(X, q), p.scale(d, v)), theta=theta, S=X, k0=k, v0=v)

    def sequence(C, B, v, phi, dt, a, trap, bias, d, w, c, theta, S, k0, v0):
        """y_t = d v_t + sum_s weight_ts Re(q_t conj(k_s) e^(i (t_t - t_s))) v_s; complex pairs."""
        if not len(C):
            return v, (theta, S, k0, v0)
        delta, total, share, angle = numpy_gates(dt, bias, a, trap, phi, theta)
        q, k = (numpy_rms(x, w, c) for x in (C, B))
        q, k = (x[:, 0::2] + 1j * x[:, 1::2] for x in (q, k))
        relative = np.exp(1j * (angle[:, None] - angle[None]))
        scores = np.einsum("tn,sn,tsn->ts", q, k.conj(), relative).real
        weight = weights(delta, total, share)
        k = k * np.exp(1j * angle)
        k = np.stack([k.real, k.imag], axis=-1).reshape(len(C), K)
        S = (weight[-1][:, None] * k).T @ v
        return (weight * scores) @ v + d * v, (angle[-1], S, k[-1], v[-1])


ROW_RMS = """
~0 = arith.constant dense<0.0> : tensor<Rxf64>
~xx = arith.mulf {0}, {0} : {type}
~sum = linalg.reduce {{ arith.addf }} ins(~xx : {type}) outs(~0 : tensor<Rxf64>)
    dimensions = [1]
~n = arith.constant dense<K.0> : tensor<Rxf64>
~mean = arith.divf ~sum, ~n : tensor<Rxf64>
~eps = arith.constant dense<1.0e-5> : tensor<Rxf64>
~more = arith.addf ~mean, ~eps : tensor<Rxf64>
~root = math.sqrt ~more : tensor<Rxf64>
~e = tensor.empty() : {type}
~all = linalg.broadcast ins(~root : tensor<Rxf64>) outs(~e : {type})
    dimensions = [1]
~unit = arith.divf {0}, ~all : {type}
~w = arith.mulf ~unit, {1} : {type}
{name} = arith.addf ~w, {2} : {type}
""".replace("R", str(RANK)).replace("K", str(K))


def per_row(p, x):
    """The same vector in every row."""
    return p.mlir((RANK, *p.shapes[x]), """
~e = tensor.empty() : {type}
{name} = linalg.broadcast ins({0} : {t0}) outs(~e : {type}) dimensions = [0]
""", x)


def rows_turned(p, x, angle):
    """Channels i and i + K / 2 of every row turned by angle i."""
    half = (RANK, K // 2)
    parts = [p.slice(x, (0, i), half, (1, 1), half) for i in (0, K // 2)]
    parts = complex_product(p, parts, (per_row(p, p.cos(angle)), per_row(p, p.sin(angle))))
    return p.mlir((RANK, K), """
{name} = tensor.concat dim(1) {0}, {1} : ({t0}, {t1}) -> {type}
""", *parts)


@system(theta=SCAN, S=LOW_RANK, k0=SHIFT, v0=SHIFT)
class mamba3_rank_2:
    """As mamba3 with two rows of k and q, x_r v written by row r;  y = sum_r z_r S'^T q_r + d v."""

    def body(p):
        C, B, v = p.normal(RANK, K), p.normal(RANK, K), p.normal(V)
        phi, dt, a, trap = p.normal(K // 2), p.normal(), p.normal(), p.normal()
        shapes = (), (), (RANK, K), (RANK, K), (RANK, V), (RANK, V)
        bias, d, w, c, x, z = (p.normal(*shape, per_token=False) for shape in shapes)
        theta, S = p.state("theta", (K // 2,), 0), p.state("S", start=0)
        k0, v0 = p.state("k0", (RANK, K), 0), p.state("v0", (V,), 0)
        delta, g, share = gates(p, dt, bias, a, trap)
        theta = turn(p, theta, phi, delta)
        q, k = (rows_turned(p, p.mlir((RANK, K), ROW_RMS, y, w, c), theta) for y in (C, B))
        late = p.mul(delta, p.plus(1.0, p.minus(share)))
        value = lambda v, factor: p.scale(factor, p.mul(x, per_row(p, v)))
        X = p.decay(p.put(S, k0, value(v0, late)), g)
        X = p.put(X, k, value(v, p.mul(delta, share)))
        y = p.mlir((V,), """
~0 = arith.constant dense<0.0> : {type}
{name} = linalg.reduce {{ arith.addf }} ins({0} : {t0}) outs(~0 : {type}) dimensions = [0]
""", p.mul(z, p.get(X, q)))
        p.end(p.add(y, p.scale(d, v)), theta=theta, S=X, k0=k, v0=v)

    def sequence(C, B, v, phi, dt, a, trap, bias, d, w, c, x, z, theta, S, k0, v0):
        if not len(C):
            return v, (theta, S, k0, v0)
        delta, total, share, angle = numpy_gates(dt, bias, a, trap, phi, theta)
        q, k = (numpy_rms(y, w, c) for y in (C, B))
        q, k = (y[..., :K // 2] + 1j * y[..., K // 2:] for y in (q, k))
        relative = np.exp(1j * (angle[:, None] - angle[None]))
        scores = np.einsum("tpn,srn,tsn->tspr", q, k.conj(), relative).real
        weight = weights(delta, total, share)
        y = np.einsum("ts,tspr,pv,rv,sv->tv", weight, scores, z, x, v, optimize=True) + d * v
        k = k * np.exp(1j * angle[:, None])
        k = np.concatenate([k.real, k.imag], axis=-1)
        return y, (angle[-1], np.einsum("s,srk,rv,sv->kv", weight[-1], k, x, v), k[-1], v[-1])
