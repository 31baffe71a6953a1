"""What `sieve evaluate`, `benchmark`, `human` and `report` wrote, the paper's numbers beside it.

A file is recognised by what it holds: `rows`, `idioms`, `curves`, `context`, `aligners`,
`benchmark` or `human`; its direction by its name (…en_de.json or …en-de.json) or `direction`.
"""

import re
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise
from math import log
from pathlib import Path
from typing import Any

from results_adaptation import ABLATION, adaptation, positive_weights, seeds, sizes
from results_common import BUILT_IN, RESULTS, SETTLED, Json, percent, read, table
from results_paper import ALIGNERS, CONTEXT, IDIOMS, ITDS_BLEU, NEWS, PROVERBS

DIFFERS = (
    "What differs from the paper: the data (public texts of other domains instead of WMT20), the "
    "size of the model, SentencePiece instead of BPE, the test set as named instead of "
    "newstest2020, the machine."
)
SHOWN_K = (100, 200, 500, 1000, 2000, 5000, 10000)
Rows = list[Json]


def measured(folder: Path = RESULTS) -> Iterator[list[str]]:
    """A section for each file, in the order of names."""
    for path in sorted(folder.glob("*.json")):
        content = read(path.stem, folder)
        blocks = [
            block
            for kind, render in (KINDS if _of_a_verb(content) else RECIPES).items()
            if content.get(kind)
            for block in render(content[kind], direction(path, content))
        ]
        if blocks:
            yield [heading(path, content), *blocks]


def _of_a_verb(content: Json) -> bool:
    """Whether a verb of `sieve` wrote it: older files of benchmarks use the same words."""
    return str(content.get("command", "")).startswith("sieve ")


def direction(path: Path, content: Json) -> str:
    found = re.search(r"(?<![a-z])([a-z]{2})[-_]([a-z]{2})(?![a-z])", path.stem)
    return str(content.get("direction") or (f"{found[1]}-{found[2]}" if found else ""))


def heading(path: Path, content: Json) -> str:
    title = content.get("title") or path.stem.replace("_", " ")
    if _of_a_verb(content) and direction(path, content):
        title = f"`sieve {content['command'].split()[1]}`, {direction(path, content)}"
    about = f" {content['about']}" if content.get("about") else ""
    return f"## {title}\n`{path.name}`.{about}"


def quality(rows: Rows, languages: str) -> Iterator[str]:
    """Table 5 without latency in fresh processes."""
    for (_, test), group in groupby(rows, key=lambda row: (row["model"], row["test"])):
        here = list(group)
        paper = _paper_bleu(test, languages)
        timed = here[0]["latency"] is not None
        headers = ["selection", "BLEU", "chrF", "tokens", "ref %", "out %", "same %"]
        headers += ["p90 ms"] if timed else []
        lines = []
        for row in here:
            scores = {score["name"]: score for score in row["quality"]}
            line = [
                row["selection"],
                *(_score(scores[name]) for name in ("BLEU", "chrF")),
                f"{row['reference']['mean_size']:.0f}",
                percent(row["reference"]["recall"]),
                percent(row["output"]["recall"]),
                percent(row["identical"]),
                *([f"{row['latency']['p90']:.1f}"] if timed else []),
            ]
            lines.append([*line, *([paper.get(row["selection"], "")] if paper else [])])
        yield f"\n**{test}**, {here[0]['sentences']} sentences, `{here[0]['model']}`\n"
        yield from table([*headers, *(["paper: BLEU"] if paper else [])], lines)
        signatures = [score["signature"] for score in here[0]["quality"]]
        yield (
            f"\n\\* differs from none, p < 0.05. {_signed(here[0])}; {'; '.join(signatures)}."
            + (f" {DIFFERS}" if paper else "")
            + (f" {SETTLED}" if languages in BUILT_IN else "")
        )


def _signed(row: Json) -> str:
    """A row's signature without what differs from row to row."""
    return str(row["signature"]).replace(f"|selection:{row['selection']}", "").replace("|", " · ")


