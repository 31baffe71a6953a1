"""Fine-tuning: a short run from a model's weights on new data, ending in a model directory.

The run is kept beside the output as OUTPUT.run, so that a killed one resumes when rerun. What the
model says about its selection is kept; a calibrated model is calibrated again, because its dial and
confidence are about weights that have changed. Knows no training arithmetic.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sieve.bundle.directory import CONFIG_FILE, Bundle, open_bundle
from sieve.bundle.integrity import CARD_FILE, seal
from sieve.bundle.weights import model_config
from sieve.config import with_overrides
from sieve.data.batching import BatchingOptions, plan_epoch
from sieve.data.pair_sources import MemoryPairs, Mixture, PairSource
from sieve.data.reading import read_lines
from sieve.engines.native.native_engine import NativeEngine
from sieve.errors import ConfigError, InputError
from sieve.files import copy_file, read_json, replace_directory, write_json
from sieve.log import logger
from sieve.tokenize.vocabulary import EOS, OWN, IntArray
from sieve.train.attach.attach import attach
from sieve.train.attach.attach_options import AttachOptions
from sieve.train.attach.head import HeadOptions
from sieve.train.attach.source_text import AttachText, CorpusText, SourceText
from sieve.train.calibrate import BIAS, CalibrationOptions, calibrate_as, store
from sieve.train.config import DataConfig, TrainingConfig, parse_run_config
from sieve.train.distributed import is_first_process
from sieve.train.session import train
from sieve.train.setup import TrainingData, open_data, target_frequency
from sieve.train.state import check_model_output
from sieve.train.validate import read_validation

_CALIBRATION_SENTENCES = 2000


@dataclass(frozen=True)
class AdaptOptions:
    """The paper's settings for domain adaptation, and what may be changed."""

    corpora: tuple[str, ...] = ()
    """Prepared corpora; or else `pair`."""
    pair: tuple[Path, ...] = ()
    """Source and target text file."""
    valid: tuple[str, ...] = ()
    epochs: int = 10
    learning_rate: float = 1e-4
    batch_tokens: int = 2048
    head_only: bool = False
    new_head: str | None = None
    overrides: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise ConfigError(f"epochs: got {self.epochs}, expected 1 or more")


def adapt(model: Path, output: Path, options: AdaptOptions) -> int:
    """Fine-tunes `model` into `output`; returns 0, or the signal that stopped it."""
    check_model_output(output)
    if output.exists() and output.samefile(model):
        raise InputError(f"{output}: is the model that adaptation starts from; choose another")
    if options.head_only and options.new_head:
        _attach(model, output, options)
        return 0
    values = _settings(model, options)
    config = parse_run_config(values)
    data = _open(model, config.data, options)
    training = config.training
    batching = BatchingOptions(
        training.batch_tokens, training.device_tokens, training.length_multiple, training.seed
    )
    if not training.max_updates and not training.max_minutes:
        values["training"]["max_updates"] = sum(
            plan_epoch(data.mixture, batching, epoch).num_updates for epoch in range(options.epochs)
        )
    run = output.with_name(f"{output.name}.run")
    stopped = train(run, values, data)
    if not stopped and is_first_process():
        _finish(open_bundle(model), run / "model", data)
        replace_directory(output, run / "model")
        shutil.rmtree(run)
    return stopped


