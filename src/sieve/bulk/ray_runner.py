"""Pieces translated on a Ray cluster by Ray Data: the only file of the room that knows Ray.

The driver's node reads the inputs, actors translate, the driver keeps what comes back. Nodes need
Sieve and the model, neither inputs nor outputs.
"""

from __future__ import annotations

import logging
import os
import queue
import socket
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from sieve.bulk.cells import ModelUse, model_hash
from sieve.bulk.local_runner import NamedContent, piece_work
from sieve.bulk.planning import PendingPieces
from sieve.errors import ConfigError, InputError, SieveError, require
from sieve.log import logger

STALL = 1800.0
"""Seconds without a finished piece after which the rest is started anew."""
_ROUNDS = 3
_READERS = 8  # files that are read side by side
_REACH = 20.0  # seconds that a cluster may take to answer
_CHECK = 120.0  # seconds that a node may take to look at its model


class PieceActor:
    """Translates pieces in a process of a node."""

    def __init__(self, use: ModelUse) -> None:
        self._work = piece_work(use)

    def __call__(self, batch: Any) -> Any:
        """A table of names and texts; gives one of names and contents."""
        import pyarrow

        pairs = zip(batch["key"].to_pylist(), batch["texts"].to_pylist(), strict=True)
        keys, contents = zip(*map(self._work, pairs), strict=True)
        columns = {
            "key": pyarrow.array(keys, pyarrow.string()),
            "content": pyarrow.array(contents, pyarrow.large_binary()),
        }
        return pyarrow.table(columns)


