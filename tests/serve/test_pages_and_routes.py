"""The page, its files, paths that are not there, and headers."""

import asyncio
from pathlib import Path

import pytest
from serving import Site, running
from starlette.requests import Request
from starlette.responses import Response

from sieve.serve.models import Models
from sieve.serve.settings import Settings
from sieve.serve.web.pages import page_routes


def get(folder: Path, path: str, **headers: str) -> Response:
    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    (route,) = (one for one in page_routes(folder) if one.path == path)
    request = Request({"type": "http", "method": "GET", "headers": given})
    response: Response = asyncio.run(route.endpoint(request))
    return response


def test_files_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!doctype html>")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "page.js").write_text("1")
    (tmp_path / "notes.py").write_text("no file of a page")
    paths = sorted(route.path for route in page_routes(tmp_path))
    assert paths == ["/", "/static/a/page.js", "/static/index.html"]
    page, script = get(tmp_path, "/"), get(tmp_path, "/static/a/page.js")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in policy
    same = get(tmp_path, "/", if_none_match=page.headers["etag"])
    assert (same.status_code, same.body) == (304, b"")


@pytest.mark.parametrize(
    "path", ["/nowhere", "/static/../app.py", "/static/%2e%2e/app.py", "//", "/translate/"]
)
def test_nothing_else_is_there(site: Site, path: str) -> None:
    answer = site.ask("GET", path)
    assert answer.status == 404
    assert answer.json == {"error": "not found; /openapi.json lists what is served"}


def test_methods(site: Site) -> None:
    answer = site.ask("GET", "/translate")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert answer.json == {"error": "expected POST"}
    head = site.ask("HEAD", "/health")
    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["content-length"]) == len(site.ask("GET", "/health").body)


def test_other_pages_may_ask_only_where_that_is_said(site: Site, models: Models) -> None:
    assert "access-control-allow-origin" not in site.ask("GET", "/health").headers
    assert site.ask("OPTIONS", "/translate").status == 405
    with running(models, Settings(port=0, threads=1, cors="https://a.example")) as other:
        asked = other.ask("OPTIONS", "/translate", origin="https://a.example")
        assert asked.status == 204
        assert asked.headers["access-control-allow-origin"] == "https://a.example"
        answer = other.ask("GET", "/health")
        assert answer.headers["access-control-allow-origin"] == "https://a.example"


def test_metrics(site: Site) -> None:
    route = 'sieve_request_seconds_count{route="/translate",status="200"}'
    sets = 'sieve_set_size_words_count{model="en-de"}'
    before = site.metric(route), site.metric(sets)
    site.post("/translate", {"q": "bda\nfga", "source": "en", "target": "de"})
    assert (site.metric(route), site.metric(sets)) == (before[0] + 1, before[1] + 2)
    site.ask("GET", "/" + "x" * 50)
    text = site.ask("GET", "/metrics")
    assert b"xxx" not in text.body
    assert text.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert site.metric("sieve_queue_length") == 0
    assert site.metric("sieve_accepted_requests") == 0
