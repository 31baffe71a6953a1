"""A model for corpora in bulk."""

from typing import Any

import pytest
from directories import write_model

from sieve.bulk.cells import ModelUse


@pytest.fixture(scope="module")
def use(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> ModelUse:
    directory = tmp_path_factory.mktemp("model") / "xx-yy"
    write_model(directory, toy_data.corpus)
    return ModelUse(str(directory))
