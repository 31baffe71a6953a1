"""LibreTranslate's API for documents: sent as a form, translated, fetched by an expiring link."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import quote

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from sieve.engines.options import SearchOptions
from sieve.errors import SieveError
from sieve.serve.access import TEXT_WORK, Access
from sieve.serve.direction import AUTO, Direction, direction
from sieve.serve.file_work import FileWork
from sieve.serve.refusal import Refused
from sieve.serve.service import Service
from sieve.serve.settings import BODY_FRAME
from sieve.serve.web.body import RequestClient, read_body
from sieve.serve.web.fields import Fields, Text, checked
from sieve.serve.web.multipart import form_parts
from sieve.serve.web.operation import MULTIPART, Operation, Taken

_NAME = 100


class FileFields(Fields):
    """The fields of /translate_file."""

    file: Text = Field(min_length=1, json_schema_extra={"format": "binary"})
    source: Text = Field(min_length=1)
    target: Text = Field(min_length=1)
    api_key: Text = ""


class FileAnswer(TypedDict):
    """Where the translation is."""

    translatedFileUrl: str


def operations(service: Service, access: Access) -> Sequence[Operation]:
    """The routes of documents; none where the server takes no documents."""
    if not service.limits.file_bytes:
        return []
    files = _Files(service, access)
    languages = service.models.languages
    narrowed = {"source": {"enum": [AUTO, *languages]}, "target": {"enum": languages}}
    return [
        Operation(
            "POST", "/translate_file", "Translate a document", files.translate, FileAnswer,
            {MULTIPART: (Taken(FileFields, narrowed),)},
        ),
        Operation(
            "GET", "/download_file/{filename}", "The translation of a document", files.download,
            bytes, answer_type="application/octet-stream",
        ),
    ]  # fmt: skip


class _Files:
    def __init__(self, service: Service, access: Access) -> None:
        self._service, self._access = service, access
        self._kept = service.common.files

    async def translate(self, request: Request) -> Response:
        """POST /translate_file."""
        with self._service.document(), self._service.accepted():
            name, data = await self._translated(request)
            key = await asyncio.to_thread(self._kept.keep, name, data)
        suffix = PurePosixPath(name).suffix
        url = f"{str(request.base_url).rstrip('/')}/download_file/{key}{quote(suffix)}"
        return JSONResponse(FileAnswer(translatedFileUrl=url))

    async def _translated(self, request: Request) -> tuple[str, bytes]:
        client, limits = RequestClient(request), self._service.limits
        body = await read_body(request, limits, limits.file_bytes + BODY_FRAME)
        parts = form_parts(body, request.headers.get("content-type", ""))
        del body
        fields = {part.name: part.data.decode("utf-8", "replace") for part in parts[::-1]
                  if part.name != "file"}  # fmt: skip
        upload = next((part for part in parts if part.name == "file"), None)
        if upload is not None:
            fields["file"] = upload.file_name or "file"
        asked = checked(FileFields, fields)
        assert upload is not None
        cost = max(1.0, len(upload.data) * SearchOptions().beam_size / TEXT_WORK)
        self._access.check(client.address, asked.api_key, cost)
        if not upload.data:
            raise Refused(400, "Invalid request: empty file")
        work = FileWork(upload.data, PurePosixPath(asked.file.replace("\\", "/")).name[-_NAME:])
        way = await self._direction(client, asked, work)
        if way.model is None:
            return work.name, work.data
        return work.target_name, await self._service.file(client, way.model, work)

    async def _direction(
        self, client: RequestClient, asked: FileFields, work: FileWork
    ) -> Direction:
        try:
            sample = await asyncio.to_thread(work.sample)
        except SieveError as error:
            raise Refused(400, f"Invalid request: {error}") from None
        return await direction(self._service, client, asked.source, asked.target, [sample])

    async def download(self, request: Request) -> Response:
        """GET /download_file/…."""
        key = PurePosixPath(request.path_params["filename"]).stem
        file = await asyncio.to_thread(self._kept.find, key)
        if file is None:
            raise Refused(404, "no such file: a translation is kept for ten minutes")
        headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(file.name)}"}
        return Response(file.data, media_type="application/octet-stream", headers=headers)
