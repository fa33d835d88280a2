"""Number formats: every bf16 value, ties, NaN, and the .npy descriptor."""

import numpy as np

from linattn import numerics


def test_every_bf16_value_survives():
    bits = np.arange(65536, dtype=np.uint16)
    values = numerics.from_bf16(bits)
    nan = np.isnan(values)
    assert np.array_equal(numerics.to_bf16(values[~nan]), bits[~nan])
    assert np.isnan(numerics.from_bf16(numerics.to_bf16(values[nan]))).all()


def test_ties_go_to_even_and_other_values_to_the_nearest():
    # 1 + 2^-8 lies between 1 and 1 + 2^-7; 1 + 3 * 2^-8 between 1 + 2^-7 and 1 + 2^-6.
    x = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-40, 1 + 3 * 2**-8 - 2**-40, 256, 257])
    want = [1, 1 + 2**-6, 1 + 2**-7, 1 + 2**-7, 256, 256]
    assert numerics.from_bf16(numerics.to_bf16(x)).tolist() == want


def test_bf16_limits():
    x = np.array([np.inf, -np.inf, 1e39, 3.4e38, -0.0, 1e-45])
    y = numerics.from_bf16(numerics.to_bf16(x))
    assert y[:3].tolist() == [np.inf, -np.inf, np.inf] and np.isinf(y[3])
    assert y[4] == 0 and np.signbit(y[4]) and y[5] == 0


def test_npy_round_trip(tmp_path):
    x = np.arange(6.0).reshape(2, 3)
    for element in ("f64", "f32", "bf16", "i32"):
        numerics.save_npy(tmp_path / "x.npy", numerics.encode(x, element), element)
        assert np.array_equal(numerics.load_npy(tmp_path / "x.npy"), x)
    numerics.save_npy(tmp_path / "x.npy", numerics.encode(x, "bf16"), "bf16")
    assert b"'descr': '<V2'" in (tmp_path / "x.npy").read_bytes()


def test_gates_at_extremes():
    x = np.array([-800.0, -20, 0, 20, 800])
    assert np.allclose(numerics.softplus(x), [0, 2.0611536e-9, np.log(2), 20, 800], rtol=1e-7)
    assert np.allclose(numerics.logsigmoid(x), [-800, -20, -np.log(2), -2.0611536e-9, 0], rtol=1e-7)
    assert np.allclose(numerics.sigmoid(x), np.exp(numerics.logsigmoid(x)), rtol=1e-12)
    assert np.all(numerics.l2norm(np.zeros(4)) == 0)


def test_relative_error():
    assert numerics.relative_error([1, 2], [1, 4]) == 0.5
    assert numerics.relative_error([np.nan], [1]) == np.inf
    assert numerics.relative_error(np.zeros((0, 3)), np.zeros((0, 3))) == 0
    assert numerics.relative_error(np.zeros((0, 3)), np.zeros((3, 0))) == np.inf
    # A small head next to a large one.
    x, ref = np.array([[100.0, 1.5]]), np.array([[100.0, 1.0]])
    assert numerics.relative_error(x, ref) == 0.005
    assert numerics.relative_error(x, ref, heads=1) == 0.5


def test_errors_of_heads():
    x = np.array([[1.0, 10.0], [2.0, 20.0]])
    assert numerics.head_errors(x, x + [[0, 0], [0, 1]], axis=1).tolist() == [0, 1 / 21]
    assert numerics.head_errors(x, x + [[0, 0], [0, 1]], axis=0).tolist() == [0, 1 / 21]
    assert numerics.head_errors(x[:1], x, axis=1).tolist() == [np.inf, np.inf]
    assert numerics.head_errors(np.zeros((0, 2)), np.zeros((0, 2)), axis=1).tolist() == [0, 0]


def test_contract():
    assert numerics.contract("f64", 1, 64, 9) == 1e-12 and numerics.contract("bf16", 1) == 2e-2
    assert numerics.contract("f32", 3e-7) == 6e-7 + 1e-6
    assert numerics.contract("f32", 3e-7, 64, 10) == 6e-7 + 1e-6 + 1280 / 2**24
