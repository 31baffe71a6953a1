"""Documents through the server: sent, translated, fetched, refused, forgotten."""

from pathlib import Path

import pytest
from packages import member, runs, word
from serving import Answered, Site, running

from sieve.serve.file_work import KEPT_BYTES, KEPT_SECONDS, KeptFiles
from sieve.serve.models import Models
from sieve.serve.settings import Limits, Settings
from sieve.serve.web.multipart import FormPart, form_parts

MARK = "cut-here"
KIND = f"multipart/form-data; boundary={MARK}"


def form(name: str = "", data: bytes = b"", **fields: str) -> bytes:
    parts = [
        f'--{MARK}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    if name:
        head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        parts.append(f"--{MARK}\r\n{head}\r\n\r\n".encode() + data + b"\r\n")
    return b"".join(parts) + f"--{MARK}--\r\n".encode()


def send(site: Site, name: str, data: bytes, **fields: str) -> Answered:
    fields = {"source": "en", "target": "de", **fields}
    return site.ask("POST", "/translate_file", form(name, data, **fields), KIND)


def fetch(site: Site, answer: Answered) -> Answered:
    assert answer.status == 200, answer.body
    return site.ask("GET", answer.json["translatedFileUrl"].removeprefix(site.url))


def test_a_document_is_translated_and_fetched(site: Site) -> None:
    document = word(f"<w:p>{runs('bda ', 'b:fga')}</w:p>")
    answer = send(site, "Größe.docx", document, source="auto")
    file = fetch(site, answer)
    assert file.status == 200
    assert answer.json["translatedFileUrl"].endswith(".docx")
    assert file.headers["content-disposition"] == (
        "attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fe.docx"
    )
    assert member(file.body, "word/document.xml").count("<w:p>") == 1
    assert member(file.body, "[Content_Types].xml") == member(document, "[Content_Types].xml")


def test_a_text_keeps_its_lines(site: Site) -> None:
    file = fetch(site, send(site, "a.txt", b"bda\n\n12\n"))
    assert [bool(line) for line in file.body.split(b"\n")] == [True, False, True, False]


def test_a_language_into_itself_is_the_same_file(site: Site) -> None:
    assert fetch(site, send(site, "a.html", b"<p>bda", target="en")).body == b"<p>bda"


@pytest.mark.parametrize(
    ("name", "data", "fields", "status", "message"),
    [
        ("", b"", {}, 400, "Invalid request: missing file parameter"),
        ("a.html", b"", {}, 400, "Invalid request: empty file"),
        ("a.html", b"x", {"source": ""}, 400, "Invalid request: missing source parameter"),
        ("a.html", b"x", {"target": "xx"}, 400, "xx is not supported"),
        (
            "a.docx", b"PK\x03\x04 no archive", {}, 400,
            "Invalid request: a.docx: is no readable ZIP archive: File is not a zip file",
        ),
        ("a.png", b"\x89PNG\r\n\x1a\n", {}, 400,
         "Invalid request: a.png: is a PNG image, expected text; give text in UTF-8"),
    ],
)  # fmt: skip
def test_what_is_refused(
    site: Site, name: str, data: bytes, fields: dict[str, str], status: int, message: str
) -> None:
    answer = send(site, name, data, **fields)
    assert (answer.status, answer.json) == (status, {"error": message})


def test_an_unknown_format_names_those_that_are_known(site: Site) -> None:
    answer = send(site, "../a.xyz", b"bda")
    assert answer.status == 400
    assert answer.json["error"].startswith(
        "Invalid request: a.xyz: format not recognised; give one of html, markdown, "
    )


def test_a_body_that_is_no_form(site: Site) -> None:
    assert site.post("/translate_file", {"file": "x"}).status == 415


def test_a_link_that_leads_nowhere(site: Site) -> None:
    answer = site.ask("GET", "/download_file/nowhere.docx")
    assert answer.status == 404
    assert answer.json == {"error": "no such file: a translation is kept for ten minutes"}


def test_settings_name_the_formats(site: Site) -> None:
    settings = site.ask("GET", "/frontend/settings").json
    assert settings["filesTranslation"] is True
    assert {".docx", ".odt", ".txt", ".html"} <= set(settings["supportedFilesFormat"])


def test_limits_and_keys(models: Models, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("secret\n")
    limits = Limits(file_bytes=1000, a_minute=1)
    with running(models, Settings(port=0, threads=1, api_keys=keys, limits=limits)) as site:
        assert send(site, "a.html", b"x" * 70_000).status == 413
        assert send(site, "a.html", b"x").status == 400
        assert send(site, "a.html", b"x", api_key="wrong").status == 403
        assert send(site, "a.html", b"1", api_key="secret").status == 200
        assert send(site, "a.html", b"1", api_key="secret").status == 429


def test_a_server_may_take_no_documents(models: Models) -> None:
    with running(models, Settings(port=0, threads=1, limits=Limits(file_bytes=0))) as site:
        assert send(site, "a.html", b"x").status == 404
        assert site.ask("GET", "/frontend/settings").json["supportedFilesFormat"] == []


def test_files_are_kept_for_a_while_and_within_bounds() -> None:
    now = 0.0
    kept = KeptFiles(lambda: now)
    first = kept.keep("a", b"1")
    now = KEPT_SECONDS - 1
    second = kept.keep("b", b"2")
    assert [bool(kept.find(key)) for key in (first, second)] == [True, True]
    now = KEPT_SECONDS
    assert [bool(kept.find(key)) for key in (first, second)] == [False, True]
    large = kept.keep("c", bytes(KEPT_BYTES))
    assert [bool(kept.find(key)) for key in (second, large)] == [False, True]


def test_parts_of_a_form() -> None:
    body = form("a b.txt", b"\r\n--x\r\n\r\n", source="en")
    assert form_parts(body, KIND) == [
        FormPart("source", b"en"),
        FormPart("file", b"\r\n--x\r\n\r\n", "a b.txt"),
    ]
