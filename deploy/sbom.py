"""Print a bill of materials (CycloneDX 1.6, JSON): what the lock file pins, and the model files that come along."""

from __future__ import annotations

import hashlib
import json
import tomllib
from typing import Any

from lockfile import LOCK, ROOT, Locked, locked

MODELS = ROOT / "proxy" / "models"


def bill() -> dict[str, Any]:
    """Return the bill; the same for the same checkout, without time or serial number."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": project["name"],
                "name": project["name"],
                "version": project["version"],
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": [*map(_package, locked(LOCK.read_text())), *_models()],
    }


def _package(one: Locked) -> dict[str, Any]:
    url = f"pkg:pypi/{one.name}@{one.version}"
    return {
        "type": "library",
        "bom-ref": url,
        "name": one.name,
        "version": one.version,
        "purl": url,
        # One package has many files; the standard's own field would claim that one has all these hashes.
        "properties": [{"name": "throughline:file:sha256", "value": digest} for digest in one.sha256],
    }


def _models() -> list[dict[str, Any]]:
    files = sorted(path for path in MODELS.iterdir() if path.suffix in (".onnx", ".json"))
    return [
        {
            "type": "machine-learning-model" if path.suffix == ".onnx" else "data",
            "bom-ref": f"file:{path.name}",
            "name": path.name,
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
            "licenses": [{"license": {"id": "Apache-2.0"}}],
        }
        for path in files
    ]


if __name__ == "__main__":
    print(json.dumps(bill(), indent=2))
