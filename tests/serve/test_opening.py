"""Models that are opened when they are asked for, closed when nobody does, and read anew."""

import asyncio
import gc
import json
import shutil
import signal
import threading
import time
import weakref
from pathlib import Path

import pytest
from serving import PATIENCE, ServerProcess, served, until

from sieve.bundle.integrity import seal
from sieve.errors import ConfigError, ModelError
from sieve.files import CAN_SEAL
from sieve.serve.models import Model, Models, Offer, offers_of, opened
from sieve.serve.refusal import Refused

WORKERS = pytest.mark.parametrize(
    "workers",
    ["1", pytest.param("2", marks=pytest.mark.skipif(not CAN_SEAL, reason="needs Linux"))],
)
GOOD = {"q": "bda fga", "source": "en", "target": "de"}


@pytest.fixture
def folder(directories: list[Path], tmp_path: Path) -> Path:
    """Two models in a folder of their own."""
    for directory in directories:
        shutil.copytree(directory, tmp_path / "models" / directory.name)
    return tmp_path / "models"


def test_a_folder_stands_for_the_models_in_it(folder: Path) -> None:
    (folder / "notes.txt").write_text("no model")
    (folder / ".hidden").mkdir()
    offers = offers_of([str(folder)])
    assert [offer.name for offer in offers] == ["de-en", "en-de"]
    assert [offer.selections for offer in offers] == [("nvs", "lexicon")] * 2
    assert [opened(offer).offer.selections for offer in offers] == [("nvs", "lexicon")] * 2


def test_a_model_is_opened_once_for_all_who_ask(folder: Path) -> None:
    calls = []

    def opener(offer: Offer) -> Model:
        calls.append(offer.name)
        return opened(offer)

    async def ask() -> list[Model | None]:
        models = Models(offers_of([str(folder)]), opener)
        assert models.open == {}
        return await asyncio.gather(*(models.opened("en", "de") for _ in range(5)))

    first, *others = asyncio.run(ask())
    assert first is not None and all(other is first for other in others)
    assert calls == ["en-de"]


def test_a_model_that_cannot_be_opened_is_tried_again(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def ask() -> None:
        models = Models(offers_of([str(folder)]), opened)
        weights = folder / "en-de" / "model.safetensors"
        weights.rename(folder / "away")
        with pytest.raises(Refused, match="en-de cannot be opened: see the log") as refused:
            await models.opened("en", "de")
        assert (refused.value.status, refused.value.retry_after) == (503, 60)
        assert str(folder) not in str(refused.value)
        (folder / "away").rename(weights)
        assert await models.opened("en", "de") is not None

    asyncio.run(ask())
    assert "en-de cannot be opened: " in caplog.text and "model.safetensors" in caplog.text


def test_an_idle_model_leaves_memory_and_requests_keep_theirs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = Models(offers_of([str(folder)]), opened)
    models.open_all()
    kept, gone = (weakref.ref(model.translator.engine) for model in models.open.values())
    request = next(iter(models.open.values()))
    now = time.monotonic()
    models.close_idle(60.0)
    assert len(models.open) == 2
    monkeypatch.setattr(time, "monotonic", lambda: now + 61.0)
    models.close_idle(60.0)
    assert models.open == {}
    assert kept() is not None and gone() is None
    assert request.translator.translate("bda").text
    del request
    gc.collect()
    assert kept() is None


def test_what_is_unchanged_stays(folder: Path, directories: list[Path]) -> None:
    models = Models(offers_of([str(folder)]), opened)
    models.open_all()
    same = models.renewed(offers_of([str(folder)]), opened, everything=True)
    assert list(same.open.values()) == list(models.open.values())
    shutil.rmtree(folder / "en-de")
    shutil.copytree(directories[0], folder / "en-de")
    other = models.renewed(offers_of([str(folder)]), opened, everything=True)
    assert [m.name for m in models.left_by(other)] == ["en-de"]
    assert len(other.open) == 2


def test_only_what_is_open_is_opened_anew(folder: Path) -> None:
    models = Models(offers_of([str(folder)]), opened)
    asyncio.run(models.opened("en", "de"))
    (folder / "en-de" / "config.json").touch()
    (folder / "de-en" / "config.json").touch()
    renewed = models.renewed(offers_of([str(folder)]), opened, everything=False)
    assert [model.name for model in renewed.open.values()] == ["en-de"]


@pytest.mark.parametrize(
    ("languages", "error"), [(["en", "de"], ConfigError), (["", ""], ModelError)]
)
def test_models_that_cannot_be_served_together(
    folder: Path, languages: list[str], error: type[Exception]
) -> None:
    path = folder / "de-en" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "languages": languages}))
    with pytest.raises(error):
        offers_of([str(folder)])


