"""The sections of docs/results.md about the server: under load, and with workers killed."""

from collections.abc import Iterator

from results_common import RESULTS, Json, read, table


def server() -> Iterator[list[str]]:
    """The server under load, where it was measured."""
    if not (RESULTS / "serve_load.json").exists():
        return
    content: Json = read("serve_load")
    runs = dict(content["servers"])
    if "with_malformed_requests" in content:
        runs["sieve, bad requests in between"] = content["with_malformed_requests"]
    rows = [
        [
            name,
            f"{one['requests_a_second']:.1f}",
            " / ".join(f"{one['ms'][p]:.0f}" for p in ("p50", "p90", "p99")),
            str(sum(one["lost"].values())),
            str(sum(one["malformed"].values())),
            f"{one['memory_mb']['end']:.0f} ({one['memory_mb']['growth_percent']:+.1f} %)",
        ]
        for name, one in runs.items()
    ]
    lines = [
        "## The server under load",
        f"{content['clients']} clients, each one request after the other, texts of mixed lengths, "
        f"{content['seconds']:g} s a server; clients and server share two cores. CTranslate2 has "
        "random weights of our dimensions behind the same web layer, outputs as long as their "
        f"sources. `serve_load.json`; {content['command']}.",
        "",
        *table(
            ["", "requests/s", "ms: p50 / p90 / p99", "lost", "bad ones", "memory at the end, MB"],
            rows,
        ),
    ]
    if "single" in content:
        one = content["single"]
        lines += [
            "",
            f"One client: p90 {one['http_ms']['p90']:.2f} ms over HTTP, "
            f"{one['engine_ms']['p90']:.2f} ms in the engine. Start to first translation: "
            + ", ".join(f"{value:.2f}" for value in content["start_seconds"])
            + " s.",
        ]
    yield lines


def killed_workers() -> Iterator[list[str]]:
    """Two workers of which one is killed now and then, where it was measured."""
    if not (RESULTS / "serve_kills.json").exists():
        return
    content: Json = read("serve_kills")
    rows = [
        [
            name.replace("_", " "),
            f"{one['requests_a_second']:.1f}",
            " / ".join(f"{one['ms'][p]:.0f}" for p in ("p50", "p90", "p99")),
            one.get("cpu_ms_a_request", ""),
            f"{one['broken_by_kills']} by {one['kills']} kills" if "kills" in one else "",
            str(sum(one["failed_on_other_connections"].values())),
            str(one["lost_after_a_second_try"]),
        ]
        for name, one in content["servers"].items()
    ]
    yield [
        "## Workers that are killed",
        f"{content['clients']} clients as above for {content['seconds']:g} s; one of two workers "
        f"gets SIGKILL every {content['seconds_between_kills']:g} s, and a client whose connection "
        f"breaks asks once more. CTranslate2 is one process, as above. The machine had other work, "
        "which the processors' milliseconds of a server's processes hardly depend on. "
        f"`serve_kills.json`; {content['command']}.",
        "",
        *table(
            [
                "",
                "requests/s",
                "ms: p50 / p90 / p99",
                "CPU ms per request",
                "broken",
                "broken elsewhere",
                "lost",
            ],
            rows,
        ),
    ]
