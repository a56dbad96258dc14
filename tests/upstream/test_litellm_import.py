"""LiteLLM in a process where somebody else imported it first."""

from __future__ import annotations

import subprocess
import sys

from tests.fakes.provider import FakeProvider

IMPORTED_BEFORE = """
import asyncio, sys, warnings
with warnings.catch_warnings():
    import litellm
from proxy.upstream.litellm import complete
said = [{"role": "user", "content": "hi"}]
reply = asyncio.run(complete(model="openai/any", messages=said, api_key="sk-test", base_url=sys.argv[1]))
print(reply.text)
"""


def test_import_by_others_and_strict_warnings_are_survived(provider: FakeProvider):
    command = [sys.executable, "-W", "error::UserWarning", "-c", IMPORTED_BEFORE, provider.base_url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
