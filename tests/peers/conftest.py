"""Imports of the real models, made once; a test whose peer or model cannot be had is skipped."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from oracles.environments import Unavailable
from oracles.notes import Note, keep

from sieve.importers.importing import ImportOptions, import_model
from sieve.importers.origin import Origin

SAMPLE = ("Yes.",)
"""Alignment is not what is compared here, so little is spent on measuring it."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    try:
        yield
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Iterator[None]:
    try:
        return (yield)
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Gives the model directory of a source, as `sieve import` writes it."""
    folder = tmp_path_factory.mktemp("imported")

    def directory(source: Path) -> Path:
        output = folder / source.name
        if not output.is_dir():
            import_model(Origin(source), output, ImportOptions(sample=SAMPLE))
        return output

    return directory


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Note:
    """Keeps numbers under the name of the test."""
    return partial(keep, request.node.name.removeprefix("test_"))
