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
    (r"^\s*(import|from) (dill|joblib)\b|allow_pickle=True", None),
    (r"^\s*(import|from) pickle\b", "importers/hugging_face.py"),  # for the name of its error
    (r"\bpickle\.(load|loads|Unpickler)\b", None),
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


def private_names(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of each use of what another module or class keeps to itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    own = {node.attr for node in nodes if isinstance(node, ast.Attribute) and is_self(node.value)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, alias.name) for alias in node.names if private(alias.name))
        elif isinstance(node, ast.Attribute) and private(node.attr) and node.attr not in own:
            yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            (".setattr", "delattr")
        ):
            names = (part.value for part in node.args if isinstance(part, ast.Constant))
            yield from ((node.lineno, str(name)) for name in names if private(str(name)))


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def private(name: str) -> bool:
    documented = ("_exit", "_replace", "_asdict", "_fields")
    return bool(re.fullmatch(r"_[A-Za-z]\w*", name)) and name not in documented


def test_private_names_are_used_for_a_reason() -> None:
    """`# private: REASON` in the line, or in a line of its own for a whole module."""
    bare = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        if any(line.startswith("# private: ") for line in lines):
            continue
        for number, name in private_names(path):
            if "# private: " not in lines[number - 1]:
                bare.append(f"{path.relative_to(ROOT)}:{number}: {name}")
    assert bare == []
