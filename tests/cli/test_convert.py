"""`sieve convert`: whole directories in another form, and what goes wrong."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from directories import unsealed

from sieve.bundle.config import ModelConfig
from sieve.bundle.directory import open_bundle
from sieve.cli.main import main
from sieve.data.corpus import Corpus
from sieve.files import read_json, read_tensors, write_json, write_tensors
from sieve.model.checkpoint import load_model, save_model
from sieve.model.transformer import TranslationModel
from sieve.repair.names import Names
from sieve.repair.word_set import WordSet
from sieve.selection.lexicon import Lexicon
from sieve.train.adapt import AdaptOptions, adapt
from sieve.train.average import average


@pytest.fixture
def model(toy_data: Any, tmp_path: Path) -> Path:
    tokenizers = Corpus.open(toy_data.corpus).tokenizers()
    V = tokenizers.target.vocab_size
    torch.manual_seed(0)
    directory = tmp_path / "xx-yy"
    metadata = {"languages": ["xx", "yy"], "selection": {"threshold": 0.8}}
    save_model(
        directory, TranslationModel(ModelConfig(V, V, 1, 1, 16, 32, 2)), tokenizers, metadata
    )
    return unsealed(directory)


def refused(capsys: pytest.CaptureFixture[str], *argv: object) -> str:
    """The one line that a command ends in; it leaves everything as it was."""
    folder = Path(str(argv[0])).parent
    before = sorted(folder.rglob("*"))
    assert main(["convert", *map(str, argv)]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert sorted(folder.rglob("*")) == before
    return shown.err


def test_a_whole_directory_that_translates(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = np.ones(1, np.int64)
    offsets = np.array([0, 1], np.int64)
    one = np.array([4], np.int32)
    Lexicon(offsets, one, one, counts, counts, {}).save(model)
    (model / "MODEL_CARD.md").write_text("# Card\n")
    Names(translated_source=WordSet.of(["house"])).save(model)
    assert main(["convert", str(model), "--int8"]) == 0
    output = tmp_path / "xx-yy-int8"
    sizes = [(d / "model.safetensors").stat().st_size / 1e6 for d in (output, model)]
    shown = capsys.readouterr().out
    assert shown.startswith(f"{output}: {sizes[0]:.1f} MB, before {sizes[1]:.1f} MB (")
    added = {p.name for p in output.iterdir()} - {p.name for p in model.iterdir()}
    assert added == {"manifest.json"}
    for name in ("lexicon.safetensors", "names.safetensors", "MODEL_CARD.md", "tokenizer.json"):
        assert (output / name).read_bytes() == (model / name).read_bytes()
    before, after = read_json(model / "config.json"), read_json(output / "config.json")
    assert after.pop("weights") == {"format": "int8", "layout": 1}
    assert after == before
    (tmp_path / "src").write_text("bda fga\n")
    assert main(["score", str(output), str(tmp_path / "src"), str(tmp_path / "src")]) == 0


def test_there_and_back(model: Path, tmp_path: Path) -> None:
    packed, back, half = (tmp_path / name for name in ("packed", "back", "half"))
    assert main(["convert", str(model), "--int8", "-o", str(packed)]) == 0
    assert main(["convert", str(packed), "--float32", "--output", str(back)]) == 0
    assert main(["convert", str(model), "--float16", "--output", str(half)]) == 0
    assert open_bundle(back).config == open_bundle(half).config == open_bundle(model).config
    rounded = dict(load_model(packed).named_parameters())
    for name, array in read_tensors(back / "model.safetensors").items():
        assert array.dtype == np.float32
        assert np.array_equal(array, rounded[name].detach().numpy())
    for name, array in read_tensors(half / "model.safetensors").items():
        assert np.array_equal(array, open_bundle(model).tensors()[name].astype(np.float16))
    again = tmp_path / "again"  # rounded weights round to themselves
    assert main(["convert", str(back), "--int8", "--output", str(again)]) == 0
    first, second = (read_tensors(d / "model.safetensors") for d in (packed, again))
    for name, array in first.items():
        np.testing.assert_allclose(array, second[name], rtol=1e-6, err_msg=name)


def test_averaging_int8_models_gives_floats(model: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    assert main(["convert", str(model), "--int8", "-o", str(packed)]) == 0
    average([model, packed], tmp_path / "mean")
    average([packed], tmp_path / "one")
    assert "weights" not in open_bundle(tmp_path / "one").config
    found = open_bundle(tmp_path / "one").tensors()
    for name, parameter in load_model(packed).named_parameters():
        assert np.array_equal(found[name], parameter.detach().numpy())
    load_model(tmp_path / "mean")


def test_training_starts_from_int8_weights(model: Path, tmp_path: Path, toy_data: Any) -> None:
    packed = tmp_path / "packed"
    assert main(["convert", str(model), "--int8", "-o", str(packed)]) == 0
    options = AdaptOptions(corpora=(str(toy_data.corpus),), epochs=1, head_only=True)
    assert adapt(packed, tmp_path / "adapted", options) == 0
    assert not open_bundle(tmp_path / "adapted").is_int8
    found = open_bundle(tmp_path / "adapted").tensors()
    for name, parameter in load_model(packed).named_parameters():
        assert np.array_equal(found[name], parameter.detach().numpy()) != name.startswith("nvs.")


def test_what_is_refused(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(model), "--int8"]) == 0
    packed = tmp_path / "xx-yy-int8"
    capsys.readouterr()
    assert f"{packed}: exists and is not replaced" in refused(capsys, model, "--int8")
    out = ("--output", tmp_path / "out")
    assert f"{packed}: has int8 weights already" in refused(capsys, packed, "--int8", *out)
    assert f"{model}: has float32 weights already" in refused(capsys, model, "--float32", *out)
    assert "no such model directory" in refused(capsys, tmp_path / "none", "--int8", *out)
    (tmp_path / "file").write_text("")
    inside = tmp_path / "file" / "out"
    assert "cannot be written" in refused(capsys, model, "--int8", "-o", inside)
    (model / "tokenizer.json").unlink()
    assert "has no tokenizer.json" in refused(capsys, model, "--int8", *out)
    (model / "model.safetensors").unlink()
    assert "it has no model.safetensors" in refused(capsys, model, "--int8", *out)


def test_weights_that_do_not_fit(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ("--output", tmp_path / "out")
    tensors, path = read_tensors(model / "model.safetensors"), model / "model.safetensors"
    large = np.full_like(tensors["output.bias"], 1e5)
    write_tensors(path, {**tensors, "output.bias": large})
    message = "tensor output.bias has weights that are not finite in float16"
    assert message in refused(capsys, model, "--float16", *out)
    write_tensors(path, {**tensors, "output.bias": large * np.inf})
    assert "output.bias has weights that are not finite" in refused(capsys, model, "--int8", *out)
    write_tensors(path, {**tensors, "output.bias": large.astype(np.int64)})
    assert "output.bias is int64, expected floats" in refused(capsys, model, "--float16", *out)
    assert "output.bias is int64, expected float32" in refused(capsys, model, "--int8", *out)
    write_tensors(path, {**tensors, "output.bias": large[1:]})
    assert "tensor output.bias has shape" in refused(capsys, model, "--int8", *out)
    config = read_json(model / "config.json")
    write_json(model / "config.json", {**config, "weights": {"format": "int3"}})
    assert "got weights.format 'int3'" in refused(capsys, model, "--int8", *out)


def test_needs_no_torch(model: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from sieve.cli.main import main\n"
        "sys.exit(main(['convert', '.', '--int8']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=model, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert load_model(tmp_path / "xx-yy-int8").config.d_model == 16