def _attach(model: Path, output: Path, options: AdaptOptions) -> None:
    """A new head alone is what `sieve attach` makes: one way for both."""
    defaults = AdaptOptions()
    given = {
        "--valid": bool(options.valid),
        "--set": bool(options.overrides),
        "--learning-rate": options.learning_rate != defaults.learning_rate,
        "--batch-tokens": options.batch_tokens != defaults.batch_tokens,
    }
    if any(given.values()):
        raise ConfigError(
            f"{', '.join(name for name in given if given[name])}: not with --head-only --new-head, "
            "which is sieve attach: it keeps lines of the text apart to judge by; leave it out"
        )
    text: AttachText = CorpusText(tuple(map(Path, options.corpora)))
    if options.pair:
        text = SourceText(options.pair[:1], options.pair[1:])
    lines, _ = text.lines()
    size = min(CalibrationOptions.size, model_config(open_bundle(model)).tgt_vocab_size // 4)
    told = AttachOptions(
        head="full" if options.new_head == "full" else "tied",
        development=max(1, min(AttachOptions.development, len(lines) // 10)),
        training=HeadOptions(epochs=options.epochs, size=size),
        calibration=CalibrationOptions(size=size),
    )
    attach(model, output, text, told)


def _finish(before: Bundle, adapted: Path, data: TrainingData) -> None:
    """Gives the adapted directory the lexicon, the names and the operating point of the model."""
    for path in before.optional_files():
        if path.name != CARD_FILE:  # a card tells of measurements, which are no longer true
            copy_file(path, adapted / path.name)
    seal(adapted)
    selection = before.config.get("selection")
    if not selection or "selection" not in open_bundle(adapted).config:
        return  # the head is new, or there is none
    if "calibration" in selection:
        engine = NativeEngine.open(open_bundle(adapted))
        store(adapted, adapted, calibrate_as(before, engine, _development_sources(data)))
        return
    config = read_json(adapted / CONFIG_FILE)
    write_json(adapted / CONFIG_FILE, {**config, "selection": selection})
    seal(adapted)


def _development_sources(data: TrainingData) -> list[IntArray]:
    """Source sentences to calibrate on: those of the validation text, else of the training data."""
    source: PairSource
    if data.valid is not None:
        source = data.valid.pairs
    else:
        source = max(data.mixture.sources, key=lambda corpus: corpus.num_pairs)
        logger.warning(
            "no validation text (--valid): calibrating on training sentences, "
            "which makes recall and confidence look too good"
        )
    count = min(source.num_pairs, _CALIBRATION_SENTENCES)
    indices = np.unique(np.linspace(0, source.num_pairs - 1, count, dtype=np.int64))
    sentences, _ = source.pairs(indices)
    rows = (sentences[row].tolist() for row in range(len(sentences)))
    return [OWN.source_ids(ids) for ids in rows if ids]


def _settings(model: Path, options: AdaptOptions) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if options.new_head:
        changes["nvs_head"] = options.new_head
    valid = dict(zip(("valid_src", "valid_tgt"), options.valid, strict=False))
    training: dict[str, Any] = {
        "batch_tokens": options.batch_tokens,
        "learning_rate": options.learning_rate,
        "schedule": "constant",
        "warmup": 1,
        "parts": "head" if options.head_only else "all",
    }
    values: dict[str, Any] = {
        "init_from": str(model),
        "model": changes,
        "data": {"train": list(options.corpora), **valid},
        "training": training | _head_settings(open_bundle(model)),
    }
    return with_overrides(values, options.overrides)


def _head_settings(bundle: Bundle) -> dict[str, Any]:
    """What the loss of the model's head was trained with, λ_p above all."""
    run = bundle.config.get("training", {})
    settings = run.get("training", {}) if isinstance(run, Mapping) else {}
    kept = {name: settings[name] for name in ("positive_weight", "nvs_weight") if name in settings}
    if "positive_weight" not in kept and BIAS in bundle.tensors():
        logger.warning(
            "%s: does not say which λ_p its head was trained with; using %g "
            "(--set training.positive_weight=NUMBER for another)",
            bundle.directory,
            TrainingConfig().positive_weight,
        )
    return kept


def _open(model: Path, config: DataConfig, options: AdaptOptions) -> TrainingData:
    if not options.pair:
        return open_data(config)
    bundle = open_bundle(model)
    tokenizers = bundle.tokenizers()
    src, tgt = options.pair
    src_lines, tgt_lines = list(read_lines(src)), list(read_lines(tgt))
    if len(src_lines) != len(tgt_lines):
        raise InputError(
            f"{src} has {len(src_lines)} lines and {tgt} has {len(tgt_lines)}, "
            "expected as many sources as targets"
        )
    ids = zip(tokenizers.source.encode(src_lines), tokenizers.target.encode(tgt_lines), strict=True)
    kept = [(s, t) for s, t in ids if s and t]
    if not kept:
        raise InputError(f"{src}: has no sentence pairs to train on")
    pairs = MemoryPairs([s for s, _ in kept], [t for _, t in kept])
    languages = tuple(bundle.config.get("languages", ("", "")))
    data = TrainingData(
        mixture=Mixture([pairs]),
        tokenizers=tokenizers,
        languages=(str(languages[0]), str(languages[1])),
        target_frequency=target_frequency(pairs, tokenizers.target.vocab_size, EOS),
    )
    if config.valid_src:
        valid = read_validation(
            Path(config.valid_src), Path(config.valid_tgt), tokenizers, data.languages[1]
        )
        data = replace(data, valid=valid)
    return data
