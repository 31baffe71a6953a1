"""The demo's model, trained once for all tests of this room."""

import pytest
from experiment import Experiment
from language import Pair


@pytest.fixture(scope="session")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    experiment = Experiment(tmp_path_factory.mktemp("paper"))
    experiment.prepare()
    experiment.train()
    return experiment


@pytest.fixture(scope="session")
def held_out(experiment: Experiment) -> list[Pair]:
    return experiment.pairs()[1]
