"""The built-in models, lossless search, names and the dial in docs/results.md."""

from collections.abc import Iterator

from results_common import BUILT_IN, RESULTS, SETTLED, Json, read, table

TITLES = (
    "model, test set", "BLEU / chrF, all tokens", "BLEU, head / lexicon", "mean tokens",
    "same outputs %", "reference tokens %", "reference, 1000 tokens",
)  # fmt: skip
REPORTED = ("newstest2019", "flores200_devtest", "tatoeba2021")
"""Sets that chose nothing in what is shown of them."""
LOST = ("nvs", "lexicon", "lossless")


def models() -> list[str]:
    """The built-in models on all sets."""
    rows, said = [], []
    for pair in BUILT_IN:
        file = f"model_{pair.replace('-', '_')}"
        content = read(file)
        first = next(iter(content["tests"].values()))
        said += [
            f"{pair}: {content['bytes'] / 2**20:.1f} MiB, {content['engine']}, "
            f"{first['nvs']['selection']}, `{file}.json`, {content['command']}"
        ]
        rows += [[f"{pair}, {name}", *_cells(one)] for name, one in content["tests"].items()]
    signatures = ", ".join(f"`{signature}`" for signature in first["none"]["signatures"])
    return [
        "## The built-in models",
        f"Beam 5, the head against an alignment lexicon of {content['lexicon_of']} whose sets "
        f"are as large. {'. '.join(said)}. {signatures}. Measured with one threshold for lines of "
        "any length; since then the default's falls in long ones "
        f"([choose λ](choose-lambda.md)). {SETTLED}",
        "",
        *table(TITLES, rows),
    ]


def _cells(one: Json) -> list[str]:
    """Of one set: the model over all tokens, its head and the lexicon."""
    none, nvs, lexicon = one["none"], one["nvs"], one["lexicon"]
    return [
        f"{none['BLEU']:.1f} / {none['chrF']:.1f}",
        f"{nvs['BLEU']:.1f} / {lexicon['BLEU']:.1f}",
        f"{nvs['mean_size']:.0f} / {lexicon['mean_size']:.0f}",
        f"{nvs['unchanged']:.1f} / {lexicon['unchanged']:.1f}",
        f"{nvs['recall']['reference']['at_threshold']:.1f} / {lexicon['recall']['reference']:.1f}",
        f"{nvs['recall']['reference']['1000']:.1f}",
    ]


def lossless() -> list[str]:
    """Lossless search, a column for each model it was measured with."""
    contents = [read(path.stem) for path in sorted(RESULTS.glob("lossless*.json"))]
    files = ", ".join(f"`{path.name}`" for path in sorted(RESULTS.glob("lossless*.json")))
    shapes = [
        f"{one['dimensions']['d_model']}/{one['dimensions']['d_ff']}, "
        f"{one['dimensions']['words']:,} tokens"
        for one in contents
    ]
    ratios = contents[0]["ratios"]
    lost = [
        [
            name,
            *(
                " / ".join(f"{one['lost'][name]['beam'][kind]:.1f}" for kind in LOST)
                for one in contents
            ),
        ]
        for name in ("newstest2019", "tatoeba2021")
    ]
    return [
        "## Lossless search",
        "int8, one core, sentences of newstest2019 one at a time, searches in turn for each "
        f"sentence, CPU time, median of rounds, least and most. {files}: times of each search and "
        "where they go, other kinds of text.",
        "",
        *table(
            ["ratio", *shapes],
            [
                [
                    name,
                    *(
                        "{median:.2f} [{least:.2f}, {most:.2f}]".format(**one["ratios"][name])
                        for one in contents
                    ),
                ]
                for name in ratios
            ],
        ),
        "",
        "Translations that differ from those over all tokens, beam 5, %: head / lexicon of as "
        f"many tokens / lossless. {SETTLED}",
        "",
        *table(["sentences", *shapes], lost),
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
        if test in REPORTED
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
    """The dial, where it was measured."""
    if not (RESULTS / "selection_extras.json").exists():
        return
    content = read("selection_extras")
    asked = list(next(iter(content["dial"].values())))
    reached = [
        [name, *(f"{100 * one[a]['recall']:.2f} at {one[a]['words']:.0f}" for a in asked)]
        for name, one in content["dial"].items()
    ]
    yield [
        "## The dial",
        f"Built-in {content['model']}, calibrated on {content['calibrated_on']}. "
        f"`selection_extras.json`; {content['command']}. Recall of the model's own tokens that was "
        "reached where one was asked for, in percent, and the mean size of a shortlist:",
        "",
        *table(["asked for", *asked], reached),
    ]
