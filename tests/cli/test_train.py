"""Training as a process: really killed, politely stopped, and split in two."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from sieve.cli.main import main
from sieve.errors import InputError
from sieve.files import read_tensors
from sieve.train.session import train
from sieve.train.state import RunDirectory

UPDATES = 36


@pytest.fixture
def command(tmp_path: Path, toy_settings: dict[str, Any]) -> list[str]:
    """`sieve train` with everything but --output."""
    settings: list[str] = []
    course = {"max_updates": UPDATES, "checkpoint_every": 3, "validate_every": 9}
    for section, values in {**toy_settings, "course": course}.items():
        name = "training" if section == "course" else section
        settings += [f"--set={name}.{key}={json.dumps(value)}" for key, value in values.items()]
    return [sys.executable, "-m", "sieve.cli", "train", *settings]


def start(command: list[str], output: Path) -> "subprocess.Popen[str]":
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*command, "--output", str(output)], stderr=subprocess.PIPE, text=True, env=environment
    )


def finish(command: list[str], output: Path) -> str:
    process = start(command, output)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    return errors


def states(output: Path) -> list[Path]:
    return list((output / "state").glob("update-*"))


def wait_for_state(process: "subprocess.Popen[str]", output: Path, update: int) -> None:
    """Waits until the state of `update` or a later one is on disk."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if any(int(path.name.partition("-")[2]) >= update for path in states(output)):
            return
        time.sleep(0.01)
    raise AssertionError(f"no state of update {update}; exit code {process.poll()}")


def assert_same_end(one: Path, other: Path) -> None:
    for path in ("model/model.safetensors", f"state/update-{UPDATES:08d}/state.safetensors"):
        a, b = read_tensors(one / path), read_tensors(other / path)
        assert a.keys() == b.keys()
        assert all(a[name].tobytes() == b[name].tobytes() for name in a)
    losses = []
    for run in (one, other):
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        losses.append([(x["update"], x["kind"], x.get("loss"), x.get("perplexity")) for x in lines])
    assert losses[0] == losses[1]
    assert sorted(p.name for p in (one / "checkpoints").iterdir()) == sorted(
        p.name for p in (other / "checkpoints").iterdir()
    )


def test_a_killed_run_ends_the_same(tmp_path: Path, command: list[str]) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as the processes: sums depend on the number of threads
    assert main([*command[3:], "--output", str(tmp_path / "whole")]) == 0
    torch.set_num_threads(threads)
    process = start(command, tmp_path / "killed")
    wait_for_state(process, tmp_path / "killed", 12)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert "resuming after update" in finish(command, tmp_path / "killed")
    assert_same_end(tmp_path / "whole", tmp_path / "killed")


@pytest.mark.slow
def test_a_run_killed_again_and_again_ends_the_same(tmp_path: Path, command: list[str]) -> None:
    finish(command, tmp_path / "whole")
    seed = time.time_ns() % 1_000_000
    print(f"seed {seed}")
    rng = random.Random(seed)
    kills = runs = 0
    while kills < 5:  # a fast machine may end a run before it is killed: then another one
        output = tmp_path / f"killed{runs}"
        kills += killed_again_and_again(command, output, rng)
        finish(command, output)
        assert_same_end(tmp_path / "whole", output)
        runs += 1
        assert runs < 20


def killed_again_and_again(command: list[str], output: Path, rng: random.Random) -> int:
    """Starts a run and kills it at random moments, at most 15 times, until it ends."""
    for kills in range(15):
        process = start(command, output)
        if rng.random() < 0.2:
            time.sleep(rng.uniform(1.0, 5.0))  # while it starts, or wherever it is by then
        else:
            done = max([0, *(int(p.name.partition("-")[2]) for p in states(output))])
            wait_for_state(process, output, min(done + 1, UPDATES))
            time.sleep(rng.uniform(0.0, 0.3))
        if process.poll() is not None:
            process.communicate(timeout=240)
            return kills
        process.kill()
        process.communicate()
    return 15


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_a_polite_stop_leaves_a_checkpoint(
    tmp_path: Path, command: list[str], number: signal.Signals
) -> None:
    output = tmp_path / "run"
    process = start([*command, "--set=training.max_updates=100000"], output)
    wait_for_state(process, output, 3)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number, errors
    assert "rerun the command" in errors
    assert "Traceback" not in errors
    (state,) = (output / "state").iterdir()
    progress = json.loads((state / "progress.json").read_text())
    assert progress["update"] >= 3
    assert progress["metrics_bytes"] == (output / "metrics.jsonl").stat().st_size


