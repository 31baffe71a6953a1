"""SentencePiece as it came with a model of another toolkit: its normaliser, its ids.

The ids are those of the SentencePiece model, or those of a vocabulary beside it (`pieces`). Nothing
is done to the text that its origin does not do: no byte fallback, no normalisation of our own.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sieve.errors import ModelError
from sieve.files import Folder
from sieve.tokenize.language_tags import NO_TAGS, cut_tag, tags_of
from sieve.tokenize.sentence_piece import open_processor
from sieve.tokenize.vocabulary import Specials

KIND = "imported-sentencepiece"
MOST_PIECES = 2**22
"""No vocabulary is larger."""
_HALF = re.compile("[\ud800-\udfff]")
_SPACE = "▁"
_SPECIAL_KEYS = ("pad", "start", "eos", "unk")


class ImportedTokenizer:
    """Text to ids and back with a SentencePiece model and, where given, other ids for its pieces.

    Args:
        model: Content of the `.spm` file.
        specials: Special ids of the model that the tokenizer belongs to.
        pieces: Every piece in the order of its id; None: the ids are those of the `.spm` itself.
        where: Origin, for error messages.
    """

    def __init__(
        self,
        model: bytes,
        specials: Specials,
        pieces: Sequence[str] | None = None,
        where: str = "SentencePiece model",
    ) -> None:
        self._processor = processor = open_processor(model, where)
        self._model = model
        try:
            own = [processor.id_to_piece(index) for index in range(processor.get_piece_size())]
        except UnicodeDecodeError:
            raise ModelError(f"{where}: damaged: has a piece that is not UTF-8") from None
        self._mapped = pieces is not None
        self._pieces = own if pieces is None else list(pieces)
        self._ids = {piece: index for index, piece in enumerate(self._pieces)}
        self.specials = specials
        self.vocab_size: int = len(self._pieces)
        self._check(where)
        self.tags = tags_of(self._pieces) if self._mapped else NO_TAGS
        digest = hashlib.sha256(model)
        digest.update(json.dumps([pieces, self._special_ids()]).encode())
        self.fingerprint: str = digest.hexdigest()

    def normalize(self, text: str) -> str:
        """The text as the SentencePiece model's own normaliser leaves it."""
        normal: str = self._processor.normalize(_whole(text))
        return normal.replace(_SPACE, " ").strip()

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        """Ids of each line, without EOS; a `>>xx<<` tag before it is the piece of that name."""
        return [self._encode(line) for line in map(_whole, lines)]

    def _encode(self, line: str) -> list[int]:
        if not self._mapped:
            ids: list[int] = self._processor.encode(line)
            return ids
        tag, line = cut_tag(line, self.tags)
        unknown = self.specials.unk
        assert unknown is not None  # _check
        texts = self._processor.encode(line, out_type=str)
        own = [self._ids[tag]] if tag else []
        return [*own, *(self._ids.get(piece, unknown) for piece in texts)]

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        """Text of each list of ids; special ids stand for no text and are skipped."""
        return [self._decode(ids) for ids in sentences]

    def _decode(self, sentence: Sequence[int]) -> str:
        ids = [int(index) for index in sentence if index not in self.specials.all]
        text: str = ""
        if ids and self._mapped:
            text = self._processor.decode([self._pieces[index] for index in ids])
        elif ids:
            text = self._processor.decode(ids)
        return text.replace(_SPACE, " ").strip()

    def piece(self, index: int) -> str:
        """The piece with this id, ▁ for the space before a word."""
        return self._pieces[int(index)]

    def piece_id(self, piece: str) -> int | None:
        """The id of a piece, None where there is no such piece."""
        return self._ids.get(piece)

    def prefixed(self, prefix: tuple[int, ...]) -> "ImportedTokenizer":
        """The same where these ids stand before every source sentence without a tag."""
        specials = replace(self.specials, source_prefix=prefix)
        return ImportedTokenizer(self._model, specials, self._pieces if self._mapped else None)

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        """Writes its files and returns the entry of tokenizer.json that finds them again."""
        name = f"{stem}.spm"
        (directory / name).write_bytes(self._model)
        entry: dict[str, Any] = {"kind": KIND, "file": name, "specials": self._special_ids()}
        if self.specials.source_prefix:
            entry["source_prefix"] = list(self.specials.source_prefix)
        entry["sha256"] = hashlib.sha256(self._model).hexdigest()
        if self._mapped:
            content = json.dumps(self._pieces, ensure_ascii=False, indent=0).encode()
            entry["vocabulary"] = f"{stem}.vocab.json"
            entry["vocabulary_sha256"] = hashlib.sha256(content).hexdigest()
            (directory / entry["vocabulary"]).write_bytes(content)
        return entry

    @classmethod
    def load(cls, folder: Folder, entry: Mapping[str, Any]) -> "ImportedTokenizer":
        """Reads what `save` wrote; a file that was changed since is a ModelError."""
        model, path = _recorded(folder, entry, "file", "sha256")
        pieces = None
        if "vocabulary" in entry:
            content, path = _recorded(folder, entry, "vocabulary", "vocabulary_sha256")
            pieces = _pieces(content, path)
        specials = _specials(entry.get("specials"), entry.get("source_prefix", []), folder.path)
        return cls(model, specials, pieces, str(path))

    @property
    def reach(self) -> float:
        """Share of the SentencePiece model's pieces that have an id; 1 but for another's pieces."""
        size: int = self._processor.get_piece_size()
        return sum(self._processor.id_to_piece(n) in self._ids for n in range(size)) / size

    def _special_ids(self) -> dict[str, int | None]:
        return {key: getattr(self.specials, key) for key in _SPECIAL_KEYS}

    def _check(self, where: str) -> None:
        """Refuses ids outside of the vocabulary and pieces that are there twice."""
        size = self.vocab_size
        if not 0 < size <= MOST_PIECES:
            raise ModelError(f"{where}: got {size} pieces, expected 1 to {MOST_PIECES}")
        if len(self._ids) != size:
            raise ModelError(f"{where}: got a piece twice, expected every piece once")
        special = (*self.specials.all, *self.specials.source_prefix)
        wrong = [index for index in special if not 0 <= index < size]
        if wrong:
            raise ModelError(f"{where}: got the special id {wrong[0]}, expected less than {size}")
        if self._mapped and self.specials.unk is None:
            raise ModelError(f"{where}: got no id for unknown pieces, expected one")


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which are no characters."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def _recorded(
    folder: Folder, entry: Mapping[str, Any], file: str, digest: str
) -> tuple[bytes, Path]:
    """Content and path of a file that tokenizer.json names, checked against its hash."""
    name = str(entry.get(file))
    content, path = folder.read(name), folder.path / name
    if hashlib.sha256(content).hexdigest() != entry.get(digest):
        raise ModelError(f"{path}: damaged: its content is not what tokenizer.json recorded")
    return content, path


def _pieces(content: bytes, path: Path) -> list[str]:
    try:
        pieces = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: cannot be read: {error}") from None
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise ModelError(f"{path}: got something else, expected a list of pieces")
    return pieces


def _specials(ids: object, prefix: object, directory: Path) -> Specials:
    """The special ids of an entry of tokenizer.json."""
    values = dict(ids) if isinstance(ids, Mapping) else {}
    numbers = all(type(value) is int for value in values.values() if value is not None)
    if set(values) != set(_SPECIAL_KEYS) or values["eos"] is None or not numbers:
        raise ModelError(
            f"{directory}: tokenizer.json has the specials {ids!r:.60}, expected ids for "
            f"{', '.join(_SPECIAL_KEYS)}"
        )
    if not isinstance(prefix, list) or not all(type(index) is int for index in prefix):
        raise ModelError(
            f"{directory}: tokenizer.json has the source_prefix {prefix!r:.60}, expected ids"
        )
    return Specials(**values, source_prefix=tuple(prefix))
