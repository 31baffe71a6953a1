"""The access log: a line for each request, without what users write."""

import io
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from serving import Site, running, until

from sieve.errors import ConfigError
from sieve.serve import access_log
from sieve.serve.access_log import AccessLog, Form, Note
from sieve.serve.models import Models
from sieve.serve.settings import Settings

SECRET = "bda fga"


@contextmanager
def logged(models: Models, form: Form, texts: bool = False) -> Iterator[tuple[Site, io.StringIO]]:
    stream = io.StringIO()
    with running(models, log=AccessLog(form, texts, stream)) as site:
        yield site, stream


def ask(site: Site, path: str = "/translate", **headers: str) -> dict[str, str]:
    body = json.dumps({"q": SECRET, "source": "auto", "target": "de"}).encode()
    return site.ask("POST", path, body, "application/json", **headers).headers


def test_a_line_of_json(models: Models) -> None:
    with logged(models, "json") as (site, stream):
        answered = ask(site, "/translate?q=hidden")["x-request-id"]
        given = ask(site, x_request_id="abc-123")["x-request-id"]
        site.ask("GET", "/download_file/a-secret-key.txt")
        site.ask("GET", "/nothing%0Ahere")
        until(lambda: stream.getvalue().count("\n") == 4)
    first, second, third, last = (json.loads(line) for line in stream.getvalue().splitlines())
    assert first.pop("time").endswith("Z") and first.pop("ms") > 0 and first.pop("bytes") > 0
    assert first == {
        "client": "127.0.0.1", "method": "POST", "path": "/translate", "status": 200,
        "id": answered, "source": "en", "target": "de", "model": "en-de", "texts": 1,
        "characters": len(SECRET),
    }  # fmt: skip
    assert (second["id"], given) == ("abc-123", "abc-123")
    assert third["path"] == "/download_file/..." and third["status"] == 404
    assert (last["path"], last["status"]) == ("/nothing%0Ahere", 404)
    assert SECRET not in stream.getvalue() and "hidden" not in stream.getvalue()


def test_a_line_of_text(models: Models) -> None:
    with logged(models, "line") as (site, stream):
        ask(site)
        until(lambda: "\n" in stream.getvalue())
    line = stream.getvalue()
    assert " 127.0.0.1 POST /translate 200 ms=" in line
    assert " source=en target=de model=en-de texts=1 characters=7\n" in line


def test_texts_only_where_asked_for(models: Models) -> None:
    with logged(models, "json", texts=True) as (site, stream):
        ask(site)
        until(lambda: "\n" in stream.getvalue())
    assert json.loads(stream.getvalue())["text"] == [SECRET]
    with pytest.raises(ConfigError, match="log_texts requires access_log"):
        Settings(log_texts=True)


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "ä", "a\x00b"])
def test_an_id_that_is_none_is_made(given: str) -> None:
    made = Note.of(given).request_id
    assert made != given and len(made) == 16 and made != Note.of(given).request_id


def drain(descriptor: int) -> None:
    while os.read(descriptor, 10**6):
        pass


def test_a_reader_that_stands_still_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(access_log, "MOST_WAITING", 2)
    fields: dict[str, Any] = {"client": "", "method": "", "path": "", "status": 200}
    read, write = os.pipe()
    with os.fdopen(write, "w") as stream:
        fields["path"] = "x" * 100_000  # more than a pipe takes
        log = AccessLog("line", stream=stream)
        for _ in range(10):
            log.add(Note("id"), fields)
        reader = threading.Thread(target=drain, args=(read,))
        reader.start()
        until(lambda: caplog.text)
        log.close()
    reader.join()
    os.close(read)
    assert "lines of the access log are lost" in caplog.text
