"""Does a student learn to copy? A built-in model fine-tuned on made-up numbers and placeholders.

    python recipes/ablations/copying.py en-de --data ../shared/data --work work/copying

Lines come from the open templates of `benchmarks/kept`; their translations are the model's own with
all repairs, where everything came through. They are mixed with lines of news whose translations are
the model's own output, so that it forgets nothing. Measured before and after: what comes through of
both halves without repairs, and BLEU on two test sets. Writes docs/results/copying_en_de.json.
Translations and the adapted model in --work are used again.
"""

import argparse
import bz2
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import sacrebleu

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from kept.counting import tally  # noqa: E402
from kept.generating import generate  # noqa: E402
from sieve.bundle.catalogue import find_model  # noqa: E402
from sieve.files import write_json  # noqa: E402
from sieve.train.adapt import AdaptOptions, adapt  # noqa: E402
from sieve.translate.load import load  # noqa: E402
from sieve.translate.translator import Translator  # noqa: E402

SETS = ROOT / "benchmarks" / "kept"
TESTS = ("newstest2017", "newstest2018")


def write_pairs(translator: Translator, data: Path, work: Path, numbers: tuple[int, int]) -> None:
    """Made-up lines with repaired translations, then lines of news with the model's own."""
    source, target = translator.languages
    made, replayed = numbers
    lines, seed = dict[str, Any](), 100
    while len(lines) < made:
        lines |= {case.source: case for case in generate(SETS, "open", source, seed)}
        seed += 1
    cases = list(lines.values())[:: max(1, len(lines) // made)][:made]
    pairs = []
    for case, translation in zip(
        cases, translator.translate([case.source for case in cases]), strict=True
    ):
        shares = tally([case], [translation.text], translator.languages)["all"]
        if not translation.warnings and all(each["share"] == 1 for each in shares.values()):
            pairs.append((case.source, translation.text))
    print(f"{len(pairs)} of {len(cases)} made-up lines came through", flush=True)
    with bz2.open(data / f"news/news-2008-2016.en-de.{source}.bz2", "rt") as file:
        news = [line.strip() for line in islice(file, 5, replayed * 2, 2)]
    outputs = translator.translate(news, repair=False)
    pairs += [(line, output.text) for line, output in zip(news, outputs, strict=True)]
    for column, language in enumerate((source, target)):
        text = "".join(f"{pair[column]}\n" for pair in pairs)
        (work / f"pairs.{language}").write_text(text, encoding="utf-8")


def measured(translator: Translator, data: Path) -> dict[str, Any]:
    """What comes through without repairs, and BLEU, with the model's own selection."""
    source, target = translator.languages
    result: dict[str, Any] = {}
    for half in ("open", "heldout"):
        cases = list(generate(SETS, half, source))
        outputs = translator.translate([case.source for case in cases], repair=False)
        counts = tally(cases, [output.text for output in outputs], translator.languages)
        shares = {kind: each["share"] for kind, each in counts["all"].items()}
        result[half] = shares | {"lines": len(cases), "faults": counts["faults"]}
    for name in TESTS:
        text, reference = (
            (data / "test" / f"{name}.en-de.{language}").read_text("utf-8").splitlines()
            for language in (source, target)
        )
        outputs = translator.translate(text)
        bleu = sacrebleu.corpus_bleu([output.text for output in outputs], [reference])
        result[name] = {"bleu": round(bleu.score, 2)}
    print(result, flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--data", type=Path, required=True, help="holds news/ and test/")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument(
        "--lines", type=int, nargs=2, default=(2000, 3000), metavar=("MADE", "NEWS")
    )
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--learning-rate", type=float, default=3e-5)
    parser.add_argument(
        "--output", type=Path, default=ROOT / "docs" / "results" / "copying_en_de.json"
    )
    arguments = parser.parse_args()
    work: Path = arguments.work
    work.mkdir(parents=True, exist_ok=True)
    translator = load(arguments.model)
    pair = tuple(work / f"pairs.{language}" for language in translator.languages)
    begin = time.process_time()
    if not pair[1].exists():
        write_pairs(translator, arguments.data, work, tuple(arguments.lines))
    adapted = work / "adapted"
    if not adapted.exists():
        valid = tuple(
            str(arguments.data / "test" / f"newstest2017.en-de.{language}")
            for language in translator.languages
        )
        options = AdaptOptions(
            pair=pair, valid=valid, epochs=arguments.epochs, learning_rate=arguments.learning_rate
        )
        if adapt(Path(find_model(arguments.model)), adapted, options):
            sys.exit("stopped; it resumes when rerun")
    seconds = time.process_time() - begin
    before, after = (measured(each, arguments.data) for each in (translator, load(adapted)))
    results = {
        "command": f"python recipes/ablations/copying.py {arguments.model} --data … --work …",
        "made_up_lines_and_news": list(arguments.lines),
        "epochs": arguments.epochs,
        "learning_rate": arguments.learning_rate,
        "cpu_seconds": round(seconds),
        "before": before,
        "after": after,
    }
    write_json(arguments.output, results)


if __name__ == "__main__":
    main()
