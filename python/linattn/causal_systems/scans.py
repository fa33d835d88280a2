"""Systems whose states are elementwise, complex, max-plus or matrix recurrences.

Notation of the docstrings: h, S .. are the states before the token, h', S' .. after it.
"""

import numpy as np

from ..numerics import sigmoid, silu, softplus
from .system import K, LOW_RANK, SCAN, V, system

N = 4  # complex states per channel


@system(h=SCAN, today=["h"])
class hgrn:
    """f = l + (1 - l) sigmoid(x);  h' = f h + (1 - f) silu(i);  o = h'."""

    def body(p):
        x, i, low = p.normal(V), p.normal(V), p.uniform(0, 0.5, V, per_token=False)
        f = p.add(low, p.mul(p.plus(1.0, p.minus(low)), p.sigmoid(x)))
        rest = p.mul(p.plus(1.0, p.minus(f)), p.silu(i))
        h = p.add(p.decay(p.state("h", (V,)), f, (0,), linear=True), rest)
        p.end(h, h=h)

    def step(x, i, low, h):
        f = low + (1 - low) * sigmoid(x)
        h = f * h + (1 - f) * silu(i)
        return h, h


@system(h=SCAN, today=["h"])
class mamba1:
    """D = softplus(dt + b);  h' = e^(D A) h + (D x) B^T;  y = h' C + d x.  A = -e^a [V, K]."""

    def body(p):
        x, dt, B, C = p.normal(V), p.normal(V), p.normal(K), p.normal(K)
        bias, a, d = (p.normal(*shape, per_token=False) for shape in ((V,), (V, K), (V,)))
        delta = p.softplus(p.add(dt, bias))
        g = p.mlir((V, K), """
~0 = tensor.empty() : {type}
~D = linalg.broadcast ins({0} : {t0}) outs(~0 : {type}) dimensions = [1]
~a = math.exp {1} : {type}
~A = arith.negf ~a : {type}
{name} = arith.mulf ~D, ~A : {type}
""", delta, a)
        h = p.decay(p.state("h", (V, K)), g, (0, 1))
        h = p.write(h, p.mul(delta, x), 0, B)
        p.end(p.add(p.read(h, C, 1), p.mul(d, x)), h=h)

    def step(x, dt, B, C, bias, a, d, h):
        delta = softplus(dt + bias)
        h = np.exp(delta[:, None] * -np.exp(a)) * h + (delta * x)[:, None] * B
        return h @ C + d * x, h


def complex_product(p, a, b):
    """Of pairs of a real and an imaginary part."""
    return (p.sub(p.mul(a[0], b[0]), p.mul(a[1], b[1])),
            p.add(p.mul(a[0], b[1]), p.mul(a[1], b[0])))


@system(re=SCAN, im=SCAN, today=["re", "im"])
class s4d:
    """h' = e^(D A) h + (e^(D A) - 1) / A B u per channel and state;  y = 2 Re(C h') + d u.

    A = -e^a + i w is constant, complex and diagonal."""

    def body(p):
        u = p.normal(V)
        a, w = p.uniform(-1, 0.5, V, N, per_token=False), p.uniform(0, 9, V, N, per_token=False)
        C = [p.normal(V, N, per_token=False) for _ in range(2)]
        step, d = p.uniform(0.01, 0.5, V, per_token=False), p.normal(V, per_token=False)
        wide = lambda x: p.mlir((V, N), """
~0 = tensor.empty() : {type}
{name} = linalg.broadcast ins({0} : {t0}) outs(~0 : {type}) dimensions = [1]
""", x)
        A = p.minus(p.exp(a)), w
        size = p.exp(p.mul(wide(step), A[0]))
        angle = p.mul(wide(step), A[1])
        decay = p.mul(size, p.cos(angle)), p.mul(size, p.sin(angle))
        # (e^(D A) - 1) / A = (e^(D A) - 1) conj(A) / |A|^2.
        below = p.add(p.mul(A[0], A[0]), p.mul(A[1], A[1]))
        top = complex_product(p, (p.plus(-1.0, decay[0]), decay[1]), (A[0], p.minus(A[1])))
        h = [p.state("re", (V, N)), p.state("im", (V, N))]
        h = [p.add(x, p.mul(wide(u), p.div(y, below)))
             for x, y in zip(complex_product(p, decay, h), top)]
        ones = p.constant(1.0, (N,))
        both = p.matvec(complex_product(p, C, h)[0], ones)
        p.end(p.add(p.times(2.0, both), p.mul(d, u)), re=h[0], im=h[1])

    def step(u, a, w, c_re, c_im, delta, d, re, im):
        A, C, delta = -np.exp(a) + 1j * w, c_re + 1j * c_im, delta[:, None]
        h = np.exp(delta * A) * (re + 1j * im) + (np.exp(delta * A) - 1) / A * u[:, None]
        return 2 * np.sum(C * h, axis=1).real + d * u, h.real, h.imag


