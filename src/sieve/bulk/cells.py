"""Texts to translations, each with its error where it has any: what every worker does.

A text that cannot be translated never takes others with it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from sieve.bulk.rows.row_pieces import Cell
from sieve.errors import ModelError
from sieve.translate.raw_lines import LONG
from sieve.translate.translation import Request

if TYPE_CHECKING:
    from sieve.translate.translation import Translation
    from sieve.translate.translator import Translator


@dataclass(frozen=True)
class ModelUse:
    """A model and what is asked of it: all that translations depend on."""

    model: str
    """As `sieve.load` takes it."""
    request: Request = field(default_factory=Request)
    prefix: str = ""
    """What every translation must begin with."""
    engine: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of `sieve.load`."""
    model_hash: str = ""
    """The hash that the model must have; empty for any."""

    def open(self) -> Translator:
        """The translator; a model that is not the expected one is an error."""
        from sieve.translate.load import load

        if self.model_hash and (here := model_hash(self.model)) != self.model_hash:
            raise ModelError(
                f"{self.model}: here is another model (hash {here[:12]}) than where the job was "
                f"started ({self.model_hash[:12]}); put the same one on every node"
            )
        return load(self.model, **self.engine)

    @property
    def made_with(self) -> dict[str, Any]:
        """What translations depend on, by names that a user knows; threads are of no matter."""
        import sieve

        engine = {name: value for name, value in self.engine.items() if name in _MATTERS}
        return {
            "model": self.model_hash or model_hash(self.model),
            "version of Sieve": sieve.__version__,
            "prefix": self.prefix,
            **engine,
            **_plain(self.request),
        }

    @property
    def identity(self) -> str:
        """A hash of what translations depend on."""
        content = json.dumps(self.made_with, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()


_MATTERS = ("engine", "device", "precision")


def model_hash(model: str) -> str:
    """A hash of all files of a model that translations depend on."""
    from sieve.bundle.directory import open_bundle
    from sieve.bundle.integrity import content_hashes
    from sieve.importers.opening import model_directory

    hashes = content_hashes(open_bundle(model_directory(model)).directory)
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """A dataclass as dictionaries and lists."""
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


@dataclass
class PieceAccount:
    """What translating cost and brought."""

    cells: int = 0
    errors: int = 0
    source_tokens: int = 0
    target_tokens: int = 0
    seconds: float = 0.0

    def add(self, other: PieceAccount) -> None:
        """Adds another account to this."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


class CellTranslator:
    """Translates cells with one open model."""

    def __init__(self, use: ModelUse) -> None:
        self._use = use
        self._translator = use.open()
        self._translator.selector(use.request.selection)  # says at once what cannot be had

    def translate(self, texts: Sequence[object]) -> tuple[list[Cell], PieceAccount]:
        """What became of each text, in order.

        Args:
            texts: Strings; None stays None, anything else is an error of its own.
        """
        started = time.perf_counter()
        account = PieceAccount(len(texts))
        cells: list[Cell] = []
        rows: list[int] = []
        for row, text in enumerate(texts):
            error = None if text is None or isinstance(text, str) else type(text).__name__
            cells.append(Cell(None, error=error and f"got {error}, expected a string"))
            if isinstance(text, str):
                rows.append(row)
        strings = [str(texts[row]) for row in rows]
        for row, cell in zip(rows, self._cells(strings, account), strict=True):
            cells[row] = cell
        account.errors = sum(cell.error is not None for cell in cells)
        account.source_tokens = sum(map(len, self._translator.tokenizers.source.encode(strings)))
        account.seconds = time.perf_counter() - started
        return cells, account

    def _cells(self, texts: Sequence[str], account: PieceAccount) -> Iterator[Cell]:
        start = 0
        for end in [*(i for i, text in enumerate(texts) if len(text) > LONG), len(texts)]:
            yield from self._run(texts[start:end], account)
            if end < len(texts):
                yield self._long(texts[end], account)
            start = end + 1

    def _run(self, texts: Sequence[str], account: PieceAccount) -> list[Cell]:
        """Cells of texts; of several that cannot be translated together, those that alone can."""
        if not texts:
            return []
        request = self._use.request
        if self._use.prefix:
            request = replace(request, prefixes=(self._use.prefix,) * len(texts))
        try:
            translations = self._translator.run(texts, request)
        except Exception as error:  # whatever it is, it is the error of one text
            if len(texts) == 1:
                return [_failed(error)]
            half = len(texts) // 2
            return self._run(texts[:half], account) + self._run(texts[half:], account)
        account.target_tokens += sum(len(translation.ids) for translation in translations)
        return list(map(_cell, translations))

    def _long(self, text: str, account: PieceAccount) -> Cell:
        """The cell of a text that is translated piece by piece, which has no score."""
        from sieve.translate.pieces import translated_pieces

        use = self._use
        try:
            pieces = translated_pieces(self._translator, text, use.request, use.prefix)
            return Cell("".join(piece.text for piece in pieces))
        except Exception as error:
            return _failed(error)


def _cell(translation: Translation) -> Cell:
    return Cell(
        translation.text,
        translation.score,
        translation.shortlist_size,
        translation.confidence,
    )


def _failed(error: Exception) -> Cell:
    return Cell(None, error=f"{type(error).__name__}: {error}")
