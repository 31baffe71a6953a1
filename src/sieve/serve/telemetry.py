"""What the server counts, for Prometheus. Only this module knows prometheus_client.

Each worker has counts of its own on the board; whoever is asked adds them up.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from sieve.serve.shared.board import Board

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
SET_SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


@dataclass(frozen=True)
class _Counted:
    """Something that is counted, in all or by size."""

    name: str
    text: str
    labels: tuple[str, ...]
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram's buckets; its row has a value for each, one for what is
    larger, and the sum."""

    def amounts(self, value: float) -> dict[int, float]:
        """What a value adds to a row."""
        if not self.buckets:
            return {0: value}
        return {bisect_left(self.buckets, value): 1.0, len(self.buckets) + 1: value}

    @property
    def size(self) -> int:
        """Values of a row."""
        return len(self.buckets) + 2 if self.buckets else 1

    def metric(self, rows: Iterable[tuple[list[str], npt.NDArray[np.float64]]]) -> Metric:
        """As Prometheus has it.

        Args:
            rows: Labels and values.
        """
        if not self.buckets:
            counter = CounterMetricFamily(self.name, self.text, labels=self.labels)
            for labels, values in rows:
                counter.add_metric(labels, float(values[0]))
            return counter
        histogram = HistogramMetricFamily(self.name, self.text, labels=self.labels)
        bounds = [
            floatToGoString(bound)  # type: ignore[no-untyped-call]
            for bound in (*self.buckets, float("inf"))
        ]
        for labels, values in rows:
            counts = np.cumsum(values[:-1]).tolist()
            buckets = list(zip(bounds, counts, strict=True))
            histogram.add_metric(labels, buckets, float(values[-1]))
        return histogram


_REQUEST = _Counted(
    "sieve_request_seconds", "Time from a request's head to its answer",
    ("route", "status"), SECONDS,
)  # fmt: skip
_MODEL = _Counted(
    "sieve_model_seconds", "Time from a request's texts to their translations, with the queue",
    ("model",), SECONDS,
)  # fmt: skip
_SET_SIZE = _Counted(
    "sieve_set_size_words", "Size of the shortlist that a sentence was translated with",
    ("model",), SET_SIZES,
)  # fmt: skip
_REFUSED = _Counted("sieve_refused_requests", "Requests that were not served", ("reason",))
_STARTED = _Counted("sieve_worker_starts", "Workers that were started", ())
_COUNTED = (_REQUEST, _MODEL, _SET_SIZE, _REFUSED, _STARTED)
_GAUGES = {
    "sieve_accepted_requests": ("accepted", "Requests accepted and not yet answered"),
    "sieve_queue_length": ("waiting", "Sentences that no thread has taken yet"),
    "sieve_open_models": ("models", "Models that are open, of all workers"),
}


class Telemetry:
    """Histograms and counters of one server."""

    def __init__(self, board: Board, refresh: Callable[[], None] = lambda: None) -> None:
        """Counts on a board.

        Args:
            board: Of all workers.
            refresh: Brings this worker's numbers on the board up to date.
        """
        self._board = board
        self._own = board.counts[board.number]
        self._registry = CollectorRegistry()
        if board.workers == 1:
            ProcessCollector(registry=self._registry)
        self._registry.register(_Collected(board, refresh))

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request has its answer."""
        self._count(_REQUEST, seconds, route, str(status))

    def took(self, model: str, seconds: float) -> None:
        """A request's texts are translated."""
        self._count(_MODEL, seconds, model)

    def translated(self, model: str, set_size: int) -> None:
        """A sentence is translated."""
        self._count(_SET_SIZE, set_size, model)

    def refused(self, reason: str) -> None:
        """A request is not served, or its client has left."""
        self._count(_REFUSED, 1, reason)

    def begun(self) -> None:
        """A worker begins."""
        self._count(_STARTED, 1)

    def text(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self._registry)

    def _count(self, counted: _Counted, value: float, *labels: str) -> None:
        row = json.dumps([counted.name, *labels])
        self._own.add(row, counted.size, counted.amounts(value))


class _Collected(Collector):
    def __init__(self, board: Board, refresh: Callable[[], None]) -> None:
        self._board, self._refresh = board, refresh

    def collect(self) -> Iterable[Metric]:
        self._refresh()
        if self._board.workers > 1:
            yield from _processes(self._board.pids)
        totals: dict[str, npt.NDArray[np.float64]] = {}
        for counts in self._board.counts:
            for row, values in counts.rows():
                totals[row] = totals[row] + values if row in totals else values
        rows = [(json.loads(row), values) for row, values in sorted(totals.items())]
        for counted in _COUNTED:
            own = [(labels, values) for (name, *labels), values in rows if name == counted.name]
            yield counted.metric(own)
        for name, (number, text) in _GAUGES.items():
            yield GaugeMetricFamily(name, text, value=self._board.total(number))


def _processes(pids: dict[int, int]) -> Sequence[Metric]:
    """Memory, CPU time and files of each worker, by its number."""
    families: dict[str, Metric] = {}
    for worker, pid in pids.items():
        collector = ProcessCollector(pid=lambda pid=pid: pid, registry=None)  # type: ignore[misc]
        for metric in collector.collect():
            samples, metric.samples = metric.samples, []
            family = families.setdefault(metric.name, metric)
            family.samples += [
                sample._replace(labels={"worker": str(worker)}) for sample in samples
            ]
    return [*families.values()]
