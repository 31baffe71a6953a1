"""A selection head for a finished model: labels, head, calibration, and a new model directory.

The work is kept beside the output as OUTPUT.attach: the text's sentences as the model translates
them and a note of what they were made with. An interrupted run resumes when rerun; the folder goes
once the directory is written. Nothing of the model changes but the head.
"""

import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from tqdm import tqdm

from sieve.bundle.config import HeadKind, ModelConfig
from sieve.bundle.directory import WEIGHTS_FILE, Bundle, open_bundle, write_bundle
from sieve.bundle.integrity import CARD_FILE
from sieve.bundle.quantization import quantize
from sieve.bundle.weights import float_tensors, model_config
from sieve.config import to_dict
from sieve.engines.native.native_engine import NativeEngine
from sieve.errors import ConfigError, InputError
from sieve.files import file_hash, read_json, replace_directory, write_json
from sieve.log import logger, progress
from sieve.model.device import torch_device
from sieve.processes.locks import FileLock
from sieve.selection.fusion import LexiconBonus
from sieve.selection.lexicon_files import own_lexicon
from sieve.tokenize.vocabulary import IntArray
from sieve.train.attach.attach_card import HeadFacts, card_with_head
from sieve.train.attach.coverage import rarest_first
from sieve.train.attach.head import HeadOptions, HeadProgress, train_head
from sieve.train.attach.held_out import HeldOut
from sieve.train.attach.labels import PIECE_LINES, Labels, pieces, read_piece, write_piece
from sieve.train.attach.reach_curve import ReachPoint, reach_curve, write_curves
from sieve.train.attach.source_text import AttachText, distinct
from sieve.train.calibrate import Calibration, CalibrationOptions, calibrate, store
from sieve.train.factor_head import FactorOptions, factor_head

_LABEL_SHARE = 0.4  # of the minutes, for the translation of the text
_LOOKED_AT = 5  # lines of the text for each that is translated
_LONGEST = 128  # tokens: longer sentences are split before a model sees them
_NOTE = "note.json"


@dataclass(frozen=True)
class AttachOptions:
    """What `sieve attach` is told."""

    minutes: float = 20.0
    """Wall-clock minutes for translating the text and training the head together."""
    head: Literal["tied", "full", "factored"] = "tied"
    """`factored`: a tied one that is factored after it was trained."""
    factors: FactorOptions = field(default_factory=FactorOptions)
    sentences: int = 200_000
    """Most sentences of the text."""
    development: int = 1000
    """Sentences kept apart for calibration, and as many to judge the head by."""
    training: HeadOptions = field(default_factory=HeadOptions)
    calibration: CalibrationOptions = field(default_factory=lambda: CalibrationOptions(least=256))
    threads: int | None = None
    device: str = "cpu"
    """That the head learns on: `cpu`, `cuda` or `cuda:N`; the native engine translates on CPUs."""

    def __post_init__(self) -> None:
        if not self.minutes > 0:
            raise ConfigError(f"minutes: got {self.minutes}, expected a number above 0")
        if self.sentences < 1 or self.development < 1:
            raise ConfigError("sentences, development: expected 1 or more")


@dataclass(frozen=True)
class Attached:
    """What came out."""

    sentences: int
    """That the head learned from."""
    label_seconds: float
    train_seconds: float
    progress: HeadProgress
    shift: float
    mean_size: float
    own_recall: float


def attach(model: Path, output: Path, text: AttachText, options: AttachOptions) -> Attached:
    """Gives a model a head and writes it as a new directory.

    Args:
        model: The directory to read; it stays.
        output: The directory to make.
        text: In the source language, and references if there are any.
        options: How.
    """
    torch_device(options.device)
    bundle = open_bundle(model)
    options.calibration.check(model_config(bundle).tgt_vocab_size)
    work = output.with_name(f"{output.name}.attach")
    work.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(work / "lock")
    except BlockingIOError:
        raise InputError(f"{work}: another sieve attach is writing there; wait for it") from None
    try:
        attached = _Attachment(bundle, output, work, options).run(text)
    finally:
        lock.release()
    shutil.rmtree(work)
    return attached


