"""Heads of low rank beside the exact head of the same model: what is in reach, what stays equal.

Two parts. `ranks`: one model's head in several ranks, with and without a second look, at the same
mean size, on lines that chose nothing of the model. `models`: model directories beside those that
`sieve convert --head-rank` made of them, at their operating points with their default selection.

  python benchmarks/factored_head.py ranks models/en-de --data DATA --output factored.json
  python benchmarks/factored_head.py models models/en-de=en-de-rank64 --data DATA --output FILE
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import sieve
from sieve.bundle.directory import open_bundle
from sieve.bundle.quantization import quantize
from sieve.bundle.weights import float_tensors, model_config, stored_parameters
from sieve.engines.engine import Engine
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.evaluate.measure.recall import needed_tokens
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.vocabulary import IntArray
from sieve.train.factor_head import best_factors, head_rows, head_states

RANKS = (32, 48, 64, 96, 128)
SECOND_LOOKS = (0.0, 1.5, 2.0)
SETS = ("newstest2017", "newstest2018", "newstest2019", "flores200_devtest", "tatoeba2021")
BATCH = 50


def lines_of(data: Path, name: str, pair: str, number: int) -> tuple[list[str], list[str]]:
    """The first lines of a test set and of their references."""
    src, tgt = pair.split("-")
    folder = data / "test"
    stem = next(
        f"{name}.{p}" for p in (pair, f"{tgt}-{src}") if (folder / f"{name}.{p}.{src}").is_file()
    )
    sides = [(folder / f"{stem}.{side}").read_text("utf-8").splitlines() for side in (src, tgt)]
    return sides[0][:number], sides[1][:number]


def batches(ids: Sequence[IntArray]) -> list[Sequence[IntArray]]:
    return [ids[at : at + BATCH] for at in range(0, len(ids), BATCH)]


def logits_of(engine: NativeEngine, ids: Sequence[IntArray]) -> Any:
    return np.concatenate([engine.bow_logits(engine.encode(batch)) for batch in batches(ids)])


def best(engine: Engine[Any], ids: Sequence[IntArray], selector: Any) -> list[Any]:
    return [ranked[0] for ranked in engine.translate(ids, selector, SearchOptions())]


def at_size(logits: Any, needed: Sequence[IntArray], size: int) -> dict[str, float]:
    """Recall and reach where sets have this size on average."""
    cut = np.partition(logits.ravel(), -size * len(logits))[-size * len(logits)]
    shares = [(row[tokens] >= cut).mean() for row, tokens in zip(logits, needed, strict=True)]
    return {
        "own": round(100 * float(np.mean(shares)), 2),
        "reach": round(100 * float(np.mean(np.array(shares) == 1)), 1),
    }


def ranks(args: argparse.Namespace) -> dict[str, Any]:
    bundle = open_bundle(args.models[0])
    config, pair = model_config(bundle), "-".join(bundle.config["languages"])
    tokenizer, specials = bundle.tokenizers().source, model_config(bundle).specials

    def encoded(lines: Sequence[str]) -> list[IntArray]:
        return [specials.source_ids(ids[:128]) for ids in tokenizer.encode(lines)]

    judged = encoded(lines_of(args.data, "newstest2017", pair, args.lines)[0])
    learnt = encoded(lines_of(args.data, "newstest2018", pair, 1000)[0])
    engine = NativeEngine.open(bundle, threads=1)
    needed = [
        needed_tokens(found.tokens, specials) for found in best(engine, judged, FullVocabulary())
    ]
    exact = logits_of(engine, judged)
    D, rows = config.d_model, []
    rows.append(
        {"rank": D, "second_look": 0.0, "products": 1.0, **at_size(exact, needed, args.size)}
    )
    tensors = float_tensors(bundle)
    memory = [engine.source_states(engine.encode(batch)) for batch in batches(learnt)]
    states = head_states(config, tensors, np.concatenate(memory))
    for rank in RANKS:
        low = replace(config, nvs_head="factored", nvs_rank=rank)
        factors = best_factors(head_rows(config, tensors), states, rank)
        stored = {**stored_parameters(bundle), **quantize(factors, "factors")}
        first = logits_of(NativeEngine(low, stored, int8=True, threads=1), judged)
        for times in SECOND_LOOKS:
            votes = first
            if times:
                cuts = [
                    np.partition(first.ravel(), -int(n * len(first)))[-int(n * len(first))]
                    for n in (args.size, args.size * times)
                ]
                votes = np.minimum(exact, first + (cuts[0] - cuts[1]))
            products = rank / D + times * args.size / config.tgt_vocab_size
            numbers = at_size(votes, needed, args.size)
            rows.append(
                {"rank": rank, "second_look": times, "products": round(products, 3), **numbers}
            )
            print(rows[-1], file=sys.stderr, flush=True)
    return {"model": args.models[0], "size": args.size, "lines": len(judged), "rows": rows}


def models(args: argparse.Namespace) -> dict[str, Any]:
    rows = []
    for given in args.models:
        directories = given.split("=")
        translators = [sieve.load(directory, threads=1) for directory in directories]
        pair = "-".join(open_bundle(directories[0]).config["languages"])
        tokenizers, specials = translators[0].tokenizers, translators[0].engine.specials
        for name in args.sets:
            source, target = lines_of(args.data, name, pair, args.lines)
            ids = [specials.source_ids(i[:128]) for i in tokenizers.source.encode(source)]
            references = [needed_tokens(i, specials) for i in tokenizers.target.encode(target)]
            whole = best(translators[0].engine, ids, FullVocabulary())
            own = [needed_tokens(one.tokens, specials) for one in whole]
            for directory, translator in zip(directories, translators, strict=True):
                selector = translator.selector()
                found = best(translator.engine, ids, selector)
                sets = [
                    shortlist
                    for batch in batches(ids)
                    for shortlist in selector.plan().select(translator.engine.encode(batch))
                ]
                shares = [
                    [
                        np.isin(tokens, one.ids).mean()
                        for tokens, one in zip(wanted, sets, strict=True)
                    ]
                    for wanted in (own, references)
                ]
                equal = [one.tokens == all.tokens for one, all in zip(found, whole, strict=True)]
                rows.append(
                    {
                        "model": Path(directory).name,
                        "head": model_config(open_bundle(directory)).nvs_head,
                        "set": name,
                        "lines": len(ids),
                        "size": round(float(np.mean([len(one.ids) for one in sets])), 1),
                        "own": round(100 * float(np.mean(shares[0])), 3),
                        "reach": round(100 * float(np.mean(np.array(shares[0]) == 1)), 2),
                        "reference": round(100 * float(np.mean(shares[1])), 3),
                        "equal": round(100 * float(np.mean(equal)), 2),
                    }
                )
                print(rows[-1], file=sys.stderr, flush=True)
    return {"rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=["ranks", "models"])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    found = {"ranks": ranks, "models": models}[args.part](args)
    content = json.loads(args.output.read_text()) if args.output.is_file() else {}
    command = " ".join(["python", "benchmarks/factored_head.py", *sys.argv[1:]])
    content.setdefault("commands", {})[args.part] = command
    content[args.part] = found
    args.output.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
