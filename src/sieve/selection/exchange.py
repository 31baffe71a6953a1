"""Lexicons of other toolkits, read and written: Marian, CTranslate2, Sockeye.

Words travel as pieces, never as ids of a foreign vocabulary; those that our vocabulary lacks are
counted, not guessed. Formats without probabilities keep their order: the first word ranks first.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sieve.config import unknown
from sieve.errors import ConfigError, InputError
from sieve.files import whole_file
from sieve.selection.aligners.translation_table import TranslationTable
from sieve.selection.lexicon import Lexicon, lexicon_of_table
from sieve.tokenize.tokenizer import Tokenizer, Tokenizers
from sieve.tokenize.vocabulary import SPECIAL_PIECES

_SPACES = re.compile(r"[ \t\r\f\v]+")  # what Marian splits at; other spaces belong to words
SOCKEYE_SYMBOLS = ("<pad>", "<unk>", "<s>", "</s>")
_SOCKEYE_PAD = 0  # what fills up its rows
SOCKEYE_VOCABULARIES = ("vocab.src.0.json", "vocab.trg.0.json")


@dataclass
class Tally:
    """What could not be carried over."""

    source_words: set[str] = field(default_factory=set)
    """Source words that the other vocabulary does not have."""
    target_words: set[str] = field(default_factory=set)
    """Target words that the other vocabulary does not have."""
    phrases: int = 0
    """Entries for several source words at once: a lexicon has entries for single words."""

    def __str__(self) -> str:
        text = (
            f"{len(self.source_words)} source and {len(self.target_words)} target words "
            "are not in the vocabulary"
        )
        return text + (
            f", {self.phrases} entries of several words left out" if self.phrases else ""
        )


@dataclass(frozen=True)
class _Format:
    read: Callable[[Path, Tokenizers, Tally], Lexicon]
    write: Callable[[Path, Lexicon, Tokenizers, int], None]


def read_lexicon(path: Path, name: str, tokenizers: Tokenizers) -> tuple[Lexicon, Tally]:
    """Reads a lexicon of another toolkit, and says what it could not use."""
    tally = Tally()
    lexicon = _format(name).read(path, tokenizers, tally)
    info = {**lexicon.info, "signature": name, "tokenizer": tokenizers.fingerprint}
    return replace(lexicon, info=info), tally


def write_lexicon(
    path: Path, name: str, lexicon: Lexicon, tokenizers: Tokenizers, top: int
) -> None:
    """Writes a lexicon for another toolkit, at most `top` target words for each source word."""
    _format(name).write(path, lexicon, tokenizers, top)


def _format(name: str) -> _Format:
    if name not in FORMATS:
        raise ConfigError(unknown("lexicon format", name, list(FORMATS)))
    return FORMATS[name]


# Marian: lines `target source probability`


def _read_marian(path: Path, tokenizers: Tokenizers, tally: Tally) -> Lexicon:
    entries: dict[tuple[int, int], float] = {}
    source, target = _Ids(tokenizers.source), _Ids(tokenizers.target)
    for number, line in _lines(path):
        fields = [part for part in _SPACES.split(line) if part]
        if len(fields) != 3:
            raise InputError(
                f"{path}: line {number}: got {len(fields)} fields, expected 'target source "
                "probability'"
            )
        if "NULL" in fields[:2]:  # a word that comes from nothing: Marian skips these too
            continue
        probability = _number(fields[2], path, number)
        src_id = source.find(fields[1], tally.source_words)
        tgt_id = target.find(fields[0], tally.target_words)
        if src_id is not None and tgt_id is not None:
            entries[src_id, tgt_id] = probability
    src_ids = np.fromiter((s for s, _ in entries), np.int64, len(entries))
    tgt_ids = np.fromiter((t for _, t in entries), np.int32, len(entries))
    values = np.fromiter(entries.values(), np.float32, len(entries))
    order = np.argsort(src_ids, kind="stable")
    offsets = np.searchsorted(src_ids[order], np.arange(tokenizers.source.vocab_size + 1))
    table = TranslationTable(offsets.astype(np.int64), tgt_ids[order], values[order])
    lexicon = lexicon_of_table(table, np.zeros(tokenizers.target.vocab_size, np.int64))
    return replace(lexicon, info={"by": "probability"})


def _write_marian(path: Path, lexicon: Lexicon, tokenizers: Tokenizers, top: int) -> None:
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        for src_id, src_piece in _words(tokenizers.source):
            targets, probabilities = lexicon.row(src_id)
            for tgt_id, probability in zip(targets[:top], probabilities[:top], strict=True):
                piece = tokenizers.target.piece(int(tgt_id))
                file.write(f"{piece} {src_piece} {probability:.8g}\n")


# CTranslate2: lines `source n-gram TAB target words`; the empty n-gram holds for every sentence


def _read_ctranslate2(path: Path, tokenizers: Tokenizers, tally: Tally) -> Lexicon:
    rows: dict[int, list[int]] = {}
    source, target = _Ids(tokenizers.source), _Ids(tokenizers.target)
    eos = tokenizers.source.specials.eos
    for number, line in _lines(path):
        phrase, tab, words = line.partition("\t")
        if not tab:
            raise InputError(
                f"{path}: line {number}: got no tab, expected 'source words TAB target words'"
            )
        if " " in phrase:
            tally.phrases += 1
            continue
        # EOS ends every source sentence: its row holds what every sentence may use
        src_id = eos if not phrase else source.find(phrase, tally.source_words)
        if src_id is not None:
            tgt_ids = (target.find(word, tally.target_words) for word in words.split(" ") if word)
            rows[src_id] = [tgt_id for tgt_id in tgt_ids if tgt_id is not None]
    return _ranked(rows, tokenizers)


def _write_ctranslate2(path: Path, lexicon: Lexicon, tokenizers: Tokenizers, top: int) -> None:
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        eos = tokenizers.source.specials.eos
        always = [(eos, "")] if len(lexicon.row(eos)[0]) else []
        for src_id, src_piece in (*always, *_words(tokenizers.source)):
            targets = lexicon.row(src_id)[0][:top].tolist()
            if targets:
                pieces = (tokenizers.target.piece(tgt_id) for tgt_id in targets)
                file.write(f"{src_piece}\t{' '.join(pieces)}\n")


# Sockeye: an array (source words, k) of target ids, PAD where there are fewer, and two vocabularies


def _read_sockeye(path: Path, tokenizers: Tokenizers, tally: Tally) -> Lexicon:
    src_words, tgt_words = (_read_vocabulary(path.with_name(n)) for n in SOCKEYE_VOCABULARIES)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: not a readable array: {' '.join(str(error).split())}") from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iu":
        raise InputError(f"{path}: expected a top-k lexicon: whole numbers (source words, k)")
    if len(array) != len(src_words) or int(array.max(initial=0)) >= len(tgt_words):
        raise InputError(
            f"{path}: its {len(array)} rows and ids up to {int(array.max(initial=0))} do not fit "
            f"vocabularies of {len(src_words)} and {len(tgt_words)} words"
        )
    source, target = _Ids(tokenizers.source), _Ids(tokenizers.target)
    columns = [target.find(word, tally.target_words) for word in tgt_words]
    columns[_SOCKEYE_PAD] = None
    rows = {}
    for word, row in zip(src_words, array, strict=True):
        src_id = source.find(word, tally.source_words)
        if src_id is not None:
            tgt_ids = (columns[int(number)] for number in row)
            rows[src_id] = [tgt_id for tgt_id in tgt_ids if tgt_id is not None]
    return _ranked(rows, tokenizers)


def _write_sockeye(path: Path, lexicon: Lexicon, tokenizers: Tokenizers, top: int) -> None:
    """Writes the array, and beside it the vocabularies where there are none yet."""
    files = [path.with_name(name) for name in SOCKEYE_VOCABULARIES]
    for file, tokenizer in zip(files, (tokenizers.source, tokenizers.target), strict=True):
        if not file.exists():
            pieces = [*SOCKEYE_SYMBOLS, *(piece for _, piece in _words(tokenizer))]
            text = json.dumps({piece: number for number, piece in enumerate(pieces)}, indent=4)
            with whole_file(file) as partial:
                partial.write_text(text, encoding="utf-8")
    src_words, tgt_words = (_read_vocabulary(file) for file in files)
    number_of = {piece: number for number, piece in enumerate(tgt_words)}
    columns = np.full(lexicon.tgt_vocab_size, _SOCKEYE_PAD, np.int32)
    for tgt_id, piece in _words(tokenizers.target):
        columns[tgt_id] = number_of.get(piece, _SOCKEYE_PAD)
    array = np.zeros((len(src_words), top), np.int32)
    for number, piece in enumerate(src_words):
        src_id = tokenizers.source.piece_id(piece)
        if src_id is not None and piece not in SOCKEYE_SYMBOLS:
            row = columns[lexicon.row(src_id)[0]]
            row = row[row != _SOCKEYE_PAD][:top]
            array[number, : len(row)] = row
    with whole_file(path) as partial, partial.open("wb") as file_:
        np.save(file_, array, allow_pickle=False)


def _read_vocabulary(path: Path) -> list[str]:
    """The words of a Sockeye vocabulary in the order of their ids."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        numbers = sorted(content.values())
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f"{path}: not a readable Sockeye vocabulary (it must lie beside the lexicon): {error}"
        ) from None
    if numbers != list(range(len(numbers))):
        raise InputError(f"{path}: expected each id from 0 to {len(numbers) - 1} once")
    return sorted(content, key=lambda word: int(content[word]))


