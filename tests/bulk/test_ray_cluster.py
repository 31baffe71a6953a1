"""A cluster of several nodes, killed on the way, gives the bytes of one process: the proof.

SIEVE_BULK_LINES scales it; `python benchmarks/bulk_kills.py` runs it with 200,000 lines.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bulk_kills

# Ray comes with the extra ray, which make test-slow installs
pytestmark = pytest.mark.slow
pytest.importorskip("pyarrow", reason="needs the extra ray")
LINES = int(os.environ.get("SIEVE_BULK_LINES", "20000"))


@pytest.fixture(autouse=True)
def ray_installed() -> None:
    done = subprocess.run([sys.executable, "-c", "import ray.data"], capture_output=True)
    if done.returncode:
        pytest.skip("needs the extra ray")


def test_whatever_is_killed_each_line_is_there_once(tmp_path: Path) -> None:
    """In a process of its own: Ray warns of much, and warnings are errors here."""
    code = (
        "import sys, json, pathlib, bulk_kills\n"
        "print(json.dumps(bulk_kills.proof(int(sys.argv[1]), pathlib.Path(sys.argv[2]))))"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", code, str(LINES), str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["identical"] and result["lines_out"] == LINES
    assert result["killed"] == {"worker": 5, "driver": 2, "node": 1}
    assert result["driver_starts"] == 3


def test_ray_on_this_machine_and_datasets_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("Good morning!\n\nThank you!\n")
    code = (
        "import sys, ray\nfrom sieve.ray import Translate\n"
        "ray.init('local', num_cpus=2, include_dashboard=False, log_to_driver=False)\n"
        "texts = ['Good morning!', None, '']\n"
        "rows = [{'id': number, 'text': text} for number, text in enumerate(texts)]\n"
        "data = ray.data.from_items(rows).map_batches(Translate, fn_constructor_args=('en-de',),\n"
        "    num_cpus=1, batch_size=2, compute=ray.data.ActorPoolStrategy(size=1))\n"
        "out = sorted(data.take_all(), key=lambda row: row['id'])\n"
        "assert [row['text_translation'] for row in out] == ['Guten Morgen!', None, ''], out\n"
        "assert [row['text_error'] for row in out] == [None] * 3, out\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    done = run(str(tmp_path / "in.txt"), "--output", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "out" / "in.txt").read_text() == "Guten Morgen!\n\nDanke!\n"


def run(*options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "sieve.cli", "bulk", "en-de", *options]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", "--address 127.0.0.1:1: no Ray cluster can be reached"),
        ("ray://127.0.0.1:1", "Ray Data needs a driver in the cluster"),
    ],
)
def test_a_cluster_that_cannot_be_reached_is_one_line(
    tmp_path: Path, address: str, message: str
) -> None:
    (tmp_path / "in.txt").write_text("a\n")
    done = run(str(tmp_path / "in.txt"), "--output", str(tmp_path / "out"), "--address", address)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_a_node_with_another_model_is_one_line(tmp_path: Path) -> None:
    models = Path(__file__).parents[2] / "models"
    shutil.copytree(models / "de-en", tmp_path / "models" / "en-de")
    (tmp_path / "in.txt").write_text("a\n")
    code = (
        "import os, subprocess, sys\nfrom ray.cluster_utils import Cluster\n"
        "cluster = Cluster(True, head_node_args={'num_cpus': 1, 'include_dashboard': False})\n"
        "cluster.add_node(num_cpus=1, env_vars={'SIEVE_MODELS': sys.argv[1]})\n"
        "command = [sys.executable, '-m', 'sieve.cli', 'bulk', 'en-de', *sys.argv[2:]]\n"
        "done = subprocess.run([*command, '--address', cluster.address])\n"
        "cluster.shutdown()\nsys.exit(done.returncode)\n"
    )
    files = [str(tmp_path / "in.txt"), "--output", str(tmp_path / "out")]
    command = [sys.executable, "-c", code, str(tmp_path / "models"), *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr[-3000:]
    assert "'en-de' is another model there (hash " in done.stderr
    assert not (tmp_path / "out").exists()


def test_it_is_killed_as_often_as_promised() -> None:
    kinds = [what for _, what in bulk_kills.KILLS]
    assert kinds.count("worker") == 5 and kinds.count("driver") == 2
