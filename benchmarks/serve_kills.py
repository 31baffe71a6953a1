"""Two workers under load, one of which is killed with SIGKILL every 20 seconds.

64 clients ask one thing after the other; a client whose connection breaks asks once more on a new
one. Before a worker is killed it is stopped and its connections are listed: a request that fails
on any other connection is one too many, and so is one that fails twice. The same clients also ask
one process, two workers that nobody kills, and CTranslate2 behind the same web layer (where it is
installed). Servers and clients share this machine.

  python benchmarks/serve_kills.py --duration 300
"""

import argparse
import asyncio
import os
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from cpu_common import earlier, ended_children_seconds, machine, note
from serve_clients import PATIENCE, good_request, metric
from serve_load import mixed, read_sentences, servers, shown_command, started
from sieve.files import write_json

WORKERS = 2
STARTS = "sieve_worker_starts_total"
"""Workers that have ever been ready."""


@dataclass
class Seen:
    """What clients saw."""

    milliseconds: list[float] = field(default_factory=list)
    """Of requests until their answer, the second try included."""
    statuses: Counter[int] = field(default_factory=Counter)
    broken: int = 0
    """Requests whose connection was that of a worker that was killed."""
    unexplained: Counter[str] = field(default_factory=Counter)
    """Requests that failed on another connection, by what was seen."""
    lost: int = 0
    """Requests that failed twice."""
    killed_ports: set[int] = field(default_factory=set)
    """Of clients whose worker was killed."""
    kills: int = 0
    back_seconds: list[float] = field(default_factory=list)
    """From a kill until another worker was ready."""


class Client:
    """Asks one thing after the other, and repeats once what fails."""

    def __init__(self, port: int, texts: list[str], seen: Seen) -> None:
        self.port, self.texts, self.seen = port, texts, seen
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def run(self, end: float) -> None:
        """Until the time is over."""
        number = 0
        while time.monotonic() < end:
            request = good_request(self.texts[number % len(self.texts)])
            number += 1
            begin = time.perf_counter()
            if not await self.asked(request) and not await self.asked(request):
                self.seen.lost += 1
            self.seen.milliseconds.append(1000 * (time.perf_counter() - begin))
        self.leave()

    async def asked(self, request: bytes) -> bool:
        """Whether a request gets its translation, on the connection that there is or a new one."""
        own_port = 0
        try:
            if self.streams is None:
                self.streams = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self.streams
            own_port = writer.get_extra_info("sockname")[1]
            writer.write(request)
            status, head = await asyncio.wait_for(answered(reader), PATIENCE)
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            self.leave()
            if own_port in self.seen.killed_ports:
                self.seen.broken += 1
            else:
                self.seen.unexplained[type(error).__name__] += 1
            return False
        self.seen.statuses[status] += 1
        if b"connection: close" in head:
            self.leave()
        return status == 200

    def leave(self) -> None:
        """Ends the connection."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


async def answered(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and head of an answer that has come whole."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
    await reader.readexactly(length)
    return int(head.split(b" ", 2)[1]), head


async def killer(port: int, server: psutil.Process, every: float, end: float, seen: Seen) -> None:
    """Kills the worker that has lived longest, again and again."""
    while time.monotonic() + every < end:
        await asyncio.sleep(every)
        before = await metric(port, STARTS)
        victim = min(server.children(), key=lambda child: child.create_time())
        victim.send_signal(signal.SIGSTOP)  # it accepts nothing more while it is looked at
        held = [each for each in victim.net_connections("tcp") if each.raddr]
        seen.killed_ports |= {each.raddr.port for each in held}
        begin = time.monotonic()
        victim.kill()
        seen.kills += 1
        while await metric(port, STARTS) <= before:
            await asyncio.sleep(0.02)
        seen.back_seconds.append(round(time.monotonic() - begin, 2))


def loaded(program: list[str], arguments: argparse.Namespace, every: float = 0.0) -> dict[str, Any]:
    """A server under load, of which a worker is killed every so many seconds."""
    sentences = read_sentences(arguments.data)

    async def load(port: int, server: psutil.Process) -> Seen:
        await Client(port, mixed(sentences, seed=99), Seen()).run(time.monotonic() + 1.0)  # warm
        seen, end = Seen(), time.monotonic() + arguments.duration
        clients = [Client(port, mixed(sentences, seed), seen) for seed in range(arguments.clients)]
        work = [client.run(end) for client in clients]
        await asyncio.gather(*work, *([killer(port, server, every, end, seen)] if every else []))
        return seen

    before = ended_children_seconds()
    with started(program) as (port, server):
        seen = asyncio.run(load(port, server))
    cpu_seconds = ended_children_seconds() - before
    times = np.array(seen.milliseconds)
    result: dict[str, Any] = {
        "requests": len(times),
        "requests_a_second": round(len(times) / arguments.duration, 2),
        "ms": {f"p{q}": round(float(np.percentile(times, q)), 2) for q in (50, 90, 99)},
        "cpu_ms_a_request": round(1000 * cpu_seconds / len(times), 2),
        "longest_ms": round(float(times.max()), 2),
        "statuses": {str(status): count for status, count in sorted(seen.statuses.items())},
        "failed_on_other_connections": dict(seen.unexplained),
        "lost_after_a_second_try": seen.lost,
    }
    if every:
        result |= {
            "kills": seen.kills,
            "broken_by_kills": seen.broken,
            "seconds_until_replaced": sorted(seen.back_seconds),
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="en-de", help="directory or built-in name")
    parser.add_argument("--duration", type=float, default=300.0, help="seconds for each server")
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two kills")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="SERVER",
        help="by its name in the result; what was measured before stays under `earlier`",
    )
    parser.add_argument("--data", type=Path, help="directory with test sets, as for serve_load.py")
    parser.add_argument("--output", type=Path, default=Path("docs/results/serve_kills.json"))
    arguments = parser.parse_args()
    if (busy := os.getloadavg()[0]) > 0.5:
        note(f"this machine is busy (load {busy:.1f}): times will be too long")
    programs = servers(argparse.Namespace(model=arguments.model, only=""))
    workers = [*programs["sieve"], "--workers", str(WORKERS)]
    runs: dict[str, tuple[list[str], float]] = {
        "two_workers_killed": (workers, arguments.every),
        "two_workers": (workers, 0.0),
        "one_process": (programs["sieve"], 0.0),
    }
    if find_spec("ctranslate2"):
        runs["ctranslate2"] = (programs["ctranslate2"], 0.0)
    result: dict[str, Any] = {
        "command": shown_command(),
        "what": "requests of 64 clients, each one after the other, on /translate, mixed lengths; "
        "clients and servers on the same cores; CTranslate2 as in serve_load.json, one process",
        "machine": machine(),
        "clients": arguments.clients,
        "seconds": arguments.duration,
        "seconds_between_kills": arguments.every,
        "servers": {},
        **earlier(arguments.output, arguments.only),
    }
    for name, (program, every) in runs.items():
        if name in (arguments.only or runs):
            result["servers"][name] = loaded(program, arguments, every)
            note(f"{name}: {result['servers'][name]}")
            write_json(arguments.output, result)


if __name__ == "__main__":
    main()
