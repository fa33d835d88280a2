"""Step bodies for generated cases: MLIR text and the NumPy reference of the same system.

Template fields: {S}, {z}, {h} types of the states; {q}, {k}, ... types of the input slices;
{e} the state's element type; {K}, {V} sizes; {tK}, {tV} vectors of {e}; {aK}, {aV} the state axes;
{rowk} a row of a matrix of keys. A body defines %o in type {e} and,
for each state %S, its successor %S1.
It is written for one state orientation and works for both: axes are positional.
"""

from dataclasses import dataclass
from typing import Callable

import numpy as np

from . import reference


@dataclass(frozen=True)
class Input:
    """heads: "key", "value" or "param" (no batch and time dims); dims: names of slice dims.

    raw: the body takes the slice in the data type; otherwise it is extended to {e} first.
    gate: stored in the state's type, not in the data type."""

    name: str
    heads: str
    dims: str
    data: Callable  # (rng, shape, earlier inputs) -> float64 array
    raw: bool = True
    gate: bool = False


@dataclass(frozen=True)
class Body:
    name: str
    inputs: tuple
    states: dict  # name -> dims
    reference: Callable
    text: str
    out: str = "%o"
    block: int = 0  # tokens per step; 0: one token, and slices have no leading dim


def _normal(rng, shape, _):
    return rng.standard_normal(shape)


def _query(rng, shape, _):
    return rng.standard_normal(shape) * shape[-1] ** -0.5


def _unit(rng, shape, _):
    x = rng.standard_normal(shape)
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def _decay(rng, shape, _):
    """Mostly mild log-decays; about 3 % are strong enough to forget nearly everything."""
    g = -rng.exponential(0.15, shape)
    return np.where(rng.random(shape) < 0.03, -12.0, g)


def _fixed_decay(rng, shape, _):
    return -rng.uniform(0.01, 0.2, shape)


def _uniform(rng, shape, _):
    return rng.random(shape)


def _positive(rng, shape, _):
    return np.abs(rng.standard_normal(shape)) * shape[-1] ** -0.5


def _erase(rng, shape, inputs):
    """b = -a * uniform: the transition then shrinks, as RWKV-7's does."""
    return -inputs["a"] * rng.random(shape)


_Q = Input("q", "key", "K", _query)
_K = Input("k", "key", "K", _unit)
_K_EXT = Input("k", "key", "K", _unit, raw=False)
_V = Input("v", "value", "V", _normal)
_V_EXT = Input("v", "value", "V", _normal, raw=False)
_G = Input("g", "value", "", _decay, gate=True)
_G_K = Input("g", "value", "K", _decay, gate=True)
_G_V = Input("g", "value", "V", _decay, gate=True)
_BETA = Input("beta", "value", "", _uniform, gate=True)
_GAMMA = Input("log_gamma", "param", "", _fixed_decay, gate=True)

_DELTA_WRITE = """
%r = linattn.read %X at %k along {aK} : {S}, {k}
%e = arith.subf %v, %r : {tV}
%bv = tensor.splat %beta : {tV}
%d = arith.mulf %bv, %e : {tV}
%S1 = linattn.write %X at %k along {aK} value %d : {S}, {k}, {tV}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
"""

# elu(x) + 1; %x is replaced by the name of the vector.
_ELU1 = """
%x_above = arith.cmpf ogt, %x, %zero : {tK}
%x_plus = arith.addf %x, %one : {tK}
%x_min = arith.minimumf %x, %zero : {tK}
%x_exp = math.exp %x_min : {tK}
%x_phi = arith.select %x_above, %x_plus, %x_exp : tensor<{K}xi1>, {tK}
"""

# sigmoid(x); %x is replaced by the name of the vector, TYPE by its type.
_SIGMOID = """
%x_one = arith.constant dense<1.0> : TYPE
%x_neg = arith.negf %x : TYPE
%x_exp = math.exp %x_neg : TYPE
%x_sum = arith.addf %x_one, %x_exp : TYPE
%x_sig = arith.divf %x_one, %x_sum : TYPE
"""