@system(re=SCAN, im=SCAN, today=["re", "im"])
class dlr:
    """h' = L h + u, L = e^(-a + i w) constant;  y = Re(C h')."""

    def body(p):
        u, a, w = p.normal(), p.uniform(0, 0.3, K, per_token=False), p.normal(K, per_token=False)
        C = [p.normal(K, per_token=False) for _ in range(2)]
        size = p.exp(p.minus(a))
        L = p.mul(size, p.cos(w)), p.mul(size, p.sin(w))
        re, im = complex_product(p, L, (p.state("re", (K,)), p.state("im", (K,))))
        re = p.add(re, p.splat(u, (K,)))
        p.end(p.sub(p.dot(C[0], re), p.dot(C[1], im)), re=re, im=im)

    def sequence(u, a, w, c_re, c_im, re, im):
        """A convolution: y_t = Re sum_n C_n (L_n^(t+1) h_n + sum_s L_n^(t-s) u_s)."""
        T, C, h = len(u), c_re + 1j * c_im, re + 1j * im
        power = lambda n: np.exp(np.multiply.outer(n, -a + 1j * w))
        y = (power(np.arange(1, T + 1)) * h) @ C
        lag = np.subtract.outer(np.arange(T), np.arange(T))
        kernel = np.where(lag >= 0, power(np.maximum(lag, 0)) @ C, 0)
        h = power(T) * h + power(np.arange(T)[::-1]).T @ u
        return (y + kernel @ u).real, (h.real, h.imag)


# A matrix per token from those of the channels x: I + sum_c x_c A_c, block by block, times y.
BLOCKS = """
~1 = linalg.generic {{
    indexing_maps = [affine_map<(n, i, j, c) -> (c)>, affine_map<(n, i, j, c) -> (c, n, i, j)>,
                     affine_map<(n, i, j, c) -> (n, j)>, affine_map<(n, i, j, c) -> (n, i)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]}}
    ins({0}, {1}, {2} : {t0}, {t1}, {t2}) outs({2} : {t2}) {{
^bb0(%in: f64, %a: f64, %old: f64, %sum: f64):
  %ina = arith.mulf %in, %a : f64
  %term = arith.mulf %ina, %old : f64
  %more = arith.addf %sum, %term : f64
  linalg.yield %more : f64
}} -> {type}
{name} = arith.addf ~1, {3} : {type}
"""


@system(y=SCAN, today=["y"])
class slice_block_diagonal:
    """y' = y + sum_c x_c A_c y + B x with A_c of 3 blocks of 2 x 2;  o = y'."""

    def body(p):
        x = p.drawn(lambda shape: 0.2 * p.rng.standard_normal(shape), (4,))
        A = p.normal(4, 3, 2, 2, per_token=False)
        B = p.normal(6, 4, per_token=False)
        Bx = p.mlir((3, 2), """
{name} = tensor.expand_shape {0} [[0, 1]] output_shape [3, 2] : {t0} into {type}
""", p.matvec(B, x))
        y = p.mlir((3, 2), BLOCKS, x, A, p.state("y", (3, 2)), Bx)
        p.end(y, y=y)

    def step(x, A, B, y):
        M = np.zeros((6, 6))
        for n in range(3):
            part = slice(2 * n, 2 * n + 2)
            M[part, part] = np.tensordot(x, A[:, n], 1)
        y = (y.ravel() + M @ y.ravel() + B @ x).reshape(3, 2)
        return y, y


