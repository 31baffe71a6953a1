"""Licences of what Sieve stands on: THIRD_PARTY.md, and a check that no package has another kind.

    python release/licences.py            # what is installed, against THIRD_PARTY.md and ALLOWED
    python release/licences.py --write    # THIRD_PARTY.md anew; what is not installed keeps its row

Licences are what packages declare: their expression, else their classifiers, else their text.
"""

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from sieve.config import read_toml

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "THIRD_PARTY.md"
ALLOWED = re.compile(
    r"\b(MIT(-0|-CMU)?|BSD|0BSD|Apache|ISC|MPL|PSF|Python Software Foundation|Zlib|CC0|BSL-1\.0"
    r"|HPND|Unlicense|Public Domain|Dual License)\b",
    re.IGNORECASE,
)
REFUSED = re.compile(r"\b(A?GPL|GNU)", re.IGNORECASE)
EXCEPTIONS = {
    "sil-thot": "LGPL-3.0: a library of its own that the extra align calls and nothing ships",
}
NOT_SHIPPED = {"dev", "docs", "release", "browser"}
TITLE = """\
# Third parties
What each extra installs, and under which licence it says it is. Sieve itself holds none of it: the
packages come from their own publishers. `python release/licences.py --write` writes this page;
`make check` wants every package listed and refuses what is installed under other kinds of licence,
packages that come with these included. The models have a licence of their own:
[models/LICENSE](models/LICENSE).
"""
ROW = re.compile(r"^\| ([\w.-]+) \| ([^|]+) \|$", re.MULTILINE)


def canonical(name: str) -> str:
    """The name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(name: str) -> str | None:
    """What an installed package says its licence is; None where it is not installed."""
    try:
        facts = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    expression = facts.get("License-Expression")
    classifiers = [
        line.rsplit(" :: ", 1)[-1]
        for line in facts.get_all("Classifier") or []
        if line.startswith("License ::") and not line.endswith("OSI Approved")
    ]
    text = (facts.get("License") or "").strip().splitlines()
    short = text[0] if text and len(text[0]) < 60 and text[0] != "UNKNOWN" else ""
    return expression or ", ".join(classifiers) or short or "not declared"


def direct() -> dict[str, list[str]]:
    """The packages of each extra, those of the program itself under an empty name."""
    project = read_toml(ROOT / "pyproject.toml")["project"]
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    return {
        extra: sorted({canonical(Requirement(text).name) for text in texts} - {"sieve-nmt"})
        for extra, texts in extras.items()
    }


def installed(names: list[str]) -> Iterator[str]:
    """These packages and what they require in turn, as far as it is installed."""
    waiting, seen = list(names), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        yield name
        for requirement in map(Requirement, required):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(canonical(requirement.name))


def recorded() -> dict[str, str]:
    """The rows of the page."""
    return dict(ROW.findall(PAGE.read_text("utf-8"))) if PAGE.exists() else {}


def page() -> str:
    """The page as it should be."""
    known, parts = recorded(), [TITLE]
    for extra, names in direct().items():
        title = f"`{extra}`" if extra else "The translator itself"
        parts.append(f"## {title}{' (for development)' if extra in NOT_SHIPPED else ''}")
        parts.append("| package | licence |\n|---|---|")
        parts += [f"| {name} | {declared(name) or known.get(name, 'unknown')} |" for name in names]
        parts.append("")
    return "\n".join(parts)


def faults() -> Iterator[str]:
    """What is wrong, a sentence for each."""
    rows, extras = recorded(), direct()
    for name in sorted({name for names in extras.values() for name in names}):
        if name not in rows:
            yield f"{name}: not in THIRD_PARTY.md; run python release/licences.py --write"
    shipped = [
        name for extra, names in extras.items() if extra not in NOT_SHIPPED for name in names
    ]
    for name in sorted({*shipped, *installed(shipped)}):
        said = declared(name) or rows.get(name, "")
        allowed = ALLOWED.search(said) and not REFUSED.search(said)
        if not allowed and name not in EXCEPTIONS:
            yield f"{name}: licence '{said}' is of no allowed kind; use another package"


def main() -> int:
    """0 where all is well."""
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(), "utf-8")
    problems = list(faults())
    for problem in problems:
        print(f"licences: {problem}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
