"""The paper's tokenizer: sacremoses words, split by byte-pair encoding (subword-nmt).

Not lossless: Moses forgets some spaces, and characters never seen in training become UNK. A piece
that ends in "@@" goes on with the next. Needs the extra `train`; loaded from plain text files.
"""

import contextlib
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sieve.errors import ConfigError, InputError, ModelError, require
from sieve.files import Folder
from sieve.tokenize.language_tags import NO_TAGS
from sieve.tokenize.normalize import normalize
from sieve.tokenize.vocabulary import EOS, OWN, SPECIAL_PIECES, UNK

KIND = "moses-bpe"
_JOIN = "@@"
_UNKNOWN = "⁇"
_CACHED_WORDS = 200_000
_LEARNED_WORDS = 1_000_000  # most frequent words that merges are learned from


class MosesWords:
    """Sentences of one language to words and back."""

    def __init__(self, language: str) -> None:
        sacremoses = require("sacremoses", "train", "the Moses tokenizer")
        self._tokenizer = sacremoses.MosesTokenizer(lang=language)
        self._detokenizer = sacremoses.MosesDetokenizer(lang=language)

    def split(self, text: str) -> list[str]:
        """Words and punctuation, without escapes."""
        words: list[str] = self._tokenizer.tokenize(normalize(text), escape=False)
        return words

    def join(self, words: Sequence[str]) -> str:
        """Text with the usual spacing."""
        text: str = self._detokenizer.detokenize(list(words), unescape=False)
        return text


class MosesBpeTokenizer:
    """Text to ids and back: Moses words, byte-pair pieces, a list of known pieces."""

    specials = OWN
    tags = NO_TAGS

    def __init__(self, language: str, codes: str, pieces: Sequence[str], where: str = KIND) -> None:
        apply_bpe = require("subword_nmt.apply_bpe", "train", "byte-pair encoding")
        self.language = language
        self._words = MosesWords(language)
        self._codes = codes
        self._pieces = [*SPECIAL_PIECES, *pieces]
        self._ids = {piece: index for index, piece in enumerate(self._pieces)}
        if len(self._ids) != len(self._pieces) or not all(self._pieces):
            raise ModelError(f"{where}: a piece is empty or listed twice")
        _check_codes(codes, where)
        self._bpe = apply_bpe.BPE(io.StringIO(codes), separator=_JOIN, vocab=set(pieces))
        self._cache: dict[str, list[int]] = {}
        self.vocab_size: int = len(self._pieces)
        self.fingerprint: str = _fingerprint(codes, pieces)

    def normalize(self, text: str) -> str:
        """The text as Moses sees it."""
        return normalize(text)

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        """Ids of each line, without BOS and EOS; unknown characters are UNK."""
        return [
            [index for word in self._words.split(line) for index in self._encode_word(word)]
            for line in lines
        ]

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        """Text of each list of ids; PAD, BOS and EOS are skipped, UNK is shown as ⁇."""
        return [self._words.join(self._join_pieces(ids)) for ids in sentences]

    def piece(self, index: int) -> str:
        """The piece with this id; "@@" at its end means that the word goes on."""
        return self._pieces[index]

    def piece_id(self, piece: str) -> int | None:
        """The id of a piece, None where there is no such piece."""
        return self._ids.get(piece)

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        """Writes merges and pieces as text and returns the entry of tokenizer.json."""
        (directory / f"{stem}.codes").write_bytes(self._codes.encode())
        pieces = "".join(f"{piece}\n" for piece in self._pieces[len(SPECIAL_PIECES) :])
        (directory / f"{stem}.vocab").write_bytes(pieces.encode())
        return {
            "kind": KIND,
            "language": self.language,
            "codes": f"{stem}.codes",
            "vocab": f"{stem}.vocab",
            "sha256": self.fingerprint,
        }

    @classmethod
    def load(cls, folder: Folder, entry: Mapping[str, Any]) -> "MosesBpeTokenizer":
        """Reads what `save` wrote; files that were changed since are a ModelError."""
        codes = _read(folder, str(entry.get("codes")))
        name = str(entry.get("vocab"))
        path = folder.path / name
        pieces = _read(folder, name).split("\n")[:-1]
        if _fingerprint(codes, pieces) != entry.get("sha256"):
            raise ModelError(
                f"{path}: damaged: it or the merges beside it are not what tokenizer.json recorded"
            )
        return cls(str(entry.get("language")), codes, pieces, str(path))

    def _encode_word(self, word: str) -> list[int]:
        ids = self._cache.get(word)
        if ids is None:
            if len(self._cache) >= _CACHED_WORDS:  # memory must not grow with the corpus
                self._cache.clear()
                self._bpe.cache.clear()
            ids = [self._ids.get(piece, UNK) for piece in self._bpe.segment_tokens([word])]
            self._cache[word] = ids
        return ids

    def _join_pieces(self, ids: Sequence[int]) -> list[str]:
        words: list[str] = []
        open_word = False
        for index in ids:
            if index <= EOS:
                continue
            piece = _UNKNOWN if index == UNK else self._pieces[index]
            goes_on = index != UNK and piece.endswith(_JOIN)
            piece = piece.removesuffix(_JOIN) if goes_on else piece
            if open_word:
                words[-1] += piece
            else:
                words.append(piece)
            open_word = goes_on
        return words