def languages(server: ServerProcess) -> set[str]:
    return {entry["code"] for entry in server.site.ask("GET", "/languages").json}


@WORKERS
def test_models_are_read_anew(folder: Path, tmp_path: Path, workers: str) -> None:
    keys = tmp_path / "keys"
    keys.write_text("old\n")
    options = ["--workers", workers, "--api-keys", str(keys)]
    with served(str(folder), *options) as server:
        assert server.site.post("/translate", {**GOOD, "api_key": "old"}).status == 200
        shutil.copytree(folder / "en-de", folder / "new")
        path = folder / "new" / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "languages": ["fr", "de"]}))
        keys.write_text("new\n")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.said("reloaded: de-en, en-de, new"))
        for _ in range(4):
            asked = {**GOOD, "source": "fr", "api_key": "new"}
            assert server.site.post("/translate", asked).status == 200
            assert server.site.post("/translate", {**asked, "api_key": "old"}).status == 403
            assert languages(server) == {"de", "en", "fr"}
        schema = server.site.ask("GET", "/openapi.json").body
        assert b'"fr"' in schema

        seal(folder / "new")
        path.write_text("{}")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.said("not reloaded, everything stays as it was: "))
        assert server.site.post("/translate", asked).status == 200
        shutil.rmtree(folder / "new")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.said("reloaded: de-en, en-de\n"))
        assert server.site.post("/translate", asked).status == 400


@WORKERS
def test_reloads_amid_requests_harm_none(
    folder: Path, directories: list[Path], workers: str
) -> None:
    with served(str(folder), "--workers", workers) as server:
        statuses, going_on = list[int](), threading.Event()

        def ask() -> None:
            while not going_on.is_set():
                statuses.append(server.site.post("/translate", GOOD).status)

        clients = [threading.Thread(target=ask) for _ in range(4)]
        for client in clients:
            client.start()
        for reloads in range(1, 4):
            (folder / "en-de").rename(folder / f".{reloads}")  # replaced as `sieve convert` does
            shutil.copytree(directories[0], folder / "en-de")
            server.process.send_signal(signal.SIGHUP)
            until(lambda n=reloads: sum("reloaded" in line for line in server.errors) == n)
        going_on.set()
        for client in clients:
            client.join(PATIENCE)
        assert len(statuses) > 4 and set(statuses) == {200}
        assert not any(line.startswith(("E ", "W ")) for line in server.errors), server.errors
        until(lambda: server.site.metric("sieve_open_models") == 2 * int(workers))


@WORKERS
def test_idle_models_are_closed_and_opened_again(folder: Path, workers: str) -> None:
    with served(str(folder), "--workers", workers, "--idle-minutes", "0.05") as server:
        assert server.site.metric("sieve_open_models") == 0
        assert server.site.ask("GET", "/ready").status == 200
        assert server.site.post("/translate", GOOD).status == 200
        until(lambda: server.site.metric("sieve_open_models") == 1)
        until(lambda: server.site.metric("sieve_open_models") == 0)
        (folder / "en-de" / "model.safetensors").write_bytes(b"damaged")
        answer = server.site.post("/translate", GOOD)
        assert (answer.status, answer.headers["retry-after"]) == (503, "60")
        assert server.site.ask("GET", "/ready").status == 200
