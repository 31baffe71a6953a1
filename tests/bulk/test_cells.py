"""What every worker does: one cell for each text, and an error stays in its cell."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from directories import write_model

import sieve
from sieve.bulk.cells import CellTranslator, ModelUse, model_hash
from sieve.errors import ModelError
from sieve.ray import Translate
from sieve.translate.raw_lines import LONG
from sieve.translate.translation import Request, Translation
from sieve.translate.translator import Translator


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("model") / "xx-yy"
    write_model(directory, toy_data.corpus)
    return str(directory)


def test_cells_are_what_the_translator_gives(model: str) -> None:
    texts = ["bda fga", "", " ", "kla ste", None, 7, "bda " * (LONG // 4 + 1)]
    cells, account = CellTranslator(ModelUse(model)).translate(texts)
    translator = sieve.load(model)
    for text, cell in zip(texts, cells, strict=True):
        if isinstance(text, str):
            expected = translator.translate(text)
            assert (cell.text, cell.error) == (expected.text, None)
            if len(text) <= LONG:
                assert (cell.score, cell.shortlist_size) == (
                    expected.score,
                    expected.shortlist_size,
                )
    assert cells[4].values == (None,) * 5
    assert cells[5].error == "got int, expected a string"
    assert (account.cells, account.errors) == (7, 1)
    assert account.source_tokens > LONG // 8 and account.target_tokens > 0 and account.seconds > 0


def test_a_text_that_fails_takes_no_other_with_it(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Translator.run

    def failing(self: Translator, lines: Sequence[str], request: Request) -> list[Translation]:
        if any("!" in line for line in lines):
            raise RuntimeError("no such luck")
        return run(self, lines, request)

    translator = CellTranslator(ModelUse(model))
    texts = ["bda", "fga!", "kla", "ste", "bda! " * (LONG // 5 + 1), "bda"]
    expected, _ = translator.translate(texts)
    monkeypatch.setattr(Translator, "run", failing)
    cells, account = translator.translate(texts)
    for place, cell in enumerate(cells):
        if place in (1, 4):
            assert cell.values == (None, None, None, None, "RuntimeError: no such luck")
        else:
            assert cell == expected[place]
    assert account.errors == 2


def test_another_model_than_expected_is_refused(model: str) -> None:
    CellTranslator(ModelUse(model, model_hash=model_hash(model)))
    with pytest.raises(ModelError, match="here is another model"):
        CellTranslator(ModelUse(model, model_hash="0" * 64))


def test_the_identity_follows_what_translations_depend_on(model: str, tmp_path: Path) -> None:
    use = ModelUse(model)
    assert use.identity == ModelUse(model, engine={"threads": 3}).identity
    others = [
        ModelUse(model, Request("none")),
        ModelUse(model, prefix="a"),
        ModelUse(model, engine={"precision": "float32"}),
        ModelUse(model, model_hash="0"),
        ModelUse(model, Request(glossary=sieve.Glossary((("a", "b"),)))),
    ]
    assert len({each.identity for each in [use, *others]}) == len(others) + 1


def test_batches_of_a_dataset_of_ones_own(model: str) -> None:
    pandas = pytest.importorskip("pandas")
    translate = Translate(model, ["a", "b"])
    batch = {"id": [1, 2, 3], "a": ["bda", None, 3], "b": ["", "kla ste", float("nan")]}
    result = translate(batch)
    assert list(result)[:3] == ["id", "a", "b"] and list(result)[3] == "a_translation"
    assert result["a_error"].tolist() == [None, None, "got int, expected a string"]
    assert result["b_translation"].tolist()[2] is None
    assert result["b_error"].tolist() == [None] * 3
    frame = translate(pandas.DataFrame(batch))
    assert frame["b_translation"].tolist()[:2] == result["b_translation"].tolist()[:2]
    with pytest.raises(sieve.InputError, match="unknown column 'a'; known: b"):
        translate({"b": []})
    with pytest.raises(sieve.ConfigError, match="a request and a selection"):
        Translate(model, request=Request(), selection="none")
