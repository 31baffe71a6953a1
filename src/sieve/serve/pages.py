"""The page at / and its files, read once; nothing else of the disk can be asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from sieve.serve.web import Request, Response

FOLDER = Path(__file__).parent / "static"
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
SAFETY = (
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'",
    ),
    ("referrer-policy", "no-referrer"),
)

Handler = Callable[[Request], Awaitable[Response]]


def page_routes(folder: Path = FOLDER) -> dict[str, Handler]:
    """A route for each file of a folder, and / for its index.html."""
    routes: dict[str, Handler] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in TYPES:
            handler = _handler(path.read_bytes(), TYPES[path.suffix])
            routes[f"/static/{path.relative_to(folder).as_posix()}"] = handler
            if path == folder / "index.html":
                routes["/"] = handler
    return routes


def _handler(body: bytes, content_type: str) -> Handler:
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = (*SAFETY, ("etag", tag), ("cache-control", "no-cache"))

    async def handle(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(304, b"", content_type, headers)
        return Response(200, body, content_type, headers)

    return handle
