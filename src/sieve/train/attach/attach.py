"""A selection head for a finished model: labels, head, calibration, and a new model directory.

The work is kept beside the output as OUTPUT.attach: the text's sentences as the model translates
them and a note of what they were made with. An interrupted run resumes when rerun; the folder goes
once the directory is written. Nothing of the model changes but the head.
"""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sieve.bundle.directory import LEXICON_FILE, WEIGHTS_FILE, Bundle, open_bundle
from sieve.bundle.weights import float_tensors, model_config
from sieve.engines.native.native_engine import NativeEngine
from sieve.errors import InputError
from sieve.files import file_hash, read_json, replace_directory, write_json
from sieve.log import logger
from sieve.model.device import torch_device
from sieve.processes.locks import FileLock
from sieve.train.attach.attach_card import HeadFacts
from sieve.train.attach.attach_options import AttachOptions
from sieve.train.attach.attached_model import AttachedModel
from sieve.train.attach.coverage import rarest_first
from sieve.train.attach.head import HeadProgress, seconds_per_line, train_head
from sieve.train.attach.held_out import HeldOut
from sieve.train.attach.labelling import Labelling
from sieve.train.attach.labels import Labels
from sieve.train.attach.source_text import AttachText, distinct
from sieve.train.attach.written_lexicon import lexicon_of

_LEAST_SHARE = 0.2  # of the minutes that are left for learning, whatever the translation took
_MOST_SHARE = 0.6  # of the minutes that are kept for learning: fewer passes over more lines, then
_PASSES = 3.0  # that time is kept for: beyond them more lines are worth more than more passes
_SLACK = 1.2  # times what learning is estimated to take
_LOOKED_AT = 5  # lines of the text for each that is translated
_NOTE = "note.json"
_FORMAT = 2  # of the pieces


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
    except BaseException:
        if not any(work.glob("*.safetensors")):  # nothing to resume with
            shutil.rmtree(work)
        raise
    finally:
        lock.release()
    shutil.rmtree(work)
    return attached


class _Attachment:
    """One run of `attach`."""

    def __init__(self, bundle: Bundle, output: Path, work: Path, options: AttachOptions) -> None:
        self.bundle, self.output, self.work, self.options = bundle, output, work, options
        self.config = options.model_config(model_config(bundle))
        self.new = AttachedModel(work / "model", options)
        self.engine = NativeEngine.open(bundle, threads=options.threads)
        self.tokenizers = bundle.tokenizers()
        self.labelling = Labelling(work, self.engine, self.tokenizers)
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
        calibration = self.labelling.ids(sources[:count])
        begin = time.monotonic()
        held_lines = sources[count : 2 * count]
        held_out = self.labelling.piece("held-out", held_lines, None)
        rows = 2 * count + rarest_first(sources[2 * count :], self.tokenizers.source)
        rows = rows[: self.options.sentences]
        references = None if targets is None else [targets[row] for row in rows]
        enough = self._time_for(held_out, begin)
        train = self.labelling.text([sources[row] for row in rows], references, enough)
        labelled = time.monotonic()
        state, best = self._trained(train, held_out, labelled - begin)
        trained = time.monotonic()
        has_lexicon = (self.bundle.directory / LEXICON_FILE).is_file()
        wanted = self.options.lexicon and not has_lexicon
        self.new.write(self.bundle, state, lexicon_of(train, self.tokenizers) if wanted else None)
        calibrated = self.new.calibrate(calibration)
        curves = self.new.curves(self.labelling.ids(held_lines), held_out, calibrated)
        facts = HeadFacts(
            kind=self.options.head,
            text=str(text),
            sentences=sum(map(len, train)),
            label_minutes=(labelled - begin) / 60,
            train_minutes=(trained - labelled) / 60,
            options=self.options.training,
            progress=best,
            judged=count,
            curves=curves,
        )
        self.new.describe(self.output.name, facts, self.checks)
        replace_directory(self.output, self.new.directory)
        return Attached(
            sentences=facts.sentences,
            label_seconds=labelled - begin,
            train_seconds=trained - labelled,
            progress=best,
            shift=calibrated.shift,
            mean_size=calibrated.own.mean_size,
            own_recall=calibrated.own.recall,
        )

    def _check_note(self, text: AttachText) -> None:
        """Drops what was kept for another model or text."""
        note = {
            "format": _FORMAT,
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

    def _time_for(self, held_out: Labels, begin: float) -> Callable[[int], bool]:
        """Whether learning from so many lines would take the rest of the minutes."""
        options, seconds = self.options.training, 60 * self.options.minutes
        torch.set_num_threads(self.engine.threads)
        of_pass = seconds_per_line(
            self.config, self._embedding(), held_out, self.engine.specials, options
        )
        of_line = _SLACK * min(_PASSES, options.epochs) * of_pass
        logger.info("learning from 10,000 lines will take %.1f minutes", 10_000 * of_line / 60)

        def enough(lines: int) -> bool:
            passed = time.monotonic() - begin
            return passed + min(of_line * lines, seconds * _MOST_SHARE) > seconds

        return enough

    def _trained(
        self, train: Sequence[Labels], held_out: Labels, passed: float
    ) -> tuple[Any, HeadProgress]:
        left = self.options.minutes - passed / 60
        minutes = max(left, self.options.minutes * _LEAST_SHARE)
        options = replace(self.options.training, minutes=minutes)
        judge = HeldOut(held_out, options.size, self.engine.specials)
        return train_head(self.config, self._embedding(), train, judge, options, self._checked)

    def _embedding(self) -> torch.Tensor:
        """That the head's products go through, on the device that it learns on."""
        name = "output.weight" if self.config.tie == "none" else "tgt_embedding.weight"
        embedding = np.array(float_tensors(self.bundle)[name], np.float32)
        return torch.from_numpy(embedding).to(torch_device(self.options.device))

    def _checked(self, now: HeadProgress) -> None:
        self.checks.append(now)
        logger.info(
            "head %3.0f %%: loss %.4f, %.2f %% of own tokens and %.1f %% of sentences in reach",
            100 * now.share,
            now.loss,
            100 * now.own,
            100 * now.reach,
        )
