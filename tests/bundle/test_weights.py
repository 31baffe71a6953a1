"""Shapes from the configuration against torch's, and int8 directories as torch opens them."""

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from directories import unsealed

from sieve.bundle.config import ModelConfig
from sieve.bundle.directory import open_bundle, write_bundle
from sieve.bundle.quantization import pack, quantize, unpack
from sieve.bundle.weights import float_tensors, parameter_shapes, stored_parameters
from sieve.data.corpus import Corpus
from sieve.errors import ModelError
from sieve.files import read_json, write_json
from sieve.model.checkpoint import load_model, save_model
from sieve.model.transformer import TranslationModel

SMALL = ModelConfig(40, 40, 2, 2, 16, 24, 2)
VARIANTS = [
    {"decoder_mixer": mixer, "tie": tie, "nvs_head": head, "nvs_hidden": hidden}
    for mixer, tie, (head, hidden) in itertools.product(
        ["ssru", "attention"],
        ["all", "output", "none"],
        [("tied", 0), ("tied", 20), ("full", 0), ("none", 0)],
    )
]


@pytest.mark.parametrize("changes", VARIANTS, ids=lambda c: "-".join(str(v) for v in c.values()))
def test_shapes_are_those_of_the_torch_model(changes: dict[str, Any]) -> None:
    config = dataclasses.replace(SMALL, **changes)
    model = TranslationModel(config)
    assert parameter_shapes(config) == {n: tuple(p.shape) for n, p in model.named_parameters()}


Make = Callable[..., tuple[Path, Path]]


@pytest.fixture
def make(toy_data: Any, tmp_path: Path) -> Make:
    """A fp32 directory and its int8 form, the second with changes to its tensors or sections."""
    tokenizers = Corpus.open(toy_data.corpus).tokenizers()
    V = tokenizers.target.vocab_size
    torch.manual_seed(0)
    model = TranslationModel(ModelConfig(V, V, 1, 1, 16, 24, 2, nvs_head="full"))

    def both(changes: Any = (), **sections: Any) -> tuple[Path, Path]:
        save_model(tmp_path / "fp32", model, tokenizers, {})
        unsealed(tmp_path / "fp32")
        bundle = open_bundle(tmp_path / "fp32")
        tensors = {**quantize(bundle.tensors(), "model"), **dict(changes)}
        tensors = {name: array for name, array in tensors.items() if array is not None}
        config = {**bundle.sections(), "weights": {"format": "int8", "layout": 1}, **sections}
        write_bundle(tmp_path / "int8", config, tensors, tokenizers)
        return tmp_path / "fp32", unsealed(tmp_path / "int8")

    return both


def test_torch_opens_the_rounded_model(make: Make) -> None:
    plain, packed = make()
    model, rounded = load_model(plain), load_model(packed)
    for (name, before), after in zip(model.named_parameters(), rounded.parameters(), strict=True):
        array = before.detach().numpy()
        if array.ndim == 2:
            array = unpack(*pack(array), (array.shape[0], array.shape[1]))
        assert np.array_equal(after.detach().numpy(), array), name
    assert not rounded.training


def test_stored_parameters_are_aligned_and_as_stored(make: Make) -> None:
    for directory in make():
        bundle = open_bundle(directory)
        stored, read = stored_parameters(bundle), bundle.tensors()
        assert stored.keys() == read.keys()
        for name, array in stored.items():
            assert np.array_equal(array, read[name])
            assert array.nbytes % 64 or array.ctypes.data % 64 == 0, name
            assert array.flags.aligned
    assert open_bundle(make()[1]).is_int8


NAN = np.full(64, np.nan, np.float32)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decoder.layers.0.cross.out.weight_scale": None}, "lacks tensor .*cross.out.weight_s"),
        ({"decoder.layers.0.cross.out.weight_scale": NAN}, "cross.out.weight_scale has values"),
        ({"encoder.norm.bias": np.zeros(64, np.float32)}, r"has shape \(64,\), expected \(16,\)"),
        ({"encoder.norm.bias": np.zeros(16, np.float16)}, "is float16, expected float32"),
        ({"nvs.weight": np.zeros((2, 3), np.uint8)}, r"nvs.weight has shape \(2, 3\)"),
    ],
)
def test_damaged_int8_directories(make: Make, changes: dict[str, Any], message: str) -> None:
    directory = make(changes)[1]
    for read in (load_model, lambda d: stored_parameters(open_bundle(d))):
        with pytest.raises(ModelError, match=rf"int8: .*{message}"):
            read(directory)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"format": "int4"}, "got weights.format 'int4', this version of Sieve reads int8, float"),
        ({"format": "int8"}, "got weights.layout None, this version of Sieve reads 1"),
        ({"format": "int8", "layout": 2}, "got weights.layout 2, this version of Sieve reads 1"),
        ({}, "got weights.format None"),
        ("int8", "got 'int8' for 'weights', expected a section"),
        ({"format": ["int8"]}, r"got weights.format \['int8'\]"),
    ],
)
def test_unknown_forms(make: Make, section: object, message: str) -> None:
    with pytest.raises(ModelError, match=rf"config\.json: {message}"):
        load_model(make(weights=section)[1])


@pytest.mark.parametrize("size", [{"d_model": 2**40}, {"d_ff": 10**12}, {"encoder_layers": 10**12}])
def test_absurd_sizes_allocate_nothing(make: Make, size: dict[str, int]) -> None:
    for directory in make():
        config = read_json(directory / "config.json")
        config["model"] |= size
        write_json(directory / "config.json", config)
        with pytest.raises(
            ModelError, match=r"has shape .*, expected|asks for 10+1 layers, .* only"
        ):
            load_model(directory)


def test_float_tensors_of_a_float_directory_are_the_stored_ones(make: Make) -> None:
    bundle = open_bundle(make()[0])
    assert float_tensors(bundle).keys() == bundle.tensors().keys()
