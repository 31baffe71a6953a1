"""Word alignments for guided attention: a fast_align model learned once, applied anywhere.

Learns both directions from some of the clean text in the student's pieces, and keeps the
translation probabilities that matter: a file of a few MiB with which many processes can align the
teacher's outputs without learning anything themselves.
"""

import functools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.recipe import Recipe
from sieve.data.alignments import Alignments
from sieve.data.corpus import Corpus, Ragged
from sieve.data.reading import read_lines
from sieve.files import whole_file
from sieve.selection.aligners.fast_align import FastAlign
from sieve.selection.aligners.symmetrize import symmetrize
from sieve.selection.aligners.translation_table import TranslationTable
from sieve.tokenize.tokenizer import Tokenizer, load_tokenizers

LONGEST = 60  # tokens of a side to learn from
FLOOR = 1e-3  # probabilities below it are not kept


def ragged(rows: list[list[int]]) -> Ragged:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Ragged(np.array([i for row in rows for i in row], np.int32), offsets)


def sample(
    pair: Recipe, collected: Path, tokenizer: Tokenizer, every: int
) -> tuple[Ragged, Ragged]:
    """One pair in `every` of all collected text, numbered."""
    sides: tuple[list[list[int]], list[list[int]]] = ([], [])
    first, second = pair.languages
    for path in sorted(collected.glob(f"part?/*.{first}.bz2")):
        other = path.with_name(path.name.replace(f".{first}.", f".{second}."))
        if not other.exists():
            continue  # borrowed text of one language
        rows = [
            tokenizer.encode([line for i, line in enumerate(read_lines(file)) if i % every == 0])
            for file in (path, other)
        ]
        for source, target in zip(*rows, strict=True):
            if 0 < len(source) <= LONGEST and 0 < len(target) <= LONGEST:
                sides[0].append(source)
                sides[1].append(target)
    return ragged(sides[0]), ragged(sides[1])


def learn(src: Ragged, tgt: Ragged, vocab_size: int) -> dict[str, npt.NDArray[np.generic]]:
    """One direction: its table, pruned, and what else `FastAlign.from_counts` needs."""
    model = FastAlign(vocab_size, vocab_size)
    model.train(src, tgt, np.ones(len(src), np.int64), lambda _: None)
    table = model.table()
    words = np.repeat(np.arange(vocab_size), np.diff(table.offsets))
    kept = table.probabilities >= FLOOR
    offsets = np.concatenate([[0], np.cumsum(np.bincount(words[kept], minlength=vocab_size))])
    return {
        "offsets": offsets.astype(np.int32),
        "targets": table.targets[kept].astype(np.uint16),
        "probabilities": table.probabilities[kept].astype(np.float16),
        "counts": np.bincount(tgt.ids, minlength=vocab_size).astype(np.int32),
        "tension": np.array(model.tension, np.float32),
    }


class Aligner:
    """Both directions of a learned model; `turned` for corpora of the other direction."""

    def __init__(self, path: Path, turned: bool) -> None:
        with np.load(path) as arrays:
            models = [_model({k: arrays[f"{d}.{k}"] for k in KEYS}) for d in ("0", "1")]
        self._forward, self._backward = reversed(models) if turned else models

    def align(self, corpus: Corpus) -> Alignments:
        """Symmetrised links of all pairs of a corpus."""
        src, tgt = corpus.pairs(np.arange(corpus.num_pairs))
        forward, backward = self._forward.align(src, tgt), self._backward.align(tgt, src)
        return symmetrize("grow-diag-final-and", src, tgt, forward, backward)


KEYS = ("offsets", "targets", "probabilities", "counts", "tension")


@functools.cache
def open_aligner(path: Path, turned: bool) -> Aligner:
    """One in each process."""
    return Aligner(path, turned)


def _model(arrays: dict[str, npt.NDArray[np.generic]]) -> FastAlign:
    table = TranslationTable(
        arrays["offsets"].astype(np.int64),
        arrays["targets"].astype(np.int32),
        arrays["probabilities"].astype(np.float32),
    )
    return FastAlign.from_counts(table, arrays["counts"].astype(np.int64), float(arrays["tension"]))


def learn_aligner(pair: Recipe, collected: Path, tokenizers: Path, output: Path) -> None:
    """The whole stage."""
    tokenizer = load_tokenizers(tokenizers).source
    src, tgt = sample(pair, collected, tokenizer, pair.aligner_every)
    arrays: dict[str, Any] = {}
    for direction, sides in (("0", (src, tgt)), ("1", (tgt, src))):
        tables = learn(*sides, tokenizer.vocab_size)
        arrays |= {f"{direction}.{key}": value for key, value in tables.items()}
        print(f"{len(src)} pairs, {len(tables['targets'])} probabilities", flush=True)
    with whole_file(output) as partial, partial.open("wb") as file:
        np.savez_compressed(file, **arrays)
