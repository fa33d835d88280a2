"""Inputs whose right answer is known in closed form, at every chunk size.

The rows are those of the project's list of reported faults: splits of decays that overflow, lost
gates after a reset, padding that decays the state, runs that differ, masks that become 0 inf.
"""

import numpy as np
import pytest

from linattn import reference, runner
from linattn.cases import Case
from linattn.emit import Writer
from linattn.numerics import decode, encode, relative_error
from linattn.programs import arguments
from linattn.unnamed_bodies import Body

pytestmark = pytest.mark.usefixtures("la_run")
CHUNKS = [1, 8, 16, 32, 64]


def operands(writer, inputs, batch, tokens):
    """The arguments of a case from values that broadcast to [B, T, H, ...] ([H, ...], params)."""
    packed = writer.case.layout == "packed"
    for operand in writer.body.inputs:
        lead = () if operand.heads == "param" else (tokens,) if packed else (batch, tokens)
        shape = (*lead, writer.heads(operand), *writer.shape(operand.dims))
        yield writer.element(operand), np.broadcast_to(inputs[operand.name], shape)


def run(case, chunk, inputs, states=None, offsets=None, subchunk=None, **options):
    """The results of a case on these inputs."""
    writer = Writer(case)
    args = list(operands(writer, inputs, case.batch, case.tokens))
    args += [("i32", np.array(offsets))] if offsets else []
    args += [(writer.state, states)] if states is not None else []
    path = options.pop("folder") / "case.mlir"
    path.write_text(options.pop("text", writer.text()))
    pipeline = runner.pipeline(chunk, subchunk or max(1, chunk // 2))
    options = {"guard": True, "threads": 1, **options}
    return runner.run(path, args, options=[pipeline], **options).results


def counting(body, g, tokens, dtype="f32", batch=1, initial=False, **inputs):
    """q = k = v = 1 and one channel: the state is a decayed count of tokens."""
    case = Case(body, tokens=tokens, batch=batch, heads=1, key=1, value=1, dtype=dtype,
                initial=initial)
    return case, dict(q=1, k=1, v=1, g=g, **inputs)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("chunk", CHUNKS)
def test_strong_channel_decay(chunk, dtype, tmp_path):
    """e^-5 at every token: cumulative sums split into two exponentials overflow after 18."""
    case, inputs = counting("gla", -5, 64, dtype)
    out, state = run(case, chunk, inputs, folder=tmp_path)
    want = np.array([1, 1.006738, 1.006783] + 61 * [1.0067837])
    assert relative_error(out.ravel(), want) <= {"f32": 1e-5, "bf16": 2e-2}[dtype]
    assert relative_error(state.ravel(), want[-1:]) <= 1e-5  # kept in f32


@pytest.mark.parametrize("chunk", CHUNKS)
def test_reset(chunk, tmp_path):
    """What follows a reset starts afresh with its own decays; 1 2 3 4 means that they were lost."""
    g = np.full((2, 8, 1), -0.1)
    g[:, 4, 0] = -1e30, -np.inf
    case, inputs = counting("scalar-decay", g, 8, batch=2)
    out = run(case, chunk, inputs, folder=tmp_path)[0]
    want = np.tile([1, 1.904837, 2.723568, 3.464386], 4)
    assert relative_error(out.ravel(), want) <= 1e-5


@pytest.mark.parametrize("chunk", CHUNKS)
def test_no_decay_is_the_ungated_delta_rule(chunk, tmp_path):
    """Sequences of 7, 50, 100 and 1000 tokens."""
    offsets = [0, 7, 57, 157, 1157]
    common = dict(layout="packed", tokens=1157, batch=1, heads=1, key=16, value=16, initial=False)
    rng = np.random.default_rng(2)
    k = rng.standard_normal((1157, 1, 16))
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    inputs = dict(q=rng.standard_normal(k.shape), k=k, v=rng.standard_normal(k.shape), g=0,
                  beta=rng.random((1157, 1)))
    inputs = {name: decode(encode(x, "f32"), "f32") for name, x in inputs.items()}
    want = reference.delta_rule(*(inputs[n][None] for n in ("q", "k", "v", "beta")),
                                cu_seqlens=offsets)
    errors = []
    for body in ("delta", "gated-delta"):
        out, state = run(Case(body, **common), chunk, inputs, offsets=offsets, folder=tmp_path)
        errors.append(max(relative_error(out, want.out[0]),
                          relative_error(state, want.states[0])))
    assert errors[0] <= 1e-5 and errors[1] <= errors[0] + 2e-7


@pytest.mark.parametrize("tokens, chunk", [(t, c) for t in (70, 200) for c in CHUNKS] + [(320, 64)])
def test_last_chunk_is_short(tokens, chunk, tmp_path):
    """Nothing past the last row is read: guard pages and NaN lie behind it."""
    case = Case("gated-delta", tokens=tokens, batch=1, heads=4, key=64, value=64, initial=False)
    rng = np.random.default_rng(tokens)
    shape = (1, tokens, 4, 64)
    k = rng.standard_normal(shape)
    inputs = dict(q=rng.standard_normal(shape), v=rng.standard_normal(shape),
                  k=k / np.linalg.norm(k, axis=-1, keepdims=True),
                  g=-rng.exponential(0.1, shape[:3]), beta=rng.random(shape[:3]))
    inputs = {name: decode(encode(x, "f32"), "f32") for name, x in inputs.items()}
    want = reference.gated_delta_rule(*(inputs[n] for n in ("q", "k", "v", "g", "beta")))
    out, state = run(case, chunk, inputs, folder=tmp_path)
    assert relative_error(out, want.out, heads=2) <= 1e-5
    assert relative_error(state, want.states[0], heads=1) <= 1e-5


@pytest.mark.parametrize("chunk", CHUNKS)
def test_padding_does_not_decay(chunk, tmp_path):
    """Ten tokens; 0.022024 would mean that 54 rows of padding went on decaying the state."""
    def count(tokens, states=None):
        case, inputs = counting("scalar-decay", np.log(0.9), tokens, initial=states is not None)
        return run(case, chunk, inputs, states, folder=tmp_path)

    out, state = count(10)
    assert relative_error(state.ravel(), [6.513216]) <= 1e-5
    # Nine tokens and then one are the same as ten.
    last, after = count(1, count(9)[1])
    assert relative_error(last[0, 0], out[0, 9]) <= 1e-6
    assert relative_error(after, state) <= 1e-6


@pytest.mark.parametrize("chunk", [*CHUNKS, 256])
def test_large_steps(chunk, tmp_path):
    """A = -16 and a step of 10: the decay is e^-160, every output 10; its mask must not be NaN."""
    case = Case("mamba2", tokens=300, batch=1, heads=1, key=1, value=1, initial=False)
    softplus_of_10 = np.log(np.expm1(10))
    inputs = dict(b=1, c=1, x=1, dt=0, a_log=np.log(16), dt_bias=softplus_of_10, d=0)
    out, state = run(case, chunk, inputs, folder=tmp_path)
    assert relative_error(out.ravel(), np.full(300, 10)) <= 1e-5
    assert relative_error(state.ravel(), [10]) <= 1e-5


@pytest.mark.parametrize("chunk", range(1, 9))
@pytest.mark.parametrize("written", [True, False])
def test_order_of_pairs(written, chunk, tmp_path):
    """h' = f h + x over pairs (f, x), of which the order matters; then counts of 8 and 32 ones.

    All numbers are exact in f32. The sum is a write, or an addition to the state."""
    p = Body("pairs", dtype="f32", tokens=48, offsets=[0, 8, 16, 48])
    f = np.concatenate([[0.5, 2, 0.25, 4, 1, 0.5, 2, 0.125], np.ones(40)])
    x = np.concatenate([np.arange(1, 9), np.ones(40)])
    f, x = (p.input(y.reshape(1, 48, 1, 1)) for y in (f, x))
    h = p.decay(p.state("h", (1,)), f, (0,), linear=True)
    h = p.write(h, x, 0, p.constant(1.0)) if written else p.add(h, x)
    p.end(p.read(h, p.constant(1.0, (1,)), 0), h=h)
    p.heads, p.initial = 1, [np.zeros((3, 1, 1))]
    path = tmp_path / "pairs.mlir"
    path.write_text(p.text())
    out, state = runner.run(path, arguments(p), guard=True, threads=1,
                            options=[runner.pipeline(chunk, (chunk + 1) // 2)]).results
    want = [1, 4, 4, 20, 25, 18.5, 44, 13.5, *range(1, 9), *range(1, 33)]
    assert out.ravel().tolist() == want
    assert state.ravel().tolist() == [13.5, 8, 32]


TWENTY_TIMES = """
func.func @main({arguments}) -> ({outs}, {states}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %N = tensor.dim %q_all, %c0 : {q}
  %T = tensor.dim %q_all, %c1 : {q}
  %os_0 = tensor.empty(%N, %T) : {outs}
  %ss_0 = tensor.empty(%N) : {states}
  %r:2 = scf.for %i = %c0 to %c20 step %c1
      iter_args(%os = %os_0, %ss = %ss_0) -> ({outs}, {states}) {{
    %o, %s = func.call @once({names}) : ({types}) -> ({out}, {state})
    %o1 = tensor.insert_slice %o into
        %os[%i, 0, 0, 0, 0] [1, %N, %T, 12, 128] [1, 1, 1, 1, 1] : {out} into {outs}
    %s1 = tensor.insert_slice %s into
        %ss[%i, 0, 0, 0, 0] [1, %N, 12, 128, 128] [1, 1, 1, 1, 1] : {state} into {states}
    scf.yield %o1, %s1 : {outs}, {states}
  }}
  return %r#0, %r#1 : {outs}, {states}
}}
"""


@pytest.mark.parametrize("chunk", CHUNKS)
def test_twenty_runs_have_the_same_bits(chunk, tmp_path):
    case = Case("gated-delta", tokens=512, batch=2, heads=12, key=128, value=128, dtype="bf16")
    writer = Writer(case)
    arguments = {f"{i.argument}": i.type for i in writer.operands()}
    arguments["S_init"] = writer.state_type("S", "?")
    out, state = writer.token_type(12, "V", "bf16"), arguments["S_init"]
    text = writer.text().replace("func.func @main", "func.func private @once")
    text += TWENTY_TIMES.format(
        arguments=", ".join(f"%{n}: {t}" for n, t in arguments.items()),
        names=", ".join(f"%{n}" for n in arguments), types=", ".join(arguments.values()),
        q=arguments["q_all"], out=out, state=state, outs=out.replace("<", "<20x"),
        states=state.replace("<", "<20x"))
    rng = np.random.default_rng(7)
    k = rng.standard_normal((2, 512, 12, 128))
    inputs = dict(q=rng.standard_normal(k.shape), v=rng.standard_normal(k.shape),
                  k=k / np.linalg.norm(k, axis=-1, keepdims=True),
                  g=-rng.exponential(0.1, k.shape[:3]), beta=rng.random(k.shape[:3]))
    outs, states = run(case, chunk, inputs, rng.standard_normal((2, 12, 128, 128)), text=text,
                       folder=tmp_path, threads=4, guard=False)
    assert np.isfinite(outs).all() and np.abs(outs).max() > 0.1
    for several in (outs, states):
        assert (several == several[0]).all()