@system(y=SCAN, today=["y"])
class slice_walsh_hadamard:
    """y' = y + W (sum_c x_c tanh(a_c) y), W = Hadamard / sqrt(8);  o = y'.  Butterflies for W."""

    def body(p):
        x = p.drawn(lambda shape: 0.2 * p.rng.standard_normal(shape), (4,))
        a, y = p.normal(8, 4, per_token=False), p.state("y", (8,))
        z = p.mul(p.matvec(p.tanh(a), x), y)
        for half in (1, 2, 4):
            n = 4 // half
            # [n, 2, half]: sums and differences of both rows.
            z = p.mlir((8,), f"""
~z = tensor.expand_shape {{0}} [[0, 1, 2]] output_shape [{n}, 2, {half}]
    : {{t0}} into tensor<{n}x2x{half}xf64>
~a = tensor.extract_slice ~z[0, 0, 0] [{n}, 1, {half}] [1, 1, 1]
    : tensor<{n}x2x{half}xf64> to tensor<{n}x1x{half}xf64>
~b = tensor.extract_slice ~z[0, 1, 0] [{n}, 1, {half}] [1, 1, 1]
    : tensor<{n}x2x{half}xf64> to tensor<{n}x1x{half}xf64>
~s = arith.addf ~a, ~b : tensor<{n}x1x{half}xf64>
~d = arith.subf ~a, ~b : tensor<{n}x1x{half}xf64>
~c = tensor.concat dim(1) ~s, ~d
    : (tensor<{n}x1x{half}xf64>, tensor<{n}x1x{half}xf64>) -> tensor<{n}x2x{half}xf64>
{{name}} = tensor.collapse_shape ~c [[0, 1, 2]] : tensor<{n}x2x{half}xf64> into {{type}}
""", z)
        y = p.add(y, p.times(8**-0.5, z))
        p.end(y, y=y)

    def step(x, a, y):
        ones = np.array([[i & j for j in range(8)] for i in range(8)])
        parity = np.vectorize(lambda n: bin(n).count("1") % 2)(ones)
        y = y + (1 - 2 * parity) / np.sqrt(8) @ (np.tanh(a) @ x * y)
        return y, y


@system(h=SCAN, today=["h"])
class bilinear_rotations:
    """h' = R(A x) h + B x, R of 2 x 2 rotations by the angles A x;  o = c^T h'.  h is [2, K]."""

    def body(p):
        x, A = p.normal(4), p.normal(K, 4, per_token=False)
        B, c = p.normal(2 * K, 4, per_token=False), p.normal(2, K, per_token=False)
        angle, h = p.matvec(A, x), p.state("h", (2, K))
        row = lambda m, i: p.slice(m, (i, 0), (1, K), (1, 1), (K,))
        Bx = p.mlir((2, K), f"""
{{name}} = tensor.expand_shape {{0}} [[0, 1]] output_shape [2, {K}] : {{t0}} into {{type}}
""", p.matvec(B, x))
        turned = complex_product(p, (p.cos(angle), p.sin(angle)), (row(h, 0), row(h, 1)))
        new = p.mlir((2, K), """
~0 = tensor.insert_slice {0} into {2}[0, 0] [1, SIZE] [1, 1] : {t0} into {type}
{name} = tensor.insert_slice {1} into ~0[1, 0] [1, SIZE] [1, 1] : {t1} into {type}
""".replace("SIZE", str(K)), *turned, h)
        new = p.add(new, Bx)
        o = p.add(*(p.dot(row(c, i), row(new, i)) for i in range(2)))
        p.end(o, h=new)

    def step(x, A, B, c, h):
        new = np.zeros_like(h)
        for i, angle in enumerate(A @ x):
            R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            new[:, i] = R @ h[:, i]
        new += (B @ x).reshape(2, K)
        return np.sum(c * new), new


