"""A selection head for a model of transformers, from a model directory or from tensors."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from sieve.bundle.config import ModelConfig
from sieve.bundle.directory import Bundle, open_bundle
from sieve.bundle.quantization import dequantize, quantized_shapes
from sieve.bundle.weights import model_config, parameter_shapes
from sieve.errors import ModelError
from sieve.files import check_shapes
from sieve.model.nvs import build_head
from sieve.selection.dial import DEFAULT_THRESHOLD
from sieve.selection.selectors import NeuralSelection
from sieve.translate.load import selection_resources

_PREFIX = "nvs."


@dataclass(frozen=True)
class StoredHead:
    """A head and its operating point."""

    head: nn.Module
    selection: NeuralSelection


def open_head(source: str | Path | Mapping[str, Any], projection: nn.Linear) -> StoredHead:
    """The head of a directory or of tensors, of the type and on the device of the projection.

    Args:
        source: See `sieve.huggingface.select`.
        projection: The model's output projection, which the head must fit.
    """
    size = (projection.out_features, projection.in_features)
    if isinstance(source, Mapping):
        where = "the given head"
        tensors = {
            name.removeprefix(_PREFIX): value if isinstance(value, Tensor) else torch.tensor(value)
            for name, value in source.items()
        }
        filled = _filled(_config_of(tensors, size), tensors, where)
        stored = StoredHead(filled, NeuralSelection(DEFAULT_THRESHOLD))
    else:
        stored = _of_directory(open_bundle(source), size)
    stored.head.to(projection.weight.device, projection.weight.dtype).requires_grad_(False)
    return stored


def _of_directory(bundle: Bundle, size: tuple[int, int]) -> StoredHead:
    config, where = model_config(bundle), str(bundle.directory)
    if config.nvs_head == "none":
        raise ModelError(f"{where}: this model has no selection head; sieve attach makes one")
    own = (config.tgt_vocab_size, config.d_model)
    if own != size:
        raise ModelError(
            f"{where}: its head is of {own[0]} tokens and states of width {own[1]}, the model of "
            f"transformers has {size[0]} and {size[1]}: they do not belong together"
        )
    shapes = {name: s for name, s in parameter_shapes(config).items() if name.startswith(_PREFIX)}
    names = quantized_shapes(shapes) if bundle.is_int8 else shapes
    tensors = {name: t for name, t in bundle.tensors().items() if name in names}
    if bundle.is_int8:
        tensors = {**dequantize(tensors, shapes, where)}
    # copied: what is mapped is read-only
    head = {name.removeprefix(_PREFIX): torch.tensor(array) for name, array in tensors.items()}
    resources = selection_resources(bundle)
    selection = NeuralSelection(resources.need_threshold(), resources.least, fall=resources.fall)
    return StoredHead(_filled(config, head, where), selection)


def _config_of(tensors: Mapping[str, Tensor], size: tuple[int, int]) -> ModelConfig:
    """What a head of these tensors is called in a configuration."""
    kind: Literal["tied", "full"] = "tied" if "hidden.weight" in tensors else "full"
    hidden = len(tensors["hidden.weight"]) if kind == "tied" else 0
    V, D = size
    return ModelConfig(V, V, d_model=D, heads=1, nvs_head=kind, nvs_hidden=hidden)


def _filled(config: ModelConfig, tensors: Mapping[str, Tensor], where: str) -> nn.Module:
    head = build_head(config)
    assert head is not None
    expected = {name: tuple(value.shape) for name, value in head.state_dict().items()}
    arrays = {name: value.float().numpy(force=True) for name, value in tensors.items()}
    check_shapes(arrays, expected, where)
    head.load_state_dict(dict(tensors))
    return head
