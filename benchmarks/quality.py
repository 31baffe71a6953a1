"""The quality signal: its weights from development text, and its correlation to sentence chrF.

    python benchmarks/quality.py --fit       # newstest2017 and 2018: prints the weights to keep
    python benchmarks/quality.py             # newstest2019 and flores200: docs/results/quality.json

Development text is translated by both built-in models; one line in thirty is there again with
another sentence's translation, with the source itself and with half of the translation.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sacrebleu import CHRF
from scipy.stats import kendalltau, pearsonr, spearmanr

from cpu_common import command, machine, note
from names import read
from sieve.files import write_json
from sieve.translate.estimated_quality import (
    BACKWARD,
    FORM,
    FORWARD,
    WEIGHTS_ALONE,
    WEIGHTS_BOTH,
    Quality,
    logistic,
)
from sieve.translate.load import load

ROOT = Path(__file__).parents[1]
PAIRS = (("en-de", "de-en"), ("de-en", "en-de"))
DEVELOPMENT, TEST = ("newstest2017", "newstest2018"), ("newstest2019", "flores200_devtest")
SPOILT = 30  # one line in so many is there three times more, spoilt
ALONE = [*range(len(FORWARD)), *range(len(FORWARD) + len(BACKWARD), 7)]
"""Features without the model of the other direction."""
STEPS, DECAY = 50, 1.0
Matrix = npt.NDArray[np.float64]


def chrf(texts: list[str], references: list[str]) -> Matrix:
    metric = CHRF()
    pairs = zip(texts, references, strict=True)
    return np.array([metric.sentence_score(text, [right]).score / 100 for text, right in pairs])


def spoilt(sources: list[str], texts: list[str]) -> Iterator[tuple[int, str]]:
    """Some translations that a user would not want, with the rows they stand for."""
    for row in range(0, len(texts), SPOILT):
        words = texts[row].split()
        yield row, texts[(row + 7) % len(texts)]
        yield row, sources[row]
        yield row, " ".join(words[: len(words) // 2])


def fitted(x: Matrix, y: Matrix) -> Matrix:
    """Weights of a logistic model of shares, by Newton's method with a little decay."""
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (p - y) + DECAY * weights
        weights -= np.linalg.solve(
            (x * (p * (1 - p))[:, None]).T @ x + DECAY * np.eye(x.shape[1]), gradient
        )
    return weights


def correlations(values: Matrix, scores: Matrix) -> dict[str, float]:
    return {
        "pearson": round(float(pearsonr(values, scores)[0]), 3),
        "spearman": round(float(spearmanr(values, scores)[0]), 3),
        "kendall": round(float(kendalltau(values, scores)[0]), 3),
    }


def fit(data: Path, count: int) -> None:
    rows, targets = [], []
    for pair, reverse in PAIRS:
        translator = load(pair)
        quality = Quality(load(reverse).score, translator.languages)
        for name in DEVELOPMENT:
            test = read(data / "test", name, translator.languages).first(count or None)
            sources, references = list(test.sources), list(test.references)
            translations = translator.translate(sources)
            places, texts = zip(*spoilt(sources, [each.text for each in translations]), strict=True)
            sources += [sources[place] for place in places]
            references += [references[place] for place in places]
            translations += translator.score(sources[-len(places) :], texts, "none")
            rows += quality.features(sources, translations)
            targets.append(chrf([each.text for each in translations], references))
            note(f"{pair} {name}: {len(sources)} lines")
    x, y = np.array(rows), np.concatenate(targets)
    for title, columns in (("ALONE", ALONE), ("BOTH", list(range(x.shape[1])))):
        weights = fitted(x[:, columns], y)
        print(f"WEIGHTS_{title} = ({', '.join(f'{weight:.3f}' for weight in weights)})")
    print("features:", [*FORWARD, *BACKWARD, *FORM])


def measured(data: Path, pair: str, reverse: str, name: str, count: int) -> dict[str, Any]:
    translator = load(pair)
    test = read(data / "test", name, translator.languages).first(count or None)
    sources, references = list(test.sources), list(test.references)
    translations = translator.translate(sources)
    texts = [translation.text for translation in translations]
    scores = chrf(texts, references)
    both = Quality(load(reverse).score, translator.languages)
    features = np.array(both.features(sources, translations))
    sound = list(map(both.sound, sources, texts))
    signals = {
        "quality": [
            logistic(row, WEIGHTS_BOTH) * share for row, share in zip(features, sound, strict=True)
        ],
        "quality, one model": [
            logistic(row, WEIGHTS_ALONE) * share
            for row, share in zip(features[:, ALONE], sound, strict=True)
        ],
        "score per token": [sum(t.token_scores) / len(t.token_scores) for t in translations],
        "score": [each.score for each in translations],
        "confidence": [each.confidence or 0.0 for each in translations],
    }
    result: dict[str, Any] = {
        "sentences": len(sources),
        "mean chrF": round(float(scores.mean()), 3),
    }
    for signal, values in signals.items():
        result[signal] = correlations(np.array(values), scores)
    values = np.array(signals["quality"])
    order = np.argsort(values)
    tenths = np.array_split(order, 10)
    result["mean quality"] = round(float(values.mean()), 3)
    result["tenths"] = [
        {
            "quality": round(float(values[tenth].mean()), 3),
            "chrF": round(float(scores[tenth].mean()), 3),
        }
        for tenth in tenths
    ]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true", help="print weights; write nothing")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--sentences", type=int, default=0, help="of a set, for a trial")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "results" / "quality.json")
    args = parser.parse_args()
    if args.fit:
        fit(args.data, args.sentences)
        return
    result: dict[str, Any] = {"command": command(), "machine": machine(), "models": {}}
    for pair, reverse in PAIRS:
        for name in TEST:
            row = measured(args.data, pair, reverse, name, args.sentences)
            result["models"].setdefault(pair, {})[name] = row
            note(f"{pair} {name}: {row}")
    write_json(args.output, result)


if __name__ == "__main__":
    main()