def _score(score: Json) -> str:
    half = "" if score["interval"] is None else f" ±{score['interval']:.1f}"
    differs = score.get("p_value") is not None and score["p_value"] < 0.05
    return f"{score['value']:.1f}{half}" + ("\\*" if differs else "")


def _paper_bleu(test: str, languages: str) -> dict[str, float]:
    if test.startswith("newstest") and languages in NEWS:
        return {name: row[0] for name, row in NEWS[languages].items()}
    return ITDS_BLEU.get(languages, {}) if test.startswith("itds") else {}


def curves(rows: Rows, languages: str) -> Iterator[str]:
    """Figures 3, 6 and 7: at the lexicon's sizes."""
    lines, below = [], []
    pairs: dict[tuple[str, str, str], dict[str, Json]] = {}
    for row in rows:
        pairs.setdefault((row["model"], row["test"], row["scope"]), {})[row["method"]] = row
    for (_, test, scope), both in pairs.items():
        if "lexicon" not in both or "nvs" not in both or not both["nvs"]["counted"]:
            continue
        head, points = both["nvs"]["points"], both["lexicon"]["points"]
        shown = {point["setting"]: point for point in points}
        lines.append([f"{test}, {scope}", *(_beside(shown.get(float(k)), head) for k in SHOWN_K)])
        lost = [
            f"{point['setting']:g}"
            for point in points
            if (found := _recall_at(head, point["mean_size"])) is not None
            and found <= point["recall"] < 1
        ]
        if lost:
            below.append(f"{test}, {scope}, for k = {', '.join(lost)}")
    if not lines:
        return
    yield (
        "\nRecall of the lexicon / of NVS with as many tokens, and how many (figures 3, 6 and 7); "
        "between λ interpolated\n"
    )
    yield from table(("set, scope", *(f"k = {k}" for k in SHOWN_K)), lines)
    said = "at every size measured" if not below else f"but not on {'; '.join(below)}"
    yield f"\nNVS is above the lexicon {said}."


def _beside(point: Json | None, head: Rows) -> str:
    found = _recall_at(head, point["mean_size"]) if point else None
    if point is None or found is None:
        return "-"
    mark = "**" if found > point["recall"] else ""
    shown = f"{percent(point['recall'])} / {mark}{percent(found)}{mark}"
    return f"{shown} at {point['mean_size']:.0f}"


def _recall_at(points: Rows, size: float) -> float | None:
    """Between points interpolated in log(size), as `Curve.recall_at`; None outside."""
    known = sorted((point["mean_size"], point["recall"]) for point in points)
    for (a, low), (b, high) in pairwise(known):
        if a <= size <= b:
            share = 0.0 if a == b else (log(size) - log(a)) / (log(b) - log(a))
            return float(low + share * (high - low))
    return None


def idioms(rows: Rows, languages: str) -> Iterator[str]:
    """Tables 2 and 3."""
    for (_, test), group in groupby(rows, key=lambda row: (row["model"], row["test"])):
        here = list(group)
        scopes = list(dict.fromkeys(row["scope"] for row in here))
        lines = []
        for name in dict.fromkeys(row["selection"] for row in here):
            found = {row["scope"]: row for row in here if row["selection"] == name}
            lines.append([name, *(_at(found[scope]) for scope in scopes)])
        published = (PROVERBS if "literal" in scopes else IDIOMS).get(languages, {})
        for place, k in enumerate((200, 1000)):
            if published:
                cells = [
                    published.get(scope.removesuffix(" (a)"), ("", ""))[place] for scope in scopes
                ]
                lines.append([f"paper: lexicon:{k}", *cells])
        yield f"\n**{test}**, recall of unique tokens in % at the mean set size\n"
        yield from table(("selection", *scopes), lines)
        counts = "; ".join(
            f"{row['scope']}: {row['counted']} of {row['sentences']} sentences, "
            f"{row['tokens']} tokens"
            for row in here
            if row["selection"] == here[0]["selection"]
        )
        yield f"\n{counts}." + (f" {DIFFERS}" if published else "")


def _at(row: Json) -> str:
    shown = percent(row["recall"]) if row["counted"] else "-"
    return f"{shown} at {row['mean_size']:.0f}"


