"""Real documents through translators that copy: what comes back must be what went in.

    python benchmarks/document_round_trips.py --files DIRECTORY…    # also: what it fetches itself

Reads documents in the given directories and those in the source packages of Python libraries, which
pip fetches; nothing of them is kept. A copier must give back every part byte for byte. A translator
that swaps capitals, used twice, changes every paragraph on its way; its parts must hold the same
letters, though a word may have moved to the mark it belongs to. Writes document_round_trips.json.
"""

import argparse
import collections
import hashlib
import html
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from echo import echo, swapped  # noqa: E402

from sieve.documents import FORMATS, translate_bytes  # noqa: E402
from sieve.errors import SieveError  # noqa: E402
from sieve.files import write_json  # noqa: E402
from sieve.tokenize.normalize import normalize  # noqa: E402
from sieve.translate.translator import Translator  # noqa: E402

PACKAGES = ["python-docx", "python-pptx", "openpyxl", "docx2python", "odfdo", "xlsx2csv", "tablib"]
KINDS = ("docx", "pptx", "xlsx", "odt", "odp", "ods", "epub")
SUFFIXES = {suffix: name for name in KINDS for suffix in FORMATS[name].suffixes}
TAG = re.compile(r"<[^>]*>")
UNSEEN = re.compile(r"[\s\xad]")
Found = Iterator[tuple[str, bytes]]


def in_directories(directories: list[Path]) -> Found:
    for directory in directories:
        for path in sorted(directory.rglob("*")):
            if path.is_file() and path.suffix.lower() in SUFFIXES:
                yield path.name, path.read_bytes()


def in_packages(packages: list[str]) -> Found:
    with tempfile.TemporaryDirectory() as scratch:
        for package in packages:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command += ["--no-build-isolation", "--no-binary", ":all:", "--dest", scratch, package]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{package}: not to be had, skipped")
        for path in sorted(Path(scratch).glob("*.tar.gz")):
            with tarfile.open(path) as archive:
                for entry in archive:
                    if PurePosixPath(entry.name).suffix.lower() in SUFFIXES and entry.isfile():
                        file = archive.extractfile(entry)
                        assert file is not None
                        yield PurePosixPath(entry.name).name, file.read()


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def text_of(part: bytes) -> str:
    plain = html.unescape(TAG.sub(" ", part.decode("utf-8", errors="replace")))
    return "".join(sorted(UNSEEN.sub("", normalize(plain))))  # words may have moved to their marks


def outcome(data: bytes, name: str, kind: str, by: tuple[Translator, Translator]) -> str:
    copier, swapper = by
    try:
        once = translate_bytes(copier, data, name, kind)
        twice = translate_bytes(swapper, translate_bytes(swapper, data, name, kind), name, kind)
    except SieveError:
        return "refused"
    before = parts(data)
    if parts(once) != before:
        return "changed"
    after = parts(twice)
    same = all(
        before[part] == after[part] or text_of(before[part]) == text_of(after[part])
        for part in before
    )
    return "same" if same else "texts_differ"


def measured(documents: Found) -> dict[str, Any]:
    counts: dict[str, collections.Counter[str]] = {kind: collections.Counter() for kind in KINDS}
    by, seen = (echo(), echo(swapped)), set[bytes]()
    for name, data in documents:
        digest = hashlib.sha256(data).digest()
        if digest in seen:
            continue
        seen.add(digest)
        kind = SUFFIXES[PurePosixPath(name).suffix.lower()]
        answer = outcome(data, name, kind, by)
        counts[kind][answer] += 1
        if answer not in ("same", "refused"):
            print(f"{name}: {answer}")
    names = ("same", "texts_differ", "changed", "refused")
    return {kind: {name: counts[kind][name] for name in names} for kind in KINDS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=Path, nargs="*", default=[], metavar="DIRECTORY")
    parser.add_argument("--no-packages", action="store_true", help="fetch nothing")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "docs" / "results" / "document_round_trips.json"
    )
    arguments = parser.parse_args()

    def documents() -> Found:
        yield from in_directories(arguments.files)
        if not arguments.no_packages:
            yield from in_packages(PACKAGES)

    results = measured(documents())
    for kind, counts in results.items():
        print(kind, counts)
    command = "python benchmarks/document_round_trips.py --files …"
    write_json(arguments.output, {"command": command, "formats": results})


if __name__ == "__main__":
    main()
