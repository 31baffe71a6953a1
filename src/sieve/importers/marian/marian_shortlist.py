"""Bergamot's binary shortlist (`lex.*.bin`) into our lexicon, the same sets, and back.

The file has the best target tokens of each source token, in the order of their ids, and no counts:
all count 1. Its most frequent tokens are those with the lowest ids, as `frequent:N` of the lexicon.
"""

import struct

import numpy as np

from sieve.errors import ModelError
from sieve.selection.lexicon import Lexicon

_MAGIC = 0xF11A48D5013417F5
_HEADER = struct.Struct("<6Q")  # magic, checksum, frequent tokens, best tokens, offsets, ids


def read_marian_shortlist(content: bytes, sizes: tuple[int, int], where: str) -> Lexicon:
    """The lexicon of a file; damage is a ModelError.

    Args:
        content: Of the file.
        sizes: Words of the source and the target vocabulary.
        where: Origin, for error messages.
    """
    if len(content) < _HEADER.size or content[:8] != struct.pack("<Q", _MAGIC):
        raise ModelError(f"{where}: not a binary shortlist of Bergamot")
    _, recorded, first, best, num_offsets, num_ids = _HEADER.unpack_from(content)
    if _HEADER.size + 8 * num_offsets + 4 * num_ids != len(content):
        raise ModelError(
            f"{where}: damaged: {num_offsets} offsets and {num_ids} ids in {len(content)} bytes"
        )
    if recorded != checksum(content[16:]):
        raise ModelError(f"{where}: damaged: its checksum is not the one of its content")
    if num_offsets != sizes[0] + 1:
        raise ModelError(
            f"{where}: is of {num_offsets - 1} source tokens, the model has {sizes[0]}: they do "
            "not belong together"
        )
    offsets = np.frombuffer(content, "<u8", num_offsets, _HEADER.size)
    ids = np.frombuffer(content, "<u4", num_ids, _HEADER.size + 8 * num_offsets)
    if offsets[0] != 0 or offsets[-1] != num_ids or (offsets[1:] < offsets[:-1]).any():
        raise ModelError(f"{where}: damaged: the offsets do not fit {num_ids} ids")
    if num_ids and int(ids.max()) >= sizes[1]:
        raise ModelError(f"{where}: damaged: got the id {ids.max()} of {sizes[1]} target tokens")
    if first > sizes[1]:
        raise ModelError(f"{where}: damaged: {first} frequent tokens of {sizes[1]} target tokens")
    target_counts = np.zeros(sizes[1], np.int64)
    target_counts[:first] = np.arange(first, 0, -1)
    rows = offsets.astype(np.int64)
    return Lexicon(
        rows,
        ids.astype(np.int32),
        np.ones(num_ids, np.int32),
        np.maximum(np.diff(rows), 1),
        target_counts,
        {"source": "Bergamot's shortlist", "first": str(first), "best": str(best)},
    )


def write_marian_shortlist(lexicon: Lexicon, top: int, first: int) -> bytes:
    """The file of a lexicon's best tokens.

    Args:
        lexicon: Of a model whose ids are Marian's.
        top: Target tokens for each source token, at most.
        first: The tokens with the lowest ids, so many, belong to every sentence.
    """
    best = lexicon.pruned(top)
    rows = np.repeat(np.arange(best.src_vocab_size), np.diff(best.offsets))
    ids = best.targets[np.lexsort((best.targets, rows))].astype("<u4")
    counts = struct.pack("<4Q", first, top, len(best.offsets), len(ids))
    content = counts + best.offsets.astype("<u8").tobytes() + ids.tobytes()
    return struct.pack("<2Q", _MAGIC, checksum(content)) + content


def checksum(content: bytes) -> int:
    """Marian's hash of all that follows the checksum; an odd id at the end is not covered."""
    seed = 0
    for number in np.frombuffer(content, "<u8", len(content) // 8).tolist():
        seed ^= (number + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & 0xFFFFFFFFFFFFFFFF
    return seed
