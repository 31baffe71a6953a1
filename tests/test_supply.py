"""Where packages come from: the lock has all that is needed, and the bill names all of it."""

import re
from pathlib import Path

import pytest
import supply
from packaging.requirements import Requirement
from packaging.version import Version

from sieve.config import read_toml
from sieve.files import read_json

ROOT = Path(__file__).parents[1]


def test_all_that_the_container_needs_is_locked_within_bounds() -> None:
    locked = {package.name: Version(package.version) for package in supply.locked()}
    for text in supply.wanted():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"python_version": "3.11"}):
            name = re.sub(r"[-_.]+", "-", requirement.name).lower()
            assert locked[name] in requirement.specifier, text


def test_every_line_of_the_lock_has_a_hash() -> None:
    lines = [line for line in supply.LOCK.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == len(list(supply.locked())) > 15


def test_the_container_installs_what_is_locked_and_nothing_else() -> None:
    steps = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    for step in steps:
        for command in re.findall(r"pip (?:wheel|install) [^&]*", step):
            assert any(
                option in command for option in ("--require-hashes", "--no-index", "--no-deps")
            ), command


@pytest.mark.parametrize("extra", ["serve", "align", "hub", "completion", "huggingface", "bulk"])
def test_what_we_look_into_has_an_upper_bound(extra: str) -> None:
    project = read_toml(ROOT / "pyproject.toml")["project"]
    for text in [*project["dependencies"], *project["optional-dependencies"][extra]]:
        requirement = Requirement(text)
        if requirement.name != "tomli":
            assert any(part.operator == "<" for part in requirement.specifier), text


def test_the_bill_of_materials() -> None:
    bill = supply.bill()
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    components = {each["bom-ref"]: each for each in bill["components"]}
    assert len(components) == len(bill["components"])
    for package in supply.locked():
        component = components[f"pkg:pypi/{package.name}@{package.version}"]
        assert component["hashes"] == [{"alg": "SHA-256", "content": package.sha256}]
    for model in ("en-de", "de-en"):
        recorded = read_json(ROOT / "models" / model / "manifest.json")["files"]
        (hashed,) = components[f"model:{model}"]["hashes"]
        assert hashed["content"] == recorded["model.safetensors"]
    (program,) = bill["dependencies"]
    assert program["ref"] == bill["metadata"]["component"]["bom-ref"]
    assert set(program["dependsOn"]) == components.keys()
