"""What forced decoding in both directions sees: against chrF, and between ways to select.

    python benchmarks/forced_metric.py MODEL --lexicon DIR --judges en-de de-en
        --test newstest2019=SRC,REF --output docs/results/forced_en_de.json

Validation: correlation of the metric with the sentence chrF of the outputs over all tokens. Then
each way to select against all tokens on the sentences whose outputs are not all the same: BLEU,
chrF, the metric and its parts, p-values by paired bootstrap; and the metric and chrF as two
annotators of `sieve human`: ratings of 1 to 6 in steps of 0.2 by rank among all outputs, the
baseline at 100 %, intervals of a paired t-test.
"""

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import kendalltau, pearsonr

from cpu_common import command_by_names
from sieve.evaluate.human.human_score import score
from sieve.evaluate.human.human_sheets import Ratings
from sieve.evaluate.measure.forced import PARTS, ForcedDecoding, difference
from sieve.evaluate.measure.quality import bleu, chrf, sentence_chrf
from sieve.evaluate.measure.sets import read_set
from sieve.files import write_json
from sieve.selection.lexicon import Lexicon
from sieve.translate.load import load
from sieve.translate.translator import Translator

Floats = npt.NDArray[np.float64]


def ratings(values: Floats) -> Floats:
    """Numbers (N, S) as ratings: evenly spread over 1 to 6 by rank, in steps of 0.2."""
    flat = values.ravel()
    ranks = np.searchsorted(np.sort(flat), flat) / max(1, len(flat) - 1)
    return (np.round(5 * 5 * ranks) / 5 + 1).reshape(values.shape)


def system(name: str, metric: Floats, baseline: Floats | None, text: dict[str, Any]) -> Any:
    """A row: the metric (N, 2) and its parts, and each against the baseline."""
    row: dict[str, Any] = {"selection": name, **text, "forced": round(float(metric.mean()), 4)}
    for place, part in enumerate(PARTS):
        row[part] = round(float(metric[:, place].mean()), 4)
    if baseline is not None:
        row["p"] = round(difference((metric - baseline).mean(1)), 4)
        for place, part in enumerate(PARTS):
            row[f"p {part}"] = round(difference((metric - baseline)[:, place]), 4)
    return row


def measure(translator: Translator, judge: ForcedDecoding, args: argparse.Namespace) -> Any:
    """The content of the file."""
    test = read_set(args.test, translator.languages).first(args.sentences)
    translations = {
        name: translator.translate(list(test.sources), selection=name)
        for name in args.selections.split(",")
    }
    texts = {name: [line.text for line in lines] for name, lines in translations.items()}
    baseline = next(iter(texts))
    metric = {name: judge.sentences(test.sources, lines) for name, lines in texts.items()}
    by_sentence = {name: np.array(sentence_chrf(texts[name], test.references)) for name in texts}
    both = metric[baseline].mean(1), by_sentence[baseline]
    correlations = {
        kind: {"Pearson": round(float(pearsonr(values, both[1])[0]), 3),
               "Kendall": round(float(kendalltau(values, both[1])[0]), 3)}
        for kind, values in (
            ("forced", both[0]), *((part, metric[baseline][:, at]) for at, part in enumerate(PARTS))
        )
    }  # fmt: skip
    differ = [len(set(lines)) > 1 for lines in zip(*texts.values(), strict=True)]
    rows = np.flatnonzero(differ)
    systems = []
    for name in texts:
        hypotheses, references = (
            [side[r] for r in rows] for side in (texts[name], test.references)
        )
        size = float(np.mean([line.shortlist_size for line in translations[name]]))
        text = {
            "mean_size": round(size, 1),
            "BLEU": round(bleu(texts[name], test.references).value, 2),
            "BLEU where outputs differ": round(bleu(hypotheses, references).value, 2),
            "chrF where outputs differ": round(chrf(hypotheses, references).value, 2),
        }
        against = None if name == baseline else metric[baseline][rows]
        systems.append(system(name, metric[name][rows], against, text))
    values = np.stack(
        [
            ratings(np.stack([metric[name][rows].mean(1) for name in texts], 1)),
            ratings(np.stack([by_sentence[name][rows] for name in texts], 1)),
        ]
    )
    rated = {}
    for place, annotator in enumerate(("forced", "chrF")):
        one = Ratings(test.name, tuple(texts), (annotator,), 0, values[place : place + 1])
        rated[annotator] = {
            each.system: {
                "percent": round(each.normalized.value, 2),
                "interval": round(each.normalized.interval or 0.0, 2),
                "p": None if each.p_value is None else round(each.p_value, 4),
            }
            for each in score(one, baseline).systems
        }
    agreement = score(
        Ratings(test.name, tuple(texts), ("forced", "chrF"), 0, values), baseline
    ).agreement
    return {
        "test": test.name,
        "sentences": len(test.sources),
        "segments": len(rows),
        "judge": judge.signature,
        "correlation with sentence chrF": correlations,
        "forced_systems": systems,
        "as ratings": rated,
        "Pearson of the ratings": round(agreement.pearson or 0.0, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--lexicon", type=Path, help="default: the model's own")
    parser.add_argument("--judges", nargs=2, required=True, metavar=("FORWARD", "BACKWARD"))
    parser.add_argument("--test", required=True, metavar="NAME=SRC,REF")
    parser.add_argument("--selections", default="none,lexicon:200,lexicon:50,nvs:0.9")
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    translator = load(args.model, threads=args.threads)
    if args.lexicon is not None:
        own = partial(Lexicon.open, args.lexicon)
        translator = replace(translator, resources=replace(translator.resources, lexicon=own))
    judge = ForcedDecoding(*(load(name, threads=args.threads) for name in args.judges))
    content = measure(translator, judge, args)
    write_json(args.output, {"command": command_by_names(), **content})


if __name__ == "__main__":
    main()
