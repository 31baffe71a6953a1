"""Which test modules need torch, so that the others run where it is not installed."""

import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
_NEEDS = re.compile(
    r"\b(import torch|from torch|sieve\.train|sieve\.model\b|sieve\.kernels|engines\.torch"
    r"|sieve\.huggingface|positive_weight|\"(train|adapt|attach|average|prepare)\")"
)
_IMPORTS = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)


@cache
def needs_torch(path: Path) -> bool:
    """Whether a module imports torch or what needs it, itself or by what tests share."""
    text = path.read_text("utf-8")
    shared = (TESTS / "support" / f"{name}.py" for name in _IMPORTS.findall(text))
    return bool(_NEEDS.search(text)) or any(
        needs_torch(each) for each in shared if each != path and each.is_file()
    )


def modules_that_need_torch() -> list[str]:
    """Test modules, as pytest's `collect_ignore` names them."""
    return [
        path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py") if needs_torch(path)
    ]
