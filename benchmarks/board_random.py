"""The board's random weights: the same dimensions for every engine, which real models do not give.

`cpu_latency.py` and `cpu_bulk.py` measure; this picks what the board shows, all of it on one core.
"""

import argparse
from typing import Any

import cpu_bulk
from cpu_common import LENGTH, SIZES, note
from cpu_latency import METHODS, NVS, Column
from cpu_process import WorkerError, install_peers
from cpu_report import table
from cpu_settings import CANDIDATES

_SHOWN = ("p50", "p90", "p99", "mean", "ci95", "n", "peak_mb", "version", "settings")
_BULK_NAMES = {"Sieve, none": METHODS[0].name, "Sieve, lexicon": METHODS[1].name, "Sieve, nvs": NVS}
_SET = 1000


def measured(size: str, core: int, sentences: int, bulk: int, rounds: int) -> dict[str, Any]:
    """Latency and throughput of each engine.

    Args:
        size: One of `SIZES`.
        core: To run on.
        sentences: For latency.
        bulk: Sentences for throughput; 0 for none.
        rounds: Of them.
    """
    install_peers()
    arguments = argparse.Namespace(
        methods=METHODS, candidates=CANDIDATES, set_size=_SET, sieve_engine="native",
        core=core, cores=[core], block=4,
        sentences=bulk, repeats=rounds, data=None, tokenizer=None, threads=cpu_bulk.ONE_CORE,
    )  # fmt: skip
    column = Column(size, arguments)
    try:
        found = table(column.measure([LENGTH] * sentences), "", NVS)
    finally:
        column.close()
    rows = {
        name: {
            **{key: row[key] for key in _SHOWN},
            "times_ours": row["ratio"],
            "set": round(row["mean_set"]),
            "file_mb": row["model_mb"],
        }
        for name, row in found["methods"].items()
    }
    for name, value in _bulk(size, arguments).items():
        rows[name]["bulk"] = value
    return {
        "model": f"random weights, {SIZES[size].label}",
        "sentences": sentences,
        "engines": rows,
    }


def _bulk(size: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Output tokens a second by the names of the latency's methods."""
    if not arguments.sentences:
        return {}
    bench = cpu_bulk.Bench(size, arguments)
    try:
        methods = bench.measure()["methods"]
    except WorkerError as error:
        note(f"{SIZES[size].label}: no throughput: {error}")
        return {}
    finally:
        bench.close()
    values = {}
    for name, row in methods.items():
        vmap = "CTranslate2, vmap" if ", vmap" in name else "CTranslate2"
        values[_BULK_NAMES.get(name, vmap)] = {**row, "settings": name}
    return values
