"""A wheel built from this repository, in an empty environment without compiler and torch."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
from directories import write_model

ROOT = Path(__file__).parents[2]

CHECK = """
import importlib.util, shutil, sys
assert importlib.util.find_spec("torch") is None, "torch is here"
assert not any(map(shutil.which, ("cc", "c++", "gcc", "g++", "clang", "cmake", "ninja")))
import sieve
translator = sieve.load(sys.argv[1])
assert "native" in str(translator.engine)
assert translator.translate("bda fga", selection="none").pieces
assert "torch" not in sys.modules
print("translated")
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel and what it depends on."""
    root = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(root)]
    setting = f"--config-settings=build-dir={root / 'objects'}"
    subprocess.run([*build, setting, str(ROOT)], check=True)
    (wheel,) = root.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "sieve/py.typed" in names
    assert "sieve/serve/static/index.html" in names
    for text in ("LICENSE", "models/LICENSE", "models/NOTICE"):
        assert any(name.endswith(f".dist-info/licenses/{text}") for name in names)
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in names)
    venv.create(root / "env", with_pip=True)
    found = root / "env" / "bin" / "python"
    subprocess.run([found, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    return found


def alone(python: Path) -> dict[str, str]:
    """An environment in which no other program can be found."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    return {**kept, "PATH": str(python.parent)}


@pytest.mark.slow
def test_translates_without_compiler_and_torch(python: Path, toy_data: Any, tmp_path: Path) -> None:
    write_model(tmp_path / "model", toy_data.corpus, int8=True)
    done = subprocess.run(
        [python, "-W", "error", "-c", CHECK, str(tmp_path / "model")],
        capture_output=True, text=True, env=alone(python), cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "translated\n"


@pytest.mark.slow
def test_the_command_is_there(python: Path, toy_data: Any, tmp_path: Path) -> None:
    write_model(tmp_path / "model", toy_data.corpus, int8=True)
    sieve = python.parent / "sieve"
    done = subprocess.run(
        [sieve, "translate", str(tmp_path / "model"), "--format", "html"],
        input="<p>bda <b>fga</b></p>\n",
        capture_output=True, text=True, env=alone(python), cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<p>") and done.stdout.endswith("</p>\n")
    doctor = subprocess.run(
        [sieve, "doctor", "--json"], capture_output=True, text=True, env=alone(python),
        cwd=tmp_path, check=False,
    )  # fmt: skip
    assert doctor.returncode == 0, doctor.stderr
    assert '"torch": null' in doctor.stdout
    if (ROOT / "models").is_dir():  # models that ship are in the wheel
        assert '"en-de": {"languages": ["en", "de"]' in doctor.stdout
