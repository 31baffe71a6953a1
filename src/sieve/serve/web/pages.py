"""The page at / and its files, read once; nothing else of the disk can be asked for."""

from __future__ import annotations

import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sieve.serve.web.operation import Handler

FOLDER = Path(__file__).parents[1] / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
SAFETY = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
}


def page_routes(folder: Path = FOLDER) -> list[Route]:
    """A route for each file of a folder, and / for its index.html."""
    routes = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in TYPES:
            handler = _handler(path.read_bytes(), TYPES[path.suffix])
            routes.append(Route(f"/static/{path.relative_to(folder).as_posix()}", handler))
            if path == folder / "index.html":
                routes.append(Route("/", handler))
    return routes


def _handler(body: bytes, content_type: str) -> Handler:
    # a tag of the content, as Starlette's of file times would change with every installation
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = {**SAFETY, "etag": tag, "cache-control": "no-cache"}

    async def handle(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(None, 304, headers, content_type)
        return Response(body, 200, headers, content_type)

    return handle
