"""The weight of positives (paper, appendix B, table 8): one head for each λ_p on one frozen model.

    python recipes/ablations/positive_weight.py MODEL --source TEXT --test NAME=SRC,REF \
        --work work/positive-weight --output docs/results/positive_weight_en_pt.json

MODEL is a model directory whose encoder no head has shaped: an imported one, or one of Sieve's own
that was trained without a head. The text is translated once, greedily over all tokens; every head
learns from the same stored states and tokens, in the same number of updates. Two operating points
are measured: λ = 0.9, as in the paper, where λ_p also decides how large the shortlists are; and one
threshold for the whole set that gives shortlists of --size tokens on average, where it does not.
Translations kept in --work are used again.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sacrebleu
import torch
from verbs import Json, command, write

from sieve.bundle.directory import Bundle, open_bundle
from sieve.bundle.weights import float_tensors, model_config
from sieve.data.reading import read_lines
from sieve.engines.native.native_engine import NativeEngine
from sieve.evaluate.measure.recall import needed_tokens
from sieve.model.nvs import build_head
from sieve.selection.selectors import log_odds
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray
from sieve.train.attach.head import HeadOptions, train_head
from sieve.train.attach.held_out import HeldOut
from sieve.train.attach.labels import (
    GREEDY,
    Labels,
    padded_states,
    pieces,
    read_piece,
    write_piece,
)

WEIGHTS = ("auto:10", "auto:1", "100000", "10000", "1000", "100", "10", "1")
THRESHOLD, LONGEST, BATCH = 0.9, 128, 64
Logits = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Frozen:
    """The model, and what its heads learn from and are judged by."""

    bundle: Bundle
    engine: NativeEngine
    embedding: torch.Tensor
    train: list[Labels]
    held_out: Labels

    @classmethod
    def prepare(cls, args: argparse.Namespace) -> "Frozen":
        """Opens the model and translates the text, as far as it is not translated yet."""
        bundle = open_bundle(args.model)
        engine = NativeEngine.open(bundle, threads=args.threads)
        tensors, config = float_tensors(bundle), model_config(bundle)
        name = "output.weight" if config.tie == "none" else "tgt_embedding.weight"
        embedding = torch.from_numpy(np.array(tensors[name], np.float32))
        lines = list(dict.fromkeys(read_lines(args.source)))[: args.lines + args.held_out]
        ids = source_ids(bundle, lines)
        parts = [slice(args.held_out), *pieces(len(ids) - args.held_out)]
        labels = []
        for number, rows in enumerate(parts):
            path = args.work / f"{number:05}.safetensors"
            if not path.is_file():
                write_piece(path, engine, ids[args.held_out if number else 0 :][rows], None)
                print(f"{rows.stop} of {len(ids)} lines translated", flush=True)
            labels.append(read_piece(path))
        return cls(bundle, engine, embedding, labels[1:], labels[0])


@dataclass(frozen=True, eq=False)
class TestSet:
    """Sentences as the heads see them, and what they need."""

    ids: list[IntArray]
    labels: Labels
    needed: dict[str, list[IntArray]]
    """Own and reference tokens."""
    references: list[str]

    @classmethod
    def read(cls, frozen: Frozen, args: argparse.Namespace) -> "TestSet":
        """The first lines of the set."""
        source, _, reference = args.test.rpartition("=")[2].partition(",")
        sources, references = (
            list(read_lines(Path(name)))[: args.sentences] for name in (source, reference)
        )
        ids = source_ids(frozen.bundle, sources)
        path = args.work / "test.safetensors"
        write_piece(path, frozen.engine, ids, None)
        labels, specials = read_piece(path), frozen.engine.specials
        encoded = frozen.bundle.tokenizers().target.encode(references)
        needed = {
            "own": [needed_tokens(labels.targets(row), specials) for row in range(len(labels))],
            "reference": [needed_tokens(one, specials) for one in encoded],
        }
        return cls(ids, labels, needed, references)


def source_ids(bundle: Bundle, lines: Sequence[str]) -> list[IntArray]:
    """Sentences with EOS."""
    eos = model_config(bundle).eos
    encoded = bundle.tokenizers().source.encode(lines)
    return [np.array([*ids[:LONGEST], eos]) for ids in encoded]


def trained(frozen: Frozen, weight: str, seed: int, args: argparse.Namespace) -> torch.nn.Module:
    """A head that learned with this weight: the running mean of its last state."""
    config = replace(model_config(frozen.bundle), nvs_head=args.head, nvs_detach=True)
    options = HeadOptions(
        minutes=10_000.0, epochs=args.epochs, seed=seed, size=args.size, positive_weight=weight
    )
    judge = HeldOut(frozen.held_out, args.size, frozen.engine.specials)
    state, _ = train_head(config, frozen.embedding, frozen.train, judge, options)
    head = build_head(config)
    assert head is not None
    head.load_state_dict(state)
    return head


@torch.no_grad()
def logits_of(head: torch.nn.Module, frozen: Frozen, labels: Labels) -> Logits:
    """Of all tokens, (N, V)."""
    found = []
    for start in range(0, len(labels), BATCH):
        rows = range(start, min(start + BATCH, len(labels)))
        found.append(head(*padded_states(labels, rows), frozen.embedding).float().numpy())
    return np.concatenate(found)


def shortlists(logits: Logits, odds: float, eos: int) -> list[Shortlist]:
    """Of one threshold."""
    return [Shortlist.of(np.append(np.flatnonzero(row > odds), eos), eos) for row in logits]


def odds_of_size(logits: Logits, size: int, eos: int) -> float:
    """The threshold whose shortlists have this mean size, EOS included."""
    others = np.delete(logits, eos, axis=1).ravel()
    place = len(others) - (size - 1) * len(logits) - 1
    return float(np.partition(others, place)[place])


def measured(frozen: Frozen, test: TestSet, chosen: Sequence[Shortlist]) -> Json:
    """What a greedy search over these shortlists gives."""
    outputs: list[list[int]] = []
    for start in range(0, len(chosen), BATCH):
        encoded = frozen.engine.encode(test.ids[start : start + BATCH])
        hypotheses = frozen.engine.decode(encoded, chosen[start : start + BATCH], GREEDY)
        outputs += [list(best[0].tokens) for best in hypotheses]
    texts = frozen.bundle.tokenizers().target.decode(outputs)
    same = [found == test.labels.targets(row).tolist() for row, found in enumerate(outputs)]
    row = {
        "mean_size": float(np.mean([len(one) for one in chosen])),
        "equal_outputs": float(np.mean(same)),
        "bleu": sacrebleu.corpus_bleu(texts, [test.references]).score,
        "chrf": sacrebleu.corpus_chrf(texts, [test.references]).score,
    }
    for kind, needed in test.needed.items():
        hits = [np.isin(ids, s.ids) for ids, s in zip(needed, chosen, strict=True) if len(ids)]
        row[f"{kind}_recall"] = float(np.mean([one.mean() for one in hits]))
        row[f"{kind}_in_reach"] = float(np.mean([one.all() for one in hits]))
    return {name: round(value, 5) for name, value in row.items()}


def rows(
    frozen: Frozen, test: TestSet, known: Sequence[Json], args: argparse.Namespace
) -> Iterator[Json]:
    """One for each weight and seed; more seeds for the weights that --seeds-for names."""
    eos = frozen.engine.config.eos
    done = {(row["positive_weight"], row["seed"]) for row in known}
    for seed in range(1, args.seeds + 1):
        for weight in args.weights if seed == 1 else args.seeds_for:
            if (weight, seed) in done:
                continue
            begin = time.process_time()
            head = trained(frozen, weight, seed, args)
            logits = logits_of(head, frozen, test.labels)
            points = {
                "at_threshold": log_odds(THRESHOLD),
                "at_size": odds_of_size(logits, args.size, eos),
            }
            found: Json = {"positive_weight": weight, "seed": seed}
            for name, odds in points.items():
                found[name] = measured(frozen, test, shortlists(logits, odds, eos))
            found["log_odds_at_size"] = round(points["at_size"], 3)
            found["cpu_seconds"] = round(time.process_time() - begin, 1)
            yield found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="model directory; a head of it is not used")
    parser.add_argument("--source", type=Path, required=True, help="text in the source language")
    parser.add_argument("--lines", type=int, default=54_000, help="of it, to learn from")
    parser.add_argument("--held-out", type=int, default=500, help="lines to judge progress by")
    parser.add_argument("--test", required=True, metavar="NAME=SRC,REF")
    parser.add_argument("--sentences", type=int, help="of the set")
    parser.add_argument("--weights", nargs="+", default=list(WEIGHTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seeds-for", nargs="*", default=["1", "100", "1000", "100000"])
    parser.add_argument("--head", choices=["tied", "full"], default="tied")
    parser.add_argument("--epochs", type=float, default=2.0)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(args.threads)
    frozen = Frozen.prepare(args)
    test = TestSet.read(frozen, args)
    eos, V = frozen.engine.config.eos, frozen.engine.vocab_size
    direction = "-".join(frozen.bundle.config.get("languages", ()))
    content: dict[str, Any] = {
        "command": command(sys.argv),
        "title": f"Positive weight, {direction}",
        "direction": direction,
        "test": args.test.partition("=")[0],
        "sentences": len(test.ids),
        "vocabulary": V,
        "lines": sum(map(len, frozen.train)),
        "epochs": args.epochs,
        "head": args.head,
        "all_tokens": measured(frozen, test, [Shortlist.everything(V, eos)] * len(test.ids)),
        "positive_weights": [],
    }
    if args.output.is_file():  # of the same run, stopped
        earlier = json.loads(args.output.read_text(encoding="utf-8"))
        if all(earlier[name] == content[name] for name in content if name != "positive_weights"):
            content = earlier
    for row in rows(frozen, test, list(content["positive_weights"]), args):
        content["positive_weights"].append(row)
        print(json.dumps(row), flush=True)
        write(args.output, content)  # what is done is on disk


if __name__ == "__main__":
    main()
