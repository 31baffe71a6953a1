"""Small changes of the source: `<` to `<=`, `+` to `-`, a constant by one, no statement."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = {
    "selection": (["selection/*.py"], ["tests/selection"]),
    "search": (
        ["engines/options.py", "engines/native/*.py", "engines/torch/beams.py",
         "engines/torch/constraints.py", "engines/torch/sampling.py", "engines/torch/search.py",
         "translate/parts.py", "translate/confidence.py"],
        ["tests/engines/test_search.py", "tests/translate/test_parts.py",
         "tests/translate/test_confidence.py", "tests/native/test_misuse.py",
         "tests/native/test_properties.py"],
    ),
    "repair": (["repair/*.py"], ["tests/repair"]),
    "files": (
        ["files/*.py", "bundle/integrity.py"], ["tests/files", "tests/bundle/test_integrity.py"],
    ),
    "resume": (["translate/resumable.py", "cli/line_by_line.py"], ["tests/cli/test_translate.py"]),
    "serve": (
        ["serve/access.py", "serve/settings.py", "serve/web/connection.py", "serve/web/body.py"],
        ["tests/serve/test_access.py", "tests/serve/test_connections.py",
         "tests/serve/test_robustness.py"],
    ),
}  # fmt: skip
"""Patterns of files, and the tests that should notice a change in them."""
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And, ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}  # fmt: skip
OTHER_CALL = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """One change."""

    room: str
    path: str
    line: int
    number: int
    """Of the node, in the order of `ast.walk`."""
    change: str

    @property
    def key(self) -> str:
        """Names it."""
        return f"{self.path}:{self.number}:{self.change}"


def changed(node: ast.AST) -> str:
    """Changes a node in place and says how; empty where nothing is to be changed."""
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in SWAPPED:
            node.ops[0] = SWAPPED[type(op)]()  # type: ignore[call-overload]
            return f"{type(op).__name__} to {type(node.ops[0]).__name__}"
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in SWAPPED:
            node.op = SWAPPED[type(op)]()  # type: ignore[assignment]
            return f"{type(op).__name__} to {type(node.op).__name__}"
        case ast.UnaryOp(op=ast.Not()):
            node.op = ast.UAdd()  # the value itself, as far as truth goes
            node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
            return "not left out"
        case ast.Constant(value=bool(value)):
            node.value = not value
            return f"{value} to {not value}"
        case ast.Constant(value=int(value) | float(value)):
            node.value = value + 1
            return f"{value} to {value + 1}"
        case ast.Call(func=ast.Name(id=name) as function) if name in OTHER_CALL:
            function.id = OTHER_CALL[name]
            return f"{name} to {OTHER_CALL[name]}"
    return _without_statement(node)


def _without_statement(node: ast.AST) -> str:
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return ""
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            body[place] = ast.copy_location(ast.Pass(), statement)
            return f"line {statement.lineno} left out"
        if isinstance(statement, ast.Break | ast.Continue):
            other: ast.stmt = SWAPPED[type(statement)]()  # type: ignore[assignment]
            body[place] = ast.copy_location(other, statement)
            return f"{type(statement).__name__} to {type(other).__name__}"
    return ""


def mutants() -> Iterator[Mutant]:
    """All there are."""
    for room, (patterns, _) in ROOMS.items():
        for pattern in patterns:
            for path in sorted((ROOT / "src" / "sieve").glob(pattern)):
                tree = ast.parse(path.read_text(encoding="utf-8"))
                skipped = _not_run(tree)
                for number, node in enumerate(ast.walk(tree)):
                    if node in skipped:
                        continue
                    change = changed(copy.deepcopy(node))
                    if change:
                        name = path.relative_to(ROOT).as_posix()
                        yield Mutant(room, name, getattr(node, "lineno", 0), number, change)


def _not_run(tree: ast.AST) -> set[ast.AST]:
    """Annotations and decorators, whose changes are no changes of what is done."""
    left_out = [
        part
        for node in ast.walk(tree)
        for part in (
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
            *getattr(node, "decorator_list", ()),
        )
        if isinstance(part, ast.AST)
    ]
    return {node for part in left_out for node in ast.walk(part)}


def source_of(mutant: Mutant) -> str:
    """The file with the change."""
    tree = ast.parse((ROOT / mutant.path).read_text(encoding="utf-8"))
    node = next(node for number, node in enumerate(ast.walk(tree)) if number == mutant.number)
    changed(node)
    return ast.unparse(ast.fix_missing_locations(tree))
