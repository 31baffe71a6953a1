"""The sections of docs/results.md about the server: load, killed workers, many models."""

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
    yield [
        "## Workers that are killed",
        f"{content['clients']} clients as above for {content['seconds']:g} s; one of two workers "
        f"gets SIGKILL every {content['seconds_between_kills']:g} s, and a client whose connection "
        "breaks asks once more. CTranslate2 is one process, as above. `serve_kills.json`.",
        *(line for run in (content, content.get("earlier")) if run for line in _killed(run)),
    ]


def _killed(run: Json) -> list[str]:
    """The servers of a run."""
    head = ["", "requests/s", "ms: p50 / p90 / p99", "CPU ms per request", "broken"]
    head += ["broken elsewhere", "lost"]
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
        for name, one in run["servers"].items()
    ]
    load = run["machine"]["load_average"][0]
    said = f"Load average of the two cores at the start {load:g}; `{run['command']}`:"
    return ["", said, "", *table(head, rows)]


def many_models() -> Iterator[list[str]]:
    """Several hundred models behind one server, where it was measured."""
    if not (RESULTS / "serve_many.json").exists():
        return
    content: Json = read("serve_many")
    rows = [
        [
            name.split("_")[1],
            f"{one['start_seconds']:.1f}",
            f"{one['mb_at_first']:.0f}",
            " / ".join(f"{one['first_answer_ms'][which]:.0f}" for which in ("median", "longest")),
            f"{one['mb_then']:.0f} ({one['open_then']} open)",
            f"{one['mb_when_all_are_closed']:.0f}",
        ]
        for name, one in content["servers"].items()
    ]
    head = ["workers", "s to start", "MB at first", "ms to the first answer: median / longest"]
    head += ["MB once each was asked", "MB when all are closed again"]
    yield [
        "## Many models behind one server",
        f"{content['models']} models of {content['bytes_of_a_model'] / 1e6:.1f} MB, opened by a "
        f"request for each and closed after {60 * content['idle_minutes']:g} s without one; memory "
        "of all processes, what they share once; the machine had other work. "
        f"`serve_many.json`; `{content['command']}`.",
        "",
        *table(head, rows),
    ]