# x / sqrt(sum x^2 + 1e-6); %x is replaced by the name of the vector.
_L2NORM = """
%x_0 = arith.constant dense<0.0> : tensor<{e}>
%x_dot = linalg.dot ins(%x, %x : {tK}, {tK}) outs(%x_0 : tensor<{e}>) -> tensor<{e}>
%x_sum = tensor.extract %x_dot[] : tensor<{e}>
%x_eps = arith.constant 1.0e-6 : {e}
%x_len = arith.addf %x_sum, %x_eps : {e}
%x_inv = math.rsqrt %x_len : {e}
%x_all = tensor.splat %x_inv : {tK}
%x_unit = arith.mulf %x_all, %x : {tK}
"""


# Sub-step # of a delta product, from %X# to %NEXT.
_SUB_STEP = """
%i# = arith.constant # : index
%b# = tensor.extract %beta[%i#] : {beta}
%k# = tensor.extract_slice %k[#, 0] [1, {K}] [1, 1] : {k} to {rowk}
%v# = tensor.extract_slice %v[#, 0] [1, {V}] [1, 1] : {v} to {tV}
%r# = linattn.read %X# at %k# along {aK} : {S}, {rowk}
%e# = arith.subf %v#, %r# : {tV}
%s# = tensor.splat %b# : {tV}
%d# = arith.mulf %s#, %e# : {tV}
%NEXT = linattn.write %X# at %k# along {aK} value %d# : {S}, {rowk}, {tV}
"""


def _delta_product(name, dim, steps):
    """Several dependent writes per token, from one operand with an extra slice dim."""
    names = [f"X{step}" for step in range(steps)] + ["S1"]
    inputs = (_Q, Input("k", "key", dim + "K", _unit),
              Input("v", "value", dim + "V", _normal, raw=False), _G,
              Input("beta", "value", dim, _uniform, gate=True))
    return Body(name, inputs, {"S": "KV"}, reference.delta_product,
                "%X0 = linattn.decay %S by %g : {S}, {g}" + "".join(
                    _SUB_STEP.replace("#", str(step)).replace("NEXT", names[step + 1])
                    for step in range(steps)) +
                "%o = linattn.read %S1 at %q along {aK} : {S}, {q}")


