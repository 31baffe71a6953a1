"""The MODEL_CARD.md of a finished model.

Fills in what was trained on (the recipe, what `collect` counted), how (metrics of the runs), and
what came out (scores of student and teacher). The recipe's notes.md, where there is one, says what
is known to be weak.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.recipe import Recipe
from sieve.bundle.directory import open_bundle
from sieve.files import read_json, whole_file

NAMES = {"en": "English", "de": "German", "ru": "Russian"}
SETTLED = (
    "The model was *settled* for that: the head shaped the encoder, the decoder was penalised for "
    "probability outside the head's shortlists, and its logits were made larger. A lexicon that "
    "selects for this model did not have that help."
)
STAGES = {"student": "The student", "settle": "Settling", "head": "The head"}
Json = dict[str, Any]


def heading(source: str, target: str, model: Json, size: int) -> list[str]:
    kind = "SSRU" if model["decoder_mixer"] == "ssru" else "self-attention"
    return [
        f"# {NAMES.get(source, source)} to {NAMES.get(target, target)}",
        f"A small translation model for CPUs: {model['encoder_layers']} encoder and "
        f"{model['decoder_layers']} decoder layers ({kind}), width {model['d_model']}, "
        f"feed-forward {model['d_ff']}, {model['heads']} heads, one vocabulary of "
        f"{model['tgt_vocab_size']:,} words, {size / 2**20:.1f} MiB in int8. A head of its own "
        "selects the output words that a sentence can need (neural vocabulary selection, λ = 0.9 "
        "by default).",
        "",
        f'`sieve translate {source}-{target}`, or in Python `sieve.load("{source}-{target}")`.',
    ]


def data(pair: Recipe, collected: Json) -> list[str]:
    lines = [
        "## Data",
        "Texts whose licences allow it, nothing else; test sets and everything equal to a line of "
        "them were taken out. Sources are acknowledged here as their licences ask.",
        "",
        "| corpus | pairs | licence |",
        "|---|---|---|",
    ]
    for _, name in pair.corpora():
        kept = collected["corpora"][name]["kept"]
        lines.append(f"| {name} | {kept:,} | {pair.licences[name]} |")
    lines += [
        f"| {name}, one language, the other by the teacher | | {licence} |"
        for name, licence in pair.borrowed.items()
    ]
    return lines


def training(stages: dict[str, list[Json]]) -> list[str]:
    """From the metrics of the stages' runs."""
    steps = []
    for name, lines in stages.items():
        last = [line for line in lines if line["kind"] == "train"][-1]
        steps.append(_step(STAGES[name], last["update"], last["tokens"], last["seconds"] / 60))
    settled = (
        "Then the head was let into the encoder while the decoder learned to leave no probability "
        "on words that it does not select. "
    )
    return [
        "## Training",
        "A larger model of both directions (the teacher) translated the sources of all data with a "
        "beam of 5; of its five best outputs the one nearest to the human reference was kept, bad "
        "ones dropped. This model (the student) learned from those and from the references of "
        "small clean corpora, with one attention head guided by fast_align's alignments. "
        f"{settled if 'settle' in stages else ''}Last, "
        "the selection head alone learned from the student's own outputs and from references. "
        "Before it became int8 its logits were made a little larger "
        "(`recipes/pipeline/ship/sharpen.py`), and the head's biases were shifted so that λ = 0.9 "
        "is the operating point.",
        "",
        *(f"- {step}" for step in steps),
        "",
        "Every step is in `recipes/`.",
    ]


def _step(what: str, updates: int, tokens: int, minutes: float) -> str:
    return (
        f"{what}: {updates:,} updates, {tokens:,} target tokens, {minutes:.1f} minutes on one GPU."
    )


def scores(result: Json, teacher: Json | None, settled: bool) -> list[str]:
    direction = result["direction"]
    before = {}
    for score in (teacher or {"scores": []})["scores"]:
        if score["direction"] == direction and score["beam"] == 5:
            before[score["test"]] = score["BLEU"]
    default = next(iter(result["tests"].values())).get("nvs", {}).get("selection", "none")
    lines = [
        "## Scores",
        f"Engine: {result['engine']}; beam 5; selected by default: `{default}`. "
        "*Same*: outputs that selection leaves exactly as they are over all words. *Own* and "
        "*reference*: share of the unique words of the "
        "model's own outputs and of references that are in the sets."
        + (f" {SETTLED}" if settled else ""),
        "",
        "| test set | teacher BLEU | BLEU | chrF | BLEU, selected | words | same | own "
        "| reference |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, test in result["tests"].items():
        nvs = test.get("nvs", {})
        recall = nvs.get("recall", {})
        cells = [
            *(name, before.get(name, ""), test["none"]["BLEU"], test["none"]["chrF"]),
            *(nvs.get("BLEU", ""), nvs.get("mean_size", ""), nvs.get("unchanged", "")),
            *(recall.get(kind, {}).get("at_threshold", "") for kind in ("own", "reference")),
        ]
        lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    signatures = next(iter(result["tests"].values()))["none"]["signatures"]
    return [
        *lines,
        "",
        "Signatures: " + ", ".join(f"`{signature}`" for signature in signatures) + ".",
    ]


@dataclass(frozen=True)
class Sources:
    """What a card is made of."""

    counts: Path
    """collected.json."""
    scores: Path
    teacher_scores: Path
    """Need not be there."""
    runs: Mapping[str, Path]
    """metrics.jsonl by stage."""
    notes: Path
    """Known weaknesses; need not be there."""


def write_card(pair: Recipe, model: Path, given: Sources) -> None:
    """The whole stage."""
    card = model / "MODEL_CARD.md"
    config = open_bundle(model).config
    teacher = read_json(given.teacher_scores) if given.teacher_scores.exists() else None
    metrics = {
        name: [json.loads(line) for line in path.read_text().splitlines()]
        for name, path in given.runs.items()
        if path.exists()
    }
    source, target = config["languages"]
    size = sum(path.stat().st_size for path in model.iterdir() if path != card)
    notes = given.notes.read_text(encoding="utf-8").strip() if given.notes.exists() else ""
    parts = [
        heading(source, target, config["model"], size),
        data(pair, read_json(given.counts)),
        training(metrics),
        scores(read_json(given.scores), teacher, settled="settle" in metrics),
        ["## Known weaknesses", notes] if notes else [],
    ]
    text = "\n\n".join("\n".join(part) for part in parts if part)
    with whole_file(card) as partial:
        partial.write_text(text + "\n", encoding="utf-8")
