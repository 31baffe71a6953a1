"""Clean text into numbered corpora of both directions for the teacher, on all cores.

Each part is cut into chunks, which are numbered in both directions, one process a chunk: the source
gets the tag of the language wanted. A part that arrives later is numbered then.
"""

import bz2
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.corpora.numbering import number_lines
from pipeline.recipe import Recipe
from pipeline.tools import each, read_text_lines
from sieve.files import read_json

CHUNK = 100_000


@dataclass(frozen=True)
class Chunk:
    """What a process numbers."""

    text: Path
    """Path of the chunk's text, but for language and number."""
    number: int
    direction: tuple[str, str, str]
    tokenizer: Path
    output: Path


def unpack(files: tuple[Path, Path]) -> int:
    """Cuts a compressed file into chunks of lines; returns how many."""
    source, target = files
    target.parent.mkdir(parents=True, exist_ok=True)
    with bz2.open(source, "rb") as lines:
        for number in itertools.count():
            block = b"".join(itertools.islice(lines, CHUNK))
            if not block:
                return number
            Path(f"{target}.{number:03d}").write_bytes(block)
    raise AssertionError("unreachable")


def number_chunk(chunk: Chunk) -> None:
    """One chunk in one direction."""
    source, target, tag = chunk.direction
    lines, translations = (
        read_text_lines(Path(f"{chunk.text}.{language}.{chunk.number:03d}"))
        for language in (source, target)
    )
    corpus = chunk.output / f"{chunk.text.name}.{source}-{target}.{chunk.number:03d}"
    tagged = [f"{tag} {line}" for line in lines]
    number_lines(corpus, (tagged, translations), (source, target), chunk.tokenizer)


def number_part(part: Path, pair: Recipe, output: Path, jobs: int) -> None:
    """All chunks of a part, both directions; a file `.done` says that it is complete."""
    text, corpora = output / "text" / part.name, output / "corpora" / part.name
    packed = dict(_packed(part, pair))
    both = [file for files in packed.values() for file in files]
    targets = [text / file.name.removesuffix(".bz2") for file in both]
    counts = iter(each(unpack, zip(both, targets, strict=True), jobs))
    chunks = {group: max(next(counts), next(counts)) for group in packed}
    corpora.mkdir(parents=True, exist_ok=True)
    todo = [
        Chunk(text / group, number, direction, part.parent / "tokenizer", corpora)
        for group, count in chunks.items()
        for number in range(count)
        for direction in pair.directions()
    ]
    for _ in each(number_chunk, todo, jobs):
        pass
    (corpora / ".done").touch()


def _packed(part: Path, pair: Recipe) -> Iterator[tuple[str, list[Path]]]:
    """The files of each group that has both languages; borrowed text has one."""
    for path in sorted(part.glob(f"*.{pair.languages[0]}.bz2")):
        group = path.name.split(".")[0]
        files = [part / f"{group}.{language}.bz2" for language in pair.languages]
        if files[1].exists():
            yield group, files


def number_parts(pair: Recipe, collected: Path, output: Path, jobs: int) -> None:
    """The whole stage; parts that are numbered stay."""
    for part in sorted(collected.glob("part?")):
        if not (output / "corpora" / part.name / ".done").exists():
            number_part(part, pair, output, jobs)


def teacher_data(pair: Recipe, collected: Path, output: Path) -> dict[str, object]:
    """[data] of the teacher's run: all corpora that are there."""
    corpora = sorted(path.parent for path in (output / "corpora").glob("*/*/corpus.json"))
    repeats = [pair.repeats.get(path.name.split(".")[0], 1) for path in corpora]
    pairs = sum(
        repeat * int(read_json(path / "corpus.json")["pairs"])
        for path, repeat in zip(corpora, repeats, strict=True)
    )
    print(f"{len(corpora)} corpora, {pairs} directed pairs an epoch")
    return {
        "train": [str(path) for path in corpora],
        "repeats": repeats,
        "valid_src": str(collected / "test" / "valid.src"),
        "valid_tgt": str(collected / "test" / "valid.tgt"),
    }
