"""Sieve's own worker: the native engine on an int8 directory of random weights.

What it needs to know of the engine is in `prepare`, `open_engine` and `translate`. Imports torch
only to make weights, or where the settings ask for the torch engine, with which the harness can be
tried out.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sieve
from cpu_common import (
    BEAM,
    COMMON,
    LEXICON_FILE,
    SPECIAL,
    WORDS,
    Size,
    Stopwatch,
    lexicon_set,
    make_lexicon,
)
from sieve.bundle.directory import WEIGHTS_FILE, open_bundle
from sieve.engines.options import SearchOptions
from sieve.selection.lexicon import Lexicon
from sieve.selection.plan import Selector
from sieve.selection.selectors import FullVocabulary, LexiconTopK, NeuralSelection
from sieve.tokenize.tokenizer import Tokenizers

K = 200
"""Words of each source word that the lexicon selection takes at most."""


@dataclass(frozen=True)
class Forced(SearchOptions):
    """A search of exactly as many tokens as the source has; EOS cannot win."""

    def max_length(self, src_length: int) -> int:
        """The forced length."""
        return src_length


class Numbers:
    """A tokenizer without text: its pieces are numbers."""

    vocab_size = WORDS
    fingerprint = "numbers"

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        """Nothing to write: these models never see text."""
        return {"kind": "numbers"}


def random_model(size: Size) -> Any:
    """Our model of this size with random weights."""
    from gpu_common import build

    return build(size.preset, WORDS, d_ff=size.d_ff).cpu()


def prepare(directory: Path, size: Size, set_size: int) -> None:
    """Writes the lexicon and the directory that `sieve convert --int8` makes of random weights."""
    from sieve.bundle.directory import write_bundle
    from sieve.bundle.quantization import LAYOUT, quantize
    from sieve.config import to_dict

    table = make_lexicon(set_size)
    np.save(directory / LEXICON_FILE, table)
    lexicon(table).save(directory)
    model = random_model(size)
    tensors = {name: weights.numpy() for name, weights in model.named_parameters()}
    sections = {"model": to_dict(model.config), "languages": ["xx", "yy"]}
    sections["weights"] = {"format": "int8", "layout": LAYOUT}
    tokenizers = Tokenizers(Numbers(), Numbers())  # type: ignore[arg-type]
    quantized = quantize(tensors, "random weights")
    write_bundle(directory / "int8", sections, quantized, tokenizers)


def lexicon(table: Any) -> Lexicon:
    """The common lexicon in our form: every row begins with the words that all sets hold."""
    rows = [
        np.concatenate([np.arange(COMMON), row if index >= SPECIAL else row[:0]])
        for index, row in enumerate(table)
    ]
    lengths = [len(row) for row in rows]
    targets = np.concatenate(rows).astype(np.int32)
    return Lexicon(
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        targets=targets,
        counts=np.ones(len(targets), np.int32),
        source_counts=np.array(lengths, np.int64),
        target_counts=np.ones(len(table), np.int64),
    )


def open_engine(directory: Path, settings: dict[str, Any]) -> Any:
    """The engine that is measured."""
    bundle, threads = directory / "int8", settings.get("threads", 1)
    if settings.get("engine") == "torch":
        import torch

        from sieve.engines.torch.torch_engine import TorchEngine
        from sieve.model.checkpoint import load_model

        torch.set_num_threads(threads)
        return TorchEngine(load_model(bundle))
    from sieve.engines.native.native_engine import NativeEngine

    engine = NativeEngine.open(open_bundle(bundle), threads=threads)
    assert engine.int8
    return engine


def translate(engine: Any, ids: list[int], selection: Selector) -> tuple[Any, dict[str, float]]:
    """The best translation of one sentence, and the seconds of its parts where they are known."""
    source, options = [np.array(ids)], Forced(BEAM)
    if not hasattr(engine, "translate_timed"):
        return engine.translate(source, selection, options)[0][0], {}
    found, [timing] = engine.translate_timed(source, selection, options)
    names = ("encode", "select", "gather")
    return found[0][0], {**{n: getattr(timing, n) for n in names}, "steps": timing.search}


class Subject:
    """An opened model and one way to select."""

    def __init__(
        self, directory: Path, size: Size, selection: str, settings: dict[str, Any]
    ) -> None:
        self.directory = directory
        self.engine = open_engine(directory, settings)
        self.table = np.load(directory / LEXICON_FILE, mmap_mode="r")
        self.selection: Selector = FullVocabulary()
        if selection == "lexicon":
            self.selection = LexiconTopK(Lexicon.open(directory), K)
        elif selection == "nvs":
            self.use_threshold(settings.get("threshold", 0.9))

    def facts(self) -> dict[str, Any]:
        """Version, size of the model file, kernels."""
        weights = self.directory / "int8" / WEIGHTS_FILE
        return {
            "version": sieve.__version__,
            "model_mb": round(weights.stat().st_size / 1e6, 1),
            "kernels": getattr(self.engine, "kernels", "torch"),
        }

    def threshold(self, sentences: list[list[int]], set_size: int) -> float:
        """The threshold at which the mean set of these sentences has this many words."""
        logits = np.concatenate(
            [self.engine.bow_logits(self.engine.encode([np.array(ids)])) for ids in sentences]
        ).astype(np.float64)
        cut = np.sort(logits, axis=None)[-set_size * len(sentences)]
        return float(1.0 / (1.0 + np.exp(-cut)))

    def use_threshold(self, threshold: float) -> None:
        """Selects by NVS at this threshold from now on."""
        self.selection = NeuralSelection(threshold)

    def translate(self, ids: list[int]) -> dict[str, Any]:
        """One sentence."""
        with Stopwatch() as watch:
            found, parts = translate(self.engine, ids, self.selection)
        if isinstance(self.selection, LexiconTopK):
            assert set(found.tokens) <= lexicon_set(self.table, ids), "words outside of the lexicon"
        answer = watch.answer(len(found.tokens), found.shortlist_size)
        return {**answer, "parts": parts} if parts else answer

    def bulk(self, sentences: list[list[int]], options: dict[str, Any]) -> dict[str, Any]:
        """All sentences in one call."""
        source = [np.array(ids) for ids in sentences]
        begin = time.perf_counter()
        found = self.engine.translate(source, self.selection, Forced(BEAM), **options)
        seconds = time.perf_counter() - begin
        return {"seconds": seconds, "tokens": sum(len(best[0].tokens) for best in found)}
