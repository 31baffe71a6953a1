"""Models and a server that most tests share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from directories import write_model
from serving import Site, running
from toy_lexicon import random_lexicon

from sieve.files import read_json, write_json
from sieve.serve.models import Models, open_models


@pytest.fixture(scope="session")
def directories(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two models, one for each direction, with lexicons."""
    root = tmp_path_factory.mktemp("served")
    found = []
    for languages in (["en", "de"], ["de", "en"]):
        directory = root / "-".join(languages)
        config, _ = write_model(directory, toy_data.corpus, int8=True)
        write_json(
            directory / "config.json",
            {**read_json(directory / "config.json"), "languages": languages},
        )
        random_lexicon(config.tgt_vocab_size).save(directory)
        found.append(directory)
    return found


@pytest.fixture(scope="session")
def models(directories: list[Path]) -> Models:
    return open_models([str(path) for path in directories])


@pytest.fixture(scope="module")
def site(models: Models) -> Iterator[Site]:
    with running(models) as found:
        yield found
