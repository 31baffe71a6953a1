"""What README and docs/ tell people to type: every command parses, and what can run here runs.

Blocks run in a folder of small stand-in files under the names that the pages use. Blocks that need
a GPU, hours or what tests do not install are listed with their reason in not_run.toml.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from blocks import EVERY, ROOT, Block
from packages import runs, word
from toy_lexicon import random_lexicon

from sieve.cli.main import VERBS, main, verb_parser
from sieve.config import read_toml

NOT_RUN: dict[str, str] = read_toml(Path(__file__).with_name("not_run.toml"))
RUN = [block for block in EVERY if block.key not in NOT_RUN]
FOREIGN = ROOT.parent / "shared" / "models" / "firefox-en-pt"
"""A model of another toolkit that docs/models.md imports; not part of the repository."""
SERVED = re.compile(r"\b(?:localhost|127\.0\.0\.1):5000\b")
NAMES = (
    "news",
    "in",
    "dev",
    "test.en-de",
    "newstest2018.en-de",
    "newstest2019.en-de",
    "itds_idiom_test.en-de",
    "newstest2019.en-pt",
)
SENTENCES = [
    ("Good morning!", "Guten Morgen!"),
    ("The house is small.", "Das Haus ist klein."),
    ("We will talk about the report tomorrow.", "Wir werden morgen über den Bericht sprechen."),
    ("Make yourself at home!", "Machen Sie es sich bequem!"),
]


def sieve_commands(block: Block) -> list[list[str]]:
    found = []
    for words in block.commands():
        for start in (["sieve"], ["python", "-m", "sieve.cli"]):
            if words[: len(start)] == start:
                found.append(words[len(start) :])
    return found


@pytest.mark.parametrize("block", [b for b in EVERY if b.is_commands], ids=lambda b: b.key)
def test_commands_parse(block: Block) -> None:
    for words in sieve_commands(block):
        if "..." in words or not words:  # an outline, as in `sieve human sample ...`
            continue
        assert words[0] in VERBS, f"{block.page}:{block.line}: sieve {words[0]}"
        if not words[0].startswith("-"):
            verb_parser(words[0]).parse_args(words[1:])  # exits with a message where it cannot


def test_the_list_names_blocks_that_exist() -> None:
    assert set(NOT_RUN) <= {block.key for block in EVERY}
    assert all(len(reason) > 10 for reason in NOT_RUN.values())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built-in model in fp32 with a lexicon, as a user's own has after training."""
    directory = tmp_path_factory.mktemp("pages") / "model"
    assert main(["convert", "en-de", "--float32", "-o", str(directory)]) == 0
    random_lexicon(16000).save(directory)
    return directory


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """A real model of another toolkit as a model directory, where its files are at hand."""
    if not FOREIGN.is_dir():
        return None
    directory = tmp_path_factory.mktemp("imported") / "en-pt"
    assert main(["import", str(FOREIGN), "-o", str(directory)]) == 0
    return directory


@pytest.fixture
def folder(tmp_path: Path, model: Path, imported: Path | None) -> Path:
    """Small files under the names that the pages use."""
    source, target = ("\n".join(side) + "\n" for side in zip(*SENTENCES, strict=True))
    for name in NAMES:
        for suffix, text in (("en", source), ("de", target), ("pt", target), ("txt", source)):
            (tmp_path / f"{name}.{suffix}").write_text(text, "utf-8")
    idioms = "-1\tmake yourself at home\tmachen Sie es sich bequem\t1\n" * len(SENTENCES)
    (tmp_path / "itds_idiom_test.en-de.info").write_text(idioms, "utf-8")
    (tmp_path / "page.en.html").write_text("<p>The <b>house</b> is small.</p>", "utf-8")
    (tmp_path / "report.docx").write_bytes(word(f"<w:p>{runs('The ', 'b:house')}</w:p>"))
    (tmp_path / "terms.tsv").write_text("report\tBericht\n", "utf-8")
    (tmp_path / "model").symlink_to(model)
    (tmp_path / "my-models").mkdir()
    (tmp_path / "my-models" / "de-en").symlink_to(ROOT / "models" / "de-en")
    if imported is not None:
        (tmp_path / FOREIGN.name).symlink_to(FOREIGN)
        (tmp_path / "en-pt").symlink_to(imported)
    return tmp_path


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    cache = {"SIEVE_CACHE": str(tmp_path_factory.mktemp("cache"))}
    return {**os.environ, **cache, "PATH": beside, "PYTHONWARNINGS": "error"}


@pytest.fixture(scope="module")
def port(environment: dict[str, str]) -> Iterator[int]:
    """A server of the built-in models, as `sieve serve` opens it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number = int(probe.getsockname()[1])
    command = ["sieve", "serve", "--port", str(number)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as server:
        try:
            for _ in range(300):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{number}/health", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield number
        finally:
            server.send_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(b, id=b.key, marks=pytest.mark.slow if "sieve benchmark" in b.text else ())
        for b in RUN
        if b.is_commands or b.language == "python"
    ],
)
def test_blocks_run(
    block: Block,
    folder: Path,
    environment: dict[str, str],
    request: pytest.FixtureRequest,
) -> None:
    text = block.text
    if "en-pt" in text and not FOREIGN.is_dir():
        pytest.skip("the Firefox model that this page imports is not at hand")
    if re.search(r"-o en-pt\s", text):
        (folder / "en-pt").unlink()
    if SERVED.search(text):
        number = request.getfixturevalue("port")
        text = SERVED.sub(f"127.0.0.1:{number}", text)
        text = text.replace("curl ", "curl --silent --show-error --fail-with-body ")
    if "model-int8" in text and "-o model-int8" not in text:
        (folder / "model-int8").symlink_to(ROOT / "models" / "en-de")
    # a server that a block starts would stay; `port` has tested it
    text = re.sub(r"^(sieve serve|pip install)\b.*$", ":", text, flags=re.MULTILINE)
    command = (
        [sys.executable, "-c", text]
        if block.language == "python"
        else ["bash", "-euo", "pipefail", "-c", text]
    )
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, (
        f"{block.page}:{block.line}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    )


def test_json_blocks_are_json() -> None:
    for block in EVERY:
        if block.language == "json":
            json.loads(block.text)
