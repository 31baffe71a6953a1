"""Two workers are one server: models in memory once, documents, limits and metrics of both."""

import http.client
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from serving import PATIENCE, ServerProcess, served, until

from sieve.bundle.catalogue import find_model
from sieve.bundle.directory import open_bundle, write_bundle
from sieve.bundle.weights import float_tensors
from sieve.files import CAN_SEAL

pytestmark = pytest.mark.skipif(not CAN_SEAL, reason="several workers need Linux")
MODEL = find_model("en-de")
GOOD = {"q": "Good morning.", "source": "en", "target": "de"}


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with served(str(MODEL), "--workers", "2", "--rate-limit", "500", "--queue", "3") as server:
        until(lambda: read_by_both(server, MODEL))
        yield server


@pytest.fixture(scope="module")
def floats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model in float32."""
    directory = tmp_path_factory.mktemp("floats") / "en-de"
    bundle = open_bundle(MODEL)
    tokenizers, files = bundle.tokenizers(), bundle.optional_files()
    write_bundle(directory, bundle.sections("weights"), float_tensors(bundle), tokenizers, files)
    return directory


def read_by_both(server: ServerProcess, model: Path) -> bool:
    """Whether both workers have read the weights: a page is there once somebody has."""
    assert server.site.post("/translate", GOOD).json == {"translatedText": "Guten Morgen."}
    return all(mapped(pid).values["Rss"] > weights(model) * 0.9 for pid in server.workers)


@dataclass(frozen=True)
class Mapped:
    """A mapping of a process."""

    inode: str
    flags: str
    values: Mapping[str, int]
    """Bytes."""


def mapped(pid: int) -> Mapped:
    """Where the sealed copy of the model is."""
    text = Path(f"/proc/{pid}/smaps").read_text()
    block = next(b for b in re.split(r"\n(?=[0-9a-f]+-)", text) if "/memfd:sieve-model" in b)
    head, *lines = block.splitlines()
    values = {
        name: 1024 * int(kb) for name, kb in re.findall(r"(\w+): +(\d+) kB", "\n".join(lines))
    }
    return Mapped(head.split()[4], head.split()[1], values)


def weights(model: Path) -> int:
    return (model / "model.safetensors").stat().st_size


def anonymous(pid: int) -> int:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return 1024 * int(re.search(r"Anonymous: +(\d+)", text)[1])  # type: ignore[index]


def check_shared(server: ServerProcess, model: Path) -> None:
    """That two workers have one copy of the weights, and beside it no other."""
    size = weights(model)
    first, second = (mapped(pid) for pid in server.workers)
    assert first.inode == second.inode  # one file, the same pages
    assert (first.flags, second.flags) == ("r--s", "r--s")
    for each in (first, second):
        assert each.values["Private_Dirty"] + each.values["Private_Clean"] < size * 0.1
    assert first.values["Pss"] + second.values["Pss"] < size * 1.2
    with served(str(model)) as alone:  # has the weights in memory of its own
        assert alone.site.post("/translate", GOOD).status == 200
        own = anonymous(alone.process.pid)
    for pid in server.workers:
        assert anonymous(pid) < own - size * 0.7


def test_the_weights_are_in_memory_once(server: ServerProcess) -> None:
    check_shared(server, MODEL)


def test_those_in_float32_too(floats: Path) -> None:
    with served(str(floats), "--workers", "2") as server:
        until(lambda: read_by_both(server, floats))
        check_shared(server, floats)
        assert anonymous(server.process.pid) < weights(floats)  # the supervisor keeps no other


def test_nobody_can_change_the_weights(server: ServerProcess) -> None:
    """Not even the supervisor, which has the descriptor."""
    folder = Path(f"/proc/{server.process.pid}/fd")
    places = [p for p in folder.iterdir() if "memfd:sieve-model" in os.readlink(p)]
    assert len(places) == 1
    descriptor = os.open(places[0], os.O_RDWR)
    try:
        with pytest.raises(PermissionError):
            os.pwrite(descriptor, b"x", 100)
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def test_a_document_of_one_worker_is_fetched_from_any(server: ServerProcess) -> None:
    body = (
        b'--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        b'Good morning.\r\n--b\r\ncontent-disposition: form-data; name="source"\r\n\r\nen\r\n'
        b'--b\r\ncontent-disposition: form-data; name="target"\r\n\r\nde\r\n--b--\r\n'
    )
    answer = server.site.ask("POST", "/translate_file", body, "multipart/form-data; boundary=b")
    path = "/" + answer.json["translatedFileUrl"].split("/", 3)[3]
    asked = [worker_of(server, path) for _ in range(20)]
    assert {content for _, content in asked} == {b"Guten Morgen."}
    assert {worker for worker, _ in asked} - {0} == set(server.workers)
    assert server.site.ask("GET", "/download_file/unknown.txt").status == 404


def worker_of(server: ServerProcess, path: str) -> tuple[int, bytes]:
    """Which process serves a request, and the answer's body."""
    with socket.create_connection(("127.0.0.1", server.site.port), PATIENCE) as sock:
        sock.sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        response = http.client.HTTPResponse(sock)
        response.begin()
        assert response.status == 200
        return holder(server, sock), response.read()


def holder(server: ServerProcess, sock: socket.socket) -> int:
    """The worker that has the other end of a connection; 0 where it has ended it."""
    own, theirs = sock.getsockname()[1], sock.getpeername()[1]
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ports = {(int(r[1].split(":")[1], 16), int(r[2].split(":")[1], 16)): r[9] for r in rows}
    inode = ports.get((theirs, own), "")
    for pid in server.workers:
        links = [
            os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()
        ]
        if f"socket:[{inode}]" in links:
            return pid
    return 0


def test_connections_are_shared_out_evenly(server: ServerProcess) -> None:
    """Unless a worker on a busy machine is late with its sign of life: then another time."""
    until(lambda: shares(server) == {10})


def shares(server: ServerProcess) -> set[int]:
    """How many of 20 connections each worker gets."""
    with ExitStack() as stack:
        socks = []
        for _ in range(20):
            place = ("127.0.0.1", server.site.port)
            socks.append(stack.enter_context(socket.create_connection(place, PATIENCE)))
            socks[-1].sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            socks[-1].recv(10**5)
        workers = [holder(server, sock) for sock in socks]
        return {workers.count(pid) for pid in server.workers}


def test_metrics_are_those_of_both(server: ServerProcess) -> None:
    line = 'sieve_request_seconds_count{route="/health",status="200"}'
    before = server.site.metric(line)
    for _ in range(10):
        server.site.ask("GET", "/health")
    assert {server.site.metric(line) for _ in range(6)} == {before + 10}
    assert server.site.metric("sieve_worker_starts_total") == 2
    assert server.site.metric("sieve_open_models") == 2
    assert server.site.metric('process_resident_memory_bytes{worker="1"}') > 0
    assert server.site.metric('sieve_model_seconds_count{model="en-de"}') >= 2


def test_a_client_has_one_rate(server: ServerProcess) -> None:
    """Five hundred texts a minute, which each of two workers would allow by itself."""
    statuses = []
    for _ in range(12):
        asked = {**GOOD, "q": ["x"] * 100, "target": "en"}
        statuses.append(server.site.post("/translate", asked).status)
    assert 3 <= statuses.count(200) <= 5  # a few texts were asked for before
    assert set(statuses[-4:]) == {429}
