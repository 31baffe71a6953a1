import contextlib
import io

import pytest
import sentencepiece
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sieve.errors import ConfigError, InputError, ModelError
from sieve.files import Folder
from sieve.tokenize.sentence_piece import (
    SentencePieceOptions,
    SentencePieceTokenizer,
    train_sentence_piece,
)
from sieve.tokenize.vocabulary import BOS, EOS, PAD, UNK

LINES = [
    "The house is small and the garden is large.",
    "Das Haus ist klein und der Garten ist groß.",
    "We saw 12 houses, 34 gardens and 567 trees in 2019!",
    "Wir sahen 12 Häuser, 34 Gärten und 567 Bäume im Jahr 2019!",
    "Мы видели дом. بيت كبير. 家は小さい。",
] * 20

# parts that meet all that is hard: several scripts, emoji sequences, marks, spaces, symbols' names
_PARTS = st.sampled_from(
    [
        " ",
        "  ",
        "\t",
        "a",
        "Haus",
        "é",
        "e\u0301",
        "क्षि",
        "שלום",
        "مرحبا",
        "👩‍👩‍👧",
        "🇩🇪",
        "1234",
        "<s>",
        *[
            "</s>",
            "<unk>",
            "<0x41>",
            "<pad>",
            "▁",
            "@@",
            "&apos;",
            "\u200f",
            "\ufe0f",
            "\U0010ffff",
        ],
    ]
)
_TEXTS = st.one_of(st.text(), st.lists(_PARTS, max_size=12).map("".join))


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def tokenizer(request: pytest.FixtureRequest) -> SentencePieceTokenizer:
    options = SentencePieceOptions(vocab_size=400, algorithm=request.param)
    return train_sentence_piece(options, LINES)


@given(text=_TEXTS)
@example(text="https://example.org/a?b=c&d=%20 {x: [1, 2]} # m² … “q”")
@example(text="\ud800 \x00 \u2028")
@settings(max_examples=300)
def test_decode_gives_back_what_the_normaliser_leaves(
    tokenizer: SentencePieceTokenizer, text: str
) -> None:
    ids = tokenizer.encode([text])[0]
    assert tokenizer.decode([ids]) == [tokenizer.normalize(text)]
    assert all(i > UNK for i in ids)  # nothing is unknown, no special id comes from text


def test_special_ids_and_pieces(tokenizer: SentencePieceTokenizer) -> None:
    assert [tokenizer.piece(i) for i in range(4)] == ["<pad>", "<s>", "</s>", "<unk>"]
    assert tokenizer.piece_id("</s>") == EOS
    assert tokenizer.piece_id("no such piece") is None
    assert tokenizer.piece_id("<unk>") == UNK
    ids = tokenizer.encode(["Haus"])[0]
    assert tokenizer.decode([[BOS, *ids, EOS, PAD, PAD]]) == ["Haus"]
    assert tokenizer.encode([]) == [] and tokenizer.decode([]) == []
    assert tokenizer.encode(["", " "]) == [[], []] and tokenizer.decode([[]]) == [""]


def test_digits_stand_alone_and_ascii_needs_no_bytes(tokenizer: SentencePieceTokenizer) -> None:
    pieces = [tokenizer.piece(i) for i in tokenizer.encode(["x 8019 ~ @"])[0]]
    assert [p for p in pieces if p.strip("▁").isdigit()] == ["8", "0", "1", "9"]
    assert not any(p.startswith("<0x") for p in pieces)


def test_training_is_deterministic_and_keeps_symbols_whole() -> None:
    options = SentencePieceOptions(vocab_size=400, symbols=("<tag>",))
    one, two = (train_sentence_piece(options, LINES) for _ in range(2))
    assert one.fingerprint == two.fingerprint
    assert "<tag>" in [one.piece(i) for i in one.encode(["a <tag> b"])[0]]


@pytest.mark.parametrize("algorithm", ["unigram", "bpe"])
def test_a_vocabulary_too_large_for_the_text_is_one_clear_line(algorithm: str) -> None:
    with pytest.raises(ConfigError, match=r"got 32000, but this text has only enough for \d+ piec"):
        train_sentence_piece(SentencePieceOptions(algorithm=algorithm), LINES)


def test_other_unusable_training() -> None:
    with pytest.raises(ConfigError, match="got 300, but the special ids, bytes and single char"):
        train_sentence_piece(SentencePieceOptions(vocab_size=300), LINES)
    with pytest.raises(InputError, match="there is no text left"):
        train_sentence_piece(SentencePieceOptions(), ["", " "])
    with pytest.raises(ConfigError, match="at least 260"):
        SentencePieceOptions(vocab_size=4)
    with pytest.raises(ConfigError, match="got 0.9, expected".replace(".", r"\.")):
        SentencePieceOptions(character_coverage=0.9)
    with pytest.raises(ConfigError, match="one is empty or given twice"):
        SentencePieceOptions(symbols=("a", "a"))
    with pytest.raises(ConfigError, match="'wordpiece', expected one of unigram, bpe"):
        SentencePieceOptions(algorithm="wordpiece")


@given(data=st.data())
@settings(max_examples=150)
def test_garbage_is_an_error_and_never_a_crash(
    tokenizer: SentencePieceTokenizer, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("spm")
    entry = tokenizer.save(directory, "t")
    good = (directory / "t.spm").read_bytes()
    start = data.draw(st.integers(0, len(good) - 1))
    middle = data.draw(st.binary(max_size=20))
    bad = good[:start] + middle + data.draw(st.sampled_from([b"", good[start + len(middle) :]]))
    (directory / "t.spm").write_bytes(bad)
    if bad != good:
        with pytest.raises(ModelError, match="damaged"):
            SentencePieceTokenizer.load(Folder(directory), entry)
    with contextlib.suppress(ModelError):  # as a file from elsewhere, without the recorded hash
        SentencePieceTokenizer(bad).encode(["a b"])


def test_a_model_with_other_special_ids_is_refused() -> None:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES[:2]), model_writer=model, vocab_size=34, minloglevel=5
    )
    with pytest.raises(ModelError, match=r"got ids \(-1, 1, 2, 0\) for pad, bos, eos and unk"):
        SentencePieceTokenizer(model.getvalue())
    with pytest.raises(ModelError, match="the file is empty"):
        SentencePieceTokenizer(b"")
