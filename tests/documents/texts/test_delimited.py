"""Tables through translators that copy: columns of text change, header and quotes stay."""

import csv
import io
import re

import pytest
from echo import echo, swapped
from hypothesis import given
from hypothesis import strategies as st

from sieve.documents import translate_bytes
from sieve.errors import ConfigError, InputError

TABLE = 'id,title,price\r\nx1,"A red, ""big"" car",12\r\nx2,Some house,\r\n'


def out(document: str, name: str = "a.csv", columns: tuple[str | int, ...] = ()) -> str:
    return translate_bytes(echo(swapped), document.encode(), name, columns=columns).decode()


def test_text_changes_and_nothing_else() -> None:
    expected = TABLE.replace('A red, ""big"" car', 'a RED, ""BIG"" CAR')
    assert out(TABLE) == expected.replace("Some house", "sOME HOUSE")
    assert translate_bytes(echo(), TABLE.encode(), "a.csv") == TABLE.encode()


def test_columns_by_name_and_number() -> None:
    assert out("a;b\nX y;Z w\n", columns=("b",)) == "a;b\nX y;z W\n"
    assert out("X y.\tZ w.\n", "a.tsv", columns=(1,)) == "x Y.\tZ w.\n"
    assert out('"Open\t5" x.\n', "a.tsv", columns=(1,)) == '"oPEN\t5" x.\n'


def test_a_cell_gets_quotes_where_it_needs_them() -> None:
    commas = echo(lambda piece: ", x" if piece.endswith("car") else piece)
    assert translate_bytes(commas, b"a,b\nred car,1\n", "a.csv") == b'a,b\n"red, x",1\n'


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=re.escape("line 2: a quotation mark that is not closed")):
        out('a,b\n"c,d\n')
    with pytest.raises(InputError, match=re.escape("a.csv: columns: got 'z', expected a number")):
        out(TABLE, columns=("z",))
    with pytest.raises(ConfigError, match=r"^columns: html has none, expected csv or tsv$"):
        out("<p>", "a.html", columns=("z",))


ROWS = st.lists(st.lists(st.text('ab ,"\n;é1', max_size=8), min_size=2, max_size=2), max_size=5)


@given(rows=ROWS, quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_made_up_tables(rows: list[list[str]], quoting: int) -> None:
    file = io.StringIO()
    csv.writer(file, quoting=quoting).writerows([["1", "2"], *rows])  # type: ignore[arg-type]
    text = file.getvalue()
    assert translate_bytes(echo(), text.encode(), "a.csv", columns=(1, 2)) == text.encode()
    done = list(csv.reader(io.StringIO(out(text, columns=(1, 2)))))
    shapes = [[re.sub(r"\s", "", cell).lower() for cell in row] for row in rows]
    assert [[re.sub(r"\s", "", cell).lower() for cell in row] for row in done[1:]] == shapes
