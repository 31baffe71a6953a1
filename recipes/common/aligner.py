"""Word alignments for guided attention: a fast_align model learned once, applied anywhere.

    python recipes/common/aligner.py recipes/en-de/data.toml COLLECTED TOKENIZER aligner.npz

Learns both directions from one pair in four of COLLECTED in pieces of TOKENIZER, and keeps the
translation probabilities that matter: a file of a few MiB with which many processes can align the
teacher's outputs without learning anything themselves.
"""

import argparse
import functools
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pair import Pair, read_pair

from sieve.data.alignments import Alignments
from sieve.data.corpus import Corpus, Ragged
from sieve.data.reading import read_lines
from sieve.selection.aligners.fast_align import FastAlign
from sieve.selection.aligners.symmetrize import symmetrize
from sieve.selection.aligners.translation_table import TranslationTable
from sieve.tokenize.tokenizer import Tokenizer, load_tokenizers

LONGEST = 60  # tokens of a side to learn from
FLOOR = 1e-3  # probabilities below it are not kept


def ragged(rows: list[list[int]]) -> Ragged:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Ragged(np.array([i for row in rows for i in row], np.int32), offsets)


def sample(pair: Pair, collected: Path, tokenizer: Tokenizer, every: int) -> tuple[Ragged, Ragged]:
    """One pair in `every` of all collected text, numbered."""
    sides: tuple[list[list[int]], list[list[int]]] = ([], [])
    first, second = pair.languages
    for path in sorted(collected.glob(f"part?/*.{first}.bz2")):
        other = path.with_name(path.name.replace(f".{first}.", f".{second}."))
        found = [
            tokenizer.encode([line for i, line in enumerate(read_lines(one)) if i % every == 0])
            for one in (path, other)
        ]
        for source, target in zip(*found, strict=True):
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pair", type=Path, help="data.toml")
    parser.add_argument("collected", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--every", type=int, default=4)
    args = parser.parse_args()
    started = time.monotonic()
    tokenizer = load_tokenizers(args.tokenizer).source
    src, tgt = sample(read_pair(args.pair), args.collected, tokenizer, args.every)
    print(f"{len(src)} pairs after {time.monotonic() - started:.0f} s", flush=True)
    arrays = {}
    for direction, sides in (("0", (src, tgt)), ("1", (tgt, src))):
        found = learn(*sides, tokenizer.vocab_size)
        arrays |= {f"{direction}.{key}": value for key, value in found.items()}
        kept = len(found["targets"])
        print(f"{kept} probabilities after {time.monotonic() - started:.0f} s", flush=True)
    np.savez_compressed(args.output, **arrays)


if __name__ == "__main__":
    main()
