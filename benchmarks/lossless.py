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

from attacks import KINDS, unusual
from cpu_common import command, machine, note
from sieve.files import write_json
from sieve.inference.load import load
from sieve.inference.native_engine import NativeEngine
from sieve.inference.options import SearchOptions
from sieve.inference.shipped import built_in
from sieve.inference.translation import Request
from sieve.inference.translator import Translator
from sieve.selection.lexicon import Lexicon
from sieve.text.vocabulary import EOS

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
Rounds = dict[str, list[float]]


def times(translator: Translator, lines: Sequence[str], repeats: int) -> Rounds:
    """Milliseconds a sentence of each search and round; every sentence goes through all of them."""
    taken: Rounds = {name: [0.0] * repeats for name in SEARCHES}
    for number in range(repeats):
        for line in lines:
            for name, request in SEARCHES.items():
                begin = time.thread_time()
                translator.run([line], request)
                taken[name][number] += 1000 * (time.thread_time() - begin) / len(lines)
    return taken


def ratios(taken: Rounds) -> dict[str, dict[str, float]]:
    """Of the times of each round: their median, the least and the most."""
    found = {}
    for name, (above, below) in RATIOS.items():
        values = [a / b for a, b in zip(taken[above], taken[below], strict=True)]
        spread = {"median": float(np.median(values)), "least": min(values), "most": max(values)}
        found[name] = {key: round(value, 3) for key, value in spread.items()}
    return found


def parts(translator: Translator, lines: Sequence[str], repeats: int) -> dict[str, Any]:
    """Where a sentence's milliseconds go; of each part the shortest of all rounds.

    The engine's own parts are wall-clock time, what is outside is CPU time of this thread.
    """
    engine = translator.engine
    assert isinstance(engine, NativeEngine)
    sources = [np.array([*ids, EOS]) for ids in translator.tokenizers.source.encode(list(lines))]
    best = {name: np.full((len(lines), 7), np.inf) for name in TAKEN_APART}
    for _ in range(repeats):
        for row, (line, ids) in enumerate(zip(lines, sources, strict=True)):
            for name, least in best.items():
                request = SEARCHES[name]
                selector = translator.selector(request.selection)
                begin = time.thread_time()
                translator.run([line], request)
                middle = time.thread_time()
                _, [timing] = engine.translate_timed([ids], selector, request.options)
                spent = [middle - begin, time.thread_time() - middle, *asdict(timing).values()]
                least[row] = np.minimum(least[row], spent)
    return {name: _named_parts(*least.mean(axis=0).tolist()) for name, least in best.items()}


def _named_parts(whole: float, within: float, *inside: float) -> dict[str, float]:
    *seconds, steps = inside
    named = dict(zip(("encode", "select", "gather", "search"), seconds, strict=True))
    named["outside the engine"] = whole - within
    return {**{name: round(1000 * value, 3) for name, value in named.items()}, "steps": steps}


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
    parser.add_argument("--note", default="", help="how the model came about, for the record")
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
        "times": {
            name: {"ms": round(float(np.median(all_)), 3), "rounds": [round(x, 3) for x in all_]}
            for name, all_ in taken.items()
        },
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
