"""What the GPU benchmarks share: random models, forced lengths, Hugging Face, timing."""

import fcntl
import json
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from sieve.bundle.config import ModelConfig, resolve
from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.model.transformer import TranslationModel
from sieve.selection.plan import Selector
from sieve.tokenize.vocabulary import BOS, EOS, PAD, IntArray

T = TypeVar("T")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HALF = "float16" if DEVICE == "cuda" else "float32"


@dataclass(frozen=True)
class Forced(SearchOptions):
    """A search of exactly `length` tokens, where EOS cannot win."""

    length: int = 30

    def max_length(self, src_length: int) -> int:
        """The forced length."""
        return self.length


def synchronize() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def build(preset: str, words: int, **changes: Any) -> TranslationModel:
    """Random weights; EOS cannot win; the head is away from its idle start."""
    torch.manual_seed(0)
    settings = {"src_vocab_size": words, "tgt_vocab_size": words, **changes}
    model = TranslationModel(resolve(preset, settings)).eval().requires_grad_(False)
    with torch.no_grad():
        model.output.bias.normal_(0.0, 0.1)
        model.output.bias[EOS] = -1e4
        for parameter in model.nvs_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, 0.05)
    return model.to(DEVICE)


def sentences(number: int, length: int, words: int, seed: int = 0) -> list[IntArray]:
    """Random sources of `length` tokens, EOS among them."""
    rng = np.random.default_rng(seed)
    return [np.array([*rng.integers(4, words, length - 1), EOS]) for _ in range(number)]


def threshold_for(engine: TorchEngine, source: list[IntArray], size: int) -> float:
    """The threshold at which the mean set of these sentences has `size` words."""
    logits = engine.bow_logits(engine.encode(source)).astype(np.float64)
    cut = np.sort(logits, axis=None)[-size * len(source)]
    return float(1.0 / (1.0 + np.exp(-cut)))


def hugging_face(config: ModelConfig) -> Any:
    """Their pre-norm encoder-decoder of the same dimensions, random weights, in half precision."""
    import transformers

    transformers.logging.set_verbosity_error()
    theirs = transformers.M2M100Config(
        vocab_size=config.tgt_vocab_size, d_model=config.d_model,
        encoder_layers=config.encoder_layers, decoder_layers=config.decoder_layers,
        encoder_ffn_dim=config.d_ff, decoder_ffn_dim=config.d_ff,
        encoder_attention_heads=config.heads, decoder_attention_heads=config.heads,
        activation_function="relu", dropout=0.0, attention_dropout=0.0, activation_dropout=0.0,
        encoder_layerdrop=0.0, decoder_layerdrop=0.0, max_position_embeddings=512,
        pad_token_id=PAD, bos_token_id=BOS, eos_token_id=EOS, decoder_start_token_id=BOS,
    )  # fmt: skip
    with torch.device(DEVICE):
        model = transformers.M2M100ForConditionalGeneration(theirs)
    model.generation_config.eos_token_id = None  # no end before the maximum length
    model.generation_config.forced_eos_token_id = None
    return model.to(DEVICE, getattr(torch, HALF)).eval()


def generate(model: Any, ids: torch.Tensor, length: int, beam_size: int, **extra: Any) -> Any:
    """Their `generate` of exactly `length` tokens."""
    with torch.inference_mode():
        return model.generate(
            input_ids=ids, attention_mask=ids != PAD, num_beams=beam_size, do_sample=False,
            max_new_tokens=length, decoder_start_token_id=BOS, pad_token_id=PAD, **extra,
        )  # fmt: skip


def agreement(
    engine: TorchEngine,
    found: Sequence[Sequence[Hypothesis]],
    source: list[IntArray],
    selection: Selector,
    options: SearchOptions,
) -> dict[str, float]:
    """Translations against those of plain torch in the same precision: how many are the same."""
    before = os.environ.get("SIEVE_TRITON")
    os.environ["SIEVE_TRITON"] = "0"
    plain = TorchEngine(engine.model, engine.precision, graphs=False)
    expected = plain.translate(source, selection, options)
    os.environ.pop("SIEVE_TRITON") if before is None else None
    pairs = [(a[0], b[0]) for a, b in zip(found, expected, strict=True)]
    gaps = [abs(a.score - b.score) / abs(b.score) for a, b in pairs]
    return {
        "same": sum(a.tokens == b.tokens for a, b in pairs) / len(pairs),
        "relative_score_gap": float(f"{max(gaps):.1e}"),
        "sentences": len(pairs),
    }


def timed(function: Callable[..., T], *arguments: Any, **named: Any) -> tuple[T, float]:
    """What a call returns, and its milliseconds from host to host."""
    synchronize()
    begin = time.perf_counter()
    value = function(*arguments, **named)
    synchronize()
    return value, (time.perf_counter() - begin) * 1000


def summary(times: list[float]) -> dict[str, float]:
    """Milliseconds: median, 90th percentile, mean with its 95 % interval."""
    mean = statistics.fmean(times)
    spread = statistics.stdev(times) if len(times) > 1 else 0.0
    return {
        "p50": round(statistics.median(times), 4),
        "p90": round(float(np.percentile(times, 90)), 4),
        "mean": round(mean, 4),
        "ci95": round(1.96 * spread / len(times) ** 0.5, 4),
        "n": len(times),
    }


class Turns:
    """Several benchmarks on one GPU: compiling side by side, timing alone.

    All hold a lock on the same file: shared while they get ready, exclusive while they time.
    """

    def __init__(self, path: Path | None) -> None:
        self.file = path.open("w") if path else None
        self._take(fcntl.LOCK_SH)

    def _take(self, kind: int) -> None:
        if self.file:
            fcntl.flock(self.file, kind)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Waits until nobody else is at work."""
        self._take(fcntl.LOCK_UN)
        self._take(fcntl.LOCK_EX)
        try:
            yield
        finally:
            self._take(fcntl.LOCK_UN)
            self._take(fcntl.LOCK_SH)


class Report:
    """Results by name; a part that fails prints its traceback and the rest goes on."""

    def __init__(self, output: Path | None) -> None:
        self.output = output
        self.result: dict[str, Any] = {
            "command": " ".join(["python", *sys.argv]),
            "device": torch.cuda.get_device_name() if DEVICE == "cuda" else "cpu",
            "torch": torch.__version__,
        }

    def part(self, name: str, work: Callable[[], Any]) -> Any:
        """Runs one part and keeps what it returns; None where it fails."""
        print(f"== {name}", flush=True)
        begin = time.perf_counter()
        try:
            value = work()
        except Exception:
            traceback.print_exc()
            value = None
            self.result[name] = {"error": traceback.format_exc().splitlines()[-1]}
        else:
            if value is not None:
                self.result[name] = value
        print(
            json.dumps(self.result.get(name)), f"({time.perf_counter() - begin:.1f} s)", flush=True
        )
        if self.output:
            self.output.parent.mkdir(parents=True, exist_ok=True)
            self.output.write_text(json.dumps(self.result, indent=2) + "\n")
        return value
