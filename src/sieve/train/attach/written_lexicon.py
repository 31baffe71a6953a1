"""A lexicon of what a model writes, by its own attention, for models that come without one."""

from collections.abc import Sequence
from dataclasses import replace

from sieve.selection.lexicon import Lexicon, LexiconBuilder
from sieve.tokenize.tokenizer import Tokenizers
from sieve.train.attach.labels import Labels

_TOP = 1000  # target tokens kept per source token


def lexicon_of(pieces: Sequence[Labels], tokenizers: Tokenizers) -> Lexicon:
    """Counts the links of all pieces.

    Args:
        pieces: Sentences as the model translates them.
        tokenizers: Of the model.
    """
    builder = LexiconBuilder(tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    for piece in pieces:
        src_ids, tgt_ids = piece.links.T
        builder.add_links(src_ids, tgt_ids, occurring=tgt_ids)
    signature = f"attention|by:count|pairs:{sum(map(len, pieces))}"
    info = {"signature": signature, "by": "count", "tokenizer": tokenizers.fingerprint}
    return replace(builder.build(_TOP), info=info)
