"""What keeping numbers, placeholders and the like costs on news, and what it does to BLEU.

For each model: newstest2019 (ntrex128 where there is none) with all repairs and without the three
of docs/fidelity.md (masks, numbers, garbage). Chunks of lines take turns between the two, on one
thread, several times over; the ratio of CPU time of each round is reported.

    python benchmarks/fidelity_cost.py en-de de-en firefox-en-pt --data ../shared/data
"""

import argparse
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from sacrebleu import BLEU

from cpu_common import command, machine, note
from sieve.bundle.catalogue import built_in
from sieve.files import write_json
from sieve.repair.garbage import Garbage
from sieve.repair.masks.masking import Masking
from sieve.repair.numbers.kept_numbers import KeptNumbers
from sieve.translate.load import load
from sieve.translate.translator import Translator

CHUNK = 50  # lines that are translated in one way before it is the other's turn
Lines = list[str]


def without_the_three(translator: Translator) -> Translator:
    three = (Masking, KeptNumbers, Garbage)
    steps = tuple(step for step in translator.repairs.steps if not isinstance(step, three))
    return replace(translator, repairs=replace(translator.repairs, steps=steps))


def measured(translator: Translator, beam: int | None, lines: Lines, rounds: int) -> dict[str, Any]:
    """Outputs of both ways, and the milliseconds per line of each round."""
    ways = {"without": without_the_three(translator), "with": translator}
    outputs: dict[str, Lines] = {}
    times: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + 1):  # the first one warms up
        written: dict[str, Lines] = {way: [] for way in ways}
        seconds = dict.fromkeys(ways, 0.0)
        for start in range(0, len(lines), CHUNK):
            for way in sorted(ways, reverse=bool(start // CHUNK % 2)):
                begin = time.process_time()
                found = ways[way].translate(lines[start : start + CHUNK], beam_size=beam)
                seconds[way] += time.process_time() - begin
                written[way] += [each.text for each in found]
        outputs = written
        for way in ways if number else ():
            times[way].append(round(1000 * seconds[way] / len(lines), 3))
        note(f"  {seconds['with'] / seconds['without']:.3f}")
    ratios = [a / b for a, b in zip(times["with"], times["without"], strict=True)]
    changed = sum(a != b for a, b in zip(*outputs.values(), strict=True))
    return {"outputs": outputs, "milliseconds": times, "changed": changed} | {
        "ratio": {
            "median": round(statistics.median(ratios), 3),
            "rounds": [round(ratio, 3) for ratio in ratios],
        }
    }


def test_set(data: Path, languages: tuple[str, str]) -> tuple[str, Lines, Lines]:
    pair = "-".join(languages)
    name = next(n for n in ("newstest2019", "ntrex128") if list(data.glob(f"test/{n}.{pair}.*")))
    texts = ((data / "test" / f"{name}.{pair}.{side}").read_text("utf-8") for side in languages)
    source, reference = (text.splitlines() for text in texts)
    return name, source, reference


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--data", type=Path, required=True, help="holds test/")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sentences", type=int, default=0, help="of a set, for a trial")
    parser.add_argument("--output", type=Path, default=Path("docs/results/fidelity_cost.json"))
    args = parser.parse_args()
    result: dict[str, Any] = {"command": command(), "machine": machine(), "models": {}}
    for model in args.models:
        translator = load(model, threads=1)
        name, source, reference = test_set(args.data, translator.languages)
        source, reference = (x[: args.sentences or None] for x in (source, reference))
        note(f"{model}: {name}, {len(source)} lines")
        found = measured(translator, None if model in built_in() else 1, source, args.rounds)
        bleu = {
            way: round(BLEU().corpus_score(lines, [reference]).score, 2)
            for way, lines in found.pop("outputs").items()
        }
        row = {"set": name, "lines": len(source), "bleu": bleu} | found
        result["models"][Path(model).name] = row
        write_json(args.output, result)


if __name__ == "__main__":
    main()
