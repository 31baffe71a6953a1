"""`sieve translate` in a process of its own: a model with random weights says enough here."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from directories import unsealed

import sieve
from sieve.bundle.config import ModelConfig
from sieve.cli.lines import arriving_lines, open_input
from sieve.cli.main import main
from sieve.data.corpus import Corpus
from sieve.model.checkpoint import save_model
from sieve.model.transformer import TranslationModel
from sieve.repair.names import Names
from sieve.repair.word_set import WordSet
from sieve.translate.pieces import translated_pieces
from sieve.translate.raw_lines import utf8, utf8_lines
from sieve.translate.resumable import ResumableFile
from sieve.translate.translation import Request


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizers = Corpus.open(toy_data.corpus).tokenizers()
    V = tokenizers.target.vocab_size
    torch.manual_seed(0)
    dimensions = ModelConfig(V, V, 1, 1, 16, 32, 2)
    directory = tmp_path_factory.mktemp("model") / "xx-yy"
    metadata = {"languages": ["xx", "yy"], "selection": {"threshold": 0.9}}
    save_model(directory, TranslationModel(dimensions), tokenizers, metadata)
    return directory


def command(model: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "sieve.cli", "translate", str(model), *options]


def test_lines_in_lines_out(model: Path) -> None:
    text = b"bda fga\n\nbr\xff\xfea\n   \nbda fga\nbda"
    done = subprocess.run(
        command(model, "--selection", "none", "--json"), input=text, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == 6  # the last line had no newline
    assert [one["text"] == "" for one in found][1] and found[3]["text"] == ""
    assert found[0]["text"] == found[4]["text"]
    assert found[0]["token_scores"] == pytest.approx(found[4]["token_scores"], abs=1e-5)
    assert found[0]["shortlist_size"] == found[0]["vocab_size"] == 400
    assert "line 3: invalid UTF-8 at byte 3" in done.stderr.decode()


def test_an_answer_does_not_wait_for_more_input(model: Path) -> None:
    with subprocess.Popen(
        command(model), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout
        for line in (b"\n", b"bda\n"):
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()  # would hang
            assert answer.endswith(b"\n")
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0


@pytest.mark.parametrize("options", [(), ("--format", "html")])
def test_a_closed_standard_input_is_one_line(model: Path, options: tuple[str, ...]) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command(model, *options)], capture_output=True
    )
    assert done.returncode == 2
    expected = b"sieve translate: standard input is closed; give --input FILE\n"
    assert done.stderr.endswith(expected) and b"Traceback" not in done.stderr


def closed_output(model: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    words = ["sh", "-c", 'exec "$@" >&-', "sh", *command(model, *options)]
    return subprocess.run(words, input=b"Hello\n", capture_output=True, check=False)


def test_a_closed_standard_output_is_one_line(model: Path) -> None:
    done = closed_output(model)
    expected = (
        b"sieve translate: standard output is closed; send it to a file, or give --output FILE\n"
    )
    assert done.returncode == 2
    assert done.stderr.endswith(expected) and b"Traceback" not in done.stderr


def test_a_closed_standard_output_is_not_missed_with_output(model: Path, tmp_path: Path) -> None:
    done = closed_output(model, "--output", str(tmp_path / "out"))
    assert (done.returncode, (tmp_path / "out").exists()) == (0, True)


def reader(chunks: Sequence[bytes]) -> Any:
    waiting: Iterator[bytes] = iter([*chunks, b""])
    return lambda size: next(waiting)


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([], []),
        ([b"a\nb\nc"], [["a", "b"], ["c"]]),
        ([b"a", b"b\n", b"\n"], [["ab"], [""]]),
        ([b"\xc3", b"\xa4\r\n"], [["ä"]]),
        ([b"a" * 5, b"b" * 5, b"\n\nc\n"], [["aaaaabbbbb", "", "c"]]),
        (["a\u2028b\x0cc\n".encode()], [["a\u2028b\x0cc"]]),
    ],
)
def test_arriving_lines(chunks: list[bytes], expected: list[list[str]]) -> None:
    assert list(arriving_lines(chunks)) == expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-8"])
def test_a_byte_order_mark_names_the_encoding(encoding: str, tmp_path: Path) -> None:
    data = "bda\r\nfür\n".encode(encoding)
    for chunks in ([data], [data[:1], data[1:9], data[9:]]):
        assert b"".join(utf8(reader(chunks), "x")) == "bda\r\nfür\n".encode()
    (tmp_path / "in").write_bytes(data)
    with open_input(tmp_path / "in") as source:
        assert b"".join(utf8_lines(source, "in")) == "bda\r\nfür\n".encode()


@pytest.mark.parametrize("given", ["stdin", "stream", "file"])
def test_what_is_no_text_is_refused_before_anything_is_written(
    model: Path, tmp_path: Path, given: str
) -> None:
    data, source, target = b"\x89PNG\r\n\x1a\n", tmp_path / "in", tmp_path / "out"
    source.write_bytes(data)
    files = {"stdin": [], "stream": ["--input", str(source)]}
    options = files.get(given, ["--input", str(source), "--output", str(target)])
    done = subprocess.run(command(model, *options), input=data, capture_output=True)
    name = "standard input" if given == "stdin" else str(source)
    assert done.returncode == 2 and done.stdout == b""
    assert done.stderr.decode().endswith(
        f"sieve translate: {name}: is a PNG image, expected text; give text in UTF-8\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_compressed_file_is_read_as_its_lines(
    model: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "in").write_bytes(b"bda fga\n\nkla\n")
    (tmp_path / "packed").write_bytes(gzip.compress(b"bda fga\n\nkla\n"))
    outputs = []
    for name in ("in", "packed"):
        assert main(["translate", str(model), "--input", str(tmp_path / name)]) == 0
        outputs.append(capfdbinary.readouterr().out)
    assert outputs[0] == outputs[1] and outputs[0].count(b"\n") == 3
    (tmp_path / "packed").write_bytes(gzip.compress(b"bda fga\n" * 999)[:-9])
    assert main(["translate", str(model), "--input", str(tmp_path / "packed")]) == 2
    assert b"packed: cannot be read: " in capfdbinary.readouterr().err


def test_a_text_as_an_argument(
    model: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "in").write_bytes(b"bda fga\n\nkla\n")
    lines = ["translate", str(model), "--selection", "none"]
    assert main([*lines, "--input", str(tmp_path / "in")]) == 0
    expected = capfdbinary.readouterr().out
    assert main([*lines, "bda fga\n\nkla"]) == 0
    assert capfdbinary.readouterr().out == expected
    assert main(["translate", str(model), "bda", "--json"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["vocab_size"] == 400
    assert main([*lines, ""]) == 0
    assert capfdbinary.readouterr().out == b"\n"
    assert main([*lines, "--format", "html", "<p>12</p>"]) == 0
    assert capfdbinary.readouterr().out == b"<p>12</p>"


def test_a_text_is_never_taken_for_a_file(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bda").write_text("fga fga fga")
    assert main(["translate", str(model), "bda"]) == 0
    assert "'bda' is translated as text; for the file: --input bda" in capsys.readouterr().err


def test_a_long_line_comes_piece_by_piece(model: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("bda\n" + "Bda fga kla. " * 1500 + "\nfga\n")
    translator = sieve.load(model)
    request = Request()
    lines = source.read_text().splitlines()
    assert main(["translate", str(model), "--input", str(source), "--output", str(target)]) == 0
    expected = [" ".join(each.text.splitlines()) for each in translator.run(lines, request)]
    assert target.read_text().split("\n") == [*expected, ""]
    pieces = list(translated_pieces(translator, lines[1], request))
    assert len(pieces) == 6 and sum(piece.characters for piece in pieces) == len(
        lines[1]
    )  # 1500/256
    assert "".join(piece.text for piece in pieces) == translator.run(lines[1:2], request)[0].text
    (begun, *_) = translated_pieces(translator, lines[1], request, "bda")
    assert begun.text.startswith("bda")


def test_a_run_directory_stands_for_its_model(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.json").write_text("{}")
    (run / "metrics.jsonl").touch()
    assert main(["translate", str(run), "bda"]) == 2
    assert f"{run}: the run has no model yet; sieve train --output {run} resumes it" in (
        capsys.readouterr().err
    )
    shutil.copytree(model, run / "model")
    assert main(["translate", str(run), "bda"]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["bda", "fga"], "got 2 texts, expected one: put quotes around it; files are given with"),
        (["bda", "--input", "in"], "got the text 'bda' and --input, expected one of them"),
        (["--selection", "lexicon:5"], "the model directory has no lexicon.safetensors"),
        (["--selection", "nvs:1"], "got '1', expected a threshold from 0 to below 1"),
        (["--selection", "nsv"], "unknown selection 'nsv'; did you mean 'nvs'?"),
        (["--n-best", "2"], "--n-best 2 requires --json"),
        (
            ["--engine", "native", "--precision", "float16"],
            "engine native: cannot do precision 'float16'; use engine torch",
        ),
        (
            ["--engine", "native", "--device", "cuda"],
            "engine native: cannot do device 'cuda'; use engine torch",
        ),
        (["--threads", "0"], "threads: got 0, expected 1 or more"),
        (["--input", "nowhere"], "nowhere: cannot be read: No such file or directory"),
        (["--exclude", ""], "exclude '': the vocabulary cannot spell it"),
        (["--max-length-factor", "0"], "max_length_factor: got 0.0, expected a number above 0"),
    ],
)
def test_errors_are_one_line(
    model: Path,
    tmp_path: Path,
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if "--exclude" in options:
        (tmp_path / "in").write_text("bda\n")
        options = [*options, "--input", str(tmp_path / "in"), "--output", str(tmp_path / "out")]
    assert main(["translate", str(model), *options]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("sieve translate: ")
    assert message in last


def test_n_best_positions_and_words(model: Path) -> None:
    options = ["--json", "--n-best", "3", "--alignment", "--beam-size", "4", "--exclude", "BDA"]
    done = subprocess.run(
        command(model, *options, "--prefix", "RG"), input=b"bda fga\n\n", capture_output=True
    )
    shown = done.stderr.decode()
    assert done.returncode == 0, shown
    found, empty = (json.loads(line) for line in done.stdout.splitlines())
    assert len(found["n_best"]) == 3
    assert all(one["text"].startswith("RG") for one in found["n_best"])
    scores = [one["normalized_score"] for one in found["n_best"]]
    assert scores == sorted(scores, reverse=True)
    assert len(found["positions"]) == len(found["pieces"])
    assert empty["text"] == ""
    assert re.search(r"engine native \(\w+, float32, \d+ threads\), selection nvs:0.9", shown)


def test_a_very_long_line_shifts_nothing(model: Path) -> None:
    text = b"bda\n" + b"bda fga. " * 2500 + b"\n" + b"\xc3\x28" * 4000 + b"\nbda\n"
    options = ["--beam-size", "1", "--max-length-factor", "0.1"]
    done = subprocess.run(command(model, *options), input=text, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    lines = done.stdout.split(b"\n")
    assert len(lines) == 5
    assert lines[0] == lines[3]
    assert "line 2: 22500 bytes long, translated in parts" in done.stderr.decode()
    assert "line 3: invalid UTF-8 at byte 1" in done.stderr.decode()


def files(model: Path, folder: Path, text: bytes) -> tuple[Path, Path, list[str]]:
    """An input, an output, and the command that makes the one of the other."""
    source, target = folder / "in", folder / "out"
    source.write_bytes(text)
    arguments = ["translate", str(model), "--input", str(source), "--output", str(target)]
    return source, target, [*arguments, "--beam-size", "2"]


def interrupt(arguments: list[str], left: bytes) -> None:
    """Leaves what a run leaves that is killed when `left` is written."""

    class Killed(BaseException):
        pass

    def killed(self: ResumableFile, lines: list[bytes]) -> None:
        self._partial.write_bytes(left)
        raise Killed

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(ResumableFile, "write", killed)
        main(arguments)


def test_files_and_resuming(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, target, arguments = files(model, tmp_path, b"bda fga\n\nfga\nbda")
    assert main(arguments) == 0
    whole = target.read_bytes()
    assert whole.count(b"\n") == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    lines = whole.split(b"\n")
    interrupt(arguments, b"KEPT\n" + lines[1] + b"\nhalf a li")
    assert target.read_bytes() == whole  # the old output until the new one is whole
    assert main([*arguments, "--threads", "1"]) == 0
    assert "out: resuming at line 3 of 4\n" in capsys.readouterr().err
    assert target.read_bytes() == b"\n".join([b"KEPT", *lines[1:]])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ("options", "--length-penalty"),
        ("input", "input"),
        ("input of the same size", "input"),
        ("glossary", "glossary"),
        ("model.safetensors", "model.safetensors"),
        ("config.json", "config.json"),
        ("names.safetensors", "names.safetensors"),
    ],
)
def test_what_has_changed_is_told_and_nothing_is_mixed(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], changed: str, what: str
) -> None:
    own, glossary = tmp_path / "model", tmp_path / "glossary"
    unsealed(Path(shutil.copytree(model, own)))
    glossary.write_text("bda\tBDA\n")
    source, target, arguments = files(own, tmp_path, b"bda fga\nfga\n")
    arguments += ["--glossary", str(glossary)]
    interrupt(arguments, b"KEPT\n")
    if changed == "options":
        arguments += ["--length-penalty", "0.5"]
    elif changed == "input":
        source.write_bytes(b"bda\nfga\nbda\n")
    elif changed == "input of the same size":
        before = source.stat()
        source.write_bytes(b"fga bda\nfga\n")
        assert source.stat().st_size == before.st_size
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    elif changed == "glossary":
        glossary.write_text("bda\tFGA\n")
    elif changed == "names.safetensors":
        Names(translated_source=WordSet.of(["house"])).save(own)
    elif changed == "config.json":
        path = own / changed
        path.write_text(path.read_text().replace("0.9", "0.8"))
    else:
        path = own / changed
        path.write_bytes(path.read_bytes()[:-4] + b"\0\0\0\0")
    assert main(arguments) == 0
    assert f"out: begun with another {what}; starting over" in capsys.readouterr().err
    assert b"KEPT" not in target.read_bytes()


def test_an_error_before_the_first_line_costs_no_lines(model: Path, tmp_path: Path) -> None:
    _, target, arguments = files(model, tmp_path, b"bda fga\nfga\n")
    interrupt(arguments, b"KEPT\n")
    assert main([*arguments, "--selection", "nsv"]) == 2
    assert main(arguments) == 0
    assert target.read_bytes().startswith(b"KEPT\n")
    (tmp_path / "in").write_bytes(b"bda\n")
    assert main([*arguments, "--selection", "nsv"]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_a_second_process_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, target, arguments = files(model, tmp_path, b"bda fga\nfga\n")
    with ResumableFile(target, {}) as first:
        assert main(arguments) == 2
        message = f"{target}: another process is writing it; wait for it or choose another"
        assert capsys.readouterr().err.strip() == f"sieve translate: {message}"
        first.resume()
        first.write([b"first\n"])
    assert target.read_bytes() == b"first\n"
    assert main(arguments) == 0


def test_two_at_once_write_every_line_once(model: Path, tmp_path: Path) -> None:
    _, target, arguments = files(model, tmp_path, b"bda fga\n" * 300)
    both = [subprocess.Popen([sys.executable, "-m", "sieve.cli", *arguments]) for _ in range(2)]
    codes = [process.wait() for process in both]
    assert target.read_bytes().count(b"\n") == 300
    assert 0 in codes and set(codes) <= {0, 2}


def test_outputs_that_are_no_files(model: Path, tmp_path: Path) -> None:
    text = b"bda fga\nfga\n"
    source, target, arguments = files(model, tmp_path, text)
    assert main(arguments) == 0
    expected = target.read_bytes()
    target.rename(tmp_path / "real")
    target.symlink_to("real")
    (tmp_path / "real").write_bytes(b"old")
    assert main(arguments) == 0
    assert target.is_symlink() and (tmp_path / "real").read_bytes() == expected
    options = ["--beam-size", "2", "--output", "/dev/stdout"]
    for given in ([], ["--input", str(source)]):
        done = subprocess.run(command(model, *options, *given), input=text, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout == expected
    assert main(["translate", str(model), "--input", str(source), "--output", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "real"]


def test_the_old_name_of_an_option(
    model: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("--max-words", "--max-shortlist"):
        assert main(["translate", str(model), name, "100"]) == 2
        message = "selection 'nvs:size=100': this model was not calibrated"
        assert message in capsys.readouterr().err
    assert caplog.messages == [
        "--max-words is the old name of --max-shortlist and goes with version 0.4"
    ]
    with pytest.raises(SystemExit):
        main(["translate", "--help"])
    shown = capsys.readouterr().out
    assert "--max-shortlist" in shown and "--max-words" not in shown


def test_no_such_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(tmp_path / "none")]) == 2
    assert "none: no such model directory" in capsys.readouterr().err


def test_no_repair(model: Path, tmp_path: Path) -> None:
    english = tmp_path / "en-yy"
    unsealed(Path(shutil.copytree(model, english)))
    config = json.loads((english / "config.json").read_text())
    (english / "config.json").write_text(json.dumps({**config, "languages": ["en", "yy"]}))
    text = b"12345\n"
    repaired, own = (
        subprocess.run(command(english, *options), input=text, capture_output=True, check=True)
        for options in ((), ("--no-repair",))
    )
    assert repaired.stdout == text  # nothing to translate
    assert own.stdout != text
