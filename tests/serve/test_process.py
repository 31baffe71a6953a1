"""`sieve serve` in a process of its own: start, signals, errors."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from child import printed
from serving import PATIENCE, Site

from sieve.cli.main import main
from sieve.serve.run import listen
from sieve.serve.settings import Settings


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serves_until_a_signal(directories: list[Path], number: signal.Signals) -> None:
    command = [sys.executable, "-W", "error", "-m", "sieve.cli", "serve", *map(str, directories)]
    with subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"serving en-de, de-en at http://127\.0\.0\.1:(\d+)$", line)
        assert found, line
        site = Site(int(found[1]))
        assert site.post("/translate", {"q": "bda", "source": "en", "target": "de"}).status == 200
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""


def test_all_built_in_models_by_default(directories: list[Path]) -> None:
    code = (
        "import sieve.serve.models as models\n"
        "print(models.open_models([]).names, 'torch' in __import__('sys').modules)"
    )
    folder = {"SIEVE_MODELS": str(directories[0].parent)}
    names = printed(code, variables=folder)
    assert "'de-en', 'en-de'" in names and names.endswith("False")


def test_a_port_that_is_taken(directories: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", str(directories[0]), "--port", str(port)]) == 2
    assert capsys.readouterr().err.strip() == (
        f"sieve serve: cannot listen on 127.0.0.1, port {port}: Address already in use; "
        "choose others with --host and --port"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "70000"], "port: got 70000, expected 0 to 65535"),
        (["--threads", "0"], "threads: got 0, expected 1 or more"),
        (["--char-limit", "0"], "characters: got 0, expected 1 or more"),
        (["--time-limit", "nan"], "seconds: got nan, expected a number above 0"),
        (["--rate-limit", "-1"], "a_minute: got -1, expected 0 (any number) or more"),
        (["--api-keys", "nowhere"], "nowhere: the API keys cannot be read: No such file"),
        (["--host", "no such host"], "cannot listen on no such host, port 0"),
    ],
)
def test_errors_are_one_line(
    directories: list[Path],
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["serve", str(directories[0]), "--port", "0", *options]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[-1].startswith("sieve serve: ") and message in lines[-1]


def test_two_models_of_one_pair(
    directories: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(directories[0]), str(directories[0]), "--port", "0"]) == 2
    assert "en-de and en-de both translate en to de" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["uvicorn", "starlette", "pydantic"])
def test_a_missing_extra_is_one_sentence(directories: list[Path], package: str) -> None:
    code = (
        f"import sys; sys.modules['{package}'] = None\n"
        "from sieve.cli.main import main\n"
        "sys.stderr = sys.stdout\n"
        "assert main(['serve', sys.argv[1], '--port', '0']) == 2"
    )
    assert printed(code, str(directories[0])) == (
        f"sieve serve: the server needs {package}, which is not installed: "
        "pip install 'sieve-nmt[serve]'"
    )


def test_help_needs_no_server() -> None:
    code = (
        "import sys\n"
        "from sieve.cli.main import main\n"
        "try: main(['serve', '--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'uvicorn', 'starlette', 'pydantic', 'numpy'} & set(sys.modules)"
    )
    assert "--api-keys FILE" in printed(code)


def test_small_packets_are_sent_at_once() -> None:
    """Else an answer waits 40 ms for the acknowledgement of its own head."""
    with listen(Settings(port=0)) as sock:
        assert sock.proto == socket.IPPROTO_TCP
        assert sock.getsockname()[0] == "127.0.0.1"
