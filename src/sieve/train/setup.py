"""From a run's configuration to its parts: data, tokenizers, model. Refuses what does not fit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sieve.bundle.config import ModelConfig, resolve
from sieve.bundle.directory import open_bundle
from sieve.bundle.weights import float_tensors, model_config
from sieve.config import from_dict, to_dict
from sieve.data.alignments import Alignments, read_pharaoh
from sieve.data.corpus import Corpus
from sieve.data.pair_sources import Mixture, PairSource
from sieve.errors import ConfigError, InputError
from sieve.log import logger
from sieve.model.checkpoint import load_tensors
from sieve.model.nvs import set_prior
from sieve.model.transformer import TranslationModel
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import IntArray
from sieve.train.config import DataConfig, RunConfig, TrainingConfig
from sieve.train.update.loss import PositiveWeight
from sieve.train.validate import ValidationText, read_validation

_HEAD = ("nvs_head", "nvs_hidden", "nvs_words", "nvs_rank")
_CHANGEABLE = ("dropout", *_HEAD, "nvs_slack", "nvs_detach")
"""Keys of [model] that may differ from the model that training starts from."""


@dataclass(frozen=True)
class TrainingData:
    """What a model is trained on and validated with."""

    mixture: Mixture
    tokenizers: Tokenizers
    languages: tuple[str, str]
    target_frequency: IntArray
    """(V,) pairs of an epoch whose target holds each token."""
    links: tuple[Alignments, ...] = ()
    valid: ValidationText | None = None

    @property
    def epoch_pairs(self) -> int:
        """Pairs of one epoch, repeats counted."""
        sources = zip(self.mixture.sources, self.mixture.repeats, strict=True)
        return sum(source.num_pairs * repeat for source, repeat in sources)


def open_data(config: DataConfig) -> TrainingData:
    """Opens prepared corpora, alignments and validation text."""
    if not config.train:
        raise ConfigError("no training data: give --data DIR (or data.train in the configuration)")
    corpora = [Corpus.open(_existing(path)) for path in config.train]
    first = corpora[0]
    for corpus in corpora[1:]:
        if corpus.fingerprint != first.fingerprint:
            raise InputError(
                f"{corpus.directory} was prepared with another tokenizer than {first.directory}; "
                "prepare it with the tokenizer of the first (sieve prepare --tokenizer DIR)"
            )
    repeats = config.repeats or (1,) * len(corpora)
    if not any(corpus.num_pairs for corpus in corpora):
        raise InputError(f"{first.directory}: has no sentence pairs to train on")
    tokenizers = first.tokenizers()
    links = tuple(
        _read_links(Path(path), corpus)
        for path, corpus in zip(config.alignments, corpora, strict=False)
    )
    frequency = sum(
        corpus.target_frequency() * repeat for corpus, repeat in zip(corpora, repeats, strict=True)
    )
    valid = None
    if config.valid_src:
        language = first.languages[1]
        valid = read_validation(
            Path(config.valid_src), Path(config.valid_tgt), tokenizers, language
        )
    mixture = Mixture(corpora, repeats)
    return TrainingData(mixture, tokenizers, first.languages, np.asarray(frequency), links, valid)


def build_model(config: RunConfig, data: TrainingData) -> TranslationModel:
    """A new model, or one that starts from a model directory's weights."""
    torch.manual_seed(config.training.seed)
    if config.init_from:
        model, fresh_head = _model_from(Path(config.init_from), config.model, data.tokenizers)
    else:
        model, fresh_head = TranslationModel(_model_config(config.model, data.tokenizers)), True
    if model.nvs is not None and fresh_head:
        positives = int(data.target_frequency.sum()) / max(1, data.epoch_pairs)
        weight = PositiveWeight.parse(config.training.positive_weight)
        set_prior(
            model.nvs,
            torch.from_numpy(data.target_frequency),
            data.epoch_pairs,
            weight.typical(model.config.tgt_vocab_size, max(1.0, positives)),
        )
    if model.nvs is None:
        _check_needs_no_head(config.training)
    return model


