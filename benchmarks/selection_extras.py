"""What the dial, confidence and glossaries do on test sets that they were not made on.

The dial: recall and words that it reached where it was asked for a recall. Confidence: its deciles
against the share of outputs that selection left as they were, and its rank correlation with
sentence chrF; `sieve report` draws them. Glossaries: BLEU and time of the lines that have one of
the terms below.

  python benchmarks/selection_extras.py --data DATA
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import sacrebleu

from cpu_common import command, machine, note
from sieve.evaluate.measure.comparison import output_probe
from sieve.evaluate.measure.probes import recalls
from sieve.evaluate.measure.reliability import measure_reliability
from sieve.evaluate.measure.sets import ParallelSet
from sieve.files import write_json
from sieve.repair.glossary import Glossary
from sieve.translate.load import load
from sieve.translate.translation import Request
from sieve.translate.translator import Translator

RECALLS = (0.99, 0.995, 0.998, 0.999)
# half of them what a model would say anyway, half of them rarer words for it
TERMS = Glossary(
    (
        ("company", "Firma"), ("police", "Polizei"), ("president", "Präsident"), ("team", "Team"),
        ("government", "Regierung"), ("court", "Gericht"), ("school", "Schule"),
        ("election", "Wahl"), ("party", "Partei"), ("minister", "Minister"),
        ("report", "Rapport"), ("car", "Wagen"), ("hospital", "Klinik"), ("match", "Partie"),
        ("goal", "Treffer"), ("deal", "Vereinbarung"), ("attack", "Attacke"),
        ("player", "Akteur"), ("season", "Spielzeit"), ("city", "Metropole"),
    )
)  # fmt: skip
Lines = list[str]


def dial(translator: Translator, name: str, lines: Lines) -> dict[str, Any]:
    """What was reached on one set for each recall that was asked for."""
    one = ParallelSet(name, tuple(lines), tuple(lines))
    probe = output_probe(translator, one, translator.run(lines, Request("none")))
    selectors = {str(r): translator.selector(f"nvs:recall={r}") for r in RECALLS}
    return {
        asked: {
            "recall": round(found["output"].recall, 5),
            "words": round(found["output"].mean_size, 1),
        }
        for asked, found in recalls(translator.engine, probe, selectors).items()
    }


def confidence(translator: Translator, lines: Lines, references: Lines) -> dict[str, Any]:
    """Deciles of confidence, and what happened in each."""
    found = {
        "none": translator.run(lines, Request("none")),
        "own": translator.run(lines, Request()),
    }
    (one,) = measure_reliability("", "", found, references)
    return {
        "deciles": [
            {
                "confidence": round(part.confidence, 4),
                "same": round(part.same, 4),
                "chrF": round(part.chrf, 2),
            }
            for part in one.deciles
        ],
        "mean_gap": round(one.gap, 4),
        "rank_correlation_with_chrF": round(one.correlation, 4),
    }


def glossary(translator: Translator, lines: Lines, references: Lines) -> dict[str, Any]:
    """BLEU, time and terms that appear, without a glossary and with it."""
    rows = [i for i, line in enumerate(lines) if TERMS.find(line)]
    chosen, wanted = [lines[i] for i in rows], [references[i] for i in rows]
    terms = [(n, match.target) for n, line in enumerate(chosen) for match in TERMS.find(line)]
    result: dict[str, Any] = {"sentences": len(rows), "terms": len(terms)}
    usual = Request(glossary=TERMS)
    forced = replace(usual, force_glossary=True)
    for name, request in {"none": Request(), "allow": usual, "force": forced}.items():
        begin = time.thread_time()
        found = [one.text for line in chosen for one in translator.run([line], request)]
        taken = time.thread_time() - begin
        result[name] = {
            "BLEU": round(sacrebleu.corpus_bleu(found, [wanted]).score, 2),
            "ms": round(1000 * taken / len(rows), 3),
            "terms_that_appear": sum(term in found[n] for n, term in terms),
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="en-de")
    parser.add_argument("--data", type=Path, required=True, help="directory with test/")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=Path("docs/results/selection_extras.json"))
    args = parser.parse_args()
    translator = load(args.model, threads=1)
    source, target = translator.languages

    def read(name: str, language: str) -> Lines:
        path = args.data / "test" / f"{name}.{source}-{target}.{language}"
        return path.read_text(encoding="utf-8").splitlines()[: args.sentences]

    result: dict[str, Any] = {
        "command": command(),
        "machine": machine(),
        "model": args.model,
        "calibrated_on": "newstest2018",
        "dial": {},
    }
    for name in ("newstest2019", "newstest2017", "flores200_devtest", "tatoeba2021"):
        result["dial"][name] = dial(translator, name, read(name, source))
        note(f"{name}: {result['dial'][name]}")
    news = read("newstest2019", source), read("newstest2019", target)
    result["confidence"] = confidence(translator, *news)
    result["glossary"] = glossary(translator, *news)
    note(f"{result['confidence']}\n{result['glossary']}")
    write_json(args.output, result)


if __name__ == "__main__":
    main()
