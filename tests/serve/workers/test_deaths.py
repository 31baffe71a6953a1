"""Whatever dies: workers, the supervisor, or both, by signals and by themselves."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from serving import PATIENCE, Site, served, until

from sieve.bundle.integrity import seal
from sieve.files import CAN_SEAL

pytestmark = pytest.mark.skipif(not CAN_SEAL, reason="several workers need Linux")
GOOD = {"q": "bda", "source": "en", "target": "de"}


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def answered(site: Site) -> bool:
    try:
        return site.post("/translate", GOOD).status == 200
    except (OSError, http.client.HTTPException):
        return False


def test_a_worker_that_is_killed_is_replaced(directories: list[Path]) -> None:
    with served(*map(str, directories), "--workers", "2") as server:
        counted = 'sieve_request_seconds_count{route="/translate",status="200"}'
        assert all(answered(server.site) for _ in range(4))
        victim, other = server.workers
        os.kill(victim, signal.SIGKILL)
        until(lambda: len(server.workers) == 2 and victim not in server.workers)
        assert other in server.workers
        assert all(answered(server.site) for _ in range(4))
        until(lambda: server.site.metric("sieve_worker_starts_total") == 3)
        assert server.site.metric(counted) == 8  # what the dead one has counted is not lost
        assert server.said(f"(process {victim}) was killed by signal 9")


def test_a_client_that_retries_once_loses_nothing(directories: list[Path]) -> None:
    failures, done, lock = list[str](), list[float](), threading.Lock()
    with served(*map(str, directories), "--workers", "2") as server:
        going_on = threading.Event()
        going_on.set()

        def client() -> None:
            while going_on.is_set():
                begin = time.monotonic()
                if not (answered(server.site) or answered(server.site)):
                    failures.append("twice")
                with lock:
                    done.append(time.monotonic() - begin)

        clients = [threading.Thread(target=client) for _ in range(8)]
        for each in clients:
            each.start()
        for kills in range(1, 4):
            time.sleep(0.3)
            os.kill(server.workers[0], signal.SIGKILL)
            starts = 2 + kills
            until(lambda: server.site.metric("sieve_worker_starts_total") == starts)  # noqa: B023
        going_on.clear()
        for each in clients:
            each.join(PATIENCE)
    assert not failures and len(done) > 8


def test_what_a_dead_worker_had_accepted_is_free_again(directories: list[Path]) -> None:
    with served(*map(str, directories), "--workers", "2", "--queue", "1") as server:
        victim = server.workers[0]
        os.kill(victim, signal.SIGSTOP)  # with whatever it has
        slow = threading.Thread(target=lambda: server.site.post("/translate", GOOD))
        slow.start()
        os.kill(victim, signal.SIGKILL)
        slow.join(PATIENCE)
        until(lambda: answered(server.site))
        assert server.site.metric("sieve_accepted_requests") == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_once_answers_are_given(
    directories: list[Path], number: signal.Signals
) -> None:
    with served(*map(str, directories), "--workers", "2") as server:
        workers, answers = server.workers, list[int]()
        text = {**GOOD, "q": "bda fga kla ste. " * 100}
        clients = [
            threading.Thread(
                target=lambda: answers.append(server.site.post("/translate", text).status)
            )
            for _ in range(4)
        ]
        for client in clients:
            client.start()
        until(lambda: server.site.metric("sieve_accepted_requests") >= 1 or answers)
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == 0
        for client in clients:
            client.join(PATIENCE)
        assert answers.count(200) >= 1 and set(answers) <= {200}
        assert not any(map(alive, workers))
    assert len(server.errors) == 1, server.errors  # nothing but that it has started


def test_workers_end_with_their_supervisor(directories: list[Path]) -> None:
    with served(*map(str, directories), "--workers", "2") as server:
        workers, port = server.workers, server.site.port
        server.process.kill()
        until(lambda: not any(map(alive, workers)))
    with served(str(directories[0]), "--workers", "2", "--port", str(port)) as another:
        assert answered(another.site)  # nobody holds the port


@pytest.mark.slow
def test_workers_that_end_as_soon_as_they_start(directories: list[Path]) -> None:
    with served(*map(str, directories), "--workers", "2") as server:
        end = time.monotonic() + PATIENCE
        while server.process.poll() is None and time.monotonic() < end:
            for pid in server.workers:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        assert server.process.returncode == 2
    last = server.errors[-1]
    assert last == "sieve serve: 12 workers in a row ended as soon as they had started\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: (path / "model.safetensors").write_bytes(b"x" * 100), "damaged or changed"),
        (lambda path: (path / "config.json").unlink(), "it has no config.json"),
    ],
)
def test_a_damaged_model_is_one_line_before_any_start(
    directories: list[Path], tmp_path: Path, change: Callable[[Path], object], message: str
) -> None:
    shutil.copytree(directories[0], tmp_path / "m")
    seal(tmp_path / "m")
    change(tmp_path / "m")
    done = subprocess.run(
        [sys.executable, "-m", "sieve.cli", "serve", str(tmp_path / "m"), "--port", "0",
         "--workers", "2"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and message in done.stderr


def test_a_worker_that_cannot_start_ends_the_server(
    directories: list[Path], tmp_path: Path
) -> None:
    """What only the engine sees: the weights are whole, and of another shape than the rest."""
    model = tmp_path / "m"
    shutil.copytree(directories[0], model)
    config = json.loads((model / "config.json").read_text())
    config["model"]["d_ff"] += 64
    (model / "config.json").write_text(json.dumps(config))
    done = subprocess.run(
        [sys.executable, "-m", "sieve.cli", "serve", str(model), "--port", "0", "--workers", "2"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "could not start" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
