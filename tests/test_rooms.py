"""Rules about who may use what that import-linter cannot express."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "sieve"

MOST_FILES = 16
WITHOUT_LIMIT = {"cli"}  # a file for each verb, named after it
SHARED_NAMES = {"config", "__init__"}

ONLY_IN = [
    (r"\\x1b|\\033", "cli/explain.py"),  # colours: where they are turned off, too
    (r"torch\.distributed|torch import distributed", "train/distributed.py"),
    (r"^\s*(import|from) matplotlib|\"matplotlib", "evaluate/present/drawing.py"),
    (r"^\s*(import|from) (pickle|dill|joblib)\b|allow_pickle=True", None),
    (r"torch\.load\(", "importers/hugging_face.py"),
    (r"torch\.load\((?![^)]*weights_only=True)", None),
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


def modules() -> Iterator[Path]:
    """Every module of the package, relative to it."""
    return (path.relative_to(SRC) for path in SRC.rglob("*.py"))


def rooms() -> list[Path]:
    """Every directory of the package with modules in it, without the package itself."""
    return sorted({path.parent for path in modules()} - {Path()})


def test_no_room_has_more_files_than_a_reader_can_hold() -> None:
    sizes = {room.as_posix(): len(list((SRC / room).glob("*.py"))) for room in rooms()}
    crowded = {room for room, number in sizes.items() if number > MOST_FILES}
    assert crowded <= WITHOUT_LIMIT


def test_no_two_modules_have_the_same_name() -> None:
    places = defaultdict(list)
    for path in modules():
        if path.parts[0] not in WITHOUT_LIMIT and path.stem not in SHARED_NAMES:
            places[path.stem].append(path.as_posix())
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_two_public_classes_have_the_same_name() -> None:
    places = defaultdict(list)
    for path in modules():
        for node in ast.parse((SRC / path).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.as_posix())
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("room", rooms(), ids=str)
def test_a_room_says_what_it_may_not_know(room: Path) -> None:
    plate = ast.get_docstring(ast.parse((SRC / room / "__init__.py").read_text(encoding="utf-8")))
    assert plate and re.search(r"\bknows?\b", plate, re.IGNORECASE), plate


def test_every_room_is_in_the_import_contract_and_in_the_architecture() -> None:
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    outer = {room.parts[0] for room in rooms()}
    alone = {path.stem for path in modules() if len(path.parts) == 1} - {"__init__"}
    layers = contract.partition("layers = [")[2].partition("]")[0]
    assert outer | alone <= set(re.findall(r"\w+", layers))
    listed = set(re.findall(r"^  (\w+)(?:/|\.py)", architecture, re.MULTILINE))
    assert outer | alone == listed
