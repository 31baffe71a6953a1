"""What NeMo Curator's NMT backend sends and expects, at the route of LibreTranslate."""

from typing import Any

import pytest
from serving import Site, model_of, running

from sieve.serve.models import Models
from sieve.serve.settings import Limits, Settings

GOOD = {"texts": ["bda fga", "", "kla\nste"], "src_lang": "en", "tgt_lang": "de"}


def test_a_translation_for_each_text(site: Site, models: Models) -> None:
    translator = model_of(models, "en", "de").translator
    expected = [translator.translate(text).text for text in GOOD["texts"]]
    assert site.post("/translate", GOOD).json == {"translations": expected}
    assert site.post("/translate", {**GOOD, "texts": []}).json == {"translations": []}
    same = {**GOOD, "src_lang": "en", "tgt_lang": "en"}
    assert site.post("/translate", same).json == {"translations": GOOD["texts"]}
    assert site.post("/translate", {**GOOD, "src_lang": "auto"}).status == 200


def test_whose_a_body_is_its_fields_say(site: Site) -> None:
    theirs = {"q": '{"src_lang": 1}', "source": "en", "target": "de", "src_lang": "en"}
    assert set(site.post("/translate", theirs).json) == {"translatedText"}
    form = b"q=bda&source=en&target=de&src_lang=en"
    kind = "application/x-www-form-urlencoded"
    assert set(site.ask("POST", "/translate", form, kind).json) == {"translatedText"}


@pytest.mark.parametrize(
    ("asked", "status", "message"),
    [
        ({"texts": "bda"}, 400, "Invalid request: texts parameter is not a list of strings"),
        ({"texts": ["bda", 7]}, 400, "Invalid request: texts parameter is not a list of strings"),
        ({"texts": None}, 400, "Invalid request: missing texts parameter"),
        ({"tgt_lang": None}, 400, "Invalid request: missing tgt_lang parameter"),
        ({"tgt_lang": "xx"}, 400, "xx is not supported"),
        ({"texts": ["a"] * 201}, 400, "Invalid request: request (201) exceeds text limit (200)"),
    ],
)
def test_refusals(site: Site, asked: dict[str, Any], status: int, message: str) -> None:
    answer = site.post("/translate", {**GOOD, **asked})
    assert (answer.status, answer.json) == (status, {"error": message})


def test_neither_is_an_error_of_libretranslate(site: Site) -> None:
    assert site.post("/translate", {}).json == {"error": "Invalid request: missing q parameter"}
    broken = site.ask("POST", "/translate", b'{"src_lang": "en"', "application/json")
    assert broken.json == {"error": "Invalid JSON format"}


def test_limits_hold_for_it(models: Models) -> None:
    settings = Settings(port=0, threads=1, limits=Limits(a_minute=2, characters=10))
    with running(models, settings) as site:
        assert site.post("/translate", {**GOOD, "texts": ["a" * 11]}).status == 400
        assert site.post("/translate", {**GOOD, "texts": ["a"]}).status == 200
        assert site.post("/translate", {**GOOD, "texts": ["a"]}).status == 429


def test_the_schema_has_both(site: Site) -> None:
    described = site.ask("GET", "/openapi.json").json["paths"]["/translate"]["post"]
    bodies = described["requestBody"]["content"]["application/json"]["schema"]["anyOf"]
    assert [sorted(body["required"]) for body in bodies] == [
        ["q", "source", "target"], ["src_lang", "texts", "tgt_lang"],
    ]  # fmt: skip
