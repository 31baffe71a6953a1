"""`attach`: the model stays what it was, the head learns what it writes, work is kept."""

import itertools
import json
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from directories import write_model

import sieve
from sieve.bundle.directory import open_bundle
from sieve.bundle.weights import model_config
from sieve.cli.main import main
from sieve.engines.native.native_engine import NativeEngine
from sieve.errors import InputError, ModelError
from sieve.processes.locks import FileLock
from sieve.selection.lexicon_files import own_lexicon
from sieve.train.attach.attach import attach
from sieve.train.attach.attach_options import AttachOptions
from sieve.train.attach.head import HeadOptions
from sieve.train.attach.labelling import Labelling
from sieve.train.attach.labels import read_piece
from sieve.train.attach.source_text import SourceText, distinct
from sieve.train.calibrate import CalibrationOptions
from sieve.train.factor_head import FactorOptions

QUICK = AttachOptions(
    minutes=0.03,
    development=20,
    training=HeadOptions(size=60, sampled=64, batch=16),
    calibration=CalibrationOptions(size=60, least=5),
    threads=1,
)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    rng = random.Random(5)
    words = ["".join(rng.choices("bdfgklmnprst", k=2)) + c for c in "aeiou" for _ in range(8)]
    lines = [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(400)]
    path = tmp_path / "text.xx"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def model(tmp_path: Path, toy_data: Any) -> Path:
    write_model(tmp_path / "model", toy_data.corpus, int8=True, nvs_head="none")
    return tmp_path / "model"


def test_a_size_that_selects_nothing_is_refused_first(
    model: Path, text: Path, tmp_path: Path
) -> None:
    options = replace(QUICK, calibration=CalibrationOptions(size=400))
    with pytest.raises(ModelError, match="shortlists of 400 of 400 tokens select nothing"):
        attach(model, tmp_path / "output", SourceText((text,)), options)
    assert not (tmp_path / "output.attach").exists()


@pytest.mark.parametrize("int8", [True, False])
def test_nothing_but_the_head_is_new(int8: bool, toy_data: Any, text: Path, tmp_path: Path) -> None:
    model, output = tmp_path / "model", tmp_path / "output"
    write_model(model, toy_data.corpus, int8=int8, nvs_head="none")
    attached = attach(model, output, SourceText((text,)), QUICK)
    before, after = open_bundle(model).tensors(), open_bundle(output).tensors()
    assert {name for name in after if name not in before} == {
        name for name in after if name.startswith("nvs.")
    }
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert attached.sentences == len(set(text.read_text().splitlines())) - 40
    assert not (tmp_path / "output.attach").exists()
    reach = json.loads((output / "reach.json").read_text())
    assert (reach["sentences"], reach["judged"]) == (attached.sentences, 20)
    assert reach["training"][-1]["share"] == 1
    assert max(check["reach"] for check in reach["training"]) == attached.progress.reach
    points = reach["curves"]["head"]
    assert [point["size"] for point in points] == sorted(point["size"] for point in points)
    for point, larger in itertools.pairwise(points):
        assert 0 <= point["reach"] <= point["own"] <= larger["own"] <= 1
    assert (output / "reach.svg").is_file()
    card = (output / "MODEL_CARD.md").read_text()
    assert "## Selection head" in card and "lines of text.xx" in card and "seed 1" in card
    lines = text.read_text().splitlines()[:5]
    plain, selecting = sieve.load(model), sieve.load(output)
    same = [t.text for t in plain.translate(lines, selection="none")]
    assert [t.text for t in selecting.translate(lines, selection="none")] == same
    sizes = [t.shortlist_size for t in selecting.translate(lines, selection="nvs")]
    assert all(size < selecting.engine.vocab_size for size in sizes)


