"""The sections of docs/results.md on long sentences and on lossless search with a beam."""

from results_common import Json, read, table

_YEARS = ("newstest2017", "newstest2018")


def long_lines() -> list[str]:
    """Equal outputs on paragraphs and single lines by the fall of the threshold."""
    content = read("long_lines")
    rows = []
    for model, sets in content["models"].items():
        for name, found in sets.items():
            if name == "time":
                continue
            kinds = [kind for kind in ("joined", "single") if kind in found]
            for kind in kinds:
                label = f"{name}, {'paragraphs' if kind == 'joined' else 'lines'}"
                rows += [
                    [model, label, fall, f"{row['mean_size']:,.0f}", f"{row['equal']:.1f}"]
                    for fall, row in found[kind].items()
                ]
    times = "; ".join(
        f"{model} {sets['time']['ratio_of_best']:.3f} ({sets['time']['ms_without']:.2f} to "
        f"{sets['time']['ms']:.2f} ms)"
        for model, sets in content["models"].items()
    )
    year = next(iter(content["models"].values()))
    tokens = ", ".join(f"{year[name]['mean_tokens']:.1f}" for name in _YEARS)
    return [
        "## Long sentences",
        "Outputs of the default selection, in percent, that are exactly those without one, by "
        "how much the threshold falls for each source token beyond 25 (log-odds; 0: as it was). "
        f"Paragraphs: consecutive lines joined ({tokens} source tokens on average). Chosen on the "
        "paragraphs of newstest2017, the least fall with 90 % for both models: "
        f"{content['chosen']}; the default is {content['default_fall']}. Mean time of a line of "
        f"newstest2018 with it, times that without: {times}. `long_lines.json`",
        "",
        *table(["model", "text", "fall", "tokens", "equal outputs"], rows),
    ]


def lossless_beam() -> list[str]:
    """Drafts with a beam: equal outputs and time."""
    content = read("drafted_beams")
    return [
        "## Lossless search with a beam",
        "Beam 5: drafts with the shortlist that all tokens check, beside a search over all tokens. "
        "Times of a search over all tokens, one core, one sentence at a time, in turns; brackets: "
        "95 % of a bootstrap over sentences. Drafts are the engine's choice where the last column "
        "says so, and were forced elsewhere. `drafted_beams.json`",
        "",
        *table(
            ["model", "machine", "dimensions, tokens", "selection", "lines", "different",
             "went back a line", "time of selection alone", "time of drafts", "drafts by default"],
            [_beam_row(name, row) for name, row in content["models"].items()],
        ),
    ]  # fmt: skip


def _beam_row(name: str, row: Json) -> list[str]:
    selection, drafts = row["selection / all tokens"], row["lossless / all tokens"]
    return [
        name,
        row["machine"]["cpu"].replace("(R)", ""),
        f"{row['width']}, {row['tokens']:,}",
        f"`{row['selection']}`",
        f"{row['sentences']:,}",
        str(row["different"]),
        f"{row['returns']:.2f}",
        f"{selection['mean']:.2f} [{selection['ci95'][0]:.2f}, {selection['ci95'][1]:.2f}]",
        f"{drafts['mean']:.2f} [{drafts['ci95'][0]:.2f}, {drafts['ci95'][1]:.2f}]",
        "yes" if row["by_rule"] else "no",
    ]
