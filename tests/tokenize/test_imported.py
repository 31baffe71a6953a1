"""Tokenizers that came with models of other toolkits: ids, normaliser, tags, damage."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
import sentencepiece

from sieve.errors import InputError, ModelError
from sieve.tokenize.imported import ImportedTokenizer
from sieve.tokenize.spelling import open_ids, spellings
from sieve.tokenize.tokenizer import Tokenizers, load_tokenizers
from sieve.tokenize.vocabulary import Specials
from sieve.tokenize.words import END, word_texts

LINES = ["the cat sat on the mat", "a dog and a cat ran", "two dogs sat on a mat near the dog"]
OWN_IDS = Specials(pad=None, start=None, eos=0, unk=1)
MAPPED = Specials(pad=6, start=6, eos=2, unk=4)


@pytest.fixture(scope="module")
def model() -> bytes:
    """A SentencePiece model as Marian's: `</s>` 0, `<unk>` 1, no bytes, its default normaliser."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 20),
        model_writer=out,
        vocab_size=40,
        hard_vocab_limit=False,
        eos_id=0,
        unk_id=1,
        bos_id=-1,
        pad_id=-1,
        minloglevel=5,
    )
    return out.getvalue()


@pytest.fixture(scope="module")
def processor(model: bytes) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def mapped(model: bytes, *more: str) -> ImportedTokenizer:
    """The same pieces in reverse, special ones in odd places, as OPUS-MT's vocab.json has them."""
    own = ImportedTokenizer(model, OWN_IDS)
    pieces = [own.piece(index) for index in reversed(range(2, own.vocab_size))]
    pieces[2:2] = ["</s>"]
    pieces[4:4] = ["<unk>"]
    pieces[6:6] = ["<pad>"]
    return ImportedTokenizer(model, MAPPED, [*pieces, *more])


def test_ids_are_those_of_the_model(
    model: bytes, processor: sentencepiece.SentencePieceProcessor
) -> None:
    tokenizer = ImportedTokenizer(model, OWN_IDS)
    assert tokenizer.encode(LINES) == [processor.encode(line) for line in LINES]
    assert tokenizer.decode(tokenizer.encode(LINES)) == LINES
    assert tokenizer.piece(0) == "</s>" and tokenizer.piece_id("</s>") == 0


def test_nothing_is_normalised_but_by_the_model(model: bytes) -> None:
    tokenizer = ImportedTokenizer(model, OWN_IDS)
    # nmt_nfkc, the default, folds the ligature and the odd space; our own normaliser keeps it
    assert tokenizer.normalize("the\u3000ﬁt  cat ") == "the fit cat"
    assert tokenizer.encode(["the\u3000cat"]) == tokenizer.encode(["the cat"])


def test_what_the_model_lacks_is_unk_and_no_bytes(model: bytes) -> None:
    for tokenizer in (ImportedTokenizer(model, OWN_IDS), mapped(model)):
        ids = tokenizer.encode(["the 猫"])[0]
        assert tokenizer.specials.unk in ids
        assert tokenizer.decode([ids]) == ["the"]


def test_mapped_ids_have_the_same_pieces(
    model: bytes, processor: sentencepiece.SentencePieceProcessor
) -> None:
    tokenizer = mapped(model)
    for line, ids in zip(LINES, tokenizer.encode(LINES), strict=True):
        assert [tokenizer.piece(index) for index in ids] == processor.encode(line, out_type=str)
        assert not MAPPED.all & set(ids)
    assert tokenizer.decode([[*ids, 2, 6] for ids in tokenizer.encode(LINES)]) == LINES


