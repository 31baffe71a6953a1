"""What `sieve attach` is told."""

from dataclasses import dataclass, field, replace
from typing import Literal

from sieve.bundle.config import HeadKind, ModelConfig
from sieve.errors import ConfigError
from sieve.train.attach.head import HeadOptions
from sieve.train.calibrate import CalibrationOptions
from sieve.train.factor_head import FactorOptions


@dataclass(frozen=True)
class AttachOptions:
    """How a head is attached."""

    minutes: float = 20.0
    """Wall-clock minutes for translating the text and training the head together."""
    head: Literal["tied", "full", "factored"] = "tied"
    """`factored`: a tied one that is factored after it was trained."""
    factors: FactorOptions = field(default_factory=FactorOptions)
    sentences: int = 200_000
    """Most sentences of the text."""
    development: int = 1000
    """Sentences kept apart for calibration, and as many to judge the head by."""
    lexicon: bool = False
    """Count a lexicon of what the model writes, unless it has one, for its evidence too."""
    training: HeadOptions = field(default_factory=HeadOptions)
    calibration: CalibrationOptions = field(default_factory=lambda: CalibrationOptions(least=256))
    threads: int | None = None
    device: str = "cpu"
    """That the head learns on: `cpu`, `cuda` or `cuda:N`; the native engine translates on CPUs."""

    def __post_init__(self) -> None:
        if not self.minutes > 0:
            raise ConfigError(f"minutes: got {self.minutes}, expected a number above 0")
        if self.sentences < 1 or self.development < 1:
            raise ConfigError("sentences, development: expected 1 or more")

    def model_config(self, before: ModelConfig) -> ModelConfig:
        """The shape of a model with the head that is trained."""
        kind: HeadKind = "full" if self.head == "full" else "tied"
        return replace(before, nvs_head=kind, nvs_detach=True)
