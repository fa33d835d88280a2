"""Systems with a solve in an address: conjugate gradients, an inverse that is kept up to date."""

import numpy as np

from ..numerics import elu1, l2norm, sigmoid, softplus
from .system import K, LOW_RANK, SEQUENTIAL, V, system

# x = (H + diag(L))^-1 q by K + 1 steps; {0}: H, {1}: L, {2}: q.
CONJUGATE_GRADIENTS = """
~0 = arith.constant dense<0.0> : tensor<f64>
~z = arith.constant dense<0.0> : {type}
~a = arith.constant 0 : index
~b = arith.constant SIZE : index
~c = arith.constant 1 : index
~tiny = arith.constant 1.0e-300 : f64
~q = linalg.dot ins({2}, {2} : {type}, {type}) outs(~0 : tensor<f64>) -> tensor<f64>
~qq = tensor.extract ~q[] : tensor<f64>
{name}:4 = scf.for ~i = ~a to ~b step ~c
    iter_args(~x = ~z, ~r = {2}, ~d = {2}, ~rr = ~qq)
    -> ({type}, {type}, {type}, f64) {{
  ~Hd = linattn.read {0} at ~d along 0 : {t0}, {type}
  ~Ld = arith.mulf {1}, ~d : {type}
  ~Ad = arith.addf ~Hd, ~Ld : {type}
  ~dAd_t = linalg.dot ins(~d, ~Ad : {type}, {type}) outs(~0 : tensor<f64>) -> tensor<f64>
  ~dAd = tensor.extract ~dAd_t[] : tensor<f64>
  ~below = arith.addf ~dAd, ~tiny : f64
  ~alpha = arith.divf ~rr, ~below : f64
  ~alphas = tensor.splat ~alpha : {type}
  ~dx = arith.mulf ~alphas, ~d : {type}
  ~x1 = arith.addf ~x, ~dx : {type}
  ~dr = arith.mulf ~alphas, ~Ad : {type}
  ~r1 = arith.subf ~r, ~dr : {type}
  ~rr_t = linalg.dot ins(~r1, ~r1 : {type}, {type}) outs(~0 : tensor<f64>) -> tensor<f64>
  ~rr1 = tensor.extract ~rr_t[] : tensor<f64>
  ~rr0 = arith.addf ~rr, ~tiny : f64
  ~beta = arith.divf ~rr1, ~rr0 : f64
  ~betas = tensor.splat ~beta : {type}
  ~old = arith.mulf ~betas, ~d : {type}
  ~d1 = arith.addf ~r1, ~old : {type}
  scf.yield ~x1, ~r1, ~d1, ~rr1 : {type}, {type}, {type}, f64
}}
""".replace("SIZE", str(K + 1))


@system(H=LOW_RANK, S=LOW_RANK)
class mesa:
    """H' = s(g) H + s(b) k k^T, S' = s(g) S + s(b) k v^T;  o = S'^T (H' + diag(L))^-1 q, unit q, k.

    L = softplus(l) + 1/4. One step of conjugate gradients more than in exact numbers."""

    def body(p):
        q, k, v, g, b = p.normal(K), p.normal(K), p.normal(V), p.normal(), p.normal()
        L = p.plus(0.25, p.softplus(p.normal(K, per_token=False)))
        q, k = (p.over(x, p.length(x, eps=1e-6)) for x in (q, k))
        g, b = p.log_sigmoid(g), p.sigmoid(b)
        H = p.put(p.decay(p.state("H", (K, K), 0), g), k, p.scale(b, k))
        S = p.put(p.decay(p.state("S"), g), k, p.scale(b, v))
        solved = p.mlir((K,), CONJUGATE_GRADIENTS, H, L, q) + "#0"
        p.shapes[solved] = (K,)
        p.end(p.get(S, solved), H=H, S=S)

    def step(q, k, v, g, b, l, H, S):
        q, k = l2norm(q), l2norm(k)
        H, S = (sigmoid(g) * X + sigmoid(b) * np.outer(k, y) for X, y in ((H, k), (S, v)))
        return S.T @ np.linalg.solve(H + np.diag(softplus(l) + 0.25), q), H, S


@system(A=SEQUENTIAL, S=LOW_RANK, z=LOW_RANK)
class vla:
    """A' = A - (A u)(A u)^T / (1 + u^T A u), u = unit(W k) / sqrt(K);  w = unit(A' unit(f(k)));
    S' = S + w (v - unit(f(k))^T S)^T, z' = z + f(k);  o = S'^T f(q) / max(z'^T f(q), 1e-6);
    f = elu + 1.

    A_0 = I / 2, so that A is the inverse of 2 I + the sum of all u u^T."""

    def body(p):
        q, k, v = p.normal(K), p.normal(K), p.normal(V)
        W = p.normal(K, K, per_token=False)
        A, S, z = p.state("A", (K, K), np.eye(K) / 2), p.state("S"), p.state("z", (K,), 0)
        u = p.times(K**-0.5, p.unit(p.matvec(W, k)))
        Au = p.read(A, u, 1)
        A = p.put(A, Au, p.minus(p.over(Au, p.plus(1.0, p.dot(u, Au)))))
        fq, fk = (p.elu1(x) for x in (q, k))
        key = p.unit(fk)
        w = p.unit(p.read(A, key, 1))
        S = p.put(S, w, p.sub(v, p.get(S, key)))
        z = p.write(z, fk, 0, p.constant(1.0))
        below = p.larger(p.read(z, fq, 0), p.constant(1e-6))
        p.end(p.over(p.get(S, fq), below), A=A, S=S, z=z)

    def sequence(q, k, v, W, A, S, z):
        """A by a solve over all tokens so far."""
        q, k, u, out = elu1(q), elu1(k), k @ W.T, np.zeros(v.shape)
        u = u / np.linalg.norm(u, axis=1, keepdims=True) / np.sqrt(K)
        moments = np.linalg.inv(A)
        for t in range(len(q)):
            moments = moments + np.outer(u[t], u[t])
            A, key = np.linalg.inv(moments), k[t] / np.linalg.norm(k[t])
            w = A @ key
            S = S + np.outer(w / np.linalg.norm(w), v[t] - key @ S)
            z = z + k[t]
            out[t] = q[t] @ S / max(z @ q[t], 1e-6)
        return out, (A, S, z)
