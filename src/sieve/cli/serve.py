"""Serve translations over HTTP: LibreTranslate's API, and our own with what selection did.

Serves the models that are named, by directory or built-in name, or all built-in ones; a request
gets the one for its pair of languages. Listens on this machine alone unless --host says otherwise.
Ctrl-C or SIGTERM ends it after the requests that were accepted. /openapi.json describes the API,
/metrics is for Prometheus.

Examples:
  sieve serve
  sieve serve en-de models/my-de-en --port 8080
  sieve serve --host 0.0.0.0 --api-keys keys.txt --rate-limit 60
  curl localhost:5000/translate -d q="Make yourself at home!" -d source=en -d target=de
"""

import argparse
from pathlib import Path

from sieve.errors import require
from sieve.log import logger
from sieve.serve.settings import Limits, Settings

EXTRA = "serve"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve serve`."""
    default, limits = Settings(), Limits()
    shown = "(default: %(default)s)"
    parser.add_argument("models", nargs="*", metavar="MODEL", help="directory or built-in name")
    parser.add_argument("--host", default=default.host, help=f"address to listen on {shown}")
    parser.add_argument(
        "--port", type=int, default=default.port, metavar="N", help=f"0: any that is free {shown}"
    )
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="sentences translated side by side (default: one a core)",
    )
    access = parser.add_argument_group("access")
    access.add_argument(
        "--api-keys", type=Path, metavar="FILE", help="a key a line; requests need one of them"
    )
    access.add_argument(
        "--rate-limit",
        type=int,
        default=limits.a_minute,
        metavar="N",
        help=f"texts of a client (key or address) in a minute, 0: any number {shown}",
    )
    access.add_argument(
        "--cors",
        default="",
        metavar="ORIGIN",
        help="whose pages may ask from a browser, * for all (default: none but our own)",
    )
    group = parser.add_argument_group("limits of a request")
    for name, kind, value, text in (
        ("--char-limit", int, limits.characters, "characters of all its texts"),
        ("--text-limit", int, limits.texts, "texts"),
        ("--time-limit", float, limits.seconds, "seconds until its answer"),
        ("--queue", int, limits.requests, "requests accepted at a time; more get a 503"),
    ):
        group.add_argument(name, type=kind, default=value, metavar="N", help=f"{text} {shown}")


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve serve`."""
    settings = Settings(
        host=arguments.host,
        port=arguments.port,
        threads=arguments.threads,
        api_keys=arguments.api_keys,
        cors=arguments.cors,
        limits=Limits(
            characters=arguments.char_limit,
            texts=arguments.text_limit,
            seconds=arguments.time_limit,
            requests=arguments.queue,
            a_minute=arguments.rate_limit,
        ),
    )
    for module in ("uvicorn", "httptools", "starlette", "pydantic", "prometheus_client"):
        require(module, EXTRA, "the server")
    from sieve.serve.models import open_models
    from sieve.serve.run import listen, serve

    with listen(settings) as sock:
        models = open_models(arguments.models)
        host, port = sock.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        names = ", ".join(models.names)
        serve(
            models,
            settings,
            sock,
            lambda: logger.info("serving %s at http://%s:%d", names, shown, port),
        )
