"""Whether every kind of CPU gives the same bytes: the built-in models on real lines.

Tokens, scores, alignments, confidence and shortlist sizes of each line, greedy and beam 5, must
be those of this CPU's best kernels bit for bit. What other kernels give is recorded first, on this
machine or another, emulated or not. The translations of an earlier version are compared as well:

  SIEVE_KERNELS=avx2 python benchmarks/same_bytes.py --data DATA --record avx2.json
  python benchmarks/same_bytes.py --data DATA --against avx2.json arm.json --before OLD

OLD holds newstest2018.en-de and newstest2018.de-en as `sieve translate` wrote them.
"""

import argparse
import hashlib
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cpu_common import command, machine, note
from sieve.engines.native.native_engine import available_kernels
from sieve.engines.options import SearchOptions
from sieve.files import write_json
from sieve.translate.load import load
from sieve.translate.translation import Request, Translation

MODELS = ("en-de", "de-en")
BEAMS = (1, 5)
SETS = {
    "en": ("newstest2018.en-de", "newstest2019.en-de", "flores200_devtest.en-de",
           "tatoeba2021.en-de", "ntrex128.en-de"),
    "de": ("newstest2018.en-de", "newstest2019.de-en", "flores200_devtest.en-de",
           "tatoeba2021.en-de", "ntrex128.en-de"),
}  # fmt: skip
NEWS = "newstest2018.en-de"
Record = dict[str, dict[str, str]]
"""Of each case (model and beam): a digest of what came out for each line."""


def read(data: Path, name: str, language: str) -> list[str]:
    return (data / "test" / f"{name}.{language}").read_text(encoding="utf-8").splitlines()


def sample(data: Path, language: str, number: int) -> list[str]:
    """So many different lines, an equal share of each set; fewer lines are a part of more."""
    share = -(-number // len(SETS[language]))
    lines: dict[str, None] = {}
    for name in SETS[language]:
        fresh = [line for line in dict.fromkeys(read(data, name, language)) if line not in lines]
        lines |= dict.fromkeys(fresh[:share])
    return list(lines)[:number]


def digest(found: Translation) -> str:
    """Of all that a translation says; floats are written in full."""
    said = (found.ids, found.token_scores, found.score, found.positions, found.confidence)
    return hashlib.sha256(repr((*said, found.shortlist_size, found.text)).encode()).hexdigest()[:16]


def record(data: Path, number: int, selection: str | None) -> Record:
    """What the kernels in use make of the lines."""
    found: Record = {}
    for model in MODELS:
        translator = load(model, engine="native")
        lines = sample(data, model[:2], number)
        for beam in BEAMS:
            request = Request(selection, SearchOptions(beam_size=beam, alignment=True))
            translations = translator.run(lines, request)
            pairs = zip(lines, translations, strict=True)
            found[f"{model}, beam {beam}"] = {line: digest(said) for line, said in pairs}
            note(f"{translator.engine}: {model}, beam {beam}")
    return found


def compared(ours: Record, theirs: Record) -> dict[str, dict[str, int]]:
    """Lines that both have, and those of them that differ."""
    result = {}
    for case, lines in theirs.items():
        shared = [line for line in lines if line in ours[case]]
        differ = sum(lines[line] != ours[case][line] for line in shared)
        result[case] = {"lines": len(shared), "differ": differ}
    return result


def beside_before(data: Path, before: Path) -> dict[str, Any]:
    """How much the translations of a news set changed, and their BLEU."""
    from sacrebleu.metrics.bleu import BLEU

    result = {}
    for model in MODELS:
        source, target = model.split("-")
        old = (before / f"newstest2018.{model}").read_text(encoding="utf-8").splitlines()
        found = load(model, engine="native").run(read(data, NEWS, source), Request())
        new = [translation.text for translation in found]
        references = [read(data, NEWS, target)]

        def bleu(lines: Sequence[str], references: list[list[str]] = references) -> float:
            return round(BLEU().corpus_score(lines, references).score, 3)

        result[model] = {
            "lines": len(new),
            "changed": sum(a != b for a, b in zip(old, new, strict=True)),
            "bleu_before": bleu(old),
            "bleu_now": bleu(new),
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="directory with test/")
    parser.add_argument("--lines", type=int, default=2500, help="of each model")
    parser.add_argument("--selection", help="(default: the models')")
    parser.add_argument("--record", type=Path, help="write what these kernels give, and stop")
    parser.add_argument("--cpu", default=platform.machine(), help="what to call it in a record")
    parser.add_argument("--against", nargs="*", default=[], type=Path, metavar="RECORD")
    parser.add_argument("--before", type=Path, help="directory of an earlier version's outputs")
    parser.add_argument("--output", type=Path, default=Path("docs/results/same_bytes.json"))
    args = parser.parse_args()
    kernels = os.environ.get("SIEVE_KERNELS") or available_kernels()[0]
    ours = record(args.data, args.lines, args.selection)
    if args.record is not None:
        write_json(args.record, {"cpu": args.cpu, "kernels": kernels, "record": ours})
        return
    result: dict[str, Any] = {"command": command(), "machine": machine(), "kernels": kernels}
    result["cases"] = list(ours)
    result["beside"] = {}
    for path in args.against:
        theirs = json.loads(path.read_text(encoding="utf-8"))
        label = f"{theirs['kernels']} ({theirs['cpu']})"
        result["beside"][label] = compared(ours, theirs["record"])
    if args.before is not None:
        result["newstest2018 beside before"] = beside_before(args.data, args.before)
    write_json(args.output, result)


if __name__ == "__main__":
    main()
