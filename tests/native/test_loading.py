"""From a model directory to the native engine: which engine is chosen, and no torch is needed."""

import gc
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from child import printed, run_python
from directories import unsealed, write_model
from generated_models import SMALL, random_weights

import sieve
from sieve.bundle.packing import pack_floats
from sieve.cli.main import main
from sieve.engines.native.native_engine import NativeEngine, available_kernels
from sieve.engines.options import SearchOptions
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.errors import ConfigError, ModelError
from sieve.files import read_json, write_json
from sieve.selection.selectors import FullVocabulary, NeuralSelection
from sieve.translate.translator import Translator

LINES = ["bda fga", "kla", "", "ste gru bli tra fnu"]
OPTIONS = SearchOptions(beam_size=3, max_length_factor=1.0)


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("loading") / "xx-yy"
    write_model(directory, toy_data.corpus)
    return directory


@pytest.fixture(scope="module")
def packed(model: Path) -> Path:
    assert main(["convert", str(model), "--int8"]) == 0
    return model.with_name("xx-yy-int8")


def texts(translator: Translator) -> list[str]:
    return [found.text for found in translator.translate(LINES, options=OPTIONS)]


def native_of(translator: Translator) -> NativeEngine:
    assert isinstance(translator.engine, NativeEngine)
    return translator.engine


def test_native_by_default(model: Path, packed: Path) -> None:
    engine = native_of(sieve.load(model))
    assert not engine.int8 and engine.kernels == available_kernels()[0]
    assert native_of(sieve.load(packed)).int8
    assert not native_of(sieve.load(packed, precision="float32")).int8
    assert (
        native_of(sieve.load(model, engine="native", precision="float32", threads=3)).threads == 3
    )
    assert str(native_of(sieve.load(packed, threads=2))).endswith("int8, 2 threads)")


def test_torch_where_native_cannot(model: Path, packed: Path) -> None:
    for wish in (
        {"engine": "torch"},
        {"precision": "bfloat16"},
        {"precision": "float16"},
        {"engine": "torch", "precision": "float32"},
    ):
        for directory in (model, packed):
            engine = sieve.load(directory, **wish).engine  # type: ignore[arg-type]
            assert isinstance(engine, TorchEngine)
            assert engine.precision == wish.get("precision", "float32")
    if not torch.cuda.is_available():
        with pytest.raises(ModelError, match="device 'cuda:1': torch finds no GPU here; use 'cpu'"):
            sieve.load(model, device="cuda:1")


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"device": "cuda"}, "engine native: cannot do device 'cuda'; use engine torch"),
        ({"precision": "float16"}, "engine native: cannot do precision 'float16'; use engine"),
        ({"threads": 0}, "threads: got 0, expected 1 or more"),
        ({"device": "tpu"}, "device: got 'tpu', expected cpu, cuda or cuda:N"),
    ],
)
def test_wishes_that_cannot_be_met(
    model: Path, wish: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigError, match=message):
        sieve.load(model, engine="native", **wish)
    options = [part for key, value in wish.items() for part in (f"--{key}", str(value))]
    assert main(["translate", str(model), "--engine", "native", *options]) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1 and message in shown


def test_both_engines_translate_alike(model: Path, packed: Path) -> None:
    first, second = sieve.load(model), sieve.load(model, engine="torch")
    for a, b in zip(
        first.translate(LINES, options=OPTIONS),
        second.translate(LINES, options=OPTIONS),
        strict=True,
    ):
        assert (a.text, a.pieces, a.shortlist_size) == (b.text, b.pieces, b.shortlist_size)
        assert a.score == pytest.approx(b.score, abs=1e-3)
    # an int8 model in fp32 arithmetic is what torch makes of it
    first, second = sieve.load(packed, precision="float32"), sieve.load(packed, engine="torch")
    assert texts(first) == texts(second)


def test_constraints_in_words(model: Path) -> None:
    """Words to include and exclude, prefixes and alignments, through the native engine."""
    first, second = sieve.load(model), sieve.load(model, engine="torch")
    free, expected, found = (
        [one.text for one in t.translate(LINES, options=OPTIONS, exclude=words, include=["BDA"])]
        for t, words in ((first, []), (first, ["RGU", "nte"]), (second, ["RGU", "nte"]))
    )
    assert "RGU" in free[3] and "nte" in free[1]
    assert found == expected
    assert not any({"RGU", "nte"} & set(text.split()) for text in found)
    options = SearchOptions(beam_size=3, n_best=3, alignment=True, max_length_factor=1.0)
    results = [
        t.translate(LINES, options=options, exclude=["lra"], prefix="RG") for t in (first, second)
    ]
    for a, b in zip(*results, strict=True):
        assert (a.text, a.positions) == (b.text, b.positions)
        assert [one.text for one in a.n_best] == [one.text for one in b.n_best]
    scores = [t.score(["bda"], ["BDA FGA"])[0].token_scores for t in (first, second)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-3)


