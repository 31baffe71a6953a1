"""Nothing of a model is unpickled or executed: the source has no way to do it."""

import ast
from pathlib import Path

import sieve

SOURCE = Path(sieve.__file__).parent
FORBIDDEN = {"eval", "exec", "__import__"}
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
UNPICKLERS = {"load", "loads", "Unpickler"}


def calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def trees() -> list[tuple[str, ast.AST]]:
    paths = sorted(SOURCE.rglob("*.py"))
    assert len(paths) > 100
    return [(path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text())) for path in paths]


def test_no_code_is_made_of_text() -> None:
    for name, tree in trees():
        named = {call.func.id for call in calls(tree) if isinstance(call.func, ast.Name)}
        assert not named & FORBIDDEN, name


def test_nothing_is_unpickled() -> None:
    for name, tree in trees():
        for call in calls(tree):
            if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
                module, function = call.func.value.id, call.func.attr
                assert module not in MODULES or function not in UNPICKLERS, name
                settings = {word.arg: ast.unparse(word.value) for word in call.keywords}
                if (module, function) == ("torch", "load"):
                    assert settings.get("weights_only") == "True", name
                if (module, function) == ("np", "load"):
                    assert settings.get("allow_pickle") == "False", name
                if module == "yaml":
                    known = ("safe_load", "parse", "scan")  # events and tokens are text
                    assert function in known, name
