"""A dialect is one file: the server, its schema and its metrics take what is in the folder."""

import sys
from pathlib import Path

import pytest
from serving import running

from sieve.serve import dialects
from sieve.serve.models import Models

ECHO = '''"""Says what it was told."""

from starlette.responses import JSONResponse
from typing_extensions import TypedDict

from sieve.serve.web.body import read_body
from sieve.serve.web.fields import Fields, Text, checked, parse_json
from sieve.serve.web.operation import JSON, Operation, Taken


class Told(Fields):
    text: Text


class Said(TypedDict):
    said: str


def operations(service, access):
    async def echo(request):
        body = await read_body(request, service.limits)
        return JSONResponse(Said(said=checked(Told, parse_json(body)).text))

    return [Operation("POST", "/echo", "Says it again", echo, Said, {JSON: (Taken(Told),)})]
'''


def test_another_dialect_is_another_file(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    monkeypatch.setattr(dialects, "__path__", [*dialects.__path__, str(tmp_path)])
    with running(models) as site:
        assert site.post("/echo", {"text": "hello"}).json == {"said": "hello"}
        assert site.post("/echo", {"text": 7}).json == {
            "error": "Invalid request: text parameter is not a string"
        }
        assert site.post("/echo", {}).json == {"error": "Invalid request: missing text parameter"}
        described = site.ask("GET", "/openapi.json").json["paths"]["/echo"]["post"]
        assert described["summary"] == "Says it again"
        assert site.metric('sieve_request_seconds_count{route="/echo",status="200"}') == 1.0
        assert site.post("/translate", {"q": "bda", "source": "en", "target": "de"}).status == 200
    sys.modules.pop("sieve.serve.dialects.echo")
