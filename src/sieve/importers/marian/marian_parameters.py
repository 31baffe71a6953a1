"""Which of Marian's parameters is which of ours: renamed, turned, fused, and none left over."""

from collections.abc import Iterator, Sequence

import numpy as np

from sieve.bundle.config import ModelConfig
from sieve.bundle.quantization import Integers
from sieve.errors import ModelError
from sieve.importers.foreign_model import Matrix
from sieve.importers.marian.marian_binary import Marian, Parameter
from sieve.importers.marian.marian_rounding import Product, fixed_input
from sieve.importers.tensors import floats, fused

_WITHOUT_EFFECT = ("decoder_c0_", "none_")


def marian_tensors(
    marian: Marian, config: ModelConfig, omit_bias: bool, where: str
) -> dict[str, Matrix]:
    """The tensors of a model; a parameter that is missing or left over is a ModelError.

    Args:
        marian: The model as stored.
        config: Of the model.
        omit_bias: Whether the output layer has no bias.
        where: Origin, for error messages.
    """
    taken = _Parameters(marian, where)
    tensors = dict(_embeddings(taken, config))
    tensors |= _output(taken, config, omit_bias)
    for n in range(config.encoder_layers):
        ours, theirs = f"encoder.layers.{n}", f"encoder_l{n + 1}"
        tensors |= _self_attention(taken, f"{ours}.attention", f"{theirs}_self", config)
        tensors |= _feed_forward(taken, ours, theirs, config)
    for n in range(config.decoder_layers):
        tensors |= _decoder_layer(taken, f"decoder.layers.{n}", f"decoder_l{n + 1}", config)
    if config.norm == "pre":
        for side in ("encoder", "decoder"):
            tensors |= taken.norm(f"{side}.norm", f"{side}_top_ln", "")
    taken.check_all_taken()
    return tensors


class _Parameters:
    """Marian's parameters, each taken once at most."""

    def __init__(self, marian: Marian, where: str) -> None:
        self._parameters, self._multipliers = marian.parameters, marian.multipliers
        self._where = where
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._parameters

    def take(self, name: str) -> Parameter:
        """A parameter as stored."""
        if name not in self._parameters:
            raise ModelError(f"{self._where}: has no tensor {name}")
        self._taken.add(name)
        return self._parameters[name]

    def vector(self, name: str) -> Matrix:
        """A bias or norm: (1, N) there, (N,) here."""
        value = self.take(name)
        if isinstance(value, Integers) or value.size != value.shape[-1]:
            raise ModelError(f"{self._where}: tensor {name} has shape {value.shape}")
        return value.reshape(-1)

    def weight(self, name: str) -> Matrix:
        """A matrix of a layer: (inputs, outputs) there, (outputs, inputs) here."""
        value = self.embedding(name)
        return value if isinstance(value, Integers) else np.ascontiguousarray(value.T)

    def embedding(self, name: str) -> Matrix:
        """A matrix as stored."""
        value = self.take(name)
        if len(value.shape) != 2:
            raise ModelError(f"{self._where}: tensor {name} has shape {value.shape}")
        return value

    def linear(self, ours: str, theirs: str, numbers: Sequence[str]) -> dict[str, Matrix]:
        """A layer of ours from one or several of theirs: `_W` and `_b` with each number."""
        parts = [(f"{theirs}_W{n}", f"{theirs}_b{n}") for n in numbers]
        return {
            f"{ours}.weight": fused([self.weight(weight) for weight, _ in parts]),
            f"{ours}.bias": fused([self.vector(bias) for _, bias in parts]),
            **self.fixed(ours, parts),
        }

    def fixed(self, ours: str, parts: Sequence[tuple[str, str | None]]) -> dict[str, Matrix]:
        """Where Marian rounds a layer's input with a fixed multiplier: how.

        Args:
            ours: The layer.
            parts: Their matrices and biases that it is made of.
        """
        products = []
        for weight, bias in parts:
            matrix, multipliers = self.take(weight), self._multipliers.get(weight)
            if multipliers is None or not isinstance(matrix, Integers):
                return {}
            if weight.endswith("Wemb"):
                multipliers = multipliers.of_embedding(matrix)
            offset = None if bias is None else floats(self.vector(bias))
            products.append(Product(matrix, multipliers, offset))
        rounding = fixed_input(products)
        return {} if rounding is None else {**rounding.tensors(ours)}

    def norm(self, ours: str, theirs: str, suffix: str) -> dict[str, Matrix]:
        """A layer norm."""
        return {
            f"{ours}.weight": self.vector(f"{theirs}_scale{suffix}"),
            f"{ours}.bias": self.vector(f"{theirs}_bias{suffix}"),
        }

    def check_all_taken(self) -> None:
        """Refuses a parameter that means something and was not understood."""
        left = [
            name
            for name in sorted(self._parameters.keys() - self._taken)
            if not name.startswith(_WITHOUT_EFFECT)
        ]
        if left:
            raise ModelError(
                f"{self._where}: has the tensor {left[0]} ({len(left)} such in all), which Sieve "
                "has no place for"
            )


