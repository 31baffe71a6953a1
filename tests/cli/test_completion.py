"""Completion scripts in the shells themselves; where one is not installed, its test is skipped."""

import shutil
import subprocess

import pytest

from sieve.cli.completion import script
from sieve.cli.main import VERBS, main

CASES = [
    (["tr"], {"train", "translate"}),
    (["translate", "--be"], {"--beam-size"}),
    (["translate", "--engine", ""], {"native", "torch"}),
    (["lexicon", "bu"], {"build"}),
    (["lexicon", "build", "--by", "co"], {"count"}),
    (["completion", "ba"], {"bash"}),
    (["translate", "--glossary", "REA"], {"README.md"}),
    (["average", "REA"], {"README.md"}),
]


def shell(name: str, code: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no {name} here")
    flags = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[name]
    done = subprocess.run(
        [path, *flags, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(("words", "expected"), CASES)
def test_bash(words: list[str], expected: set[str]) -> None:
    quoted = " ".join(f"'{word}'" for word in ["sieve", *words])
    code = (
        f"{script('bash')}\nCOMP_WORDS=({quoted})\nCOMP_CWORD={len(words)}\ncompopt() {{ :; }}\n"
        f"_shtab_sieve sieve '{words[-1]}'\n"
    )
    found = set(shell("bash", f'{code}printf "%s\\n" "${{COMPREPLY[@]}}"').split())
    assert expected <= found
    if words[-1]:
        assert all(word.startswith(words[-1]) for word in found)


@pytest.mark.parametrize(("words", "expected"), CASES)
def test_fish(words: list[str], expected: set[str]) -> None:
    line = " ".join(["sieve", *words])
    found = shell("fish", f"{script('fish')}\ncomplete -C '{line}'")
    assert expected <= {row.split("\t")[0] for row in found.splitlines()}


def test_zsh_reads_it() -> None:
    shell("zsh", f"autoload -U compinit; compinit -u -D\n{script('zsh')}")


def test_old_names_of_options_are_not_offered() -> None:
    assert "--max-shortlist" in script("bash") and "--max-words" not in script("bash")


@pytest.mark.parametrize("name", ["bash", "fish", "zsh"])
def test_every_verb_is_there(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", name]) == 0
    shown = capsys.readouterr().out
    assert all(verb in shown for verb in VERBS)


def test_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["completion", "ksh"])
    assert stop.value.code == 2
    assert "unknown shell 'ksh'; did you mean 'zsh'?" in capsys.readouterr().err
