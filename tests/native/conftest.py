"""Model directories that several tests damage."""

from pathlib import Path
from typing import Any

import pytest
from damage import outcome
from directories import write_model


@pytest.fixture(scope="session")
def models(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A whole directory of each form."""
    folder = tmp_path_factory.mktemp("whole")
    for form in ("float32", "int8"):
        write_model(folder / form, toy_data.corpus, int8=form == "int8")
        assert outcome(folder / form) == "works"
    return {form: folder / form for form in ("float32", "int8")}
