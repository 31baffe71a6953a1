"""From a model directory to a translator: picks the engine, opens what the directory holds."""

import re
from functools import partial
from pathlib import Path
from typing import Literal

from sieve.bundle import Bundle, open_bundle
from sieve.errors import ConfigError, ModelError, require
from sieve.inference.translator import Translator
from sieve.selection.lexicon import LEXICON_FILE, Lexicon
from sieve.selection.selectors import Resources

DEFAULT_THRESHOLD = 0.9
GPU_BATCH_TOKENS = 16384
"""Source tokens of a batch on a GPU."""


def load(
    directory: str | Path,
    *,
    device: str = "cpu",
    precision: Literal["float32", "bfloat16", "float16"] = "float32",
) -> Translator:
    """Opens a model directory for translation.

    Args:
        directory: What `sieve train` or `sieve average` wrote.
        device: `cpu`, `cuda` or `cuda:N`.
        precision: Of weights and arithmetic.
    """
    bundle = open_bundle(directory)
    tokenizers = bundle.tokenizers()
    torch = require("torch", "train", "translation with the torch engine")
    if not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise ConfigError(f"device: got '{device}', expected cpu, cuda or cuda:N")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError(f"device '{device}': torch finds no GPU here; use 'cpu'")
    # imported here: both need torch, and everything else of this room does not
    from sieve.inference.torch_engine import TorchEngine
    from sieve.model.checkpoint import load_model

    engine = TorchEngine(load_model(directory, device), precision)
    if tokenizers.target.vocab_size != engine.vocab_size:
        raise ModelError(
            f"{bundle.directory}: the tokenizer has {tokenizers.target.vocab_size} target words, "
            f"the model {engine.vocab_size}"
        )
    source, target = bundle.config.get("languages", ("", ""))
    batch_tokens = GPU_BATCH_TOKENS if device.startswith("cuda") else None
    resources = selection_resources(bundle)
    return Translator(engine, tokenizers, resources, (source, target), batch_tokens)


def selection_resources(bundle: Bundle) -> Resources:
    """What the directory offers to select with."""
    has_head = bundle.config.get("model", {}).get("nvs_head", "none") != "none"
    threshold = bundle.config.get("selection", {}).get("threshold", DEFAULT_THRESHOLD)
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise ModelError(
            f"{bundle.directory}: config.json has the threshold {threshold!r}, expected a number"
        )
    has_lexicon = (bundle.directory / LEXICON_FILE).is_file()
    return Resources(
        threshold=float(threshold) if has_head else None,
        lexicon=partial(Lexicon.open, bundle.directory) if has_lexicon else None,
    )
