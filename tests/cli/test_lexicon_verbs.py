import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sieve.bundle.directory import LEXICON_FILE
from sieve.cli.main import main
from sieve.data.alignments import read_pharaoh
from sieve.data.corpus import Corpus
from sieve.data.corpus_writer import CorpusWriter
from sieve.files import whole_directory
from sieve.selection.lexicon import Lexicon


@pytest.fixture(scope="module")
def built(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("built") / "lexicon"
    kept = output.with_name("links")
    arguments = [str(toy_data.corpus), "--keep-alignments", str(kept), "-o", str(output)]
    assert main(["lexicon", "build", *arguments]) == 0
    return output


def failure(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["lexicon", *map(str, arguments)]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    return lines[-1]


def test_build_and_show(built: Path, toy_data: Any, capsys: pytest.CaptureFixture[str]) -> None:
    word = toy_data.valid_src.read_text().split()[0]
    capsys.readouterr()
    assert main(["lexicon", "show", str(built), word, "--top", "3"]) == 0
    output = capsys.readouterr().out
    assert "links)" in output and "▁" in output
    shares = [float(line.split()[0]) for line in output.splitlines() if line.startswith("  ")]
    assert shares and all(0 < share <= 1 for share in shares)
    assert failure(capsys, "show", built, " ").endswith("expected a word")
    alone = built.with_name("alone.safetensors")
    alone.write_bytes((built / LEXICON_FILE).read_bytes())
    assert main(["lexicon", "show", str(alone), word, "--tokenizer", str(built)]) == 0
    assert "has no tokenizer.json" in failure(capsys, "show", alone, word)


def test_links_as_a_file(built: Path, toy_data: Any, tmp_path: Path, capsys: Any) -> None:
    corpus, links = str(toy_data.corpus), str(built.with_name("links"))
    output = tmp_path / "again.safetensors"
    given = ["--aligner", "pharaoh", "--links", links]
    assert main(["lexicon", "build", corpus, *given, "-o", str(output)]) == 0
    np.testing.assert_array_equal(Lexicon.open(output).counts, Lexicon.open(built).counts)
    message = failure(capsys, "build", corpus, "--links", links, "-o", output)
    assert message.endswith(
        "--aligner pharaoh requires --links FILE, and --links requires --aligner pharaoh"
    )
    short = tmp_path / "short"
    short.write_text("0-0\n")
    given = ["--aligner", "pharaoh", "--links", str(short)]
    message = failure(capsys, "build", corpus, *given, "-o", tmp_path / "nothing")
    assert message == f"sieve lexicon: {short}: got 1 lines, expected 300, one for each pair"
    assert not (tmp_path / "nothing").exists()


def test_into_a_directory_of_the_same_tokenizers(
    built: Path, toy_data: Any, tmp_path: Path, capsys: Any
) -> None:
    corpus = Corpus.open(toy_data.corpus)
    same, other = tmp_path / "same", tmp_path / "other"
    for directory in (same, other):
        directory.mkdir()
    corpus.tokenizers().save(same)
    (other / "README").write_text("no tokenizers here")
    adapt = ["lexicon", "adapt", str(built), str(toy_data.corpus), "--upsample", "2", "-o"]
    assert main([*adapt, str(same)]) == 0
    assert Lexicon.open(same).target_counts.sum() == 3 * Lexicon.open(built).target_counts.sum()
    assert main([*adapt, str(other)]) == 2
    assert capsys.readouterr().err.strip().endswith("other: has no tokenizer.json")


def test_adapt_to_text(built: Path, toy_data: Any, tmp_path: Path, capsys: Any) -> None:
    pair = ["--pair", str(toy_data.valid_src), str(toy_data.valid_tgt)]
    assert main(["lexicon", "adapt", str(built), *pair, "-o", str(tmp_path / "out")]) == 0
    signature = Lexicon.open(tmp_path / "out").info["signature"]
    assert signature.endswith("|pairs:300|adapted:40x10")
    message = failure(capsys, "adapt", built, "-o", tmp_path / "x")
    assert message.endswith("expected either a prepared CORPUS or --pair SRC TGT")


def test_export_and_import(built: Path, tmp_path: Path, capsys: Any) -> None:
    for name in ("marian", "ctranslate2", "sockeye"):
        file, back = tmp_path / name, tmp_path / f"{name}.lexicon"
        kind = ["--format", name]
        assert main(["lexicon", "export", str(built), *kind, "--top", "5", "-o", str(file)]) == 0
        arguments = [str(file), *kind, "--tokenizer", str(built), "-o", str(back)]
        assert main(["lexicon", "import", *arguments]) == 0
        assert "0 source and 0 target words are not" in capsys.readouterr().err
        mine, theirs = Lexicon.open(built), Lexicon.open(back)
        for word in range(mine.src_vocab_size):
            assert mine.row(word)[0][:5].tolist() == theirs.row(word)[0].tolist()


def test_bad_names(built: Path, toy_data: Any, tmp_path: Path, capsys: Any) -> None:
    corpus, output = toy_data.corpus, tmp_path / "out"
    message = failure(capsys, "build", corpus, "--aligner", "fastalign", "-o", output)
    assert message == "sieve lexicon: unknown aligner 'fastalign'; did you mean 'fast_align'?"
    assert "not a prepared corpus" in failure(capsys, "build", tmp_path, "-o", output)
    assert "unknown lexicon format" in failure(
        capsys, "export", built, "--format", "moses", "-o", output
    )
    assert list(tmp_path.iterdir()) == []


def test_align_with_a_model(
    toy_data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    from sieve.bundle.config import ModelConfig
    from sieve.model.checkpoint import save_model
    from sieve.model.transformer import TranslationModel

    corpus = Corpus.open(toy_data.corpus)
    tokenizers = corpus.tokenizers()
    sizes = (tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    model = TranslationModel(ModelConfig(*sizes, 1, 1, 16, 32, 2))
    save_model(tmp_path / "model", model, tokenizers, {"languages": ["xx", "yy"]})
    arguments = ["lexicon", "align", "--model", str(tmp_path / "model"), "-o"]
    from_corpus, from_text = tmp_path / "corpus.align", tmp_path / "text.align"
    assert main([*arguments, str(from_corpus), str(toy_data.corpus)]) == 0
    assert "heads: average" in capsys.readouterr().err
    read_pharaoh(from_corpus).check(corpus.src_lengths, corpus.tgt_lengths, "links")
    pair = ["--pair", str(toy_data.valid_src), str(toy_data.valid_tgt), "--heads", "guided"]
    assert main([*arguments, str(from_text), *pair]) == 0
    assert len(read_pharaoh(from_text)) == 40


def test_interrupted(toy_data: Any, tmp_path: Path) -> None:
    """Ctrl-C while both directions train: exit 130, no file left, no process left."""
    small = Corpus.open(toy_data.corpus)
    many = np.random.default_rng(1).integers(0, small.num_pairs, 60_000)
    with (
        whole_directory(tmp_path / "corpus") as partial,
        CorpusWriter(partial, small.tokenizers(), small.languages) as writer,
    ):
        writer.append(*small.pairs(many))
        writer.finish({})
    scratch, output = tmp_path / "scratch", tmp_path / "out"
    for directory in (scratch, output):
        directory.mkdir()
    command = [sys.executable, "-m", "sieve.cli", "lexicon", "build", str(tmp_path / "corpus")]
    command += ["--keep-alignments", str(output / "links"), "-o", str(output / "lexicon")]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(scratch)}
    )
    deadline = time.monotonic() + 60
    while len(list(scratch.glob("*/progress.*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.decode().strip().endswith("sieve lexicon: interrupted")
    assert list(scratch.iterdir()) == [] and list(output.iterdir()) == []