@system(m=SCAN, C=LOW_RANK, n=LOW_RANK, today=["m"])
class mlstm_exponential:
    """m' = max(log s(f) + m, i);  F = e^(log s(f) + m - m'), I = e^(i - m');  C' = F C + I k v^T,
    n' = F n + I k;  o = C'^T q / (max(|n'^T q|, e^-m') + 1e-6)."""

    def body(p):
        q, k, v, f = p.uniform(-0.3, 1, K), p.uniform(0, 1, K), p.normal(V), p.normal()
        i, q = p.uniform(-20, 20), p.times(K**-0.5, q)
        m, C, n = p.state("m", (), -np.inf), p.state("C"), p.state("n", (K,))
        kept = p.add(p.log_sigmoid(f), m)
        top = p.larger(kept, i)
        F, I = p.sub(kept, top), p.exp(p.sub(i, top))
        C = p.put(p.decay(C, F), k, p.scale(I, v))
        n = p.write(p.decay(n, F), k, 0, I)
        below = p.larger(p.abs(p.read(n, q, 0)), p.exp(p.minus(top)))
        p.end(p.over(p.get(C, q), p.plus(1e-6, below)), m=top, C=C, n=n)

    def step(q, k, v, f, i, m, C, n):
        q = q / np.sqrt(K)
        top = max(-np.logaddexp(0, -f) + m, i)
        F, I = np.exp(-np.logaddexp(0, -f) + m - top), np.exp(i - top)
        C, n = F * C + I * np.outer(k, v), F * n + I * k
        return C.T @ q / (max(abs(n @ q), np.exp(-top)) + 1e-6), top, C, n


@system(C=LOW_RANK, n=LOW_RANK)
class mlstm_sigmoid:
    """C' = s(f) C + s(i) k v^T, n' = s(f) n + s(i) k;  o = C'^T q / max(|n'^T q|, 1)."""

    def body(p):
        q, k, v = p.times(K**-0.5, p.normal(K)), p.normal(K), p.normal(V)
        f, i = p.normal(), p.normal()
        F, I = p.log_sigmoid(f), p.sigmoid(i)
        C = p.put(p.decay(p.state("C"), F), k, p.scale(I, v))
        n = p.write(p.decay(p.state("n", (K,)), F), k, 0, I)
        below = p.larger(p.abs(p.read(n, q, 0)), p.constant(1.0))
        p.end(p.over(p.get(C, q), below), C=C, n=n)

    def step(q, k, v, f, i, C, n):
        C = sigmoid(f) * C + sigmoid(i) * np.outer(k, v)
        n = sigmoid(f) * n + sigmoid(i) * k
        q = q / np.sqrt(K)
        return C.T @ q / max(abs(n @ q), 1), C, n


@system(top=SCAN, a=SCAN, b=SCAN, today=["top", "a", "b"])
class rwkv4:
    """Per channel, w < 0: m = max(u + k, t);
    o = (e^(t-m) a + e^(u+k-m) v) / (e^(t-m) b + e^(u+k-m));
    t' = max(w + t, k);  a' = e^(w+t-t') a + e^(k-t') v, b' = e^(w+t-t') b + e^(k-t')."""

    def body(p):
        k, v = p.uniform(-9, 9, V), p.normal(V)
        w, u = p.uniform(-2, 0, V, per_token=False), p.normal(V, per_token=False)
        t, a, b = (p.state(name, (V,), start) for name, start in
                   (("top", -1e38), ("a", 0), ("b", 0)))
        bonus = p.add(u, k)
        m = p.larger(bonus, t)
        old, own = p.exp(p.sub(t, m)), p.exp(p.sub(bonus, m))
        o = p.div(p.add(p.mul(old, a), p.mul(own, v)), p.add(p.mul(old, b), own))
        kept = p.add(w, t)
        top = p.larger(kept, k)
        old, own = p.exp(p.sub(kept, top)), p.exp(p.sub(k, top))
        p.end(o, top=top, a=p.add(p.mul(old, a), p.mul(own, v)), b=p.add(p.mul(old, b), own))

    def sequence(k, v, w, u, top, a, b):
        """o_t: the mean of v_s with weights e^(k_s + (t-1-s) w), of v_t with weight e^(u + k_t)."""
        T = len(k)
        weights = np.array([[k[s] + (t - 1 - s) * w if s < t else u + k[t]
                             for s in range(t + 1)] + [np.full(V, -np.inf)] * (T - 1 - t)
                            for t in range(T)]).reshape(T, T, V)
        weights = np.exp(weights - weights.max(axis=1, keepdims=True, initial=-np.inf))
        out = np.sum(weights * v, axis=1) / np.sum(weights, axis=1)
        logs = k + np.arange(T)[::-1, None] * w
        if T:
            top = logs.max(axis=0)
            a, b = np.sum(np.exp(logs - top) * v, axis=0), np.sum(np.exp(logs - top), axis=0)
        return out, (top, a, b)