def test_a_tag_is_cut_off_before_the_model_sees_the_line(model: bytes) -> None:
    tokenizer = mapped(model, ">>fra<<", ">>por<<")
    plain = tokenizer.encode(["the cat"])[0]
    assert tokenizer.encode([">>por<< the cat"]) == [[tokenizer.vocab_size - 1, *plain]]
    with pytest.raises(InputError, match=r">>deu<<: the model has no such language.*>>fra<<"):
        tokenizer.encode([">>deu<< the cat"])
    # a model without tags has nothing to cut off
    assert mapped(model).encode([">>por<< the cat"])[0][-len(plain) :] == plain


@pytest.mark.parametrize("text", ["", "   ", "\ud800", "a\udfffb", "\x00", "☃" * 3000])
def test_any_text_goes_in(model: bytes, text: str) -> None:
    for tokenizer in (ImportedTokenizer(model, OWN_IDS), mapped(model)):
        ids = tokenizer.encode([text])[0]
        assert all(0 <= index < tokenizer.vocab_size for index in ids)
        assert isinstance(tokenizer.decode([ids])[0], str)
        assert isinstance(tokenizer.normalize(text), str)


def test_spellings_and_words_follow_the_special_ids(model: bytes) -> None:
    for tokenizer in (ImportedTokenizer(model, OWN_IDS), mapped(model)):
        assert spellings(tokenizer, "cat") and not spellings(tokenizer, "猫")
        assert not tokenizer.specials.all & set(open_ids(tokenizer))
        ids = [*tokenizer.encode(["the cat"])[0], tokenizer.specials.eos]
        assert word_texts(tokenizer, ids) == ["the", "cat", END]


def test_saved_and_read_again(model: bytes, tmp_path: Path) -> None:
    made = Tokenizers(ImportedTokenizer(model, OWN_IDS), mapped(model, ">>por<<"))
    made.save(tmp_path)
    again = load_tokenizers(tmp_path)
    assert again.fingerprint == made.fingerprint
    for side in ("source", "target"):
        old, new = getattr(made, side), getattr(again, side)
        assert new.specials == old.specials
        assert new.encode(LINES) == old.encode(LINES)


def test_equal_files_with_other_special_ids_are_another_tokenizer(model: bytes) -> None:
    one = ImportedTokenizer(model, OWN_IDS)
    other = ImportedTokenizer(model, replace(OWN_IDS, pad=3))
    assert one.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("tokenizer.spm", b"", "damaged: its content is not what tokenizer.json recorded"),
        ("tokenizer.vocab.json", b"[]", "damaged: its content"),
        ("tokenizer.spm", None, "no such file"),
        ("tokenizer.vocab.json", None, "no such file"),
    ],
)
def test_changed_files(
    model: bytes, tmp_path: Path, file: str, content: bytes | None, expected: str
) -> None:
    tokenizer = mapped(model)
    Tokenizers(tokenizer, tokenizer).save(tmp_path)
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(ModelError, match=expected):
        load_tokenizers(tmp_path)


@pytest.mark.parametrize(
    "specials", [None, {}, {"pad": 0, "start": 0, "eos": None, "unk": 0}, [1], "x"]
)
def test_damaged_special_ids(model: bytes, tmp_path: Path, specials: object) -> None:
    tokenizer = mapped(model)
    Tokenizers(tokenizer, tokenizer).save(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    content["source"]["specials"] = content["target"]["specials"] = specials
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(ModelError, match="has the specials"):
        load_tokenizers(tmp_path)


def test_ids_that_are_none(model: bytes) -> None:
    with pytest.raises(ModelError, match="got a piece twice"):
        ImportedTokenizer(model, OWN_IDS, ["a", "b", "a"])
    with pytest.raises(ModelError, match="got the special id 7, expected less than 3"):
        ImportedTokenizer(model, replace(OWN_IDS, pad=7), ["a", "b", "c"])
    with pytest.raises(ModelError, match="got no id for unknown pieces"):
        ImportedTokenizer(model, replace(OWN_IDS, unk=None), ["a", "b", "c"])
    with pytest.raises(ModelError, match="not a SentencePiece model"):
        ImportedTokenizer(b"\x00garbage", OWN_IDS)
