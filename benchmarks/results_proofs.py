"""What proofs and checked beams would take, in docs/results.md."""

from collections.abc import Iterator

from results_common import Json, read, table


def proofs() -> Iterator[list[str]]:
    """What proofs of the best token leave to do, and the least time of a lossless beam."""
    content = read("proven_best")
    models = content["models"]
    load = ", ".join(f"{value:g}" for value in content["machine"]["load_average"])
    yield [
        "## Proofs of the best token, and a lossless beam",
        "Products that a proof by bounds does, in percent of those with all tokens, where tokens "
        "are taken singly, in groups of 16 or of 64; tokens left after each stage of dimensions "
        "(groups of 64 in brackets). Neither is built in: [decisions.md](decisions.md). "
        f"`proven_best.json`; {content['command']}.",
        "",
        *table(["model", "dimensions", "1", "16", "64", "left"], list(map(_counted, models))),
        "",
        "Least time of a beam of 5 that is drafted with a set and checked in one product, had the "
        "draft always been right and the set been free; ms a sentence of newstest2019, CPU time of "
        f"one core, the shortest of each sentence, load of the two cores {load}:",
        "",
        *table(
            ["model", "greedy: all", "set", "lossless", "beam: all", "set", "least / all"],
            list(map(_timed, models)),
        ),
    ]


def _counted(model: Json) -> list[str]:
    width, hidden, tokens = model["dimensions"]
    left = "; ".join(
        f"{one['dimensions']}: {one['1']:.2f} ({one['64']:.1f})" for one in model["greedy"]["left"]
    )
    products = (f"{share:.1f}" for share in model["greedy"]["products"].values())
    return [model["model"], f"{width}/{hidden}, {tokens} tokens", *products, left]


def _timed(model: Json) -> list[str]:
    times = model["times"]
    return [
        model["model"],
        *(f"{value:.2f}" for value in times["ms"].values()),
        f"{times['least of a lossless beam / all']:.2f}",
    ]
