"""Pairs that people translated: what catalogues and descriptions of Debian's packages give."""

import bz2
import io
import struct
import subprocess
import tarfile
from pathlib import Path

import pytest

from attach import human_pairs


def compiled(messages: dict[str, str]) -> bytes:
    """A .mo file, as msgfmt writes it: offsets of keys and values, then both."""
    header = "Content-Type: text/plain; charset=UTF-8\n"
    pairs = sorted({"": header, **messages}.items())
    texts = [text.encode() + b"\0" for side in zip(*pairs, strict=True) for text in side]
    place, table = 28 + 8 * len(texts), b""
    for text in texts:
        table += struct.pack("<II", len(text) - 1, place)
        place += len(text)
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + table + b"".join(texts)


def test_catalogues_give_messages_without_context() -> None:
    data = compiled({"menu\x04Open": "Ouvrir", "Save %s": "Enregistrer %s"})
    assert sorted(human_pairs.catalogue(data)) == [
        ("Open", "Ouvrir"),
        ("Save %s", "Enregistrer %s"),
    ]
    assert list(human_pairs.catalogue(b"no catalogue")) == []


def test_pairs_are_one_line_without_directives() -> None:
    pairs = [("Save %s\nto <b>disk</b>", "Enregistrer %s sur le disque"), ("OK", "OK"), ("x", "y")]
    assert list(human_pairs.plain(pairs)) == [("Save to disk", "Enregistrer sur le disque")]


def test_messages_of_a_package_in_one_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    for language, text in (("fr", "Ouvrir"), ("de", "Öffnen")):
        folder = tree / "usr/share/locale" / language / "LC_MESSAGES"
        folder.mkdir(parents=True)
        (folder / "x.mo").write_bytes(compiled({"Open": text}))
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.add(tree, ".")
    unpacked = subprocess.CompletedProcess([], 0, data.getvalue())
    monkeypatch.setattr("subprocess.run", lambda *arguments, **options: unpacked)
    assert list(human_pairs.messages(Path("x.deb"), "fr")) == [("Open", "Ouvrir")]


def test_descriptions_go_together_paragraph_by_paragraph(tmp_path: Path) -> None:
    english = "Package: a\nDescription-md5: 1\nDescription-en: A game\n First\n line.\n .\n Second."
    french = "Package: a\nDescription-md5: 1\nDescription-fr: Un jeu\n La première.\n .\n L'autre."
    for language, text in (("en", english), ("fr", french)):
        (tmp_path / f"Translation-{language}.bz2").write_bytes(bz2.compress(text.encode()))
    assert list(human_pairs.described(tmp_path, "fr")) == [
        ("A game", "Un jeu"),
        ("First line.", "La première."),
        ("Second.", "L'autre."),
    ]