class RayRunner:
    """Actors of a cluster, which is connected to while a block lasts."""

    def __init__(self, use: ModelUse, address: str | None, workers: int | None, threads: int):
        """Connects to nothing yet.

        Args:
            use: The model and what is asked of it.
            address: Of a running cluster; None for one of this machine that ends with the block.
            workers: Actors; None for as many as the cluster has cores for.
            threads: Of each actor.
        """
        require("ray.data", "ray", "bulk translation on Ray")
        self._use, self._address = use, address
        self._workers, self._threads = workers, threads
        self._ray: Any = None

    def __enter__(self) -> RayRunner:
        self._ray = _connected(self._address)
        try:
            _check_nodes(self._ray, self._use)
        except BaseException:
            self._ray.shutdown()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._ray.shutdown()

    def run(self, pending: PendingPieces) -> Iterator[NamedContent]:
        """Translates pieces; what a dying cluster swallowed is asked for again."""
        done: set[str] = set()
        for _ in range(_ROUNDS):
            for key, content in self._round(pending):
                done.add(key)
                yield key, content
            pending = PendingPieces.of(pending.plan, done | pending.left_out)
            if not len(pending):
                return
            logger.warning("%d pieces did not come back and are sent again", len(pending))
            self._ray.shutdown()  # with the actors that wait
            self._ray = _connected(self._address)

    def _round(self, pending: PendingPieces) -> Iterator[NamedContent]:
        """One pass of Ray Data over pieces; ends early where nothing comes back for long."""
        arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        dataset = self._dataset(self._ray, pending)

        def consume() -> None:
            try:
                for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
                    for row in batch.to_pylist():
                        arrived.put((row["key"], row["content"]))
                arrived.put(None)
            except BaseException as error:  # goes to whoever waits
                arrived.put(error)

        threading.Thread(target=consume, daemon=True).start()
        while True:
            try:
                item = arrived.get(timeout=STALL)
            except queue.Empty:
                return
            if item is None:
                return
            if isinstance(item, BaseException):
                raise _in_a_line(item) from item
            yield item

    def _dataset(self, ray: Any, pending: PendingPieces) -> Any:
        cores = ray.cluster_resources().get("CPU", 1)
        workers = self._workers or max(1, int(cores // self._threads))
        workers = min(workers, len(pending))
        groups = pending.groups(_READERS)
        source = ray.data.read_datasource(
            _datasource(ray, groups), num_cpus=0, concurrency=len(groups)
        )
        return source.map_batches(
            PieceActor,
            fn_constructor_args=(self._use,),
            batch_size=None,
            batch_format="pyarrow",
            num_cpus=self._threads,
            compute=ray.data.ActorPoolStrategy(size=workers),
        )


def _datasource(ray: Any, groups: list[PendingPieces]) -> Any:
    """Pending pieces as a source of Ray Data: a block per piece, read on the driver's node."""
    from ray.data.block import BlockMetadata
    from ray.data.datasource import ReadTask

    class PieceSource(ray.data.Datasource):  # type: ignore[misc]
        """The inputs, cut into pieces."""

        def get_name(self) -> str:
            """For Ray's log."""
            return "Pieces"

        def estimate_inmemory_data_size(self) -> None:
            """Nobody knows."""

        @property
        def supports_distributed_reads(self) -> bool:
            """Other nodes need not have the inputs."""
            return False

        def get_read_tasks(self, parallelism: int, *rest: Any, **named: Any) -> list[Any]:
            """Tasks that read some of the files each."""
            return [ReadTask(_reader(group), metadata) for group in groups]

    metadata = BlockMetadata(num_rows=None, size_bytes=None, input_files=None, exec_stats=None)
    return PieceSource()


def _reader(pending: PendingPieces) -> Any:
    def read() -> Iterator[Any]:
        import pyarrow

        for key, texts in pending:
            yield pyarrow.table({"key": [key], "texts": [texts]})

    return read


def _connected(address: str | None) -> Any:
    """Ray, connected; quiet but for errors."""
    if address is not None and address.startswith("ray://"):
        raise ConfigError(
            f"--address {address}: Ray Data needs a driver in the cluster; run sieve bulk on one "
            "of its nodes (ray job submit) with --address auto"
        )
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    import ray

    try:
        host, colon, port = (address or "").rpartition(":")
        if colon and port.isdecimal():  # Ray itself would try for minutes
            socket.create_connection((host, int(port)), _REACH).close()
        ray.init(
            address or "local",
            logging_level=logging.ERROR,
            log_to_driver=False,
            include_dashboard=None if address else False,
        )
    except (ValueError, RuntimeError, OSError) as error:
        raise InputError(
            f"--address {address}: no Ray cluster can be reached: {_first_line(error)}"
        ) from None
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.target_max_block_size = 1  # a block per piece: Ray must not join or cut them
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=UserWarning, module=r"ray\.")
    return ray


def _check_nodes(ray: Any, use: ModelUse) -> None:
    """Refuses a cluster with a node that lacks Sieve or the model, before any work."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    probe = ray.remote(num_cpus=0, max_retries=1)(_model_here)
    answers = {}
    for node in ray.nodes():
        if node["Alive"]:
            strategy = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            answers[node["NodeManagerAddress"]] = probe.options(
                scheduling_strategy=strategy
            ).remote(use.model)
    for name, answer in answers.items():
        try:
            digest, problem = ray.get(answer, timeout=_CHECK)
        except Exception as error:
            raise InputError(f"node {name}: cannot be used: {_first_line(error)}") from None
        if problem:
            raise InputError(f"node {name}: {problem}")
        if digest != use.model_hash:
            raise InputError(
                f"node {name}: '{use.model}' is another model there (hash {digest[:12]}, here "
                f"{use.model_hash[:12]}); put the same one on every node"
            )


def _model_here(model: str) -> tuple[str, str]:
    """The hash of a model on this node, or what is wrong with it."""
    try:
        return model_hash(model), ""
    except SieveError as error:
        return "", str(error)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _in_a_line(error: BaseException) -> BaseException:
    """What ended a job, as an error of ours where it is one in Ray's wrapping."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, SieveError | KeyboardInterrupt):
            return cause
        cause = getattr(cause, "cause", None) or cause.__cause__
    return InputError(f"Ray: {_first_line(error)}; --resume continues the run")
