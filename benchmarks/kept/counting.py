"""From translations to shares: per category how much was kept, per fault how many lines have it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kept.faults import FAULTS, faults
from kept.generating import Case
from kept.wants import judge

_EXAMPLES = 5
"""Lines shown of each category that lost something."""
_NUMBERS = ("number", "time", "date", "digits")


@dataclass
class Tally:
    """What was kept of some lines."""

    lines: int = 0
    wanted: int = 0
    kept: int = 0
    misread: int = 0
    lost: list[list[str]] = field(default_factory=list)
    """Examples: source, translation, what is missing."""

    def as_json(self) -> dict[str, Any]:
        """Counts, the share kept, and examples of what was lost."""
        share = round(self.kept / self.wanted, 5) if self.wanted else 1.0
        counts = {"lines": self.lines, "wanted": self.wanted, "kept": self.kept, "share": share}
        return counts | {"misread": self.misread, "lost": self.lost}


def tally(
    cases: Iterable[Case], outputs: Iterable[str], languages: tuple[str, str]
) -> dict[str, Any]:
    """Shares by category, of all numbers and all other things, and counts of faults.

    Args:
        cases: The sources, in order.
        outputs: Their translations.
        languages: Of both.
    """
    categories: dict[str, Tally] = {}
    totals = {"numbers": Tally(), "verbatim": Tally()}
    wrong: Counter[str] = Counter(dict.fromkeys(FAULTS, 0))
    examples: dict[str, list[list[str]]] = {}
    for case, output in zip(cases, outputs, strict=True):
        of_category = categories.setdefault(case.category, Tally())
        of_category.lines += 1
        missing = []
        for verdict in judge(case.wants, output, languages[1]):
            of_kind = totals["numbers" if verdict.want.kind in _NUMBERS else "verbatim"]
            for each in (of_category, of_kind):
                each.wanted += 1
                each.kept += verdict.kept
                each.misread += verdict.misread
            if not verdict.kept:
                missing.append(verdict.want.text)
        if missing and len(of_category.lost) < _EXAMPLES:
            of_category.lost.append([case.source, output, " ".join(missing)])
        for name in faults(case.source, output, languages):
            wrong[name] += 1
            if len(examples.setdefault(name, [])) < _EXAMPLES:
                examples[name].append([case.source, output])
    return {
        "categories": {name: categories[name].as_json() for name in sorted(categories)},
        "all": {name: each.as_json() for name, each in totals.items()},
        "faults": dict(wrong),
        "examples of faults": examples,
    }
