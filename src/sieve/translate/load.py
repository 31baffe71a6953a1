"""From a model directory to a translator: picks the engine, opens what the directory holds."""

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from sieve.bundle.catalogue import built_in
from sieve.bundle.directory import LEXICON_FILE, Bundle, open_bundle
from sieve.bundle.weights import model_config
from sieve.config import device_name
from sieve.engines.engine import Engine
from sieve.errors import ConfigError, ModelError, require
from sieve.importers.opening import model_directory
from sieve.repair.registry import open_repairs
from sieve.selection.dial import DEFAULT_THRESHOLD, Dial
from sieve.selection.fusion import Fusion
from sieve.selection.lexicon import Lexicon
from sieve.selection.parsing import Resources
from sieve.selection.safety import SafeTokens
from sieve.selection.selectors import STEEPEST
from sieve.tokenize.tokenizer import Tokenizers
from sieve.translate.confidence import Confidence
from sieve.translate.estimated_quality import Quality
from sieve.translate.translator import BATCH_TOKENS, Translator

GPU_BATCH_TOKENS = 16384
"""Source tokens of a batch on a GPU."""
NATIVE_BATCH_TOKENS = 2**18
"""Source tokens in one call of the native engine, which has a queue of its own."""

EngineName = Literal["native", "torch"]
Precision = Literal["float32", "bfloat16", "float16"]


def load(  # noqa: PLR0913 (the options of a translator in words)
    directory: str | Path,
    *,
    engine: EngineName | None = None,
    device: str = "cpu",
    precision: Precision | None = None,
    threads: int | None = None,
    verify: bool = True,
    quality: bool | str | Path = False,
) -> Translator:
    """Opens a model for translation.

    >>> import sieve
    >>> sieve.load("en-de").languages
    ('en', 'de')

    Args:
        directory: What `sieve train`, `sieve import` or `sieve convert` wrote; the name of a
            built-in model such as `en-de`; or what `sieve import` would read, a hub name such as
            `Helsinki-NLP/opus-mt-en-fr` included, which is converted once and kept.
        engine: `native` (C++, CPU) or `torch`; by default native where it can do what is asked.
        device: `cpu`, `cuda` or `cuda:N`.
        precision: Of weights and arithmetic; by default that of the weights on the native engine
            (int8 or float32), float32 on torch. bfloat16 and float16 need torch.
        threads: Sentences that the native engine translates side by side; by default one for each
            core that this process may use.
        verify: Whether every file must have the SHA-256 that the model's manifest.json records.
        quality: Whether translations say how good they are likely to be, without a
            reference. The model of the other direction makes it better and takes about as long
            again: the one of the swapped name, beside this one or built in, or the one given here.
    """
    bundle = open_bundle(model_directory(directory), verify)
    tokenizers = bundle.tokenizers()
    native_can = device_name(device) == "cpu" and precision in (None, "float32")
    if engine == "native" and not native_can:
        wish = f"device '{device}'" if device != "cpu" else f"precision '{precision}'"
        raise ConfigError(f"engine native: cannot do {wish}; use engine torch")
    chosen: Engine[Any]
    if engine == "torch" or not native_can:
        chosen = _torch_engine(bundle, device, precision or "float32")
        batch_tokens = GPU_BATCH_TOKENS if device != "cpu" else BATCH_TOKENS
    else:
        chosen = _native_engine(bundle, precision, threads)
        batch_tokens = NATIVE_BATCH_TOKENS
    translator = _translator(bundle, tokenizers, chosen, batch_tokens)
    if quality is False:
        return translator
    languages = translator.languages
    other = _swapped(directory, languages) if quality is True else quality
    backward = None if other is None else load(other, threads=threads).score
    return replace(translator, quality=Quality(backward, languages))


def load_bundle(bundle: Bundle, threads: int | None = None) -> Translator:
    """A translator on the native engine, of a model directory that is open.

    Args:
        bundle: Where its weights lie, the engine reads them.
        threads: See `load`.
    """
    engine = _native_engine(bundle, None, threads)
    return _translator(bundle, bundle.tokenizers(), engine, NATIVE_BATCH_TOKENS)


