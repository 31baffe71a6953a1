"""Text of one language from another pair, for one that has little: the teacher adds the other.

`take` puts lines of other collections together, without those of this
pair's test sets, and a line that occurs twice only once. They become pieces of the text that have
one language. `turn`, once the teacher has translated them from that language, makes pairs of the
other direction of them: what the teacher wrote becomes the source, the text that people wrote the
target. Both directions are then found as all other text is.
"""

import bz2
from collections.abc import Sequence
from pathlib import Path

from pipeline.distil.choosing import lines_of
from pipeline.recipe import Recipe
from pipeline.text.collect import test_hashes
from sieve.data.cleaning import sentence_hash
from sieve.data.reading import read_lines
from sieve.errors import InputError
from sieve.files import whole_file
from sieve.tokenize.normalize import normalize

GROUP = "borrowed"


def take(pair: Recipe, data: Path, files: Sequence[Path], output: Path) -> int:
    """Writes the lines that may be borrowed; returns how many."""
    seen = set(test_hashes(pair, data))
    output.parent.mkdir(parents=True, exist_ok=True)
    number = 0
    with (
        whole_file(output) as partial,
        bz2.open(partial, "wt", encoding="utf-8", newline="\n") as packed,
    ):
        for line in (normalize(line) for file in files for line in read_lines(file)):
            mark = sentence_hash(line)
            if line and mark not in seen:
                seen.add(mark)
                packed.write(f"{line}\n")
                number += 1
    return number


def turn(work: Path, source: str, target: str) -> list[int]:
    """Makes pairs of the other direction; returns the pieces."""
    turned = []
    back = work / f"distilled.{target}-{source}"
    back.mkdir(parents=True, exist_ok=True)
    for output in sorted((work / f"distilled.{source}-{target}").glob(f"???.{target}")):
        piece = int(output.name.split(".")[0])
        folder = work / "text" / f"{piece:03d}"
        if (folder / f"{GROUP}.{source}").exists() and not (folder / f"{GROUP}.{target}").exists():
            written = output.read_text(encoding="utf-8")
            lines = lines_of(work / "text", piece, source)
            if written.count("\n") != len(lines):
                raise InputError(
                    f"{output}: got {written.count(chr(10))} lines, expected {len(lines)}, as many "
                    f"as {folder} has: distil the piece again"
                )
            (folder / f"{GROUP}.{target}").write_text(written, encoding="utf-8")
            text = "".join(f"{line}\n" for line in lines)
            (back / f"{piece:03d}.{source}").write_text(text, encoding="utf-8")
            turned.append(piece)
    return turned
