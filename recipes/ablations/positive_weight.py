"""The weight of positives (paper, appendix B, table 8): one head for each λ_p on one model.

    python recipes/ablations/positive_weight.py MODEL --data CORPUS --test newstest2019.en-de \
        --work work/positive-weight --output docs/results/positive_weight_en_de.json

The head's gradients stop before encoder and output embedding, so that a model trained with any
weight has the same translation weights: one translation model serves all rows, and only fresh heads
are trained (`sieve adapt --head-only --new-head`), each with the same updates. A run that was
stopped resumes when rerun: heads that are finished stay.
"""

import argparse
import json
import sys
from pathlib import Path

from verbs import Json, command, once, write

from sieve.evaluate.measure.probes import Probe, batches
from sieve.evaluate.measure.recall import RecallMeter
from sieve.evaluate.measure.sets import read_set
from sieve.translate.load import load

WEIGHTS = ("auto:10", "auto:1", "100000", "10000", "1000", "100", "10", "1")
THRESHOLD, SIZE = 0.9, 1000


def trained(weight: str, args: argparse.Namespace) -> Path:
    """The model with a head that learned with this weight."""
    name = weight.replace(":", "-")
    made: Path = args.work / f"model.{name}"
    settings = [f"training.positive_weight={weight}", *args.set]
    if args.updates:
        settings.append(f"training.max_updates={args.updates}")
    chosen = [word for setting in settings for word in ("--set", setting)]
    return once(
        made, "adapt", args.model, "--data", *args.data, "--head-only", "--new-head", args.head,
        "--epochs", args.epochs, "--learning-rate", args.learning_rate, "--batch-tokens",
        args.batch_tokens, *chosen, "--output", made,
    )  # fmt: skip


def scored(model: Path, args: argparse.Namespace) -> Path:
    """What `sieve evaluate` says of it."""
    made = model.with_suffix(model.suffix + ".json")
    limit = ["--sentences", args.sentences] if args.sentences else []
    return once(
        made, "evaluate", model, "--test", args.test, "--selection", f"nvs:{THRESHOLD}", *limit,
        "--beam-size", args.beam_size, "--latency-sentences", 0, "--json", made,
    )  # fmt: skip


def row(weight: str, model: Path, args: argparse.Namespace) -> Json:
    """BLEU, set size and recall at λ = 0.9; recall at a fixed size, which the dial cannot move."""
    result = json.loads(scored(model, args).read_text(encoding="utf-8"))
    none, nvs = result["rows"]
    scores = {score["name"]: score["value"] for score in nvs["quality"]}
    return {
        "positive_weight": weight,
        "bleu": scores["BLEU"],
        "chrf": scores["chrF"],
        "bleu_unrestricted": none["quality"][0]["value"],
        "mean_size": nvs["reference"]["mean_size"],
        "recall": nvs["reference"]["recall"],
        "recall_at_1000": at_size(model, args),
        "signature": nvs["signature"],
    }


def at_size(model: Path, args: argparse.Namespace) -> float | None:
    """Recall at a mean of 1000 words; None where the vocabulary has no more."""
    translator = load(model, threads=args.threads)
    engine = translator.engine
    if engine.vocab_size <= SIZE:
        return None
    one = read_set(args.test, translator.languages).first(args.sentences)
    probe = Probe.of_text(one.name, translator.tokenizers, one.sources, {"r": one.references})
    meter = RecallMeter(len(probe.src_ids), engine.vocab_size, (), (SIZE,))
    for places, votes in batches(engine, probe.src_ids):
        meter.add(votes.logits, [probe.needed["r"][place] for place in places])
    return meter.at_sizes()[0].recall


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="float model directory; its head is not used")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="prepared corpora")
    parser.add_argument("--test", required=True, help="as in sieve evaluate")
    parser.add_argument("--weights", nargs="+", default=list(WEIGHTS))
    parser.add_argument("--head", choices=["tied", "full"], default="tied")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--updates", type=int, default=0, help="instead of epochs")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--batch-tokens", type=int, default=16000)
    parser.add_argument("--set", action="append", default=[], help="settings of sieve adapt")
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--sentences", type=int, help="of the set, for a trial")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    direction = "-".join(load(args.model).languages)
    content: Json = {
        "command": command(sys.argv),
        "title": f"Positive weight, {direction}",
        "direction": direction,
        "about": "Fresh heads on one translation model, the same updates each.",
        "positive_weights": [],
    }
    for weight in args.weights:
        content["positive_weights"].append(row(weight, trained(weight, args), args))
        write(args.output, content)  # what is done is on disk


if __name__ == "__main__":
    main()
