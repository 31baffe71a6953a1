"""A corpus through `sieve bulk` on a cluster of several nodes, whose processes are killed.

    python benchmarks/bulk_kills.py [--lines 200000]

Workers are killed with SIGKILL five times, the raylet of a node once (another node takes its
place), the driver twice, which then resumes. The output must be byte for byte that of
`sieve translate` in one process. Writes docs/results/bulk_kills.json. Needs the extra ray.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from sieve.files import file_hash, read_json, write_json

RESULT = Path(__file__).parents[1] / "docs" / "results" / "bulk_kills.json"
LINES = 200_000
SEARCH = ("--beam-size", "1")
KILLS = (
    (0.10, "worker"), (0.20, "worker"), (0.30, "driver"), (0.40, "worker"), (0.50, "node"),
    (0.60, "worker"), (0.70, "driver"), (0.80, "worker"),
)  # fmt: skip
"""What is killed once which share of the pieces is finished."""
NODES = 3
_WHO = ("The old man", "My sister", "A small dog", "Nobody", "The teacher", "She", "He", "Anna")
_DOES = ("sees", "likes", "has", "found", "sold", "needs", "forgot", "bought", "wants", "knows")


def corpus(path: Path, lines: int) -> None:
    """Short sentences, no two of them the same, with blank lines among them."""
    rng = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            sentence = f"{rng.choice(_WHO)} {rng.choice(_DOES)} {number}.\n"
            file.write("\n" if number % 1009 == 7 else sentence)


def translated(source: Path, target: Path) -> float:
    """The same by one process; gives the seconds."""
    started = time.monotonic()
    command = [sys.executable, "-m", "sieve.cli", "translate", "en-de", *SEARCH]
    subprocess.run(
        [*command, "--input", str(source), "--output", str(target)],
        check=True,
        capture_output=True,
    )
    return time.monotonic() - started


@contextmanager
def nodes() -> Iterator[Any]:
    """A cluster of nodes that are processes of this machine, with a core each."""
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    for _ in range(NODES - 1):
        cluster.add_node(num_cpus=1)
    try:
        yield cluster
    finally:
        cluster.shutdown()


class Driver:
    """`sieve bulk` in a process of its own, started again whenever it is killed."""

    def __init__(self, source: Path, output: Path, address: str) -> None:
        self.output = output
        self.starts = 0
        self._command = [sys.executable, "-m", "sieve.cli", "bulk", "en-de", *SEARCH]
        self._command += [str(source), "--output", str(output), "--address", address, "--resume"]
        self.log = output.with_name("driver.log")
        self.start()

    def start(self) -> None:
        """Starts it, or starts it again."""
        self.starts += 1
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stderr=log, stdout=log)

    @property
    def finished(self) -> int:
        """Finished pieces."""
        return sum(1 for _ in self.output.glob(".pieces/*/*.jsonl"))

    def kill(self) -> None:
        """Kills it; it resumes."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.start()


def workers() -> list[psutil.Process]:
    """The processes of actors that translate now."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if "PieceActor" in " ".join(process.info["cmdline"] or ())
    ]


def _kill_worker(driver: Driver, cluster: Any) -> None:
    while not (alive := workers()):
        time.sleep(0.1)
    random.Random(driver.finished).choice(alive).kill()


def _kill_driver(driver: Driver, cluster: Any) -> None:
    driver.kill()


def _kill_node(driver: Driver, cluster: Any) -> None:
    """The raylet of a node that is not the driver's, with all its workers; another node comes."""
    node = cluster.worker_nodes.copy().pop()
    node.kill_raylet()
    cluster.add_node(num_cpus=1)


_WAYS: dict[str, Callable[[Driver, Any], None]] = {
    "worker": _kill_worker,
    "driver": _kill_driver,
    "node": _kill_node,
}


def proof(lines: int, folder: Path) -> dict[str, Any]:
    """Translates, kills and compares."""
    source, expected = folder / "in.txt", folder / "expected.txt"
    corpus(source, lines)
    alone = translated(source, expected)
    pieces = -(-lines // 1000)
    killed: dict[str, int] = {}
    started = time.monotonic()
    with nodes() as cluster:
        driver = Driver(source, folder / "out", cluster.address)
        for share, what in KILLS:
            while driver.finished < share * pieces:
                if driver.process.poll() is not None:
                    raise RuntimeError(f"the driver ended: {driver.log.read_text()[-2000:]}")
                time.sleep(0.05)
            _WAYS[what](driver, cluster)
            killed[what] = killed.get(what, 0) + 1
        if driver.process.wait() != 0:
            raise RuntimeError(f"the driver failed: {driver.log.read_text()[-2000:]}")
    output = folder / "out" / "in.txt"
    manifest = read_json(folder / "out" / "manifest.json")
    with output.open("rb") as file:
        rows = sum(1 for _ in file)
    return {
        "command": f"python benchmarks/bulk_kills.py --lines {lines}",
        "model": "en-de",
        "search": " ".join(SEARCH),
        "nodes": NODES,
        "lines": lines,
        "lines_out": rows,
        "pieces": manifest["pieces"],
        "killed": killed,
        "driver_starts": driver.starts,
        "identical": file_hash(output) == file_hash(expected),
        "sha256": file_hash(output),
        "tokens": manifest["tokens"],
        "seconds_with_kills": round(time.monotonic() - started, 1),
        "seconds_of_one_process": round(alone, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=LINES)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = proof(arguments.lines, Path(folder))
    print(result)
    if not result["identical"] or result["lines_out"] != arguments.lines:
        raise SystemExit("the output is not that of one process")
    write_json(RESULT, result)


if __name__ == "__main__":
    main()
