"""Fine-tuning: a short run from a model's weights on new data, ending in a model directory.

The run lives beside the output as OUTPUT.run while it lasts, so that a killed one goes on when the
command is repeated. Knows no training arithmetic: it only chooses settings.
"""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sieve.bundle.directory import open_bundle
from sieve.config import with_overrides
from sieve.data.batching import BatchingOptions, MemoryPairs, Mixture, plan_epoch
from sieve.errors import ConfigError, InputError
from sieve.files import copy_file, replace_directory
from sieve.repair.names import NAMES_FILE
from sieve.tokenize.vocabulary import EOS
from sieve.train.config import DataConfig, parse_run_config
from sieve.train.distributed import is_first_process
from sieve.train.session import train
from sieve.train.setup import TrainingData, open_data, target_frequency
from sieve.train.state import check_model_output
from sieve.train.validate import read_lines, read_validation


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
        if (model / NAMES_FILE).is_file():
            copy_file(model / NAMES_FILE, run / "model" / NAMES_FILE)
        replace_directory(output, run / "model")
        shutil.rmtree(run)
    return stopped


def _settings(model: Path, options: AdaptOptions) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if options.new_head:
        changes["nvs_head"] = options.new_head
    valid = dict(zip(("valid_src", "valid_tgt"), options.valid, strict=False))
    values: dict[str, Any] = {
        "init_from": str(model),
        "model": changes,
        "data": {"train": list(options.corpora), **valid},
        "training": {
            "batch_tokens": options.batch_tokens,
            "learning_rate": options.learning_rate,
            "schedule": "constant",
            "warmup": 1,
            "parts": "head" if options.head_only else "all",
        },
    }
    return with_overrides(values, options.overrides)


def _open(model: Path, config: DataConfig, options: AdaptOptions) -> TrainingData:
    if not options.pair:
        return open_data(config)
    bundle = open_bundle(model)
    tokenizers = bundle.tokenizers()
    src, tgt = options.pair
    src_lines, tgt_lines = read_lines(src), read_lines(tgt)
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