def test_two_processes_follow_the_curve_of_one(
    tmp_path: Path, toy_settings: dict[str, Any]
) -> None:
    # dropout stays on: a unit's random numbers depend on its place in the plan alone
    toy_settings["training"]["validate_every"] = 3
    settings = [
        f"--set={section}.{key}={json.dumps(value)}"
        for section, values in toy_settings.items()
        for key, value in values.items()
    ]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    launcher += ["--master-port", str(random.randint(20000, 40000))]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [*launcher, "-m", "sieve.cli", "train", *settings, "--output", str(tmp_path / "two")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)
    assert done.returncode == 0, done.stderr
    assert train(tmp_path / "one", toy_settings) == 0
    curves = []
    for run in ("one", "two"):
        text = (tmp_path / run / "metrics.jsonl").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        curves.append([x["loss"] for x in lines if x["kind"] == "train"])
        curves[-1] += [x["nvs_loss"] for x in lines if x["kind"] == "train"]
        curves[-1] += [x["perplexity"] for x in lines if x["kind"] == "validation"]
    assert len(curves[0]) == 14
    assert curves[1] == pytest.approx(curves[0], rel=1e-5)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--set", "training.warmup=0"], "training.warmup: got 0, expected above 0"),
        (["--set", "data.train=['nowhere']"], "nowhere: no such corpus directory"),
        (["--set", "training.seed=99999999999999999999"], "expected less than 2**63"),
        (["--set", "training.clip_norm=nan"], "training.clip_norm: got nan"),
        (["--config", "missing.toml"], "missing.toml: no such configuration file"),
        (["--init-from", "nowhere"], "nowhere: no such model directory"),
    ],
)
def test_user_errors_are_one_line(
    tmp_path: Path,
    command: list[str],
    extra: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [*command[3:], *extra, "--output", str(tmp_path / "run")]
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_an_output_that_cannot_be_written(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert main([*command[3:], "--output", str(tmp_path / "file" / "run")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_configuration_file_with_options_on_top(
    tmp_path: Path, toy_settings: dict[str, Any]
) -> None:
    data = toy_settings["data"]
    (tmp_path / "run.toml").write_text(
        '[model]\npreset = "tiny"\nd_model = 16\nheads = 2\nd_ff = 32\nencoder_layers = 1\n'
        f'[data]\ntrain = ["{data["train"][0]}"]\n'
        "[training]\nbatch_tokens = 500\nmax_updates = 99\n"
    )
    arguments = ["train", "--config", str(tmp_path / "run.toml"), "--max-updates", "2"]
    arguments += ["--valid", data["valid_src"], data["valid_tgt"], "--set", "model.dropout=0.3"]
    assert main([*arguments, "--output", str(tmp_path / "run")]) == 0
    saved = json.loads((tmp_path / "run" / "config.json").read_text())["run"]
    assert saved["training"]["max_updates"] == 2
    assert saved["training"]["batch_tokens"] == 500
    assert saved["model"]["dropout"] == 0.3
    assert saved["data"]["valid_tgt"] == data["valid_tgt"]


def test_two_processes_cannot_train_in_one_directory(tmp_path: Path) -> None:
    first, second = RunDirectory(tmp_path / "run"), RunDirectory(tmp_path / "run")
    first.create()
    with pytest.raises(InputError, match="another process trains here"):
        second.create()
    first.release()
    second.create()
    second.release()
