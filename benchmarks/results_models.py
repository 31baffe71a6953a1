"""The built-in models, lossless search and the server in docs/results.md."""

from collections.abc import Iterator

from results_common import RESULTS, Json, read, table


def models() -> Iterator[list[str]]:
    """A section for each built-in model that was evaluated."""
    for path in sorted(RESULTS.glob("model_??_??.json")):
        content = read(path.stem)
        rows = [
            [
                name,
                f"{one['none']['BLEU']:.1f} / {one['none']['chrF']:.1f}",
                f"{one['nvs']['BLEU']:.1f} / {one['lexicon']['BLEU']:.1f}",
                f"{one['nvs']['mean_size']:.0f} / {one['lexicon']['mean_size']:.0f}",
                f"{one['nvs']['unchanged']:.1f} / {one['lexicon']['unchanged']:.1f}",
                f"{one['nvs']['recall']['own']['at_threshold']:.2f} / "
                f"{one['lexicon']['recall']['own']:.2f}",
                f"{one['nvs']['recall']['reference']['at_threshold']:.1f} / "
                f"{one['lexicon']['recall']['reference']:.1f}",
                f"{one['nvs']['recall']['reference']['1000']:.1f}",
            ]
            for name, one in content["tests"].items()
        ]
        titles = [
            "test set", "BLEU / chrF, all words", "BLEU, head / lexicon", "mean words",
            "same outputs %", "own words %", "reference words %", "reference, 1000 words",
        ]  # fmt: skip
        signatures = next(iter(content["tests"].values()))["none"]["signatures"]
        yield [
            f"## The built-in model {content['direction']}",
            f"{content['bytes'] / 2**20:.1f} MiB, {content['engine']}, beam 5, λ = 0.9 against an "
            "alignment lexicon of the student's own training text whose sets are as large. "
            f"`{path.name}`; {content['command']}; {', '.join(f'`{s}`' for s in signatures)}.",
            "",
            *table(titles, rows),
        ]


def lossless() -> Iterator[list[str]]:
    """Lossless search, where it was measured."""
    if not (RESULTS / "lossless.json").exists():
        return
    content = read("lossless")
    times = [[name, f"{one['ms']:.2f}"] for name, one in content["times"].items()]
    ratios = [[name, f"{value:.2f}"] for name, value in content["ratios"].items()]
    kinds = ("nvs", "nvs+safe", "lexicon", "lossless")
    lost = [
        [
            name,
            str(one["sentences"]),
            f"{one['beam']['mean_words']:.0f}",
            *(
                " / ".join(f"{one[search][kind]:.1f}" for search in ("greedy", "beam"))
                for kind in kinds
                if kind in one["beam"]
            ),
        ]
        for name, one in content["lost"].items()
    ]
    shown = [kind for kind in kinds if kind in next(iter(content["lost"].values()))["beam"]]
    yield [
        "## Lossless search",
        f"Built-in {content['model']}, one core, {content['timed']} sentences of newstest2019 one "
        f"at a time, median of CPU time over rounds that take turns. `lossless.json`; "
        f"{content['command']}.",
        "",
        *table(["search", "ms a sentence"], times),
        "",
        *table(["ratio", ""], ratios),
        "",
        "Translations that are not those of a search over all words, in percent (greedy / beam); "
        "the lexicon has sets of the same mean size.",
        "",
        *table(["sentences", "number", "mean words", *shown], lost),
    ]


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


def extras() -> Iterator[list[str]]:
    """The dial, confidence and glossaries, where they were measured."""
    if not (RESULTS / "selection_extras.json").exists():
        return
    content = read("selection_extras")
    asked = list(next(iter(content["dial"].values())))
    reached = [
        [name, *(f"{100 * one[a]['recall']:.2f} at {one[a]['words']:.0f}" for a in asked)]
        for name, one in content["dial"].items()
    ]
    sure = content["confidence"]
    terms = content["glossary"]
    yield [
        "## Dial, confidence, glossaries",
        f"Built-in {content['model']}, calibrated on {content['calibrated_on']}. "
        f"`selection_extras.json`; {content['command']}. Recall of the model's own words that was "
        "reached where one was asked for, in percent, and the mean words of a set:",
        "",
        *table(["asked for", *asked], reached),
        "",
        "Confidence on newstest2019, by deciles: what it says, outputs that selection left as they "
        f"were, chrF. Rank correlation with chrF {sure['rank_correlation_with_chrF']:.2f}.",
        "",
        *table(
            ["", *(str(n + 1) for n in range(len(sure["deciles"])))],
            [
                [name, *(f"{one[name]:.2f}" for one in sure["deciles"])]
                for name in ("confidence", "same", "chrF")
            ],
        ),
        "",
        f"Twenty terms, {terms['sentences']} lines of newstest2019 that have one, {terms['terms']} "
        "places:",
        "",
        *table(
            ["glossary", "BLEU", "ms a line", "terms that appear"],
            [
                [name, terms[name]["BLEU"], terms[name]["ms"], terms[name]["terms_that_appear"]]
                for name in ("none", "allow", "force")
            ],
        ),
    ]
