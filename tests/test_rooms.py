"""Rules about who may use what that import-linter cannot express."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "sieve"

ONLY_IN = [
    (r"\\x1b|\\033", "cli/explain.py"),  # colours: where they are turned off, too
    (r"torch\.distributed|torch import distributed", "train/distributed.py"),
    (
        r"^\s*(import|from) matplotlib|require\(\"matplotlib|\"matplotlib",
        "evaluate/present/drawing.py",
    ),
    (r"^\s*(import|from) (pickle|dill|joblib)\b|torch\.load\(|allow_pickle=True", None),
]


@pytest.mark.parametrize(("pattern", "home"), ONLY_IN)
def test_used_only_at_home(pattern: str, home: str | None) -> None:
    users = {
        str(path.relative_to(SRC))
        for path in SRC.rglob("*.py")
        if re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert users <= {home}


def test_every_source_file_has_a_door_plate() -> None:
    bare = [
        str(path.relative_to(SRC))
        for path in SRC.rglob("*.py")
        if not path.read_text(encoding="utf-8").startswith(('"""', 'r"""'))
    ]
    assert bare == []
