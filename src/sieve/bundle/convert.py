"""A model directory in another form: the same model with int8, float16 or float32 weights.

Knows no torch.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sieve.bundle.directory import WEIGHTS_FILE, Bundle, open_bundle, write_bundle
from sieve.bundle.quantization import LAYOUT, dequantize, quantize
from sieve.bundle.weights import expected_shapes, stored_parameters
from sieve.errors import InputError, ModelError
from sieve.files import Tensors
from sieve.log import progress

Form = Literal["int8", "float16", "float32"]


@dataclass(frozen=True)
class Converted:
    """What was written."""

    directory: Path
    bytes_before: int
    """Size of the weights that were read."""
    bytes_after: int
    """Size of the weights that were written."""


def convert(model: Path, form: Form, output: Path | None = None) -> Converted:
    """Writes a model directory with weights of another form, and everything else as it is.

    Args:
        model: The directory to read; it stays.
        form: Of the new weights.
        output: The directory to make; MODEL-FORM beside the model where none is given.
    """
    bundle = open_bundle(model)
    output = output or _beside(model, form)
    if os.path.lexists(output):
        raise InputError(f"{output}: exists and is not replaced; remove it or choose another")
    tensors = stored_parameters(bundle)
    if _form(bundle, tensors) == form:
        raise InputError(f"{model}: has {form} weights already")
    sections = bundle.sections("weights")
    if form == "int8":
        sections["weights"] = {"format": form, "layout": LAYOUT}
        converted = quantize(tensors, str(model), multiply="origin" in bundle.config)
    else:
        if bundle.is_int8:
            tensors = {**dequantize(tensors, expected_shapes(bundle, tensors), str(model))}
        converted = _floats(tensors, form, str(model))
    write_bundle(output, sections, converted, bundle.tokenizers(), bundle.optional_files())
    before, after = ((folder / WEIGHTS_FILE).stat().st_size for folder in (model, output))
    return Converted(output, before, after)


def _beside(model: Path, form: Form) -> Path:
    named = model if model.name not in ("", "..") else model.resolve()
    return named.with_name(f"{named.name}-{form}")


def _form(bundle: Bundle, tensors: Tensors) -> str:
    """What the weights are now; several kinds of float are none of the forms."""
    names = {array.dtype.name for array in tensors.values()}
    return "int8" if bundle.is_int8 else names.pop() if len(names) == 1 else ""


def _floats(tensors: Tensors, form: Form, where: str) -> dict[str, npt.NDArray[Any]]:
    result = {}
    for name, array in progress(tensors.items(), unit=" tensors", label="convert"):
        if array.dtype.kind != "f":
            raise ModelError(f"{where}: tensor {name} is {array.dtype}, expected floats")
        with np.errstate(over="ignore"):
            result[name] = array.astype(form)
        if not np.isfinite(result[name]).all():
            raise ModelError(f"{where}: tensor {name} has weights that are not finite in {form}")
    return result
