from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.errors import ConfigError, InputError
from sieve.selection.exchange import SOCKEYE_VOCABULARIES, read_lexicon, write_lexicon
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import EOS, OWN, SPECIAL_PIECES, Specials


@dataclass(frozen=True)
class Pieces:
    """A tokenizer that only knows its pieces."""

    words: tuple[str, ...]
    fingerprint: str = "test"
    specials: Specials = OWN

    @property
    def vocab_size(self) -> int:
        return len(self.words) + 4

    def piece(self, index: int) -> str:
        return (*SPECIAL_PIECES, *self.words)[index]

    def piece_id(self, piece: str) -> int | None:
        everything = (*SPECIAL_PIECES, *self.words)
        return everything.index(piece) if piece in everything else None


def tokenizers(source: tuple[str, ...], target: tuple[str, ...]) -> Tokenizers:
    sides: list[Any] = [Pieces(source), Pieces(target)]
    return Tokenizers(*sides)


# a no-break space inside a piece, a byte, the word NULL with its space before it
OURS = tokenizers(("▁a", "▁b", "<0x0A>", "x\u00a0y"), ("▁A", "▁B", "▁C", "▁NULL", "z\u2003"))


def lexicon() -> Lexicon:
    rows = {4: {4: 3, 5: 1}, 5: {6: 2, 4: 1, 7: 1}, 7: {8: 5}}
    lengths = [len(rows.get(word, {})) for word in range(8)]
    return Lexicon(
        np.cumsum([0, *lengths]).astype(np.int64),
        np.array([t for row in rows.values() for t in row], np.int32),
        np.array([c for row in rows.values() for c in row.values()], np.int32),
        np.array([sum(rows.get(word, {}).values()) for word in range(8)]),
        np.zeros(9, np.int64),
    )


def ranking(lexicon: Lexicon) -> dict[int, list[int]]:
    rows = ((word, lexicon.row(word)[0].tolist()) for word in range(lexicon.src_vocab_size))
    return {word: row for word, row in rows if row}


@pytest.mark.parametrize("name", ["marian", "ctranslate2", "sockeye"])
def test_round_trip(name: str, tmp_path: Path) -> None:
    path = tmp_path / "lexicon"
    write_lexicon(path, name, lexicon(), OURS, top=10)
    back, tally = read_lexicon(path, name, OURS)
    assert ranking(back) == ranking(lexicon())
    assert str(tally) == "0 source and 0 target words are not in the vocabulary"
    assert back.info["signature"] == name
    if name == "marian":
        for word in (4, 5, 7):
            np.testing.assert_allclose(back.row(word)[1], lexicon().row(word)[1], atol=1e-6)
    write_lexicon(path, name, lexicon(), OURS, top=1)
    assert ranking(read_lexicon(path, name, OURS)[0]) == {4: [4], 5: [6], 7: [8]}


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.integers(4, 7), st.permutations([4, 5, 6, 7, 8]), min_size=1))
def test_the_order_survives(tmp_path_factory: Any, rows: dict[int, list[int]]) -> None:
    path = tmp_path_factory.mktemp("exchange") / "file"
    lengths = [len(rows.get(word, ())) for word in range(8)]
    flat = [t for word in sorted(rows) for t in rows[word]]
    counts = [5 - place for word in sorted(rows) for place in range(len(rows[word]))]
    mine = Lexicon(
        np.cumsum([0, *lengths]).astype(np.int64),
        np.array(flat, np.int32),
        np.array(counts, np.int32),
        np.full(8, 15),
        np.zeros(9, np.int64),
    )
    for name in ("marian", "ctranslate2", "sockeye"):
        write_lexicon(path, name, mine, OURS, top=5)
        assert ranking(read_lexicon(path, name, OURS)[0]) == rows