class _Attachment:
    """One run of `attach`."""

    def __init__(self, bundle: Bundle, output: Path, work: Path, options: AttachOptions) -> None:
        self.bundle, self.output, self.work, self.options = bundle, output, work, options
        self.config = model_config(bundle)
        self.engine = NativeEngine.open(bundle, threads=options.threads)
        self.checks: list[HeadProgress] = []

    def run(self, text: AttachText) -> Attached:
        """Labels, trains, writes and calibrates."""
        self._check_note(text)
        count = self.options.development
        sources, targets = distinct(text, _LOOKED_AT * self.options.sentences + 2 * count)
        if len(sources) < 3 * count:
            raise InputError(
                f"{text}: got {len(sources)} distinct lines, expected at least {3 * count}; "
                "give more text or a smaller --development"
            )
        calibration = self._ids(sources[:count])
        begin = time.monotonic()
        held_lines = sources[count : 2 * count]
        held_out = self._piece(self.work / "held-out.safetensors", held_lines, None)
        tokenizer = self.bundle.tokenizers().source
        rows = 2 * count + rarest_first(sources[2 * count :], tokenizer)[: self.options.sentences]
        references = None if targets is None else [targets[row] for row in rows]
        train = self._labelled([sources[row] for row in rows], references)
        labelled = time.monotonic()
        state, best = self._trained(train, held_out)
        trained = time.monotonic()
        self._write(state)
        engine = NativeEngine.open(open_bundle(self.model), threads=self.options.threads)
        calibrated = self._calibrated(engine, calibration)
        if self.options.head == "factored":
            factored = factor_head(self.model, self.model, calibration, self.options.factors)
            calibrated = factored.calibration or calibrated
            engine = NativeEngine.open(open_bundle(self.model), threads=self.options.threads)
        curves = self._curves(engine, self._ids(held_lines), held_out, calibrated)
        own = calibrated.own
        attached = Attached(
            sentences=sum(map(len, train)),
            label_seconds=labelled - begin,
            train_seconds=trained - labelled,
            progress=best,
            shift=calibrated.shift,
            mean_size=own.mean_size,
            own_recall=own.recall,
        )
        self._describe(str(text), attached, curves)
        replace_directory(self.output, self.model)
        return attached

    @property
    def model(self) -> Path:
        """The new directory until it is complete."""
        return self.work / "model"

    def _check_note(self, text: AttachText) -> None:
        """Drops what was kept for another model or text."""
        note = {
            "weights": file_hash(self.bundle.directory / WEIGHTS_FILE),
            "text": text.hashes(),
            "sentences": self.options.sentences,
            "development": self.options.development,
        }
        path = self.work / _NOTE
        if not path.is_file() or read_json(path) != note:
            for piece in self.work.glob("*.safetensors"):
                piece.unlink()
            write_json(path, note)
        elif any(self.work.glob("*.safetensors")):
            logger.info("%s: resuming with the sentences translated before", self.work)

    def _ids(self, lines: Sequence[str]) -> list[IntArray]:
        tokenizer = self.bundle.tokenizers().source
        return [np.array([*ids[:_LONGEST], self.config.eos]) for ids in tokenizer.encode(lines)]

    def _piece(self, path: Path, lines: Sequence[str], targets: Sequence[str] | None) -> Labels:
        """A piece, from disk if it is there."""
        if not path.is_file():
            tokenizer = self.bundle.tokenizers().target
            references = None if targets is None else tokenizer.encode(targets)
            write_piece(path, self.engine, self._ids(lines), references)
        return read_piece(path)

    def _labelled(self, lines: Sequence[str], targets: Sequence[str] | None) -> list[Labels]:
        """Pieces of the text, as many as the minutes allow and one at least."""
        labelled: list[Labels] = []
        begin, seconds = time.monotonic(), 60 * self.options.minutes * _LABEL_SHARE
        bar: tqdm[None] = progress(total=len(lines), unit="lines", label="translating the text")
        with bar:
            for number, rows in enumerate(pieces(len(lines))):
                path = self.work / f"{number:05}.safetensors"
                if labelled and not path.is_file() and time.monotonic() - begin > seconds:
                    logger.info(
                        "%d of %d lines translated in time", number * PIECE_LINES, len(lines)
                    )
                    break
                references = None if targets is None else targets[rows]
                labelled.append(self._piece(path, lines[rows], references))
                bar.update(len(labelled[-1]))
        return labelled

    def _trained(self, train: Sequence[Labels], held_out: Labels) -> tuple[Any, HeadProgress]:
        tensors = float_tensors(self.bundle)
        name = "output.weight" if self.config.tie == "none" else "tgt_embedding.weight"
        embedding = torch.from_numpy(np.array(tensors[name], np.float32))
        embedding = embedding.to(torch_device(self.options.device))
        minutes = self.options.minutes * (1 - _LABEL_SHARE)
        options = replace(self.options.training, minutes=minutes)
        torch.set_num_threads(self.engine.threads)
        judge = HeldOut(held_out, options.size, self.engine.specials)
        return train_head(self._config(), embedding, train, judge, options, self._checked)

    def _checked(self, now: HeadProgress) -> None:
        self.checks.append(now)
        logger.info(
            "head %3.0f %%: loss %.4f, %.2f %% of own tokens and %.1f %% of sentences in reach",
            100 * now.share,
            now.loss,
            100 * now.own,
            100 * now.reach,
        )

    def _config(self) -> ModelConfig:
        kind: HeadKind = "full" if self.options.head == "full" else "tied"
        return replace(self.config, nvs_head=kind, nvs_detach=True)

    def _write(self, state: dict[str, torch.Tensor]) -> None:
        head = {f"nvs.{name}": value.numpy() for name, value in state.items()}
        tensors: dict[str, npt.NDArray[Any]] = {
            name: array
            for name, array in self.bundle.tensors().items()
            if not name.startswith("nvs.")
        }
        tensors |= quantize(head, "the head") if self.bundle.is_int8 else head
        sections = self.bundle.sections("selection")
        sections["model"] = to_dict(self._config())
        sections["attached"] = {"options": asdict(self.options.training), "head": self.options.head}
        copies = self.bundle.optional_files()
        write_bundle(self.model, sections, tensors, self.bundle.tokenizers(), copies)

    def _calibrated(self, engine: NativeEngine, ids: Sequence[IntArray]) -> Calibration:
        bar: tqdm[None] = progress(total=2 * len(ids), unit="lines", label="calibrating")

        def advance(done: int) -> None:
            bar.update(done)

        with bar:
            lexicon = own_lexicon(self.model)
            calibration = calibrate(engine, ids, self.options.calibration, advance, lexicon)
        store(self.model, self.model, calibration)
        return calibration

    def _curves(
        self,
        engine: NativeEngine,
        ids: Sequence[IntArray],
        held_out: Labels,
        calibration: Calibration,
    ) -> dict[str, list[ReachPoint]]:
        """Of the head, and of head and lexicon together where there is one."""
        written = [held_out.targets(row) for row in range(len(held_out))]
        size, lexicon = self.options.training.size, own_lexicon(self.model)
        curves = {"head": reach_curve(engine, ids, written, size, None)}
        if lexicon is not None and calibration.fusion is not None:
            evidence = LexiconBonus(lexicon, calibration.fusion)
            curves["head + lexicon"] = reach_curve(engine, ids, written, size, evidence)
        return curves

    def _describe(self, text: str, attached: Attached, curves: dict[str, list[ReachPoint]]) -> None:
        """Curves and card, beside the model."""
        facts = HeadFacts(
            kind=self.options.head,
            text=text,
            sentences=attached.sentences,
            label_minutes=attached.label_seconds / 60,
            train_minutes=attached.train_seconds / 60,
            options=self.options.training,
            progress=attached.progress,
            judged=self.options.development,
            curves=curves,
        )
        about = {
            "sentences": attached.sentences,
            "judged": facts.judged,
            "seed": facts.options.seed,
            "training": [asdict(check) for check in self.checks],
        }
        write_curves(self.model, curves, about)
        card = self.model / CARD_FILE
        before = card.read_text("utf-8") if card.is_file() else ""
        card.write_text(card_with_head(before, self.output.name, facts), "utf-8")
