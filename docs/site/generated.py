"""Pages of the site that are made from the code when it is built: commands, Python API, HTTP API.

A hook of MkDocs (`mkdocs.yml`). README, CHANGELOG, CONTRIBUTING and SECURITY become pages
too; links to pages stay links, links to other files of the repository become plain text.
"""

import posixpath
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from starlette.testclient import TestClient

import sieve
from sieve.cli.main import VERBS, verb_parser
from sieve.serve.models import open_models
from sieve.serve.service import Service
from sieve.serve.settings import Settings
from sieve.serve.web.app import make_app

ROOT = Path(__file__).parents[2]
COPIED = {
    "index.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "third-party.md": "THIRD_PARTY.md",
    "examples.md": "examples/README.md",
}
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)]*)?\)")
SUBMODULES = ("sieve.documents", "sieve.huggingface", "sieve.ray")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    pages: dict[str, Callable[[], str]] = {
        "commands.md": commands,
        "python.md": python_api,
        "http.md": http_api,
    }
    for name, make in pages.items():
        files.append(File.generated(config, name, content=make()))
    for name, source in COPIED.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to other files of the repository as links that the site has."""
    name = page.file.src_uri
    folder = posixpath.dirname(COPIED[name]) if name in COPIED else "docs"
    pages = {source: page_name for page_name, source in COPIED.items()}

    def resolved(match: re.Match[str]) -> str:
        label, anchor = match[1], match[3] or ""
        path = posixpath.normpath(posixpath.join(folder, match[2]))
        if path in pages:
            return f"[{label}]({pages[path]}{anchor})"
        if path.startswith("docs/") and (ROOT / path).is_file():
            return f"[{label}]({path.removeprefix('docs/')}{anchor})"
        if not (ROOT / path).exists():
            raise FileNotFoundError(f"{name}: link to {match[2]}, which is not in the repository")
        return label  # a file of the repository that is no page

    return LINK.sub(resolved, markdown)


def commands() -> str:
    """Every verb as its parser describes it."""
    sections = []
    for verb, summary in VERBS.items():
        title = f"## sieve {verb}\n{summary[0].upper()}{summary[1:]}."
        sections.append(f"{title}\n\n```text\n{verb_parser(verb).format_help().strip()}\n```\n")
    return "# Commands\n" + "\n".join(sections)


def python_api() -> str:
    """The public names, in the order of `sieve.__all__`, then the public modules."""
    names = sorted(name for name in sieve.__all__ if not name.startswith("__"))
    objects = [f"sieve.{name}" for name in names] + list(SUBMODULES)
    return "# Python\n" + "\n".join(f"::: {each}\n" for each in objects)


def http_api() -> str:
    """The operations of the server, from the schema that it serves at `/openapi.json`."""
    with TestClient(make_app(Service(open_models(["en-de"]), Settings()), Settings())) as client:
        described = client.get("/openapi.json").json()
    sections = ["# HTTP", "A running server describes itself at `/openapi.json`.\n"]
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            sections.append(_operation(path, method.upper(), operation, described))
    return "\n".join(sections)


def _operation(path: str, method: str, operation: dict[str, Any], described: dict[str, Any]) -> str:
    lines = [f"## {method} {path}", f"{operation.get('summary', '')}\n"]
    content = operation.get("requestBody", {}).get("content", {})
    fields = list(operation.get("parameters", []))
    for media in list(content.values())[:1]:
        body = _resolved(media["schema"], described)
        required = body.get("required", [])
        fields += [
            {"name": name, "schema": each, "required": name in required}
            for name, each in body.get("properties", {}).items()
        ]
    lines += list(_table(fields))
    answers = ", ".join(operation.get("responses", {}))
    return "\n".join([*lines, f"\nAnswers: {answers}.\n"])


def _table(fields: list[dict[str, Any]]) -> Iterable[str]:
    if fields:
        yield "| field | type | required | |\n|---|---|---|---|"
    for each in fields:
        kind = each["schema"].get("type", "any")
        text = each["schema"].get("description", each.get("description", ""))
        text = text.replace("\n", " ").replace("|", "\\|")
        yield f"| `{each['name']}` | {kind} | {'yes' if each.get('required') else 'no'} | {text} |"


def _resolved(part: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in part:
        return part
    target: dict[str, Any] = described
    for key in part["$ref"].removeprefix("#/").split("/"):
        target = target[key]
    return target
