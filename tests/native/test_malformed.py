"""Damaged model directories end in a SieveError or still work: no crash, no huge allocation."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import outcome
from directories import write_model

from sieve.files import read_json, read_tensors, write_json, write_tensors

FORMS = ("float32", "int8")
with_forms = pytest.mark.parametrize("form", FORMS)


@pytest.fixture
def copies(models: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    """Makes a copy to damage."""

    def copied(form: str) -> Path:
        target = tmp_path / form
        target.mkdir()
        for path in models[form].iterdir():
            (target / path.name).write_bytes(path.read_bytes())
        return target

    return copied


def change_tensors(directory: Path, changes: dict[str, Any]) -> None:
    tensors = {**read_tensors(directory / "model.safetensors"), **changes}
    kept = {name: array for name, array in tensors.items() if array is not None}
    write_tensors(directory / "model.safetensors", kept)


def change_model(directory: Path, **changes: Any) -> None:
    config = read_json(directory / "config.json")
    config["model"].update(changes)
    write_json(directory / "config.json", config)


# ---- by hand, with the line that users see


@with_forms
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 100, 1000, -1])
def test_truncated_tensors(copies: Callable[[str], Path], form: str, size: int) -> None:
    path = copies(form) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    assert f"{path}: not a readable safetensors file: " in outcome(path.parent)


@with_forms
def test_a_header_that_claims_too_much(copies: Callable[[str], Path], form: str) -> None:
    path = copies(form) / "model.safetensors"
    raw = path.read_bytes()
    for size in (2**62, 2**31, len(raw), len(raw) - 8, 0, 1):
        path.write_bytes(size.to_bytes(8, "little") + raw[8:])
        assert "not a readable safetensors file: " in outcome(path.parent)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "name", ["encoder.norm.weight", "tgt_embedding.weight", "output.bias", "nvs.hidden.weight"]
)
def test_weights_that_are_no_numbers(
    copies: Callable[[str], Path], name: str, value: float
) -> None:
    directory = copies("float32")
    array = read_tensors(directory / "model.safetensors")[name]
    array.reshape(-1)[-1] = value
    change_tensors(directory, {name: array})
    expected = f"{directory}: tensor {name} holds a value that is no finite number"
    assert outcome(directory) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "tensor output.weight_scale has values that are not finite"),
        (np.inf, "tensor output.weight_scale has values that are not finite"),
        (-0.5, "tensor output.weight_scale has scales below 0 or above 1e+36"),
        (1e37, "tensor output.weight_scale has scales below 0 or above 1e+36"),
    ],
)
def test_scales_without_meaning(copies: Callable[[str], Path], value: float, message: str) -> None:
    directory = copies("int8")
    scale = read_tensors(directory / "model.safetensors")["output.weight_scale"]
    scale[399] = value
    change_tensors(directory, {"output.weight_scale": scale})
    assert outcome(directory) == f"{directory}: {message}"


@with_forms
def test_tensors_that_lack_or_do_not_belong(copies: Callable[[str], Path], form: str) -> None:
    directory = copies(form)
    change_tensors(directory, {"decoder.norm.bias": None})
    assert outcome(directory) == f"{directory}: lacks tensor decoder.norm.bias (1 such in all)"
    change_tensors(directory, {"decoder.norm.bias": np.zeros(20, np.float32), "x": np.zeros(1)})
    assert outcome(directory) == f"{directory}: has the unknown tensor x (1 such in all)"


@with_forms
def test_shapes_that_do_not_fit(copies: Callable[[str], Path], form: str) -> None:
    directory = copies(form)
    tensors = read_tensors(directory / "model.safetensors")
    for name, array in tensors.items():
        change_tensors(directory, {name: array[:-1]})
        shape, expected = array[:-1].shape, array.shape
        message = f"{directory}: tensor {name} has shape {shape}, expected {expected}"
        assert outcome(directory) == message
        change_tensors(directory, {name: array})
    assert outcome(directory) == "works"


@with_forms
def test_other_kinds_of_numbers(copies: Callable[[str], Path], form: str) -> None:
    directory = copies(form)
    tensors = read_tensors(directory / "model.safetensors")
    for name in ("output.bias", "decoder.layers.0.mixer.value.weight"):
        array = tensors[name]
        expected = "float32" if array.dtype != np.uint8 else "uint8"
        for kind in (np.int32, np.int8, np.bool_):
            change_tensors(directory, {name: array.astype(kind)})
            known = expected if form == "int8" else "floats"
            message = f"{directory}: tensor {name} is {np.dtype(kind)}, expected {known}"
            assert outcome(directory) == message
        change_tensors(directory, {name: array})
    wide = {name: array.astype(np.float64) for name, array in tensors.items()}
    change_tensors(directory, wide)
    assert (outcome(directory) == "works") == (form == "float32")


@with_forms
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 10**9}, "tensor tgt_embedding.weight has shape"),
        ({"d_model": 2**64}, "tensor tgt_embedding.weight has shape"),
        ({"d_model": 10**400, "heads": 1}, "tensor tgt_embedding.weight has shape"),
        ({"d_ff": 10**9}, "feed_forward"),
        ({"encoder_layers": 10**9}, "config.json asks for 1000000001 layers, model.safetensors"),
        ({"decoder_layers": 10**9}, "config.json asks for 1000000001 layers, model.safetensors"),
        ({"decoder_layers": 10**400}, "layers, model.safetensors has only"),
        ({"encoder_layers": 2}, "lacks tensor encoder.layers.1."),
        ({"encoder_layers": 0}, "model.encoder_layers: got 0, expected at least 1"),
        ({"heads": 0}, "model.heads: got 0, expected at least 1"),
        ({"heads": 3}, "model.d_model: got 20, expected an even multiple of model.heads (3)"),
        ({"heads": 10**30}, "model.d_model: got 20, expected an even multiple"),
        ({"tgt_vocab_size": 449}, "tensor tgt_embedding.weight has shape"),
        ({"tgt_vocab_size": 10**12}, "tensor tgt_embedding.weight has shape"),
        ({"src_vocab_size": 384}, "tensor src_embedding.weight has shape"),
        ({"src_vocab_size": 3}, "model.src_vocab_size: got 3, expected at least 5"),
        ({"nvs_hidden": 10**9}, "model.nvs_hidden: got 1000000000, expected 0 or more, less"),
        ({"nvs_hidden": -1}, "model.nvs_hidden: got -1, expected 0 or more"),
        ({"nvs_head": "none"}, "has the unknown tensor nvs.bias"),
        ({"nvs_head": "full"}, "lacks tensor nvs.weight"),
        ({"decoder_mixer": "attention"}, "lacks tensor decoder.layers.0.mixer"),
        ({"decoder_mixer": "lstm"}, "model.decoder_mixer: got 'lstm', expected one of ssru, att"),
        ({"tie": "all"}, "has the unknown tensor output.weight"),
        ({"dropout": 10**400}, "expected a finite number"),
        ({"d_model": 20.0}, "model.d_model: got 20.0 (float), expected int"),
        ({"colour": "green"}, "unknown configuration key 'model.colour'"),
    ],
)
def test_configurations_of_another_model(
    copies: Callable[[str], Path], form: str, changes: dict[str, Any], message: str
) -> None:
    directory = copies(form)
    change_model(directory, **changes)
    assert message in outcome(directory)


@with_forms
def test_another_form_than_the_configuration_says(copies: Callable[[str], Path], form: str) -> None:
    directory = copies(form)
    config = read_json(directory / "config.json")
    config["weights"] = {"format": "float32"} if form == "int8" else {"format": "int8", "layout": 1}
    write_json(directory / "config.json", config)
    assert f"{directory}: " in outcome(directory)


def test_a_directory_of_another_kind(tmp_path: Path, toy_data: Any) -> None:
    assert outcome(tmp_path / "none") == f"{tmp_path / 'none'}: no such model directory"
    assert "not a model directory: it has no config.json" in outcome(toy_data.corpus)


def test_sizes_within_the_padding_of_int8(copies: Callable[[str], Path]) -> None:
    """Shapes of the int8 form do not show them: the tokenizer does."""
    for changes, message in (
        ({"tgt_vocab_size": 401}, "the tokenizer has 400 target tokens, the model 401"),
        ({"src_vocab_size": 399}, "the tokenizer has 400 source tokens, the model 399"),
        ({"d_ff": 51}, "works"),  # channels of zeros
    ):
        directory = copies("int8")
        change_model(directory, **changes)
        assert message in outcome(directory)
        shutil.rmtree(directory)


@with_forms
def test_weights_that_overflow(tmp_path: Path, toy_data: Any, form: str) -> None:
    """Finite weights whose products are not: no translation has a score."""
    directory = tmp_path / "model"
    write_model(directory, toy_data.corpus, int8=form == "int8", d_model=64)
    tensors = read_tensors(directory / "model.safetensors")
    huge = {
        name: np.where(array != 0, np.float32(1e36), array)
        for name, array in tensors.items()
        if array.dtype == np.float32
    }
    change_tensors(directory, huge)
    assert outcome(directory) == "a translation has no finite score: the weights are damaged"


def test_names_given_twice(copies: Callable[[str], Path]) -> None:
    for form in FORMS:
        path = copies(form) / "model.safetensors"
        raw = path.read_bytes()
        end = 8 + int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8:end])
        for entry in (
            {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
            {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]},
            {"dtype": "F32", "shape": [20], "data_offsets": [1, 3]},
        ):
            text = json.dumps(header)[:-1] + f', "encoder.norm.bias": {json.dumps(entry)}}}'
            path.write_bytes(len(text).to_bytes(8, "little") + text.encode() + raw[end:])
            assert outcome(path.parent) != ""
