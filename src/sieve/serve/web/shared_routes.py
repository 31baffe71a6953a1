"""Routes that several dialects have: whose a request is, its body says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Union

from starlette.requests import Request
from starlette.responses import Response

from sieve.serve.refusal import Refused
from sieve.serve.settings import Limits
from sieve.serve.web.body import BODY, read_body
from sieve.serve.web.fields import is_json, parse_json
from sieve.serve.web.operation import Handler, Operation, Taken


def one_a_route(operations: Sequence[Operation], limits: Limits) -> list[Operation]:
    """Operations in which those of the same route are one, that of any body and the others.

    Args:
        operations: Of all dialects.
        limits: Of bodies.
    """
    by_route: dict[tuple[str, str], list[Operation]] = {}
    for operation in operations:
        by_route.setdefault((operation.method, operation.path), []).append(operation)
    return [
        same[0] if len(same) == 1 else _merged(sorted(same, key=_is_special), limits)
        for same in by_route.values()
    ]


def _is_special(operation: Operation) -> bool:
    return operation.owns is not None


def _merged(operations: Sequence[Operation], limits: Limits) -> Operation:
    general, *special = operations
    takes: dict[str, tuple[Taken, ...]] = {}
    for operation in operations:
        for kind, bodies in operation.takes.items():
            takes[kind] = (*takes.get(kind, ()), *bodies)
    answers: Any = Union[tuple(operation.answers for operation in operations)]  # noqa: UP007
    handle = _chosen(general.handle, special, limits)
    return replace(general, handle=handle, answers=answers, takes=takes)


def _chosen(general: Handler, special: Sequence[Operation], limits: Limits) -> Handler:
    async def handle(request: Request) -> Response:
        handler = general
        if is_json(request.headers.get("content-type", "")):
            body = request.scope[BODY] = await read_body(request, limits)
            try:
                fields = parse_json(body)
            except Refused:
                fields = {}  # the general one says what is wrong
            handler = next(
                (each.handle for each in special if each.owns and each.owns(fields)), general
            )
        return await handler(request)

    return handle
