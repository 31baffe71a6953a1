"""The int8 form: layout and values by hand, error bounds, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.bundle.quantization import (
    check_quantized,
    dequantize,
    pack,
    padded,
    quantize,
    quantized_shapes,
    unpack,
)
from sieve.errors import ModelError


def test_layout_and_values_by_hand() -> None:
    weight = np.zeros((66, 5), np.float32)
    weight[0] = [-127.0, 0.5, 1.5, 2.5, 64.0]  # scale 1; halves go to the even neighbour
    weight[2, 3] = 0.254  # scale 0.002
    weight[65] = [1.0, -2.0, 0.0, 0.0, 4.0]  # scale 4/127: 31.75, -63.5, 0, 0, 127
    packed, scale = pack(weight)
    assert packed.shape == (2, 16, 64, 4)  # 66 rows are two groups, 5 columns are padded to 64
    assert packed.dtype == np.uint8
    assert packed[0, 0, 0].tolist() == [1, 128, 130, 130]  # -127, 0, 2, 2
    assert packed[0, 1, 0].tolist() == [192, 128, 128, 128]  # 64 and padding
    assert packed[0, 0, 2].tolist() == [128, 128, 128, 255]
    assert packed[1, 0, 1].tolist() == [160, 64, 128, 128]  # 32, -64: row 65 = 64 * 1 + 1
    assert packed[1, 1, 1].tolist() == [255, 128, 128, 128]
    assert np.count_nonzero(packed != 128) == 8
    expected = np.zeros(128, np.float32)
    expected[[0, 2, 65]] = np.array([127.0, 0.254, 4.0], np.float32) / np.float32(127)
    assert scale.dtype == np.float32
    np.testing.assert_array_equal(scale, expected)


def test_multiplied_as_in_ctranslate2() -> None:
    """In the middle of two integers the two ways differ, by one; of tiny rows nothing is left."""
    weight = np.zeros((3, 4), np.float32)
    weight[0] = [2.7600896, -2.4014955, 1.0, -0.5]  # 127, −110.5 or a little less, 46.01, −23.01
    weight[2] = 1e-37
    ones = np.ones(64, np.float32)
    divided, scale = pack(weight)
    multiplied, same_scale = pack(weight, multiply=True)
    factor = np.float32(127) / weight[0].max()
    assert same_scale[:3].tolist() == [np.float32(1) / factor, 0, 1]
    assert same_scale[0] == pytest.approx(scale[0], rel=1e-6)
    assert sorted(unpack(packed, ones, (3, 4))[0].tolist() for packed in (divided, multiplied)) == [
        [127, -111, 46, -23],
        [127, -110, 46, -23],
    ]
    np.testing.assert_array_equal(unpack(multiplied, ones, (3, 4))[0], np.rint(weight[0] * factor))
    assert not unpack(multiplied, ones, (3, 4))[1:].any()


def test_what_is_packed_padded_and_left() -> None:
    values = np.random.default_rng(0).normal(size=(70, 3)).astype(np.float32)
    bias = np.arange(70, dtype=np.float32)
    tensors = {
        "linear.weight": values,
        "linear.bias": bias,
        "norm.weight": np.ones(3, np.float32),
        "norm.bias": np.zeros(3, np.float32),
        "output.bias": bias,  # its matrix is another's
    }
    form = quantize(tensors, "here")
    shapes = {name: array.shape for name, array in tensors.items()}
    assert {name: array.shape for name, array in form.items()} == quantized_shapes(shapes)
    assert quantized_shapes(shapes) == {
        "linear.weight": (2, 16, 64, 4),
        "linear.weight_scale": (128,),
        "linear.bias": (128,),
        "norm.weight": (3,),
        "norm.bias": (3,),
        "output.bias": (128,),
    }
    assert form["output.bias"].tolist() == [*range(70), *[0.0] * 58]
    back = dequantize(form, shapes, "here")
    assert {name: array.shape for name, array in back.items()} == shapes
    assert np.array_equal(back["linear.bias"], bias)
    assert np.array_equal(back["linear.weight"], unpack(*pack(values), (70, 3)))


sides = st.integers(1, 200)
values = st.floats(-1e6, 1e6, width=32).filter(lambda x: x == 0 or abs(x) > 1e-30)


@settings(max_examples=100)
@given(N=sides, K=sides, pool=st.lists(values, min_size=1, max_size=9), seed=st.integers(0, 99))
def test_round_trip_error_is_half_a_step(N: int, K: int, pool: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.choice(np.array(pool, np.float32), (N, K))
    weight *= rng.choice(np.array([0, 1, 1.7], np.float32), (N, 1))
    packed, scale = pack(weight)
    back = unpack(packed, scale, (N, K))
    # half a step, and the rounding of 127 quotients and products in fp32
    assert (np.abs(back - weight) <= scale[:N, None] * np.float32(0.5001)).all()
    assert ((scale[:N] == 0) == ~weight.any(axis=1)).all()
    assert not scale[N:].any()
    assert (packed >= 1).all()  # -127 … 127
    rows = packed.transpose(0, 2, 1, 3).reshape(padded(N), padded(K))
    assert (rows[N:] == 128).all() and (rows[:, K:] == 128).all()
    again, same = pack(back)  # the integers stay
    assert np.array_equal(again, packed)
    np.testing.assert_allclose(same, scale, rtol=1e-6)


def test_blocks_of_rows_make_no_difference() -> None:
    weight = np.random.default_rng(1).normal(size=(2100, 8)).astype(np.float32)
    packed, scale = pack(weight)
    for start in range(0, 2100, 64):
        part, part_scale = pack(weight[start : start + 64])
        assert np.array_equal(part[0], packed[start // 64])
        assert np.array_equal(part_scale, scale[start : start + 64])


def test_values_too_small_for_a_scale() -> None:
    weight = np.array([[1e-45, -1e-45], [3e-44, 1e-38]], np.float32)
    packed, scale = pack(weight)
    assert np.isfinite(scale).all()
    assert np.abs(unpack(packed, scale, (2, 2)) - weight).max() < 1e-39


def test_half_precision_is_read() -> None:
    weight = np.random.default_rng(2).normal(size=(5, 7)).astype(np.float16)
    packed, scale = pack(weight)
    expected, expected_scale = pack(weight.astype(np.float32))
    assert np.array_equal(packed, expected) and np.array_equal(scale, expected_scale)


@pytest.mark.parametrize("name", ["a.weight", "a.bias"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite(name: str, value: float) -> None:
    tensors = {"a.weight": np.ones((3, 4), np.float32), "a.bias": np.ones(3, np.float32)}
    tensors[name][1] = value
    with pytest.raises(ModelError, match=f"here: tensor {name} has weights that are not finite"):
        quantize(tensors, "here")


def test_other_tensors_are_refused() -> None:
    with pytest.raises(ModelError, match="here: tensor a is int32, expected float32 or float16"):
        quantize({"a": np.zeros(3, np.int32)}, "here")
    with pytest.raises(ModelError, match=r"tensor a has shape \(1, 2, 3\), expected a vector or"):
        quantize({"a": np.zeros((1, 2, 3), np.float32)}, "here")


SHAPES = {"a.weight": (3, 4), "a.bias": (3,)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a.weight_scale": None}, "here: lacks tensor a.weight_scale"),
        ({"b": np.zeros(1)}, "here: has the unknown tensor b"),
        ({"a.weight": np.zeros((3, 4), np.uint8)}, r"a.weight has shape \(3, 4\), expected \(1, 1"),
        ({"a.bias": np.zeros(3, np.float32)}, r"a.bias has shape \(3,\), expected \(64,\)"),
        ({"a.weight": np.zeros((1, 16, 64, 4), np.int8)}, "a.weight is int8, expected uint8"),
        ({"a.weight_scale": np.zeros(64)}, "a.weight_scale is float64, expected float32"),
        ({"a.weight_scale": np.full(64, np.nan, np.float32)}, "a.weight_scale has values that are"),
        ({"a.bias": np.full(64, np.inf, np.float32)}, "a.bias has values that are not finite"),
        ({"a.weight_scale": np.full(64, -1, np.float32)}, "a.weight_scale has scales below 0 or"),
        ({"a.weight_scale": np.full(64, 1e37, np.float32)}, "scales below 0 or above 1e[+]36"),
    ],
)
def test_damaged_forms_are_refused(changes: dict[str, Any], message: str) -> None:
    form = quantize({n: np.ones(shape, np.float32) for n, shape in SHAPES.items()}, "here")
    check_quantized(form, SHAPES, "here")
    damaged = {n: array for n, array in {**form, **changes}.items() if array is not None}
    with pytest.raises(ModelError, match=message):
        dequantize(damaged, SHAPES, "here")
