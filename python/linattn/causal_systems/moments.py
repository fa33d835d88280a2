"""Systems of low-rank states that read each other, in two passes or as second moments."""

import numpy as np

from ..numerics import logsigmoid
from .system import K, LOW_RANK, SCAN, V, system

M = 4  # slots


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@system(S=LOW_RANK)
class gated_oja:
    """X = S diag(e^g);  S' = X + b (k - X v) v^T;  o = S'^T q.  Unit v."""

    def body(p):
        q, k, v = p.normal(K), p.normal(K), p.key(V)
        g, b = p.gate((V,)), p.number()
        X = p.decay(p.state(), g, (1,))
        error = p.sub(k, p.read(X, v, 1))
        X = p.write(X, v, 1, p.scale(b, error))
        p.end(p.read(X, q, 0), S=X)

    def step(q, k, v, g, b, S):
        S = S * np.exp(g)
        S = S + np.outer(b * (k - S @ v), v)
        return S.T @ q, S


@system(Y=LOW_RANK, Z=LOW_RANK)
class gsa:
    """f = log sigmoid(x) / 8, s = 1 - e^f;  Y' = Y diag(e^f) + k s^T;
    p = softmax(Y'^T q / sqrt(K));  Z' = diag(e^f) Z + s v^T;  o = Z'^T p."""

    def body(p):
        q, k, v, x = p.normal(K), p.normal(K), p.normal(V), p.normal(M)
        Y, Z = p.state("Y", (K, M)), p.state("Z", (M, V))
        f = p.times(1 / 8, p.log_sigmoid(x))
        s = p.minus(p.apply("math.expm1", f))
        Y = p.write(p.decay(Y, f, (1,)), k, 0, s)
        slots = p.softmax(p.read(Y, p.times(K**-0.5, q), 0))
        Z = p.write(p.decay(Z, f, (0,)), s, 0, v)
        p.end(p.read(Z, slots, 0), Y=Y, Z=Z)

    def step(q, k, v, x, Y, Z):
        f, s = np.exp(logsigmoid(x) / 8), -np.expm1(logsigmoid(x) / 8)
        Y = Y * f + np.outer(k, s)
        Z = f[:, None] * Z + np.outer(s, v)
        return Z.T @ softmax(Y.T @ q / np.sqrt(K)), Y, Z


def running_softmax(x):
    """[T, T, n]: of every channel, for token t over the tokens up to t; the log of the last sum."""
    T = len(x)
    logs = np.where(np.tri(T, dtype=bool)[:, :, None], x[None], -np.inf)
    return softmax(logs, axis=1), np.logaddexp.reduce(x, axis=0)


@system(z=SCAN, Y=LOW_RANK, Z=LOW_RANK)
class abc:
    """z' = log(e^z + e^x), w = e^(x - z'), g = z - z';  then as gsa, g for f and w for s.

    The first gate is -inf: what it meets is 0."""

    def body(p):
        q, k, v, x = p.normal(K), p.normal(K), p.normal(V), p.uniform(-5, 5, M)
        z = p.state("z", (M,), -np.inf)
        Y, Z = p.state("Y", (K, M), 0), p.state("Z", (M, V), 0)
        new = p.log_add_exp(z, x)
        w, g = p.exp(p.sub(x, new)), p.sub(z, new)
        Y = p.write(p.decay(Y, g, (1,)), k, 0, w)
        slots = p.softmax(p.read(Y, p.times(K**-0.5, q), 0))
        Z = p.write(p.decay(Z, g, (0,)), w, 0, v)
        p.end(p.read(Z, slots, 0), z=new, Y=Y, Z=Z)

    def sequence(q, k, v, x, z, Y, Z):
        """Keys and values averaged per slot, by weights e^x over the tokens so far."""
        if not len(q):
            return np.zeros((0, V)), (z, Y, Z)
        weights, z = running_softmax(x)
        keys, values = (np.einsum("tsm,sd->tmd", weights, y) for y in (k, v))
        slots = softmax(np.einsum("tmd,td->tm", keys, q) / np.sqrt(K))
        return np.einsum("tm,tmv->tv", slots, values), (z, keys[-1].T, values[-1])


