"""Jobs from inputs to outputs: nothing is lost, mixed or half-written, whatever ends a run."""

import bz2
import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sieve.bulk.bulk_job import BulkJob, BulkOptions
from sieve.bulk.cells import CellTranslator, ModelUse, PieceAccount
from sieve.bulk.piece_store import changes, finished_piece
from sieve.bulk.planning import PendingPieces, Shard
from sieve.bulk.rows import row_pieces
from sieve.bulk.rows.row_formats import RowOptions
from sieve.bulk.rows.row_pieces import Cell
from sieve.errors import ConfigError, InputError
from sieve.translate.translation import Request


class Shouting:
    """Gives every text in capitals; dies after some pieces."""

    def __init__(self, most: int = 10**9) -> None:
        self.most = most
        self.texts: list[str] = []

    def __enter__(self) -> "Shouting":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def run(self, pending: PendingPieces) -> Iterator[tuple[str, bytes]]:
        for number, (key, texts) in enumerate(pending):
            if number == self.most:
                raise KeyboardInterrupt
            self.texts += texts
            cells = [Cell(text.upper(), -1.0, 2, 0.5) for text in texts]
            yield key, finished_piece(cells, PieceAccount(len(cells), 0, 3, 4, 0.5))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_pieces, "PIECE_ROWS", 3)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Text in four compressions, in a tree with what is no input."""
    root = tmp_path / "corpus"
    (root / "inner" / ".hidden").mkdir(parents=True)
    lines = [f"line {number % 7}\n".encode() for number in range(20)]
    lines[4] = b"\n"
    (root / "a.txt").write_bytes(b"".join(lines))
    (root / "b.txt.gz").write_bytes(gzip.compress(b"".join(lines[1:])))
    (root / "c.bz2").write_bytes(bz2.compress(b"".join(lines[2:6]) + b"end"))
    (root / "inner" / "d.zst").write_bytes(zstandard.compress(b"".join(lines)))
    (root / "inner" / "empty.txt").write_bytes(b"")
    (root / "inner" / ".hidden" / "e.txt").write_bytes(b"e")
    (root / "_SUCCESS").write_bytes(b"")
    return root


OPEN: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


def contents(directory: Path) -> dict[str, bytes]:
    """What the files of a tree hold, decompressed."""
    return {
        path.relative_to(directory).as_posix(): OPEN.get(path.suffix, bytes)(path.read_bytes())
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }


def test_every_file_has_an_output_of_its_kind(corpus: Path, use: ModelUse, tmp_path: Path) -> None:
    options = BulkOptions((str(corpus),), tmp_path / "out")
    manifest = BulkJob(options, use).run(Shouting())
    inputs = {
        name: data
        for name, data in contents(corpus).items()
        if not name.startswith(("_", "inner/."))
    }
    inputs["c.bz2"] += b"\n"
    assert contents(tmp_path / "out") == {name: data.upper() for name, data in inputs.items()}
    assert manifest is not None
    assert manifest["rows"] == sum(data.count(b"\n") for data in inputs.values())
    assert json.loads((tmp_path / "out" / "manifest.json").read_text()) == manifest
    pieces = manifest["pieces"]  # those of d.zst, which equal those of a.txt, count once
    assert pieces == 12
    assert manifest["tokens"] == {"source": 3 * pieces, "target": 4 * pieces}
    assert manifest["errors"] == 0 and not (tmp_path / "out" / ".pieces").exists()
    assert oct((tmp_path / "out" / "a.txt").stat().st_mode & 0o077) == oct(
        0o066 & ~_umask() & 0o077
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_the_same_input_gives_the_same_bytes(corpus: Path, use: ModelUse, tmp_path: Path) -> None:
    for name in ("1", "2"):
        BulkJob(BulkOptions((str(corpus),), tmp_path / name), use).run(Shouting())
    for path in (tmp_path / "1").rglob("*"):
        if path.is_file() and path.name != "manifest.json":
            assert (
                path.read_bytes()
                == (tmp_path / "2" / path.relative_to(tmp_path / "1")).read_bytes()
            )


@pytest.mark.parametrize("deduplicate", [False, True])
def test_killed_again_and_again(
    corpus: Path, use: ModelUse, tmp_path: Path, deduplicate: bool
) -> None:
    whole = BulkOptions((str(corpus),), tmp_path / "whole", deduplicate=deduplicate)
    first = BulkJob(whole, use).run(Shouting())
    options = replace(whole, output=tmp_path / "out", resume=True)
    texts: list[str] = []
    for _ in range(20):
        runner = Shouting(1)
        try:
            last = BulkJob(options, use).run(runner)
            break
        except KeyboardInterrupt:
            texts += runner.texts
            assert not (tmp_path / "out" / "a.txt").exists()
    texts += runner.texts
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert first is not None and last is not None
    assert first["tokens"] == last["tokens"] and first["plan"] == last["plan"]
    assert len(texts) == first["translated"]  # no piece twice
    assert BulkJob(options, use).run(Shouting(0)) == last  # complete: nothing is translated
    if deduplicate:
        assert sorted(texts) == sorted({"", *(f"line {number}" for number in range(7)), "end"})


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from("abcdefghä "), max_size=12), min_size=1, max_size=3))
def test_duplicates_change_nothing_in_the_output(
    tmp_path_factory: pytest.TempPathFactory, use: ModelUse, files: list[list[str]]
) -> None:
    root = tmp_path_factory.mktemp("duplicates")
    (root / "in").mkdir()
    for number, lines in enumerate(files):
        rows = [json.dumps({"t": line, "u": "a"} if line != " " else {}) for line in lines]
        (root / "in" / f"{number}.jsonl").write_text("".join(f"{row}\n" for row in rows))
    runners = Shouting(), Shouting()
    for name, runner in zip(("plain", "once"), runners, strict=True):
        options = BulkOptions(
            (str(root / "in"),),
            root / name,
            rows=RowOptions(columns=("t", "u")),
            deduplicate=name == "once",
        )
        BulkJob(options, use).run(runner)
    assert contents(root / "once") == contents(root / "plain")
    assert len(runners[1].texts) == len(set(runners[0].texts)) == len(set(runners[1].texts))


def test_shards_share_a_directory(corpus: Path, use: ModelUse, tmp_path: Path) -> None:
    (corpus / "inner" / "d.zst").write_bytes(zstandard.compress(b"other\n" * 20))
    BulkJob(BulkOptions((str(corpus),), tmp_path / "whole"), use).run(Shouting())
    for number in (2, 3, 1):
        options = BulkOptions((str(corpus),), tmp_path / "out", resume=True, shard=Shard(number, 3))
        manifest = BulkJob(options, use).run(Shouting())
        assert (manifest is None) == (number != 1)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@given(st.integers(0, 40), st.integers(1, 6))
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_shards_of_a_file_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, use: ModelUse, lines: int, shards: int
) -> None:
    root = tmp_path_factory.mktemp("shards")
    text = "".join(f"line {number}\n" for number in range(lines))
    (root / "in.txt").write_text(text)
    parts = []
    for number in range(1, shards + 1):
        options = BulkOptions(
            (str(root / "in.txt"),), root / f"{number}.gz", True, shard=Shard(number, shards)
        )
        BulkJob(options, use).run(Shouting())
        parts.append(gzip.decompress((root / f"{number}.gz").read_bytes()))
    assert b"".join(parts).decode() == text.upper()


def test_an_error_is_listed_with_its_row(use: ModelUse, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"t": "a"}\n' * 4 + "no\n" + '{"t": 1}\n')
    rows = RowOptions(columns=("t",))
    manifest = BulkJob(
        BulkOptions((str(tmp_path / "x.jsonl"),), tmp_path / "out", rows=rows), use
    ).run(Shouting())
    assert manifest is not None and manifest["errors"] == 2
    (file,) = manifest["files"]
    assert [each["row"] for each in file["listed"]] == [5, 6]
    assert "got int, expected a string" in file["listed"][1]["error"]


def test_pieces_of_another_run_are_refused(corpus: Path, use: ModelUse, tmp_path: Path) -> None:
    options = BulkOptions((str(corpus),), tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        BulkJob(options, use).run(Shouting(1))
    with pytest.raises(InputError, match="has pieces of an earlier run; --resume continues it"):
        BulkJob(options, use)
    other = replace(use, request=Request("none"))
    with pytest.raises(InputError, match=r"pieces of a run with another selection; choose another"):
        BulkJob(replace(options, resume=True), other)
    BulkJob(replace(options, resume=True), use).run(Shouting())
    with pytest.raises(InputError, match=r"a\.txt: is there already; --resume continues"):
        BulkJob(options, use)
    BulkJob(replace(options, resume=True), use)
    with pytest.raises(InputError, match=r"manifest\.json: is of a run with another selection;"):
        BulkJob(replace(options, resume=True), other)
    (tmp_path / "out" / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match=r"manifest\.json: is of something else; choose another"):
        BulkJob(replace(options, resume=True), use)


def test_what_is_another_is_named_by_itself() -> None:
    before = {"rows": {"format": None, "columns": ["a"]}, "prefix": "", "d": 1, "e": 1, "f": 1}
    assert changes(before, {**before, "rows": {"format": None, "columns": ("a",)}}) == []
    assert changes(before, {**before, "rows": {"format": "tsv", "columns": ["a"]}}) == ["format"]
    assert changes(before, {"prefix": "x"}) == ["d", "e", "f", "…"]


def test_a_file_that_changes_meanwhile_is_told(use: ModelUse, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("a\n" * 10)

    class Changing(Shouting):
        def run(self, pending: PendingPieces) -> Iterator[tuple[str, bytes]]:
            yield from super().run(pending)
            path.write_text("b\n" * 10)

    with pytest.raises(InputError, match="has changed since the run began"):
        BulkJob(BulkOptions((str(path),), tmp_path / "out"), use).run(Changing())
    assert not (tmp_path / "out" / "in.txt").exists()


def test_pieces_that_do_not_come_back_are_told(use: ModelUse, tmp_path: Path) -> None:
    class Losing(Shouting):
        def run(self, pending: PendingPieces) -> Iterator[tuple[str, bytes]]:
            yield from list(super().run(pending))[1:]

    (tmp_path / "in.txt").write_text("a\nb\nc\nd\n")
    options = BulkOptions((str(tmp_path / "in.txt"),), tmp_path / "out")
    with pytest.raises(InputError, match="1 pieces did not come back; --resume tries again"):
        BulkJob(options, use).run(Losing())
    assert not (tmp_path / "out" / "in.txt").exists()
    BulkJob(replace(options, resume=True), use).run(Shouting())
    assert (tmp_path / "out" / "in.txt").read_text() == "A\nB\nC\nD\n"


def test_what_cannot_be_done_is_said_before_anything_is_written(
    corpus: Path, use: ModelUse, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    cases: list[tuple[BulkOptions, str]] = [
        (BulkOptions((str(tmp_path / "no"),), out), "no: no such file or directory"),
        (BulkOptions((str(tmp_path / "*.no"),), out), r"\*\.no: got no file"),
        (
            BulkOptions((str(corpus / "a.txt"), str(corpus / "inner" / "..")), out),
            "common directory",
        ),
        (BulkOptions((str(corpus / "a.txt"),), corpus), "is also an input"),
        (BulkOptions((str(corpus / "a.txt"),), corpus / "a.txt"), "expected a directory"),
        (BulkOptions((str(corpus),), out, rows=RowOptions("tsv")), "requires --columns"),
    ]
    (tmp_path / "bad.txt").write_bytes(b"a\nb\xff\n")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"abc" * 1000)[:-20])
    late = [
        (BulkOptions((str(tmp_path / "bad.txt"),), out), r"bad\.txt, line 2: not valid UTF-8"),
        (BulkOptions((str(tmp_path / "cut.gz"),), out), r"cut\.gz: cannot be read: .*cut off"),
        (
            BulkOptions((str(corpus / "a.txt"),), out, rows=RowOptions("tsv", ("2",))),
            "got 1 columns, expected a column 2",
        ),
    ]
    for options, message in cases:
        with pytest.raises((InputError, ConfigError), match=message):
            BulkJob(options, use)
    for options, message in late:
        with pytest.raises(InputError, match=message):
            BulkJob(options, use).run(Shouting())
    with pytest.raises(ConfigError, match="--shard: got '4/3', expected one of N as K/N"):
        Shard.parse("4/3")
    assert not out.exists() and not list(tmp_path.glob(".sieve*"))


def test_a_damaged_piece_is_told(corpus: Path, use: ModelUse, tmp_path: Path) -> None:
    options = BulkOptions((str(corpus),), tmp_path / "out", resume=True)
    with pytest.raises(KeyboardInterrupt):
        BulkJob(options, use).run(Shouting(2))
    path = next((tmp_path / "out" / ".pieces").glob("*/*.jsonl"))
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(Exception, match=r"damaged; remove it and resume the run"):
        BulkJob(options, use).run(Shouting())


def test_memory_of_a_translator_is_not_needed_to_check(use: ModelUse) -> None:
    """The check of the model closes it again: a driver of a large model keeps none."""
    assert CellTranslator(use).translate(["bda"])[1].cells == 1
