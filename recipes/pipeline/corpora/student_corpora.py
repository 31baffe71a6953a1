"""Distilled text into numbered, aligned corpora, on all cores.

For each piece that was distilled the student's folder gets

    distilled.GROUP.NNN    sources with the teacher's outputs, without the bad ones
    original.GROUP.NNN     the same sources with their references
    copied.GROUP.NNN       some of the distilled pairs with other numbers, names and addresses

with .align files beside all distilled and copied ones and the originals of the groups that the
recipe repeats; the head's folder gets

    own.GROUP.NNN          sources with the student's own outputs
    fragments.GROUP.NNN    phrases cut out of distilled pairs, some in lower case
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline.corpora.aligner import open_aligner
from pipeline.corpora.numbering import number_lines
from pipeline.distil.choosing import files_of
from pipeline.text.copies import copies
from pipeline.text.fragments import fragments
from pipeline.text.refusals import refused_by
from pipeline.tools import each, read_text_lines
from sieve.data.alignments import read_pharaoh, write_pharaoh
from sieve.data.corpus import Corpus
from sieve.files import write_json

WORST = 0.02  # share of outputs, those with the lowest mean log-probability, that are left out


@dataclass(frozen=True)
class Job:
    """What a process is told."""

    work: Path
    source: str
    target: str
    tokenizer: Path
    aligner: Path
    turned: bool
    """The aligner's first language is the target."""
    aligned: tuple[str, ...]
    """Groups whose originals are aligned."""
    piece: int = 0

    @property
    def direction(self) -> str:
        """As in the names of files."""
        return f"{self.source}-{self.target}"

    @property
    def for_student(self) -> Path:
        """Corpora of the student's run."""
        return self.work / f"corpora.{self.direction}"

    @property
    def for_head(self) -> Path:
        """Corpora that only the head sees."""
        return self.work / f"head-corpora.{self.direction}"

    def output(self, kind: str) -> Path:
        """What the teacher ("distilled") or the student ("own") wrote for the piece."""
        return self.work / f"{kind}.{self.direction}" / f"{self.piece:03d}.{self.target}"


Lines = list[str]
Scores = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Part:
    """The lines of a group in a piece."""

    group: str
    sources: Lines
    references: Lines
    places: list[int]
    """Where they are in the piece."""


def read_scores(output: Path) -> Scores:
    """Of each line of a piece's outputs; all the same where they did not come along."""
    path = Path(f"{output}.scores.npy")
    if not path.exists():
        return np.zeros(len(read_text_lines(output)), np.float32)
    scores: Scores = np.maximum(np.load(path).astype(np.float32), -100.0)
    return scores


def good_pairs(
    sources: Lines, outputs: Lines, references: Lines, scores: Scores, floor: float
) -> tuple[Lines, Lines, Counter[str]]:
    """Sources and outputs to learn from, and how many each rule refused."""
    kept: tuple[Lines, Lines] = ([], [])
    refused: Counter[str] = Counter()
    ratio = sum(map(len, outputs)) / max(1, sum(map(len, sources)))
    rows = zip(sources, outputs, references, scores.tolist(), strict=True)
    for source, output, reference, score in rows:
        rule = refused_by(source, output, reference, ratio)
        rule = rule or ("score" if score < floor else None)
        if rule:
            refused[rule] += 1
        else:
            kept[0].append(source)
            kept[1].append(output)
    return (*kept, refused)


def number(job: Job, corpus: Path, sides: tuple[Lines, Lines], aligned: bool) -> int:
    """One corpus, and its alignments; what is there already stays."""
    links_file = corpus.with_name(f"{corpus.name}.align")
    if (corpus / "corpus.json").exists() and (links_file.exists() or not aligned):
        return Corpus.open(corpus).num_pairs
    if not sides[0]:
        return 0
    number_lines(corpus, sides, (job.source, job.target), job.tokenizer)
    opened = Corpus.open(corpus)
    if aligned:
        write_pharaoh(links_file, open_aligner(job.aligner, job.turned).align(opened))
    return opened.num_pairs


def number_distilled(job: Job) -> None:
    """The student's corpora of a piece."""
    counts: dict[str, int] = {}
    refused: Counter[str] = Counter()
    output = job.output("distilled")
    lines, scores = read_text_lines(output), read_scores(output)
    floor = float(np.quantile(scores, WORST))
    for part in parts(job):
        *pair, bad = _good(part, lines, scores, floor)
        sides = (pair[0], pair[1])
        refused += bad
        numbered = {
            "distilled": (sides, True),
            "copied": (copies(*sides, job.piece), True),
            "original": ((part.sources, part.references), part.group in job.aligned),
        }
        for kind, (pairs, aligned) in numbered.items():
            corpus = job.for_student / f"{kind}.{part.group}.{job.piece:03d}"
            counts[f"{kind}.{part.group}"] = number(job, corpus, pairs, aligned)
    _done(job, job.for_student, {**counts, "refused": dict(refused)})


def number_own(job: Job) -> None:
    """The head's corpora of a piece that the student translated itself."""
    counts: dict[str, int] = {}
    output = job.output("own")
    lines, scores = read_text_lines(output), read_scores(output)
    for part in parts(job):
        sources, outputs, _ = _good(part, lines, scores, -math.inf)
        corpus = job.for_head / f"own.{part.group}.{job.piece:03d}"
        counts[f"own.{part.group}"] = number(job, corpus, (sources, outputs), aligned=False)
        counts[f"fragments.{part.group}"] = number_fragments(job, part.group)
    _done(job, job.for_head, counts)


def number_fragments(job: Job, group: str) -> int:
    """Phrases from the distilled pairs of a group, if there are any."""
    corpus = job.for_student / f"distilled.{group}.{job.piece:03d}"
    if not (corpus / "corpus.json").exists():
        return 0
    links = read_pharaoh(corpus.with_name(f"{corpus.name}.align"))
    phrases = fragments(Corpus.open(corpus), links, job.piece)
    return number(job, job.for_head / f"fragments.{group}.{job.piece:03d}", phrases, aligned=False)


def parts(job: Job) -> Iterable[Part]:
    """The groups of a piece, in the order in which they make it up."""
    start = 0
    for path in files_of(job.work / "text", job.piece, job.source):
        sources = read_text_lines(path)
        references = read_text_lines(path.with_suffix(f".{job.target}"))
        places = list(range(start, start + len(sources)))
        yield Part(path.name.split(".")[0], sources, references, places)
        start += len(sources)


def _good(
    part: Part, lines: Lines, scores: Scores, floor: float
) -> tuple[Lines, Lines, Counter[str]]:
    outputs = [lines[place] for place in part.places]
    return good_pairs(part.sources, outputs, part.references, scores[part.places], floor)


def _note(job: Job, folder: Path) -> Path:
    return folder / ".done" / f"{job.piece:03d}.json"


def _done(job: Job, folder: Path, counts: dict[str, object] | dict[str, int]) -> None:
    _note(job, folder).parent.mkdir(parents=True, exist_ok=True)
    write_json(_note(job, folder), counts)


def number_all(job: Job, kind: str, jobs: int) -> None:
    """Numbers all pieces that the teacher ("distilled") or the student ("own") has written."""
    work, folder = {
        "distilled": (number_distilled, job.for_student),
        "own": (number_own, job.for_head),
    }[kind]
    written = sorted(job.output(kind).parent.glob(f"???.{job.target}"))
    pieces = [replace(job, piece=int(path.name.split(".")[0])) for path in written]
    for _ in each(work, [piece for piece in pieces if not _note(piece, folder).exists()], jobs):
        pass
