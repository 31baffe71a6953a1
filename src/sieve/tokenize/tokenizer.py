"""The tokenizers behind one interface: text to ids and back, kept in plain files.

A directory holds tokenizer.json and the files it names. A tokenizer is never pickled: whoever needs
it in another process loads it from its directory. Knows nothing of corpora.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from sieve.config import unknown
from sieve.errors import ModelError
from sieve.files import Folder, Place, folder_of, write_json
from sieve.tokenize.imported import ImportedTokenizer
from sieve.tokenize.language_tags import cut_tag
from sieve.tokenize.moses import MosesBpeTokenizer
from sieve.tokenize.sentence_piece import SentencePieceTokenizer
from sieve.tokenize.vocabulary import IntArray, Specials

FORMAT_VERSION = 1
TOKENIZER_FILE = "tokenizer.json"


class Tokenizer(Protocol):
    """Text of one language to ids and back."""

    specials: Specials
    """The ids that stand for no text."""
    tags: frozenset[str]
    """What a line may begin with to choose its target language."""
    vocab_size: int
    fingerprint: str
    """Equal fingerprints mean: the same pieces under the same ids."""

    def normalize(self, text: str) -> str:
        """The text as the tokenizer sees it."""
        ...

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        """Ids of each line, without those that start and end it."""
        ...

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        """Text of each list of ids; those that start, end and fill up lines are skipped."""
        ...

    def piece(self, index: int) -> str:
        """The piece with this id."""
        ...

    def piece_id(self, piece: str) -> int | None:
        """The id of a piece, None where there is no such piece."""
        ...

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        """Writes its files and returns the entry of tokenizer.json that finds them again."""
        ...


def source_ids(tokenizer: Tokenizer, lines: Sequence[str]) -> list[IntArray]:
    """Lines as an encoder reads them: ids, and what the model has before and behind them.

    A line's own tag stands for what the model has before others.
    """
    if not tokenizer.tags:
        return [tokenizer.specials.source_ids(ids) for ids in tokenizer.encode(list(lines))]
    plain = replace(tokenizer.specials, source_prefix=())
    specials = [plain if cut_tag(line, tokenizer.tags)[0] else tokenizer.specials for line in lines]
    encoded = tokenizer.encode(list(lines))
    return [own.source_ids(ids) for own, ids in zip(specials, encoded, strict=True)]


@dataclass(frozen=True)
class Tokenizers:
    """The tokenizers of the two sides; one and the same where the vocabulary is joint."""

    source: Tokenizer
    target: Tokenizer

    @property
    def joint(self) -> bool:
        """Whether both sides have the same pieces under the same ids."""
        return self.source.fingerprint == self.target.fingerprint

    @property
    def fingerprint(self) -> str:
        """Equal fingerprints mean: corpora and models of the two fit together."""
        both = f"{self.source.fingerprint} {self.target.fingerprint}"
        return hashlib.sha256(both.encode()).hexdigest()

    def save(self, directory: Path) -> None:
        """Writes tokenizer.json and its files into an existing directory."""
        if self.source is self.target:
            source = target = self.source.save(directory, "tokenizer")
        else:
            source = self.source.save(directory, "source")
            target = self.target.save(directory, "target")
        content = {"format_version": FORMAT_VERSION, "source": source, "target": target}
        write_json(directory / TOKENIZER_FILE, content)


def load_tokenizers(directory: Place) -> Tokenizers:
    """Reads the tokenizers of a corpus, model or tokenizer directory; damage is a ModelError."""
    folder = folder_of(directory)
    path = folder.path / TOKENIZER_FILE
    if not folder.has(TOKENIZER_FILE):
        raise ModelError(f"{folder.path}: has no {TOKENIZER_FILE}")
    content = folder.json(TOKENIZER_FILE)
    version = content.get("format_version")
    if version != FORMAT_VERSION:
        raise ModelError(
            f"{path}: got format_version {version!r}, this version of Sieve reads {FORMAT_VERSION}"
        )
    source = _load(folder, content.get("source"))
    if content.get("target") == content.get("source"):
        return Tokenizers(source, source)
    return Tokenizers(source, _load(folder, content.get("target")))


def _load(folder: Folder, entry: object) -> Tokenizer:
    path = folder.path / TOKENIZER_FILE
    if not isinstance(entry, Mapping):
        raise ModelError(f"{path}: got {entry!r:.60} for a tokenizer, expected an object")
    kind = str(entry.get("kind"))
    if kind not in _KINDS:
        raise ModelError(f"{path}: {unknown('kind of tokenizer', kind, list(_KINDS))}")
    return _KINDS[kind](folder, entry)


_KINDS: dict[str, Callable[[Folder, Mapping[str, Any]], Tokenizer]] = {
    "sentencepiece": SentencePieceTokenizer.load,
    "moses-bpe": MosesBpeTokenizer.load,
    "imported-sentencepiece": ImportedTokenizer.load,
}
