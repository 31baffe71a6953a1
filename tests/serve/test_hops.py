"""How far it is from a request to the native call: at most ten frames of this package.

Counted where the native call begins: the frames of the thread that makes it, and those of the
coroutines that wait for it.
"""

# private: the C++ core is what is tested; the stack is what is tested

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from serving import model_of

import sieve
from sieve.serve.models import Models
from sieve.serve.service import Service
from sieve.serve.settings import Settings
from sieve.serve.web.app import make_app

PACKAGE = str(Path(sieve.__file__).parent)
MOST_FRAMES = 10


def test_from_a_coroutine_to_the_function_it_awaits() -> None:
    """What is measured with measures: a chain of three coroutines has three frames."""

    async def inner() -> None:
        await asyncio.sleep(3600)

    async def middle() -> None:
        await inner()

    async def outer() -> list[str]:
        task = asyncio.ensure_future(middle())
        await asyncio.sleep(0)
        names = [frame.f_code.co_name for frame in awaiting(task)]
        task.cancel()
        return names

    assert asyncio.run(outer()) == ["middle", "inner", "sleep"]


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/translate", {"q": "bda fga\nkla"}),
        ("/translate", {"q": "<p>bda <b>fga</b></p>", "format": "html"}),
        ("/translate", {"texts": ["bda fga", "kla"], "src_lang": "en", "tgt_lang": "de"}),
        ("/v1/translate", {"texts": ["bda fga", "kla"]}),
    ],
)
def test_a_request_is_few_frames_from_the_native_call(
    models: Models, path: str, asked: dict[str, Any]
) -> None:
    stacks: list[list[str]] = []
    assert asyncio.run(answer(models, path, asked, stacks)) == 200
    assert stacks
    for stack in stacks:
        assert {"_work", "_finished"} <= set(stack)  # neither half is overlooked
        assert len(stack) <= MOST_FRAMES, stack


async def answer(models: Models, path: str, asked: dict[str, Any], stacks: list[list[str]]) -> int:
    """The status of the answer to a request; notes the frames at each native call."""
    settings = Settings(threads=1)
    service = Service(models, settings)
    languages = {} if "src_lang" in asked else {"source": "en", "target": "de"}
    body = json.dumps({**languages, **asked}).encode()
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])
    sent: list[Any] = []

    async def receive() -> Any:
        if message := next(messages, None):
            return message
        await asyncio.sleep(3600)  # the client stays

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path, "query_string": b"", "root_path": "",
        "headers": [(b"content-type", b"application/json")], "client": ("127.0.0.1", 1),
    }  # fmt: skip
    with watched(models, asyncio.get_running_loop(), stacks):
        await make_app(service, settings)(scope, receive, send)
    service.close()
    return int(sent[0]["status"])


@contextmanager
def watched(
    models: Models, loop: asyncio.AbstractEventLoop, stacks: list[list[str]]
) -> Iterator[None]:
    """Notes the names of this package's functions on the stack at each native call."""
    engine: Any = model_of(models, "en", "de").translator.engine
    native = engine._native  # private: there is no seam between the engine and its core

    class Watched:
        def __getattr__(self, name: str) -> Any:
            if name == "translate":
                frames = calling(sys._getframe(1))
                for task in asyncio.all_tasks(loop):
                    frames += awaiting(task)
                stacks.append([frame.f_code.co_name for frame in frames if of_package(frame)])
            return getattr(native, name)

    engine._native = Watched()
    try:
        yield
    finally:
        engine._native = native


def calling(frame: FrameType | None) -> list[FrameType]:
    """A frame and those that called it."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def awaiting(task: "asyncio.Task[Any]") -> list[FrameType]:
    """The frames of a task, from its coroutine to the one that it waits in."""
    frames, coroutine = [], task.get_coro()
    while (frame := getattr(coroutine, "cr_frame", None)) is not None:
        frames.append(frame)
        coroutine = coroutine.cr_await  # type: ignore[union-attr]
    return frames


def of_package(frame: FrameType) -> bool:
    """Whether a frame is this package's; the task that looks for a client that leaves waits for
    no translation."""
    return frame.f_code.co_filename.startswith(PACKAGE) and frame.f_code.co_name != "gone"
