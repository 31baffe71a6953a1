"""The command line as a user meets it: help, unknown verbs, start-up, full disks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sieve.cli.main import VERBS, main

SRC = Path(__file__).parents[2] / "src"
HEAVY = ("torch", "numpy", "sentencepiece", "sacrebleu", "matplotlib")


def run(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *args],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert all(verb in shown for verb in VERBS)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_shows_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([verb, "--help"])
    assert stop.value.code == 0
    assert f"sieve {verb} " in capsys.readouterr().out.split("usage:")[-1].split("\n", 1)[1]


def test_unknown_verb_suggests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trian"]) == 2
    assert capsys.readouterr().err == "sieve: unknown verb 'trian'; did you mean 'train'?\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["translate", "m", "--beam-sise", "3"],
            "sieve translate: unknown option '--beam-sise'; did you mean '--beam-size'?; "
            "see sieve translate --help",
        ),
        (
            ["translate", "m", "--engine", "natve"],
            "sieve translate: unknown --engine 'natve'; did you mean 'native'?",
        ),
        (["lexicon", "biuld"], "sieve lexicon: unknown ACTION 'biuld'; did you mean 'build'?"),
        (
            ["translate"],
            "sieve translate: the following arguments are required: MODEL; "
            "see sieve translate --help",
        ),
        (["score", "a", "b", "c", "d"], "sieve score: got 'd' too many; see sieve score --help"),
        (
            ["--verzion"],
            "sieve: unknown option '--verzion'; did you mean '--version'?; see sieve --help",
        ),
    ],
)
def test_a_wrong_option_is_one_line(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().err == f"{line}\n"


def test_no_verb_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "verbs:" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in sorted(VERBS))])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom sieve.cli.main import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    assert run("-c", code).stderr.strip() == "[]"


def test_runs_from_a_source_tree_that_was_not_installed() -> None:
    # -S hides site-packages with the installed package; the dependencies are put back by hand.
    packages = [path for path in sys.path if "packages" in path]
    code = (
        f"import sys; sys.path[:0] = {[str(SRC), *packages]!r}\n"
        "import importlib.metadata as m\n"
        "def missing(name): raise m.PackageNotFoundError(name)\n"
        "m.version = missing\nsys.modules['sieve._native'] = None\n"
        "import runpy; sys.argv = ['sieve', '--version']\n"
        "runpy.run_module('sieve.cli', run_name='__main__')"
    )
    done = run("-S", "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sieve 0.")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_one_line() -> None:
    code = (
        "import sys\nsys.stdout = open('/dev/full', 'w')\n"
        "import os; os.dup2(sys.stdout.fileno(), 1)\n"
        "from sieve.cli.main import main\nsys.exit(main(['completion', 'bash']))"
    )
    done = run("-c", code)
    assert done.stderr == ("sieve completion: No space left on device; free some and rerun\n")
    assert done.returncode == 2


def test_the_package_shows_its_api() -> None:
    import sieve

    assert dir(sieve) == sorted(sieve.__all__)
    assert all(getattr(sieve, name) is not None for name in dir(sieve))
