"""`sieve score`: forced log-probabilities, and what goes wrong."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from sieve.bundle.config import ModelConfig
from sieve.cli.main import main
from sieve.data.corpus import Corpus
from sieve.model.checkpoint import save_model
from sieve.model.transformer import TranslationModel


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizers = Corpus.open(toy_data.corpus).tokenizers()
    V = tokenizers.target.vocab_size
    torch.manual_seed(0)
    directory = tmp_path_factory.mktemp("model") / "xx-yy"
    metadata = {"languages": ["xx", "yy"], "selection": {"threshold": 0.9}}
    save_model(
        directory, TranslationModel(ModelConfig(V, V, 1, 1, 16, 32, 2)), tokenizers, metadata
    )
    return directory


def files(directory: Path, source: str, target: str) -> list[str]:
    (directory / "src").write_text(source)
    (directory / "tgt").write_text(target)
    return [str(directory / "src"), str(directory / "tgt")]


def test_scores(model: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    pair = files(tmp_path, "bda fga\n\nbda\n", "FGA BDA\nBDA\n\n")
    assert main(["score", str(model), *pair, "--selection", "none"]) == 0
    plain = [float(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert main(["score", str(model), *pair, "--selection", "none", "--json"]) == 0
    found = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    fields = "text score shortlist_size vocab_size pieces token_scores normalized_score returns"
    assert all([*line] == [*fields.split(), "confidence", "quality"] for line in found)
    assert [one["score"] for one in found] == pytest.approx(plain, abs=1e-5)
    assert [one["text"] for one in found] == ["FGA BDA", "BDA", ""]
    for one in found:
        assert len(one["token_scores"]) == len(one["pieces"]) + 1
        assert sum(one["token_scores"]) == pytest.approx(one["score"])
    # an idle head selects every word or none: with none but EOS, words cannot be said
    assert main(["score", str(model), *pair, "--selection", "nvs:0.999999", "--json"]) == 0
    found = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert found[0]["score"] is None
    assert found[2]["score"] == pytest.approx(0.0, abs=1e-6)
    assert main(["score", str(model), *pair, "--selection", "nvs:0.999999"]) == 0
    assert float(capsysbinary.readouterr().out.splitlines()[0]) == -math.inf


def test_both_directions(
    model: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    back = tmp_path / "yy-xx"
    shutil.copytree(model, back)
    (back / "manifest.json").unlink()
    config = json.loads((back / "config.json").read_text())
    (back / "config.json").write_text(json.dumps(config | {"languages": ["yy", "xx"]}))
    pair = files(tmp_path, "bda fga\nbda\n", "FGA BDA\n\n")
    assert main(["score", str(model), *pair, "--back", str(back)]) == 0
    plain = [float(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert main(["score", str(model), *pair, "--back", str(back), "--json"]) == 0
    found = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    for number, line in zip(plain, found, strict=True):
        assert number == pytest.approx(line["forced"], abs=1e-5)
        assert number == pytest.approx((line["forward"] + line["backward"]) / 2, abs=1e-5)
    assert main(["score", str(model), *pair, "--back", str(model)]) == 2
    assert main(["score", str(model), *pair, "--back", str(back), "--selection", "none"]) == 2


def test_unequal_files(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = files(tmp_path, "bda\nfga\n", "BDA\n")
    assert main(["score", str(model), *pair]) == 2
    assert f"{pair[1]} ends after line 1" in capsys.readouterr().err
