"""What a model directory's files must hold: manifest.json, the SHA-256 of each.

A directory without one, as older versions wrote them, is read unchecked. Whoever writes or changes
a model directory seals it; `sieve.files.Folder` checks what is read.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sieve.errors import ModelError
from sieve.files import file_hash, is_plain, read_json, write_json

FORMAT_VERSION = 1
MANIFEST_FILE = "manifest.json"
CARD_FILE = "MODEL_CARD.md"
_DIGEST = re.compile("[0-9a-f]{64}")


def content_hashes(directory: Path) -> dict[str, str]:
    """SHA-256 of each file that translations depend on; a card says nothing to them."""
    others = (CARD_FILE, MANIFEST_FILE)
    paths = sorted(path for path in directory.iterdir() if path.is_file())
    return {path.name: file_hash(path) for path in paths if path.name not in others}


def seal(directory: Path) -> None:
    """Records what the files of a directory hold now."""
    _write(directory, content_hashes(directory))


def recorded(directory: Path) -> dict[str, str]:
    """SHA-256 of each file by its name, all of which must be there; none without a manifest."""
    path = directory / MANIFEST_FILE
    if not path.exists():
        return {}
    content = read_json(path)
    version, hashes = content.get("format_version"), content.get("files")
    if version != FORMAT_VERSION:
        raise ModelError(
            f"{path}: got format_version {version!r:.60}, this version of Sieve reads "
            f"{FORMAT_VERSION}"
        )
    if not isinstance(hashes, dict) or not all(
        is_plain(name) and isinstance(digest, str) and _DIGEST.fullmatch(digest)
        for name, digest in hashes.items()
    ):
        raise ModelError(f"{path}: damaged: expected names of files and their SHA-256")
    for name in hashes:
        if not (directory / name).is_file():
            raise ModelError(
                f"{directory}: lacks {name}, which its {MANIFEST_FILE} lists; get the model again"
            )
    return hashes


@contextmanager
def replacing(directory: Path, name: str) -> Iterator[None]:
    """A block that writes one file of a directory, sealed or not; at no time is it unreadable."""
    hashes = recorded(directory)
    if not hashes:
        yield
        return
    hashes.pop(name, None)
    _write(directory, hashes)
    yield
    _write(directory, {**hashes, name: file_hash(directory / name)})


def _write(directory: Path, hashes: dict[str, str]) -> None:
    content = {"format_version": FORMAT_VERSION, "files": dict(sorted(hashes.items()))}
    write_json(directory / MANIFEST_FILE, content)
