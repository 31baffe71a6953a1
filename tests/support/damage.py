"""Damages model directories in every way we can think of, and says what becomes of them.

Also a program: `python damage.py DIRECTORY SCRATCH FIRST COUNT` tries COUNT kinds of damage, one
for each number from FIRST on, in one process: a crash ends it, and its last line says where.
"""

import json
import os
import random
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sieve
from sieve.engines.options import SearchOptions
from sieve.errors import SieveError
from sieve.files import read_json, read_tensors, write_json, write_tensors

WEIGHTS, CONFIG = "model.safetensors", "config.json"
LINES = ["bda fga", "kla ste"]
ROOM = 2**30
"""Bytes that a directory of some kilobytes may make us allocate."""
NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 5, 7, 19, 63, 64, 65, 399, 401, 2**16, 2**24, 2**24 + 2, 2**31 - 1, 2**31,
    10**9, 2**32, 2**63, 2**64, 2**64 + 20, 10**30, 10**400, -(10**30), 0.5, 1e300, 20.0, True,
]  # fmt: skip
OTHERS: list[Any] = [None, "", "x", [], {}, [1], {"a": 1}, "ssru", "attention", "full", "int8"]
FLOATS = [np.nan, np.inf, -np.inf, -1.0, 3e38, -3e38, 1e37, 1e-45, 0.0]


def outcome(directory: Path) -> str:
    """Loads and translates: `works`, or the text of a SieveError. Anything else is a bug."""
    options = SearchOptions(beam_size=2, max_length_factor=0.1)
    try:
        translator = sieve.load(directory, threads=1)
        translator.translate(LINES, options=options)
        translator.translate(LINES, options=options, selection="none")
        translator.score(LINES, LINES)
    except SieveError as error:
        text = str(error)
        assert text and "\n" not in text, f"not one line: {text!r}"
        return text
    return "works"


def damage(directory: Path, number: int) -> str:
    """Does one of endless kinds of damage to a directory; says which."""
    rng = random.Random(number)
    kind = rng.choice(KINDS)
    try:
        return f"{kind.__name__}: {kind(directory, rng)}"
    except (SieveError, OSError, ValueError) as error:  # too damaged for a second kind
        return f"{kind.__name__}: {error}"


# ---- bytes


def _any_file(directory: Path, rng: random.Random) -> Path:
    files = sorted(path for path in directory.iterdir() if path.is_file())
    return rng.choice([*files, directory / WEIGHTS, directory / CONFIG])


