"""Tiny random Marian models, and what Marian itself wrote with them: a few kB that are kept.

`record` asks pymarian and writes the file; `make test-peers` checks that it would write the same.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import marian_files

from oracles.asking import Answer, Oracle, Peer
from oracles.environments import MARIAN

RECORDED = Path(__file__).parent / "marian.json"
PIECES, LONGEST = 48, 10
SOURCES = [[7, 30, 4, 41, 12], [9], [40, 39, 38, 5, 6, 7, 8, 20], [22, 22, 3, 47, 11, 2]]
PRE_NORM = {
    "version": "v1.12.0 2023-02-20",
    "transformer-preprocess": "n",
    "transformer-postprocess": "da",
    "transformer-postprocess-top": "n",
}
# Not gelu: Marian computes it with erf since 1.12.3, before by a sigmoid.
VARIANTS: dict[str, dict[str, Any]] = {
    "student": {},
    "self-attention": {"transformer-decoder-autoreg": "self-attention"},
    "pre-norm": PRE_NORM,
    "swish": {"transformer-ffn-activation": "swish"},
    "two-tables": {"tied-embeddings-all": False, "tied-embeddings": True},
    "untied": {"tied-embeddings-all": False},
    "no-bias": {"output-omit-bias": True},
}
SCORED: dict[str, dict[str, Any]] = {
    "teacher": {
        **PRE_NORM,
        "transformer-decoder-autoreg": "self-attention",
        "transformer-ffn-activation": "swish",
        "tied-embeddings-all": False,
    },
}
"""Compared with Marian's scorer alone: step by step, Marian forgets to norm the keys and values of
earlier tokens, which it norms in training."""
TARGETS = [[38, 4], [5, 40, 40, 17, 2], [23], [11, 12, 13, 14, 15, 16, 30]]
"""What is scored there."""


@dataclass(frozen=True)
class Case:
    """One variant, and the beginnings of what Marian wrote with greedy search."""

    variant: str
    outputs: list[list[int]]
    scores: list[list[float]]


def pieces() -> list[str]:
    """Names of the ids."""
    return ["</s>", "<unk>", *(f"w{index}" for index in range(2, PIECES))]


def model(folder: Path, variant: str) -> Path:
    """A random model of a variant, with its vocabulary as a list."""
    folder.mkdir(parents=True, exist_ok=True)
    # Marian wants to be told what our importer can do without
    told = {"dec-cell-base-depth": 2, "dec-cell-high-depth": 1, "dim-vocabs": [PIECES, PIECES],
            "transformer-decoder-dim-ffn": 0, "transformer-decoder-ffn-depth": 0,
            "transformer-rnn-projection": False, "skip": False}  # fmt: skip
    settings = {**marian_files.SETTINGS, **told, **{**VARIANTS, **SCORED}[variant]}
    arrays = marian_files.parameters(settings, PIECES, seed=5)
    for name, array in arrays.items():
        if name.endswith("Wemb"):
            array *= 0.3  # so that what was written last does not decide alone
    marian_files.write_npz(folder / "model.npz", settings, arrays)
    lines = [f"{json.dumps(piece)}: {index}\n" for index, piece in enumerate(pieces())]
    (folder / "vocab.yml").write_text("".join(lines))
    return folder


def cases() -> list[Case]:
    """What is kept."""
    return [Case(**case) for case in json.loads(RECORDED.read_text(encoding="utf-8"))]


def asked(folder: Path) -> Iterator[Case]:
    """What Marian writes now."""
    texts = list(map(_text, SOURCES))
    for variant in VARIANTS:
        directory = model(folder / variant, variant)
        answers = _answers(
            Peer(MARIAN, "marian_oracle", {"model": str(directory), "beam": 1}), texts
        )
        outputs = [
            [pieces().index(piece) for piece in answer["pieces"]][:LONGEST] for answer in answers
        ]
        yield Case(variant, outputs, [answer["scores"][: LONGEST + 1] for answer in answers])
    pairs = [f"{text}\t{_text(target)}" for text, target in zip(texts, TARGETS, strict=True)]
    for variant in SCORED:
        directory = model(folder / variant, variant)
        answers = _answers(Peer(MARIAN, "marian_scorer", {"model": str(directory)}), pairs)
        yield Case(variant, TARGETS, [answer["scores"] for answer in answers])


def _text(ids: list[int]) -> str:
    return " ".join(pieces()[index] for index in ids)


def _answers(peer: Peer, lines: list[str]) -> list[Answer]:
    with Oracle(peer) as oracle:
        return oracle.ask(lines)[0]


def record(folder: Path) -> None:
    """Writes the file anew; models are made in `folder`."""
    lines = [json.dumps(case.__dict__) for case in asked(folder)]
    RECORDED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
