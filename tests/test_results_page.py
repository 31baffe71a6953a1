"""docs/results.md is what the recorded measurements give, and nothing else."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"


def test_the_page_is_rendered_from_the_files() -> None:
    script = BENCHMARKS / "render_results.py"
    done = subprocess.run(
        [sys.executable, "-W", "error", script, "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_names_its_command_and_is_named() -> None:
    pages = [ROOT / "docs" / name for name in ("results.md", "replication.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    for path in sorted((ROOT / "docs" / "results").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        named = {"command", "commands", "states"} & content.keys()  # states: each its own
        assert named, f"{path.name} does not say what wrote it"
        assert f"`{path.name}`" in text, f"{path.name} is on no page"
