"""`sieve export`: what is written can be read again, and holds what the head votes for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from generated_models import SMALL, random_weights
from marian_files import firefox_directory
from toy_lexicon import random_lexicon

from sieve.bundle.config import HeadKind
from sieve.bundle.directory import open_bundle, write_bundle
from sieve.cli.main import main
from sieve.config import to_dict
from sieve.engines.native.native_engine import NativeEngine
from sieve.importers.importing import ImportOptions, import_model
from sieve.importers.marian.marian_shortlist import checksum, read_marian_shortlist
from sieve.importers.origin import Origin
from sieve.selection.exchange import read_lexicon
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import NeuralSelection
from sieve.tokenize.sentence_piece import SentencePieceOptions, train_sentence_piece
from sieve.tokenize.tokenizer import Tokenizers, source_ids

LINES = ["red green house", "blue tree by the river", "the red house", "a green tree"]


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    tokenizer = train_sentence_piece(SentencePieceOptions(vocab_size=360), LINES * 30)
    return Tokenizers(tokenizer, tokenizer)


def directory(path: Path, tokenizers: Tokenizers, head: HeadKind = "full") -> Path:
    """A model of random weights whose head votes for a few tokens."""
    V = tokenizers.source.vocab_size
    config = replace(SMALL, src_vocab_size=V, tgt_vocab_size=V, nvs_head=head)
    weights = random_weights(config)
    sections = {
        "model": to_dict(config),
        "languages": ["en", "de"],
        "selection": {"threshold": 0.8},
    }
    write_bundle(path, sections, weights, tokenizers)
    return path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text"
    path.write_text("\n".join(LINES) + "\n")
    return path


def failure(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["export", *map(str, arguments)]) == 2
    return capsys.readouterr().err.strip().splitlines()[-1]


def test_a_static_shortlist_of_the_text_holds_what_the_head_selects(
    tokenizers: Tokenizers, text: Path, tmp_path: Path, capsys: Any
) -> None:
    model, file = directory(tmp_path / "model", tokenizers), tmp_path / "vmap"
    given = [str(model), "--to", "vmap", "--text", str(text), "-o", str(file)]
    assert main(["export", *given, "--top", "360"]) == 0
    exported, tally = read_lexicon(file, "ctranslate2", tokenizers)
    assert not tally.source_words and not tally.target_words
    assert f"{len(exported.targets)} entries" in capsys.readouterr().out
    engine = NativeEngine.open(open_bundle(model))
    src_ids = source_ids(tokenizers.source, LINES)
    selected = NeuralSelection(0.8).plan().select(engine.encode(src_ids))
    special = tokenizers.target.specials.all
    for ids, shortlist in zip(src_ids, selected, strict=True):
        static = set(exported.top_k(ids, 360).tolist())
        assert static >= set(shortlist.ids.tolist()) - special
        assert len(static) < tokenizers.target.vocab_size - 50
    assert main(["export", *given, "--top", "2", "--limit", "1", "--threshold", "0.5"]) == 0
    few, _ = read_lexicon(file, "ctranslate2", tokenizers)
    assert np.diff(few.offsets).max() == 2
    assert np.flatnonzero(np.diff(few.offsets)).tolist() == sorted({*src_ids[0].tolist()})


def test_binary_for_bergamot(tmp_path: Path, capsys: Any) -> None:
    folder = firefox_directory(tmp_path / "firefox")
    import_model(Origin(folder), tmp_path / "model", ImportOptions())
    file = tmp_path / "lex.bin"
    given = [str(tmp_path / "model"), "--to", "lex", "-o", str(file)]
    assert main(["export", *given, "--top", "5", "--frequent", "5"]) == 0
    (origin,) = folder.glob("lex.*.bin")
    # the checksum of the fixture is made up, everything else comes back byte for byte
    content = file.read_bytes()
    assert content[16:] == origin.read_bytes()[16:]
    assert int.from_bytes(content[8:16], "little") == checksum(content[16:])
    assert main(["export", *given, "--top", "1", "--frequent", "3"]) == 0
    lexicon = Lexicon.open(tmp_path / "model")
    sizes = (lexicon.src_vocab_size, lexicon.tgt_vocab_size)
    back = read_marian_shortlist(file.read_bytes(), sizes, "back")
    assert back.targets.tolist() == lexicon.pruned(1).targets.tolist()
    assert back.info["first"] == "3" and np.flatnonzero(back.target_counts).tolist() == [0, 1, 2]
    capsys.readouterr()
    assert failure(capsys, *given, "--frequent", "0").startswith(
        "sieve export: --frequent: got 0, expected 1 to"
    )


def test_the_old_name_still_works(tokenizers: Tokenizers, tmp_path: Path, capsys: Any) -> None:
    model = directory(tmp_path / "model", tokenizers, "none")
    random_lexicon(tokenizers.source.vocab_size).save(model)
    for new, old in (("vmap", "ctranslate2"), ("marian", "marian"), ("lex", "lex")):
        files = tmp_path / new, tmp_path / f"{old}-old"
        assert main(["export", str(model), "--to", new, "-o", str(files[0])]) == 0
        command = ["lexicon", "export", str(model), "--format", old, "-o", str(files[1])]
        assert main(command) == 0
        assert files[0].read_bytes() == files[1].read_bytes()
    with pytest.raises(SystemExit):
        main(["lexicon", "--help"])
    assert "export" not in capsys.readouterr().out


def test_what_cannot_be_exported(
    tokenizers: Tokenizers, text: Path, tmp_path: Path, capsys: Any
) -> None:
    bare, file = directory(tmp_path / "bare", tokenizers, "none"), tmp_path / "out"
    to = ["--to", "vmap", "-o", file]
    assert failure(capsys, bare, *to) == (
        f"sieve export: {bare}: has no lexicon.safetensors to export; --text TEXT distils its "
        "selection head"
    )
    assert failure(capsys, bare, *to, "--text", text) == (
        f"sieve export: {bare}: has no selection head to distil; give it one with sieve attach, "
        "or leave out --text to export its lexicon"
    )
    model = directory(tmp_path / "model", tokenizers)
    text.write_text("\n")
    assert "got no lines, expected text to distil" in failure(capsys, model, *to, "--text", text)
    assert "--top: got 0, expected 1 or more" in failure(capsys, model, *to, "--top", 0)
    assert not file.exists()
