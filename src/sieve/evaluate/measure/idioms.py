"""Sets of idioms and proverbs, and what selection must find for them (paper, tables 2 and 3).

Three kinds: IdiomTranslationDS (PREFIX.info beside the text), a .tsv of one's own, and proverbs
with a literal and an idiomatic reference. Idioms have no spans in the reference, so that "idiom
scope" is one of three things:

  idiom (a)   selection from the source idiom alone, all tokens of its dictionary translation
  idiom (b)   selection from the whole sentence, the same tokens
  idiom (c)   as (b), only those of the tokens that occur in the reference

Recall is a mean over sentences. Where sentences share an idiom, it says more of that one than of
the others; there each scope comes twice, `, evenly` behind its name where idioms count the same.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sieve.data.reading import read_lines
from sieve.errors import InputError
from sieve.evaluate.measure.probes import Probe
from sieve.evaluate.measure.sets import ParallelSet, named_files, read_pair, read_set, stem
from sieve.log import logger
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import IntArray

ALONE, IN_SENTENCE, IN_REFERENCE = "idiom (a)", "idiom (b)", "idiom (c)"
EVENLY = ", evenly"


@dataclass(frozen=True)
class IdiomSet:
    """Sentences with an idiom each, and what a dictionary says of it."""

    pairs: ParallelSet
    idioms: tuple[str, ...]
    translations: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of the sentences."""
        return self.pairs.name

    def first(self, number: int | None) -> "IdiomSet":
        """The first lines of it, all for None."""
        pairs = self.pairs.first(number)
        return replace(
            self, pairs=pairs, idioms=self.idioms[:number], translations=self.translations[:number]
        )

    def probes(self, tokenizers: Tokenizers) -> list[Probe]:
        """Selection from sentences, and from idioms alone."""
        pairs = self.pairs
        targets = {"sentence": pairs.references, IN_SENTENCE: self.translations}
        sentences = Probe.of_text(self.name, tokenizers, pairs.sources, targets)
        both = zip(sentences.needed[IN_SENTENCE], sentences.needed["sentence"], strict=True)
        in_reference = [np.intersect1d(idiom, reference) for idiom, reference in both]
        needed = {**sentences.needed, IN_REFERENCE: in_reference}
        alone = Probe.of_text(self.name, tokenizers, self.idioms, {ALONE: self.translations})
        return [self._evenly(replace(sentences, needed=needed)), self._evenly(alone)]

    def _evenly(self, probe: Probe) -> Probe:
        """With a second scope for each that asks for idioms, if any of these comes twice."""
        scopes = [scope for scope in probe.needed if scope in (ALONE, IN_SENTENCE, IN_REFERENCE)]
        if len(set(self.idioms)) == len(self.idioms):
            return probe
        return replace(
            probe,
            needed={**probe.needed, **{scope + EVENLY: probe.needed[scope] for scope in scopes}},
            weights={scope + EVENLY: self._weights(probe.needed[scope]) for scope in scopes},
        )

    def _weights(self, needed: Sequence[IntArray]) -> list[float]:
        """One over the number of sentences with the same idiom that need anything."""
        counts = Counter(
            idiom for idiom, tokens in zip(self.idioms, needed, strict=True) if len(tokens)
        )
        return [1.0 / max(1, counts[idiom]) for idiom in self.idioms]

    def __str__(self) -> str:
        return f"{self.name}: {len(self.idioms)} sentences, {len(set(self.idioms))} idioms"


@dataclass(frozen=True)
class ProverbSet:
    """Proverbs, each with its literal and its idiomatic translation."""

    name: str
    sources: tuple[str, ...]
    literal: tuple[str, ...]
    idiomatic: tuple[str, ...]

    def first(self, number: int | None) -> "ProverbSet":
        """The first of them, all for None."""
        return ProverbSet(
            self.name, self.sources[:number], self.literal[:number], self.idiomatic[:number]
        )

    def probes(self, tokenizers: Tokenizers) -> list[Probe]:
        """Selection from whole proverbs."""
        targets = {"literal": self.literal, "idiomatic": self.idiomatic}
        return [Probe.of_text(self.name, tokenizers, self.sources, targets)]

    def __str__(self) -> str:
        return f"{self.name}: {len(self.sources)} proverbs"


def read_idioms(text: str, languages: tuple[str, str]) -> IdiomSet | ProverbSet:
    """The set that an argument names.

    Args:
        text: FILE.tsv; a prefix that has a .info file; or LITERAL,IDIOMATIC, two prefixes. Before
            each, NAME= if wanted.
        languages: Of the model.
    """
    name, _, where = text.rpartition("=")
    if where.endswith(".tsv"):
        return _read_tsv(name or stem(Path(where)), Path(where))
    if "," in where:
        literal, _, idiomatic = where.partition(",")
        return _read_proverbs(name, read_set(literal, languages), read_set(idiomatic, languages))
    return _read_itds(text, Path(f"{where}.info"), languages)


def _read_itds(text: str, info: Path, languages: tuple[str, str]) -> IdiomSet:
    if not info.is_file():
        raise InputError(
            f"idioms '{text}': {info} not found; expected a .tsv, a prefix with .info as in "
            "IdiomTranslationDS, or LITERAL,IDIOMATIC"
        )
    name, source, target = named_files(text, languages)
    plain = [_detokenized(path) for path in (source, target)]
    if all(path.is_file() for path in plain):
        source, target = plain
    else:
        logger.warning("%s: has no %s; its text is taken as it is", source, plain[0].name)
    pairs = read_pair(name, source, target)
    columns = [line.split("\t") for line in read_lines(info)]
    for number, row in enumerate(columns, start=1):
        if len(row) < 3 or not row[1].strip() or not row[2].strip():
            raise InputError(
                f"{info}, line {number}: expected a number, an idiom and its translation, "
                "separated by tabs"
            )
    if len(columns) != len(pairs.sources):
        raise InputError(f"{info} has {len(columns)} lines and {source} {len(pairs.sources)}")
    return IdiomSet(pairs, tuple(row[1] for row in columns), tuple(row[2] for row in columns))


def _detokenized(path: Path) -> Path:
    """`set_detok.en-de.en` for set.en-de.en."""
    first, dot, rest = path.name.partition(".")
    return path.with_name(f"{first}_detok{dot}{rest}")


def _read_tsv(name: str, path: Path) -> IdiomSet:
    rows = [line.split("\t") for line in read_lines(path)]
    for number, row in enumerate(rows, start=1):
        if len(row) != 4 or not all(cell.strip() for cell in row):
            raise InputError(
                f"{path}, line {number}: got {len(row)} columns, expected 4 that are not empty: "
                "sentence, reference, idiom, its translation"
            )
    if not rows:
        raise InputError(f"{path}: is empty, expected at least one line")
    sources, references, idioms, translations = zip(*rows, strict=True)
    return IdiomSet(ParallelSet(name, sources, references), idioms, translations)


def _read_proverbs(name: str, literal: ParallelSet, idiomatic: ParallelSet) -> ProverbSet:
    if literal.sources != idiomatic.sources:
        raise InputError(
            f"proverbs {literal.name} and {idiomatic.name}: the source lines differ, expected the "
            "same proverbs in both"
        )
    name = name or f"{literal.name} / {idiomatic.name}"
    return ProverbSet(name, literal.sources, literal.references, idiomatic.references)
