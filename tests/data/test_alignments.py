# private: blocks as small as a test's file

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.data import alignments
from sieve.data.alignments import read_pharaoh, write_pharaoh
from sieve.errors import InputError

link_lists = st.lists(st.lists(st.tuples(st.integers(0, 32767), st.integers(0, 99)), max_size=5))


def write(directory: Path, content: str | bytes) -> Path:
    path = directory / "links.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path) -> list[list[list[int]]]:
    found = read_pharaoh(path)
    return [found.links(pair).tolist() for pair in range(len(found))]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", []),
        ("0-0 1-2\n", [[[0, 0], [1, 2]]]),
        ("0-0 1-2", [[[0, 0], [1, 2]]]),
        ("\n3-14\n\n", [[], [[3, 14]], []]),
        (" 0-1  2-0 \r\n5-5\n", [[[0, 1], [2, 0]], [[5, 5]]]),
        ("0-1\t2-0\n", [[[0, 1], [2, 0]]]),
    ],
)
def test_read(tmp_path: Path, content: str, expected: list[list[list[int]]]) -> None:
    assert read(write(tmp_path, content)) == expected


@settings(deadline=None)
@given(link_lists)
def test_round_trip_across_blocks(links: list[list[tuple[int, int]]]) -> None:
    with (
        tempfile.TemporaryDirectory() as directory,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(alignments, "_BLOCK", 16)
        text = "".join(" ".join(f"{s}-{t}" for s, t in pair) + "\n" for pair in links)
        path = write(Path(directory), text)
        found = read_pharaoh(path)
        assert [found.links(i).tolist() for i in range(len(found))] == [
            [list(link) for link in pair] for pair in links
        ]
        write_pharaoh(path, found)
        assert path.read_text() == text


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("0-0 1", "1"),
        ("0-0 1-", "1-"),
        ("-3", "-3"),
        ("1-2-3", "1-2-3"),
        ("1--2", "1--2"),
        ("1 -2", "1"),
        ("1p2", "1p2"),
        ("the cat", "the"),
        ("0-99999", "0-99999"),
        ("0-123456789123456789", "0-123456789123456789"),
    ],
)
def test_a_bad_line_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, shown: str
) -> None:
    path = write(tmp_path, "0-0\n\n7-8 9-9\n" + line + "\n0-0\n")
    for block in (1 << 24, 4):  # the line number counts over blocks
        monkeypatch.setattr(alignments, "_BLOCK", block)
        with pytest.raises(InputError, match=f"links.txt: line 4: got '{shown}', expected links"):
            read_pharaoh(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.txt: cannot be read: No such file"):
        read_pharaoh(tmp_path / "none.txt")


def test_check_against_the_corpus(tmp_path: Path) -> None:
    found = read_pharaoh(write(tmp_path, "0-0 1-1\n0-2\n"))
    found.check(np.array([2, 1]), np.array([2, 3]), "links.txt")
    with pytest.raises(InputError, match=r"links.txt: got 2 lines, expected 3, one for each pair"):
        found.check(np.array([2, 1, 1]), np.array([2, 3, 3]), "links.txt")
    with pytest.raises(
        InputError, match=r"links.txt: line 2: link 0-2 lies outside the pair of 1 and 2 tokens"
    ):
        found.check(np.array([2, 1]), np.array([2, 2]), "links.txt")


def test_slice(tmp_path: Path) -> None:
    found = read_pharaoh(write(tmp_path, "0-0 1-1\n\n0-2 3-3\n4-4\n")).slice(1, 3)
    assert [found.links(i).tolist() for i in range(len(found))] == [[], [[0, 2], [3, 3]]]


def test_many_lines(tmp_path: Path) -> None:
    line = " ".join(f"{i}-{i + 1}" for i in range(25)) + "\n"
    path = write(tmp_path, line * 100_000)
    found = read_pharaoh(path)
    assert len(found) == 100_000
    assert found.links(99_999).tolist() == [[i, i + 1] for i in range(25)]
