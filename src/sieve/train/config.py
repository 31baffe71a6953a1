"""The configuration of a run: [model], [data] and [training] of a TOML file, checked and resolved.

Knows nothing about how the values are used. The resolved configuration is saved as JSON with the
run; on resume only what cannot change the result so far may differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from sieve.config import from_dict, to_dict, unknown
from sieve.errors import ConfigError
from sieve.train.update.loss import PositiveWeight

FREE_KEYS = (
    *("max_updates", "max_minutes", "validate_every", "checkpoint_every", "keep_best"),
    *("log_every", "bleu", "workers", "device"),
)
"""Keys of [training] that may differ between the start of a run and its resumption."""


PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
"""Old spellings of training.precision, as in the settings of runs and models of version 0.1."""


@dataclass(frozen=True)
class DataConfig:
    """[data]: what is trained on and validated with."""

    train: tuple[str, ...] = ()
    """Prepared corpora (directories of `sieve prepare`), all with the same tokenizer."""
    repeats: tuple[int, ...] = ()
    """How often each corpus occurs in an epoch; empty: once each."""
    alignments: tuple[str, ...] = ()
    """Pharaoh files with one line for each pair of each corpus, for guided alignment."""
    valid_src: str = ""
    """Source side of the validation text, one sentence a line."""
    valid_tgt: str = ""
    """Target side of the validation text."""

    def __post_init__(self) -> None:
        for name in ("repeats", "alignments"):
            values = getattr(self, name)
            if values and len(values) != len(self.train):
                raise ConfigError(
                    f"data.{name}: got {len(values)} entries for {len(self.train)} training "
                    "corpora, expected one for each"
                )
        if any(repeat < 1 for repeat in self.repeats):
            raise ConfigError(f"data.repeats: got {list(self.repeats)}, expected 1 or more each")
        if bool(self.valid_src) != bool(self.valid_tgt):
            raise ConfigError("data: valid_src and valid_tgt must be given together")


@dataclass(frozen=True)
class TrainingConfig:
    """[training]: batches, optimizer, budget, precision, validation."""

    batch_tokens: int = 50_000
    """Real target tokens of one update, over all processes."""
    device_tokens: int = 16_384
    """At most so many padded tokens in one forward pass; more units are accumulated."""
    length_multiple: int = 4
    """Padded lengths are rounded up to a multiple of this."""
    learning_rate: float = 1e-3
    """Peak of the schedule."""
    nvs_learning_rate_factor: float = 1.0
    """The NVS head's rate is this times the model's."""
    warmup: int = 4000
    """Updates until the peak."""
    rewarmup: int = 200
    """Updates until the peak when training starts from a trained model (--init-from)."""
    schedule: Literal["inverse_sqrt", "linear", "constant"] = "inverse_sqrt"
    """After the warm-up: inverse square root, linear to zero at the budget's end, or flat."""
    parts: Literal["all", "head"] = "all"
    """What is trained: everything, or the NVS head on a frozen model (no decoder is run)."""
    adam_betas: tuple[float, ...] = (0.9, 0.98)
    adam_eps: float = 1e-8
    clip_norm: float = 1.0
    """Gradient norm of the model's and, apart, of the head's parameters; 0: no clipping."""
    label_smoothing: float = 0.1
    positive_weight: float | str = 100_000.0
    """λ_p of the NVS loss: a number, or "auto:x"."""
    nvs_weight: float = 1.0
    """Weight of the NVS loss; matters where it reaches the encoder (model.nvs_detach = false)."""
    alignment_weight: float = 0.0
    """Weight of the guided-alignment loss; needs data.alignments."""
    reach_weight: float = 0.0
    """Weight of the loss that leaves no probability to tokens outside a sentence's shortlist."""
    reach_threshold: float = 0.9
    """λ at which the reach loss takes the NVS head's tokens."""
    precision: Literal["float32", "bfloat16", "float16", "fp32", "bf16", "fp16"] = "float32"
    """Arithmetic of the forward pass; weights and optimizer stay float32. The short names are old
    spellings of the long ones."""
    compile: bool = False
    """torch.compile for layers and losses."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train; auto takes a GPU if there is one."""
    seed: int = 1
    max_updates: int = 0
    """Budget in updates; 0: none."""
    max_minutes: float = 0.0
    """Budget in minutes from the first step (compilation excluded, validation included)."""
    validate_every: int = 500
    """Updates between validations; each also writes a checkpoint."""
    checkpoint_every: int = 500
    """Updates between checkpoints of the training state."""
    keep_best: int = 8
    """How many checkpoints are kept, best validation perplexity first."""
    log_every: int = 50
    """Updates between lines of metrics.jsonl."""
    bleu: bool = False
    """Also translate the validation text greedily and report BLEU."""
    workers: int = 2
    """Threads that assemble batches."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "adam_betas", tuple(self.adam_betas))
        object.__setattr__(self, "precision", PRECISIONS.get(self.precision, self.precision))
        PositiveWeight.parse(self.positive_weight)
        positive = (
            "batch_tokens device_tokens length_multiple learning_rate nvs_learning_rate_factor "
            "nvs_weight warmup rewarmup adam_eps validate_every checkpoint_every keep_best "
            "log_every workers"
        )
        for name in positive.split():
            if not getattr(self, name) > 0:
                raise ConfigError(f"training.{name}: got {getattr(self, name)}, expected above 0")
        or_zero = "clip_norm alignment_weight reach_weight max_updates max_minutes seed"
        for name in or_zero.split():
            if getattr(self, name) < 0:
                raise ConfigError(f"training.{name}: got {getattr(self, name)}, expected 0 or more")
        if self.seed >= 2**63:
            raise ConfigError(f"training.seed: got {self.seed}, expected less than 2**63")
        if not 0.0 <= self.label_smoothing < 1.0:
            raise ConfigError(
                f"training.label_smoothing: got {self.label_smoothing}, expected 0 to below 1"
            )
        if not 0.0 < self.reach_threshold < 1.0:
            raise ConfigError(
                f"training.reach_threshold: got {self.reach_threshold}, expected between 0 and 1"
            )
        if self.reach_weight and self.parts == "head":
            raise ConfigError(
                f"training.reach_weight: got {self.reach_weight} with training.parts = head, "
                "which trains no decoder; use parts = all or drop the weight"
            )
        if len(self.adam_betas) != 2 or not all(0.0 <= beta < 1.0 for beta in self.adam_betas):
            raise ConfigError(
                f"training.adam_betas: got {list(self.adam_betas)}, expected two numbers in [0, 1)"
            )

    def check_budget(self) -> None:
        """A run needs an end."""
        if not self.max_updates and not self.max_minutes:
            raise ConfigError(
                "no budget: give --max-updates N or --max-minutes M "
                "(or training.max_updates, training.max_minutes in the configuration)"
            )


@dataclass(frozen=True)
class RunConfig:
    """A whole run. [model] stays a mapping: preset name and overrides, read by the model."""

    model: dict[str, Any] = field(default_factory=dict)
    data: DataConfig = field(default_factory=DataConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    init_from: str = ""
    """Model directory whose weights training starts from."""

    def plain(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return to_dict(self)


def parse_run_config(values: Mapping[str, Any]) -> RunConfig:
    """Builds the configuration from nested values; an unknown key is an error."""
    known = [f.name for f in fields(RunConfig)]
    for key, value in values.items():
        if key not in known:
            raise ConfigError(unknown("configuration section", key, known))
        if key != "init_from" and not isinstance(value, Mapping):
            raise ConfigError(f"{key}: got {value!r}, expected a section [{key}]")
    return RunConfig(
        model=dict(values.get("model", {})),
        data=from_dict(DataConfig, values.get("data", {}), "data"),
        training=from_dict(TrainingConfig, values.get("training", {}), "training"),
        init_from=str(values.get("init_from", "")),
    )


def check_resumable(saved: RunConfig, now: RunConfig, run: Path) -> None:
    """Refuses to resume a run with settings that contradict those it was started with."""
    for section in ("model", "data", "training", "init_from"):
        before, after = saved.plain()[section], now.plain()[section]
        if not isinstance(before, dict):
            before, after = {"": before}, {"": after}
        for key in sorted(before.keys() | after.keys()):
            if section == "training" and key in FREE_KEYS:
                continue
            if before.get(key) != after.get(key):
                name = f"{section}.{key}".rstrip(".")
                raise ConfigError(
                    f"{run}: this run was started with {name} = {before.get(key)!r}, got "
                    f"{after.get(key)!r}; drop the option to resume the run, "
                    "or choose another --output"
                )
