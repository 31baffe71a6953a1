"""The models, lossless search and the server in docs/results.md."""

from collections.abc import Iterator

from results_common import BUILT_IN, RESULTS, SETTLED, Json, read, table

TITLES = (
    "test set", "BLEU / chrF, all tokens", "BLEU, head / lexicon", "mean tokens",
    "same outputs %", "own tokens %", "reference tokens %", "reference, 1000 tokens",
)  # fmt: skip
RUSSIAN = ("newstest2019", "tatoeba2021")
"""Sets that are shown of the models that do not ship."""


def models() -> Iterator[list[str]]:
    """A section for each built-in model, and one for the others that were evaluated."""
    others = []
    for path in sorted(RESULTS.glob("model_??_??.json")):
        content = read(path.stem)
        pair = path.stem[6:].replace("_", "-")
        if pair not in BUILT_IN:
            others += [[f"{pair}, {name}", *_cells(content["tests"][name])] for name in RUSSIAN]
            continue
        first = next(iter(content["tests"].values()))
        signatures = first["none"]["signatures"]
        yield [
            f"## {content['title']}",
            f"{content['bytes'] / 2**20:.1f} MiB, {content['engine']}, beam 5, "
            f"{first['nvs']['selection']} against an alignment lexicon of "
            f"{content['lexicon_of']} whose sets are as large. "
            f"`{path.name}`; {content['command']}; {', '.join(f'`{s}`' for s in signatures)}. "
            f"{SETTLED}",
            "",
            *table(TITLES, [[name, *_cells(one)] for name, one in content["tests"].items()]),
        ]
    yield [
        "## The Russian models of the recipe",
        "They do not ship. nvs:0.9 against an alignment lexicon of what the student learned from, "
        "whose sets are as large; more sets in `model_en_ru.json` and `model_ru_en.json`, reports "
        "by selection in `report_en_ru.json` and `report_ru_en.json`.",
        "",
        *table(TITLES, others),
    ]


def _cells(one: Json) -> list[str]:
    """Of one set: the model over all tokens, its head and the lexicon."""
    none, nvs, lexicon = one["none"], one["nvs"], one["lexicon"]
    return [
        f"{none['BLEU']:.1f} / {none['chrF']:.1f}",
        f"{nvs['BLEU']:.1f} / {lexicon['BLEU']:.1f}",
        f"{nvs['mean_size']:.0f} / {lexicon['mean_size']:.0f}",
        f"{nvs['unchanged']:.1f} / {lexicon['unchanged']:.1f}",
        f"{nvs['recall']['own']['at_threshold']:.2f} / {lexicon['recall']['own']:.2f}",
        f"{nvs['recall']['reference']['at_threshold']:.1f} / {lexicon['recall']['reference']:.1f}",
        f"{nvs['recall']['reference']['1000']:.1f}",
    ]


def teachers() -> Iterator[list[str]]:
    """What the students of all directions learned from, with a beam of 5."""
    files = sorted(RESULTS.glob("teacher_??_??.json"))
    best = [
        (f"`{path.name}`", whole.get("engine", "torch (cuda, bf16)"), one)
        for path in files
        for whole in [read(path.stem)]
        for one in whole["scores"]
        if one["beam"] == 5
    ]
    rows = [
        [one["direction"], one["test"], f"{one['BLEU']:.1f}", f"{one['chrF']:.1f}", engine, name]
        for name, engine, one in best
    ]
    signatures = [best[0][2][f"{kind}_signature"] for kind in ("BLEU", "chrF")]
    yield [
        "## The teachers",
        "All tokens, beam 5; " + ", ".join(f"`{signature}`" for signature in signatures) + ".",
        "",
        *table(["direction", "test set", "BLEU", "chrF", "engine", "file"], rows),
    ]


def lossless() -> Iterator[list[str]]:
    """Lossless search: a section for each model it was measured with."""
    for path in sorted(RESULTS.glob("lossless*.json")):
        content = read(path.stem)
        shape = content["dimensions"]
        whose = f"built-in {content['model']}" if content["built_in"] else content["model"]
        rounds = len(content["times"]["greedy, nvs"]["rounds"])
        load = ", ".join(f"{value:g}" for value in content["machine"]["load_average"])
        yield [
            f"## Lossless search, {whose}",
            f"{shape['d_model']}/{shape['d_ff']}, {shape['words']} tokens, int8, one core, "
            f"{content['timed']} sentences of newstest2019 one at a time, searches in turn for "
            f"each sentence, CPU time: medians of {rounds} rounds and, undisturbed, the "
            f"shortest of each sentence; load of the two cores {load}. `{path.name}`; "
            f"{content['command']}."
            + (f" The model: {content['note']}." if content["note"] else ""),
            "",
            *_lossless_times(content),
            "",
            *_lossless_losses(content["lost"], content["built_in"]),
        ]