def test_convert_load_translate_by_command(
    model: Path, packed: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_text("".join(line + "\n" for line in LINES))
    command = ["translate", str(packed), "--input", str(tmp_path / "in"), "--beam-size", "3"]
    command += ["--max-length-factor", "1"]
    outputs = []
    for threads in ("1", "2", "7"):
        output = tmp_path / f"out{threads}"
        assert main([*command, "--output", str(output), "--json", "--threads", threads]) == 0
        assert f"int8, {threads} threads)" in capfd.readouterr().err
        outputs.append(output.read_text())
    assert outputs[0] == outputs[1] == outputs[2]
    found = [json.loads(line)["text"] for line in outputs[0].splitlines()]
    assert found == texts(sieve.load(packed))
    assert len(set(found)) == len(LINES)


def test_kernels_by_their_name(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIEVE_KERNELS", "portable")
    assert native_of(sieve.load(model)).kernels == "portable"
    monkeypatch.setenv("SIEVE_KERNELS", "")
    assert native_of(sieve.load(model)).kernels == available_kernels()[0]


def test_kernels_that_there_are_not(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIEVE_KERNELS", "nonsense")
    assert main(["translate", str(model)]) == 2
    known = ", ".join(available_kernels())
    line = f"sieve translate: SIEVE_KERNELS: got 'nonsense', this CPU has {known}\n"
    assert capsys.readouterr().err == line


WITHOUT_TORCH = """
import json, sys

class NoTorch:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] in ("torch", "triton"):
            raise ImportError(f"{name} was asked for")

sys.meta_path.insert(0, NoTorch)
import sieve
from sieve.engines.options import SearchOptions

options = SearchOptions(beam_size=3, max_length_factor=1.0)
found = []
for directory in sys.argv[2:]:
    translator = sieve.load(directory)
    lines = json.loads(sys.argv[1])
    found.append([one.text for one in translator.translate(lines, options=options)])
    translator.score(["bda"], ["BDA"])
print(json.dumps(found))
"""


def test_needs_no_torch(model: Path, packed: Path) -> None:
    found = json.loads(printed(WITHOUT_TORCH, json.dumps(LINES), str(model), str(packed)))
    assert found == [texts(sieve.load(model)), texts(sieve.load(packed))]


def test_torch_is_left_alone_where_it_is_installed(model: Path) -> None:
    code = (
        "import sys, sieve\n"
        "sieve.load(sys.argv[1]).translate('bda')\n"
        "print(sorted(set(sys.modules) & {'torch', 'triton', 'transformers'}))"
    )
    assert printed(code, str(model)) == "[]"


def test_the_command_without_torch_installed(model: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from sieve.cli.main import main\n"
        "sys.exit(main(['translate', sys.argv[1], '--engine', 'torch']))"
    )
    done = run_python(code, str(model))
    assert done.returncode == 2
    assert done.stderr == (
        "sieve translate: translation with the torch engine needs torch, which is not installed: "
        "pip install 'sieve-nmt[train]'\n"
    )


# ---- what the configuration says beside the model


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"languages": ["xx"]}, r"config.json has the languages \['xx'\], expected two names"),
        ({"languages": 7}, "config.json has the languages 7, expected two names"),
        ({"languages": [1, 2]}, r"config.json has the languages \[1, 2\], expected two names"),
        (
            {"selection": 3},
            "config.json has the threshold None, expected a number from 0 to below 1",
        ),
        ({"selection": {"threshold": 1.5}}, "config.json has the threshold 1.5, expected a"),
        ({"selection": {"threshold": "x"}}, "config.json has the threshold 'x', expected a"),
        (
            {"selection": {"fall": -0.1}},
            "config.json has the fall -0.1 for its selection, expected a",
        ),
        (
            {"selection": {"fall": True}},
            "config.json has the fall True for its selection, expected",
        ),
        ({"selection": {"threshold": True}}, "config.json has the threshold True, expected a"),
        ({"selection": {"threshold": float("nan")}}, "config.json has the threshold nan, expe"),
    ],
)
def test_damaged_sections(
    toy_data: Any, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    write_model(tmp_path / "model", toy_data.corpus)
    config = read_json(tmp_path / "model" / "config.json")
    write_json(tmp_path / "model" / "config.json", {**config, **changes})
    with pytest.raises(ModelError, match=message):
        sieve.load(tmp_path / "model")


def test_another_vocabulary(toy_data: Any, tmp_path: Path) -> None:
    for side, key in (("source", "src_vocab_size"), ("target", "tgt_vocab_size")):
        changes: dict[str, Any] = {"tie": "output", key: 300}
        write_model(tmp_path / side, toy_data.corpus, **changes)
        with pytest.raises(ModelError, match=f"the tokenizer has 400 {side} tokens, the model 300"):
            sieve.load(tmp_path / side)
        with pytest.raises(ModelError, match=f"the tokenizer has 400 {side} tokens, the model 300"):
            sieve.load(tmp_path / side, engine="torch")


def test_tensors_at_odd_places(packed: Path, tmp_path: Path) -> None:
    """Other programs need not align what they write: it is copied then."""
    raw = (packed / "model.safetensors").read_bytes()
    size = int.from_bytes(raw[:8], "little")
    expected = texts(sieve.load(packed))
    for spaces in (1, 2, 3, 4):
        directory = unsealed(Path(shutil.copytree(packed, tmp_path / f"model{spaces}")))
        header = raw[8 : 8 + size] + b" " * spaces
        moved = len(header).to_bytes(8, "little") + header + raw[8 + size :]
        (directory / "model.safetensors").write_bytes(moved)
        assert texts(sieve.load(directory)) == expected


@pytest.mark.parametrize("head", ["tied", "full", "none", "factored"])
@pytest.mark.parametrize("tie", ["all", "none"])
def test_packed_floats_are_used_in_place(head: Any, tie: Any) -> None:
    """The same results, bit for bit, and what is used is kept alive."""
    config = replace(SMALL, nvs_head=head, nvs_rank=4, tie=tie)
    weights = random_weights(config)
    own, packed = NativeEngine(config, weights, int8=False), pack_floats(weights)
    shared = NativeEngine(config, packed, int8=False)
    del packed
    gc.collect()
    ids = [np.array([4, 7, 5, 2]), np.array([2])]
    selection = FullVocabulary() if head == "none" else NeuralSelection(0.4)
    results = [engine.translate(ids, selection, OPTIONS) for engine in (own, shared)]
    assert results[0] == results[1]
