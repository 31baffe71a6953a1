"""Parquet through a job, here and from an address: columns, kinds and nulls stay. Needs pyarrow."""

from pathlib import Path
from typing import Any

import pytest

from sieve.bulk.bulk_job import BulkJob, BulkOptions
from sieve.bulk.cells import ModelUse
from sieve.bulk.inputs import input_files
from sieve.bulk.local_runner import LocalRunner
from sieve.bulk.rows import parquet_rows
from sieve.bulk.rows.row_formats import RowOptions
from sieve.errors import InputError
from sieve.ray import Translate

# pyarrow comes with the extra bulk, which make test-slow installs
pytestmark = pytest.mark.slow
pyarrow: Any = pytest.importorskip("pyarrow", reason="needs the extra bulk")
parquet: Any = pytest.importorskip("pyarrow.parquet", reason="needs the extra bulk")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_rows, "PIECE_ROWS", 25)


@pytest.fixture
def table(tmp_path: Path) -> Any:
    table = pyarrow.table(
        {
            "id": pyarrow.array(range(60), pyarrow.int32()),
            "text": [None if i % 7 == 0 else f"bda {i % 5}" for i in range(60)],
            "tags": [[str(i)] for i in range(60)],
        }
    )
    (tmp_path / "in").mkdir()
    parquet.write_table(table, tmp_path / "in" / "a.parquet", row_group_size=35)
    return table


def job(use: ModelUse, source: str, output: Path, **rows: Any) -> Any:
    options = BulkOptions((source,), output, rows=RowOptions(**rows))
    manifest = BulkJob(options, use).run(LocalRunner(use, 1))
    assert manifest is not None and manifest["rows"] == 60
    return parquet.read_table(output / "a.parquet")


def test_columns_follow_or_are_replaced(use: ModelUse, table: Any, tmp_path: Path) -> None:
    added = job(use, str(tmp_path / "in"), tmp_path / "out", columns=("text",))
    assert added.select(table.column_names).equals(table)
    assert added.column_names[3:] == [
        "text_translation", "text_score", "text_shortlist_size", "text_confidence", "text_error",
    ]  # fmt: skip
    batch = Translate(use.model)(table)
    assert batch.column("text_translation").equals(added.column("text_translation"))
    assert batch.column("text_score").equals(added.column("text_score"))
    assert added["text_translation"].null_count == table["text"].null_count
    placed = job(
        use, f"file://{tmp_path}/in/*.parquet", tmp_path / "b", columns=("text",), in_place=True
    )
    assert placed["text"].equals(added["text_translation"])
    assert placed.schema.equals(table.schema)


def test_addresses(table: Any, tmp_path: Path) -> None:
    (tmp_path / "in" / "_SUCCESS").touch()
    (tmp_path / "in" / "deep").mkdir()
    (tmp_path / "in" / "deep" / "b.txt").write_text("b\n")
    for place, names in {
        "in": ["a.parquet", "deep/b.txt"],
        "in/*.parquet": ["a.parquet"],
        "in/deep/b.txt": ["b.txt"],
        "i*/deep/*": ["in/deep/b.txt"],
    }.items():
        address = f"file://{tmp_path}/{place}"
        assert [file.name for file in input_files([address])] == names, place
    (file,) = input_files([f"file://{tmp_path}/in/deep/b.txt"])
    with file.open() as source:
        assert source.read() == b"b\n"
    with pytest.raises(InputError, match="nowhere: got no file"):
        input_files([f"file://{tmp_path}/nowhere"])
    with pytest.raises(InputError, match="no://x: cannot be read"):
        input_files(["no://x"])


def test_what_cannot_be_read_is_one_line(use: ModelUse, table: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown column 'txt'; did you mean 'text'"):
        job(use, str(tmp_path / "in"), tmp_path / "out", columns=("txt",))
    with pytest.raises(InputError, match="column 'id': got int32, expected strings"):
        job(use, str(tmp_path / "in"), tmp_path / "out", columns=("id",))
    path = tmp_path / "in" / "a.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read as Parquet"):
        job(use, str(tmp_path / "in"), tmp_path / "out", columns=("text",))
    assert not (tmp_path / "out").exists()
