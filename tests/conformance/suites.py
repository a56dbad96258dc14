"""Conformance suites: each runs against a base URL and reports the tests that passed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxy.settings.load import environment
from tests.bench.processes import ROOT
from tests.conformance import tools
from tests.conformance.servers import KEY

Outcome = Mapping[str, bool]


@dataclass(frozen=True)
class Suite:
    """One suite.

    Args:
        name: Name of the suite.
        asks: ``mock``: written for the specification's mock; ``model``: for a server that acts as a model.
        run: Takes a base URL, returns each test's success; skipped ones are left out.
    """

    name: str
    asks: str
    run: Callable[[str], Outcome]


def openai_python(base_url: str) -> Outcome:
    """Run openai-python's generated tests: every endpoint and parameter, with strict checks of the responses."""
    suite = tools.openai_suite()
    only = environment().get("CONFORMANCE_TESTS", "tests/api_resources")
    return _pytest(suite, [only, "-o", "addopts=", "-n", "2"], {"TEST_API_BASE_URL": base_url})


def langchain(base_url: str) -> Outcome:
    """Run langchain-tests' integration tests of a chat model."""
    ours = Path(__file__).with_name("langchain_suite.py")
    file = Path(shutil.copy(ours, tools.HOME / "suites"))  # beside these tests, pytest would load their conftest.py
    config = file.with_name("pytest.ini")
    # One loop for all, as langchain-openai keeps its asynchronous client longer than one test.
    scopes = "".join(f"asyncio_default_{of}_loop_scope = session\n" for of in ("fixture", "test"))
    config.write_text(f"[pytest]\nasyncio_mode = auto\npython_files = *.py\n{scopes}")
    return _pytest(file.parent, [str(file), "-c", str(config)], {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": KEY})


def comply(wire: str) -> Callable[[str], Outcome]:
    """Return a runner of llm-comply's tests of one wire format."""

    def run(base_url: str) -> Outcome:
        command = [
            str(tools.BIN / "llm-comply"),
            "-u",
            base_url,
            "-k",
            KEY,
            "-m",
            "gpt-4o-mini",
            "--format",
            wire,
            "--json",
        ]
        results = json.loads(_output(command))["results"]
        return {one["id"]: one["status"] == "passed" for one in results if one["status"] != "skipped"}

    return run


def canary(base_url: str) -> Outcome:
    """Run CompatCanary's live probes."""
    command = [str(tools.NODE_BIN / "compatcanary"), "scan", "--base-url", base_url, "--model", "fake-model"]
    results = json.loads(_output([*command, "--api-key", KEY, "--format", "json", "--fail-on", "never"]))["results"]
    return {one["id"]: one["status"] == "pass" for one in results if one["status"] != "skip"}


SUITES = [
    Suite("openai-python, generated", "mock", openai_python),
    Suite("langchain-tests, ChatOpenAI", "model", langchain),
    Suite("llm-comply, chat", "model", comply("openai-chat")),
    Suite("llm-comply, responses", "model", comply("open-responses")),
    Suite("llm-comply, messages", "model", comply("anthropic")),
    Suite("compatcanary", "model", canary),
]


def _pytest(folder: Path, arguments: Sequence[str], extra: Mapping[str, str]) -> Outcome:
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        fixed = ["-q", "-p", "no:cacheprovider", "--tb=line", f"--junitxml={report}", f"--rootdir={folder}"]
        command = [str(tools.BIN / "python"), "-B", "-m", "pytest", *arguments, *fixed]
        done = subprocess.run(command, cwd=folder, env=_environment(extra), capture_output=True, text=True, check=False)
        if not report.exists():
            print(f"{' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
            return {}
        cases = ET.parse(report).getroot().iter("testcase")
        return {_name(case): not _has(case, "failure", "error") for case in cases if not _has(case, "skipped")}


def _name(case: Any) -> str:
    return f"{case.get('classname')}.{case.get('name')}"


def _has(case: Any, *kinds: str) -> bool:
    return any(case.find(kind) is not None for kind in kinds)


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, env=_environment({}), capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr[-3000:]}")
    return done.stdout


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    offline = {"LANGSMITH_TRACING": "false", "PYTHONDONTWRITEBYTECODE": "1"}
    kept = {
        name: value for name, value in environment().items() if not name.endswith(("_API_KEY", "_BASE_URL", "_proxy"))
    }
    return {**kept, **offline, **extra, "PATH": f"{tools.BIN}{os.pathsep}{kept['PATH']}"}
