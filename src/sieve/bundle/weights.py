"""A model directory's configuration and tensors, checked against each other. No torch."""

from typing import Any

import numpy.typing as npt

from sieve.bundle.config import ModelConfig
from sieve.bundle.directory import Bundle
from sieve.bundle.quantization import check_quantized, dequantize
from sieve.config import from_dict
from sieve.errors import ModelError
from sieve.files import Tensors, check_shapes

Shapes = dict[str, tuple[int, ...]]


def model_config(bundle: Bundle) -> ModelConfig:
    """The model section of a bundle's configuration."""
    section = bundle.config.get("model")
    if not isinstance(section, dict):
        raise ModelError(f"{bundle.directory}: config.json has no section 'model'")
    return from_dict(ModelConfig, section, "model")


def float_tensors(bundle: Bundle) -> dict[str, npt.NDArray[Any]]:
    """Every parameter in floating point; of an int8 model, what its integers stand for."""
    where = str(bundle.directory)
    if bundle.is_int8:
        tensors = bundle.tensors()
        return {**dequantize(tensors, expected_shapes(bundle, tensors), where)}
    tensors = bundle.tensors()
    for name, array in tensors.items():
        if array.dtype.kind != "f":
            raise ModelError(f"{where}: tensor {name} is {array.dtype}, expected floats")
    return tensors


def stored_parameters(bundle: Bundle) -> dict[str, npt.NDArray[Any]]:
    """The tensors as stored; names and shapes fit the configuration."""
    tensors = bundle.tensors()
    check = check_quantized if bundle.is_int8 else check_shapes
    check(tensors, expected_shapes(bundle, tensors), str(bundle.directory))
    return tensors


def expected_shapes(bundle: Bundle, tensors: Tensors) -> Shapes:
    """Names and shapes of the parameters that the configuration asks for."""
    config = model_config(bundle)
    layers = config.encoder_layers + config.decoder_layers
    if layers > len(tensors):  # do not list the parts of a billion layers
        raise ModelError(
            f"{bundle.directory}: config.json asks for {layers} layers, model.safetensors has "
            f"only {len(tensors)} tensors"
        )
    return parameter_shapes(config)


def parameter_shapes(config: ModelConfig) -> Shapes:
    """Names and shapes of the parameters that a model of this configuration has."""
    D, V = config.d_model, config.tgt_vocab_size
    shapes: Shapes = {"tgt_embedding.weight": (V, D), "output.bias": (V,)}
    if config.tie != "all":
        shapes["src_embedding.weight"] = (config.src_vocab_size, D)
    if config.tie == "none":
        shapes["output.weight"] = (V, D)
    for n in range(config.encoder_layers):
        shapes |= _encoder_layer(f"encoder.layers.{n}", config)
    for n in range(config.decoder_layers):
        shapes |= _decoder_layer(f"decoder.layers.{n}", config)
    if config.norm == "pre":
        shapes |= _norm("encoder.norm", D) | _norm("decoder.norm", D)
    return shapes | _head(config)


def _head(config: ModelConfig) -> Shapes:
    D, V = config.d_model, config.tgt_vocab_size
    if config.nvs_head == "none":
        return {}
    shapes: Shapes = {"nvs.bias": (V,)}
    if config.head_is_tied:
        hidden = config.nvs_hidden or 2 * D
        shapes |= _linear("nvs.hidden", hidden, D) | _linear("nvs.out", D, hidden)
    else:
        shapes["nvs.weight"] = (V, D)
    if config.factored:
        for side in ("tokens", "positions"):
            shapes[f"nvs.factors.{side}.weight"] = (config.nvs_rank, D)
    return shapes


def _encoder_layer(name: str, config: ModelConfig) -> Shapes:
    return _self_attention(f"{name}.attention", config.d_model) | _feed_forward(name, config)


def _decoder_layer(name: str, config: ModelConfig) -> Shapes:
    D = config.d_model
    if config.decoder_mixer == "ssru":
        shapes = _norm(f"{name}.mixer_norm", D) | _linear(f"{name}.mixer.forget", D, D)
        shapes[f"{name}.mixer.value.weight"] = (D, D)
    else:
        shapes = _self_attention(f"{name}.mixer", D)
    shapes |= _norm(f"{name}.cross_norm", D) | _linear(f"{name}.cross.query", D, D)
    shapes |= _linear(f"{name}.cross.key_value", 2 * D, D) | _linear(f"{name}.cross.out", D, D)
    return shapes | _feed_forward(name, config)


def _self_attention(name: str, D: int) -> Shapes:
    inner = _linear(f"{name}.qkv", 3 * D, D) | _linear(f"{name}.out", D, D)
    return _norm(f"{name}_norm", D) | inner


def _feed_forward(name: str, config: ModelConfig) -> Shapes:
    D, hidden = config.d_model, config.d_ff
    name = f"{name}.feed_forward"
    inner = _linear(f"{name}.hidden", hidden, D) | _linear(f"{name}.out", D, hidden)
    return _norm(f"{name}_norm", D) | inner


def _linear(name: str, outputs: int, inputs: int) -> Shapes:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, D: int) -> Shapes:
    return {f"{name}.weight": (D,), f"{name}.bias": (D,)}
