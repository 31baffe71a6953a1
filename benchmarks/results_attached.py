"""The rows of docs/results.md on heads for models that others trained."""

from results_common import Json, read

_MODELS = {
    "attached_en_pt": "English to Portuguese",
    "attached_news_en_pt": "English to Portuguese (a head that saw news)",
    "attached_two_minutes_en_pt": "English to Portuguese (3 minutes of a core on a CPU)",
    "attached_pt_en": "Portuguese to English",
}


def attached() -> list[tuple[str, str, str]]:
    """What was measured, the numbers, and the file."""
    return [
        *(_model(file, name) for file, name in _MODELS.items()),
        _growth(),
        *_elsewhere(),
    ]


def _model(file: str, name: str) -> tuple[str, str, str]:
    return (
        f"outputs unchanged with a head attached to Firefox's {name} model, and its shortlist; the "
        "head alone; the shortlist alone, all of the same size",
        ", ".join(_outputs(label, rows["ways"]) for label, rows in read(file)["sets"].items()),
        f"`{file}.json`",
    )


def _opus() -> tuple[str, str, str]:
    content = read("attached_en_fr")
    reached = [
        f"{label} "
        + "; ".join(f"{ways[f'head at {size}']['equal']:.1f} %" for size in (1000, 2000))
        for label, ways in ((label, rows["ways"]) for label, rows in content["sets"].items())
    ]
    return (
        f"outputs unchanged with a head attached to OPUS-MT English to French in "
        f"{content['cpu_minutes']:.0f} minutes of a core, of 1,000; of 2,000 tokens",
        ", ".join(reached),
        "`attached_en_fr.json`",
    )


def _growth() -> tuple[str, str, str]:
    content = read("attached_growth")
    reached = [
        f"{run['lines']:,} lines, {run['text']}: {run['checks'][-1]['in_reach']:.1f} %"
        for run in content["runs"]
    ]
    larger = content["larger"]["runs"]
    reached += [
        f"{larger[run]['lines']:,} lines{text}: {larger[run]['checks'][-1]['in_reach']:.1f} %"
        for run, text in (("s1", ""), ("news", " with news"))
    ]
    return (
        f"sentences of newstest2017 and 2018 in reach of {content['size']:,} tokens after seven "
        "passes, by the text that the head learned from",
        ", ".join(reached),
        "`attached_growth.json`",
    )


def _outputs(name: str, rows: Json) -> str:
    """At the shortlist's own size."""
    both, alone, own = (rows[way]["equal"] for way in ("head + shortlist", "head", "shortlist"))
    return f"{name} {both:.1f} %; {alone:.1f} %; {own:.1f} %"


def _elsewhere() -> list[tuple[str, str, str]]:
    large, hugging_face = read("large_vocabulary"), read("huggingface_select")["rows"]
    exported = read("exported_en_pt")
    spent = large["rows"][0]["ms"]["selected"]
    heads = f"the head itself {spent['head']:.0f} ms a sentence"
    if "factored" in large["rows"][0]["ms"]:
        low = large["rows"][0]["ms"]["factored"]
        heads += f", of rank 64 with a second look {low['head']:.1f}"
    steps = ", ".join(
        f"{row['model']} {row['layers']} layers, beam {row['beams']}, batch {row['batch']}: "
        f"{row['step_ratio']:.1f}"
        for row in hugging_face
    )
    ratios = ", ".join(f"beam {row['beams']} {row['step_ratio']:.1f}" for row in large["rows"])
    rows = exported["rows"]
    return [
        (
            f"decoder step over {large['tokens']:,} tokens against a shortlist of 1,000, "
            f"{large['model']['encoder']} + {large['model']['decoder']} layers of NLLB's width",
            f"{ratios} times; {heads}, {spent['step']:.1f} ms a step",
            "`large_vocabulary.json`",
        ),
        (
            "`sieve.huggingface.select`: decoder step over all tokens against 1,000",
            steps,
            "`huggingface_select.json`",
        ),
        (
            f"static shortlists run by {exported['toolkit']}, {exported['sentences']} sentences of "
            "newstest2019: outputs as without one",
            f"theirs {rows['theirs']['equal']:.1f} %, the head distilled over 40,000 lines "
            f"{rows['head']['equal']:.1f} % at {rows['head']['mean_size']:,.0f} tokens",
            "`exported_en_pt.json`",
        ),
    ]
