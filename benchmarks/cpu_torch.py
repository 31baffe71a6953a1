"""torch int8 dynamic: our own model on our torch engine, every matrix product quantised."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cpu_common import BEAM, Size, Stopwatch
from cpu_sieve import Forced, random_model
from sieve.engines.torch.output_tokens import AllTokens
from sieve.engines.torch.tokens_of_batches import TokensOfBatches
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.vocabulary import IntArray


def prepare(directory: Path, size: Size, set_size: int) -> None:
    """Nothing to write: the weights are drawn at the start."""


@dataclass(frozen=True, eq=False)
class QuantizedWords(AllTokens):
    """The whole vocabulary through a quantised output matrix."""

    product: nn.Module | None = None

    def logits(self, states: Tensor) -> Tensor:
        """See OutputTokens."""
        assert self.product is not None
        logits: Tensor = self.product(states)
        return logits

    def for_sentences(self, sizes: Tensor) -> "QuantizedWords":
        """See AllTokens."""
        return QuantizedWords(self.vocab_size, sizes, self.weight, self.bias, product=self.product)


class Subject:
    """The quantised model on the torch engine."""

    def __init__(
        self, directory: Path, size: Size, selection: str, settings: dict[str, Any]
    ) -> None:
        torch.set_num_threads(1)
        torch.backends.quantized.engine = settings["backend"]
        model = random_model(size)
        words = AllTokens.of(model.output, 1)
        output = nn.Linear(size.d_model, len(words.bias))
        with torch.no_grad():
            output.weight.copy_(words.weight)
            output.bias.copy_(words.bias)
        self.bytes = sum(p.numel() for p in model.parameters())
        self.engine = TorchEngine(_quantized(model))
        product = _quantized(nn.Sequential(output))
        everything = QuantizedWords(
            words.vocab_size, words.sizes, words.weight, words.bias, product=product
        )
        self.engine.words = TokensOfBatches(everything, model.output)

    def facts(self) -> dict[str, Any]:
        """Version; there is no file, so the size is that of the weights as int8."""
        return {"version": torch.__version__, "model_mb": round(self.bytes / 1e6, 1)}

    def translate(self, ids: list[int]) -> dict[str, Any]:
        """One sentence."""
        source: list[IntArray] = [torch.tensor(ids).numpy()]
        with Stopwatch() as watch:
            found = self.engine.translate(source, FullVocabulary(), Forced(BEAM))[0][0]
        return watch.answer(len(found.tokens), found.shortlist_size)


def _quantized(model: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they announce another library for the same thing
        return torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