def _embeddings(taken: _Parameters, config: ModelConfig) -> Iterator[tuple[str, Matrix]]:
    """One table for all, or one a side; and the output's, where it has its own."""
    source, target = _tables(taken)
    yield "tgt_embedding.weight", taken.embedding(target)
    if config.tie != "all":
        yield "src_embedding.weight", taken.embedding(source)
    if config.tie == "none":
        yield "output.weight", taken.weight("decoder_ff_logit_out_W")


def _tables(taken: _Parameters) -> tuple[str, str]:
    """Names of the embeddings of the two sides."""
    return ("Wemb", "Wemb") if "Wemb" in taken else ("encoder_Wemb", "decoder_Wemb")


def _output(taken: _Parameters, config: ModelConfig, omit_bias: bool) -> dict[str, Matrix]:
    """The output layer's bias, and how its input is rounded."""
    bias = None if omit_bias else "decoder_ff_logit_out_b"
    values = np.zeros(config.tgt_vocab_size, np.float32) if bias is None else taken.vector(bias)
    ours, theirs = "tgt_embedding", _tables(taken)[1]
    if config.tie == "none":
        ours, theirs = "output", "decoder_ff_logit_out_W"
    return {"output.bias": values, **taken.fixed(ours, [(theirs, bias)])}


def _self_attention(
    taken: _Parameters, ours: str, theirs: str, config: ModelConfig
) -> dict[str, Matrix]:
    return (
        taken.linear(f"{ours}.qkv", theirs, "qkv")
        | taken.linear(f"{ours}.out", theirs, "o")
        | taken.norm(f"{ours}_norm", f"{theirs}_Wo_ln", _suffix(config))
    )


def _feed_forward(
    taken: _Parameters, ours: str, theirs: str, config: ModelConfig
) -> dict[str, Matrix]:
    ours = f"{ours}.feed_forward"
    return (
        taken.linear(f"{ours}.hidden", f"{theirs}_ffn", "1")
        | taken.linear(f"{ours}.out", f"{theirs}_ffn", "2")
        | taken.norm(f"{ours}_norm", f"{theirs}_ffn_ffn_ln", _suffix(config))
    )


def _decoder_layer(
    taken: _Parameters, ours: str, theirs: str, config: ModelConfig
) -> dict[str, Matrix]:
    if config.decoder_mixer == "ssru":
        # before the unit, the norm has the cell's own name
        norm = "rnn_ln" if config.norm == "pre" else "rnn_ffn_ln"
        tensors = taken.linear(f"{ours}.mixer.forget", f"{theirs}_rnn", "f")
        tensors[f"{ours}.mixer.value.weight"] = taken.weight(f"{theirs}_rnn_W")
        tensors |= taken.fixed(f"{ours}.mixer.value", [(f"{theirs}_rnn_W", None)])
        tensors |= taken.norm(f"{ours}.mixer_norm", f"{theirs}_{norm}", _suffix(config))
    else:
        tensors = _self_attention(taken, f"{ours}.mixer", f"{theirs}_self", config)
    context = f"{theirs}_context"
    return (
        tensors
        | taken.linear(f"{ours}.cross.query", context, "q")
        | taken.linear(f"{ours}.cross.key_value", context, "kv")
        | taken.linear(f"{ours}.cross.out", context, "o")
        | taken.norm(f"{ours}.cross_norm", f"{context}_Wo_ln", _suffix(config))
        | _feed_forward(taken, ours, theirs, config)
    )


def _suffix(config: ModelConfig) -> str:
    """Marian marks norms that stand before a sublayer."""
    return "_pre" if config.norm == "pre" else ""