def _ranked(rows: dict[int, list[int]], tokenizers: Tokenizers) -> Lexicon:
    """A lexicon of which only the order is known: counts fall from n to 1 along a row."""
    sizes = tokenizers.source.vocab_size, tokenizers.target.vocab_size
    unique = {src_id: list(dict.fromkeys(tgt_ids)) for src_id, tgt_ids in rows.items()}
    lengths = np.array([len(unique.get(src_id, ())) for src_id in range(sizes[0])], np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ordered = [unique[src_id] for src_id in sorted(unique)]
    targets = np.array([tgt_id for row in ordered for tgt_id in row], np.int32)
    counts = np.array([len(row) - rank for row in ordered for rank in range(len(row))], np.int32)
    totals = lengths * (lengths + 1) // 2
    return Lexicon(
        offsets, targets, counts, totals, np.zeros(sizes[1], np.int64), info={"by": "rank"}
    )


class _Ids:
    """Ids of pieces, each looked up once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._found: dict[str, int | None] = {}

    def find(self, piece: str, missing: set[str]) -> int | None:
        """The id, or None for special words and for those that are missing."""
        if piece not in self._found:
            self._found[piece] = self._tokenizer.piece_id(piece)
        index = self._found[piece]
        if index is None and piece not in SPECIAL_PIECES:
            missing.add(piece)
        return None if index in self._tokenizer.specials.all else index


def _words(tokenizer: Tokenizer) -> Iterator[tuple[int, str]]:
    """All tokens but the special ones."""
    special = tokenizer.specials.all
    for index in range(tokenizer.vocab_size):
        if index not in special:
            yield index, tokenizer.piece(index)


def _lines(path: Path) -> Iterable[tuple[int, str]]:
    """Numbered lines without their newline; other line breaks of Unicode belong to words."""
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error.reason}") from None


def _number(text: str, path: Path, number: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{path}: line {number}: got '{text}', expected a probability")
    return value


FORMATS = {
    "marian": _Format(_read_marian, _write_marian),
    "ctranslate2": _Format(_read_ctranslate2, _write_ctranslate2),
    "sockeye": _Format(_read_sockeye, _write_sockeye),
}
