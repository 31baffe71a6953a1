"""LibreTranslate's API: its own client, curl, and every error it knows."""

import json
import subprocess
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from libretranslatepy import LibreTranslateAPI
from serving import Site, model_of, running

from sieve.engines.options import SearchOptions
from sieve.serve.models import Models
from sieve.serve.settings import Limits, Settings

GERMAN = "Das ist ein Satz, und der Hund schläft heute nicht."
ENGLISH = "This is a sentence, and the dog does not sleep today."
FORM = "application/x-www-form-urlencoded"


def direct(
    models: Models, text: str, source: str = "en", target: str = "de", n_best: int = 1
) -> str:
    translator = model_of(models, source, target).translator
    return translator.translate(text, options=SearchOptions(n_best=n_best)).text


def test_the_real_client(site: Site, models: Models) -> None:
    client = LibreTranslateAPI(site.url)
    assert client.translate("bda fga", "en", "de") == direct(models, "bda fga")
    assert client.translate("bda fga", "de", "en") == direct(models, "bda fga", "de", "en")
    assert client.translate("bda fga", "en", "en") == "bda fga"
    assert client.detect(GERMAN)[0]["language"] == "de"
    assert client.detect(ENGLISH)[0]["language"] == "en"
    assert client.detect(ENGLISH)[0]["confidence"] > 90
    assert client.languages() == [
        {"code": "en", "name": "English", "targets": ["en", "de"]},
        {"code": "de", "name": "German", "targets": ["de", "en"]},
    ]
    with pytest.raises(HTTPError) as caught:
        client.translate("bda", "en", "fr")
    with caught.value as error:
        assert error.code == 400
        assert json.loads(error.read()) == {"error": "fr is not supported"}


def curl(site: Site, path: str, *options: str) -> Any:
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", "60", site.url + path, *options],
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_curl(site: Site, models: Models) -> None:
    expected = {"translatedText": direct(models, "bda fga")}
    fields = ["q=bda fga", "source=en", "target=de"]
    assert curl(site, "/translate", *(f"-d{field}" for field in fields)) == expected
    assert curl(site, "/translate", *(f"-F{field}" for field in fields)) == expected
    body = json.dumps({"q": "bda fga", "source": "EN", "target": "de", "format": None})
    assert curl(site, "/translate", "-HContent-Type: application/json", "-d", body) == expected
    assert curl(site, "/translate?q=bda%20fga&source=en&target=de", "-XPOST") == expected
    assert curl(site, "/health") == {"status": "ok"}


def test_lists_lines_and_alternatives(site: Site, models: Models) -> None:
    asked = {"q": ["bda fga\n\n  kla", "", "12"], "source": "en", "target": "de"}
    found = site.post("/translate", {**asked, "alternatives": 3}).json
    first = f"{direct(models, 'bda fga', n_best=4)}\n\n  {direct(models, 'kla', n_best=4)}"
    assert found["translatedText"] == [first, "", "12"]
    assert found["alternatives"][1:] == [[], []]
    assert 1 <= len(found["alternatives"][0]) <= 3
    assert first not in found["alternatives"][0]
    assert "detectedLanguage" not in found
    one = site.post("/translate", {**asked, "q": "bda", "alternatives": "2"}).json
    assert isinstance(one["translatedText"], str) and isinstance(one["alternatives"][0], str)


def test_auto(site: Site, models: Models) -> None:
    found = site.post("/translate", {"q": GERMAN, "source": "auto", "target": "en"}).json
    assert found["translatedText"] == direct(models, GERMAN, "de", "en")
    assert found["detectedLanguage"]["language"] == "de"
    several = site.post("/translate", {"q": [GERMAN, "Hund"], "source": "auto", "target": "de"})
    assert several.json["translatedText"] == [GERMAN, "Hund"]  # it is German already
    assert [one["language"] for one in several.json["detectedLanguage"]] == ["de", "de"]
    none = site.post("/detect", {"q": "123"})
    assert none.json == [{"language": "en", "confidence": 0.0}]


def test_html_keeps_its_tags(site: Site) -> None:
    asked = {"q": "<p>bda <b>fga</b></p>", "source": "en", "target": "de", "format": "html"}
    found = site.post("/translate", {**asked, "alternatives": 1}).json
    text = found["translatedText"]
    assert text.startswith("<p>") and text.endswith("</p>") and text.count("</b>") == 1
    assert found["alternatives"] == []
    assert site.post("/translate", {**asked, "q": []}).status == 400


def test_settings(site: Site) -> None:
    found = site.ask("GET", "/frontend/settings").json
    assert found["charLimit"] == 20_000 and found["keyRequired"] is False
    assert found["language"]["target"] == {"code": "de", "name": "German"}


GOOD = {"q": "bda", "source": "en", "target": "de"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"q": ""}, "Invalid request: missing q parameter"),
        ({"q": 7}, "Invalid request: q parameter is not a string or a list of strings"),
        ({"q": ["a", 7]}, "Invalid request: q parameter is not a string or a list of strings"),
        ({"source": None}, "Invalid request: missing source parameter"),
        ({"source": ["en"]}, "Invalid request: source parameter is not a string"),
        ({"target": ""}, "Invalid request: missing target parameter"),
        ({"source": "fr"}, "fr is not supported"),
        ({"target": "auto"}, "auto is not supported"),
        ({"format": "pdf"}, "pdf format is not supported"),
        ({"alternatives": "x"}, "Invalid request: alternatives parameter is not a number"),
        ({"alternatives": 1.5}, "Invalid request: alternatives parameter is not a number"),
        ({"alternatives": True}, "Invalid request: alternatives parameter is not a number"),
        ({"alternatives": 10}, "Invalid request: alternatives parameter must be <= 9"),
        ({"q": "a" * 20_001}, "Invalid request: request (20001) exceeds text limit (20000)"),
        ({"q": ["a"] * 201}, "Invalid request: request (201) exceeds text limit (200)"),
    ],
)
def test_refusals(site: Site, changes: dict[str, Any], message: str) -> None:
    answer = site.post("/translate", {**GOOD, **changes})
    assert (answer.status, answer.json) == (400, {"error": message})


def test_a_pair_without_a_model(models: Models) -> None:
    with running(Models.of([model_of(models, "en", "de")])) as site:
        answer = site.post("/translate", {**GOOD, "source": "de", "target": "en"})
        expected = "English (en) is not available as a target language from German (de)"
        assert (answer.status, answer.json) == (400, {"error": expected})


def test_keys_and_rates(models: Models, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("secret\n")
    settings = Settings(port=0, threads=1, api_keys=keys, limits=Limits(a_minute=3))
    with running(models, settings) as site:
        assert site.post("/translate", GOOD).json == {
            "error": "Please contact the server operator to get an API key"
        }
        wrong = site.post("/translate", {**GOOD, "api_key": "guess"})
        assert (wrong.status, wrong.json) == (403, {"error": "Invalid API key"})
        client = LibreTranslateAPI(site.url, "secret")
        assert client.translate("bda", "en", "de")
        assert client.detect("bda")
        slow = site.post("/translate", {**GOOD, "q": ["a", "b"], "api_key": "secret"})
        assert (slow.status, slow.json) == (429, {"error": "Slowdown: 3 per 1 minute"})
        assert 1 <= int(slow.headers["retry-after"]) <= 20
        assert site.ask("GET", "/frontend/settings").json["keyRequired"] is True
        assert client.languages()
        assert site.metric('sieve_refused_requests_total{reason="rate"}') == 1.0
