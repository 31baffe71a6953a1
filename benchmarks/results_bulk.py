"""The sections of docs/results.md about corpora in bulk: kills, throughput, what tokens cost."""

from collections.abc import Iterator

from results_common import RESULTS, Json, read, table, thousands

PRICES = (0.01, 0.02, 0.04)
"""Per core and hour, in any currency: about what clouds take for spare and for reserved cores."""
BILLION = 1e9


def bulk() -> Iterator[list[str]]:
    """What was measured of `sieve bulk`."""
    if (RESULTS / "bulk_kills.json").exists():
        yield _kills(read("bulk_kills"))
    if (RESULTS / "bulk_throughput.json").exists():
        yield _throughput(read("bulk_throughput"))


def _kills(content: Json) -> list[str]:
    killed = ", ".join(f"{count} of kind {what}" for what, count in content["killed"].items())
    same = "byte for byte" if content["identical"] else "NOT"
    return [
        "## A corpus on a cluster that is killed",
        f"{thousands(content['lines'])} lines through `sieve bulk` on {content['nodes']} Ray nodes "
        f"of one machine; killed with SIGKILL on the way: {killed} (a node is its raylet, with all "
        "its workers; a killed driver resumes). "
        f"{thousands(content['lines_out'])} lines came out, {same} the output of `sieve translate` "
        f"in one process. `bulk_kills.json`; `{content['command']}`.",
    ]


def _systems(content: Json) -> list[str]:
    """A run with all its systems."""
    head = ["", "sentences per second, each round", "per core", "relative to one process"]
    head += ["CPU s per 1,000", "relative"]
    rows = [
        [
            name,
            " / ".join(f"{value:.1f}" for value in system["sentences_per_second"]),
            f"{system['per_second_and_core']:.1f}",
            " / ".join(f"{value:.3f}" for value in system["speed_relative_to_one_process"]),
            " / ".join(f"{value:.2f}" for value in system.get("cpu_seconds_per_1000", [])),
            " / ".join(f"{value:.3f}" for value in system.get("cpu_relative_to_one_process", [])),
            f"{system['seconds_to_start']:.0f}",
        ]
        for name, system in content["systems"].items()
    ]
    return [
        f"{thousands(content['lines'])} lines, {content['model']}, beam {content['beam_size']}, "
        f"{content['cores']} cores, load average {content['machine']['load_average'][0]:g} at the "
        f"end; `{content['command']}`:",
        "",
        *table([*head, "s to start"], rows),
        "",
    ]


def _throughput(content: Json) -> list[str]:
    runs = [run for run in (content, content.get("earlier")) if run]
    return [
        "## Throughput in bulk",
        "Lines of news, then of parliament; systems in turns; starting is taken off (the "
        "difference to a short file). CTranslate2 has random weights of the same dimensions and "
        "writes as many tokens as the source has. `bulk_throughput.json`.",
        "",
        *(line for run in runs for line in _systems(run)),
        cost(content),
    ]


def cost(content: Json) -> str:
    """What a billion tokens take on Ray; docs/cluster.md quotes it."""
    tokens = round(content["tokens_per_line"]["source"])
    each = round(content["systems"]["Ray"]["per_second_and_core"])
    hours = BILLION / (each * tokens) / 3600
    prices = ", ".join(f"{hours * price:,.2f} at {price:.2f} per core hour" for price in PRICES)
    return (
        f"A core translates {each} sentences of {tokens} tokens per second on Ray, so a "
        f"billion source tokens take 10⁹ / ({each} · {tokens} · 3600) = {hours:.0f} core "
        f"hours: {prices}."
    )
