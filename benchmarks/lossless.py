"""Lossless search beside selection alone and all words: time, and what each one loses.

One core, one sentence at a time, kinds of search in turn for each sentence, CPU time; where the
time goes; then the share of translations that are not those of a search over all words, on test
sets and on sentences of unusual kinds.

  python benchmarks/lossless.py --data DATA --lexicon LEXICON
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from attacks import KINDS, unusual
from cpu_common import command, machine, note
from sieve.bundle.catalogue import built_in
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.files import write_json
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.vocabulary import EOS
from sieve.translate.load import load
from sieve.translate.translation import Request
from sieve.translate.translator import Translator

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


RATIOS = {
    f"{a} / {b}, {search}": (f"{search}, {a}", f"{search}, {b}")
    for search in ("greedy", "beam")
    for a, b in (
        ("lossless", "nvs"),
        ("all words", "lossless"),
        ("all words", "nvs"),
        ("nvs+safe", "nvs"),
    )
} | {
    "lossless from almost nothing / all words, greedy": (
        "greedy, lossless from almost nothing",
        "greedy, all words",
    )
}
TAKEN_APART = ("greedy, all words", "greedy, nvs", "greedy, lossless")
Taken = dict[str, npt.NDArray[np.float64]]


def times(translator: Translator, lines: Sequence[str], repeats: int) -> Taken:
    """Milliseconds of each search, (rounds, sentences); a sentence goes through all of them."""
    taken = {name: np.zeros((repeats, len(lines))) for name in SEARCHES}
    for number in range(repeats):
        for row, line in enumerate(lines):
            for name, request in SEARCHES.items():
                begin = time.thread_time()
                translator.run([line], request)
                taken[name][number, row] = 1000 * (time.thread_time() - begin)
    return taken


def shown(taken: Taken) -> dict[str, dict[str, Any]]:
    """Milliseconds a sentence: the median of the rounds, all of them, the best of each sentence."""
    return {
        name: {
            "ms": round(float(np.median(all_.mean(axis=1))), 3),
            "undisturbed": round(float(all_.min(axis=0).mean()), 3),
            "rounds": all_.mean(axis=1).round(3).tolist(),
        }
        for name, all_ in taken.items()
    }


def ratios(taken: Taken) -> dict[str, dict[str, float]]:
    """Of the times of each round: their median, the least and the most; of the best times."""
    found = {}
    for name, (above, below) in RATIOS.items():
        values = taken[above].mean(axis=1) / taken[below].mean(axis=1)
        best = taken[above].min(axis=0).mean() / taken[below].min(axis=0).mean()
        named = {
            "median": float(np.median(values)),
            "least": values.min(),
            "most": values.max(),
            "undisturbed": best,
        }
        found[name] = {key: round(float(value), 3) for key, value in named.items()}
    return found


def parts(translator: Translator, lines: Sequence[str], repeats: int) -> dict[str, Any]:
    """Where a sentence's milliseconds of CPU time go.

    The engine knows the wall-clock time of its parts; what interrupts it lengthens all of them
    alike, so their shares are taken, of the CPU time of the whole.
    """
    engine = translator.engine
    assert isinstance(engine, NativeEngine)
    sources = [np.array([*ids, EOS]) for ids in translator.tokenizers.source.encode(list(lines))]
    spent = {name: np.zeros(7) for name in TAKEN_APART}
    for _ in range(repeats):
        for line, ids in zip(lines, sources, strict=True):
            for name, so_far in spent.items():
                request = SEARCHES[name]
                selector = translator.selector(request.selection)
                begin = time.thread_time()
                translator.run([line], request)
                middle = time.thread_time()
                _, [timing] = engine.translate_timed([ids], selector, request.options)
                within = time.thread_time() - middle
                so_far += [middle - begin, within, *asdict(timing).values()]
    number = repeats * len(lines)
    return {name: _named_parts(*(so_far / number).tolist()) for name, so_far in spent.items()}


def _named_parts(whole: float, within: float, *inside: float) -> dict[str, float]:
    *walls, steps = inside
    share = within / sum(walls)
    named = dict(zip(("encode", "select", "gather", "search"), walls, strict=True))
    named = {name: round(1000 * share * wall, 3) for name, wall in named.items()}
    return {**named, "outside the engine": round(1000 * (whole - within), 3), "steps": steps}


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
    for name in ("nvs", "lexicon") if k else ("nvs",):
        sizes = [one.shortlist_size for one in found[name]]
        result["mean_words" if name == "nvs" else "lexicon_words"] = round(float(np.mean(sizes)), 1)
    if options.beam_size == 1:
        returns = [one.returns for one in found["lossless"]]
        result["returns"] = round(float(np.mean(returns)), 3)
    return result


def same_size(translator: Translator, lines: Sequence[str]) -> int:
    """The k whose sets are about as large on average as those of the head."""

    def mean(selection: str) -> float:
        found = translator.run(lines, Request(selection, GREEDY))
        return float(np.mean([one.shortlist_size for one in found]))

    size, low, high = mean("nvs"), 1, 5000
    while low < high:
        k = (low + high + 1) // 2
        low, high = (k, high) if mean(f"lexicon:{k}") <= size else (low, k - 1)
    return low


def dimensions(translator: Translator) -> dict[str, int]:
    """What the times depend on."""
    engine = translator.engine
    assert isinstance(engine, NativeEngine)
    config = engine.config
    return {
        "d_model": config.d_model,
        "d_ff": config.d_ff,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "words": config.tgt_vocab_size,
    }


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
    parser.add_argument("--note", default="", help="how the model came about")
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
    first = next(iter(sets), "everyday")
    timed = {**sets, **KINDS}[first][: args.sentences]
    taken = times(translator, timed, args.repeats)
    result: dict[str, Any] = {
        "command": command(),
        "note": args.note,
        "machine": machine(),
        "model": args.model,
        "built_in": args.model in built_in(),
        "dimensions": dimensions(translator),
        "timed": len(timed),
        "times": shown(taken),
        "ratios": ratios(taken),
        "parts": parts(translator, timed, args.repeats),
        "lost": {},
    }
    note(f"{result['ratios']}\n{result['parts']}")
    made = unusual(first, sets[first]) if first in sets else {}
    for name, lines in {**sets, **made, **KINDS}.items():
        k = args.lexicon and same_size(translator, lines[:200])
        result["lost"][name] = {"sentences": len(lines), "k": k or 0}
        for kind, options in (("greedy", GREEDY), ("beam", BEAM)):
            result["lost"][name][kind] = losses(translator, lines, options, k or 0)
        note(f"{name}: {result['lost'][name]}")
    write_json(args.output, result)


if __name__ == "__main__":
    main()
