"""A model for another pair of languages to start from: all layers, and the words both know.

MODEL is a model directory with one vocabulary for both sides, TOKENIZER the directory of another
pair's. Words of the new vocabulary that the old one spells the same keep their embedding and their
biases; a tag takes those of the tag it replaces; all others are drawn like an average word.
OUTPUT is a model directory for `sieve train --init-from`.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sieve.bundle.directory import open_bundle, write_bundle
from sieve.bundle.weights import float_tensors
from sieve.errors import InputError
from sieve.tokenize.tokenizer import Tokenizers, load_tokenizers

SEED = 20221116
WORDS = ("tgt_embedding.weight", "output.bias", "nvs.bias")  # the last where there is a head

Floats = npt.NDArray[np.float32]


def carried(old: Floats, source: npt.NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Rows of a new vocabulary: old[source], or drawn around the mean row where source is -1."""
    drawn = rng.normal(old.mean(0), old.std(0), (len(source), *old.shape[1:]))
    known = (source >= 0).reshape(-1, *[1] * (old.ndim - 1))
    rows: Floats = np.where(known, old[source], drawn).astype(np.float32)
    return rows


def sources(old: Tokenizers, new: Tokenizers, tags: Mapping[str, str]) -> npt.NDArray[np.int64]:
    """(V,) the old id of each new piece, -1 where there is none; `tags` maps old to new ones."""
    ids = {old.target.piece(i): i for i in range(old.target.vocab_size)}
    for before, after in tags.items():
        if before not in ids:
            raise InputError(f"start.tags: got {before}, which the old vocabulary has not")
        ids[after] = ids[before]
    pieces = [new.target.piece(i) for i in range(new.target.vocab_size)]
    return np.array([ids.get(piece, -1) for piece in pieces], np.int64)


def transfer(model: Path, tokenizer: Path, output: Path, tags: Mapping[str, str]) -> None:
    """The whole stage."""
    bundle = open_bundle(model)
    tokenizers = load_tokenizers(tokenizer)
    rows = sources(bundle.tokenizers(), tokenizers, tags)
    rng = np.random.default_rng(SEED)
    tensors = dict(float_tensors(bundle))
    for name in [name for name in WORDS if name in tensors]:
        tensors[name] = carried(tensors[name], rows, rng)
    sizes = dict.fromkeys(("src_vocab_size", "tgt_vocab_size"), len(rows))
    config = {"model": {**bundle.config["model"], **sizes}}
    write_bundle(output, config, tensors, tokenizers)
    print(f"{(rows >= 0).sum()} of {len(rows)} pieces are known")