BODIES = {body.name: body for body in [
    Body("linear", (_Q, _K, _V), {"S": "KV"}, reference.linear_attention, """
%S1 = linattn.write %S at %k along {aK} value %v : {S}, {k}, {v}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
"""),
    Body("scalar-decay", (_Q, _K, _V, _G), {"S": "KV"}, reference.scalar_decay, """
%X = linattn.decay %S by %g : {S}, {g}
%S1 = linattn.write %X at %k along {aK} value %v : {S}, {k}, {v}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
"""),
    # The multiplier itself instead of its logarithm.
    Body("retention", (_Q, _K, _V, _GAMMA), {"S": "KV"}, reference.retention, """
%gamma = math.exp %log_gamma : {e}
%X = linattn.decay %S by linear %gamma : {S}, {e}
%S1 = linattn.write %X at %k along {aK} value %v : {S}, {k}, {v}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
"""),
    Body("gla", (_Q, _K, _V, _G_K), {"S": "KV"}, reference.gla, """
%X = linattn.decay %S by %g along [{aK}] : {S}, {g}
%S1 = linattn.write %X at %k along {aK} value %v : {S}, {k}, {v}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
"""),
    Body("hgrn2", (_Q, Input("g", "key", "K", _decay, gate=True), _V), {"S": "KV"},
         reference.hgrn2, """
%X = linattn.decay %S by %g along [{aK}] : {S}, {g}
%f1 = math.expm1 %g : {g}
%k = arith.negf %f1 : {g}
%S1 = linattn.write %X at %k along {aK} value %v : {S}, {tK}, {v}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
"""),
    # A rank-1 state with ordinary arithmetic on it.
    Body("hgrn", (Input("x", "value", "V", _normal, raw=False), _G_V), {"h": "V"}, reference.hgrn,
         """
%X = linattn.decay %h by %g along [0] : {h}, {g}
%f1 = math.expm1 %g : {g}
%w = arith.mulf %f1, %x : {tV}
%h1 = arith.subf %X, %w : {tV}
""", out="%h1"),
    Body("delta", (_Q, _K, _V_EXT, _BETA), {"S": "KV"}, reference.delta_rule,
         _DELTA_WRITE.replace("%X", "%S")),
    Body("gated-delta", (_Q, _K, _V_EXT, _G, _BETA), {"S": "KV"}, reference.gated_delta_rule,
         "%X = linattn.decay %S by %g : {S}, {g}" + _DELTA_WRITE),
    Body("kda", (_Q, _K, _V_EXT, _G_K, _BETA), {"S": "KV"}, reference.kda,
         "%X = linattn.decay %S by %g along [{aK}] : {S}, {g}" + _DELTA_WRITE),
    # The erase reads the state before its decay; q is corrected.
    Body("comba", (Input("q", "key", "K", _query, raw=False), _K_EXT, _V_EXT, _G, _BETA,
                   Input("p_gate", "param", "", _uniform, gate=True),
                   Input("q_gate", "param", "", _uniform, gate=True)),
         {"S": "KV"}, reference.comba, """
%pg = tensor.splat %p_gate : {tK}
%p = arith.mulf %pg, %k : {tK}
%r = linattn.read %S at %p along {aK} : {S}, {tK}
%e = arith.subf %v, %r : {tV}
%bv = tensor.splat %beta : {tV}
%d = arith.mulf %bv, %e : {tV}
%X = linattn.decay %S by %g : {S}, {g}
%S1 = linattn.write %X at %k along {aK} value %d : {S}, {tK}, {tV}
%qg = tensor.splat %q_gate : {tK}
%qp = arith.mulf %qg, %p : {tK}
%qc = arith.subf %q, %qp : {tK}
%o = linattn.read %S1 at %qc along {aK} : {S}, {tK}
"""),
    # Decay and erase on the value side.
    Body("gated-oja", (_Q, _K_EXT, Input("v", "value", "V", _unit), _G_V, _BETA),
         {"S": "KV"}, reference.gated_oja, """
%X = linattn.decay %S by %g along [{aV}] : {S}, {g}
%r = linattn.read %X at %v along {aV} : {S}, {v}
%e = arith.subf %k, %r : {tK}
%bk = tensor.splat %beta : {tK}
%d = arith.mulf %bk, %e : {tK}
%S1 = linattn.write %X at %v along {aV} value %d : {S}, {v}, {tK}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
"""),
    Body("dplr", (_Q, _K, _V, _G_K, Input("a", "value", "K", lambda *x: -_unit(*x)),
                  Input("b", "value", "K", _erase)), {"S": "KV"}, reference.dplr, """
%c = linattn.read %S at %a along {aK} : {S}, {a}
%X = linattn.decay %S by %g along [{aK}] : {S}, {g}
%Y = linattn.write %X at %b along {aK} value %c : {S}, {b}, {tV}
%S1 = linattn.write %Y at %k along {aK} value %v : {S}, {k}, {v}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
"""),
    # The bonus is a write that only this token's read sees: a branch of the state.
    Body("rwkv6", (Input("r", "key", "K", _query), _K_EXT, _V,
                   Input("w", "value", "K", _decay, gate=True),
                   Input("u", "param", "K", _normal, gate=True)),
         {"S": "KV"}, reference.rwkv6, """
%uk = arith.mulf %u, %k : {tK}
%B = linattn.write %S at %uk along {aK} value %v : {S}, {tK}, {v}
%o = linattn.read %B at %r along {aK} : {S}, {r}
%X = linattn.decay %S by %w along [{aK}] : {S}, {w}
%S1 = linattn.write %X at %k along {aK} value %v : {S}, {tK}, {v}
"""),
    Body("mamba2", (Input("b", "key", "K", _query), Input("c", "key", "K", _normal),
                    Input("x", "value", "V", _normal, raw=False),
                    Input("dt", "value", "", _normal, gate=True),
                    Input("a_log", "param", "", _normal, gate=True),
                    Input("dt_bias", "param", "", _normal, gate=True),
                    Input("d", "param", "", _normal, gate=True)),
         {"S": "KV"}, lambda b, c, x, dt, a_log, dt_bias, d, **options: reference.mamba2(
             x, dt, b, c, a_log, dt_bias, d, **options), """
%t0 = arith.addf %dt, %dt_bias : {e}
%zero = arith.constant 0.0 : {e}
%t1 = arith.maximumf %t0, %zero : {e}
%t2 = math.absf %t0 : {e}
%t3 = arith.negf %t2 : {e}
%t4 = math.exp %t3 : {e}
%t5 = math.log1p %t4 : {e}
%delta = arith.addf %t1, %t5 : {e}
%a0 = math.exp %a_log : {e}
%a1 = arith.mulf %delta, %a0 : {e}
%g = arith.negf %a1 : {e}
%X = linattn.decay %S by %g : {S}, {e}
%dv = tensor.splat %delta : {tV}
%dx = arith.mulf %dv, %x : {tV}
%S1 = linattn.write %X at %b along {aK} value %dx : {S}, {b}, {tV}
%y = linattn.read %S1 at %c along {aK} : {S}, {c}
%skip = tensor.splat %d : {tV}
%xs = arith.mulf %skip, %x : {tV}
%o = arith.addf %y, %xs : {tV}
"""),
    # Two states, one of rank 1; the quotient of two reads.
    Body("normalised", (Input("q", "key", "K", _normal, raw=False),
                        Input("k", "key", "K", _normal, raw=False), _V), {"S": "KV", "z": "K"},
         reference.normalised_linear_attention, """
%zero = arith.constant dense<0.0> : {tK}
%one = arith.constant dense<1.0> : {tK}
""" + _ELU1.replace("%x", "%q") + _ELU1.replace("%x", "%k") + """
%S1 = linattn.write %S at %k_phi along {aK} value %v : {S}, {tK}, {v}
%unit = arith.constant 1.0 : {e}
%z1 = linattn.write %z at %k_phi along 0 value %unit : {z}, {tK}, {e}
%num = linattn.read %S1 at %q_phi along {aK} : {S}, {tK}
%sum = linattn.read %z1 at %q_phi along 0 : {z}, {tK}
%eps = arith.constant 1.0e-10 : {e}
%den = arith.addf %sum, %eps : {e}
%dv = tensor.splat %den : {tV}
%o = arith.divf %num, %dv : {tV}
"""),
    _delta_product("delta-product", "R", 2),
    _delta_product("delta-product-3", "N", 3),
    # Gates from raw inputs, per channel on both sides: b on what is erased, w on what is written.
    Body("gdn2", (_Q, Input("k", "key", "K", _normal, raw=False), _V_EXT,
                  Input("f", "value", "K", _normal, gate=True),
                  Input("b", "value", "K", _normal, gate=True),
                  Input("w", "value", "V", _normal, gate=True),
                  Input("a_log", "param", "", _normal, gate=True),
                  Input("dt_bias", "param", "K", _normal, gate=True)),
         {"S": "KV"}, reference.gdn2, _L2NORM.replace("%x", "%k") +
         _SIGMOID.replace("%x", "%b").replace("TYPE", "{tK}") +
         _SIGMOID.replace("%x", "%w").replace("TYPE", "{tV}") + """
%f0 = arith.addf %f, %dt_bias : {tK}
%f_zero = arith.constant dense<0.0> : {tK}
%f1 = arith.maximumf %f0, %f_zero : {tK}
%f2 = math.absf %f0 : {tK}
%f3 = arith.negf %f2 : {tK}
%f4 = math.exp %f3 : {tK}
%f5 = math.log1p %f4 : {tK}
%dt = arith.addf %f1, %f5 : {tK}
%a0 = math.exp %a_log : {e}
%a1 = arith.negf %a0 : {e}
%a = tensor.splat %a1 : {tK}
%g = arith.mulf %a, %dt : {tK}
%X = linattn.decay %S by %g along [{aK}] : {S}, {tK}
%bk = arith.mulf %b_sig, %k_unit : {tK}
%r = linattn.read %X at %bk along {aK} : {S}, {tK}
%wv = arith.mulf %w_sig, %v : {tV}
%d = arith.subf %wv, %r : {tV}
%S1 = linattn.write %X at %k_unit along {aK} value %d : {S}, {tK}, {tV}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
"""),
    # Erases along one vector, then a delta rule along another.
    Body("eda", (_Q, _K, _V_EXT, _G_K, Input("x", "value", "K", _unit),
                 Input("gamma", "value", "", _uniform, gate=True), _BETA),
         {"S": "KV"}, reference.eda, """
%Y = linattn.decay %S by %g along [{aK}] : {S}, {g}
%old = linattn.read %Y at %x along {aK} : {S}, {x}
%cv = tensor.splat %gamma : {tV}
%part = arith.mulf %cv, %old : {tV}
%gone = arith.negf %part : {tV}
%X = linattn.write %Y at %x along {aK} value %gone : {S}, {x}, {tV}
""" + _DELTA_WRITE),
    Body("iplr", (_Q, _K, _V, Input("a", "value", "K", lambda *x: -_unit(*x)),
                  Input("b", "value", "K", _erase)), {"S": "KV"}, reference.iplr, """
%c = linattn.read %S at %a along {aK} : {S}, {a}
%Y = linattn.write %S at %b along {aK} value %c : {S}, {b}, {tV}
%S1 = linattn.write %Y at %k along {aK} value %v : {S}, {k}, {v}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
"""),
    # Second-order moments: P of keys, C of queries and values; G takes out what is not causal.
    Body("hla", (_Q, _K, _V, _GAMMA), {"P": "KK", "C": "KV", "G": "KV"}, reference.hla, """
%twice = arith.addf %log_gamma, %log_gamma : {e}
%P0 = linattn.decay %P by %log_gamma : {P}, {e}
%C0 = linattn.decay %C by %log_gamma : {C}, {e}
%G0 = linattn.decay %G by %twice : {G}, {e}
%r = linattn.read %C0 at %k along {aK} : {C}, {k}
%G1 = linattn.write %G0 at %k along {aK} value %r : {G}, {k}, {tV}
%P1 = linattn.write %P0 at %k along {aK} value %k : {P}, {k}, {k}
%C1 = linattn.write %C0 at %q along {aK} value %v : {C}, {q}, {v}
%u = linattn.read %P1 at %q along {aK} : {P}, {q}
%all = linattn.read %C1 at %u along {aK} : {C}, {tK}
%early = linattn.read %G1 at %q along {aK} : {G}, {q}
%o = arith.subf %all, %early : {tV}
"""),
    # The same without decay, over its sum of weights: two more states, of rank 1.
    Body("hla-normalised", (Input("q", "key", "K", _positive), Input("k", "key", "K", _positive), _V),
         {"P": "KK", "C": "KV", "G": "KV", "m": "K", "h": "K"}, reference.hla_normalised, """
%unit = arith.constant 1.0 : {e}
%r = linattn.read %C at %k along {aK} : {C}, {k}
%G1 = linattn.write %G at %k along {aK} value %r : {G}, {k}, {tV}
%s = linattn.read %m at %k along 0 : {m}, {k}
%h1 = linattn.write %h at %k along 0 value %s : {h}, {k}, {e}
%P1 = linattn.write %P at %k along {aK} value %k : {P}, {k}, {k}
%C1 = linattn.write %C at %q along {aK} value %v : {C}, {q}, {v}
%m1 = linattn.write %m at %q along 0 value %unit : {m}, {q}, {e}
%u = linattn.read %P1 at %q along {aK} : {P}, {q}
%all = linattn.read %C1 at %u along {aK} : {C}, {tK}
%early = linattn.read %G1 at %q along {aK} : {G}, {q}
%num = arith.subf %all, %early : {tV}
%all_m = linattn.read %m1 at %u along 0 : {m}, {tK}
%early_m = linattn.read %h1 at %q along 0 : {h}, {q}
%den = arith.subf %all_m, %early_m : {e}
%dv = tensor.splat %den : {tV}
%o = arith.divf %num, %dv : {tV}
"""),
    # The position of the token.
    Body("running-mean", (_Q, _K, _V), {"S": "KV"}, reference.running_mean, """
%S1 = linattn.write %S at %k along {aK} value %v : {S}, {k}, {v}
%sum = linattn.read %S1 at %q along {aK} : {S}, {q}
%t = linattn.index 1
%first = arith.constant 1 : index
%n = arith.addi %t, %first : index
%ni = arith.index_cast %n : index to i32
%nf = arith.sitofp %ni : i32 to {e}
%nv = tensor.splat %nf : {tV}
%o = arith.divf %sum, %nv : {tV}
"""),
    # A step of five tokens: matrix reads and writes, and the number of real rows.
    Body("block-causal", (_Q, _K, _V, _GAMMA), {"S": "KV"},
         lambda *args, **options: reference.block_causal(*args, block=5, **options), """
%live_i = arith.index_cast %live : index to i32
%live_f = arith.sitofp %live_i : i32 to {e}
%g = arith.mulf %live_f, %log_gamma : {e}
%X = linattn.decay %S by %g : {S}, {e}
%S1 = linattn.write %X at %k along {aK} value %v : {S}, {k}, {v}
%o = linattn.read %S1 at %q along {aK} : {S}, {q}
""", block=5),
]}
