"""What putting names right does to the translations of the built-in models, and what it costs.

For each test set, with and without it: BLEU, chrF, the share of names that come through, and CPU
time; lines with and without it take turns in chunks. A name is a capitalised word of four letters
or more of the source that the reference has, too. The rules were made on newstest2017 and 2018.

  python benchmarks/names.py --data DATA
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sacrebleu import BLEU, CHRF

from cpu_common import command, machine, note
from sieve.evaluate.measure.sets import ParallelSet, read_pair
from sieve.files import write_json
from sieve.repair.names import WORD
from sieve.repair.registry import repairs_for
from sieve.translate.load import load
from sieve.translate.translator import Translator

MODELS = ("en-de", "de-en")
SETS = ("newstest2017", "newstest2018", "newstest2019", "flores200_devtest", "tatoeba2021")
METRICS = {"BLEU": BLEU(), "chrF": CHRF()}
CHUNK = 50  # lines that are translated with and without it before the next ones
Lines = list[str]


def names_of(source: str, reference: str) -> set[str]:
    """Names of a line that its reference takes over."""
    said = {word for word in WORD.findall(source) if word[0].isupper() and len(word) >= 4}
    return said.intersection(WORD.findall(reference))


def chunks(lines: Lines) -> Iterator[Lines]:
    for start in range(0, len(lines), CHUNK):
        yield lines[start : start + CHUNK]


def measure(translator: Translator, sources: Lines, references: Lines) -> dict[str, Any]:
    """One test set."""
    without = replace(translator, repairs=repairs_for(translator.languages, translator.tokenizers))
    ways = {"without": without, "with": translator}
    found: dict[str, Lines] = {way: [] for way in ways}
    seconds = dict.fromkeys(ways, 0.0)
    for chunk in chunks(sources):
        for way, measured in ways.items():
            begin = time.process_time()
            found[way] += [each.text for each in measured.translate(chunk)]
            seconds[way] += time.process_time() - begin
    wanted = [names_of(*pair) for pair in zip(sources, references, strict=True)]
    result: dict[str, Any] = {"sentences": len(sources), "names": sum(map(len, wanted))}
    for way, lines in found.items():
        words = [set(WORD.findall(line)) for line in lines]
        kept = sum(len(names & there) for names, there in zip(wanted, words, strict=True))
        result[way] = {
            **{
                name: round(metric.corpus_score(lines, [references]).score, 2)
                for name, metric in METRICS.items()
            },
            "kept": round(100 * kept / result["names"], 1),
            "milliseconds": round(1000 * seconds[way] / len(sources), 3),
        }
    pairs = zip(found["without"], found["with"], strict=True)
    result["changed"] = sum(one != other for one, other in pairs)
    return result


def read(tests: Path, name: str, languages: tuple[str, str]) -> ParallelSet:
    """A test set; one that serves both directions is named after one of them."""
    stem = f"{name}.{'-'.join(languages)}"
    if not (tests / f"{stem}.{languages[0]}").exists():
        stem = f"{name}.{'-'.join(reversed(languages))}"
    return read_pair(name, *(tests / f"{stem}.{language}" for language in languages))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="directory with test/")
    parser.add_argument("--sentences", type=int, default=0, help="of a set, for a trial")
    parser.add_argument("--output", type=Path, default=Path("docs/results/names.json"))
    args = parser.parse_args()
    result: dict[str, Any] = {"command": command(), "machine": machine(), "models": {}}
    for model in MODELS:
        translator = load(model, engine="native", threads=1)
        for name in SETS:
            test = read(args.data / "test", name, translator.languages)
            test = test.first(args.sentences or None)
            one = measure(translator, list(test.sources), list(test.references))
            result["models"].setdefault(model, {})[name] = one
            note(f"{model} {name}: {one}")
    result["signatures"] = [str(metric.get_signature()) for metric in METRICS.values()]
    write_json(args.output, result)


if __name__ == "__main__":
    main()
