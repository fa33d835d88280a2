"""Systems that take a gradient step per token: the state stands inside a LayerNorm."""

import numpy as np

from ..numerics import sigmoid
from .system import SEQUENTIAL, system

K = 6
EPS = 1e-6


def normed(p, x):
    """(x - mean) / sqrt(variance + eps) and that root."""
    centred = p.sub(x, p.splat(p.times(1 / K, p.sum(x)), (K,)))
    root = p.sqrt(p.plus(EPS, p.times(1 / K, p.dot(centred, centred))))
    return p.over(centred, root), root


def layer_norm(p, x, weight, bias):
    return p.add(p.mul(normed(p, x)[0], weight), bias)


def gradient(p, x, target, weight, bias):
    """Of |layer_norm(x) - target|^2 / 2 with respect to x."""
    unit, root = normed(p, x)
    error = p.mul(p.sub(p.add(p.mul(unit, weight), bias), target), weight)
    mean = p.splat(p.times(1 / K, p.sum(error)), (K,))
    along = p.scale(p.times(1 / K, p.dot(error, unit)), unit)
    return p.over(p.sub(p.sub(error, mean), along), root)


def numpy_layer_norm(x, weight, bias):
    return (x - x.mean()) / np.sqrt(x.var() + EPS) * weight + bias


def numpy_gradient(x, target, weight, bias):
    """By the Jacobian of the LayerNorm."""
    root, n = np.sqrt(x.var() + EPS), len(x)
    unit = (x - x.mean()) / root
    jacobian = (np.eye(n) - 1 / n - np.outer(unit, unit) / n) / root
    return jacobian.T @ (weight * (numpy_layer_norm(x, weight, bias) - target))


@system(W=SEQUENTIAL, c=SEQUENTIAL)
class ttt_linear:
    """d = the gradient at x = k^T W + c of |LN(x) - (v - k)|^2 / 2;  W' = W - e k d^T,
    c' = c - e d;  x = q^T W' + c';  o = x + LN(x)."""

    def body(p):
        q, k, v, eta = p.normal(K), p.key(K), p.normal(K), p.number(0, 0.3)
        weight, bias = p.uniform(0.5, 1.5, K, per_token=False), p.normal(K, per_token=False)
        W, c = p.state("W", (K, K)), p.state("c", (K,))
        d = gradient(p, p.add(p.get(W, k), c), p.sub(v, k), weight, bias)
        change = p.minus(p.scale(eta, d))
        W, c = p.put(W, k, change), p.add(c, change)
        x = p.add(p.get(W, q), c)
        p.end(p.add(x, layer_norm(p, x, weight, bias)), W=W, c=c)

    def step(q, k, v, eta, weight, bias, W, c):
        d = numpy_gradient(k @ W + c, v - k, weight, bias)
        W, c = W - eta * np.outer(k, d), c - eta * d
        x = q @ W + c
        return x + numpy_layer_norm(x, weight, bias), W, c


@system(M=SEQUENTIAL, P=SEQUENTIAL)
class titans_linear:
    """P' = s(h) P - t d, d = the gradient at M of |LN(k^T M) - v|^2;  M' = (1 - s(a)) M + P';
    x = q^T M';  o = x + LN(x)."""

    def body(p):
        q, k, v = p.normal(K), p.key(K), p.normal(K)
        h, a, t = p.normal(), p.uniform(-5, -1), p.number(0, 0.1)
        weight, bias = p.uniform(0.5, 1.5, K, per_token=False), p.normal(K, per_token=False)
        M, P = p.state("M", (K, K)), p.state("P", (K, K))
        d = gradient(p, p.get(M, k), v, weight, bias)
        P = p.put(p.decay(P, p.sigmoid(h), linear=True), k, p.scale(p.times(-2.0, t), d))
        M = p.add(p.decay(M, p.sigmoid(p.minus(a)), linear=True), P)
        x = p.get(M, q)
        p.end(p.add(x, layer_norm(p, x, weight, bias)), M=M, P=P)

    def step(q, k, v, h, a, t, weight, bias, M, P):
        P = sigmoid(h) * P - 2 * t * np.outer(k, numpy_gradient(k @ M, v, weight, bias))
        M = (1 - sigmoid(a)) * M + P
        x = q @ M
        return x + numpy_layer_norm(x, weight, bias), M, P
