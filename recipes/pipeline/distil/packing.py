"""Distilled text packed for a small transfer, and back.

Pieces are even samples of the text; packed, their lines lie in the text's own order again, where
neighbours are alike and bzip2 does best. OUTPUT gets distilled-en-de.000 and on, at most 15.7 MiB
each: a tar file with PART.GROUP.bz2 and pieces.json, cut. `unpack` needs the pieces of the source
text in WORK/text (stage `cut`) to know which lines belong to which piece.
"""

import bz2
import io
import json
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

from pipeline.tools import read_text_lines, write_lines

SIZE = 157 * 2**20 // 10
NOTE = "pieces.json"
Lines = list[str]


def in_order(pieces: list[Lines]) -> Iterator[str]:
    """Line 0 of each piece, line 1 of each, and so on."""
    for lines in zip_longest(*pieces):
        yield from (line for line in lines if line is not None)


def dealt(lines: Lines, lengths: list[int]) -> list[Lines]:
    """The pieces again."""
    pieces: list[Lines] = [[] for _ in lengths]
    stream = iter(lines)
    for number in range(max(lengths, default=0)):
        for piece, length in zip(pieces, lengths, strict=True):
            if number < length:
                piece.append(next(stream))
    return pieces


def source_lengths(work: Path, piece: str, language: str) -> dict[str, int]:
    """Lines of each file of a piece, in their order."""
    files = sorted((work / "text" / piece).glob(f"*.{language}"))
    return {path.name.split(".")[0]: len(read_text_lines(path)) for path in files}


def pack(work: Path, direction: str, output: Path) -> None:
    source, target = direction.split("-")
    names = sorted(
        path.name.split(".")[0] for path in (work / f"distilled.{direction}").glob(f"???.{target}")
    )
    groups: dict[str, list[Lines]] = {}
    note: dict[str, list[str]] = {}
    for name in names:
        lines = read_text_lines(work / f"distilled.{direction}" / f"{name}.{target}")
        start = 0
        for group, length in source_lengths(work, name, source).items():
            key = f"part{name[0]}.{group}"
            groups.setdefault(key, []).append(lines[start : start + length])
            note.setdefault(key, []).append(name)
            start += length
    texts = ["".join(f"{x}\n" for x in in_order(pieces)).encode() for pieces in groups.values()]
    whole = io.BytesIO()
    with ThreadPoolExecutor() as threads, tarfile.open(fileobj=whole, mode="w") as tar:
        for key, data in zip(groups, threads.map(bz2.compress, texts), strict=True):
            _add(tar, f"{key}.bz2", data)
        _add(tar, NOTE, json.dumps(note).encode())
    output.mkdir(parents=True, exist_ok=True)
    data = whole.getvalue()
    for number, first in enumerate(range(0, len(data), SIZE)):
        path = output / f"distilled-{direction}.{number:03d}"
        path.write_bytes(data[first : first + SIZE])


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def unpack(packed: Path, direction: str, work: Path) -> None:
    source, target = direction.split("-")
    parts = sorted(packed.glob(f"distilled-{direction}.???"))
    with tarfile.open(fileobj=io.BytesIO(b"".join(path.read_bytes() for path in parts))) as tar:
        files = {name: tar.extractfile(name).read() for name in tar.getnames()}  # type: ignore[union-attr]
    note = json.loads(files[NOTE])
    pieces: dict[str, dict[str, Lines]] = {}
    for key, names in note.items():
        group = key.split(".")[1]
        lines = bz2.decompress(files[f"{key}.bz2"]).decode().split("\n")
        lengths = [source_lengths(work, name, source)[group] for name in names]
        for name, piece in zip(names, dealt(lines[:-1], lengths), strict=True):
            pieces.setdefault(name, {})[group] = piece
    folder = work / f"distilled.{direction}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, groups in pieces.items():
        lines = [line for group in sorted(groups) for line in groups[group]]
        write_lines(folder / f"{name}.{target}", lines)
