"""The shape of a model: everything needed to build its tensors, nothing about training it."""

from dataclasses import dataclass
from typing import Any, Literal

from sieve.config import from_dict, unknown
from sieve.errors import ConfigError


@dataclass(frozen=True)
class ModelConfig:
    """Dimensions and variants of a translation model."""

    src_vocab_size: int
    """Words of the source vocabulary, special ones included."""
    tgt_vocab_size: int
    """Words of the target vocabulary (V)."""
    encoder_layers: int = 6
    """Transformer layers of the encoder."""
    decoder_layers: int = 2
    """Layers of the decoder; few, because each runs once per output token."""
    d_model: int = 512
    """Width of the states (D)."""
    d_ff: int = 2048
    """Width inside the feed-forward sublayers."""
    heads: int = 8
    """Attention heads (H); d_model must be a multiple."""
    decoder_mixer: Literal["ssru", "attention"] = "ssru"
    """How the decoder sees its past: a recurrent unit without cache, or self-attention."""
    tie: Literal["all", "output", "none"] = "all"
    """Shared embeddings: source, target and output; target and output; none."""
    dropout: float = 0.1
    """Share of embedding and sublayer outputs zeroed in training."""
    nvs_head: Literal["tied", "full", "none"] = "tied"
    """Vocabulary selection through the output embedding, by an own V x D matrix, or not at all."""
    nvs_hidden: int = 0
    """Width inside the tied head's adapter; 0 stands for 2 * d_model."""
    nvs_detach: bool = True
    """Stop the selection loss before the encoder and the output embedding."""

    def __post_init__(self) -> None:
        for name in ("src_vocab_size", "tgt_vocab_size"):
            if getattr(self, name) < 5:
                raise ConfigError(
                    f"model.{name}: got {getattr(self, name)}, expected at least 5: "
                    "four special words and one more"
                )
        for name in ("encoder_layers", "decoder_layers", "d_model", "d_ff", "heads"):
            if getattr(self, name) < 1:
                raise ConfigError(f"model.{name}: got {getattr(self, name)}, expected at least 1")
        if self.d_model % self.heads or self.d_model % 2:
            raise ConfigError(
                f"model.d_model: got {self.d_model}, expected an even multiple of "
                f"model.heads ({self.heads})"
            )
        if not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"model.dropout: got {self.dropout}, expected 0 <= dropout < 1")
        if self.nvs_hidden < 0:
            raise ConfigError(f"model.nvs_hidden: got {self.nvs_hidden}, expected 0 or more")
        if self.tie == "all" and self.src_vocab_size != self.tgt_vocab_size:
            raise ConfigError(
                f"model.tie: 'all' needs one vocabulary for both sides, got "
                f'{self.src_vocab_size} and {self.tgt_vocab_size} words; use tie = "output"'
            )


PRESETS: dict[str, dict[str, Any]] = {
    "tiny": {"d_model": 256, "d_ff": 1024, "heads": 4},
    "base": {"d_model": 512, "d_ff": 2048, "heads": 8},
    "paper": {
        "encoder_layers": 20,
        "d_model": 1024,
        "d_ff": 4096,
        "heads": 16,
        "nvs_head": "full",
    },
}
VOCAB_SIZES = {"tiny": 16000, "base": 32000, "paper": 32000}
"""Words each preset is meant for; the tokenizer decides in the end."""


def resolve(preset: str, settings: dict[str, Any]) -> ModelConfig:
    """A preset with some of its settings replaced."""
    if preset not in PRESETS:
        raise ConfigError(unknown("preset", preset, list(PRESETS)))
    return from_dict(ModelConfig, {**PRESETS[preset], **settings}, "model")
