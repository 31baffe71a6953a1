"""The command as users run it: a process, its exit code, its one line, what it leaves behind."""

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from sieve.cli.prepare import KINDS, add_arguments, options_from
from sieve.data.cleaning import CleaningOptions
from sieve.data.corpus import Corpus
from sieve.data.prepare import PrepareOptions
from sieve.data.reading import PairFiles, TsvFile
from sieve.errors import ConfigError
from sieve.tokenize import tokenizer_training
from sieve.tokenize.tokenizer import load_tokenizers
from sieve.tokenize.tokenizer_training import TokenizerOptions

COMMAND = [sys.executable, "-m", "sieve.cli", "prepare"]
SMALL = ["--vocab-size", "370", "--languages", "en", "de"]


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text("".join(f"This is my sentence number {i}.\n" for i in range(400)))
    target.write_text("".join(f"Das hier ist mein Satz Nummer {i}.\n" for i in range(400)))
    return ["--pair", str(source), str(target)]


@pytest.fixture
def slow_input(tmp_path: Path) -> list[str]:
    """A pipe that nobody writes to: a run that reads it waits for ever."""
    os.mkfifo(tmp_path / "pipe.tsv")
    return ["--tsv", str(tmp_path / "pipe.tsv")]


def run(arguments: list[str], limit: int | None = None) -> subprocess.CompletedProcess[str]:
    def limit_files() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, preexec_fn=limit_files, check=False
    )


def fails(arguments: list[str], message: str, limit: int | None = None) -> None:
    """The run ends with 2, one line on stderr, and leaves nothing."""
    output = Path(arguments[arguments.index("--output") + 1])
    result = run(arguments, limit)
    lines = [line for line in result.stderr.splitlines() if not re.match(r"[IW] \d\d:", line)]
    assert result.returncode == 2, result.stderr
    assert len(lines) == 1 and lines[0].startswith("sieve prepare: "), result.stderr
    assert re.search(message, lines[0]), lines[0]
    assert result.stdout == ""
    assert not output.exists()
    assert not list(output.parent.glob(".out*"))


def test_a_run_and_its_table(pair: list[str], tmp_path: Path) -> None:
    source = Path(pair[1])
    source.write_text(source.read_text().replace("This is my sentence number 7.\n", "\n"))
    result = run([*pair, *SMALL, "--output", str(tmp_path / "out"), "--workers", "2"])
    assert result.returncode == 0, result.stderr
    rows = {line[:14].strip(): line[14:].split() for line in result.stdout.splitlines()}
    assert rows["read"] == ["400", "100.00%"]
    assert rows["empty"] == ["1", "0.25%"]
    assert rows["kept"] == ["399", "99.75%"]
    assert re.search(r"clean: 400 pairs in .* pairs/s", result.stderr)
    corpus = Corpus.open(tmp_path / "out")
    assert corpus.num_pairs == 399
    assert corpus.statistics["removed"]["empty"] == 1


def test_the_defaults_are_those_of_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    given = ["--tsv", "x.tsv", "--pair", "a", "b", "--output", str(tmp_path)]
    inputs = (TsvFile(Path("x.tsv")), PairFiles(Path("a"), Path("b")))  # in the order given
    assert options_from(parser.parse_args(given)) == PrepareOptions(inputs, tmp_path)
    shown = parser.format_help()
    for default in (TokenizerOptions(), CleaningOptions()):
        for value in vars(default).values():
            if not isinstance(value, bool | tuple):
                text = value if isinstance(value, str) else f"{value}|{value:g}"
                assert re.search(rf"default: ({text})\)", shown)
    assert KINDS == tokenizer_training.KINDS


def test_every_option_and_the_configuration_file(tmp_path: Path) -> None:
    config = tmp_path / "prepare.toml"
    config.write_text("""
        languages = ["en", "de"]
        [[inputs]]
        source = "a.en"
        target = "a.de"
        [[inputs]]
        path = "b.tsv"
        [cleaning]
        max_tokens = 80
        max_overlap = "off"
        test_sets = ["t.en"]
        [training]
        vocab_size = 16000
        """)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = options_from(
        parser.parse_args(
            f"--config {config} --output out --max-tokens 90 --length-slack 2 --keep-empty "
            "--keep-duplicates --no-language-check --max-length-ratio off --separate --workers 3 "
            "--symbol <x> --symbol <y> --tokenizer dir --overwrite --sample-pairs 7".split()
        )
    )
    assert options == PrepareOptions(
        inputs=(PairFiles(Path("a.en"), Path("a.de")), TsvFile(Path("b.tsv"))),
        output=Path("out"),
        languages=("en", "de"),
        tokenizer=Path("dir"),
        training=TokenizerOptions(
            vocab_size=16000, separate=True, sample_pairs=7, symbols=("<x>", "<y>")
        ),
        cleaning=CleaningOptions(
            empty=False,
            test_sets=(Path("t.en"),),
            max_overlap=None,
            language_odds=None,
            duplicates=False,
            max_tokens=90,
            max_length_ratio=None,
            length_slack=2,
        ),
        workers=3,
        overwrite=True,
    )
    config.write_text("[cleaning]\nmax_token = 5\n")
    with pytest.raises(ConfigError, match=r"'cleaning.max_token'; did you mean 'max_tokens'"):
        options_from(parser.parse_args(["--config", str(config), "--output", "out"]))
    with pytest.raises(ConfigError, match="no output: give --output DIR"):
        options_from(parser.parse_args([]))