def test_a_factored_head(model: Path, text: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    options = replace(QUICK, head="factored", factors=FactorOptions(8, 2.0))
    attached = attach(model, output, SourceText((text,)), options)
    config = model_config(open_bundle(output))
    assert (config.nvs_head, config.nvs_rank) == ("factored", 8)
    assert config.nvs_slack is not None
    assert "Head: factored" in (output / "MODEL_CARD.md").read_text()
    assert json.loads((output / "reach.json").read_text())["curves"]["head"]
    assert attached.mean_size <= QUICK.calibration.size
    translator = sieve.load(output, threads=1)
    assert translator.translate(text.read_text().splitlines()[0]).confidence is not None


def test_references_count_as_needed(model: Path, text: Path, tmp_path: Path) -> None:
    target = tmp_path / "text.yy"
    target.write_text("".join(f"{line.upper()}\n" for line in text.read_text().splitlines()))
    work = tmp_path / "work"
    work.mkdir()
    bundle = open_bundle(model)
    labelling = Labelling(work, NativeEngine.open(bundle, threads=1), bundle.tokenizers())
    sources, targets = distinct(SourceText((text,), (target,)), most=1000)
    assert targets is not None
    assert [source.upper() for source in sources] == targets
    piece = labelling.piece("piece", sources[40:50], targets[40:50])
    tokenizer = bundle.tokenizers().target
    for row, ids in enumerate(tokenizer.encode(targets[40:50])):
        assert set(ids) <= set(piece.targets(row).tolist())


def test_a_lexicon_of_what_the_model_writes(model: Path, text: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    attach(model, output, SourceText((text,)), replace(QUICK, lexicon=True))
    lexicon = own_lexicon(output)
    assert lexicon is not None
    assert "fusion" in open_bundle(output).config["selection"]
    assert list(json.loads((output / "reach.json").read_text())["curves"])[1] == "head + lexicon"
    again = tmp_path / "again"
    attach(output, again, SourceText((text,)), replace(QUICK, lexicon=True))
    kept = own_lexicon(again)
    assert kept is not None
    assert kept.info == lexicon.info  # a model that has one keeps it
    assert np.array_equal(kept.targets, lexicon.targets)


def test_interrupted_work_is_kept(
    model: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, work = tmp_path / "output", tmp_path / "output.attach"

    def stop(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("sieve.train.attach.attach.train_head", stop)
        attach(model, output, SourceText((text,)), QUICK)
    pieces = sorted(work.glob("*.safetensors"))
    assert len(pieces) == 2  # held out, and the text
    times = [piece.stat().st_mtime_ns for piece in pieces]
    another = replace(QUICK, head="full", training=replace(QUICK.training, seed=2))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("sieve.train.attach.attach.train_head", stop)
        attach(model, output, SourceText((text,)), another)
    assert [piece.stat().st_mtime_ns for piece in pieces] == times
    text.write_text(text.read_text() + "another line\n")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("sieve.train.attach.attach.train_head", stop)
        attach(model, output, SourceText((text,)), QUICK)
    assert [piece.stat().st_mtime_ns for piece in pieces] != times
    assert not output.exists()
    assert len(read_piece(pieces[0])) > 0


def test_only_one_process_writes(model: Path, text: Path, tmp_path: Path) -> None:
    work = tmp_path / "output.attach"
    work.mkdir()
    lock = FileLock(work / "lock")
    with pytest.raises(InputError, match="another sieve attach is writing there"):
        attach(model, tmp_path / "output", SourceText((text,)), QUICK)
    lock.release()


def test_too_little_text(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "short.xx"
    path.write_text("a b\nb a\n")
    command = ["attach", str(model), "--source", str(path), "--size", "60"]
    command += ["-o", str(tmp_path / "output")]
    assert main(command) == 2
    assert "got 2 distinct lines, expected at least 3000" in capsys.readouterr().err
    assert not (tmp_path / "output").exists()
    assert not (tmp_path / "output.attach").exists()


def test_command_line_after_a_kill(model: Path, text: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sieve.cli", "attach", str(model), "--source", str(text)]
    command += ["--minutes", "0.05", "--development", "20", "--size", "60", "--least", "5"]
    command += ["--threads", "1", "-o", str(tmp_path / "output")]
    with subprocess.Popen([*command, "--minutes", "5"], stderr=subprocess.DEVNULL) as process:
        while not list((tmp_path / "output.attach").glob("0*.safetensors")):
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
    assert not (tmp_path / "output").exists()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["sentences"] > 0
    assert "resuming" in done.stderr
    assert open_bundle(tmp_path / "output").config["selection"]["least"] == 5


@pytest.mark.parametrize("device", ["tpu", "cuda"])
def test_a_device_that_is_not_here(
    device: str, model: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    command = ["attach", str(model), "--source", str(text), "-o", str(tmp_path / "output")]
    assert main([*command, "--device", device]) == 2
    error = capsys.readouterr().err
    expected = {"tpu": "expected cpu, cuda or cuda:N", "cuda": "torch finds no GPU here; use 'cpu'"}
    assert f"'{device}'" in error and expected[device] in error
    assert not (tmp_path / "output.attach").exists()
