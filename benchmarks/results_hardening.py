"""What attacks on the promises and changes of the source came to."""

import re

from results_common import RESULTS, percent, read, table


def hardening() -> list[list[str]]:
    sections = {"torture": _torture, "mutants": _mutants}
    return [section() for name, section in sections.items() if _is_there(name)]


def _is_there(name: str) -> bool:
    return (RESULTS / f"{name}.json").is_file()


def _torture() -> list[str]:
    rows = [
        [
            name,
            f"{part['cases']:,} of {part['wanted']:,}",
            f"{part['seconds'] / 60:.1f}",
            _outcomes(part["outcomes"]),
            sum(n for kind, n in part["outcomes"].items() if kind.startswith("FAIL")),
        ]
        for name, part in read("torture")["parts"].items()
    ]
    return [
        "## Attacks on the guarantees",
        "`make torture PART=…`, `torture.json`: see `guarantees.md`. 0 in the outcomes of requests "
        "is a connection that ended without an answer, because no request had arrived.",
        "",
        *table(("part", "cases", "minutes", "outcomes", "promises broken"), rows),
    ]


def _outcomes(outcomes: dict[str, int]) -> str:
    inputs = [int(match[1]) for kind in outcomes if (match := re.search(r", (\d+) inputs", kind))]
    others = {kind: count for kind, count in outcomes.items() if " inputs in " not in kind}
    shown = [f"{kind} {count:,}" for kind, count in sorted(others.items())]
    if inputs:
        shown.append(f"{len(inputs)} readers, {sum(inputs):,} inputs, {min(inputs):,} at least")
    return "; ".join(shown)


def _mutants() -> list[str]:
    content = read("mutants")
    rows: list[list[object]] = [
        [room, each["asked"], each["noticed"], percent(each["noticed"] / each["asked"])]
        for room, each in content["rooms"].items()
    ]
    rows.append(["all", content["asked"], content["noticed"], percent(content["share"])])
    survivors = [[each["where"], each["change"], each["why"]] for each in content["survivors"]]
    return [
        "## Changes of the source that the tests notice",
        f"`make mutants`, `mutants.json`: {content['asked']} of a sample of {content['sample']} "
        "small changes were made, one at a time.",
        "",
        *table(("room", "changes", "noticed", "%"), rows),
        *(["", "Survivors:", "", *table(("where", "change", "why it lives"), survivors)]
          if survivors else []),
    ]  # fmt: skip
