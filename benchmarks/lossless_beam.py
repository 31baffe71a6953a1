"""Lossless beam search that drafts, beside the search over all tokens: equal outputs, and time.

Beam 5, one core, one sentence at a time; all tokens, selection alone and drafts in turns for each
sentence, CPU time. Drafting is forced, so that models for which it does not pay are measured, too;
`by_rule` says whether the engine would draft. Joins what the output file has of other models.

  python benchmarks/lossless_beam.py MODEL --text TEXT [--selection nvs]
"""

import argparse
import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cpu_common import command_by_names, machine, note
from sieve.engines.engine import Hypothesis
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.files import write_json
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.tokenizer import source_ids
from sieve.translate.load import load

BEAM = SearchOptions()
_PARTS = ("encode", "select", "gather", "search")


def compared(engine: NativeEngine, ids: list[Any], ways: dict[str, Any]) -> dict[str, Any]:
    """Every sentence in every way, in an order that turns."""
    names = list(ways)
    taken = {name: np.zeros(len(ids)) for name in names}
    parts = {name: np.zeros(len(_PARTS)) for name in names}
    steps = dict.fromkeys(names, 0)
    differ, worst, returns = 0, 0.0, 0
    for row, sentence in enumerate(ids):
        best = {}
        for place in range(len(names)):
            name = names[(row + place) % len(names)]
            selection, options = ways[name]
            begin = time.thread_time()
            [[first, *_]], [timing] = engine.translate_timed([sentence], selection, options)
            taken[name][row] = 1000 * (time.thread_time() - begin)
            parts[name] += [1000 * value for key, value in asdict(timing).items() if key in _PARTS]
            steps[name] += timing.steps
            best[name] = first
        apart = difference(best["all tokens"], best["lossless"])
        differ += apart is None
        worst = max(worst, apart or 0.0)
        returns += best["lossless"].returns
    return {
        "sentences": len(ids),
        "different": differ,
        "worst_score_difference": worst,
        "returns": round(returns / len(ids), 3),
        "steps": {name: round(value / len(ids), 2) for name, value in steps.items()},
        "ms": {name: round(float(values.mean()), 3) for name, values in taken.items()},
        "parts_ms": {
            name: dict(zip(_PARTS, (values / len(ids)).round(3).tolist(), strict=True))
            for name, values in parts.items()
        },
        "lossless / all tokens": ratio(taken["lossless"], taken["all tokens"]),
        "selection / all tokens": ratio(taken["selection"], taken["all tokens"]),
    }


def difference(one: Hypothesis, other: Hypothesis) -> float | None:
    """The largest difference of two scores; None where the tokens are not the same."""
    if one.tokens != other.tokens:
        return None
    return float(np.abs(np.subtract(one.token_scores, other.token_scores)).max(initial=0.0))


def ratio(above: npt.NDArray[np.float64], below: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Of the mean times, with a 95 % interval of a bootstrap over sentences."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, len(above), (2000, len(above)))
    values = above[rows].mean(axis=1) / below[rows].mean(axis=1)
    low, high = np.percentile(values, (2.5, 97.5))
    return {
        "mean": round(float(above.mean() / below.mean()), 3),
        "ci95": [round(float(low), 3), round(float(high), 3)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--name", help="in the output (default: MODEL)")
    parser.add_argument("--text", type=Path, required=True, help="lines to translate")
    parser.add_argument("--selection", default="nvs")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--output", type=Path, default=Path("docs/results/drafted_beams.json"))
    arguments = parser.parse_args()
    translator = load(arguments.model, threads=1)
    engine = translator.engine
    assert isinstance(engine, NativeEngine)
    by_rule, engine.drafts_beams = engine.drafts_beams, True
    lines = arguments.text.read_text(encoding="utf-8").splitlines()[: arguments.sentences]
    ids = source_ids(translator.tokenizers.source, lines)
    selection = translator.selector(arguments.selection)
    ways = {
        "all tokens": (FullVocabulary(), BEAM),
        "selection": (selection, BEAM),
        "lossless": (selection, replace(BEAM, lossless=True)),
    }
    config = engine.config
    entry = {
        "command": command_by_names(),
        "machine": machine(),
        "engine": str(engine),
        "selection": str(selection),
        "width": config.d_model,
        "tokens": config.tgt_vocab_size,
        "decoder_layers": config.decoder_layers,
        "by_rule": by_rule,
        **compared(engine, ids, ways),
    }
    models: dict[str, Any] = {}
    if arguments.output.is_file():
        models = json.loads(arguments.output.read_text(encoding="utf-8"))["models"]
    models[arguments.name or arguments.model] = entry
    commands = {name: row["command"] for name, row in models.items()}
    write_json(arguments.output, {"commands": commands, "models": models})
    note(json.dumps(entry))


if __name__ == "__main__":
    main()
