"""Whether a vocabulary belongs to a model: another model's may have as many pieces.

Training gives pieces that differ in a capital or in the space before them nearly the same vector.
Under other ids they are no more alike than any two. Holds for every language with such pieces.
"""

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError
from sieve.importers.foreign_model import ForeignModel
from sieve.importers.tensors import floats
from sieve.tokenize.imported import ImportedTokenizer
from sieve.tokenize.tokenizer import Tokenizer

LEAST_PAIRS = 500
"""Fewer decide nothing, and no vocabulary of a trained model has fewer."""
LEAST_REACH = 0.5
"""Of the pieces of a SentencePiece model: 0.9997 in two real ones."""
LEAST_SHARE = 0.65
"""Of pairs that are more alike than chance: 0.86 to 1.00 in four models, 0.49 to 0.52 in two with
the vocabulary of another."""


def check_vocabularies(model: ForeignModel, where: str) -> None:
    """Refuses a vocabulary whose pieces are not those that the embeddings were trained for.

    Args:
        model: Of any family.
        where: Its file, for the message.
    """
    for side, name in (("source", "src_embedding.weight"), ("target", "tgt_embedding.weight")):
        matrix = model.tensors.get(name)
        if matrix is None:  # the other side's
            continue
        pairs = alike_pairs(getattr(model.tokenizers, side))
        if len(pairs) < LEAST_PAIRS:
            continue
        share = share_alike(floats(matrix), pairs)
        if share < LEAST_SHARE:
            raise ModelError(
                f"{where}: the {side} vocabulary seems to be another model's: pieces such as 'the' "
                f"and 'The' are no more alike in it than any two ({share:.0%} of {len(pairs)} "
                f"pairs, expected {LEAST_SHARE:.0%}); put the model's own beside it"
            )


def check_reach(model: ForeignModel, where: str) -> None:
    """Refuses pieces without ids: OPUS-MT models exist whose settings hide a second vocabulary."""
    for side in ("source", "target"):
        tokenizer = getattr(model.tokenizers, side)
        if isinstance(tokenizer, ImportedTokenizer) and tokenizer.reach < LEAST_REACH:
            raise ModelError(
                f"{where}: its {side} vocabulary has ids for {tokenizer.reach:.0%} of the pieces "
                f"that its {side} SentencePiece model makes: another model's, or the other side's"
            )


def alike_pairs(tokenizer: Tokenizer) -> npt.NDArray[np.int64]:
    """Ids (N, 2) of pieces that differ in capitals or in the space before them."""
    ids = {tokenizer.piece(index): index for index in range(tokenizer.vocab_size)}
    others = ((index, ids.get(other)) for piece, index in ids.items() for other in _variants(piece))
    pairs = [pair for pair in others if pair[1] is not None]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _variants(piece: str) -> set[str]:
    return {piece.lower(), f"▁{piece}"} - {piece}


def share_alike(embedding: npt.NDArray[np.float32], pairs: npt.NDArray[np.int64]) -> float:
    """How many pairs are more alike than the first of them and the second of another pair."""
    vectors = embedding - embedding.mean(axis=0)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    first, second = vectors[pairs[:, 0]], vectors[pairs[:, 1]]
    chance = np.random.default_rng(0).permutation(len(pairs))
    alike = (first * second).sum(axis=1) > (first * second[chance]).sum(axis=1)
    return float(alike.mean())
