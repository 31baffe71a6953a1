"""The selections that a string can name, with what a model directory offers to select with."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sieve.config import unknown
from sieve.errors import ConfigError, ModelError
from sieve.log import renamed
from sieve.selection.candidates import LexiconCandidates
from sieve.selection.dial import Dial
from sieve.selection.fusion import Fusion, LexiconBonus
from sieve.selection.lexicon import Lexicon
from sieve.selection.plan import Selector
from sieve.selection.safety import SafeTokens
from sieve.selection.selectors import (
    FrequentTokens,
    FullVocabulary,
    LexiconTopK,
    NeuralSelection,
    Union,
)


@dataclass(frozen=True)
class Resources:
    """What a model directory offers to select with."""

    threshold: float | None = None
    """λ stored with the model; None where it has no NVS head."""
    least: int = 0
    """Tokens of a shortlist at least, stored with it."""
    fall: float = 0.0
    """By how much λ falls for long sentences, stored with it."""
    safe: bool = False
    """Whether the default adds the safety set."""
    dial: Dial | None = None
    """Thresholds by what they do; None where the model was not calibrated."""
    lexicon: Callable[[], Lexicon] | None = None
    """Opens the lexicon; None where the directory has none."""
    fusion: Fusion | None = None
    """What the lexicon's tokens add to the head's log-odds; None where that was not learnt."""
    safe_tokens: SafeTokens | None = None
    """The safety set; None where there is no tokenizer to find it with."""

    def need_threshold(self) -> float:
        """The stored threshold, or an error where there is no NVS head."""
        if self.threshold is None:
            raise ModelError("selection 'nvs': this model has no NVS head; use 'none' or 'lexicon'")
        return self.threshold

    def need_lexicon(self, text: str) -> Lexicon:
        """The lexicon, or an error where there is none."""
        if self.lexicon is None:
            raise ModelError(f"selection '{text}': the model directory has no lexicon.safetensors")
        return self.lexicon()

    def need_evidence(self, text: str) -> LexiconBonus:
        """The lexicon as evidence beside the head, or an error where that was not learnt."""
        self.need_threshold()
        lexicon = self.need_lexicon(text)
        if self.fusion is None:
            raise ModelError(
                f"selection '{text}': what this model's lexicon adds to its head was not learnt; "
                "run sieve calibrate --fuse on it"
            )
        return LexiconBonus(lexicon, self.fusion)


def parse_selection(text: str | None, resources: Resources) -> Selector:
    """The selector that a string names.

    `none`, `frequent:N`, `lexicon:K`, `nvs[:λ[:LEAST[:FALL]]]`, `nvs:recall=R`, `nvs:size=N`,
    `safe`, joined by +; `fused` is `nvs` with the lexicon's evidence added to the head's. `recall=`
    and `size=` use the model's calibration, `fused` or not; `words=` is the old name of `size=`.
    `among:K[:λ[:LEAST[:FALL]]]` is the calibrated kind with candidates from the lexicon.
    None is the default: what the model was calibrated for where it has a head, else `none`.
    """
    if text is None:
        kind = "nvs" if resources.fusion is None else "fused"
        text = "none" if resources.threshold is None else kind + "+safe" * resources.safe
    parts = tuple(_parse_part(part.strip(), resources) for part in text.split("+"))
    return parts[0] if len(parts) == 1 else Union(parts)


def _parse_part(text: str, resources: Resources) -> Selector:
    kind, _, value = text.partition(":")
    if kind not in _KINDS:
        raise ConfigError(
            unknown("selection", kind, list(_KINDS))
            + "; expected none, frequent:N, lexicon:K, nvs:LAMBDA, fused:LAMBDA, among:K or safe, "
            "joined by +"
        )
    return _KINDS[kind](text, value, resources)


def _full(text: str, value: str, resources: Resources) -> Selector:
    if value:
        raise ConfigError(f"selection '{text}': 'none' takes no value")
    return FullVocabulary()


def _frequent(text: str, value: str, resources: Resources) -> Selector:
    n = _whole_number(text, value)
    return FrequentTokens.from_counts(resources.need_lexicon(text).target_counts, n)


def _lexicon(text: str, value: str, resources: Resources) -> Selector:
    k = _whole_number(text, value)
    return LexiconTopK(resources.need_lexicon(text), k)


def _neural(text: str, value: str, resources: Resources) -> NeuralSelection:
    stored = resources.need_threshold()
    if not value:
        return NeuralSelection(stored, resources.least, fall=resources.fall)
    if value.startswith(("recall=", "size=", "words=")):
        evidence = None if resources.fusion is None else resources.need_evidence(text)
        return NeuralSelection(_dialled(text, value, resources), resources.least, evidence)
    threshold, *rest = value.split(":")
    least, fall = [*rest, "", ""][:2]
    kind = text.removesuffix(f":{value}")
    try:
        if len(rest) > 2:
            raise ValueError
        return NeuralSelection(float(threshold), int(least or "0"), fall=float(fall or "0"))
    except (ValueError, ConfigError):
        raise ConfigError(
            f"selection '{text}': got '{value}', expected a threshold from 0 to below 1, as in "
            f"{kind}:0.9, or {kind}:0.9:512 for at least 512 tokens, or "
            f"{kind}:0.9:512:0.03 to fall by 0.03 log-odds a token in long sentences; "
            f"{kind}:recall=0.999 or {kind}:size=1024 for a calibrated model"
        ) from None


def _fused(text: str, value: str, resources: Resources) -> NeuralSelection:
    selection = _neural(text, value, resources)
    return replace(selection, evidence=resources.need_evidence(text))


def _among(text: str, value: str, resources: Resources) -> NeuralSelection:
    number, colon, threshold = value.partition(":")
    k = _whole_number(text, number)
    stored = resources.need_threshold()
    selection = NeuralSelection(stored, resources.least, fall=resources.fall)
    if colon:
        selection = _neural(text, threshold, resources)
    evidence = None if resources.fusion is None else resources.need_evidence(text)
    among = LexiconCandidates(resources.need_lexicon(text), k)
    return replace(selection, evidence=evidence, among=among)


def _dialled(text: str, value: str, resources: Resources) -> float:
    kind, _, number = value.partition("=")
    if resources.dial is None:
        raise ModelError(
            f"selection '{text}': this model was not calibrated; run sieve calibrate on it"
        )
    if kind == "words":
        renamed("words=", "size=")
    try:
        if kind in ("size", "words"):
            return resources.dial.for_size(int(number))
        return resources.dial.for_recall(float(number))
    except ValueError:
        raise ConfigError(f"selection '{text}': got '{number}', expected a number") from None


def _safe(text: str, value: str, resources: Resources) -> Selector:
    if value:
        raise ConfigError(f"selection '{text}': 'safe' takes no value")
    if resources.safe_tokens is None:
        raise ModelError("selection 'safe': requires a tokenizer")
    return resources.safe_tokens


def _whole_number(text: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        kind = text.partition(":")[0]
        raise ConfigError(
            f"selection '{text}': got '{value}', expected a whole number above 0, as in {kind}:200"
        )
    return int(value)


_KINDS: dict[str, Callable[[str, str, Resources], Selector]] = {
    "none": _full,
    "frequent": _frequent,
    "lexicon": _lexicon,
    "nvs": _neural,
    "fused": _fused,
    "among": _among,
    "safe": _safe,
}
