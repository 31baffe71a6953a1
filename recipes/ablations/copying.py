"""Does a student learn to copy? A built-in model fine-tuned on numbers and placeholders.

    python recipes/ablations/copying.py en-de --data ../shared/data --work work/copying

`copying_pairs.py` says what it learns from; all of the model is trained, then its head alone, then
it becomes int8 and is calibrated like the one that ships. Measured before and after, for each
learning rate: what comes through of both halves of `benchmarks/kept` with repairs and without,
BLEU with selection and with all tokens, and how many outputs are equal. newstest2017 is the
validation text and newstest2018 calibrates; no other set is looked at. Writes
docs/results/copying_SRC_TGT.json after each model; what lies in --work is used again.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import sacrebleu

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "recipes")]

from copying_pairs import (  # noqa: E402
    SETS,
    altered,
    from_templates,
    ordinary_lines,
    replayed,
)
from verbs import sieve  # noqa: E402

from kept.collecting import written  # noqa: E402
from kept.counting import tally  # noqa: E402
from kept.generating import HALVES, generate  # noqa: E402
from sieve.bundle.catalogue import find_model  # noqa: E402
from sieve.bundle.directory import open_bundle  # noqa: E402
from sieve.files import read_json, write_json  # noqa: E402
from sieve.train.adapt import AdaptOptions, adapt  # noqa: E402
from sieve.translate.load import load  # noqa: E402
from sieve.translate.translator import Translator  # noqa: E402

TESTS = (
    *("newstest2018", "newstest2019", "ntrex128", "flores200_devtest", "tatoeba2021"),
    *("multi30k_test_2016_flickr", "itds_idiom_test_detok"),
)
PAIR = "en-de"  # in the names of files that serve both directions
SIZE = 850  # mean shortlist that the built-in models are calibrated to
SETTLING = (
    "nvs_weight=5.0",
    "reach_weight=6.0",
    "label_smoothing=0.0",
    "schedule=linear",
)  # as they were trained


def write_pairs(translator: Translator, args: argparse.Namespace) -> dict[str, int]:
    """The text to learn from, replayed lines first; how many lines of each kind it has."""
    source, target = translator.languages
    ordinary = ordinary_lines(args.data, PAIR, source, args.replayed)
    replay = replayed(translator, ordinary)
    parts = {
        "replayed": replay,
        "altered": list(altered(replay, translator.languages, args.replayed // 3)),
        "from templates": from_templates(translator, args.made),
    }
    pairs = [pair for part in parts.values() for pair in part]
    for column, language in enumerate((source, target)):
        text = "".join(f"{pair[column]}\n" for pair in pairs)
        (args.work / f"pairs.{language}").write_text(text, encoding="utf-8")
    return {name: len(part) for name, part in parts.items()}


def fine_tuned(model: Path, rate: float, args: argparse.Namespace) -> Path:
    """The model after both stages, int8 and calibrated."""
    work = args.work / f"{rate:g}"
    final = work / model.name
    if final.exists():
        return final
    languages = open_bundle(model).config["languages"]
    shared: dict[str, Any] = {
        "pair": tuple(args.work / f"pairs.{language}" for language in languages),
        "valid": tuple(str(test_file(args.data, "newstest2017", side)) for side in languages),
        "batch_tokens": args.batch_tokens,
    }
    common = [f"training.{setting}" for setting in args.set]
    settling = [f"training.{setting}" for setting in SETTLING]
    work.mkdir(exist_ok=True)
    all_parts, head = work / "all", work / "head"
    stages = (
        (model, all_parts, AdaptOptions(
            epochs=args.epochs, learning_rate=rate, overrides=(*settling, *common), **shared)),
        (all_parts, head, AdaptOptions(
            epochs=1, learning_rate=1e-3, head_only=True,
            overrides=("training.schedule=linear", *common), **shared)),
    )  # fmt: skip
    for before, after, options in stages:
        if not after.exists() and adapt(before, after, options):
            sys.exit("stopped; it resumes when rerun")
    int8 = work / "int8"
    sieve("convert", head, "--int8", "--output", int8)
    text = test_file(args.data, "newstest2018", languages[0])
    sieve("calibrate", int8, text, "--size", SIZE, "--threads", args.threads, "--output", final)
    return final


def test_file(data: Path, name: str, language: str, pair: str = PAIR) -> Path:
    """One side of a test set, of the pair's own direction where there is one."""
    own = data / "test" / f"{name}.{pair}.{language}"
    return own if own.exists() else data / "test" / f"{name}.{PAIR}.{language}"


def measured(translator: Translator, data: Path) -> dict[str, Any]:
    """What comes through of both halves, and BLEU on all sets."""
    source, target = translator.languages
    result: dict[str, Any] = {}
    for half in HALVES:
        cases = [*generate(SETS, half, source), *written(SETS, half, source)]
        for way, repair in (("with repairs", True), ("without", False)):
            outputs = translator.translate([case.source for case in cases], repair=repair)
            counts = tally(cases, [output.text for output in outputs], translator.languages)
            shares = {kind: each["share"] for kind, each in counts["all"].items()}
            result.setdefault(half, {})[way] = shares | {"faults": counts["faults"]}
    for name in TESTS:
        files = (test_file(data, name, side, f"{source}-{target}") for side in (source, target))
        text, reference = (file.read_text("utf-8").splitlines() for file in files)
        ours, whole = (
            [output.text for output in translator.translate(text, selection=selection)]
            for selection in (None, "none")
        )
        result[name] = {
            "bleu": round(sacrebleu.corpus_bleu(ours, [reference]).score, 2),
            "bleu, all tokens": round(sacrebleu.corpus_bleu(whole, [reference]).score, 2),
            "equal": round(sum(a == b for a, b in zip(ours, whole, strict=True)) / len(text), 4),
        }
    print(result, flush=True)
    return result


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", choices=("en-de", "de-en"))
    parser.add_argument("--data", type=Path, required=True, help="holds train/ and test/")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--replayed", type=int, default=100_000, help="lines of ordinary text")
    parser.add_argument("--made", type=int, default=6_000, help="lines from templates")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--learning-rates", type=float, nargs="+", default=[1e-4, 4e-4])
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="of [training]")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--output", type=Path)
    return parser.parse_args()


def main() -> None:
    args = parsed()
    args.work.mkdir(parents=True, exist_ok=True)
    name = f"copying_{args.model.replace('-', '_')}.json"
    output = args.output or ROOT / "docs" / "results" / name
    model = Path(find_model(args.model))
    translator = load(model, threads=args.threads)
    counts = args.work / "counts.json"
    if not counts.exists():
        write_json(counts, write_pairs(translator, args))
    results: dict[str, Any] = {
        "command": f"python recipes/ablations/copying.py {args.model} --data DATA --work WORK"
        + (f" --set {' '.join(args.set)}" if args.set else ""),
        "lines": read_json(counts),
        "epochs": args.epochs,
        "batch_tokens": args.batch_tokens,
        "before": measured(translator, args.data),
        "after": {},
    }
    write_json(output, results)
    for rate in args.learning_rates:
        begin = time.perf_counter()
        tuned = fine_tuned(model, rate, args)
        seconds = round(time.perf_counter() - begin)
        after = measured(load(tuned, threads=args.threads), args.data)
        results["after"][f"{rate:g}"] = {"seconds of training": seconds, **after}
        write_json(output, results)


if __name__ == "__main__":
    main()