def _translator(
    bundle: Bundle, tokenizers: Tokenizers, engine: Engine[Any], batch_tokens: int
) -> Translator:
    _check_vocabularies(bundle, tokenizers)
    resources = replace(selection_resources(bundle), safe_tokens=SafeTokens(tokenizers))
    languages = languages_of(bundle)
    repairs = open_repairs(bundle.folder, languages, tokenizers)
    confidence = _confidence(bundle)
    return Translator(engine, tokenizers, resources, languages, batch_tokens, confidence, repairs)


def _swapped(model: str | Path, languages: tuple[str, str]) -> Path | None:
    """The model of the other direction, beside the model or among the built-in ones."""
    source, target = languages
    if not source or not target:
        return None
    path = Path(model)
    beside = path.with_name(path.name.replace(f"{source}-{target}", f"{target}-{source}"))
    if beside.name != path.name and beside.is_dir():
        return beside
    return built_in().get(f"{target}-{source}")


def _native_engine(bundle: Bundle, precision: Precision | None, threads: int | None) -> Engine[Any]:
    from sieve.engines.native.native_engine import NativeEngine

    return NativeEngine.open(bundle, precision, threads)


def _torch_engine(bundle: Bundle, device: str, precision: Precision) -> Engine[Any]:
    require("torch", "train", "translation with the torch engine")
    # imported here: all need torch, and everything else of this room does not
    from sieve.engines.torch.torch_engine import TorchEngine
    from sieve.model.checkpoint import model_of
    from sieve.model.device import torch_device

    return TorchEngine(model_of(bundle, torch_device(device)), precision)


def _check_vocabularies(bundle: Bundle, tokenizers: Tokenizers) -> None:
    config = model_config(bundle)
    for side, tokens, size in (
        ("source", tokenizers.source.vocab_size, config.src_vocab_size),
        ("target", tokenizers.target.vocab_size, config.tgt_vocab_size),
    ):
        if tokens != size:
            raise ModelError(
                f"{bundle.directory}: the tokenizer has {tokens} {side} tokens, the model {size}"
            )


def languages_of(bundle: Bundle) -> tuple[str, str]:
    """Codes of source and target; empty where the model names none."""
    match bundle.config.get("languages", ("", "")):
        case [str(source), str(target)]:
            return source, target
        case other:
            raise ModelError(
                f"{bundle.directory}: config.json has the languages {other!r}, expected two names"
            )


def _confidence(bundle: Bundle) -> Confidence | None:
    section = bundle.config.get("selection")
    weights = section.get("confidence") if isinstance(section, dict) else None
    where = f"{bundle.directory}: config.json"
    return None if weights is None else Confidence.from_json(weights, where)


def selection_resources(bundle: Bundle) -> Resources:
    """What the directory offers to select with."""
    has_head = model_config(bundle).nvs_head != "none"
    section = bundle.config.get("selection", {})
    threshold: Any = None
    if isinstance(section, dict):
        threshold = section.get("threshold", DEFAULT_THRESHOLD)
    is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not is_number or not 0 <= threshold < 1:
        raise ModelError(
            f"{bundle.directory}: config.json has the threshold {threshold!r}, expected a number "
            "from 0 to below 1"
        )
    least, safe = section.get("least", 0), section.get("safe", False)
    if type(least) is not int or least < 0 or type(safe) is not bool:
        raise ModelError(
            f"{bundle.directory}: config.json has least {least!r} and safe {safe!r} for its "
            "selection, expected a number of tokens and true or false"
        )
    fall = section.get("fall", 0.0)
    if isinstance(fall, bool) or not isinstance(fall, int | float) or not 0 <= fall <= STEEPEST:
        raise ModelError(
            f"{bundle.directory}: config.json has the fall {fall!r} for its selection, expected a "
            f"number from 0 to {STEEPEST:g}"
        )
    stored, learnt = section.get("calibration"), section.get("fusion")
    where = f"{bundle.directory}: config.json"
    dial = None if stored is None else Dial.from_json(stored, where)
    fusion = None if learnt is None else Fusion.from_json(learnt, where)
    has_lexicon = bundle.folder.has(LEXICON_FILE)
    return Resources(
        threshold=float(threshold) if has_head else None,
        least=least,
        fall=float(fall),
        safe=safe,
        dial=dial,
        lexicon=cache(partial(Lexicon.open, bundle.folder)) if has_lexicon else None,
        fusion=fusion,
    )
