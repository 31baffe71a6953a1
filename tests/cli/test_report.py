"""`sieve report` with random weights: one page with everything, its numbers as JSON."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from directories import write_model
from html_checks import checked
from toy_lexicon import random_lexicon

from sieve.cli.main import main

SECTIONS = (
    "What selection costs and saves",
    "Quality and selection",
    "Latency",
    "Recall against shortlist size",
    "Confidence",
    "Idioms and proverbs",
    "Context",
    "Aligners",
    "Examples: who voted for what",
)


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("report") / "model"
    config, _ = write_model(directory, toy_data.corpus, int8=True)
    (directory.parent / "lexicon").mkdir()
    random_lexicon(config.src_vocab_size).save(directory.parent / "lexicon")
    return directory


def with_confidence(model: Path, directory: Path) -> Path:
    """A copy that was calibrated."""
    copy = Path(shutil.copytree(model, directory / model.name))
    content = json.loads((copy / "config.json").read_text())
    content["selection"]["confidence"] = [1.0, 0.1, 0.5, -1.0, 2.0]
    (copy / "config.json").write_text(json.dumps(content))
    return copy


def test_everything_on_one_page(model: Path, toy_data: Any, tmp_path: Path) -> None:
    prefix, lexicon = str(toy_data.valid_src).removesuffix(".xx"), model.parent / "lexicon"
    model = with_confidence(model, tmp_path)
    idioms, out = tmp_path / "mine.tsv", tmp_path / "deep" / "out"
    idioms.write_text("bda <b> fga\tFGA BDA\tfga\tFGA\n" * 4)
    code = main(
        [
            "report", str(model), "--test", prefix, "--idioms", str(idioms), "--lexicon",
            str(lexicon), "--aligners", f"one={lexicon}", "--sentences", "4", "--runs", "1",
            "--selection", "lexicon:2,nvs:0.4", "--beam-size", "1", "-o", str(out),
        ]
    )  # fmt: skip
    assert code == 0
    text = (out / "index.html").read_text(encoding="utf-8")
    found = checked(text)
    assert {"svg", "table", "nav", "details"} <= found.seen and "b" not in found.seen
    for number, title in enumerate(SECTIONS):
        assert f'<section id="part{number}"><h2>{title}</h2>' in text
    content = json.loads((out / "report.json").read_text())
    assert content["direction"] == "xx-yy"
    assert [row["selection"] for row in content["rows"]] == ["none", "lexicon:2", "nvs:0.4"]
    assert len(content["benchmark"]) == 3
    assert text.count("<details><summary>bda &lt;b&gt; fga (model)") == 3
    assert "fga" not in json.dumps(content), "sentences of test sets stay out of what is recorded"
    assert {row["method"] for row in content["curves"]} == {"nvs", "lexicon"}
    assert len(content["seconds"]) == 1 + 1 + 3 + 2 + 1 + 1
    (sure,) = content["reliability"]
    assert sure["selection"] == "nvs:0.4" and len(sure["deciles"]) == 4
    assert text.count("as promised") == 1
    assert content["idioms"] and content["context"][str(model)] and content["aligners"]


def test_what_there_is_nothing_of_is_left_out(model: Path, toy_data: Any, tmp_path: Path) -> None:
    prefix = str(toy_data.valid_src).removesuffix(".xx")
    options = ["--test", prefix, "--sentences", "3", "--runs", "0", "--beam-size", "1"]
    assert main(["report", str(model), *options, "-o", str(tmp_path)]) == 0
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    checked(text)
    for title in ("Latency", "Confidence", "Idioms and proverbs", "Context", "Aligners"):
        assert f"<h2>{title}</h2>" not in text
    assert "lexicon:200" not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to report: give test sets with --test SET …"),
        (["--test", "nowhere"], "nowhere.xx not found"),
        (["--test", "{a}", "--runs", "-1"], "--runs: got -1, expected 0 or more"),
        (["--test", "{a}", "--sentences", "0"], "--sentences: got 0, expected 1 or more"),
        (["--idioms", "{a}", "--aligners", "x"], "--aligners requires test sets"),
        (["{model}", "--test", "{a}"], "expected different models"),
        (["--test", "{a}", "--lexicon", "x", "y"], "--lexicon: got 2 for 1 models"),
    ],
)
def test_errors_are_one_line(
    model: Path,
    toy_data: Any,
    options: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    a = str(toy_data.valid_src).removesuffix(".xx")
    options = [option.format(a=a, model=model) for option in options]
    assert main(["report", str(model), *options, "-o", str(tmp_path / "out")]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("sieve report: ") and message in last
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_way(
    model: Path, toy_data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    files = f"{toy_data.valid_src},{toy_data.valid_tgt}"
    assert main(["report", str(model), "--test", files, "-o", str(tmp_path / "file")]) == 2
    assert "cannot be made" in capsys.readouterr().err
