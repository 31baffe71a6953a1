"""Rows in, rows out: each format keeps what is not translated, and a bad row keeps its place."""

import io
import json

import pytest

from sieve.bulk.rows.line_rows import TextRows
from sieve.bulk.rows.row_formats import RowOptions
from sieve.bulk.rows.row_pieces import PIECE_BYTES, PIECE_ROWS, Cell, RowPiece, cut
from sieve.errors import ConfigError, InputError


def pieces(options: RowOptions, content: bytes, name: str) -> list[RowPiece]:
    return list(options.of(name).read(io.BufferedReader(io.BytesIO(content)), name))


def shouted(piece: RowPiece) -> list[Cell]:
    """What a translator would give: capitals with a score."""
    return [
        Cell(None, error=piece.errors.get(place))
        if text is None
        else Cell(text.upper(), -0.5, 12, 0.75)
        for place, text in enumerate(piece.texts)
    ]


def through(options: RowOptions, content: bytes, name: str) -> bytes:
    format = options.of(name)
    target = io.BytesIO()
    writer = format.writer(target)
    for piece in pieces(options, content, name):
        writer.write(piece, shouted(piece))
    writer.close()
    rows = sum(piece.rows for piece in pieces(options, content, name))
    assert format.count(io.BufferedReader(io.BytesIO(target.getvalue()))) == rows
    return target.getvalue()


def test_text() -> None:
    assert through(RowOptions(), b"a\n\n b\r\nc", "x.txt") == b"A\n\n B\nC\n"
    assert through(RowOptions(), b"", "x.txt") == b""
    assert through(RowOptions(), "ä\n".encode("utf-16"), "x.txt") == "Ä\n".encode()


def test_pieces_are_cut_by_rows_and_by_bytes() -> None:
    lines = [b"a\n"] * (2 * PIECE_ROWS + 1)
    assert [len(piece) for piece in cut(lines)] == [PIECE_ROWS, PIECE_ROWS, 1]
    assert [len(piece) for piece in cut([b"x" * PIECE_BYTES] * 2 + [b"y"])] == [1, 1, 1]
    content = b"".join(b"%d\n" % i for i in range(PIECE_ROWS + 5))
    assert [piece.first for piece in pieces(RowOptions(), content, "x")] == [1, PIECE_ROWS + 1]


def test_invalid_utf8_is_an_error_with_its_place_or_replaced() -> None:
    with pytest.raises(
        InputError, match=r"x, line 2: not valid UTF-8 \(byte 2 of the line is 0xff"
    ):
        pieces(RowOptions(), b"a\nb\xff\n", "x")
    (piece,) = pieces(RowOptions(replace_invalid=True), b"a\nb\xff\n", "x")
    assert piece.texts == ["a", "b\ufffd"]


def test_a_table_with_numbered_columns() -> None:
    options = RowOptions(columns=("2",))
    result = through(options, "1\ta\tz\x85\n2\n\n3\tb\n4\tc\td\te\n".encode(), "x.tsv").decode()
    assert result.split("\n") == [
        "1\ta\tz\x85\tA\t-0.5\t12\t0.75\t",
        "2\t\t\t\t\t\t\tline 2: got 1 columns, expected 2 or more",
        "",
        "3\tb\t\tB\t-0.5\t12\t0.75\t",
        "4\tc\td\tC\t-0.5\t12\t0.75\t\te",
        "",
    ]
    in_place = RowOptions(columns=("2",), in_place=True)
    assert through(in_place, b"1\ta\tz\n2\n\n3\tb\n", "x.tsv") == b"1\tA\tz\n2\n\n3\tB\n"


def test_a_table_with_a_header() -> None:
    content = b"id\ttext\n1\ta\n"
    assert through(RowOptions(columns=("text",)), content, "x.tsv").decode() == (
        "id\ttext\ttext_translation\ttext_score\ttext_shortlist_size\ttext_confidence\ttext_error\n"
        "1\ta\tA\t-0.5\t12\t0.75\t\n"
    )
    assert through(RowOptions(columns=("text",), in_place=True), content, "x.tsv") == (
        b"id\ttext\n1\tA\n"
    )


def test_json_lines() -> None:
    good, bad = '{"id": 1, "t": "ä\u2028", "u": "b"}', '{"t": 7, "u": null}\n{"u": "\\ud800"}'
    content = f"{good}\n\nnothing\n[1]\n{bad}\n"
    options = RowOptions(columns=("t", "u"))
    lines = through(options, content.encode(), "x.jsonl.gz").decode().split("\n")
    first, blank, none, array, number, lone = [json.loads(line or "null") for line in lines[:6]]
    assert first == {
        "id": 1, "t": "ä\u2028", "u": "b",
        "t_translation": "Ä\u2028", "t_score": -0.5, "t_shortlist_size": 12,
        "t_confidence": 0.75, "t_error": None,
        "u_translation": "B", "u_score": -0.5, "u_shortlist_size": 12,
        "u_confidence": 0.75, "u_error": None,
    }  # fmt: skip
    assert blank is None
    assert none["line"] == "nothing" and none["error"].startswith("line 3: not JSON: ")
    assert array == {"line": "[1]", "error": "line 4: got list, expected an object"}
    assert number["t"] == 7 and number["t_translation"] is None
    assert number["t_error"] == "line 5: field 't': got int, expected a string"
    assert number["u_error"] is None and number["u_translation"] is None
    assert lone["t_error"] == "line 6: has no field 't'" and lone["u_translation"] == "\ud800"
    in_place = through(RowOptions(columns=("t", "u"), in_place=True), content.encode(), "x.jsonl")
    assert in_place.decode().split("\n")[:6] == [
        '{"id": 1, "t": "Ä\u2028", "u": "B"}', "", "nothing", "[1]",
        '{"t": 7, "u": null}', '{"u": "\\ud800"}',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "columns", "content", "message"),
    [
        ("x.tsv", ("txt",), b"id\ttext\n", "x.tsv: unknown column 'txt'; did you mean 'text'"),
        ("x.tsv", ("3",), b"a\tb\n", "x.tsv: got 2 columns, expected a column 3"),
        ("x.jsonl", ("txt",), b'{"text": ""}\n', "unknown field 'txt'; did you mean 'text'"),
        ("x.jsonl", ("t",), b"no\n", "unknown field 't'; known: none, for its lines are no JSON"),
        ("x.txt", (), b"\x89PNG\r\n\x1a\n", "x.txt: is a PNG image, expected text"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    name: str, columns: tuple[str, ...], content: bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pieces(RowOptions(columns=columns), content, name)


def test_options_that_do_not_fit_a_format() -> None:
    with pytest.raises(ConfigError, match="x: text has no columns; give --format"):
        RowOptions(columns=("a",)).of("x")
    with pytest.raises(ConfigError, match=r"x\.parquet: parquet requires --columns"):
        RowOptions().of("x.parquet")
    assert isinstance(RowOptions("text").of("x.jsonl"), TextRows)
