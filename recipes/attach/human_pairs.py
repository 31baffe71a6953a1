"""Pairs that people translated, from Debian packages: English and one other language.

    python recipes/attach/human_pairs.py fr PACKAGES work/attach/human

PACKAGES is a folder of .deb files (`apt-get download wesnoth-1.16-data freeciv-data git …`): their
catalogues of messages (.mo) are read. Files `Translation-en.*` and `Translation-fr.*` beside them,
from a mirror's `dists/bookworm/main/i18n`, add descriptions of packages. Writes OUTPUT.en and
OUTPUT.fr, distinct pairs; `sieve prepare` cleans them.
"""

import argparse
import bz2
import gettext
import io
import lzma
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

Pair = tuple[str, str]
LONGEST = 400
"""Characters of a side."""
_FORMAT = re.compile(r"[%$]\(?\w*\)?[-0-9.]*[a-zA-Z]|<[^>]*>|[_&](?=\w)")


def messages(package: Path, language: str) -> Iterator[Pair]:
    """Of all catalogues of a package."""
    unpacked = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", package], capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(unpacked.stdout)) as archive:
        for member in archive:
            if not (member.isfile() and member.name.endswith(".mo")):
                continue
            file = archive.extractfile(member)
            if f"/{language}/" in member.name and file is not None:
                yield from catalogue(file.read())


def catalogue(data: bytes) -> Iterator[Pair]:
    """Message by message, without the context that stands before some."""
    try:
        found = gettext.GNUTranslations(io.BytesIO(data))
    except (OSError, UnicodeDecodeError, ValueError):
        return
    for key, value in found._catalog.items():  # type: ignore[attr-defined]
        if isinstance(key, str) and key:
            yield key.rpartition("\x04")[2], value


def descriptions(path: Path, language: str) -> dict[tuple[str, str], list[str]]:
    """Paragraphs of the description of each package and state of its English text."""
    unpack = bz2.decompress if path.suffix == ".bz2" else lzma.decompress
    stanzas = unpack(path.read_bytes()).decode().split("\n\n")
    texts = {}
    for stanza in stanzas:
        fields = dict(re.findall(r"^(\S+): (.*(?:\n .*)*)", stanza, re.MULTILINE))
        text = fields.get(f"Description-{language}")
        if text is not None:
            title, *rest = re.split(r"\n \.?(?=\n|$)|\n", text, maxsplit=1)
            parts = re.split(r"\n \.\n", "\n" + "".join(rest))
            key = fields.get("Package", ""), fields.get("Description-md5", "")
            texts[key] = [title, *(" ".join(part.split()) for part in parts)]
    return texts


def described(folder: Path, language: str) -> Iterator[Pair]:
    """Descriptions paragraph by paragraph, where both sides have as many."""
    sides = []
    for code in ("en", language):
        texts: dict[tuple[str, str], list[str]] = {}
        for path in sorted(folder.glob(f"*Translation-{code}.*")):
            texts |= descriptions(path, code)
        sides.append(texts)
    for key in sides[0].keys() & sides[1].keys():
        source, target = (side[key] for side in sides)
        if len(source) == len(target):
            yield from zip(source, target, strict=True)


def plain(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Pairs on one line each, without format directives, tags and marks of shortcuts."""
    for pair in pairs:
        source, target = (" ".join(_FORMAT.sub(" ", side).split()) for side in pair)
        if source != target and 3 <= len(source) <= LONGEST and 3 <= len(target) <= LONGEST:
            yield source, target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("language")
    parser.add_argument("packages", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    distinct = dict.fromkeys(plain(described(arguments.packages, arguments.language)))
    for package in sorted(arguments.packages.glob("*.deb")):
        distinct |= dict.fromkeys(plain(messages(package, arguments.language)))
        print(f"{package.name}: {len(distinct)} pairs so far", flush=True)
    for place, code in enumerate(("en", arguments.language)):
        path = arguments.output.with_name(f"{arguments.output.name}.{code}")
        path.write_text("".join(f"{pair[place]}\n" for pair in distinct), encoding="utf-8")


if __name__ == "__main__":
    main()
