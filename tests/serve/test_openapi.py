"""The schema: of the routes that are there, and true."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from serving import Site

from sieve.serve.app import App
from sieve.serve.models import Models
from sieve.serve.openapi import schema
from sieve.serve.service import Service
from sieve.serve.settings import Limits, Settings


def test_the_schema_has_the_routes_that_are_there(models: Models, site: Site) -> None:
    settings = Settings()
    service = Service(models, settings)
    app = App(service, settings)
    service.close()
    served = {
        (path, method.lower())
        for path, methods in app.routes.items()
        for method in methods
        if path != "/" and not path.startswith("/static/")
    }
    described = {
        (path, method)
        for path, methods in schema(models, Limits())["paths"].items()
        for method in methods
    }
    assert described == served
    answer = site.ask("GET", "/openapi.json").json
    assert answer["openapi"] == "3.1.0"
    assert answer == json.loads(json.dumps(schema(models, Limits())))


def test_schemathesis_finds_nothing(site: Site, tmp_path: Path) -> None:
    pytest.importorskip("schemathesis")
    program = Path(sys.executable).parent / "schemathesis"
    done = subprocess.run(
        [
            str(program), "run", f"{site.url}/openapi.json", "--max-examples", "5", "--seed", "1",
            "--phases", "examples,coverage,fuzzing", "--no-color",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
