"""Where the packages of a release come from: a lock with hashes, a bill of materials, an audit.

    python release/supply.py lock     # release/requirements.txt, what the container installs
    python release/supply.py sbom     # build/sbom.json, CycloneDX of a release
    python release/supply.py audit    # known vulnerabilities of what is locked, by pip-audit

`lock` asks pip for the newest packages within the bounds of pyproject.toml, on a machine like the
one that the lock is for (CPython 3.11 on Linux, x86-64); the others work without a network.
"""

import argparse
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sieve
from sieve.config import read_toml
from sieve.files import file_hash

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "release" / "requirements.txt"
SBOM = ROOT / "build" / "sbom.json"
NOTE = "# Written by `make lock`: every package of the server's container, with its SHA-256.\n"
LINE = re.compile(r"^([\w.-]+)==([\w.+!-]+) --hash=sha256:([0-9a-f]{64})$", re.MULTILINE)
WAIT = 30


@dataclass(frozen=True)
class Package:
    """One that is locked."""

    name: str
    version: str
    sha256: str


def wanted() -> list[str]:
    """What the container needs: the program's own packages, the server's, and what builds."""
    content = read_toml(ROOT / "pyproject.toml")
    project = content["project"]
    extra = project["optional-dependencies"]["serve"]
    return [*project["dependencies"], *extra, *content["build-system"]["requires"]]


def locked() -> Iterator[Package]:
    """What the lock has."""
    for name, version, digest in LINE.findall(LOCK.read_text(encoding="utf-8")):
        yield Package(name, version, digest)


def lock() -> None:
    """Asks pip, installs nothing."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--dry-run",
        "--only-binary=:all:",
    ]
    command += ["--ignore-installed", "--report", "-", *wanted()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = []
    for item in json.loads(done.stdout)["install"]:
        name = re.sub(r"[-_.]+", "-", item["metadata"]["name"]).lower()
        digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
        lines.append(f"{name}=={item['metadata']['version']} --hash=sha256:{digest}\n")
    LOCK.write_text(NOTE + "".join(sorted(lines)), encoding="utf-8")


def bill() -> dict[str, Any]:
    """The bill of materials: the program, its models, and every package it stands on."""
    reference = f"pkg:pypi/sieve-nmt@{sieve.__version__}"
    models = [
        {
            "type": "machine-learning-model",
            "bom-ref": f"model:{path.parent.name}",
            "name": path.parent.name,
            "version": sieve.__version__,
            "hashes": [{"alg": "SHA-256", "content": file_hash(path)}],
            "licenses": [{"license": {"name": "models/LICENSE and models/NOTICE"}}],
        }
        for path in sorted((ROOT / "models").glob("*/model.safetensors"))
    ]
    packages = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{package.name}@{package.version}",
            "name": package.name,
            "version": package.version,
            "purl": f"pkg:pypi/{package.name}@{package.version}",
            "hashes": [{"alg": "SHA-256", "content": package.sha256}],
        }
        for package in locked()
    ]
    program = {
        "type": "application",
        "bom-ref": reference,
        "name": "sieve-nmt",
        "version": sieve.__version__,
        "purl": reference,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": program},
        "components": [*models, *packages],
        "dependencies": [
            {"ref": reference, "dependsOn": [each["bom-ref"] for each in (*models, *packages)]}
        ],
    }


def audit() -> int:
    """1 where a locked package has a known vulnerability; skipped where nobody can be asked."""
    if importlib.util.find_spec("pip_audit") is None:
        print("audit: skipped: pip-audit is not installed (pip install pip-audit)")
        return 0
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off", "--timeout", "5"]
    command += ["--disable-pip", "--require-hashes", "--requirement", str(LOCK), "--format", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False)
        found = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        print("audit: skipped: the database of vulnerabilities cannot be reached")
        return 0
    bad = [each for each in found if each.get("vulns")]
    for each in bad:
        known = ", ".join(vulnerability["id"] for vulnerability in each["vulns"])
        print(f"audit: {each['name']} {each['version']}: {known}")
    print(f"audit: {len(found)} packages, {len(bad)} with known vulnerabilities")
    return int(bool(bad))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("verb", choices=["lock", "sbom", "audit"])
    verb = parser.parse_args().verb
    if verb == "audit":
        return audit()
    if verb == "lock":
        lock()
    else:
        SBOM.parent.mkdir(exist_ok=True)
        SBOM.write_text(json.dumps(bill(), indent=2) + "\n", encoding="utf-8")
        print(SBOM)
    return 0


if __name__ == "__main__":
    sys.exit(main())
