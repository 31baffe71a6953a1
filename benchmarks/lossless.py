"""Lossless search beside selection alone and all words: time, and what each one loses.

One core, one sentence at a time, kinds of search in turn, CPU time; then the share of translations
that are those of a search over all words, on test sets and on sentences of unusual kinds.

  python benchmarks/lossless.py --data DATA --lexicon LEXICON
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from attacks import KINDS
from cpu_common import command, machine, note
from sieve.files import write_json
from sieve.inference.load import load
from sieve.inference.options import SearchOptions
from sieve.inference.translation import Request
from sieve.inference.translator import Translator
from sieve.selection.lexicon import Lexicon

GREEDY, BEAM = SearchOptions(beam_size=1), SearchOptions()
LOSSLESS = replace(GREEDY, lossless=True)
ABSURD = "nvs:0.999999"
SEARCHES = {
    "greedy, all words": Request("none", GREEDY),
    "greedy, nvs": Request("nvs", GREEDY),
    "greedy, nvs+safe": Request("nvs+safe", GREEDY),
    "greedy, lossless": Request("nvs", LOSSLESS),
    "greedy, lossless from almost nothing": Request(ABSURD, LOSSLESS),
    "beam, all words": Request("none", BEAM),
    "beam, nvs": Request("nvs", BEAM),
    "beam, nvs+safe": Request("nvs+safe", BEAM),
    "beam, lossless": Request("nvs", replace(BEAM, lossless=True)),
}


def times(translator: Translator, lines: Sequence[str], repeats: int) -> dict[str, Any]:
    """Milliseconds a sentence of each search; each round goes through all of them."""
    taken: dict[str, list[float]] = {name: [] for name in SEARCHES}
    for _ in range(repeats):
        for name, request in SEARCHES.items():
            begin = time.thread_time()
            for line in lines:
                translator.run([line], request)
            taken[name].append(1000 * (time.thread_time() - begin) / len(lines))
    return {
        name: {"ms": round(float(np.median(all_)), 3), "rounds": [round(x, 3) for x in all_]}
        for name, all_ in taken.items()
    }


def losses(
    translator: Translator, lines: Sequence[str], options: SearchOptions, k: int
) -> dict[str, float]:
    """Share of lines, in percent, whose translation is not that of a search over all words."""
    wanted = [one.text for one in translator.run(lines, Request("none", options))]
    ways = {
        "nvs": Request("nvs", options),
        "nvs+safe": Request("nvs+safe", options),
        "lossless": Request("nvs", replace(options, lossless=True)),
    }
    if k:
        ways["lexicon"] = Request(f"lexicon:{k}", options)
    found = {name: translator.run(lines, request) for name, request in ways.items()}
    result = {
        name: round(
            100 * float(np.mean([a.text != b for a, b in zip(all_, wanted, strict=True)])), 2
        )
        for name, all_ in found.items()
    }
    result["mean_words"] = round(float(np.mean([one.shortlist_size for one in found["nvs"]])), 1)
    if options.beam_size == 1:
        returns = [one.returns for one in found["lossless"]]
        result["returns"] = round(float(np.mean(returns)), 3)
    return result


def same_size(translator: Translator, lines: Sequence[str], size: float) -> int:
    """The k whose sets are about as large on average."""
    low, high = 1, 5000
    while low < high:
        k = (low + high + 1) // 2
        found = translator.run(lines, Request(f"lexicon:{k}", GREEDY))
        mean = np.mean([one.shortlist_size for one in found])
        low, high = (k, high) if mean <= size else (low, k - 1)
    return low


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="en-de")
    parser.add_argument("--data", type=Path, help="directory with test/")
    parser.add_argument("--lexicon", type=Path)
    parser.add_argument("--sentences", type=int, default=100, help="that are timed")
    parser.add_argument("--checked", type=int, default=2000, help="of each test set")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--output", type=Path, default=Path("docs/results/lossless.json"))
    args = parser.parse_args()
    translator = load(args.model, threads=1)
    if args.lexicon:
        opened = partial(Lexicon.open, args.lexicon)
        translator.resources = replace(translator.resources, lexicon=opened)
    sets: dict[str, list[str]] = {}
    source, target = translator.languages
    for name in ("newstest2019", "newstest2017", "tatoeba2021"):
        path = args.data and args.data / "test" / f"{name}.{source}-{target}.{source}"
        if path and path.is_file():
            sets[name] = path.read_text(encoding="utf-8").splitlines()[: args.checked]
    timed = next(iter(sets.values()), KINDS["everyday"])[: args.sentences]
    result: dict[str, Any] = {
        "command": command(),
        "machine": machine(),
        "model": args.model,
        "timed": len(timed),
        "times": times(translator, timed, args.repeats),
        "lost": {},
    }
    ms = {name: one["ms"] for name, one in result["times"].items()}
    result["ratios"] = {
        "lossless / nvs, greedy": round(ms["greedy, lossless"] / ms["greedy, nvs"], 3),
        "all words / lossless, greedy": round(ms["greedy, all words"] / ms["greedy, lossless"], 3),
        "lossless from almost nothing / all words, greedy": round(
            ms["greedy, lossless from almost nothing"] / ms["greedy, all words"], 3
        ),
        "all words / nvs, beam": round(ms["beam, all words"] / ms["beam, nvs"], 3),
        "nvs+safe / nvs, beam": round(ms["beam, nvs+safe"] / ms["beam, nvs"], 3),
    }
    for name, lines in {**sets, **KINDS}.items():
        result["lost"][name] = {"sentences": len(lines)}
        for kind, options in (("greedy", GREEDY), ("beam", BEAM)):
            k = 0
            if args.lexicon:
                sizes = [
                    one.shortlist_size for one in translator.run(lines, Request("nvs", GREEDY))
                ]
                k = same_size(translator, lines[:200], float(np.mean(sizes[:200])))
            result["lost"][name][kind] = {**losses(translator, lines, options, k), "k": k}
        note(f"{name}: {result['lost'][name]}")
    write_json(args.output, result)


if __name__ == "__main__":
    main()
