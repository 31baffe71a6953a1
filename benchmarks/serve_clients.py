"""Clients of serve_load.py: those that do everything right, and those that do not."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

HEAD = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
PATIENCE = 60.0
"""Seconds after which a request is lost."""


@dataclass
class Tally:
    """What clients saw."""

    milliseconds: list[float] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    """Good requests that did not get their translation, by what they got."""
    malformed: Counter[str] = field(default_factory=Counter)
    """Bad requests by what they got."""


def good_request(text: str, source: str = "en") -> bytes:
    """A request that should be answered."""
    body = json.dumps({"q": text, "source": source, "target": "de"}).encode()
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


async def good_client(port: int, texts: list[str], end: float, tally: Tally) -> None:
    """One request after the other on one connection, until the time is over."""
    connection = None
    index = 0
    while time.monotonic() < end:
        request = good_request(texts[index % len(texts)])
        index += 1
        begin = time.perf_counter()
        try:
            if connection is None:
                connection = await asyncio.open_connection("127.0.0.1", port)
            reader, writer = connection
            writer.write(request)
            status, body = await asyncio.wait_for(answer(reader), PATIENCE)
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            tally.lost[type(error).__name__] += 1
            connection = None
            continue
        tally.milliseconds.append(1000 * (time.perf_counter() - begin))
        if status != 200 or b"translatedText" not in body:
            tally.lost[str(status)] += 1
    if connection is not None:
        connection[1].close()


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and body."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
    return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


async def metric(port: int, name: str) -> float:
    """A number of the server's metrics; asks again while nobody answers."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            _, body = await answer(reader)
            writer.close()
        except (OSError, EOFError):
            continue
        (line,) = (line for line in body.decode().splitlines() if line.startswith(f"{name} "))
        return float(line.split()[1])


async def bad_clients(port: int, number: int, seconds: float, tally: Tally) -> None:
    """So many bad requests, evenly over the time, each on a connection of its own."""
    rng = random.Random(1)
    begin = time.monotonic()
    room = asyncio.Semaphore(64)
    tasks = set()
    for count in range(number):
        await asyncio.sleep(max(0.0, begin + count * seconds / number - time.monotonic()))
        await room.acquire()
        task = asyncio.create_task(_bad_client(port, rng, tally))
        task.add_done_callback(lambda _: room.release())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.gather(*tasks)


async def _bad_client(port: int, rng: random.Random, tally: Tally) -> None:
    kind = rng.choice(KINDS)
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError as error:
        tally.malformed[f"{kind.__name__}: not connected, {type(error).__name__}"] += 1
        return
    try:
        found = await asyncio.wait_for(kind(reader, writer, rng), PATIENCE)
    except (OSError, EOFError):
        found = "closed"
    except asyncio.TimeoutError:
        found = "hangs"
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    tally.malformed[f"{kind.__name__}: {found}"] += 1


Kind = Callable[[asyncio.StreamReader, asyncio.StreamWriter, random.Random], Awaitable[str]]


async def _status(reader: asyncio.StreamReader) -> str:
    return str((await answer(reader))[0])


async def fuzzed(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rng: random.Random
) -> str:
    """A body that was JSON before some of its bytes were changed."""
    body = bytearray(json.dumps({"q": "a text", "source": "en", "target": "de"}).encode())
    for _ in range(rng.randint(1, 10)):
        body[rng.randrange(len(body))] = rng.randrange(256)
    body[0] = rng.choice(b"[}x\xff\x00")  # never JSON again
    writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + bytes(body))
    return await _status(reader)


async def garbage(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rng: random.Random
) -> str:
    """Bytes that are no HTTP."""
    writer.write(b"\xff" + rng.randbytes(rng.randint(10, 2000)) + b"\r\n\r\n")
    return await _status(reader)


async def announced(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rng: random.Random
) -> str:
    """A body that says it will be huge."""
    writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % rng.randrange(10**7, 10**12))
    return await _status(reader)


async def huge(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rng: random.Random
) -> str:
    """A body that is huge and does not say so."""
    writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(rng.randint(8, 20)):
        writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        await writer.drain()
    return await _status(reader)


async def encoding(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rng: random.Random
) -> str:
    """Text in no encoding, as JSON or form."""
    body = b'{"q": "\xff\xfe", "source": "en", "target": "de"}'
    head = HEAD
    if rng.random() < 0.5:
        head = HEAD.replace(b"application/json", b"application/x-www-form-urlencoded")
        body = b"q=%ff%fe&source=en&target=de"
    writer.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    return await _status(reader)


async def fields(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rng: random.Random
) -> str:
    """Good JSON that asks for nothing that there is."""
    wrong: list[object] = [7, None, "", [], {}, ["a", 7], "xx" * 20, -1, True]
    asked = {"q": "a text", "source": "en", "target": "de"}
    asked[rng.choice(list(asked))] = rng.choice(wrong)  # type: ignore[assignment]
    if isinstance(asked["q"], str) and asked["source"] == "en" and asked["target"] == "de":
        asked["q"] = ""
    body = json.dumps(asked).encode()
    writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    return await _status(reader)


async def slow(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rng: random.Random
) -> str:
    """Sends letter by letter, and goes away before the end."""
    for byte in HEAD[: rng.randint(5, 60)]:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.02)
    return "went away"


async def stalled(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rng: random.Random
) -> str:
    """Sends half of a body and waits."""
    writer.write(HEAD + b'Content-Length: 100\r\n\r\n{"q": "a te')
    if rng.random() < 0.9:
        await asyncio.sleep(rng.random())
        return "went away"
    return await _status(reader)


async def dropped(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rng: random.Random
) -> str:
    """A good request of much text, whose client does not wait for the answer."""
    writer.write(good_request("A sentence that nobody will read. " * rng.randint(1, 50)))
    await writer.drain()
    await asyncio.sleep(rng.random() * 0.01)
    return "went away"


KINDS: list[Kind] = [
    fuzzed, garbage, announced, huge, encoding, fields, slow, stalled, dropped,
]  # fmt: skip
