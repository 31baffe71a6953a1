"""Thresholds that fall for long lines: equal outputs on paragraphs and single lines, and time.

Paragraphs are consecutive lines joined to about 49 source tokens. The fall is chosen on those of
newstest2017 and is the same for all models: the least one tried at which each of them has at least
WANTED % of its paragraphs translated as without selection. Other sets chose nothing here. Times
are of single lines, one core, one at a time, with and without the fall in turns, CPU time.

  python benchmarks/long_lines.py --data DATA

--models and --parts measure some of it again and keep what the output file has of the rest.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cpu_common import command, machine, note
from sieve.files import write_json
from sieve.selection.dial import DEFAULT_FALL
from sieve.translate.load import load
from sieve.translate.translation import Request
from sieve.translate.translator import Translator

MODELS = ("en-de", "de-en")
FALLS = (0.0, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04)
ABOUT = 49
"""Source tokens of a paragraph."""
WANTED = 90.0
"""Per cent."""
YEARS = ("newstest2017", "newstest2018")
"""The one that chooses and the one that reports, as paragraphs and as single lines."""
OTHERS = ("newstest2019", "flores200_devtest", "tatoeba2021")
"""Further single lines."""
TIME = "time"
PARTS = (*YEARS, *OTHERS, TIME)
_SPREAD = 5
"""One of this many single lines takes part."""


def paragraphs(translator: Translator, lines: Sequence[str]) -> list[str]:
    """Consecutive lines joined, each as near to ABOUT tokens as whole lines allow."""
    joined: list[list[str]] = []
    length = 0
    for line, ids in zip(lines, translator.tokenizers.source.encode(list(lines)), strict=True):
        if not joined or abs(length + len(ids) - ABOUT) >= abs(length - ABOUT):
            joined.append([])
            length = 0
        joined[-1].append(line)
        length += len(ids)
    return [" ".join(part) for part in joined]


def selection(translator: Translator, fall: float) -> str:
    """The model's default with another fall."""
    stored = translator.resources
    return f"nvs:{stored.threshold}:{stored.least}:{fall}" + "+safe" * stored.safe


def outputs(
    translator: Translator, lines: Sequence[str], falls: Sequence[float]
) -> dict[str, dict[str, float]]:
    """Equal outputs, in per cent, and mean shortlist size for each fall."""
    wanted = [one.text for one in translator.run(lines, Request("none"))]
    rows = {}
    for fall in falls:
        found = translator.run(lines, Request(selection(translator, fall)))
        same = [one.text == text for one, text in zip(found, wanted, strict=True)]
        rows[f"{fall:g}"] = {
            "equal": round(100 * float(np.mean(same)), 2),
            "mean_size": round(float(np.mean([one.shortlist_size for one in found])), 1),
        }
    return rows


def times(translator: Translator, lines: Sequence[str], rounds: int) -> dict[str, Any]:
    """Milliseconds of a line with and without the default's fall, and their ratio by rounds."""
    requests = [Request(selection(translator, fall)) for fall in (DEFAULT_FALL, 0.0)]
    taken = np.zeros((2, rounds, len(lines)))
    for number in range(rounds):
        for row, line in enumerate(lines):
            for way in ((0, 1), (1, 0))[row % 2]:
                begin = time.thread_time()
                translator.run([line], requests[way])
                taken[way, number, row] = 1000 * (time.thread_time() - begin)
    ratio = taken[0].mean(axis=1) / taken[1].mean(axis=1)
    best = taken.min(axis=1).mean(axis=1)
    return {
        "lines": len(lines),
        "ms": round(float(best[0]), 3),
        "ms_without": round(float(best[1]), 3),
        "ratio_of_best": round(float(best[0] / best[1]), 4),
        "ratio_by_round": ratio.round(4).tolist(),
    }


def news(data: Path, name: str, language: str) -> list[str]:
    """One year's lines."""
    path = data / "test" / f"{name}.en-de.{language}"
    return path.read_text(encoding="utf-8").splitlines()


def measured(translator: Translator, data: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """One model on the text that chooses and on the text that reports."""
    source, target = translator.languages
    result: dict[str, Any] = {}
    for name in set(YEARS).intersection(arguments.parts):
        lines = news(data, name, source)
        joined = paragraphs(translator, lines)[: arguments.paragraphs]
        lengths = [len(ids) for ids in translator.tokenizers.source.encode(joined)]
        falls = FALLS if name == "newstest2017" else (0.0, DEFAULT_FALL)
        result[name] = {
            "paragraphs": len(joined),
            "mean_tokens": round(float(np.mean(lengths)), 1),
            "joined": outputs(translator, joined, falls),
            "single": outputs(translator, lines[::_SPREAD], falls),
        }
        note(f"{source}: {name}: {result[name]}")
    for name in set(OTHERS).intersection(arguments.parts):
        places = (
            data / "test" / f"{name}.{pair}.{source}" for pair in (f"{source}-{target}", "en-de")
        )
        path = next(filter(Path.is_file, places), None)
        if path is not None:
            lines = path.read_text(encoding="utf-8").splitlines()[: arguments.others]
            result[name] = {"single": outputs(translator, lines, (0.0, DEFAULT_FALL))}
            note(f"{path.name}: {result[name]}")
    if TIME in arguments.parts:
        lines = news(data, "newstest2018", source)
        result[TIME] = times(translator, lines[::_SPREAD][: arguments.timed], arguments.rounds)
        note(f"{source}: {result[TIME]}")
    return result


def equal(model: dict[str, Any], fall: float) -> float:
    """Equal outputs on the paragraphs that choose; 0 before they were measured."""
    rows = model.get(YEARS[0], {"joined": {}})["joined"]
    found: float = rows.get(f"{fall:g}", {"equal": 0.0})["equal"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="directory with test/")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--paragraphs", type=int, default=500, help="of each year")
    parser.add_argument("--others", type=int, default=1000, help="lines of each further set")
    parser.add_argument("--timed", type=int, default=300, help="single lines that are timed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path("docs/results/long_lines.json"))
    arguments = parser.parse_args()
    models: dict[str, dict[str, Any]] = {name: {} for name in MODELS}
    if arguments.output.is_file():
        models |= json.loads(arguments.output.read_text(encoding="utf-8"))["models"]
    for name in arguments.models:
        new = measured(load(name, threads=1), arguments.data, arguments)
        models[name] = {
            part: (models[name] | new)[part] for part in PARTS if part in models[name] | new
        }
    chosen = [fall for fall in FALLS if all(equal(row, fall) >= WANTED for row in models.values())]
    write_json(
        arguments.output,
        {
            "command": command(),
            "machine": machine(),
            "chosen": min(chosen, default=None),
            "default_fall": DEFAULT_FALL,
            "models": models,
        },
    )


if __name__ == "__main__":
    main()
