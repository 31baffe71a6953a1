"""How far it is from `sieve translate` to the native call: at most six frames of this package."""

# private: the stack is what is tested

import sys
from pathlib import Path
from typing import Any

import pytest

import sieve
from sieve import _native  # private: the calls counted are those into the C++ core
from sieve.bundle.config import ModelConfig
from sieve.cli.main import run
from sieve.data.corpus import Corpus
from sieve.model.checkpoint import save_model
from sieve.model.transformer import TranslationModel

PACKAGE = str(Path(sieve.__file__).parent)
MOST_FRAMES = 6


def frames() -> list[str]:
    """Names of this package's functions on the stack, the innermost first."""
    names, frame = [], sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            names.append(frame.f_code.co_name)
        frame = frame.f_back  # type: ignore[assignment]
    return names


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of random weights."""
    tokenizers = Corpus.open(toy_data.corpus).tokenizers()
    size = tokenizers.target.vocab_size
    directory = tmp_path_factory.mktemp("model") / "xx-yy"
    network = TranslationModel(ModelConfig(size, size, 1, 1, 16, 32, 2))
    save_model(directory, network, tokenizers, {"languages": ["xx", "yy"]})
    return directory


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The stack at each native call; verbs open their models themselves, so that none can be
    handed in."""
    taken: list[list[str]] = []
    real = _native.Model

    class Watched:
        def __init__(self, *arguments: Any) -> None:
            self._model = real(*arguments)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._model, name)

        def translate(self, *arguments: Any) -> Any:
            taken.append(frames())
            return self._model.translate(*arguments)

    monkeypatch.setattr(_native, "Model", Watched)
    return taken


@pytest.mark.parametrize("to_file", [True, False])
def test_a_line_is_few_frames_from_the_native_call(
    model: Path,
    tmp_path: Path,
    stacks: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    to_file: bool,
) -> None:
    source = tmp_path / "in.txt"
    source.write_text("bda fga\n")
    files = ["--input", str(source), *(["--output", str(tmp_path / "out")] if to_file else [])]
    monkeypatch.setattr(sys, "argv", ["sieve", "translate", str(model), *files])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 0
    stack, *_ = stacks  # what random weights write is asked for again
    assert stack[0] == "translate" and stack[-1] == "run"
    assert len(stack) <= MOST_FRAMES, stack
