"""Documents that mean harm or are broken: one line each, in bounded memory, and nothing is run."""

import io
import random
import re
import tracemalloc
import zipfile

import pytest
from echo import echo, swapped
from packages import member, package, runs, types, word

from sieve.documents import translate_bytes
from sieve.documents.office import packages as limits
from sieve.errors import InputError

BODY = f"<w:p>{runs('Bda ', 'b:fga', ' kla.')}</w:p>" * 3
SEED, CASES = 21, 300


def refused(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'a.docx: {message}')}$"):
        translate_bytes(echo(), data, "a.docx", "docx")


def document(xml: str) -> bytes:
    return package(
        {"[Content_Types].xml": types(document="document.main"), "word/document.xml": xml}
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is no readable ZIP archive: File is not a zip file"),
        (b"PK\x03\x04", "is no readable ZIP archive: File is not a zip file"),
        (word(BODY)[:-30], "is no readable ZIP archive: File is not a zip file"),
        (package({}), "is no docx document"),
        (
            document("<!DOCTYPE a [<!ENTITY b 'b'><!ENTITY c '&b;&b;'>]><a>&c;</a>"),
            "word/document.xml: not well-formed XML at character 1",
        ),
        (
            document('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a>&b;</a>'),
            "word/document.xml: not well-formed XML at character 44: unknown entity",
        ),
        (
            document("<a>" * 300 + "</a>" * 300),
            "word/document.xml: nested more than 200 deep at character 601",
        ),
        (document("<a>"), "word/document.xml: not well-formed XML: it ends too early"),
        (
            document('<?xml version="1.0" encoding="x-bda"?><a/>'),
            "is written in an unknown encoding, x-bda",
        ),
        *(
            (
                document(f'<?xml version="1.0" encoding="{name}"?><a/>'),
                f"is written in an unknown encoding, {name}",
            )
            for name in ("zlib", "rot13", "idna", "base64", "unicode_escape")
        ),
    ],
)
def test_what_is_refused(data: bytes, message: str) -> None:
    refused(data, message)


def test_bytes_that_are_no_text() -> None:
    data = package({"[Content_Types].xml": types(document="document.main"),
                    "word/document.xml": b"<a>\xff</a>"})  # fmt: skip
    refused(data, "word/document.xml: is no text in utf-8")


@pytest.mark.parametrize("form", ["html", "po", "srt", "csv", "json", "wrapped"])
def test_utf16_that_is_damaged(form: str) -> None:
    with pytest.raises(InputError, match="is UTF-16-BE that ends within a character"):
        translate_bytes(echo(), b"\xfe\xff\0a\0", "a.txt", form)
    half = b"\xff\xfe" + "a\udcb0 b\ud800".encode("utf-16-le", "surrogatepass")
    assert translate_bytes(echo(), half, "a.txt", "html") == half


def test_numbers_of_any_length() -> None:
    data = b'{"a": 1' + b"0" * 9000 + b', "b c": "bda fga"}'
    assert translate_bytes(echo(swapped), data, "a.json") == data.replace(b"bda fga", b"BDA FGA")


def test_an_encrypted_part() -> None:
    data = bytearray(word(BODY))
    for sign, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := data.find(sign, start + 1)) >= 0:
            data[start + place] |= 1
    refused(bytes(data), "is encrypted; save it without a password")


def test_too_many_parts_and_two_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_MEMBERS", 2)
    refused(word(BODY), "has 3 parts, expected at most 2")
    out = io.BytesIO(word(BODY))
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("word/document.xml", "")
    monkeypatch.undo()
    refused(out.getvalue(), "has two parts of one name")


def test_a_bomb_is_not_unpacked() -> None:
    data = bytearray(word(BODY))
    start = data.find(b"PK\x01\x02")
    data[start + 24 : start + 28] = (1 << 31).to_bytes(4, "little")
    with pytest.raises(InputError, match=r"^a: unpacks to \d+ bytes, expected at most 1073741824$"):
        translate_bytes(echo(), bytes(data), "a", "docx")


def test_memory_does_not_grow_with_the_document() -> None:
    def peak(copies: int) -> int:
        data = word(BODY * copies, padding="<a>" + "x" * (30_000 * copies) + "</a>")
        translator = echo(swapped)
        tracemalloc.start()
        translate_bytes(translator, data, "a", "docx")
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(1)
    assert peak(800) < peak(50) * 4


def test_macros_stay_and_nothing_is_run() -> None:
    out = translate_bytes(echo(swapped), word(BODY))
    with zipfile.ZipFile(io.BytesIO(out)) as archive:
        assert archive.read("word/vbaProject.bin") == bytes(range(256))


def test_random_damage_ends_in_a_document_or_in_one_line() -> None:
    generator = random.Random(SEED)
    translator, readable = echo(swapped), 0
    for _ in range(CASES):
        data = bytearray(word(BODY, footnotes=f"<a>{BODY.replace('w:', '')}</a>"))
        for _ in range(generator.randint(1, 4)):
            data[generator.randrange(len(data))] = generator.randrange(256)
        if generator.random() < 0.2:
            del data[generator.randrange(len(data)) :]
        try:
            out = translate_bytes(translator, bytes(data), "a", "docx")
        except InputError as error:
            assert "\n" not in str(error)
            continue
        readable += 1
        assert zipfile.ZipFile(io.BytesIO(out)).testzip() is None
    assert readable


def test_random_markup_ends_in_a_document_or_in_one_line() -> None:
    generator = random.Random(SEED)
    pieces = [
        "<w:p>", "</w:p>", "<w:r>", "</w:r>", "<w:t>", "</w:t>", "bda ", "Fga.", "<w:tab/>",
        "<w:fldChar w:fldCharType='begin'/>", "<w:fldChar w:fldCharType='end'/>", "<w:sdt>",
        "<w:rPr><w:b/></w:rPr>", "<w:hyperlink>", "</w:hyperlink>", "</w:sdt>",
        "<w:bookmarkEnd w:id='1'/>", "<w:bookmarkStart w:id='1'/>", "<w:footnoteReference/>",
    ]  # fmt: skip
    translator = echo(swapped)
    for _ in range(CASES):
        text = (
            "".join(generator.choices(pieces, k=12))
            if generator.random() < 0.3
            else nested(generator, 4)
        )
        try:
            out = translate_bytes(translator, word(text), "a")
        except InputError as error:
            assert "\n" not in str(error)
            continue
        before, after = (re.sub(r"<[^>]*>|\s", "", member(data, "word/document.xml"))
                         for data in (word(text), out))  # fmt: skip
        assert sorted(before.lower()) == sorted(after.lower())
        translate_bytes(echo(), out)


def nested(generator: random.Random, depth: int) -> str:
    """Elements of Word in any order, well-formed."""
    names = ["p", "r", "t", "hyperlink", "ins", "sdt", "sdtContent", "fldSimple", "x", "pPr", "rPr"]
    alone = ["tab", "br", "footnoteReference", "proofErr", "bookmarkStart w:id='1'",
             "bookmarkEnd w:id='1'", "fldChar w:fldCharType='begin'",
             "fldChar w:fldCharType='separate'", "fldChar w:fldCharType='end'"]  # fmt: skip
    out = ""
    for _ in range(generator.randint(0, 4)):
        if depth and generator.random() < 0.7:
            name = generator.choice(names)
            out += f"<w:{name}>{nested(generator, depth - 1)}</w:{name}>"
        elif generator.random() < 0.5:
            out += f"<w:{generator.choice(alone)}/>"
        else:
            out += generator.choice(["bda", "Fga kla. ", " ", "12", "&amp;", "M l a"])
    return out
