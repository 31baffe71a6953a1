import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sieve.data.reading import (
    Input,
    PairFiles,
    TsvFile,
    check_readable,
    decode_pairs,
    read_blocks,
    read_lines,
)
from sieve.errors import InputError

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


def pairs(*inputs: Input) -> list[tuple[str, str]]:
    result: list[tuple[str, str]] = []
    for block in read_blocks(inputs):
        source, target = decode_pairs(block)
        assert len(source) == len(target) == block.lines
        result += zip(source, target, strict=True)
    return result


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(COMPRESS[path.suffix if path.suffix in COMPRESS else ""](data))
    return path


@pytest.mark.parametrize("suffix", COMPRESS)
def test_every_compression(suffix: str, tmp_path: Path) -> None:
    lines = [(f"source {i} ä", f"Ziel {i} ß") for i in range(20_000)]
    source = write(tmp_path / f"a.en{suffix}", "".join(f"{s}\n" for s, _ in lines).encode())
    target = write(tmp_path / f"a.de{suffix}", "".join(f"{t}\n" for _, t in lines).encode())
    table = write(tmp_path / f"a.tsv{suffix}", "".join(f"{s}\t{t}\n" for s, t in lines).encode())
    assert pairs(PairFiles(source, target)) == lines
    assert pairs(TsvFile(table)) == lines
    assert len(list(read_blocks([PairFiles(source, target)]))) > 1
    assert list(read_lines(source)) == [s for s, _ in lines]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_several_streams_in_one_file(suffix: str, tmp_path: Path) -> None:
    data = COMPRESS[suffix](b"a\nb\n") + COMPRESS[suffix](b"c\n")
    (tmp_path / f"x{suffix}").write_bytes(data)
    assert list(read_lines(tmp_path / f"x{suffix}")) == ["a", "b", "c"]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("damage", ["cut", "garbled", "not compressed"])
def test_damaged_compressed_files(suffix: str, damage: str, tmp_path: Path) -> None:
    text = "".join(f"line {i * 7919 % 1000}\n" for i in range(5000)).encode()
    good = COMPRESS[suffix](text)
    middle = len(good) // 2
    bad = {
        "cut": good[:middle],
        "garbled": good[:middle] + bytes(255 - b for b in good[middle:]),
        "not compressed": text,
    }[damage]
    path = tmp_path / f"x{suffix}"
    path.write_bytes(bad)
    message = rf"x\{suffix}, after line \d+: cannot be decompressed: .*damaged or cut off\?$"
    with pytest.raises(InputError, match=message):
        list(read_lines(path))


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    text = "a\u2028b\u2029c\u0085d\x0b\x0c\x1c\x1de\r\n\n\ufeffnot a mark here\nlast"
    path = write(tmp_path / "x.en", b"\xef\xbb\xbf" + text.encode())
    assert list(read_lines(path)) == text.split("\n")
    assert len(pairs(PairFiles(path, path))) == 4


def test_files_without_text(tmp_path: Path) -> None:
    empty, mark = write(tmp_path / "e", b""), write(tmp_path / "m", b"\xef\xbb\xbf")
    assert pairs(PairFiles(empty, mark), TsvFile(empty)) == []


def test_very_long_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b"a" * 5_000_000 + b"\nb\n")
    assert [len(line) for line in read_lines(path)] == [5_000_000, 1]


@pytest.mark.parametrize("more", [0, 1])
def test_unequal_line_counts(more: int, tmp_path: Path) -> None:
    paths = [tmp_path / "x.en", tmp_path / "x.de"]
    write(paths[more], b"line\n" * 10_003)
    write(paths[1 - more], b"line\n" * 10_000)
    counts = [10_000, 10_000]
    counts[more] = 10_003
    with pytest.raises(InputError) as caught:
        pairs(PairFiles(paths[0], paths[1]))
    assert str(caught.value) == (
        f"{paths[0]} has {counts[0]} lines but {paths[1]} has {counts[1]}: "
        f"{paths[more]}, line 10001 has no partner"
    )


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"gr\xfc\xdf", "line 9001: not valid UTF-8 (byte 3 of the line is 0xfc)"),
        (b"a\x00b", "line 9001: got a NUL byte, expected text in UTF-8; is it UTF-16 or binary?"),
    ],
)
def test_bytes_that_are_not_text(bad: bytes, message: str, tmp_path: Path) -> None:
    good = write(tmp_path / "good", b"fine\n" * 9002)
    path = write(tmp_path / "bad", b"fine\n" * 9000 + bad + b"\nfine\n")
    for item in (PairFiles(good, path), PairFiles(path, good), TsvFile(path)):
        if isinstance(item, TsvFile):
            write(path, b"a\tb\n" * 9000 + bad + b"\tx\n")
        with pytest.raises(InputError) as caught:
            pairs(item)
        assert str(caught.value) == f"{path}, {message}"


@pytest.mark.parametrize(("row", "columns"), [("a", 1), ("a\tb\tc", 3)])
def test_wrong_number_of_columns(row: str, columns: int, tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", f"a\tb\n\n{row}\n".encode())
    with pytest.raises(InputError, match=f"x.tsv, line 3: got {columns} columns, expected 2"):
        pairs(TsvFile(path))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    good = write(tmp_path / "good", b"x\n")
    check_readable([PairFiles(good, good), TsvFile(good)])
    with pytest.raises(InputError, match="nothing: cannot be read: No such file or directory"):
        check_readable([TsvFile(good), PairFiles(good, tmp_path / "nothing")])
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        check_readable([TsvFile(tmp_path)])
    with pytest.raises(InputError, match="nothing: cannot be read: No such file or directory"):
        pairs(PairFiles(good, tmp_path / "nothing"))
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        pairs(TsvFile(tmp_path))


@given(
    texts=st.lists(st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]))),
    end=st.sampled_from(["", "\n"]),
)
def test_any_lines_come_back(
    texts: Sequence[str], end: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = "\n".join(texts).encode() + end.encode()
    path = tmp_path_factory.mktemp("lines") / "x.zst"
    write(path, data)
    expected = data.removeprefix(b"\xef\xbb\xbf").decode().split("\n")
    if not expected[-1]:
        expected.pop()
    assert list(read_lines(path)) == expected
