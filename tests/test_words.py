"""The vocabulary of CONTRIBUTING.md holds: nouns for names, one spelling of each term."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "sieve"
RENDERED = {"results.md"}  # from what was measured, under the names it had then
NO_NOUNS = {"found", "one", "some", "many", "again", "whole", "made"}

PHRASES = {
    r"\b(fp32|fp16)\b": "float32, float16",
    r"command is given again|goes on when it is given": "resumes when rerun",
    r"there is nothing here": "not found",
    r"lines out are lines in": "requires --json",
    r"\b(words of the vocabulary|[Aa]ll words|output words|word ids|selected words)\b": "tokens",
    r"\bset(s)? sizes?\b": "shortlist size",
}
ALLOWED = {
    ("CONTRIBUTING.md", "fp32"),
    ("CONTRIBUTING.md", "fp16"),
    ("CONTRIBUTING.md", "command is given again"),
    ("CHANGELOG.md", "fp32"),
    ("CHANGELOG.md", "fp16"),
    ("CONTRIBUTING.md", "there is nothing here"),
    ("src/sieve/train/config.py", "fp32"),  # old spellings of training.precision
    ("src/sieve/train/config.py", "fp16"),
}


def names_bound(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a module gives to something: variables, parameters, attributes, functions."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name


def test_names_are_read_from_the_tree() -> None:
    tree = ast.parse("def one(found, *, x):\n    self.made = [some for some in found]\n    x.one\n")
    names = [name for _, name in names_bound(tree)]
    assert sorted(names) == ["found", "made", "one", "some", "x"]


def test_names_are_nouns() -> None:
    nameless = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted(SRC.rglob("*.py"))
        for line, name in names_bound(ast.parse(path.read_text(encoding="utf-8")))
        if name in NO_NOUNS
    ]
    assert nameless == []


def pages() -> Iterator[Path]:
    """What people read: code with its texts, and the documentation."""
    yield from sorted(path for path in SRC.rglob("*") if path.suffix in (".py", ".html", ".js"))
    yield from sorted(path for path in (ROOT / "docs").glob("*.md") if path.name not in RENDERED)
    yield from sorted(ROOT.glob("*.md"))


def test_terms_have_one_spelling() -> None:
    wrong = []
    for path in pages():
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        for pattern, instead in PHRASES.items():
            for match in re.finditer(pattern, text):
                if (name, match[0]) not in ALLOWED:
                    line = text.count("\n", 0, match.start()) + 1
                    wrong.append(f"{name}:{line}: '{match[0]}'; write {instead}")
    assert wrong == []
