import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sieve.errors import InputError, MissingExtraError
from sieve.evaluate.measure.comet import Comet, checkpoint


def test_nothing_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds 0 .ckpt files.*nothing is fetched"):
        checkpoint(tmp_path / "wmt22-comet-da")


def test_the_library_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.ckpt").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(MissingExtraError, match=r"COMET needs comet.*sieve-nmt\[comet\]"):
        Comet(tmp_path)


def test_what_the_library_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    class Model:
        def predict(self, data: Any, **options: Any) -> Any:
            seen["data"] = data
            return SimpleNamespace(system_score=0.5)

    def load(path: str) -> Model:
        seen["path"] = path
        return Model()

    library = ModuleType("comet")
    library.load_from_checkpoint = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "comet", library)
    file = tmp_path / "wmt22-comet-da" / "checkpoints" / "model.ckpt"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    score = Comet(tmp_path / "wmt22-comet-da").score(["a"], ["b"], ["c"])
    assert seen == {"path": str(file), "data": [{"src": "a", "mt": "b", "ref": "c"}]}
    assert (score.name, score.value) == ("COMET", 0.5)
    assert score.signature == "comet:wmt22-comet-da|version:unknown"
