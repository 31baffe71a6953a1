"""Between a torch model and a model directory."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt
import torch

from sieve.bundle.directory import Bundle, open_bundle, write_bundle
from sieve.bundle.weights import expected_shapes, float_tensors, model_config
from sieve.config import to_dict
from sieve.files import check_shapes
from sieve.model.transformer import TranslationModel
from sieve.tokenize.tokenizer import Tokenizers

DTYPES = {"float32": torch.float32, "float16": torch.float16}


def save_model(
    directory: str | Path,
    model: TranslationModel,
    tokenizers: Tokenizers,
    metadata: Mapping[str, Any],
    dtype: Literal["float32", "float16"] = "float32",
) -> None:
    """Writes a model directory.

    Args:
        directory: Where; an older model there is replaced once the new one is whole.
        model: The model, on any device.
        tokenizers: Its tokenizers.
        metadata: Further sections of config.json: languages, selection, training.
        dtype: Precision of the stored weights.
    """
    tensors = {
        name: parameter.detach().to("cpu", DTYPES[dtype]).numpy()
        for name, parameter in model.named_parameters()
    }
    write_bundle(directory, {"model": to_dict(model.config), **metadata}, tensors, tokenizers)


def load_model(directory: str | Path, device: str | torch.device = "cpu") -> TranslationModel:
    """Builds the model of a model directory in float32, in evaluation mode."""
    return model_of(open_bundle(directory), device)


def model_of(bundle: Bundle, device: str | torch.device = "cpu") -> TranslationModel:
    """The same of a directory that is open already."""
    tensors = float_tensors(bundle)
    # before a model of absurd size is allocated
    check_shapes(tensors, expected_shapes(bundle, tensors), str(bundle.directory))
    model = TranslationModel(model_config(bundle))
    load_tensors(model, tensors, str(bundle.directory))
    return model.to(device).eval()


def load_tensors(
    model: TranslationModel, tensors: Mapping[str, npt.NDArray[Any]], where: str
) -> None:
    """Copies tensors into the model's parameters; names and shapes must fit exactly."""
    parameters = dict(model.named_parameters())
    check_shapes(tensors, {name: tuple(p.shape) for name, p in parameters.items()}, where)
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(torch.from_numpy(tensors[name]))
