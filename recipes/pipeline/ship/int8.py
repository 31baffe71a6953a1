"""A student's float weights into the directory that ships: sharper, 8 bits, calibrated, with names.

What ships says how it was trained, not where files lay; and it must fit 12 MiB as a whole.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.recipe import Recipe
from pipeline.ship.names import write_names
from pipeline.ship.sharpen import sharpen
from pipeline.tools import Verb
from sieve.bundle.integrity import seal
from sieve.errors import InputError
from sieve.files import read_json, replace_directory, write_json

LIMIT = 12 * 2**20


def trimmed(config: Mapping[str, Any]) -> dict[str, Any]:
    """A finished model's configuration without the lists of files that a run was given."""
    training = dict(config.get("training", {}))
    for key in ("data", "init_from"):
        training.pop(key, None)
    return {**config, "training": training}


def check_size(model: Path) -> None:
    """Refuses a model that is too large to ship."""
    size = sum(file.stat().st_size for file in model.iterdir())
    print(f"{model.name}: {size:,} bytes, {LIMIT - size:,} below 12 MiB", flush=True)
    if size > LIMIT:
        raise InputError(
            f"{model}: got {size:,} bytes, expected at most {LIMIT:,}; make d_ff smaller"
        )


def make_int8(sieve: Verb, recipe: Recipe, model: Path, collected: Path, output: Path) -> None:
    """The whole stage; `output` appears when it is finished."""
    source, target = output.name.split("-")
    scratch = output.with_name(f".{output.name}.int8")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    sharp, int8, final = (scratch / name for name in ("sharp", "int8", output.name))
    sharpen(model, recipe.ship.sharpen, sharp)
    sieve("convert", sharp, "--int8", "--output", int8)
    sieve(
        "calibrate", int8, collected / "test" / f"valid.{source}", "--size", recipe.ship.size,
        "--threads", recipe.ship.threads, "--output", final,
    )  # fmt: skip
    write_names(recipe, collected, final, (source, target))
    write_json(final / "config.json", trimmed(read_json(final / "config.json")))
    seal(final)
    check_size(final)
    replace_directory(output, final)
    shutil.rmtree(scratch)
