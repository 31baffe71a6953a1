"""Lexicons from corpora: align and count, count given alignments, or adapt to new text.

Two ways to adapt, with the new pairs counted ×10 in both: as in the paper, the new pairs are
among the training data of the aligner (`build_lexicon` with extra corpora); the cheap way aligns
them by the lexicon that exists and adds their counts (`adapt_lexicon`).
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TextIO

import numpy as np

from sieve.data.alignments import pharaoh_lines, read_pharaoh
from sieve.data.corpus import Corpus, Ragged
from sieve.errors import ConfigError, InputError
from sieve.files import whole_file
from sieve.selection.aligners.align_corpus import AlignOptions, CorpusAlignment, Weighted
from sieve.selection.aligners.fast_align import FastAlign
from sieve.selection.aligners.symmetrize import symmetrize
from sieve.selection.aligners.translation_table import TranslationTable
from sieve.selection.lexicon import Lexicon, LexiconBuilder, lexicon_of_table

_ADAPTATION_TENSION = 8.0  # of the diagonal; what fast_align estimates lies between 5 and 12
_JOIN = "grow-diag-final-and"
_BLOCK = 50_000


@dataclass(frozen=True)
class CountOptions:
    """What becomes of the links."""

    by: Literal["count", "probability"] = "count"
    """Rank tokens by counted links, or by the translation probabilities of the aligner."""
    top: int = 10_000
    """At most so many target tokens for each source token."""
    keep_alignments: Path | None = None
    """Also write the links of the first corpus, in Pharaoh format."""

    def __post_init__(self) -> None:
        if self.by not in ("count", "probability"):
            raise ConfigError(f"by: got '{self.by}', expected count or probability")
        if self.top < 1:
            raise ConfigError(f"top: got {self.top}, expected at least 1")


def build_lexicon(corpora: Sequence[Weighted], align: AlignOptions, count: CountOptions) -> Lexicon:
    """Aligns corpora of the same tokenizer and counts which tokens are linked.

    Args:
        corpora: Directories and how often their pairs count, in training and in the lexicon.
        align: How to align.
        count: What to count, and whether to keep the links.
    """
    opened = [Corpus.open(directory) for directory, _ in corpora]
    for corpus in opened[1:]:
        if corpus.fingerprint != opened[0].fingerprint:
            raise InputError(
                f"{corpus.directory}: its tokenizer is not that of {opened[0].directory}; "
                f"prepare it with --tokenizer {opened[0].directory}"
            )
    builder = _builder(opened[0])
    with tempfile.TemporaryDirectory(prefix="sieve-align-") as scratch, _kept(count) as kept:
        wants_table = count.by == "probability"
        alignment = CorpusAlignment(corpora, align, Path(scratch), with_table=wants_table)
        for block in alignment.blocks():
            builder.add(block.src, block.tgt, block.links, corpora[block.corpus][1])
            if kept is not None and block.corpus == 0:
                kept.writelines(pharaoh_lines(block.links))
        lexicon = builder.build(count.top)
        if wants_table:
            lexicon = lexicon_of_table(alignment.table(), lexicon.target_counts, count.top)
    pairs = sum(corpus.num_pairs for corpus in opened)
    signature = f"{align.aligner}|{align.symmetrize}|by:{count.by}|pairs:{pairs}"
    return _with_info(lexicon, opened[0], signature)


def count_alignments(corpus: Corpus, path: Path, count: CountOptions) -> Lexicon:
    """Counts links that any aligner has written in Pharaoh format, one line for each pair."""
    if count.by == "probability":
        raise ConfigError(
            "by 'probability' needs an aligner with a translation table, a file of links has "
            "none; counted links rank the tokens by p(t|s) too"
        )
    alignments = read_pharaoh(path)
    alignments.check(corpus.src_lengths, corpus.tgt_lengths, str(path))
    builder = _builder(corpus)
    for start in range(0, corpus.num_pairs, _BLOCK):
        stop = min(start + _BLOCK, corpus.num_pairs)
        builder.add(*corpus.pairs(np.arange(start, stop)), alignments.slice(start, stop))
    signature = f"pharaoh|by:count|pairs:{corpus.num_pairs}"
    return _with_info(builder.build(count.top), corpus, signature)


def adapt_lexicon(
    lexicon: Lexicon,
    blocks: Iterable[tuple[Ragged, Ragged]],
    upsample: int,
    top: int = CountOptions.top,
) -> Lexicon:
    """Aligns new pairs by the lexicon's own probabilities and adds their links, upsampled.

    Args:
        lexicon: Of counted links.
        blocks: Source and target sentences, some pairs at a time.
        upsample: How often each new pair counts.
        top: At most so many target tokens for each source token.
    """
    if lexicon.info.get("by", "count") != "count":
        raise InputError(
            f"this lexicon is ranked by {lexicon.info['by']} and holds no counts to add to; "
            "build one with the new text as --extra"
        )
    if upsample < 1:
        raise ConfigError(f"upsample: got {upsample}, expected at least 1")
    tension = _ADAPTATION_TENSION
    ahead = FastAlign.from_counts(lexicon.table(), lexicon.target_counts, tension)
    back = FastAlign.from_counts(_turned(lexicon), lexicon.source_counts, tension)
    builder = LexiconBuilder(lexicon.src_vocab_size, lexicon.tgt_vocab_size)
    builder.add_lexicon(lexicon)
    pairs = 0
    for src, tgt in blocks:
        forward, backward = ahead.align(src, tgt), back.align(tgt, src)
        builder.add(src, tgt, symmetrize(_JOIN, src, tgt, forward, backward), upsample)
        pairs += len(src)
    signature = f"{lexicon.info.get('signature', '')}|adapted:{pairs}x{upsample}"
    return replace(builder.build(top), info={**lexicon.info, "signature": signature})


def _turned(lexicon: Lexicon) -> TranslationTable:
    """p(s | t) of all entries, by target."""
    src_ids = np.repeat(np.arange(lexicon.src_vocab_size, dtype=np.int32), np.diff(lexicon.offsets))
    order = np.argsort(lexicon.targets, kind="stable")
    targets, counts = lexicon.targets[order], lexicon.counts[order]
    totals = np.bincount(targets, counts, lexicon.tgt_vocab_size)
    offsets = np.searchsorted(targets, np.arange(lexicon.tgt_vocab_size + 1)).astype(np.int64)
    return TranslationTable(offsets, src_ids[order], (counts / totals[targets]).astype(np.float32))


def _builder(corpus: Corpus) -> LexiconBuilder:
    tokenizers = corpus.tokenizers()
    return LexiconBuilder(tokenizers.source.vocab_size, tokenizers.target.vocab_size)


def _with_info(lexicon: Lexicon, corpus: Corpus, signature: str) -> Lexicon:
    by = "probability" if "|by:probability" in signature else "count"
    info = {"signature": signature, "by": by, "tokenizer": corpus.fingerprint}
    return replace(lexicon, info=info)


@contextmanager
def _kept(count: CountOptions) -> Iterator[TextIO | None]:
    """The file that keeps the links, if one is wanted; it appears only when all went well."""
    if count.keep_alignments is None:
        yield None
        return
    with (
        whole_file(count.keep_alignments) as partial,
        partial.open("w", encoding="ascii") as file,
    ):
        yield file
