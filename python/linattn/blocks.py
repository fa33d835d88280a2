"""Token mixers between their projections, as programs on whole tensors, with float64 references.

Everything but the recurrence itself is written outside of it, as a frontend that knows nothing of
this compiler would: short convolutions, gates, norms, skip terms. Each function of `BLOCKS` returns
a `Block`: the program's text, the arguments as (element type, array), and the expected results."""

from dataclasses import dataclass

import numpy as np

from . import numerics
from .numerics import sigmoid, silu, softplus
from .tensor_programs import TensorProgram

EPS = 1e-5


@dataclass
class Block:
    text: str
    arguments: list
    expected: list


class _Builder:
    """Arguments with their values."""

    def __init__(self, program, batch, tokens, seed):
        self.program = program
        self.sizes = {"b": batch, "t": tokens, **program.sizes}
        self.random = np.random.default_rng(seed)
        self.arguments = []

    def argument(self, name, dims, scale=1.0, shift=0.0, element="f32"):
        shape = [self.sizes[dim] for dim in dims]
        x = shift + scale * self.random.standard_normal(shape)
        x = numerics.decode(numerics.encode(x, element), element)
        self.arguments.append((element, x))
        return self.program.argument(name, dims, element), x


def unit(x):
    return numerics.l2norm(x, EPS)


def rms_norm(x):
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + EPS)


def convolve(past, x, weights):
    """weights: [W, C]. Returns the sums and the last W - 1 rows."""
    rows = np.concatenate([past, x], 1)
    width, tokens = len(weights), x.shape[1]
    y = sum(rows[:, w:w + tokens] * weights[w] for w in range(width))
    return y, rows[:, tokens:]


