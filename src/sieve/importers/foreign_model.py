"""What an importer is, and what it gives: a model of another toolkit in Sieve's own terms.

Knows no family. Adding one means one file with an `Importer`, and its line in `families`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from sieve.bundle.config import ModelConfig
from sieve.bundle.quantization import Integers
from sieve.importers.origin import Origin
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.tokenizer import Tokenizers

Matrix = npt.NDArray[Any] | Integers


@dataclass(frozen=True, eq=False)
class ForeignModel:
    """A model that was read: everything a model directory needs."""

    config: ModelConfig
    tensors: Mapping[str, Matrix]
    """Under the names of `sieve.bundle.weights.parameter_shapes`."""
    tokenizers: Tokenizers
    lexicon: Lexicon | None = None
    aligned: bool = False
    """Whether the origin says which attention aligns, so that none need be measured."""
    notes: tuple[str, ...] = ()
    """What whoever uses the model should know."""


class Importer(Protocol):
    """Reads the models of one family."""

    family: str
    """What `--family` calls it."""

    def files(self, source: Origin) -> list[Path]:
        """The files it would read, the model first; none where the source is no such model."""
        ...

    def read(self, source: Origin) -> ForeignModel:
        """Reads a source that has such files; what Sieve lacks is a ModelError that names it."""
        ...
