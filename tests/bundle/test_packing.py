"""Floats in the order of the native kernels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from directories import write_model

from sieve.bundle.directory import open_bundle
from sieve.bundle.packing import are_packed, pack_floats, packed_parameters, packed_shapes
from sieve.bundle.weights import expected_shapes
from sieve.errors import ModelError


def test_64_rows_lie_together() -> None:
    matrix = np.arange(65 * 3, dtype=np.float16).reshape(65, 3)
    packed = pack_floats({"a": matrix, "b": np.array([1.5], np.float16)})
    assert packed["a"].shape == (2, 3, 64) and packed["a"].dtype == np.float32
    assert packed["a"][0, 2, :3].tolist() == [2, 5, 8]  # the last column of the first rows
    assert packed["a"][1, :, 0].tolist() == [192, 193, 194]  # the row behind the first 64
    assert not packed["a"][1, :, 1:].any()
    assert packed["b"].tolist() == [1.5] and packed["b"].dtype == np.float32
    assert are_packed(packed) and not are_packed({"a": matrix})
    assert packed_shapes({"a": (65, 3), "b": (1,)}) == {"a": (2, 3, 64), "b": (1,)}


def test_all_parameters_of_a_model(toy_data: Any, tmp_path: Path) -> None:
    _, weights = write_model(tmp_path / "m", toy_data.corpus)
    bundle = open_bundle(tmp_path / "m")
    packed = packed_parameters(bundle)
    shapes = packed_shapes(expected_shapes(bundle, weights))
    assert {name: array.shape for name, array in packed.items()} == shapes


def test_shapes_that_padding_would_hide(toy_data: Any, tmp_path: Path) -> None:
    """A row too few would be one of zeros."""
    write_model(tmp_path / "m", toy_data.corpus, d_ff=50)
    config = (tmp_path / "m" / "config.json").read_text()
    (tmp_path / "m" / "config.json").write_text(config.replace('"d_ff": 50', '"d_ff": 51'))
    with pytest.raises(ModelError, match=r"has shape \(50.*expected \(51"):
        packed_parameters(open_bundle(tmp_path / "m"))
