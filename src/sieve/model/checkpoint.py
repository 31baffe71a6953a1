"""Between a torch model and a model directory."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt
import torch

from sieve.bundle import Bundle, open_bundle, write_bundle
from sieve.config import from_dict, to_dict
from sieve.errors import ModelError
from sieve.model.config import ModelConfig
from sieve.model.translation import TranslationModel
from sieve.text.tokenizer import Tokenizers

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
    """Builds the model of a model directory in fp32, in evaluation mode."""
    bundle = open_bundle(directory)
    model = TranslationModel(model_config(bundle))
    load_tensors(model, bundle.tensors(), str(bundle.directory))
    return model.to(device).eval()


def model_config(bundle: Bundle) -> ModelConfig:
    """The model section of a bundle's configuration."""
    section = bundle.config.get("model")
    if not isinstance(section, dict):
        raise ModelError(f"{bundle.directory}: config.json has no section 'model'")
    return from_dict(ModelConfig, section, "model")


def load_tensors(
    model: TranslationModel, tensors: Mapping[str, npt.NDArray[Any]], where: str
) -> None:
    """Copies tensors into the model's parameters; names and shapes must fit exactly."""
    parameters = dict(model.named_parameters())
    missing, extra = parameters.keys() - tensors.keys(), tensors.keys() - parameters.keys()
    if missing or extra:
        kind, names = ("lacks", missing) if missing else ("has the unknown", extra)
        raise ModelError(f"{where}: {kind} tensor {sorted(names)[0]} ({len(names)} such in all)")
    with torch.no_grad():
        for name, parameter in parameters.items():
            if tuple(tensors[name].shape) != tuple(parameter.shape):
                raise ModelError(
                    f"{where}: tensor {name} has shape {tuple(tensors[name].shape)}, "
                    f"expected {tuple(parameter.shape)}"
                )
            parameter.copy_(torch.from_numpy(tensors[name]))
