"""The dashboard in a real browser: axe finds nothing, no script breaks, narrow screens do not scroll sideways.

``make browser-tools`` fetches playwright-core and axe-core from npm; the browser is Debian's chromium.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.api.test_transfer import live
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import Speaker

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / ".browser-tools" / "node_modules"
CHROMIUM, NODE = shutil.which("chromium"), shutil.which("node")
MISSING = not (CHROMIUM and NODE and (TOOLS / "axe-core").is_dir() and (TOOLS / "playwright-core").is_dir())


@pytest.mark.skipif(MISSING, reason="needs chromium, node and `make browser-tools`")
def test_every_page_is_accessible_in_light_and_dark_and_on_narrow_screens(tmp_path: Path) -> None:
    with FakeProvider() as provider, Running(tmp_path, upstream=provider.base_url) as server:
        provider.script(agreeing)
        live(Speaker(server, "no-key"))
        walk = Path(__file__).with_name("walk.cjs")
        command = [str(NODE), str(walk), server.origin, "no-key", str(TOOLS), str(CHROMIUM)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        seen = [json.loads(line) for line in done.stdout.splitlines()]
        pages = [one for one in seen if "status" in one]
        assert len(pages) > 45
        for one in pages:
            assert (one["status"], one["violations"], one["overflow"], one["errors"]) == (200, [], False, []), one
        typed = [one for one in seen if "found" in one]
        assert len(typed) == 3
        assert all("Tromsø" in one["found"] and "query=sister" in one["at"] for one in typed)