def _lossless_times(content: Json) -> list[str]:
    parts = content["parts"]
    return [
        *table(
            ["search", "ms a sentence", "undisturbed"],
            [
                [name, f"{one['ms']:.2f}", f"{one['undisturbed']:.2f}"]
                for name, one in content["times"].items()
            ],
        ),
        "",
        *table(
            ["ratio", "median", "least to most", "undisturbed"],
            [
                [
                    name,
                    f"{one['median']:.2f}",
                    f"{one['least']:.2f} to {one['most']:.2f}",
                    f"{one['undisturbed']:.2f}",
                ]
                for name, one in content["ratios"].items()
            ],
        ),
        "",
        "Where the time goes, ms a sentence (search: the decoder and output tokens, checks "
        "included; outside the engine: tokenizer and Python):",
        "",
        *table(
            ["search", *next(iter(parts.values()))],
            [[name, *(f"{value:.2f}" for value in one.values())] for name, one in parts.items()],
        ),
    ]


def _lossless_losses(lost: Json, built_in: bool) -> list[str]:
    kinds = ("nvs", "nvs+safe", "lexicon", "lossless")
    shown = [kind for kind in kinds if kind in next(iter(lost.values()))["beam"]]
    rows = [
        [
            name,
            str(one["sentences"]),
            " / ".join(
                f"{one['beam'][key]:.0f}"
                for key in ("mean_words", "lexicon_words")
                if key in one["beam"]
            ),
            *(
                " / ".join(f"{one[search][kind]:.1f}" for search in ("greedy", "beam"))
                for kind in shown
            ),
        ]
        for name, one in lost.items()
    ]
    return [
        "Translations that differ from those of a search over all tokens, in percent (greedy / "
        "beam); mean sizes of the head's and the lexicon's shortlists, which are equal where "
        "the lexicon has "
        f"as many tokens for a sentence.{f' {SETTLED}' if built_in else ''}",
        "",
        *table(["sentences", "number", "mean tokens", *shown], rows),
    ]


def names() -> Iterator[list[str]]:
    """Names put right, where that was measured."""
    if not (RESULTS / "names.json").exists():
        return
    content = read("names")

    def both(one: Json, what: str) -> str:
        return f"{one['without'][what]} / {one['with'][what]}"

    rows = [
        [
            *(model, test, both(one, "BLEU"), both(one, "chrF"), both(one, "kept")),
            one["changed"],
            f"{one['with']['milliseconds'] / one['without']['milliseconds']:.2f}",
        ]
        for model, tests in content["models"].items()
        for test, one in tests.items()
    ]
    yield [
        "## Names put right",
        "Built-in models with selection, beam 5, one thread; without / with what is done around "
        "the model for names. A name is a capitalised word of four letters or more that source and "
        "reference share. The rules were made on newstest2017 and 2018. CPU time: with divided by "
        f"without. `names.json`; {content['command']}; "
        f"{', '.join(f'`{s}`' for s in content['signatures'])}.",
        "",
        *table(["model", "set", "BLEU", "chrF", "names kept %", "lines changed", "time"], rows),
    ]


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
        f"`selection_extras.json`; {content['command']}. Recall of the model's own tokens that was "
        "reached where one was asked for, in percent, and the mean size of a shortlist:",
        "",
        *table(["asked for", *asked], reached),
        "",
        "Confidence on newstest2019, by deciles: what it says, outputs that selection left as they "
        f"were, chrF. Rank correlation with chrF {sure['rank_correlation_with_chrF']:.2f}. "
        + SETTLED,
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


def fused() -> list[str]:
    """Head and lexicon together, and the head among a lexicon's candidates."""
    content = read("fused_selection")
    sizes = ("500", "1000", "2000")

    def reach(row: Json) -> list[str]:
        return [f"{row[size][0]:.2f} / {row[size][1]:.1f}" for size in sizes]

    among = [
        [row["per_token"], row["frequent"], f"{row['candidates']:,.0f}", *reach(row)]
        for row in content["candidates"]
        if row["fused"]
    ]
    return [
        "## Head and lexicon together",
        "Built-in en-de, 2,000 sentences of newstest2017; the lexicon (fast_align, 91,000 pairs) "
        "and the bonuses (learnt on newstest2018) are added to it. Recall of the model's own "
        "tokens / sentences wholly in reach, in percent, at equal mean sizes; no minimum, no "
        f"safety set. `fused_selection.json`; {content['command']}",
        "",
        *table(["selection", *sizes], [[row["selection"], *reach(row)] for row in content["rows"]]),
        "",
        "The head deciding only among candidates, each token's best ones and the most frequent, "
        f"with the bonuses; products a position are the candidates, of {content['vocab_size']:,}:",
        "",
        *table(["per token", "frequent", "candidates", *sizes], among),
    ]