def context(found: Json, languages: str) -> Iterator[str]:
    """Table 6."""
    headers = ("tokens, λ", "context", "without", "only with", "only without", "shortlist")
    for rows in found.values():
        lines: list[list[object]] = []
        for row in rows:
            shares = [row[f"{kind}context"] for kind in ("", "no_", "only_", "only_no_")]
            label = f"{row['test']}, {row['scope']}, {row['threshold']:g}"
            lines.append([label, *map(percent, shares), f"{row['mean_size']:.0f}"])
        published = CONTEXT.get(languages, {})
        for threshold, cells in published.items():
            lines.append([f"paper: its own idioms, {threshold:g}", *cells, ""])
        yield "\n% of segments with all idiom tokens selected (table 6)\n"
        yield from table(headers, lines)
        if published:
            yield (
                "\nWhat differs: the paper's model was adapted to idioms before, and its set is "
                f"internal. {DIFFERS}"
            )


def aligners(rows: Rows, languages: str) -> Iterator[str]:
    """Table 1."""
    lines: list[list[object]] = []
    for test in dict.fromkeys(row["test"] for row in rows):
        for name in dict.fromkeys(row["lexicon"] for row in rows if row["test"] == test):
            here = [row for row in rows if (row["test"], row["lexicon"]) == (test, name)]
            shares = [percent(row[kind]) for row in here for kind in ("output", "reference")]
            lines.append([f"{test}, {name}", *shares])
    for name, both in ALIGNERS.get(languages, {}).items():
        lines.append([f"paper: newstest2020, {name}", *(cell for pair in both for cell in pair)])
    yield "\nRecall by aligner (table 1)\n"
    headers = (
        "set, lexicon",
        *(f"{kind}, k = {k}" for k in (200, 1000) for kind in ("out", "ref")),
    )
    yield from table(headers, lines)
    if languages in ALIGNERS:
        yield f"\n{DIFFERS}"


def benchmark(rows: Rows, languages: str) -> Iterator[str]:
    """Latency in fresh processes, table 5."""
    for (_, test), group in groupby(rows, key=lambda row: (row["model"], row["test"])):
        here = list(group)
        published = NEWS.get(languages, {})
        lines = [
            [
                row["selection"],
                f"{row['mean_size']:.0f}",
                *(_mean(row[kind], 2) for kind in ("p50", "p90")),
                _mean(row["relative"], 1, 100),
                published.get(row["selection"], ("", "", ""))[2],
            ]
            for row in here
        ]
        number = len(here[0]["runs"])
        yield f"\n**{test}**, latency of one sentence, {number} fresh processes each\n"
        headers = ("selection", "tokens", "p50 ms", "p90 ms", "% of none", "paper: CPU, % of none")
        yield from table(headers, lines)
        yield f"\n{_signed(here[0])}. {DIFFERS}"


def _mean(value: Json, digits: int, scale: float = 1) -> str:
    half = "" if value["interval"] is None else f" ±{scale * value['interval']:.{digits}f}"
    return f"{scale * value['value']:.{digits}f}{half}"


def human(rows: Rows, languages: str) -> Iterator[str]:
    """Human evaluation, table 5."""
    for one in rows:
        lines = [
            [
                row["system"],
                f"{row['rating']:.2f}",
                _mean(row["normalized"], 1),
                "-" if row["p_value"] is None else f"{row['p_value']:.3f}",
            ]
            for row in one["systems"]
        ]
        number = len(one["annotators"])
        yield f"\n**{one['test']}**, {one['segments']} segments, {number} annotators\n"
        yield from table(("system", "rating", f"% of {one['baseline']}", "p"), lines)


KINDS: dict[str, Callable[[Any, str], Iterator[str]]] = {
    "rows": quality,
    "benchmark": benchmark,
    "curves": curves,
    "idioms": idioms,
    "context": context,
    "aligners": aligners,
    "human": human,
}
RECIPES: dict[str, Callable[[Any, str], Iterator[str]]] = {
    "adaptation": adaptation,
    ABLATION: positive_weights,
    "model_sizes": sizes,
    "seeds": seeds,
}
