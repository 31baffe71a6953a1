"""What the server counts, for Prometheus. Only this module knows prometheus_client."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
SET_SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


class Telemetry:
    """Histograms and counters of one server."""

    def __init__(self, queue_length: Callable[[], float]) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._seconds = Histogram(
            "sieve_request_seconds",
            "Time from a request's head to its answer",
            ["route", "status"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._set_size = Histogram(
            "sieve_set_size_words",
            "Size of the shortlist that a sentence was translated with",
            ["model"],
            buckets=SET_SIZES,
            registry=self._registry,
        )
        self._refused = Counter(
            "sieve_refused_requests",
            "Requests that were not served",
            ["reason"],
            registry=self._registry,
        )
        self._accepted = Gauge(
            "sieve_accepted_requests",
            "Requests accepted and not yet answered",
            registry=self._registry,
        )
        queue = Gauge(
            "sieve_queue_length",
            "Sentences that no thread has taken yet",
            registry=self._registry,
        )
        queue.set_function(queue_length)

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request has its answer."""
        self._seconds.labels(route, str(status)).observe(seconds)

    def translated(self, model: str, set_size: int) -> None:
        """A sentence is translated."""
        self._set_size.labels(model).observe(set_size)

    def refused(self, reason: str) -> None:
        """A request is not served, or its client has left."""
        self._refused.labels(reason).inc()

    def accepted(self, number: int) -> None:
        """The number of requests being worked on changes."""
        self._accepted.set(number)

    def text(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self._registry)