def cut(directory: Path, rng: random.Random) -> str:
    path = _any_file(directory, rng)
    raw = path.read_bytes()
    size = rng.choice([0, 1, 7, 8, 9, len(raw) // 2, len(raw) - 1, rng.randint(0, len(raw))])
    path.write_bytes(raw[:size])
    return f"{path.name} at {size} of {len(raw)}"


def longer(directory: Path, rng: random.Random) -> str:
    path = _any_file(directory, rng)
    path.write_bytes(path.read_bytes() + rng.randbytes(rng.choice([1, 3, 64, 1000])))
    return path.name


def missing(directory: Path, rng: random.Random) -> str:
    path = _any_file(directory, rng)
    path.unlink()
    return path.name


def flipped(directory: Path, rng: random.Random) -> str:
    path = _any_file(directory, rng)
    raw = bytearray(path.read_bytes())
    places = [rng.randrange(len(raw)) for _ in range(rng.choice([1, 1, 2, 10, 100]))]
    for place in places:
        raw[place] = rng.randrange(256)
    path.write_bytes(raw)
    return f"{path.name} at {places[:5]}"


def flipped_header(directory: Path, rng: random.Random) -> str:
    path = directory / WEIGHTS
    raw = bytearray(path.read_bytes())
    end = 8 + int.from_bytes(raw[:8], "little")
    places = [rng.randrange(min(end, len(raw))) for _ in range(rng.choice([1, 1, 2, 5]))]
    for place in places:
        raw[place] = rng.choice([rng.randrange(256), raw[place] ^ 1 << rng.randrange(8), ord("9")])
    path.write_bytes(raw)
    return f"at {places}"


# ---- the header of the tensors


def changed_header(directory: Path, rng: random.Random) -> str:
    path = directory / WEIGHTS
    raw = path.read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    name = rng.choice(sorted(set(header) - {"__metadata__"}))
    entry = header[name]
    what = rng.choice(["dtype", "shape", "data_offsets", "name", "gone", "same", "twice", "swap"])
    text = None
    if what == "dtype":
        entry["dtype"] = rng.choice(["F64", "F16", "BF16", "I64", "I32", "I8", "U8", "BOOL", "X"])
    elif what == "shape":
        shape = entry["shape"]
        shape[rng.randrange(len(shape))] = rng.choice(NUMBERS)
        entry["shape"] = rng.choice([shape, [], [*shape, 1], shape[::-1], [1, *shape], None, "x"])
    elif what == "data_offsets":
        entry["data_offsets"][rng.randrange(2)] = rng.choice(NUMBERS)
    elif what == "name":
        header[rng.choice(["", name + "x", "__metadata__", "nvs.weight"])] = header.pop(name)
    elif what == "gone":
        del header[name]
    elif what == "same":
        other = rng.choice(sorted(set(header) - {"__metadata__"}))
        header[name] = header[other]
    elif what == "swap":
        other = rng.choice(sorted(set(header) - {"__metadata__"}))
        header[name], header[other] = header[other], header[name]
    else:
        again = json.dumps({**entry, "shape": [1], "data_offsets": [0, 4]})
        text = json.dumps(header)[:-1] + f', "{name}": {again}}}'
    encoded = (text or json.dumps(header)).encode()
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + raw[end:])
    return f"{what} of {name}"


# ---- tensors


def changed_tensor(directory: Path, rng: random.Random) -> str:
    path = directory / WEIGHTS
    tensors = read_tensors(path)
    name = rng.choice(sorted(tensors))
    array = tensors[name].copy()
    what = rng.choice(["value", "values", "shape", "dtype", "gone", "new", "bytes", "empty"])
    if what in ("value", "values") and array.dtype.kind == "f":
        value = rng.choice(FLOATS)
        array.reshape(-1)[rng.randrange(array.size) if what == "value" else slice(None)] = value
    elif what == "shape":
        shapes = [array[:-1], array[..., :-1], array.reshape(-1), array[None], array.T]
        array = np.ascontiguousarray(rng.choice(shapes))
    elif what == "dtype":
        kind = rng.choice([np.float16, np.float64, np.int32, np.int8, np.uint8, np.bool_])
        with np.errstate(all="ignore"):
            array = array.astype(kind)
    elif what == "bytes":
        raw = np.frombuffer(rng.randbytes(array.nbytes), array.dtype)
        array = raw.reshape(array.shape).copy()
    elif what == "empty":
        array = array[:0]
    if what == "gone":
        del tensors[name]
    else:
        tensors["new" if what == "new" else name] = array
    write_tensors(path, tensors)
    return f"{what} of {name}"


# ---- the configuration


def changed_model(directory: Path, rng: random.Random) -> str:
    path = directory / CONFIG
    config = read_json(path)
    section = config.get("model")
    if not isinstance(section, dict) or not section:
        return "none left"
    keys = rng.sample(sorted(section), rng.choice([1, 1, 2, 3]))
    for key in keys:
        if rng.random() < 0.1:
            del section[key]
        else:
            section[key] = rng.choice(NUMBERS if rng.random() < 0.7 else OTHERS)
    write_json(path, config)
    return ", ".join(f"{key}={section.get(key)!r}"[:60] for key in keys)


def changed_section(directory: Path, rng: random.Random) -> str:
    path = directory / rng.choice([CONFIG, CONFIG, "tokenizer.json"])
    config = read_json(path)
    key = rng.choice([*sorted(config), "weights", "selection", "languages", "format_version"])
    config[key] = rng.choice([*OTHERS, *NUMBERS, {"format": "int8", "layout": 1}, ["a", "b", "c"]])
    if rng.random() < 0.1:
        del config[key]
    write_json(path, config)
    return f"{path.name}: {key}={config.get(key)!r}"[:80]


def other_text(directory: Path, rng: random.Random) -> str:
    path = directory / rng.choice([CONFIG, "tokenizer.json"])
    text = rng.choice(
        ["", "null", "[]", "{", "[" * 100_000, '{"a":' * 50_000, "1" * 5000, "NaN", '"\\ud800"',
         '{"format_version": 1}', "\ufeff{}", '{"model": 1e999, "format_version": 1}']
    )  # fmt: skip
    path.write_text(text, encoding="utf-8")
    return f"{path.name}: {text[:20]!r}"


def several(directory: Path, rng: random.Random) -> str:
    """More than one kind at a time."""
    parts = [kind(directory, rng) for kind in rng.sample(KINDS[:-1], 2)]
    return " and ".join(parts)


KINDS: list[Callable[[Path, random.Random], str]] = [
    cut,
    longer,
    missing,
    flipped,
    flipped_header,
    flipped_header,
    changed_header,
    changed_header,
    changed_tensor,
    changed_tensor,
    changed_model,
    changed_model,
    changed_section,
    other_text,
    several,
]


def damaged_copy(source: Path, target: Path, number: int) -> str:
    """A fresh damaged copy of a directory at `target`."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return damage(target, number)


def limit_memory() -> None:
    """Fails allocations beyond ROOM; sanitizers reserve far more for themselves."""
    if "san.so" not in os.environ.get("LD_PRELOAD", ""):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main(source: Path, scratch: Path, first: int, count: int) -> None:
    outcome(source)  # everything is imported now
    limit_memory()
    worked = 0
    for number in range(first, first + count):
        what = damaged_copy(source, scratch, number)
        print(f"{number}: {what}", flush=True)
        worked += outcome(scratch) == "works"
    print(f"{worked} of {count} work")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
