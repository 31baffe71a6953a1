"""The aligners by name, behind one interface: a model of one direction, source to target."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from sieve.config import unknown
from sieve.data.corpus import Ragged
from sieve.errors import ConfigError
from sieve.selection.aligners.fast_align import FastAlign, Report
from sieve.selection.aligners.thot_aligners import ThotAligner
from sieve.selection.aligners.translation_table import TranslationTable

ALIGNERS = ("fast_align", "hmm", "ibm4", "eflomal")


class Aligner(Protocol):
    """Learns from sentence pairs where target tokens come from."""

    name: str
    passes: int
    """How often training works through the pairs, for a progress bar."""

    def train(
        self, src: Ragged, tgt: Ragged, weights: npt.NDArray[np.integer], report: Report
    ) -> None:
        """Estimates the model; each pair counts as often as its weight says."""

    def align(self, src: Ragged, tgt: Ragged) -> npt.NDArray[np.int16]:
        """For each target token its source position, -1 for none; flat as tgt."""

    def table(self) -> TranslationTable:
        """Token translation probabilities p(t | s)."""


def make_aligner(name: str, src_vocab_size: int, tgt_vocab_size: int) -> Aligner:
    """The aligner of this name, not trained yet."""
    check_aligner(name)
    if name == "fast_align":
        return FastAlign(src_vocab_size, tgt_vocab_size)
    return ThotAligner(name, src_vocab_size, tgt_vocab_size)


def check_aligner(name: str, others: tuple[str, ...] = ()) -> None:
    """Refuses a name that is neither an aligner nor one of `others`."""
    if name not in (*ALIGNERS, *others):
        raise ConfigError(unknown("aligner", name, [*ALIGNERS, *others]))