def test_help_shows_examples() -> None:
    result = run(["--help"])
    assert "sieve prepare --pair" in result.stdout and "--max-length-ratio" in result.stdout


@pytest.mark.parametrize("workers", ["1", "2"])
def test_bad_text(workers: str, pair: list[str], tmp_path: Path) -> None:
    rest = [*SMALL, "--workers", workers, "--output", str(tmp_path / "out")]
    Path(pair[2]).write_bytes(b"fine\n" * 300 + b"\xe4\n" + b"fine\n" * 99)
    fails([*pair, *rest], r"a\.de, line 301: not valid UTF-8")
    Path(pair[2]).write_bytes(b"fine\n" * 398 + b"\0\n" + b"fine\n")
    fails([*pair, *rest], r"a\.de, line 399: got a NUL byte")
    Path(pair[2]).write_bytes(b"fine\n" * 401)
    fails([*pair, *rest], r"a\.en has 400 lines but .*a\.de has 401: .*a\.de, line 401 has no part")


def test_bad_files(pair: list[str], tmp_path: Path) -> None:
    rest = [*SMALL, "--output", str(tmp_path / "out")]
    fails(["--tsv", str(tmp_path / "none.tsv"), *rest], r"none\.tsv: cannot be read: No such file")
    (tmp_path / "x.tsv.gz").write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\x03garbage")
    fails(["--tsv", str(tmp_path / "x.tsv.gz"), *rest], r"x\.tsv\.gz, after line 0: cannot be dec")
    fails([*pair, *rest, "--test-set", "nowhere"], "nowhere: cannot be read")
    fails([*pair, *rest, "--tokenizer", str(tmp_path)], "has no tokenizer")
    fails([*pair, *rest, "--tokenizer", pair[1]], r"a\.en: not a SentencePiece model")
    fails([*pair, *SMALL, "--output", f"{pair[1]}/out"], "a.en/out: cannot be written")
    fails(rest, "no input")
    fails([*pair, *rest, "--max-tokens", "many"], "cleaning.max_tokens: got 'many'")
    fails([*pair, *rest, "--languages", "en", "qq"], "unknown language 'qq'")


def test_a_vocabulary_too_large_is_cut_with_a_notice(pair: list[str], tmp_path: Path) -> None:
    output = tmp_path / "out"
    rest = ["--languages", "en", "de", "--output", str(output)]
    done = subprocess.run([*COMMAND, *pair, *rest], capture_output=True, text=True, check=True)
    notice = re.search(r"vocabulary of (\d+) pieces instead of 32000: the text has", done.stderr)
    assert notice is not None
    assert load_tokenizers(output).source.vocab_size == int(notice[1])


@pytest.mark.parametrize("kilobytes", [4, 48])  # in the first pass, in the last
def test_a_full_disk(kilobytes: int, pair: list[str], tmp_path: Path) -> None:
    for path in map(Path, pair[1:]):  # digits: one byte each as text, two as ids
        lines = path.read_text().splitlines()
        path.write_text(
            "".join(f"{line} {3 ** (100 + i % 9):060d}\n" for i, line in enumerate(lines))
        )
    rest = [*SMALL, "--no-language-check", "--output", str(tmp_path / "out")]
    message = r"out: cannot be written: File too large \(reached .*a\.en, line 400\)"
    fails([*pair, *rest], message, kilobytes * 1000)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission_to_write(pair: list[str], tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    fails([*pair, *SMALL, "--output", str(tmp_path / "locked" / "out")], "Permission denied")


def start_waiting(arguments: list[str], tmp_path: Path) -> subprocess.Popen[str]:
    """Starts a run and waits until its scratch directory is there and its input is awaited."""
    process = subprocess.Popen(
        [*COMMAND, *arguments, *SMALL, "--output", str(tmp_path / "out"), "--workers", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: bool(list(tmp_path.glob(".out.*/scratch/source.txt"))))
    return process


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing(
    number: signal.Signals, code: int, slow_input: list[str], pair: list[str], tmp_path: Path
) -> None:
    process = start_waiting([*pair, *slow_input], tmp_path)
    os.killpg(process.pid, number)  # as a terminal does
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    assert not list(tmp_path.glob(".out.*")) and not (tmp_path / "out").exists()


def test_a_killed_run_leaves_no_output_no_process_and_can_be_repeated(
    slow_input: list[str], pair: list[str], tmp_path: Path
) -> None:
    process = start_waiting([*pair, *slow_input], tmp_path)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    psutil.wait_procs(workers, timeout=30)
    assert not any(worker.is_running() for worker in workers)
    assert not (tmp_path / "out").exists()
    assert run([*pair, *SMALL, "--output", str(tmp_path / "out")]).returncode == 0
    assert not list(tmp_path.glob(".out.*"))
    assert Corpus.open(tmp_path / "out").num_pairs == 400


@pytest.mark.slow
def test_killed_at_any_moment(pair: list[str], tmp_path: Path) -> None:
    arguments = [*pair, *SMALL, "--output", str(tmp_path / "out"), "--workers", "2"]
    start = time.monotonic()
    assert run(arguments).returncode == 0
    whole = time.monotonic() - start
    expected = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for step in range(20):
        process = subprocess.Popen([*COMMAND, *arguments, "--overwrite"], stderr=subprocess.PIPE)
        time.sleep(whole * (step + 1) / 20)
        process.kill()
        process.communicate()
        if (tmp_path / "out").exists():  # the old one or the new one, but whole
            assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == expected
    assert run([*arguments, "--overwrite"]).returncode == 0
    assert not list(tmp_path.glob(".out.*"))
