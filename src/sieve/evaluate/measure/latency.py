"""How long a sentence takes, one at a time: what someone who waits for it sees.

Wall clock around one call of the engine with one sentence, selection included; tokenization is
not. The ways to select take turns on every sentence, so that a machine that slows down slows all.
For numbers to publish use fresh processes on a quiet machine.
"""

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sieve.engines.engine import Engine
from sieve.engines.options import SearchOptions
from sieve.selection.plan import Selector
from sieve.tokenize.vocabulary import IntArray

WARM_UP = 3
"""Sentences translated first and not counted."""


@dataclass(frozen=True)
class Latency:
    """Milliseconds a sentence, half and nine tenths of which take less."""

    p50: float
    p90: float
    sentences: int


def measure_latency(
    engine: Engine[Any],
    src_ids: Sequence[IntArray],
    selectors: Mapping[str, Selector],
    options: SearchOptions,
    done: Callable[[int], object] = lambda number: None,
) -> dict[str, Latency]:
    """Latency of each way to select, batch 1.

    Args:
        engine: What translates.
        src_ids: Sentences with EOS at the end.
        selectors: By name.
        options: How to search.
        done: Called with the number of sentences after each.
    """
    seconds: dict[str, list[float]] = {name: [] for name in selectors}
    for ids in src_ids[:WARM_UP]:
        for selector in selectors.values():
            engine.translate([ids], selector, options)
    for ids in src_ids:
        for name, selector in selectors.items():
            start = time.perf_counter()
            engine.translate([ids], selector, options)
            seconds[name].append(time.perf_counter() - start)
        done(1)
    return {name: _latency(values) for name, values in seconds.items()}


def _latency(seconds: Sequence[float]) -> Latency:
    p50, p90 = (1000 * float(np.percentile(seconds, share)) for share in (50, 90))
    return Latency(p50, p90, len(seconds))


def processor() -> str:
    """The name of this CPU."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
