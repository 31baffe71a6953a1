"""Serve translations over HTTP: LibreTranslate's API, and our own with details of the selection.

Serves the models given, by default all built-in ones; a request's languages pick the model.
Accepts connections from this machine only, unless --host says otherwise.
Ctrl-C or SIGTERM stops it once accepted requests are answered; SIGHUP makes it read models and
API keys anew. /openapi.json describes the API, /metrics is for Prometheus, /health says that it is
alive, /ready that it takes requests.

Examples:
  sieve serve
  sieve serve en-de models/my-de-en --port 8080
  sieve serve --workers 4 --access-log json
  sieve serve imported-models --idle-minutes 10
  sieve serve --host 0.0.0.0 --api-keys keys.txt --rate-limit 60
  curl localhost:5000/translate -d q="Make yourself at home!" -d source=en -d target=de
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from sieve.errors import require
from sieve.log import logger
from sieve.serve.settings import Limits, Settings

EXTRA = "serve"
MOST_NAMES = 20
"""Of models that the line which says that the server has started lists."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve serve`."""
    default, limits = Settings(), Limits()
    shown = "(default: %(default)s)"
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help="directory, folder of directories, built-in name or a model to import",
    )
    parser.add_argument("--host", default=default.host, help=f"address to listen on {shown}")
    parser.add_argument(
        "--port", type=int, default=default.port, metavar="N", help=f"0: any free port {shown}"
    )
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="sentences translated in parallel by each worker (default: one per core in all)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=default.workers,
        metavar="N",
        help=f"processes that share the port and the models in memory; Linux {shown}",
    )
    parser.add_argument(
        "--idle-minutes",
        type=float,
        default=default.idle_minutes,
        metavar="N",
        help="open models when they are asked for, and close them after so long; 0: all stay open "
        f"{shown}",
    )
    logs = parser.add_argument_group("log")
    logs.add_argument(
        "--access-log",
        choices=("line", "json"),
        default="",
        help="a line per request on stdout, without texts (default: none)",
    )
    logs.add_argument(
        "--log-texts", action="store_true", help="put the texts of users into it, too"
    )
    access = parser.add_argument_group("access")
    access.add_argument(
        "--api-keys",
        type=Path,
        metavar="FILE",
        help="a key per line; requests must give one of them",
    )
    access.add_argument(
        "--rate-limit",
        type=int,
        default=limits.a_minute,
        metavar="N",
        help="texts of a client (key or address) per minute; each 500 characters at a beam of 5 "
        f"count as one; 0: any number {shown}",
    )
    access.add_argument(
        "--proxy",
        dest="proxies",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="a proxy, or network of proxies, whose X-Forwarded-For tells the client's address; "
        "may be repeated (default: none is believed)",
    )
    access.add_argument(
        "--connections",
        type=int,
        default=limits.connections,
        metavar="N",
        help=f"open at a time from one address that is no --proxy {shown}",
    )
    access.add_argument(
        "--cors",
        default="",
        metavar="ORIGIN",
        help="site whose pages may use the server, * for any (default: only its own)",
    )
    group = parser.add_argument_group("limits of a request")
    for name, kind, value, text in (
        ("--char-limit", int, limits.characters, "characters in all its texts"),
        ("--text-limit", int, limits.texts, "texts"),
        ("--time-limit", float, limits.seconds, "seconds until its answer"),
        ("--file-limit", int, limits.file_bytes, "bytes of a document; 0: no documents"),
        ("--queue", int, limits.requests, "requests accepted at a time; further ones get a 503"),
    ):
        group.add_argument(name, type=kind, default=value, metavar="N", help=f"{text} {shown}")


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve serve`."""
    settings = Settings(
        host=arguments.host,
        port=arguments.port,
        threads=arguments.threads,
        api_keys=arguments.api_keys,
        proxies=tuple(arguments.proxies),
        cors=arguments.cors,
        workers=arguments.workers,
        idle_minutes=arguments.idle_minutes,
        access_log=arguments.access_log,
        log_texts=arguments.log_texts,
        limits=Limits(
            characters=arguments.char_limit,
            texts=arguments.text_limit,
            seconds=arguments.time_limit,
            requests=arguments.queue,
            file_bytes=arguments.file_limit,
            a_minute=arguments.rate_limit,
            connections=arguments.connections,
        ),
    )
    for module in ("uvicorn", "httptools", "starlette", "pydantic", "prometheus_client"):
        require(module, EXTRA, "the server")
    from sieve.serve.alone import serve_alone
    from sieve.serve.run import listen
    from sieve.serve.workers.supervisor import Supervisor

    with listen(settings) as sock:
        host, port = sock.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host

        def started(names: Sequence[str]) -> None:
            listed = ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} models"
            logger.info("serving %s at http://%s:%d", listed, shown, port)

        if settings.workers == 1:
            serve_alone(arguments.models, settings, sock, started)
        else:
            Supervisor(arguments.models, settings, sock, started).run()