def heads(x, count):
    return x.reshape(*x.shape[:2], count, x.shape[2] // count)


def scan(step, tokens, state):
    """step(t, S) returns the out of token t and the new state."""
    outs = []
    for t in range(tokens):
        o, state = step(t, state)
        outs.append(o)
    return outs, state


def _stack(outs, shape):
    return np.stack(outs, 1) if outs else np.zeros(shape)


def _l2norm(p, x, dims):
    square = p.sum(dims[:-1], lambda e, a: e.mul(a, a), x)
    return p.each(dims, lambda e, a, s: e.mul(a, e.rsqrt(e.add(s, e.constant(EPS)))), x, square)


def _mean_square(p, x, dims):
    size = p.sizes[dims[-1]]
    square = p.sum(dims[:-1], lambda e, a: e.mul(a, a), x)
    return p.each(dims[:-1], lambda e, s: e.rsqrt(
        e.add(e.mul(s, e.constant(1 / size)), e.constant(EPS))), square)


def _vector(p, dim, element="f32"):
    return p.type(dim, element)


def gated_delta_net_tensors(p, q, k, v, a, b, a_log, dt_bias, z, norm, s0, group="h", element="f32",
                            out=None):
    """What follows the convolution: q, k, v are [b, t, heads, size]; out: where the result goes."""
    q, k = _l2norm(p, q, q.dims), _l2norm(p, k, k.dims)
    scale = p.sizes["d"] ** -0.5
    q = p.each(q.dims, lambda e, y: e.mul(y, e.constant(scale)), q)
    gate = p.each("bth", lambda e, y, bias, log: e.neg(e.mul(e.exp(log), e.softplus(e.add(y, bias)))),
                  a, dt_bias, a_log)
    beta = p.each("bth", lambda e, y: e.sigmoid(y), b)
    key, vec = f"b, t, {group}, d", _vector(p, "v")
    o, s = p.recurrence([(q, "qt", key), (k, "kt", key), (v, "vt", "b, t, h, v"),
                         (gate, "gt", "b, t, h"), (beta, "bt", "b, t, h")], ("bthv", "f32"), s0, [
        "%X = linattn.decay %S by %gt : STATE, f32",
        f"%r = linattn.read %X at %kt along 0 : STATE, {_vector(p, 'd')}",
        f"%e = arith.subf %vt, %r : {vec}",
        f"%bs = tensor.splat %bt : {vec}",
        f"%u = arith.mulf %bs, %e : {vec}",
        f"%S1 = linattn.write %X at %kt along 0 value %u : STATE, {_vector(p, 'd')}, {vec}",
        f"%ot = linattn.read %S1 at %qt along 0 : STATE, {_vector(p, 'd')}"])
    rms = _mean_square(p, o, "bthv")
    y = p.each("bthv", lambda e, i, r, weight, gate: e.mul(i, r, weight, e.silu(gate)), o, rms, norm,
               z, element=element, out=out)
    return y, s


def gated_delta_net(tokens, batch=1, heads_=4, keys=2, size=16, element="f32", seed=0):
    """One convolution over the fused q, k, v with a carried state; `keys` key heads."""
    p = TensorProgram(h=heads_, g=keys, d=size, v=size, w=4, p=3, c=(2 * keys + heads_) * size,
                      m=keys * size, n=heads_ * size)
    builder = _Builder(p, batch, tokens, seed)
    arg = builder.argument
    x, X = arg("x", "btc", element=element)
    past, PAST = arg("past", "bpc", element=element)
    w, W = arg("w", "wc", 0.5)
    a, A = arg("a", "bth", element=element)
    b, B = arg("b", "bth", element=element)
    a_log, ALOG = arg("a_log", "h", 0.5)
    dt_bias, BIAS = arg("dt_bias", "h")
    z, Z = arg("z", "btn", element=element)
    norm, NORM = arg("norm", "v", 0.2, 1)
    s0, S0 = arg("s0", "bhdv", 0.5)

    rows = p.behind(past, x)
    following = p.slice(rows, "T", "%size_t", "p")
    act = p.each("btc", lambda e, y: e.silu(y), p.convolve(rows, w))
    q, k = (p.split(p.slice(act, "c", offset, "m"), "m", "gd") for offset in (0, keys * size))
    v = p.split(p.slice(act, "c", 2 * keys * size, "n"), "n", "hv")
    y, s = gated_delta_net_tensors(p, q, k, v, a, b, a_log, dt_bias, p.split(z, "n", "hv"), norm, s0,
                                   f"h floordiv {heads_ // keys}", element)
    text = p.function("block", [p.join(y, "hv", "n"), s, following])

    act, following = convolve(PAST, X, W)
    act = silu(act)
    q, k = (np.repeat(unit(heads(part, keys)), heads_ // keys, 2)
            for part in np.split(act[..., :2 * keys * size], 2, -1))
    v = heads(act[..., 2 * keys * size:], heads_)
    gate, beta = np.exp(-np.exp(ALOG) * softplus(A + BIAS)), sigmoid(B)

    def step(t, S):
        S = gate[:, t, :, None, None] * S
        u = beta[:, t, :, None] * (v[:, t] - np.einsum("bhk,bhkv->bhv", k[:, t], S))
        S = S + k[:, t, :, :, None] * u[:, :, None]
        return np.einsum("bhk,bhkv->bhv", q[:, t] * size ** -0.5, S), S
    outs, S = scan(step, tokens, S0)
    o = rms_norm(_stack(outs, v.shape)) * NORM * silu(heads(Z, heads_))
    return Block(text, builder.arguments, [o.reshape(Z.shape), S, following])


def kda(tokens, batch=1, heads_=4, size=16, element="f32", seed=0):
    """A convolution each of q, k and v, with bias, behind zeros; a decay per key channel."""
    p = TensorProgram(h=heads_, d=size, v=size, w=4, n=heads_ * size)
    builder = _Builder(p, batch, tokens, seed)
    arg = builder.argument
    names = ("q", "k", "v")
    xs = [arg(name, "btn", element=element) for name in names]
    ws = [arg(f"w_{name}", "nw", 0.5) for name in names]
    biases = [arg(f"bias_{name}", "n", 0.2) for name in names]
    f, F = arg("f", "bthd", element=element)
    b, B = arg("b", "bth", element=element)
    a_log, ALOG = arg("a_log", "h", 0.5)
    dt_bias, BIAS = arg("dt_bias", "hd")
    z, Z = arg("z", "bthv", element=element)
    norm, NORM = arg("norm", "v", 0.2, 1)
    s0, S0 = arg("s0", "bhdv", 0.5)

    q, k, v = (p.split(p.each("btn", lambda e, y: e.silu(y),
                              p.convolve(p.behind_zeros(x, 3), w, bias)), "n", parts)
               for (x, _), (w, _), (bias, _), parts in zip(xs, ws, biases, ("hd", "hd", "hv")))
    q, k = _l2norm(p, q, "bthd"), _l2norm(p, k, "bthd")
    gate = p.each("bthd", lambda e, y, bias, log: e.neg(e.mul(e.exp(log), e.softplus(e.add(y, bias)))),
                  f, dt_bias, a_log)
    beta = p.each("bth", lambda e, y: e.sigmoid(y), b)
    vec, key = _vector(p, "v"), _vector(p, "d")
    o, s = p.recurrence([(q, "qt", "b, t, h, d"), (k, "kt", "b, t, h, d"), (v, "vt", "b, t, h, v"),
                         (gate, "gt", "b, t, h, d"), (beta, "bt", "b, t, h")], ("bthv", "f32"), s0, [
        f"%X = linattn.decay %S by %gt along [0] : STATE, {key}",
        f"%r = linattn.read %X at %kt along 0 : STATE, {key}",
        f"%e = arith.subf %vt, %r : {vec}",
        f"%bs = tensor.splat %bt : {vec}",
        f"%u = arith.mulf %bs, %e : {vec}",
        f"%S1 = linattn.write %X at %kt along 0 value %u : STATE, {key}, {vec}",
        f"%ot = linattn.read %S1 at %qt along 0 : STATE, {key}"])
    rms = _mean_square(p, o, "bthv")
    y = p.each("bthv", lambda e, i, r, weight, gate: e.mul(i, r, weight, e.sigmoid(gate)), o, rms,
               norm, z, element=element)
    text = p.function("block", [y, s])

    q, k, v = (heads(silu(convolve(np.zeros((batch, 3, heads_ * size)), x, w.T)[0] + bias), heads_)
               for (_, x), (_, w), (_, bias) in zip(xs, ws, biases))
    q, k = unit(q), unit(k)
    gate = np.exp(-np.exp(ALOG)[:, None] * softplus(F + BIAS))
    beta = sigmoid(B)

    def step(t, S):
        S = gate[:, t, :, :, None] * S
        u = beta[:, t, :, None] * (v[:, t] - np.einsum("bhk,bhkv->bhv", k[:, t], S))
        S = S + k[:, t, :, :, None] * u[:, :, None]
        return np.einsum("bhk,bhkv->bhv", q[:, t], S), S
    outs, S = scan(step, tokens, S0)
    return Block(text, builder.arguments,
                 [rms_norm(_stack(outs, v.shape)) * NORM * sigmoid(Z), S])


def mamba2(tokens, batch=1, heads_=4, size=16, element="f32", seed=0):
    """x, B and C from one convolution; two groups of heads share B and C. The norm is per head."""
    groups = 2
    p = TensorProgram(h=heads_, g=groups, d=size, v=2 * size, w=4, p=3,
                      c=2 * groups * size + 2 * heads_ * size, m=groups * size, n=2 * heads_ * size)
    builder = _Builder(p, batch, tokens, seed)
    arg = builder.argument
    x, X = arg("x", "btc", element=element)
    past, PAST = arg("past", "bpc", element=element)
    w, W = arg("w", "wc", 0.5)
    bias, BIAS = arg("bias", "c", 0.2)
    dt, DT = arg("dt", "bth", element=element)
    dt_bias, DTBIAS = arg("dt_bias", "h")
    a_log, ALOG = arg("a_log", "h", 0.5)
    skip, SKIP = arg("skip", "h")
    z, Z = arg("z", "btn", element=element)
    norm, NORM = arg("norm", "hv", 0.2, 1)
    s0, S0 = arg("s0", "bhdv", 0.5)

    rows = p.behind(past, x)
    following = p.slice(rows, "T", "%size_t", "p")
    act = p.each("btc", lambda e, y: e.silu(y), p.convolve(rows, w, bias))
    u = p.split(p.slice(act, "c", 0, "n"), "n", "hv")
    key = p.split(p.slice(act, "c", 2 * heads_ * size, "m"), "m", "gd")
    query = p.split(p.slice(act, "c", 2 * heads_ * size + groups * size, "m"), "m", "gd")
    step_size = p.each("bth", lambda e, y, bias: e.softplus(e.add(y, bias)), dt, dt_bias)
    decay = p.each("bth", lambda e, y, log: e.exp(e.neg(e.mul(y, e.exp(log)))), step_size, a_log)
    scaled = p.each("bthv", lambda e, y, i: e.mul(y, i), u, step_size)
    group = f"b, t, h floordiv {heads_ // groups}, d"
    o, s = p.recurrence([(query, "ct", group), (key, "kt", group), (scaled, "xt", "b, t, h, v"),
                         (decay, "at", "b, t, h")], ("bthv", "f32"), s0, [
        "%X = linattn.decay %S by linear %at : STATE, f32",
        f"%S1 = linattn.write %X at %kt along 0 value %xt : STATE, {_vector(p, 'd')}, "
        f"{_vector(p, 'v')}",
        f"%ot = linattn.read %S1 at %ct along 0 : STATE, {_vector(p, 'd')}"])
    gated = p.each("bthv", lambda e, i, y, d, gate: e.mul(e.add(i, e.mul(d, y)), e.silu(gate)),
                   o, u, skip, p.split(z, "n", "hv"))
    rms = _mean_square(p, gated, "bthv")
    y = p.each("bthv", lambda e, i, r, weight: e.mul(i, r, weight), gated, rms, norm,
               element=element)
    text = p.function("block", [p.join(y, "hv", "n"), s, following])

    act, following = convolve(PAST, X, W)
    act = silu(act + BIAS)
    u = heads(act[..., :2 * heads_ * size], heads_)
    key, query = (np.repeat(heads(part, groups), heads_ // groups, 2)
                  for part in np.split(act[..., 2 * heads_ * size:], 2, -1))
    step_size = softplus(DT + DTBIAS)
    decay = np.exp(-step_size * np.exp(ALOG))

    def step(t, S):
        S = decay[:, t, :, None, None] * S
        S = S + key[:, t, :, :, None] * (step_size[:, t, :, None] * u[:, t])[:, :, None]
        return np.einsum("bhk,bhkv->bhv", query[:, t], S), S
    outs, S = scan(step, tokens, S0)
    o = (_stack(outs, u.shape) + SKIP[:, None] * u) * silu(heads(Z, heads_))
    return Block(text, builder.arguments, [(rms_norm(o) * NORM).reshape(Z.shape), S, following])


def rwkv7(tokens, batch=1, heads_=4, size=16, element="f32", seed=0):
    """Token shifts on five inputs, the first behind a carried token and the others behind zeros;
    bonus, norm of heads with mean and variance, output gate."""
    p = TensorProgram(h=heads_, d=size, v=size, p=1)
    builder = _Builder(p, batch, tokens, seed)
    arg = builder.argument
    names = ("r", "w", "k", "v", "a")
    xs = [arg(name, "bthv" if name == "v" else "bthd", element=element) for name in names]
    mixes = [arg(f"mix_{name}", "hv" if name == "v" else "hd", 0.3, 0.5) for name in names]
    past, PAST = arg("past", "bphd", element=element)
    gate, GATE = arg("gate", "bthv", element=element)
    erased, ERASED = arg("k_k", "hd", 0.2, 1)
    kept, KEPT = arg("k_a", "hd", 0.2, 0.5)
    bonus, BONUS = arg("r_k", "hd", 0.5)
    weight, WEIGHT = arg("weight", "hv", 0.2, 1)
    shift, SHIFT = arg("shift", "hv", 0.2)
    s0, S0 = arg("s0", "bhdv", 0.5)

    def shifted(number):
        (x, _), (mix, _) = xs[number], mixes[number]
        rows = p.behind(past, x) if number == 0 else p.behind_zeros(x, 1)
        before = p.slice(rows, "T", 0, "t")
        return p.each(x.dims, lambda e, y, z, m: e.add(y, e.mul(e.sub(z, y), m)), x, before, mix)
    following = p.slice(p.behind(past, xs[0][0]), "T", "%size_t", "p")
    r, w, k, v, a = (shifted(number) for number in range(5))
    decay = p.each("bthd", lambda e, y: e.mul(e.constant(-np.exp(-0.5)), e.sigmoid(y)), w)
    rate = p.each("bthd", lambda e, y: e.sigmoid(y), a)
    kk = _l2norm(p, p.each("bthd", lambda e, y, i: e.mul(y, i), k, erased), "bthd")
    removal = p.each("bthd", lambda e, y: e.neg(y), kk)
    replacement = p.each("bthd", lambda e, y, i: e.mul(y, i), kk, rate)
    key = p.each("bthd", lambda e, y, i, m: e.mul(y, e.add(
        e.constant(1), e.mul(e.sub(i, e.constant(1)), m))), k, rate, kept)
    vec, row = _vector(p, "v"), _vector(p, "d")
    o, s = p.recurrence([(r, "rt", "b, t, h, d"), (decay, "gt", "b, t, h, d"),
                         (key, "kt", "b, t, h, d"), (v, "vt", "b, t, h, v"),
                         (removal, "at", "b, t, h, d"), (replacement, "bt", "b, t, h, d")],
                        ("bthv", "f32"), s0, [
        f"%old = linattn.read %S at %at along 0 : STATE, {row}",
        f"%X = linattn.decay %S by %gt along [0] : STATE, {row}",
        f"%E = linattn.write %X at %bt along 0 value %old : STATE, {row}, {vec}",
        f"%S1 = linattn.write %E at %kt along 0 value %vt : STATE, {row}, {vec}",
        f"%ot = linattn.read %S1 at %rt along 0 : STATE, {row}"])
    mean = p.each("bth", lambda e, y: e.mul(y, e.constant(1 / size)),
                  p.sum("bth", lambda e, y: y, o))
    centred = p.each("bthv", lambda e, y, i: e.sub(y, i), o, mean)
    rms = _mean_square(p, centred, "bthv")
    strength = p.sum("bth", lambda e, y, i, m: e.mul(y, i, m), r, key, bonus)
    y = p.each("bthv", lambda e, c, i, m, b, n, j, g: e.mul(
        e.add(e.add(e.mul(c, i, m), b), e.mul(n, j)), g),
        centred, rms, weight, shift, strength, v, gate, element=element)
    text = p.function("block", [y, s, following])

    def mixed(number):
        x, mix = xs[number][1], mixes[number][1]
        first = PAST if number == 0 else np.zeros_like(PAST)
        before = np.concatenate([first, x], 1)[:, :tokens]
        return x + (before - x) * mix
    following = np.concatenate([PAST, xs[0][1]], 1)[:, tokens:]
    r, w, k, v, a = (mixed(number) for number in range(5))
    decay, rate = np.exp(-np.exp(-0.5) * sigmoid(w)), sigmoid(a)
    kk = unit(k * ERASED)
    key = k * (1 + (rate - 1) * KEPT)

    def step(t, S):
        old = np.einsum("bhk,bhkv->bhv", -kk[:, t], S)
        S = decay[:, t, :, :, None] * S + (kk * rate)[:, t, :, :, None] * old[:, :, None]
        S = S + key[:, t, :, :, None] * v[:, t, :, None]
        return np.einsum("bhk,bhkv->bhv", r[:, t], S), S
    outs, S = scan(step, tokens, S0)
    o = _stack(outs, v.shape)
    o = rms_norm(o - o.mean(-1, keepdims=True)) * WEIGHT + SHIFT
    o = (o + np.sum(r * key * BONUS, -1, keepdims=True) * v) * GATE
    return Block(text, builder.arguments, [o, S, following])


BLOCKS = {"gated_delta_net": gated_delta_net, "kda": kda, "mamba2": mamba2, "rwkv7": rwkv7}
