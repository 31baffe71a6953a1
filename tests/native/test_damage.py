"""Model directories damaged at random, here and in a process with little memory; the core alone."""

# private: the C++ core is what is tested

import contextlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import damage
import numpy as np
import pytest
from child import PATIENCE
from damage import damaged_copy, outcome
from generated_models import SMALL, random_weights
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve import _native
from sieve.bundle.packing import pack_floats
from sieve.bundle.quantization import quantize
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.errors import ModelError
from sieve.selection.selectors import FullVocabulary

FORMS = ("float32", "int8")
MADE: dict[str, Callable[[Any], dict[str, Any]]] = {
    "float32": dict,
    "packed": pack_floats,
    "int8": lambda weights: quantize(weights, "here"),
}
MIXERS = ["ssru", "attention"]
with_forms = pytest.mark.parametrize("form", FORMS)


@settings(max_examples=60)
@given(form=st.sampled_from(FORMS), number=st.integers(0, 2**32 - 1))
def test_damage(
    models: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
    form: str,
    number: int,
) -> None:
    target = tmp_path_factory.getbasetemp() / "damaged"
    damaged_copy(models[form], target, number)
    outcome(target)


@settings(max_examples=150)
@given(data=st.data(), form=st.sampled_from(sorted(MADE)), mixer=st.sampled_from(MIXERS))
def test_the_core_alone(data: st.DataObject, form: str, mixer: Any) -> None:
    """What the C++ core is given is checked there, too, whoever checked it before."""
    config = replace(SMALL, decoder_mixer=mixer)
    tensors = MADE[form](random_weights(config))
    names = st.sampled_from(sorted(tensors))
    for name in data.draw(st.lists(names, min_size=1, max_size=2, unique=True)):
        change = data.draw(st.sampled_from(sorted(CHANGES)))
        tensors[name] = CHANGES[change](tensors[name])
        if tensors[name] is None:
            del tensors[name]
    sizes = ["src_vocab_size", "tgt_vocab_size", "encoder_layers", "decoder_layers", "d_ff"]
    changes: dict[str, Any] = {
        data.draw(st.sampled_from(sizes)): data.draw(st.sampled_from([5, 64, 65, 2**24, 2**70]))
        for _ in range(data.draw(st.integers(0, 1)))
    }
    try:
        engine = NativeEngine(replace(config, **changes), tensors, int8=form == "int8", threads=1)
    except _native.ModelError as error:
        assert str(error)
        return
    with contextlib.suppress(ModelError):  # no finite score
        engine.translate([np.array([4, 2])], FullVocabulary(), SearchOptions(beam_size=2))


def _with_last(value: float) -> Callable[[Any], Any]:
    def changed(array: Any) -> Any:
        copied = array.copy()
        copied.reshape(-1)[-1] = value if array.dtype.kind == "f" else 0
        return copied

    return changed


CHANGES: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda array: array,
    "gone": lambda array: None,
    "shorter": lambda array: array[:-1],
    "empty": lambda array: array[:0],
    "flat": lambda array: array.reshape(-1),
    "deep": lambda array: array[None],
    "turned": lambda array: array.T,
    "strided": lambda array: np.repeat(array, 2, axis=0)[::2],
    "wide": lambda array: array.astype(np.float64),
    "whole": lambda array: array.astype(np.int8),
    "bytes": lambda array: array.astype(np.uint8),
    "floats": lambda array: array.astype(np.float32),
    "other order": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "a list": lambda array: array.tolist(),
    "a number": lambda array: 1.0,
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
    "nan": _with_last(np.nan),
    "inf": _with_last(-np.inf),
    "negative": _with_last(-1.0),
    "huge": _with_last(3e38),
}


def in_a_child(models: dict[str, Path], tmp_path: Path, form: str, first: int, count: int) -> str:
    command = [sys.executable, "-W", "error", str(Path(damage.__file__)), str(models[form])]
    done = subprocess.run(
        [*command, str(tmp_path / "damaged"), str(first), str(count)],
        capture_output=True,
        text=True,
        timeout=PATIENCE + count,
        check=False,
    )
    shown = done.stdout.strip().splitlines()
    last = shown[-1] if shown else ""
    assert done.returncode == 0, f"exit code {done.returncode} at {last}: {done.stderr[-3000:]}"
    return last


@with_forms
def test_damage_in_a_process_with_little_memory(
    models: dict[str, Path], tmp_path: Path, form: str
) -> None:
    assert in_a_child(models, tmp_path, form, 0, 150).endswith("of 150 work")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@with_forms
def test_much_damage(models: dict[str, Path], tmp_path: Path, form: str, part: int) -> None:
    assert in_a_child(models, tmp_path, form, 10_000 * (part + 1), 2500).endswith("2500 work")
