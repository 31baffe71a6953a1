"""SentencePiece: training, and the tokenizer around its model.

The model itself normalises nothing (rule `identity`); `normalize` runs before it, so that
decode(encode(x)) == x whenever normalize(x) == x. Byte fallback: there is no unknown character.
"""

import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import sentencepiece

from sieve.errors import ConfigError, InputError, ModelError
from sieve.files import Folder
from sieve.tokenize.language_tags import NO_TAGS
from sieve.tokenize.normalize import normalize
from sieve.tokenize.vocabulary import BOS, EOS, OWN, PAD, SPECIAL_PIECES, UNK

KIND = "sentencepiece"
ALGORITHMS = ("unigram", "bpe")
_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_SILENT = 5  # above every level the library logs at
_TRAINING_THREADS = 16  # the sums of training follow it: fixed, so that vocabularies are the same


@dataclass(frozen=True)
class SentencePieceOptions:
    """What a SentencePiece model is trained with."""

    vocab_size: int = 32000
    """Pieces, with the four special ids and the 256 bytes."""
    algorithm: str = "unigram"
    """`unigram` or `bpe`."""
    character_coverage: float = 0.9995
    """Share of characters that become pieces of their own; the others are spelled in bytes."""
    symbols: tuple[str, ...] = ()
    """Strings that are always one piece, for example tags."""

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise ConfigError(
                f"algorithm: got '{self.algorithm}', expected one of {', '.join(ALGORITHMS)}"
            )
        if self.vocab_size < 4 + 256:
            raise ConfigError(
                f"vocab_size: got {self.vocab_size}, expected at least 260 (special ids and bytes)"
            )
        if not 0.98 <= self.character_coverage <= 1.0:
            raise ConfigError(
                f"character_coverage: got {self.character_coverage}, expected 0.98 to 1.0"
            )
        if not all(map(normalize, self.symbols)) or len(set(self.symbols)) < len(self.symbols):
            raise ConfigError(f"symbols: got {list(self.symbols)}: one is empty or given twice")


class SentencePieceTokenizer:
    """Text to ids and back with one SentencePiece model."""

    specials = OWN
    tags = NO_TAGS

    def __init__(self, model: bytes, where: str = "SentencePiece model") -> None:
        processor = open_processor(model, where)
        ids = (processor.pad_id(), processor.bos_id(), processor.eos_id(), processor.unk_id())
        if ids != (PAD, BOS, EOS, UNK):
            raise ModelError(
                f"{where}: got ids {ids} for pad, bos, eos and unk, expected {(PAD, BOS, EOS, UNK)}"
            )
        self._model = model
        self._processor = processor
        self.vocab_size: int = processor.get_piece_size()
        self.fingerprint: str = hashlib.sha256(model).hexdigest()

    def normalize(self, text: str) -> str:
        """The text as the tokenizer sees it: what `decode(encode(text))` gives back."""
        return normalize(text)

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        """Ids of each line, without BOS and EOS."""
        # one by one: a batch starts a thread each time, 30 µs, and far more on busy cores
        return [self._processor.encode(normalize(line)) for line in lines]

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        """Text of each list of ids; PAD, BOS and EOS are skipped."""
        kept = ([int(i) for i in ids if i > EOS] for ids in sentences)
        return [self._processor.decode(ids) if ids else "" for ids in kept]

    def piece(self, index: int) -> str:
        """The piece with this id, ▁ for the space before a word."""
        piece: str = self._processor.id_to_piece(int(index))
        return piece

    def piece_id(self, piece: str) -> int | None:
        """The id of a piece, None where there is no such piece."""
        index: int = self._processor.piece_to_id(piece)
        return None if index == UNK and piece != SPECIAL_PIECES[UNK] else index

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        """Writes the model file and returns the entry of tokenizer.json that finds it again."""
        name = f"{stem}.spm"
        (directory / name).write_bytes(self._model)
        return {"kind": KIND, "file": name, "sha256": self.fingerprint}

    @classmethod
    def load(cls, folder: Folder, entry: Mapping[str, Any]) -> "SentencePieceTokenizer":
        """Reads what `save` wrote; a file that was changed since is a ModelError."""
        name = str(entry.get("file"))
        model, path = folder.read(name), folder.path / name
        if hashlib.sha256(model).hexdigest() != entry.get("sha256"):
            raise ModelError(f"{path}: damaged: its content is not what tokenizer.json recorded")
        return cls(model, str(path))


def open_processor(model: bytes, where: str) -> Any:
    """The library's processor of a model; one line where that is damaged.

    Args:
        model: Content of the file.
        where: Its origin, for error messages.
    """
    sentencepiece.set_min_log_level(_SILENT)
    try:
        if not model:
            raise RuntimeError("the file is empty")
        return sentencepiece.SentencePieceProcessor(model_proto=model)
    except (RuntimeError, OSError, ValueError) as error:
        raise ModelError(f"{where}: not a SentencePiece model: {_brief(error)}") from None


class LittleTextError(ConfigError):
    """The text is too short for so many pieces."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"vocab_size: got {size}, but this text has only enough for {limit} pieces; "
            f"set vocab_size to {limit} or less, or bring more text"
        )
        self.limit = limit


def train_sentence_piece(
    options: SentencePieceOptions, lines: Iterable[str]
) -> SentencePieceTokenizer:
    """Trains a model on the lines: deterministic, whatever the machine."""
    sentencepiece.set_min_log_level(_SILENT)
    model = io.BytesIO()
    first = next(texts := (text for text in map(normalize, lines) if text), None)
    if first is None:
        raise InputError("the tokenizer cannot be trained: there is no text left to train it on")
    try:
        sentencepiece.SentencePieceTrainer.train(
            # a required character that no sentence has would abort the whole process
            sentence_iterator=chain([" ".join(_ASCII), first], texts),
            model_writer=model,
            model_type=options.algorithm,
            vocab_size=options.vocab_size,
            character_coverage=options.character_coverage,
            required_chars=_ASCII,
            user_defined_symbols=[normalize(symbol) for symbol in options.symbols],
            byte_fallback=True,
            split_digits=True,
            normalization_rule_name="identity",
            num_threads=_TRAINING_THREADS,
            train_extremely_large_corpus=False,
            minloglevel=_SILENT,
            pad_id=PAD,
            bos_id=BOS,
            eos_id=EOS,
            unk_id=UNK,
        )
    except RuntimeError as error:
        raise _training_error(str(error), options) from None
    return SentencePieceTokenizer(model.getvalue())


def _training_error(message: str, options: SentencePieceOptions) -> Exception:
    """The library's check failures as sentences."""
    high = re.search(r"Vocabulary size too high.*<= (\d+)", message)
    low = re.search(r"smaller than required_chars\. (\d+) vs (\d+)", message)
    size = options.vocab_size
    if high:
        limit = high[1]
        return LittleTextError(size, int(limit))
    if low:
        return ConfigError(
            f"vocab_size: got {size}, but the special ids, bytes and single characters of this "
            f"text alone need {low[2]}; set a larger vocab_size or a smaller character_coverage"
        )
    return InputError(f"the tokenizer cannot be trained: {_brief(message)}")


def _brief(error: object) -> str:
    """The library's message without its source lines."""
    text = re.sub(r"^\w+: src/\S+ ", "", " ".join(str(error).split()))
    return text or "unreadable"
