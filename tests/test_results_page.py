"""docs/results.md is what the recorded measurements give, and nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_what_a_cluster_costs_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from results_bulk import cost

    content = json.loads((ROOT / "docs" / "results" / "bulk_throughput.json").read_text())
    assert cost(content) in (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")


def test_the_board_is_rendered_from_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from board_page import write_page

    document = json.loads((ROOT / "docs" / "results" / "board.json").read_text(encoding="utf-8"))
    write_page(tmp_path / "board.md", document)
    page = (tmp_path / "board.md").read_text(encoding="utf-8")
    assert page == (ROOT / "docs" / "board.md").read_text(encoding="utf-8")
    engines = [name for model in document["models"] for name in model["engines"]]
    assert (tmp_path / "board.svg").read_text(encoding="utf-8").count("<g id=") > len(engines)