def count_words(language: str, lines: Iterable[str]) -> Counter[str]:
    """How often each word occurs."""
    words = MosesWords(language)
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(words.split(line))
    return counts


def train_moses_bpe(counts: Counter[str], merges: int) -> tuple[str, list[str]]:
    """Learns merges from counted words; returns the codes and the pieces, frequent ones first."""
    learn_bpe = require("subword_nmt.learn_bpe", "train", "byte-pair encoding")
    apply_bpe = require("subword_nmt.apply_bpe", "train", "byte-pair encoding")
    if not counts:
        raise InputError("the tokenizer cannot be trained: there is no text left to train it on")
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    codes = io.StringIO()
    lines = [f"{word} {count}" for word, count in ordered[:_LEARNED_WORDS]]
    # it reports to the terminal, and fails on words that are all of one character
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(ValueError, SystemExit):
        learn_bpe.learn_bpe(lines, codes, merges, min_frequency=2, is_dict=True)
    if codes.getvalue().count("\n") < 2:
        raise ConfigError(
            f"vocab_size: {merges} merges cannot be learned from {len(lines)} different words"
        )
    bpe = apply_bpe.BPE(io.StringIO(codes.getvalue()), separator=_JOIN)
    pieces: Counter[str] = Counter()
    for word, count in ordered:
        for piece in bpe.segment_tokens([word]):
            pieces[piece] += count
        for character in word:  # so that no word of known characters has an unknown piece
            pieces[character] += 0
            pieces[character + _JOIN] += 0
    for special in SPECIAL_PIECES:
        pieces.pop(special, None)
    return codes.getvalue(), sorted(pieces, key=lambda piece: (-pieces[piece], piece))


def _check_codes(codes: str, where: str) -> None:
    """The library ends the process on a bad line; this says where it is instead."""
    lines = codes.rstrip("\n").split("\n")
    if lines[0] != "#version: 0.2":
        raise ModelError(f"{where}: got '{lines[0][:20]}', expected merges of '#version: 0.2'")
    if len(lines) == 1:
        raise ModelError(f"{where}: there are no merges")
    for number, line in enumerate(lines[1:], 2):
        if len(line.strip("\r\n ").split(" ")) != 2:
            raise ModelError(f"{where}, line {number} of its merges: expected two pieces")


def _fingerprint(codes: str, pieces: Sequence[str]) -> str:
    return hashlib.sha256("\n".join([codes, *pieces]).encode()).hexdigest()


def _read(folder: Folder, name: str) -> str:
    try:
        return folder.read(name).decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"{folder.path / name}: cannot be read: {error}") from None
