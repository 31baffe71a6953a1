"""The shape of a model: everything needed to build its tensors, nothing about training it."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sieve.config import from_dict, unknown
from sieve.errors import ConfigError
from sieve.tokenize.vocabulary import BOS, EOS, PAD, UNK, Specials

Mixer: TypeAlias = Literal["ssru", "attention"]
PositionStep: TypeAlias = Literal["half", "half_minus_one"]
Words: TypeAlias = Literal["output", "own"]
HeadKind: TypeAlias = Literal["tied", "full", "factored", "none"]


@dataclass(frozen=True)
class ModelConfig:
    """Dimensions and variants of a translation model."""

    src_vocab_size: int
    """Tokens of the source vocabulary, special ones included."""
    tgt_vocab_size: int
    """Tokens of the target vocabulary (V)."""
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
    decoder_mixer: Mixer = "ssru"
    """How the decoder sees its past: a recurrent unit without cache, or self-attention."""
    tie: Literal["all", "output", "none"] = "all"
    """Shared embeddings: source, target and output; target and output; none."""
    dropout: float = 0.1
    """Share of embedding and sublayer outputs zeroed in training."""
    nvs_head: HeadKind = "tied"
    """Vocabulary selection through the output embedding, by an own V x D matrix, by products of low
    rank in place of either, or not at all."""
    nvs_hidden: int = 0
    """Width inside the tied head's adapter; 0 stands for 2 * d_model."""
    nvs_words: Words = "output"
    """Whether a factored head is made of a tied one or of a full one."""
    nvs_rank: int = 64
    """Rank of a factored head's products."""
    nvs_slack: float | None = None
    """Tokens whose logit of low rank lies less than this below the threshold are looked at again in
    full width; none: the logits of low rank decide."""
    nvs_detach: bool = True
    """Stop the selection loss before the encoder and the output embedding."""
    norm: Literal["pre", "post"] = "pre"
    """x + f(norm(x)) with a norm behind the last layer, or norm(x + f(x)) without one."""
    norm_epsilon: float = 1e-5
    """Added to the variance in layer norms."""
    activation: Literal["relu", "swish", "gelu"] = "relu"
    """Of the feed-forward sublayers; gelu is Marian's, x * sigmoid(1.702 x)."""
    position_step: PositionStep = "half"
    """The frequency of sine i is 10000^(-i / n), n = d_model / 2 or one less."""
    position_offset: int = 0
    """Position of the first token."""
    embedding_scale: bool = True
    """Whether embeddings are multiplied by the square root of d_model."""
    start: int | None = BOS
    """Id the decoder starts from; none: a vector of zeros at the first position."""
    eos: int = EOS
    """Id that ends sentences."""
    pad: int | None = PAD
    """Id that fills up batches."""
    unk: int | None = UNK
    """Id of what the vocabulary lacks."""
    source_eos: bool = True
    """Whether source sentences end in `eos`."""
    never: tuple[int, ...] = ()
    """Ids that are never generated."""
    source_prefix: tuple[int, ...] = ()
    """Ids that stand before every source sentence."""
    forced_start: tuple[int, ...] = ()
    """Ids that every translation begins with."""
    alignment_layer: int = -1
    """Decoder layer whose cross-attention aligns tokens, from 0; -1: the last one."""
    alignment_heads: tuple[int, ...] = (0,)
    """Heads of that layer whose mean aligns tokens."""

    def __post_init__(self) -> None:
        self._check_sizes()
        self._check_settings()
        self._check_factors()
        self._check_ids()
        self._check_alignment()

    @property
    def specials(self) -> Specials:
        """The special ids as one value."""
        return Specials(
            self.pad, self.start, self.eos, self.unk, self.source_prefix, self.source_eos
        )

    @property
    def head_is_tied(self) -> bool:
        """Whether the selection head votes with the rows of the output layer."""
        return self.nvs_head == "tied" or (self.factored and self.nvs_words == "output")

    @property
    def factored(self) -> bool:
        """Whether the selection head begins with products of low rank."""
        return self.nvs_head == "factored"

    def _check_sizes(self) -> None:
        for name in ("src_vocab_size", "tgt_vocab_size"):
            if getattr(self, name) < 5:
                raise ConfigError(
                    f"model.{name}: got {getattr(self, name)}, expected at least 5: "
                    "four special ids and one more"
                )
        for name in ("encoder_layers", "decoder_layers", "d_model", "d_ff", "heads"):
            if getattr(self, name) < 1:
                raise ConfigError(f"model.{name}: got {getattr(self, name)}, expected at least 1")
        if self.d_model % self.heads or self.d_model % 2:
            raise ConfigError(
                f"model.d_model: got {self.d_model}, expected an even multiple of "
                f"model.heads ({self.heads})"
            )
        if self.tie == "all" and self.src_vocab_size != self.tgt_vocab_size:
            raise ConfigError(
                f"model.tie: 'all' needs one vocabulary for both sides, got "
                f'{self.src_vocab_size} and {self.tgt_vocab_size} tokens; use tie = "output"'
            )

    def _check_settings(self) -> None:
        if not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"model.dropout: got {self.dropout}, expected 0 <= dropout < 1")
        if not 0.0 < self.norm_epsilon < 1.0:
            raise ConfigError(
                f"model.norm_epsilon: got {self.norm_epsilon}, expected above 0 and below 1"
            )
        if self.position_step == "half_minus_one" and self.d_model < 4:
            raise ConfigError(
                f"model.d_model: got {self.d_model}, expected at least 4 with "
                "position_step = half_minus_one"
            )
        for name in ("nvs_hidden", "position_offset"):
            if not 0 <= getattr(self, name) < 2**20:
                raise ConfigError(
                    f"model.{name}: got {getattr(self, name)}, expected 0 or more, "
                    f"less than {2**20}"
                )

    def _check_factors(self) -> None:
        if self.factored and not 1 <= self.nvs_rank <= self.d_model:
            raise ConfigError(
                f"model.nvs_rank: got {self.nvs_rank}, expected 1 to d_model ({self.d_model})"
            )
        if self.nvs_slack is not None and not 0.0 <= self.nvs_slack < 1e30:
            raise ConfigError(
                f"model.nvs_slack: got {self.nvs_slack}, expected log-odds from 0 up, or none"
            )

    def _check_ids(self) -> None:
        V = self.tgt_vocab_size
        for name in ("start", "eos", "pad", "unk", "never", "forced_start"):
            self._check_range(name, V)
        self._check_range("source_prefix", self.src_vocab_size)
        if self.eos >= self.src_vocab_size:
            raise ConfigError(
                f"model.eos: got {self.eos}, expected an id of the source as well, "
                f"below {self.src_vocab_size}"
            )
        if self.eos in self.never:
            raise ConfigError(
                f"model.never: got eos ({self.eos}), without which translations cannot end"
            )

    def _check_range(self, name: str, size: int) -> None:
        value = getattr(self, name)
        ids = value if isinstance(value, tuple) else () if value is None else (value,)
        wrong = [index for index in ids if not 0 <= index < size]
        if wrong:
            raise ConfigError(f"model.{name}: got {wrong[0]}, expected an id from 0 to {size - 1}")

    def _check_alignment(self) -> None:
        last = self.decoder_layers - 1
        if not -1 <= self.alignment_layer <= last:
            raise ConfigError(
                f"model.alignment_layer: got {self.alignment_layer}, expected 0 to {last}, "
                "or -1 for the last layer"
            )
        heads = self.alignment_heads
        if not heads or len(set(heads)) < len(heads) or not set(heads) <= set(range(self.heads)):
            raise ConfigError(
                f"model.alignment_heads: got {list(heads)}, expected different heads "
                f"from 0 to {self.heads - 1}, at least one"
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


def resolve(preset: str, settings: dict[str, Any]) -> ModelConfig:
    """A preset with some of its settings replaced."""
    if preset not in PRESETS:
        raise ConfigError(unknown("preset", preset, list(PRESETS)))
    return from_dict(ModelConfig, {**PRESETS[preset], **settings}, "model")