def _check_needs_no_head(training: TrainingConfig) -> None:
    """Refuses settings that mean nothing for a model without an NVS head."""
    needs = {
        "parts = head": training.parts == "head",
        f"reach_weight = {training.reach_weight}": training.reach_weight > 0,
    }
    for setting, needed in needs.items():
        if needed:
            raise ConfigError(
                f"training.{setting}: the model has no NVS head; "
                "give it one with model.nvs_head = tied or full (sieve adapt --new-head tied)"
            )


def target_frequency(source: PairSource, vocab_size: int, end: int) -> IntArray:
    """(V,) pairs whose target holds each token, `end` (EOS) in every one."""
    _, targets = source.pairs(np.arange(source.num_pairs))
    rows = np.repeat(np.arange(len(targets), dtype=np.int64), targets.lengths)
    unique = np.unique(rows * vocab_size + targets.ids)
    frequency = np.bincount(unique % vocab_size, minlength=vocab_size)
    frequency[end] = source.num_pairs
    return frequency


def _model_config(section: Mapping[str, Any], tokenizers: Tokenizers) -> ModelConfig:
    settings = {key: value for key, value in section.items() if key != "preset"}
    sizes = {
        "src_vocab_size": tokenizers.source.vocab_size,
        "tgt_vocab_size": tokenizers.target.vocab_size,
    }
    for key, size in sizes.items():
        if settings.get(key, size) != size:
            raise ConfigError(
                f"model.{key}: got {settings[key]}, the tokenizer has {size} tokens; drop the key"
            )
    if not tokenizers.joint and settings.setdefault("tie", "output") == "all":
        raise ConfigError(
            "model.tie: 'all' needs one vocabulary for both sides, the corpus has two; "
            'use tie = "output"'
        )
    return resolve(str(section.get("preset", "base")), {**settings, **sizes})


def _model_from(
    directory: Path, section: Mapping[str, Any], tokenizers: Tokenizers
) -> tuple[TranslationModel, bool]:
    """The model of a directory and whether its head is new."""
    bundle = open_bundle(directory)
    if bundle.tokenizers().fingerprint != tokenizers.fingerprint:
        raise InputError(
            f"{directory} has another tokenizer than the training data; "
            "prepare the data with the model's (sieve prepare --tokenizer MODEL)"
        )
    old = model_config(bundle)
    plain = to_dict(old)
    for key, value in section.items():
        if key not in _CHANGEABLE and key != "preset" and plain.get(key, value) != value:
            raise ConfigError(
                f"model.{key}: got {value!r}, the model in {directory} has {plain[key]!r}; "
                "drop the setting"
            )
    changes = {key: section[key] for key in _CHANGEABLE if key in section}
    new = from_dict(ModelConfig, {**plain, **changes}, "model")
    same_head = all(getattr(old, name) == getattr(new, name) for name in _HEAD)
    model = TranslationModel(replace(new))
    tensors = float_tensors(bundle)
    if not same_head:
        if model.nvs is not None:
            logger.info("the NVS head is new (%s)", new.nvs_head)
        tensors = {k: v for k, v in tensors.items() if not k.startswith("nvs.")}
        fresh = {k: v for k, v in model.named_parameters() if k.startswith("nvs.")}
        tensors.update({k: v.detach().numpy().copy() for k, v in fresh.items()})
    load_tensors(model, tensors, str(directory))
    return model, not same_head


def _read_links(path: Path, corpus: Corpus) -> Alignments:
    alignments = read_pharaoh(path)
    alignments.check(corpus.src_lengths, corpus.tgt_lengths, str(path))
    return alignments


def _existing(path: str) -> Path:
    if not Path(path).is_dir():
        raise InputError(f"{path}: no such corpus directory; make one with sieve prepare")
    return Path(path)


def merged(base: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Nested values with the given ones on top."""
    result = dict(base)
    for key, value in given.items():
        old = result.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[key] = merged(old, value) if both else value  # type: ignore[arg-type]
    return result