def test_marian_as_marian_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "lex.s2t"
    path.write_text("▁A ▁a 0.25\n▁B ▁a 0.7500\n▁A NULL 0.1\n▁Z ▁a 0.1\n▁A ▁q 1\n</s> ▁a 0.01\n")
    found, tally = read_lexicon(path, "marian", OURS)
    assert ranking(found) == {4: [5, 4]}
    assert found.row(4)[1].tolist() == pytest.approx([0.75, 0.25])
    assert str(tally) == "1 source and 1 target words are not in the vocabulary"


def test_ctranslate2_as_its_users_write_it(tmp_path: Path) -> None:
    path = tmp_path / "vmap.txt"
    path.write_text("\t▁B ▁C\n▁a\t▁A\n▁a ▁b\t▁C\n▁b\t\n")
    found, tally = read_lexicon(path, "ctranslate2", OURS)
    assert ranking(found) == {EOS: [5, 6], 4: [4]}  # EOS is in every source sentence
    assert found.top_k([4, EOS], 5).tolist() == [4, 5, 6]
    assert "1 entries of several words left out" in str(tally)
    write_lexicon(path, "ctranslate2", found, OURS, top=5)
    assert path.read_text() == "\t▁B ▁C\n▁a\t▁A\n"


def test_sockeye_with_its_own_vocabulary(tmp_path: Path) -> None:
    source, target = (tmp_path / name for name in SOCKEYE_VOCABULARIES)
    source.write_text('{"<pad>": 0, "<unk>": 1, "<s>": 2, "</s>": 3, "▁b": 4, "▁a": 5, "▁q": 6}')
    target.write_text('{"<pad>": 0, "<unk>": 1, "<s>": 2, "</s>": 3, "▁C": 4, "▁A": 5, "▁Z": 6}')
    write_lexicon(tmp_path / "top.npy", "sockeye", lexicon(), OURS, top=3)
    array = np.load(tmp_path / "top.npy")
    assert array.dtype == np.int32
    # ▁b: ▁C, ▁A (▁NULL is unknown there); ▁a: ▁A
    assert array[4:].tolist() == [[4, 5, 0], [5, 0, 0], [0, 0, 0]]
    found, tally = read_lexicon(tmp_path / "top.npy", "sockeye", OURS)
    assert ranking(found) == {4: [4], 5: [6, 4]}
    assert str(tally) == "1 source and 1 target words are not in the vocabulary"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("marian", b"a b\n", "line 1: got 2 fields, expected 'target source probability'"),
        ("marian", b"a b c\n", "line 1: got 'c', expected a probability"),
        ("marian", b"a b 2.5\n", "line 1: got '2.5', expected a probability"),
        ("marian", b"\xff\n", "not UTF-8 text"),
        ("ctranslate2", b"a\tb\na b\n", "line 2: got no tab"),
        ("sockeye", b"", "vocab.src.0.json: not a readable Sockeye vocabulary"),
    ],
)
def test_bad_files(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_lexicon(path, name, OURS)


def test_bad_arrays(tmp_path: Path) -> None:
    path = tmp_path / "top.npy"
    write_lexicon(path, "sockeye", lexicon(), OURS, top=2)
    with path.open("wb") as file:
        np.save(file, np.array([{"a": "pickle"}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"not a readable array: .*Python objects"):
        read_lexicon(path, "sockeye", OURS)
    np.save(path, np.zeros((8, 2), np.float32))
    with pytest.raises(InputError, match="expected a top-k lexicon"):
        read_lexicon(path, "sockeye", OURS)
    np.save(path, np.full((8, 2), 77))
    with pytest.raises(InputError, match="ids up to 77 do not fit"):
        read_lexicon(path, "sockeye", OURS)
    with pytest.raises(ConfigError, match="unknown lexicon format 'marain'; did you mean 'marian'"):
        read_lexicon(path, "marain", OURS)
    with pytest.raises(InputError, match="nowhere: cannot be read"):
        read_lexicon(tmp_path / "nowhere", "marian", OURS)
