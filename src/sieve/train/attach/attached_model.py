"""The new directory: the model as it was, a head, its operating point, and what it reaches."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
import torch
from tqdm import tqdm

from sieve.bundle.directory import Bundle, open_bundle, write_bundle
from sieve.bundle.integrity import CARD_FILE
from sieve.bundle.quantization import quantize
from sieve.bundle.weights import model_config
from sieve.config import to_dict
from sieve.engines.native.native_engine import NativeEngine
from sieve.log import progress
from sieve.selection.fusion import LexiconBonus
from sieve.selection.lexicon import Lexicon
from sieve.selection.lexicon_files import own_lexicon, save_with_tokenizers
from sieve.tokenize.vocabulary import IntArray
from sieve.train.attach.attach_card import HeadFacts, card_with_head
from sieve.train.attach.attach_options import AttachOptions
from sieve.train.attach.head import HeadProgress
from sieve.train.attach.labels import Labels
from sieve.train.attach.reach_curve import ReachPoint, reach_curve, write_curves
from sieve.train.calibrate import Calibration, calibrate, store
from sieve.train.factor_head import factor_head


@dataclass(frozen=True)
class AttachedModel:
    """A directory in the making."""

    directory: Path
    options: AttachOptions

    def write(
        self, before: Bundle, state: dict[str, torch.Tensor], lexicon: Lexicon | None
    ) -> None:
        """The model with a head, and with a lexicon if it gets one."""
        head = {f"nvs.{name}": value.numpy() for name, value in state.items()}
        tensors: dict[str, npt.NDArray[Any]] = {
            name: array for name, array in before.tensors().items() if not name.startswith("nvs.")
        }
        tensors |= quantize(head, "the head") if before.is_int8 else head
        sections = before.sections("selection")
        sections["model"] = to_dict(self.options.model_config(model_config(before)))
        sections["attached"] = {"options": asdict(self.options.training), "head": self.options.head}
        tokenizers = before.tokenizers()
        write_bundle(self.directory, sections, tensors, tokenizers, before.optional_files())
        if lexicon is not None:
            save_with_tokenizers(lexicon, self.directory, tokenizers)

    def calibrate(self, ids: Sequence[IntArray]) -> Calibration:
        """Sets the operating point; a head that shall be factored is, after that."""
        bar: tqdm[None] = progress(total=2 * len(ids), unit="lines", label="calibrating")

        def advance(done: int) -> None:
            bar.update(done)

        with bar:
            lexicon, options = own_lexicon(self.directory), self.options.calibration
            calibration = calibrate(self._engine(), ids, options, advance, lexicon)
        store(self.directory, self.directory, calibration)
        if self.options.head != "factored":
            return calibration
        factored = factor_head(self.directory, self.directory, ids, self.options.factors)
        return factored.calibration or calibration

    def curves(
        self, ids: Sequence[IntArray], held_out: Labels, calibration: Calibration
    ) -> dict[str, list[ReachPoint]]:
        """Of the head, and of head and lexicon together where there is one."""
        written = [held_out.targets(row) for row in range(len(held_out))]
        engine, size = self._engine(), self.options.training.size
        lexicon = own_lexicon(self.directory)
        curves = {"head": reach_curve(engine, ids, written, size, None)}
        if lexicon is not None and calibration.fusion is not None:
            evidence = LexiconBonus(lexicon, calibration.fusion)
            curves["head + lexicon"] = reach_curve(engine, ids, written, size, evidence)
        return curves

    def describe(self, name: str, facts: HeadFacts, checks: Sequence[HeadProgress]) -> None:
        """Writes curves and card."""
        about = {
            "sentences": facts.sentences,
            "judged": facts.judged,
            "seed": facts.options.seed,
            "training": [asdict(check) for check in checks],
        }
        write_curves(self.directory, facts.curves, about)
        card = self.directory / CARD_FILE
        before = card.read_text("utf-8") if card.is_file() else ""
        card.write_text(card_with_head(before, name, facts), "utf-8")

    def _engine(self) -> NativeEngine:
        return NativeEngine.open(open_bundle(self.directory), threads=self.options.threads)
