"""The site builds without a broken link and covers every verb, operation and public name."""

import subprocess
import sys
from pathlib import Path

import pytest
from blocks import ROOT

import sieve
from sieve.cli.main import VERBS

pytest.importorskip("mkdocs", reason="needs the extra docs: make test-slow installs it")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(directory)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory


def test_reference_pages_cover_the_code(site: Path) -> None:
    commands = (site / "commands.html").read_text("utf-8")
    assert all(f'id="sieve-{verb}"' in commands for verb in VERBS)
    api = (site / "python.html").read_text("utf-8")
    public = [name for name in sieve.__all__ if not name.startswith("__")]
    assert all(f'id="sieve.{name}"' in api for name in public)
    assert "POST /translate" in (site / "http.html").read_text("utf-8")


def test_pages_load_nothing_from_other_servers(site: Path) -> None:
    for page in site.glob("*.html"):
        text = page.read_text("utf-8")
        assert 'src="http' not in text and "fonts.googleapis" not in text, page.name
