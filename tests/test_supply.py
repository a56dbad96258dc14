"""Supply chain: the bill of materials, the offline audit, and releases that must never be installed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / "requirements.lock").read_text()
MALICIOUS = [("litellm", "1.82.7"), ("litellm", "1.82.8")]


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "deploy" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_pinned_package_is_in_the_bill() -> None:
    bill = json.loads(run("sbom.py").stdout)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    packages = [one for one in bill["components"] if one["type"] == "library"]
    pins = dict(re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", LOCK, re.MULTILINE))
    assert {one["name"]: one["version"] for one in packages} == pins
    assert all(one["properties"] and one["purl"] == f"pkg:pypi/{one['name']}@{one['version']}" for one in packages)
    references = [one["bom-ref"] for one in bill["components"]]
    assert len(references) == len(set(references))
    assert any(one["type"] == "machine-learning-model" for one in bill["components"])


def test_malicious_releases_cannot_be_chosen() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    for name, version in MALICIOUS:
        assert f"{name}=={version}" not in LOCK
        for requirement in map(Requirement, asked):
            assert requirement.name != name or version not in requirement.specifier


def test_a_wheel_brings_every_file_of_data() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    package = ROOT / "proxy"
    patterns = project["tool"]["setuptools"]["package-data"]["proxy"]
    brought = {path for pattern in patterns for path in package.glob(pattern)}
    kept = {path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path for path in kept - brought if path.suffix != ".py"} == set()


def advisory(name: str = "aiohttp", **affected: Any) -> dict[str, Any]:
    return {"id": "X-1", "summary": "bad", "affected": [{"package": {"ecosystem": "PyPI", "name": name}, **affected}]}


def ranged(*events: tuple[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": [{kind: version} for kind, version in events]}]}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (advisory(**ranged(("introduced", "0"))), 1),
        (advisory("AIOHTTP", **ranged(("introduced", "0"), ("fixed", "99"))), 1),
        (advisory(**ranged(("introduced", "0"), ("fixed", "3.0"))), 0),
        (advisory(**ranged(("introduced", "0"), ("last_affected", "3.0"))), 0),
        (advisory(**ranged(("introduced", "0"), ("fixed", "1"), ("introduced", "3"), ("fixed", "99"))), 1),
        (advisory(versions=["0.1"]), 0),
        (advisory("no-such-package", **ranged(("introduced", "0"))), 0),
        ({**advisory(**ranged(("introduced", "0"))), "withdrawn": "2024-01-01T00:00:00Z"}, 0),
    ],
    ids=["all", "unfixed", "fixed", "last", "again", "versions", "stranger", "withdrawn"],
)
def test_audit_finds_what_affects_a_pinned_version(tmp_path: Path, given: dict[str, Any], found: int) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "X-1.json").write_text(json.dumps(given))
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("X-1.json", json.dumps(given))
    for place in ("folder", "all.zip"):
        done = run("audit.py", str(tmp_path / place))
        assert done.returncode == found, done.stdout + done.stderr
        assert f"1 advisories, {found} findings" in done.stdout
