"""What users send stays in memory: no log, no file and no metric has a word of it."""

import json
import logging
from pathlib import Path

import pytest
from serving import model_of, running

from sieve.serve.models import Model, Models
from sieve.serve.settings import Limits, Settings
from sieve.translate.translation import Request, Translation

SECRET = "Xylophagous"


class Failing:
    """A runner with a bug that quotes what it was given."""

    def run(self, lines: object, request: Request) -> list[Translation]:
        raise RuntimeError("a bug")


def test_nothing_that_users_send_is_written(
    models: Models,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    caplog.set_level(logging.DEBUG)
    text = {"q": f"{SECRET}. bda", "source": "en", "target": "de"}
    first = model_of(models, "en", "de")
    failing = Models.of([Model("failing", first.translator, Failing())])
    settings = Settings(port=0, threads=1, limits=Limits(a_minute=1000, characters=100))
    for served in (models, failing):
        with running(served, settings) as site:
            asked = [
                site.post("/translate", text),
                site.post("/translate", {**text, "format": "html", "q": f"<p>{SECRET}</p>"}),
                site.post("/translate", {**text, "q": SECRET * 20}),
                site.post("/translate", {**text, "target": SECRET}),
                site.post("/detect", {"q": SECRET, "api_key": SECRET}),
                site.post("/v1/translate", {"texts": [SECRET], "source": "en", "target": "de"}),
                site.post("/v1/translate", {SECRET: 1}),
                site.ask("POST", f"/{SECRET}?q={SECRET}", json.dumps(text).encode()),
                site.ask("GET", f"/{SECRET}"),
            ]
            statuses = {answer.status for answer in asked}
            assert {400, 404} < statuses and (500 in statuses) == (served is failing)
            assert SECRET.encode() not in site.ask("GET", "/metrics").body
    assert SECRET not in caplog.text and SECRET.lower() not in caplog.text.lower()
    assert ("a bug" in caplog.text) and list(tmp_path.iterdir()) == []
