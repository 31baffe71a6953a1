"""The schema: of the routes that are there, and true."""

import subprocess
import sys
from pathlib import Path

import pytest
from serving import Site
from starlette.routing import Route

from sieve.serve.models import Models
from sieve.serve.service import Service
from sieve.serve.settings import Settings
from sieve.serve.web.app import make_app


def test_the_schema_has_the_routes_that_are_there(models: Models, site: Site) -> None:
    settings = Settings()
    service = Service(models, settings)
    app = make_app(service, settings)
    service.close()
    served = {
        (route.path, method.lower())
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
        if route.path != "/" and not route.path.startswith("/static/")
    }
    answer = site.ask("GET", "/openapi.json").json
    described = {(path, method) for path, methods in answer["paths"].items() for method in methods}
    assert described == served
    assert answer["openapi"] == "3.1.0"


def test_schemathesis_finds_nothing(site: Site, tmp_path: Path) -> None:
    pytest.importorskip("schemathesis")
    program = Path(sys.executable).parent / "schemathesis"
    done = subprocess.run(
        [
            str(program), "run", f"{site.url}/openapi.json", "--max-examples", "5", "--seed", "1",
            "--phases", "examples,coverage,fuzzing", "--no-color",
            # which bytes are a document is more than a schema can say
            "--exclude-path", "/translate_file",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
