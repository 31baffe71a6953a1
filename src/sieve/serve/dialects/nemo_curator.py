"""What NeMo Curator's NMT backend asks: lists of texts, at a route that LibreTranslate has, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from sieve.engines.options import SearchOptions
from sieve.serve.access import Access, cost_of
from sieve.serve.direction import AUTO, direction
from sieve.serve.service import Answer, Service
from sieve.serve.web.body import RequestClient, read_body
from sieve.serve.web.fields import Fields, Text, Texts, checked, parse_json
from sieve.serve.web.operation import JSON, Operation, Schema, Taken
from sieve.translate.translation import Request as Wanted


class BatchFields(Fields):
    """The fields of a request."""

    texts: Texts
    src_lang: Text = Field(min_length=1)
    tgt_lang: Text = Field(min_length=1)
    api_key: Text = ""


class BatchAnswer(TypedDict):
    """A translation for each text."""

    translations: list[str]


def operations(service: Service, access: Access) -> Sequence[Operation]:
    """The route of the dialect."""
    languages = service.models.languages
    narrowed: dict[str, Schema] = {
        "texts": {"maxItems": service.limits.texts},
        "src_lang": {"enum": [AUTO, *languages]},
        "tgt_lang": {"enum": languages},
    }

    async def translate(request: Request) -> Response:
        client = RequestClient(request)
        asked = checked(BatchFields, parse_json(await read_body(request, service.limits)))
        cost = cost_of(asked.texts, SearchOptions().beam_size)
        access.check(client.address, asked.api_key, cost)
        service.check_size(asked.texts)
        with service.accepted():
            way = await direction(service, client, asked.src_lang, asked.tgt_lang, asked.texts)
            answers = [Answer(text) for text in asked.texts]
            if way.model is not None:
                answers = await service.texts(client, way.model, asked.texts, Wanted())
        return JSONResponse(BatchAnswer(translations=[answer.text for answer in answers]))

    return [
        Operation(
            "POST", "/translate", "Translate a list of texts for NeMo Curator", translate,
            BatchAnswer, {JSON: (Taken(BatchFields, narrowed),)}, owns=_is_own,
        )
    ]  # fmt: skip


def _is_own(fields: Mapping[str, Any]) -> bool:
    return "q" not in fields and ("src_lang" in fields or "tgt_lang" in fields)
