"""Our own API: what selection did, in numbers and words."""

from typing import Any

import pytest
from serving import Site, model_of

from sieve.engines.options import SearchOptions
from sieve.serve.models import Models
from sieve.translate.translator import Translator

GOOD = {"texts": ["bda fga"], "source": "en", "target": "de"}


@pytest.fixture(scope="module")
def translator(models: Models) -> Translator:
    return model_of(models, "en", "de").translator


def test_an_answer_says_what_the_translator_says(site: Site, translator: Translator) -> None:
    asked = {"texts": ["bda fga", "kla\nste", ""], "beam_size": 3}
    found = site.post("/v1/translate", {**GOOD, **asked}).json
    assert {key: found[key] for key in ("source", "target", "model", "selection")} == {
        "source": "en", "target": "de", "model": "en-de", "selection": "nvs:0.4",
    }  # fmt: skip
    assert found["vocabulary_size"] == 400
    options = SearchOptions(beam_size=3)
    direct, *lines = translator.translate(["bda fga", "kla", "ste"], options=options)
    first, second, empty = found["translations"]
    assert first["translation"] == direct.text
    assert first["set_size"] == direct.shortlist_size
    assert first["score"] == pytest.approx(direct.score)
    pieces = [token["piece"] for token in first["tokens"]]
    assert pieces == [*direct.pieces, "</s>"][: len(direct.token_scores)]
    assert [token["score"] for token in first["tokens"]] == pytest.approx(direct.token_scores)
    assert second["translation"] == "\n".join(line.text for line in lines)
    assert second["set_size"] == max(line.shortlist_size for line in lines)
    assert second["score"] == pytest.approx(sum(line.score for line in lines))
    assert empty["translation"] == "" and empty["set_size"] == 0 and empty["tokens"] == []
    assert 0 < first["timing"]["engine_ms"] <= found["timing"]["total_ms"]
    assert "explanation" not in first and "detected" not in found


@pytest.mark.parametrize(
    ("changes", "selection"),
    [
        ({"selection": "none"}, "none"),
        ({"selection": "nvs"}, "nvs:0.4"),
        ({"threshold": 0.7}, "nvs:0.7"),
        ({"selection": "nvs", "threshold": 0}, "nvs:0"),
        ({"selection": "lexicon"}, "lexicon:200"),
        ({"selection": "lexicon:3+nvs:0.9"}, "lexicon:3+nvs:0.9"),
    ],
)
def test_selections(
    site: Site, translator: Translator, changes: dict[str, Any], selection: str
) -> None:
    found = site.post("/v1/translate", {**GOOD, **changes}).json
    assert found["selection"] == selection
    direct = translator.translate("bda fga", selection=selection)
    assert found["translations"][0]["set_size"] == direct.shortlist_size
    assert found["translations"][0]["translation"] == direct.text


def test_words_to_exclude_and_include(site: Site, translator: Translator) -> None:
    word = next(word for word in translator.translate("kla").text.split() if word.isalpha())
    direct = translator.translate("kla", exclude=[word])
    found = site.post("/v1/translate", {**GOOD, "texts": ["kla"], "exclude": [word, " "]}).json
    assert found["translations"][0]["translation"] == direct.text
    assert word not in direct.text.split()
    bare = site.post("/v1/translate", {**GOOD, "threshold": 0.999999}).json["translations"][0]
    more = site.post("/v1/translate", {**GOOD, "threshold": 0.999999, "include": ["BDA"]}).json
    assert more["translations"][0]["set_size"] > bare["set_size"]


def test_explanation(site: Site) -> None:
    asked = {"texts": ["bda fga", "", "bda " * 200], "explain": True, "threshold": 0.6}
    first, empty, long = site.post("/v1/translate", {**GOOD, **asked}).json["translations"]
    found = first["explanation"]
    assert [one["selection"] for one in found["systems"]] == ["none", "lexicon:200", "nvs:0.6"]
    assert found["systems"][2]["translation"] == first["translation"]
    assert found["systems"][2]["size"] == first["set_size"]
    assert found["threshold"] == 0.6
    assert [word["text"] for word in found["words"]][:2] == ["bda", "fga"]
    assert empty["explanation"] is None and long["explanation"] is None
    asked = {"explain": True, "selection": "lexicon:5"}
    (other,) = site.post("/v1/translate", {**GOOD, **asked}).json["translations"]
    names = [one["selection"] for one in other["explanation"]["systems"]]
    assert names == ["none", "lexicon:200", "nvs:0.4", "lexicon:5"]


def test_auto_and_the_same_language(site: Site) -> None:
    german = "Das ist ein Satz, und der Hund schläft."
    found = site.post("/v1/translate", {**GOOD, "texts": [german], "source": "auto"}).json
    assert found["detected"]["language"] == found["source"] == "de"
    assert found["model"] is None and found["translations"][0]["translation"] == german


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"texts": []}, "Invalid request: missing texts parameter"),
        ({"texts": "bda"}, "Invalid request: texts parameter is not a list of strings"),
        ({"text": "bda"}, "unknown parameter 'text'; did you mean 'texts'?"),
        ({"threshold": 1}, "threshold parameter is not a number from 0 to below 1"),
        ({"threshold": 1.1}, "threshold parameter is not a number from 0 to below 1"),
        ({"threshold": True}, "threshold parameter is not a number from 0 to below 1"),
        ({"selection": "nvs:1"}, "got '1', expected a threshold from 0 to below 1"),
        ({"threshold": 0.5, "selection": "none"}, "threshold parameter requires selection nvs"),
        ({"selection": "nsv"}, "unknown selection 'nsv'; did you mean 'nvs'?"),
        ({"selection": 7}, "selection parameter is not a string"),
        ({"beam_size": 0}, "beam_size parameter is not a whole number from 1 to 16"),
        ({"beam_size": "5"}, "beam_size parameter is not a whole number from 1 to 16"),
        ({"beam_size": 17}, "beam_size parameter is not a whole number from 1 to 16"),
        ({"explain": 1}, "explain parameter is not true or false"),
        ({"include": "a"}, "include parameter is not a list of strings"),
        ({"exclude": [1]}, "exclude parameter is not a list of strings"),
        ({"exclude": ""}, "exclude parameter is not a list of strings"),
        ({"include": ["a"] * 65}, "include parameter has more than 64 words"),
        ({"exclude": ["a" * 101]}, "exclude parameter has a word of more than 100 characters"),
        ({"target": "fr"}, "fr is not supported"),
    ],
)
def test_refusals(site: Site, changes: dict[str, Any], message: str) -> None:
    answer = site.post("/v1/translate", {**GOOD, **changes})
    assert answer.status == 400
    assert message in answer.json["error"]


def test_only_json(site: Site) -> None:
    answer = site.ask("POST", "/v1/translate", b"texts=a", "application/x-www-form-urlencoded")
    assert answer.status == 415
    assert answer.json == {"error": "expected a body of type application/json"}
