"""Which of a MarianMT model's tensors is which of ours: renamed, fused, and none left over."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.bundle.config import ModelConfig
from sieve.errors import ModelError
from sieve.importers.foreign_model import Matrix
from sieve.importers.forward import sinusoids

_SHARED = (
    "model.shared.weight",
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
    "lm_head.weight",
)
_POSITIONS = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")
_CLOSE = 1e-3


def hugging_face_tensors(
    arrays: Mapping[str, npt.NDArray[Any]], config: ModelConfig, where: str
) -> tuple[ModelConfig, dict[str, Matrix]]:
    """The tensors of a model, and its configuration with the positions that are stored.

    Args:
        arrays: As stored.
        config: Of the model.
        where: Origin, for error messages.
    """
    taken = _Arrays(arrays, where)
    config = replace(config, position_step=_position_step(taken, config, where))
    tensors = _embeddings(taken, config)
    tensors["output.bias"] = taken.take("final_logits_bias").reshape(-1)
    for n in range(config.encoder_layers):
        ours, theirs = f"encoder.layers.{n}", f"model.encoder.layers.{n}"
        tensors |= _attention(taken, f"{ours}.attention", f"{theirs}.self_attn")
        tensors |= _feed_forward(taken, ours, theirs)
    for n in range(config.decoder_layers):
        ours, theirs = f"decoder.layers.{n}", f"model.decoder.layers.{n}"
        tensors |= _attention(taken, f"{ours}.mixer", f"{theirs}.self_attn")
        tensors |= _cross_attention(taken, f"{ours}.cross", f"{theirs}.encoder_attn")
        tensors |= _feed_forward(taken, ours, theirs)
    taken.check_all_taken()
    return config, tensors


class _Arrays:
    """The stored tensors, each taken once at least."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]], where: str) -> None:
        self._arrays, self._where = arrays, where
        self._taken: set[str] = set()

    def take(self, *names: str) -> npt.NDArray[np.float32]:
        """The first of these that is there, in float32."""
        for name in names:
            if name in self._arrays:
                self._taken.add(name)
                array = self._arrays[name]
                if array.dtype.kind != "f":
                    raise ModelError(f"{self._where}: tensor {name} is {array.dtype}")
                return array.astype(np.float32)
        raise ModelError(f"{self._where}: has no tensor {names[0]}")

    def get(self, name: str) -> npt.NDArray[np.float32] | None:
        """A tensor that need not be there."""
        return self.take(name) if name in self._arrays else None

    def linear(self, ours: str, theirs: str, parts: Sequence[str]) -> dict[str, Matrix]:
        """A layer of ours from one or several of theirs."""
        return {
            f"{ours}.{kind}": np.concatenate([self.take(f"{theirs}{p}.{kind}") for p in parts])
            for kind in ("weight", "bias")
        }

    def check_all_taken(self) -> None:
        """Refuses a tensor that was not understood; copies of shared embeddings are no news."""
        left = sorted(self._arrays.keys() - self._taken - set(_SHARED))
        if left:
            raise ModelError(
                f"{self._where}: has the tensor {left[0]} ({len(left)} such in all), which Sieve "
                "has no place for"
            )


def _embeddings(taken: _Arrays, config: ModelConfig) -> dict[str, Matrix]:
    """Tied as transformers 4.57 ties them."""
    shared, encoder, decoder, output = _SHARED
    if config.tie == "all":
        return {"tgt_embedding.weight": taken.take(shared, encoder, decoder, output)}
    if config.src_vocab_size != config.tgt_vocab_size:
        shared = encoder
    tensors: dict[str, Matrix] = {
        "src_embedding.weight": taken.take(encoder, shared),
        "tgt_embedding.weight": taken.take(decoder, *((output,) if config.tie == "output" else ())),
    }
    if config.tie == "none":
        tensors["output.weight"] = taken.take(output)
    return tensors


def _position_step(taken: _Arrays, config: ModelConfig, where: str) -> Any:
    """Which formula gives the positions that are stored; the port's own where none are."""
    steps: list[Any] = ["half", "half_minus_one"]
    for name in _POSITIONS:
        stored = taken.get(name)
        if stored is None:
            continue
        if stored.ndim != 2 or stored.shape[1] != config.d_model or len(stored) > 2**16:
            raise ModelError(f"{where}: tensor {name} has shape {stored.shape}")
        steps = [
            step
            for step in steps
            if np.abs(stored - sinusoids(len(stored), replace(config, position_step=step))).max()
            < _CLOSE
        ]
    if not steps:
        raise ModelError(f"{where}: Sieve cannot run positions other than sines and cosines")
    return steps[0]


def _attention(taken: _Arrays, ours: str, theirs: str) -> dict[str, Matrix]:
    return (
        taken.linear(f"{ours}.qkv", f"{theirs}.", ("q_proj", "k_proj", "v_proj"))
        | taken.linear(f"{ours}.out", f"{theirs}.", ("out_proj",))
        | taken.linear(f"{ours}_norm", f"{theirs}_layer_norm", ("",))
    )


def _cross_attention(taken: _Arrays, ours: str, theirs: str) -> dict[str, Matrix]:
    return (
        taken.linear(f"{ours}.query", f"{theirs}.", ("q_proj",))
        | taken.linear(f"{ours}.key_value", f"{theirs}.", ("k_proj", "v_proj"))
        | taken.linear(f"{ours}.out", f"{theirs}.", ("out_proj",))
        | taken.linear(f"{ours}_norm", f"{theirs}_layer_norm", ("",))
    )


def _feed_forward(taken: _Arrays, ours: str, theirs: str) -> dict[str, Matrix]:
    ours = f"{ours}.feed_forward"
    return (
        taken.linear(f"{ours}.hidden", f"{theirs}.", ("fc1",))
        | taken.linear(f"{ours}.out", f"{theirs}.", ("fc2",))
        | taken.linear(f"{ours}_norm", f"{theirs}.final_layer_norm", ("",))
    )
