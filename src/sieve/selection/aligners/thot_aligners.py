"""GIZA++'s models (HMM, IBM-4) and eflomal, by the library sil-thot.

One direction, from source to target, like every aligner here. Words are their ids as text: the
library keeps its own numbers.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.data.corpus import Ragged
from sieve.errors import require
from sieve.selection.aligners.fast_align import Report
from sieve.selection.aligners.translation_table import TranslationTable

_ITERATIONS = 5  # of each model of a chain, as GIZA++'s defaults for models 1 and HMM
_LEAST_PROBABILITY = 1e-6  # entries below it are left out of translation tables


# chains of models: each starts from what the one before it learned
_CHAINS = {
    "fast_align": ("FastAlignModel",),
    "hmm": ("Ibm1AlignmentModel", "HmmAlignmentModel"),
    "ibm4": (
        "Ibm1AlignmentModel",
        "HmmAlignmentModel",
        "Ibm3AlignmentModel",
        "Ibm4AlignmentModel",
    ),
    "eflomal": ("EflomalAlignmentModel",),
}


class ThotAligner:
    """A model of sil-thot behind our interface."""

    def __init__(self, name: str, src_vocab_size: int, tgt_vocab_size: int) -> None:
        self.name = name
        self._thot = require("thot.alignment", "align", f"the aligner '{name}'")
        self._names = _CHAINS[name]
        self._sizes = (src_vocab_size, tgt_vocab_size)
        self._words = [str(index) for index in range(max(self._sizes))]
        self._model: Any = None
        # eflomal chooses its number of iterations by the size of the corpus, once it has it
        self.passes: int = 1 + _ITERATIONS * len(self._names)

    def train(
        self, src: Ragged, tgt: Ragged, weights: npt.NDArray[np.integer], report: Report
    ) -> None:
        """Estimates the chain of models; a pair of weight n is given n times."""
        model = getattr(self._thot, self._names[0])()
        if self.name == "eflomal":
            model.deterministic = True
        for index in range(len(src)):
            pair = self._text(src[index]), self._text(tgt[index])
            for _ in range(int(weights[index])):
                model.add_sentence_pair(*pair)
        report(len(src))
        self._run(model, len(src), report)
        for name in self._names[1:]:
            model = getattr(self._thot, name)(model)
            self._run(model, len(src), report)
        self._model = model

    def align(self, src: Ragged, tgt: Ragged) -> npt.NDArray[np.int16]:
        """For each target token its source position, -1 for none; flat as tgt."""
        sources = [self._text(ids) for ids in (src[i] for i in range(len(src)))]
        targets = [self._text(ids) for ids in (tgt[i] for i in range(len(tgt)))]
        flat: list[int] = []
        for ids, (_, matrix) in zip(
            targets, self._model.get_best_alignments(sources, targets), strict=True
        ):
            linked = matrix.to_list()  # source position from 1 for each target token, 0 for none
            flat.extend(linked if len(linked) == len(ids) else [0] * len(ids))
        positions: npt.NDArray[np.int16] = np.array(flat, np.int16) - np.int16(1)
        return positions

    def table(self) -> TranslationTable:
        """The translation probabilities of the last model of the chain."""
        offsets, targets, probabilities = [0], [], []
        for index in range(self._sizes[0]):
            translations = self._translations(self._words[index])
            targets += [target for target, _ in translations]
            probabilities += [probability for _, probability in translations]
            offsets.append(len(targets))
        return TranslationTable(
            np.array(offsets, np.int64),
            np.array(targets, np.int32),
            np.array(probabilities, np.float32),
        )

    def _translations(self, word: str) -> list[tuple[int, float]]:
        if not self._model.src_word_exists(word):
            return []
        number = self._model.get_src_word_index(word)
        translations = [
            (self._model.get_trg_word(target), probability)
            for target, probability in self._model.get_translations(number, _LEAST_PROBABILITY)
        ]
        # the library's own special words are not numbers
        return sorted(
            (int(text), probability) for text, probability in translations if text.isdigit()
        )

    def _run(self, model: Any, num_pairs: int, report: Report) -> None:
        model.start_training()
        iterations = model.scheduled_iterations if self.name == "eflomal" else _ITERATIONS
        done = 0
        for iteration in range(iterations):
            model.train()
            share = num_pairs * _ITERATIONS * (iteration + 1) // iterations
            report(share - done)
            done = share
        model.end_training()

    def _text(self, ids: npt.NDArray[np.int32]) -> list[str]:
        words = self._words
        return [words[index] for index in ids.tolist()]