@system(z=SCAN, S=LOW_RANK)
class lightnet:
    """z' = log(e^z + e^k), g = z - z';  S' = diag(e^g) S + e^(k - z') v^T;  o = S'^T q."""

    def body(p):
        q, k, v = p.normal(K), p.uniform(-5, 5, K), p.normal(V)
        z, S = p.state("z", (K,), -np.inf), p.state("S", (K, V), 0)
        new = p.log_add_exp(z, k)
        X = p.put(p.rows(S, p.sub(z, new)), p.exp(p.sub(k, new)), v)
        p.end(p.get(X, q), z=new, S=X)

    def sequence(q, k, v, z, S):
        if not len(q):
            return np.zeros((0, V)), (z, S)
        weights, z = running_softmax(k)
        states = np.einsum("tsk,sv->tkv", weights, v)
        return np.einsum("tk,tkv->tv", q, states), (z, states[-1])


@system(S=LOW_RANK, P=LOW_RANK, m=SCAN, n=SCAN)
class ccq:
    """S' = e^g S + k v^T;  P' = e^g P + k k^T, m' = e^g m + k, n' = e^g n + 1;
    o = S'^T (I - c (P' / n' - m' m'^T / n'^2)) q."""

    def body(p):
        q, k, v = p.normal(K), p.normal(K), p.normal(V)
        g, c = p.gate(), p.uniform(0, 0.5, per_token=False)
        S, P = p.state(), p.state("P", (K, K), 0)
        m, n = p.state("m", (K,), 0), p.state("n", (), 0)
        S = p.put(p.decay(S, g), k, v)
        P = p.put(p.decay(P, g), k, k)
        m = p.add(p.decay(m, g), k)
        n = p.add(p.mul(p.exp(g), n), p.constant(1.0))
        mean = p.over(m, n)
        curved = p.sub(p.over(p.get(P, q), n), p.scale(p.dot(mean, q), mean))
        p.end(p.get(S, p.sub(q, p.scale(c, curved))), S=S, P=P, m=m, n=n)

    def step(q, k, v, g, c, S, P, m, n):
        S, P = np.exp(g) * S + np.outer(k, v), np.exp(g) * P + np.outer(k, k)
        m, n = np.exp(g) * m + k, np.exp(g) * n + 1
        covariance = P / n - np.outer(m, m) / n**2
        return S.T @ ((np.eye(K) - c * covariance) @ q), S, P, m, n


@system(P=LOW_RANK, C=LOW_RANK, G=LOW_RANK)
class hla:
    """G' = c^2 G + k (c k^T C)^T;  P' = c P + k k^T, C' = c C + q v^T;  o = q^T (P' C' - G')."""

    def body(p):
        q, k, v, log_c = p.normal(K), p.normal(K), p.normal(V), p.uniform(-0.3, 0, per_token=False)
        P, C, G = p.state("P", (K, K), 0), p.state("C", (K, V), 0), p.state("G", (K, V), 0)
        P, C, G = p.decay(P, log_c), p.decay(C, log_c), p.decay(G, p.add(log_c, log_c))
        G = p.put(G, k, p.get(C, k))
        P, C = p.put(P, k, k), p.put(C, q, v)
        p.end(p.sub(p.get(C, p.get(P, q)), p.get(G, q)), P=P, C=C, G=G)

    def sequence(q, k, v, log_c, P, C, G):
        """o_t: the sum over s <= u <= t of c^(t-s) c^(t-u) (q_t k_s) (k_s q_u) v_u."""
        T, lag = len(q), np.subtract.outer(np.arange(len(q)), np.arange(len(q)))
        decay = np.where(lag >= 0, np.exp(np.maximum(lag, 0) * log_c), 0)
        out = np.array([(decay[t] * decay[t][:, None] * np.triu(np.outer(k @ q[t], np.ones(T)) *
                        (k @ q.T))).sum(axis=0) @ v for t in range(T)]).reshape(T, V)
        if T:
            last = decay[-1][:, None]
            P, C = (last * k).T @ k, (last * q).T @ v
            G = (last * k).T @ (np.tril(k @ q.T, -1) @ (last * v))
        return out, (P, C, G)


@system(P=LOW_RANK, E=LOW_RANK)
class ahla:
    """P' = P + k v^T;  E' = E + k (q^T P')^T;  o = q^T E'."""

    def body(p):
        q, k, v = p.normal(K), p.normal(K), p.normal(V)
        P = p.put(p.state("P", start=0), k, v)
        E = p.put(p.state("E", start=0), k, p.get(P, q))
        p.end(p.get(E, q), P=P, E=E)

    def sequence(q, k, v, P, E):
        """tril(Q K^T)^2 V."""
        weights = np.tril(q @ k.T)
        return weights @ (weights @ v), (k.T @ v, k.T @ (weights @ v))

